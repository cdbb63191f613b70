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
static bool hasShortRows(const Counter &counter, OpOperand &operand) {
  constexpr double kRow = 128;
  unsigned number = counter.info.getClasses(operand).back();
  double bytes = double(counter.plan.classes[number].step *
                        bytesPerElement(operand.get().getType()));
  return bytes > kRow && std::fmod(bytes, kRow) != 0;
}

/// Cycles of a multiprocessor's tensor cores for `tile` multiply-adds.
static double tensorCycles(const Counter &counter, linalg::LinalgOp op,
                           const Contraction &product, double tile) {
  const ChipFacts &chip = counter.chip;
  const MatrixInstruction &instruction = *counter.instruction;
  auto rate = chip.tensor.find(tensorKind(instruction));
  double each = rate == chip.tensor.end() ? chip.lanes.lookup("fp32") : rate->second;
  if (!instruction.warpgroup)
    return tile / (each * chip.mmaSyncShare);
  const llvm::StringMap<double> &factors = chip.warpgroupMma;
  double cycles = tile / each;
  cycles *= 1 + factors.lookup("between") /
                    (factors.lookup("cycles_of_column") * double(instruction.n));
  if (hasShortRows(counter, op->getOpOperand(product.a)) ||
      hasShortRows(counter, op->getOpOperand(product.b)))
    cycles *= factors.lookup("short_rows");
  if (counter.config.getStages() <= 3)
    cycles *= factors.lookup("short_ring");
  if (counter.warps <= 4 && (residentBlocks(counter.work, chip) < 2 ||
                             counter.work.blocks <= chip.multiprocessors))
    cycles *= factors.lookup("alone");
  return cycles;
}

namespace {
/// What a warp has of one step's tile, in elements, and the bytes of the step that are copied into
/// shared memory. A dual product is one whose operand that is not shared is `beside` times as
/// wide.
struct WarpTile {
  double rows, columns, sums, bytesEach, copied;
  double beside = 1;
  bool sharesRows = true;
};
} // namespace

static WarpTile tileOfWarp(const Counter &counter, linalg::LinalgOp op,
                           const Contraction &product, double beside) {
  const KernelInfo &info = counter.info;
  WarpTile tile;
  tile.beside = beside;
  tile.sharesRows =
      beside == 1 || sharedOperand(op, info.rootProducts.back()) == product.a;
  double asRows = tile.sharesRows ? 1 : beside, asColumns = tile.sharesRows ? beside : 1;
  ArrayRef<unsigned> classes = info.getClasses(op);
  auto extent = [&](ArrayRef<unsigned> loops) {
    double result = 1;
    for (unsigned loop : loops)
      result *= counter.plan.classes[classes[loop]].step;
    return result;
  };
  auto warpsAlong = [&](ArrayRef<unsigned> loops) {
    double result = 1;
    for (unsigned loop : loops)
      if (loop < counter.config.getWarps().size())
        result *= counter.config.getWarps()[loop];
    return result;
  };
  // Of two chained products, the root's warps lie over both alike.
  const Contraction &root = *info.getContraction(info.getRoot());
  tile.rows = asRows * extent(product.m) / warpsAlong(root.m);
  tile.columns = asColumns * extent(product.n) / warpsAlong(root.n);
  tile.sums = extent(product.k);
  tile.bytesEach = bytesPerElement(op->getOperand(0).getType());
  tile.copied = (asRows * extent(product.m) + asColumns * extent(product.n)) * tile.sums *
                tile.bytesEach;
  return tile;
}

/// Four warps have as many rows; the units read both operands themselves, but what is in
/// registers.
static void countWarpgroup(Counter &counter, linalg::LinalgOp op, const Contraction &product,
                           const WarpTile &tile, double runs) {
  const KernelInfo &info = counter.info;
  double groups = std::max(1.0, counter.warps / 4);
  bool isRoot = op == info.getRoot() || info.isRootProduct(op);
  // Of a dual product, each reads the one that they share.
  double rows = tile.rows * (tile.beside / (tile.sharesRows ? 1 : tile.beside));
  double columns = tile.columns * (tile.beside / (tile.sharesRows ? tile.beside : 1));
  Contraction oriented = isRoot ? orient(product, counter.config) : product;
  if (oriented.a != product.a)
    std::swap(rows, columns);
  bool inRegisters = isRoot && hasAInRegisters(counter.config, oriented);
  double read =
      ((inRegisters ? 0 : rows * 4) + columns) * tile.sums * tile.bytesEach * groups;
  counter.work[Resource::Shared] += runs * read / counter.chip.bankBytes;
  counter.issue(runs * kPerStep * 3);
}

/// Warps load fragments by themselves. Returns how long a step takes where the tensor cores have
/// `tensor` cycles of it.
static double countWarps(Counter &counter, const WarpTile &tile, double multiplyAdds, double runs,
                         double tensor) {
  const ChipFacts &chip = counter.chip;
  const MatrixInstruction &instruction = *counter.instruction;
  double warps = counter.warps;
  double matrices = (tile.rows + tile.columns) * tile.sums * tile.bytesEach;
  double loads = matrices / (chip.warp * 16);
  double products = multiplyAdds / warps /
                    double(instruction.m * instruction.n * instruction.k);
  double copies = tile.copied / (warps * chip.warp * 16);
  counter.issue(runs * (products + loads + kPerStep));
  counter.work[Resource::Shared] += runs * warps * matrices / chip.bankBytes;
  // A warp alone has one of four tensor cores and one of four schedulers, waits for its
  // first fragments, and for sums that depend on each other.
  double share = std::min(1.0, warps / chip.schedulers),
         warpsEach = std::ceil(warps / chip.schedulers);
  return std::max({tensor / share, warpsEach * (products + loads + copies + kPerStep),
                   std::ceil(tile.sums / double(instruction.k)) * chip.cyclesMatrix}) +
         chip.cyclesShared + loads;
}

/// How long a step takes that multiplies for `tensor` cycles and copies the next tiles meanwhile.
static double stepCycles(Counter &counter, bool hasRoles, double tensor, double copied) {
  const ChipFacts &chip = counter.chip;
  double step = tensor + chip.cyclesBarrier;
  double load = counter.loadCycles() + copied / chip.l2PortBytes;
  double stages = counter.config.getStages();
  bool waits = !hasRoles && (isRegisterStaged(counter.info, counter.target) ||
                               !counter.target.has("async_copy"));
  counter.work.around += load;
  if (hasRoles || counter.target.has("warpgroup_mma"))
    counter.work.ahead = copied * (stages - 1) * counter.memoryShare();
  if (stages <= 1)
    return step + (load + chip.cyclesBarrier);
  if (waits)
    return std::max(step, load) + chip.cyclesBarrier;
  return std::max(step, load / (stages - 1));
}

void InstructionStrategy::countProduct(Counter &counter, linalg::LinalgOp op) const {
  const KernelInfo &info = counter.info;
  // A dual product is counted once.
  double beside = info.isRootProduct(op) ? double(info.rootProducts.size()) : 1;
  if (beside > 1 && op != info.rootProducts.front())
    return;
  const Contraction &product = *info.getContraction(op);
  double runs = counter.runsOf(op), multiplyAdds = counter.tileOf(op) * beside;
  double tensor = tensorCycles(counter, op, product, multiplyAdds);
  counter.work[Resource::Tensor] += tensor * runs;
  WarpTile tile = tileOfWarp(counter, op, product, beside);
  if (counter.instruction->warpgroup)
    countWarpgroup(counter, op, product, tile, runs);
  else
    tensor = countWarps(counter, tile, multiplyAdds, runs, tensor);
  bool isFirst = op == info.getProducts().front();
  double step = isFirst ? stepCycles(counter, hasRoles(), tensor, tile.copied)
                        : tensor + counter.chip.cyclesBarrier;
  counter.work.latency += runs * step;
}
