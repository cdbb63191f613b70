// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a product by matrix instructions takes of a multiprocessor, see CountWork.cpp.

#include "Counter.h"
#include "MatrixUnit.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

/// The row of the chip's table that an instruction takes.
static StringRef tensorKind(const MatrixInstruction &instruction) {
  Type type = instruction.operands[0];
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "tf32";
  if (type.isInteger())
    return "s8";
  if (type.getIntOrFloatBitWidth() == 8)
    return "f8";
  return instruction.accumulator.isF16() ? "f16_f16" : "f16_f32";
}

/// Whether neighbours in memory of a tile of `operand` are more than 128 bytes
/// and no multiple of that: its rows in shared memory, and what is copied at a
/// time, are shorter then.
static bool hasShortRows(const Counter &counter, linalg::LinalgOp op,
                         OpOperand &operand) {
  constexpr double kRow = 128;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  unsigned number =
      counter.info.getClasses(op)[map.getDimPosition(map.getNumResults() - 1)];
  double bytes = double(counter.plan.classes[number].step *
                        bytesPerElement(operand.get().getType()));
  return bytes > kRow && std::fmod(bytes, kRow) != 0;
}

/// A product by matrix instructions.
void InstructionStrategy::countProduct(Counter &counter, linalg::LinalgOp op) const {
  const KernelInfo &info = counter.info;
  const TilePlan &plan = counter.plan;
  const ChipFacts &chip = counter.chip;
  const MatrixInstruction &instruction = *counter.instruction;
  LoweringConfigAttr config = counter.config;
  double warps = counter.warps;
  const Contraction &product = *info.getContraction(op);
  ArrayRef<unsigned> classes = info.getClasses(op);
  // A dual product is counted once, as one whose operand that is not shared is so many times
  // as wide.
  double beside = info.isRootProduct(op) ? double(info.rootProducts.size()) : 1;
  if (beside > 1 && op != info.rootProducts.front())
    return;
  bool sharesRows =
      beside == 1 || sharedOperand(op, info.rootProducts.back()) == product.a;
  double asRows = sharesRows ? 1 : beside, asColumns = sharesRows ? beside : 1;
  double runs = counter.runsOf(op), tile = counter.tileOf(op) * beside;
  auto rate = chip.tensor.find(tensorKind(instruction));
  double each = rate == chip.tensor.end() ? chip.lanes.lookup("fp32") : rate->second;
  if (!instruction.warpgroup)
    each *= chip.mmaSyncShare;
  double tensor = tile / each;
  // Measured on an H100: rings of three stages (256 x 192), and a
  // warpgroup that multiplies alone on its multiprocessor, 64 x 256 by 64 in
  // four stages or 64 x 128. Between one instruction and the next pass a few
  // cycles, which 96 columns of 8-bit floats show beside 192; tiles of 160
  // columns, of which rows in shared memory have 64 bytes, lose a little more.
  constexpr double kShortRing = 1.07, kAlone = 1.8, kBetween = 3,
                   kCyclesOfColumn = 0.5;
  constexpr double kShortRows = 1.02;
  if (instruction.warpgroup)
    tensor *= 1 + kBetween / (kCyclesOfColumn * double(instruction.n));
  if (instruction.warpgroup &&
      (hasShortRows(counter, op, op->getOpOperand(product.a)) ||
       hasShortRows(counter, op, op->getOpOperand(product.b))))
    tensor *= kShortRows;
  if (instruction.warpgroup && config.getStages() <= 3)
    tensor *= kShortRing;
  if (instruction.warpgroup && warps <= 4 &&
      (residentBlocks(counter.work, chip) < 2 ||
       counter.work.blocks <= chip.multiprocessors))
    tensor *= kAlone;
  counter.work[Resource::Tensor] += tensor * runs;

  // Rows and columns of a warp; of two products, the root's warps lie over both alike.
  const Contraction &root = *info.getContraction(info.getRoot());
  auto extent = [&](ArrayRef<unsigned> loops) {
    double result = 1;
    for (unsigned loop : loops)
      result *= plan.classes[classes[loop]].step;
    return result;
  };
  auto warpsAlong = [&](ArrayRef<unsigned> loops) {
    double result = 1;
    for (unsigned loop : loops)
      if (loop < config.getWarps().size())
        result *= config.getWarps()[loop];
    return result;
  };
  double rows = asRows * extent(product.m) / warpsAlong(root.m);
  double columns = asColumns * extent(product.n) / warpsAlong(root.n), sums = extent(product.k);
  double bytes = bytesPerElement(op->getOperand(0).getType());
  double copied = (asRows * extent(product.m) + asColumns * extent(product.n)) * sums * bytes;
  if (instruction.warpgroup) {
    // Four warps have as many rows; the units read both operands themselves, but what is
    // in registers.
    double groups = std::max(1.0, warps / 4);
    bool isRoot = op == info.getRoot() || info.isRootProduct(op);
    // Of a dual product, each reads the one that they share.
    rows *= beside / asRows, columns *= beside / asColumns;
    Contraction oriented = isRoot ? orient(product, config) : product;
    if (oriented.a != product.a)
      std::swap(rows, columns);
    bool inRegisters = isRoot && hasAInRegisters(config, oriented);
    double read = ((inRegisters ? 0 : rows * 4) + columns) * sums * bytes * groups;
    counter.work[Resource::Shared] += runs * read / chip.bankBytes;
    counter.issue(runs * kPerStep * 3);
  } else {
    double matrices = (rows + columns) * sums * bytes;
    double loads = matrices / (chip.warp * 16);
    double products = tile / warps /
                      double(instruction.m * instruction.n * instruction.k);
    double copies = copied / (warps * chip.warp * 16);
    counter.issue(runs * (products + loads + kPerStep));
    counter.work[Resource::Shared] += runs * warps * matrices / chip.bankBytes;
    // A warp alone has one of four tensor cores and one of four schedulers, waits for its
    // first fragments, and for sums that depend on each other.
    double together = std::min(1.0, warps / chip.schedulers), turns = std::ceil(warps / chip.schedulers);
    tensor = std::max({tensor / together, turns * (products + loads + copies + kPerStep),
                       std::ceil(sums / double(instruction.k)) * chip.cyclesMatrix}) +
             chip.cyclesShared + loads;
  }
  bool isFirst = op == info.getProducts().front();
  double step = tensor + chip.cyclesBarrier;
  if (isFirst) {
    double load = counter.loadCycles() + copied / chip.l2PortBytes;
    double stages = config.getStages();
    bool waits = !hasRoles() && (isRegisterStaged(info, counter.target) ||
                                 !counter.target.has("async_copy"));
    counter.work.around += load;
    if (hasRoles() || counter.target.has("warpgroup_mma"))
      counter.work.ahead = copied * (stages - 1) * counter.memoryShare();
    if (stages <= 1)
      step += load + chip.cyclesBarrier;
    else if (waits)
      step = std::max(step, load) + chip.cyclesBarrier;
    else
      step = std::max(step, load / (stages - 1));
  }
  counter.work.latency += runs * step;
}
