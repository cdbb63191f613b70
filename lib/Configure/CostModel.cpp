// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model. A kernel takes as long as the slowest of
//
//   memory     bytes moved, over bandwidth, over how much of the latency is
//              hidden by accesses in flight
//   compute    multiply-adds over what the lanes do in a cycle; for contractions
//              also the reads of shared memory that feed them, which shrink with
//              the register tile: 1/rows + 1/columns per multiply-add
//   latency    iterations that one block does one after the other
//
// where work in lanes outside of the bounds counts as work, and a grid that
// does not fill the device leaves the rest of it idle.

#include "CostModel.h"
#include "Enumerate.h"
#include "tilewright/Dialect/Packed.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tilewright;

/// What reading from the second-level cache, where another block has read before,
/// costs of reading from memory.
static constexpr double kCacheShare = 0.2;
/// Bytes per nanosecond that one multiprocessor takes in.
static constexpr double kProcessorBandwidth = 40;
/// Bytes in flight per multiprocessor that hide memory latency.
static constexpr double kInFlight = 24 * 1024;
static constexpr double kLatency = 600;
/// Multiply-adds, and bytes of shared memory, per nanosecond and
/// multiprocessor.
static constexpr double kMultiplyAdds = 128 * 1.4;
static constexpr double kSharedBytes = 128 * 1.4;
/// The same by matrix instructions of 16-bit floats.
static constexpr double kMatrixMultiplyAdds = 1024 * 1.4;
/// What mma.sync reaches of the peak of wgmma, the other way round.
static constexpr double kWarpgroupRate = 1 / 0.63;
/// What narrower boxes may cost: a guess, so that they must gain more.
static constexpr double kNarrowBoxes = 0.05;
/// Registers of a multiprocessor, and threads that keep its matrix units busy:
/// two warps for each, one of which loads while the other multiplies.
static constexpr double kRegisters = 65536, kMatrixThreads = 256;
/// A barrier on either side of filling a tile of shared memory.
static constexpr double kBarrier = 20;
/// Passing partial results between warps, per block.
static constexpr double kExchange = 150;

namespace {
/// The device: as the target's facts say, or one of middle size.
struct Machine {
  double multiprocessors;
  /// Bytes of memory per nanosecond.
  double bandwidth;
};
} // namespace

/// What the constants below were chosen for is a device of middle size; persistent
/// blocks in clusters fill the chip that they are for.
static Machine machineOf(LoweringConfigAttr config, TargetAttr target) {
  constexpr int64_t kMultiprocessors = 64, kBandwidth = 1500;
  if (!config.isForWarpgroups())
    return {double(kMultiprocessors), double(kBandwidth)};
  return {double(target.getFact("multiprocessors", kMultiprocessors)),
          double(target.getFact("memory_bandwidth", kBandwidth))};
}

int64_t tilewright::nominalExtent(const LoopClass &loopClass) {
  return ShapedType::isDynamic(loopClass.extent)
             ? loopClass.nominal * loopClass.parts
             : std::max<int64_t>(1, loopClass.extent);
}

int64_t tilewright::nominalExtent(const KernelInfo &info, unsigned rootLoop) {
  return nominalExtent(info.classes[info.getClasses(info.getRoot())[rootLoop]]);
}

int64_t tilewright::bytesPerElement(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIntOrFloat())
    return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
  return 4;
}

int64_t tilewright::accessedBytes(const KernelInfo &info) {
  int64_t bytes = 8;
  for (OpOperand &operand : info.getRoot()->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      bytes = std::min(bytes, bytesPerElement(operand.get().getType()));
  return bytes;
}

namespace {
/// What the model counts.
struct Counts {
  double blocks = 1;
  /// Steps that one block does one after the other.
  double steps = 1;
  double tileElements = 1;
};
} // namespace

static Counts count(const KernelInfo &info, const TilePlan &plan) {
  Counts counts;
  for (auto [loopClass, tile] : llvm::zip_equal(info.classes, plan.classes)) {
    double tiles = llvm::divideCeil(
        llvm::divideCeil(nominalExtent(loopClass), loopClass.parts), tile.step);
    (loopClass.parallel ? counts.blocks : counts.steps) *= tiles;
    counts.tileElements *= tile.step;
  }
  return counts;
}

/// How often a block goes through its sequential loops: once per op that has a
/// loop of its own.
static double countPasses(const KernelInfo &info, const TilePlan &plan) {
  auto loops = [&](linalg::LinalgOp op, bool reductions) {
    for (auto [iterator, number] :
         llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
      if ((iterator != utils::IteratorType::parallel) == reductions &&
          !info.classes[number].parallel && plan.classes[number].loop)
        return true;
    return false;
  };
  double passes = 0;
  for (linalg::LinalgOp op : info.ops)
    passes += loops(op, true);
  for (OpResult result : info.results)
    passes += loops(cast<linalg::LinalgOp>(result.getOwner()), false);
  return std::max(1.0, passes);
}

/// Blocks of a cluster that read the same tile of a factor.
static double sharedBy(const KernelInfo &info, LoweringConfigAttr config,
                       OpOperand &operand) {
  linalg::LinalgOp root = info.getRoot();
  double blocks = 1;
  if (operand.getOwner() == root && !root.isDpsInit(&operand))
    for (auto [loop, along] : llvm::enumerate(config.getCluster()))
      if (!root.getMatchingIndexingMap(&operand).isFunctionOfDim(loop))
        blocks *= along;
  return blocks;
}

/// Time to move the memory operands of all ops.
static double memoryBytes(const KernelInfo &info, LoweringConfigAttr config,
                          const TilePlan &plan, const Counts &counts) {
  double total = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  auto add = [&](OpOperand &operand, double steps) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || !seen.insert(operand.get()).second)
      return;
    auto op = cast<linalg::LinalgOp>(operand.getOwner());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    double whole = bytesPerElement(type) / (bytesOf(operand.get()) == operand.get() ? 1.0 : 2.0);
    double tile = whole, run = whole;
    bool contiguous = true;
    for (int64_t dim = int64_t(map.getNumResults()) - 1; dim >= 0; --dim) {
      unsigned number = info.getClasses(op)[map.getDimPosition(dim)];
      double extent = nominalExtent(info.classes[number]);
      double step = plan.classes[number].step;
      whole *= extent;
      tile *= step;
      if (contiguous)
        run *= std::min(step, extent);
      contiguous &= step >= extent;
    }
    // What the blocks of a cluster share is read once for all of them.
    double moved = tile * counts.blocks * steps / sharedBy(info, config, operand);
    if (moved > whole)
      moved = whole + (moved - whole) * kCacheShare;
    // Short runs waste parts of the 32-byte sectors that memory moves.
    run = std::min(run, 128.0);
    total += moved * (run + 32) / run;
  };
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<BlockArgument>(bytesOf(input->get())))
        add(*input, counts.steps);
  for (OpResult result : info.results) {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    // Fragments are written when all steps are done.
    add(*op.getDpsInitOperand(result.getResultNumber()),
        config.getMma() ? 1 : counts.steps);
  }
  return total * countPasses(info, plan);
}

/// Multiply-adds by an instruction, in those by one of 16-bit floats.
static double matrixRate(MatrixInstruction instruction) {
  switch (instruction.operandBits()) {
  case 64:
    return 1.0 / 16;
  case 32:
    return 1.0 / 2;
  case 8:
    return 2;
  default:
    return 1;
  }
}

/// Time of the multiply-adds of one block in two products, each with its own loops;
/// the warps lie over both alike.
static double chainTime(const KernelInfo &info, LoweringConfigAttr config,
                        const TilePlan &plan) {
  Contraction last = *matchContraction(info.getRoot());
  auto instruction = MatrixInstruction::parse(config.getContext(),
                                              config.getMma().getValue());
  double rate = kMatrixMultiplyAdds * (instruction ? matrixRate(*instruction) : 1);
  double time = 0;
  for (linalg::LinalgOp op : info.getProducts()) {
    Contraction product = *matchContraction(op);
    ArrayRef<unsigned> classes = info.getClasses(op);
    double work = 1;
    for (unsigned number : classes) {
      double step = plan.classes[number].step;
      bool walked = !info.classes[number].parallel && plan.classes[number].loop;
      work *= walked ? std::ceil(nominalExtent(info.classes[number]) / step) * step
                     : step;
    }
    auto rows = [&](ArrayRef<unsigned> own, ArrayRef<unsigned> roots) {
      double result = 1;
      for (unsigned loop : own)
        result *= plan.classes[classes[loop]].step;
      for (unsigned loop : roots)
        result /= config.getWarps()[loop];
      return result;
    };
    double bytes = bytesPerElement(op->getOperand(0).getType());
    double shared = bytes * (1 / rows(product.m, last.m) + 1 / rows(product.n, last.n));
    time += work / rate + 0.5 * work * shared / kSharedBytes;
  }
  return time;
}

/// Time of computing the factors of one block's tiles: some operations an element, in
/// each step, which then go to shared memory.
static double factorTime(const KernelInfo &info, const TilePlan &plan,
                         const Counts &counts) {
  constexpr double kOperations = 8;
  double elements = 0;
  for (linalg::LinalgOp op : info.ops) {
    if (!computesFactor(info, op))
      continue;
    double tile = 1;
    for (unsigned number : info.getClasses(op))
      tile *= plan.classes[number].step;
    elements += tile;
  }
  return elements * counts.steps * kOperations / kMultiplyAdds;
}

/// Rows and columns of what one thread multiplies: as square as the tile, warps and
/// lanes allow.
static std::pair<double, double> threadTile(const Contraction &contraction,
                                            LoweringConfigAttr config,
                                            const TilePlan &plan) {
  auto perWarp = [&](ArrayRef<unsigned> loops) {
    int64_t product = 1;
    for (unsigned loop : loops)
      if (loop < config.getBlock().size()) {
        int64_t warps =
            loop < config.getWarps().size() ? config.getWarps()[loop] : 1;
        product *= std::max<int64_t>(1, config.getBlock()[loop] / warps);
      }
    return product;
  };
  int64_t m = perWarp(contraction.m), n = perWarp(contraction.n);
  int64_t elements = std::max<int64_t>(1, m * n / plan.subgroup);
  std::pair<double, double> best{1, 1};
  double least = 3;
  for (int64_t rows = 1; rows <= elements; rows *= 2) {
    int64_t columns = elements / rows;
    double loads = 1.0 / rows + 1.0 / columns;
    if (m % rows || n % columns || loads >= least)
      continue;
    least = loads;
    best = {double(rows), double(columns)};
  }
  return best;
}

/// Time of the multiply-adds of one block.
static double contractionTime(const KernelInfo &info, LoweringConfigAttr config,
                              const TilePlan &plan, const Counts &counts) {
  std::optional<Contraction> contraction = matchContraction(info.getRoot());
  if (!contraction)
    return 0;
  double work = counts.tileElements * counts.steps;
  if (config.getMma() && info.getProducts().size() > 1)
    return chainTime(info, config, plan);
  if (config.getMma()) {
    // Each warp reads its rows of A and columns of B for itself.
    auto rows = [&](ArrayRef<unsigned> loops) {
      double product = 1;
      for (unsigned loop : loops)
        product *= double(config.getBlock()[loop]) / config.getWarps()[loop];
      return product;
    };
    double bytes = bytesPerElement(info.getRoot()->getOperand(0).getType());
    double shared =
        bytes * (1 / rows(contraction->m) + 1 / rows(contraction->n));
    // Loading fragments and multiplying overlap in part: larger parts of the
    // tile per warp win.
    auto instruction = MatrixInstruction::parse(config.getContext(),
                                                config.getMma().getValue());
    double rate = kMatrixMultiplyAdds * (instruction ? matrixRate(*instruction) : 1);
    // The units read shared memory themselves, while nobody waits.
    // Columns that are no whole rows of 128 bytes are copied and stored in more, and
    // narrower, boxes.
    if (instruction && instruction->warpgroup)
      return work / (rate * kWarpgroupRate) *
                 (instruction->n % 64 ? 1 + kNarrowBoxes : 1) +
             factorTime(info, plan, counts);
    return work / rate + 0.5 * work * shared / kSharedBytes +
           factorTime(info, plan, counts);
  }
  if (info.strategy == Strategy::SkinnyContraction)
    return work / kMultiplyAdds;
  auto [rowsM, rowsN] = threadTile(*contraction, config, plan);
  double shared = 4 * (1 / rowsM + 1 / rowsN);
  // Four warps keep the units busy; fewer leave schedulers without work. A
  // thread with few results waits for each of its multiply-adds.
  double busy = std::min(1.0, plan.threads / 128.0);
  double independent = rowsM * rowsN;
  busy *= std::min(1.0, (independent * plan.threads) / 2048.0);
  return std::max(work / kMultiplyAdds, work * shared / kSharedBytes) /
         std::max(busy, 1e-3);
}

/// What packing costs a contraction, in multiply-adds of one lane; without it, what
/// reading the second operand again and again from caches further away does.
static double operandCost(const KernelInfo &info, const TilePlan &plan,
                          TargetAttr target) {
  std::optional<Contraction> product = matchContraction(info.getRoot());
  if (!product)
    return 0;
  /// To move an element: a row of a tile is one load and one store.
  constexpr double kMove = 6;
  /// More per multiply-add where a column of tiles leaves the first-level cache, where
  /// the operand leaves the second-level cache.
  constexpr double kBeyondFirst = 0.15, kBeyondSecond = 1;
  ArrayRef<unsigned> classes = info.getClasses(info.getRoot());
  auto count = [&](ArrayRef<unsigned> loops, auto &&size) {
    double result = 1;
    for (unsigned loop : loops)
      result *= size(info.classes[classes[loop]], plan.classes[classes[loop]]);
    return result;
  };
  auto extent = [](const LoopClass &loopClass, const ClassTile &) {
    return double(nominalExtent(loopClass));
  };
  auto blocks = [](const LoopClass &loopClass, const ClassTile &tile) {
    return double(llvm::divideCeil(nominalExtent(loopClass), tile.step));
  };
  double batch = count(product->batch, extent), m = count(product->m, extent),
         n = count(product->n, extent), k = count(product->k, extent);
  if (plan.panels)
    return kMove * batch * k *
           (m * count(product->n, blocks) + n * count(product->m, blocks));
  auto inner = [](const LoopClass &, const ClassTile &tile) {
    return double(tile.inner);
  };
  double bytes = bytesPerElement(info.getRoot()->getOperand(product->b).getType());
  double column = k * count(product->n, inner) * bytes, operand = k * n * bytes;
  double more = operand > target.getFact("l2_bytes", 256 * 1024)  ? kBeyondSecond
                : column > target.getFact("l1_bytes", 32 * 1024) ? kBeyondFirst
                                                                 : 0;
  // Columns that are not contiguous are gathered for each row of tiles.
  AffineMap map = info.getRoot().getMatchingIndexingMap(
      &info.getRoot()->getOpOperand(product->b));
  if (llvm::is_contained(product->k, map.getDimPosition(map.getNumResults() - 1)))
    more += kBeyondSecond;
  // A row of tiles reads each column once, which the first of them has to.
  double again = std::max(0.0, 1 - count(product->m, inner) / m);
  return more * again * batch * m * n * k;
}

static double estimateCpu(const KernelInfo &info, const TilePlan &plan,
                          TargetAttr target) {
  Counts counts = count(info, plan);
  // Elements are computed by register tiles; a partial one costs a whole one,
  // a small one does not pay for its loop.
  double tiles = counts.blocks * counts.steps, elements = 1, padded = 1;
  for (auto [loopClass, tile] : llvm::zip_equal(info.classes, plan.classes)) {
    double extent = nominalExtent(loopClass);
    padded *= llvm::divideCeil(int64_t(extent), tile.inner) * tile.inner;
    elements *= tile.inner;
  }
  double work = padded * (elements + 16) / elements;
  // Packed blocks are large: fewer threads have to do. Two that read long rows take
  // most of what memory gives.
  double threads = plan.chunks ? 2 : plan.panels ? 4 : 16;
  double grain = std::ceil(counts.blocks / threads) * threads;
  work += operandCost(info, plan, target);
  return work * countPasses(info, plan) * grain / counts.blocks + 50 * tiles;
}

/// Bytes that a block loads in one step along the sums of a product: of a factor that is
/// computed, those of what it is computed from.
static double stepBytes(const KernelInfo &info, const TilePlan &plan) {
  double total = 0;
  for (linalg::LinalgOp op : info.ops) {
    if (op != info.root && !computesFactor(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value memory = bytesOf(input->get());
      if (!isa<BlockArgument>(memory) || !isa<RankedTensorType>(memory.getType()))
        continue;
      double bytes = bytesPerElement(memory.getType());
      AffineMap map = op.getMatchingIndexingMap(input);
      for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
        bytes *= plan.classes[info.getClasses(op)[map.getDimPosition(i)]].step;
      total += memory == input->get() ? bytes : bytes / 2;
    }
  }
  return total;
}

/// Elements of memory that one step of a block loads at once.
static double loadedElements(const KernelInfo &info, const TilePlan &plan,
                             const Counts &counts) {
  if (info.strategy != Strategy::SkinnyContraction)
    return counts.tileElements;
  // The larger factor; of the other one, others have most already.
  double most = 1;
  linalg::LinalgOp op = info.root;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    double elements = 1;
    for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
      elements *= plan.classes[info.getClasses(op)[map.getDimPosition(i)]].step;
    most = std::max(most, elements);
  }
  return most;
}

double tilewright::estimateTime(const KernelInfo &info,
                                LoweringConfigAttr config, const TilePlan &plan,
                                TargetAttr target) {
  if (plan.subgroup <= 1)
    return estimateCpu(info, plan, target);

  Counts counts = count(info, plan);
  Machine machine = machineOf(config, target);
  double perProcessor = std::max<double>(
      1, std::min<double>(16, 1536 / double(plan.threads)));
  Footprint footprint = estimate(info, config, plan, target);
  if (footprint.sharedBytes)
    perProcessor =
        std::max(1.0, std::min(perProcessor, double(target.getFact(
                                                 "shared_memory")) /
                                                 footprint.sharedBytes));
  bool waits = config.getMma() && !config.isWarpSpecialized() &&
               waitsInRegisters(info, target);
  bool ring = config.getMma() && config.getStages() > 1 && !waits &&
              target.has("async_copy");
  if (config.getMma())
    perProcessor = std::max(
        1.0, std::min(perProcessor, std::floor(kRegisters / footprint.registers /
                                               plan.threads)));
  // What results leave through is no part of the ring.
  double ringBytes = footprint.sharedBytes - storeBytes(info, config);
  double resident = std::min(counts.blocks, machine.multiprocessors * perProcessor);
  double waves = std::ceil(counts.blocks / (machine.multiprocessors * perProcessor));

  // Bytes that a block has in flight: one tile of what it loads.
  double perThread = loadedElements(info, plan, counts) / plan.threads;
  double inFlight = resident * plan.threads * std::min(perThread, 32.0) *
                    accessedBytes(info);
  // What a ring waits for takes no registers.
  if (ring)
    inFlight = resident * ringBytes * (config.getStages() - 1) / config.getStages();
  else if (waits)
    inFlight = resident * stepBytes(info, plan);
  double filled = std::min(1.0, inFlight / (machine.multiprocessors * kInFlight));
  double bytes = memoryBytes(info, config, plan, counts);
  double memory =
      std::max(bytes / machine.bandwidth / std::max(filled, 1e-3),
               bytes / counts.blocks / kProcessorBandwidth *
                   std::ceil(counts.blocks / machine.multiprocessors));
  // Blocks that a multiprocessor works at, where there are as many.
  double together = std::min(std::floor(perProcessor),
                             std::ceil(counts.blocks / machine.multiprocessors));
  double resting =
      config.getMma()
          ? std::max(1.0, kMatrixThreads / (together * plan.threads))
          : 1;
  double compute = (contractionTime(info, config, plan, counts) * resting +
                    (config.getPromote().empty() ? 0 : counts.steps * kBarrier)) *
                   std::ceil(counts.blocks / machine.multiprocessors);
  // Nothing is multiplied before a block's first tile is there.
  if (ring)
    compute += (config.getPersistent() ? 1 : waves) * 
               (kLatency + ringBytes / config.getStages() / kProcessorBandwidth);
  // A ring looks several steps ahead, registers between two slots one step.
  double ahead = config.getStages() == 1 ? 1
                 : ring                  ? 2.0 * config.getStages()
                                         : 4;
  double latency =
      waves * counts.steps * countPasses(info, plan) * kLatency / ahead;

  // Lanes that the tile does not fill do the work of others again.
  double surplus = std::max(1.0, 1 / perThread);
  double time = std::max({memory, compute, latency}) * surplus;
  if (info.strategy == Strategy::Reduction ||
      info.strategy == Strategy::SkinnyContraction) {
    // Several warps along a reduced loop meet in shared memory.
    for (auto [loop, warps] : llvm::enumerate(config.getWarps()))
      if (warps > 1 && !info.classes[info.getClasses(info.getRoot())[loop]].parallel)
        time += waves * kExchange;
  }
  // Between equals: less in registers, then blocks of about four warps.
  // What fragments need has been counted, and is reused.
  double held = config.getMma() ? 0 : perThread;
  return time * (1 + 1e-4 * held) +
         1e-3 * std::abs(plan.threads - 4.0 * plan.subgroup);
}
