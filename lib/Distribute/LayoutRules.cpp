// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of LayoutRules.h: each answers "if the result looks like this, what
// must the operand look like" or "which layout does this op want by itself".

#include "LayoutRules.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright;
using layout::Level;
using layout::Mode;

VectorType tilewright::laidOutType(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() > 0 ? vector : VectorType();
}

int64_t tilewright::elementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max<int64_t>(1, (type.getIntOrFloatBitWidth() + 7) / 8);
}

LayoutAttr tilewright::toAttr(MLIRContext *context,
                              const DistributedLayout &layout) {
  return LayoutAttr::get(context, layout.print(/*withShape=*/false));
}

static std::vector<int64_t> toVector(ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

FailureOr<DistributedLayout> tilewright::getLayout(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument.getArgNumber() == 0)
      return failure();
    value = loop.getResult(argument.getArgNumber() - 1);
  }
  Operation *op = value.getDefiningOp();
  auto layouts = op->getAttrOfType<ArrayAttr>(kLayoutsAttr);
  if (!layouts)
    return op->emitOpError() << "has no '" << kLayoutsAttr
                             << "'; run tilewright-assign-layouts first";
  size_t index = 0;
  for (OpResult result : op->getResults()) {
    VectorType type = laidOutType(result.getType());
    if (result != value) {
      index += bool(type);
      continue;
    }
    auto attr = index < layouts.size() ? dyn_cast<LayoutAttr>(layouts[index])
                                       : LayoutAttr();
    if (!attr)
      return op->emitOpError() << "needs one layout per vector result";
    auto parsed = DistributedLayout::parse(std::string(attr.getText()),
                                           toVector(type.getShape()));
    if (!parsed)
      return op->emitOpError() << "layout " << attr << ": " << parsed.error();
    return *parsed;
  }
  return failure();
}

std::vector<int> tilewright::memoryOrder(AffineMap map) {
  // map: (memory dims) -> one result per vector dim.
  SmallVector<std::pair<int64_t, int>> byMemory;
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    auto memory = dyn_cast<AffineDimExpr>(result);
    byMemory.push_back({memory ? -int64_t(memory.getPosition()) : 1, int(dim)});
  }
  llvm::sort(byMemory);
  std::vector<int> order;
  for (auto [key, dim] : byMemory)
    order.push_back(dim);
  return order;
}

FailureOr<DistributedLayout>
tilewright::operandLayout(VectorType type, AffineMap map, int64_t accessBytes,
                         const ThreadRange &threads) {
  std::vector<int> order = memoryOrder(map);
  int64_t width =
      std::max<int64_t>(1, accessBytes / elementBytes(type.getElementType()));
  if (type.getRank() != 2)
    return accessLayout(type, map, accessBytes, threads);
  auto isPower = [](int64_t x) { return llvm::isPowerOf2_64(x); };
  while (width > 1 &&
         width * threads.lanes * threads.warps > type.getNumElements())
    width /= 2;
  int64_t columns = type.getDimSize(order[0]), rows = type.getDimSize(order[1]);
  if (!isPower(columns) || !isPower(rows) || columns < width ||
      !isPower(threads.lanes) || !isPower(threads.warps))
    return accessLayout(type, map, accessBytes, threads);
  // Lanes, then warps, first along the columns.
  std::vector<int64_t> elements(2), lanes(2), warps(2);
  lanes[order[0]] = std::min(threads.lanes, columns / width);
  lanes[order[1]] = threads.lanes / lanes[order[0]];
  warps[order[0]] =
      std::min(threads.warps, columns / width / lanes[order[0]]);
  warps[order[1]] = threads.warps / warps[order[0]];
  elements[order[0]] = width;
  elements[order[1]] = std::clamp<int64_t>(
      rows / (lanes[order[1]] * warps[order[1]]), 1, 4);
  auto result = DistributedLayout::blocked(toVector(type.getShape()), elements,
                                           lanes, warps, order);
  if (!result)
    return failure();
  return result->withFirstWarp(threads.firstWarp);
}

FailureOr<DistributedLayout>
tilewright::accessLayout(VectorType type, AffineMap map, int64_t accessBytes,
                         const ThreadRange &threads) {
  std::vector<int> order = memoryOrder(map);
  int64_t elements =
      std::max<int64_t>(1, accessBytes / elementBytes(type.getElementType()));
  // A tile smaller than one access per thread is better spread over all lanes.
  int64_t numThreads = threads.lanes * threads.warps;
  while (elements > 1 && elements * numThreads > type.getNumElements())
    elements /= 2;
  auto result = DistributedLayout::coalesced(
      toVector(type.getShape()), elements, threads.lanes, threads.warps, order);
  if (!result)
    return failure();
  return result->withFirstWarp(threads.firstWarp);
}

FailureOr<DistributedLayout>
tilewright::copyLayout(MemRefType tile, AffineMap map, int64_t length,
                       const ThreadRange &threads) {
  auto result = DistributedLayout::coalesced(toVector(tile.getShape()), length,
                                             threads.lanes, threads.warps,
                                             memoryOrder(map));
  if (!result)
    return failure();
  return result->withFirstWarp(threads.firstWarp);
}

DistributedLayout
tilewright::broadcastSource(const DistributedLayout &result,
                            VectorType source) {
  DistributedLayout layout = result;
  while (layout.rank() > source.getRank())
    layout = layout.slice(0);
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    if (source.getDimSize(dim) == 1 && layout.shape()[dim] != 1)
      layout = layout.project(dim);
  return layout;
}

FailureOr<DistributedLayout>
tilewright::broadcastInRegisters(const DistributedLayout &source,
                                 VectorType result) {
  DistributedLayout layout = source;
  for (int64_t dim = result.getRank() - source.rank() - 1; dim >= 0; --dim)
    layout = layout.insertDim(0, result.getDimSize(dim));
  for (int64_t dim = 0; dim < result.getRank(); ++dim) {
    if (layout.shape()[dim] == result.getDimSize(dim))
      continue;
    auto grown = layout.broadcastInRegisters(dim, result.getDimSize(dim));
    if (!grown)
      return failure();
    layout = *grown;
  }
  return layout;
}

static FailureOr<DistributedLayout>
castUnitDims(const DistributedLayout &from, ArrayRef<int64_t> to) {
  DistributedLayout layout = from;
  int64_t dim = 0;
  for (int64_t extent : to) {
    while (dim < layout.rank() && layout.shape()[dim] == 1 && extent != 1)
      layout = layout.slice(dim);
    if (dim < layout.rank() && layout.shape()[dim] == extent) {
      ++dim;
    } else if (extent == 1) {
      layout = layout.insertDim(dim++);
    } else {
      return failure();
    }
  }
  while (dim < layout.rank()) {
    if (layout.shape()[dim] != 1)
      return failure();
    layout = layout.slice(dim);
  }
  return layout;
}

FailureOr<DistributedLayout>
tilewright::castShape(const DistributedLayout &from, ArrayRef<int64_t> to) {
  if (auto layout = castUnitDims(from, to); succeeded(layout))
    return layout;
  auto result = from.reshape({to.begin(), to.end()});
  if (!result)
    return failure();
  return *result;
}

/// `layout` with last dim `extent` and every stride along it as `scale` makes it.
static FailureOr<DistributedLayout>
scaleLastDim(const DistributedLayout &layout, int64_t extent,
             DistributedLayout::Modes registers,
             llvm::function_ref<int64_t(int64_t)> scale) {
  int last = layout.rank() - 1;
  auto scaled = [&](DistributedLayout::Modes modes) {
    for (Mode &mode : modes)
      if (mode.dim == last)
        mode.stride = scale(mode.stride);
    return modes;
  };
  DistributedLayout::Shape shape = layout.shape();
  shape.back() = extent;
  for (const Mode &mode : scaled(layout.modes(Level::Register)))
    registers.push_back(mode);
  auto result = DistributedLayout::get(shape, registers,
                                       scaled(layout.modes(Level::Lane)),
                                       scaled(layout.modes(Level::Warp)),
                                       layout.firstWarp());
  if (!result)
    return failure();
  return *result;
}

FailureOr<DistributedLayout>
tilewright::interleaved(const DistributedLayout &half) {
  if (half.isOpaque())
    return failure();
  return scaleLastDim(half, 2 * half.shape().back(), {{2, half.rank() - 1, 1}},
                      [](int64_t stride) { return 2 * stride; });
}

FailureOr<DistributedLayout>
tilewright::halfOf(const DistributedLayout &interleaved) {
  int last = interleaved.rank() - 1;
  DistributedLayout::Modes registers = interleaved.modes(Level::Register);
  if (interleaved.isOpaque() || registers.empty() || registers.front().dim != last ||
      registers.front().stride != 1 || registers.front().count % 2)
    return failure();
  // The first digit counts pairs from now on.
  Mode first{registers.front().count / 2, last, 2};
  registers.erase(registers.begin());
  if (first.count > 1)
    registers.insert(registers.begin(), first);
  DistributedLayout rest(interleaved.shape(), registers,
                         interleaved.modes(Level::Lane),
                         interleaved.modes(Level::Warp), interleaved.firstWarp());
  return scaleLastDim(rest, interleaved.shape().back() / 2, {},
                      [](int64_t stride) { return stride / 2; });
}

DistributedLayout tilewright::reduceDims(const DistributedLayout &source,
                                         ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted, std::greater<int64_t>());
  DistributedLayout layout = source;
  for (int64_t dim : sorted)
    layout = layout.slice(dim);
  return layout;
}

int64_t tilewright::contiguousBytes(const DistributedLayout &layout, int dim,
                                    int64_t elementBytes, bool anyLanes) {
  int64_t run = layout.contiguity(dim);
  DistributedLayout canonical = layout.canonicalize();
  if (anyLanes) {
    const DistributedLayout::Modes &lanes = canonical.modes(Level::Lane);
    auto next = lanes.end();
    do {
      next = llvm::find_if(lanes, [&](const Mode &mode) {
        return mode.dim == dim && mode.stride == run && mode.count > 1;
      });
      run *= next == lanes.end() ? 1 : next->count;
    } while (next != lanes.end());
    return run * elementBytes;
  }
  for (const Mode &mode : canonical.modes(Level::Lane)) {
    if (mode.dim != dim || mode.stride != run)
      break;
    run *= mode.count;
  }
  return run * elementBytes;
}

SmallVector<int64_t> tilewright::warpsPerDim(MmaOp op) {
  LoweringConfigAttr config = getConfig(op);
  if (!config)
    return {};
  auto map = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  SmallVector<int64_t> perLoop(config.getWarps());
  ArrayRef<int64_t> block = config.getBlock();
  if (perLoop.size() == block.size())
    for (size_t loop = 0, given = 0; perLoop.size() > map.getNumDims() &&
                                     given < block.size();
         ++given) {
      if (block[given] == 1 && perLoop[loop] == 1)
        perLoop.erase(perLoop.begin() + loop);
      else
        ++loop;
    }
  SmallVector<int64_t> values;
  for (AffineExpr result : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (loop >= perLoop.size())
      return {};
    values.push_back(perLoop[loop]);
  }
  return values;
}

LoweringConfigAttr tilewright::getConfig(Operation *op) {
  auto func = op->getParentOfType<FunctionOpInterface>();
  return func ? func->getAttrOfType<LoweringConfigAttr>(kConfigAttr)
              : LoweringConfigAttr();
}

/// Spreads `budget` threads over the dims, last dims first and turn by turn in
/// factors of two, as far as `left` divides; returns the share of each dim.
static SmallVector<int64_t> spread(int64_t budget, SmallVector<int64_t> left) {
  SmallVector<int64_t> share(left.size(), 1);
  for (bool progress = true; budget > 1 && progress;) {
    progress = false;
    for (int64_t dim = left.size() - 1; dim >= 0 && budget > 1; --dim) {
      if (left[dim] % 2 || budget % 2)
        continue;
      left[dim] /= 2;
      budget /= 2;
      share[dim] *= 2;
      progress = true;
    }
  }
  return share;
}

/// The same, and those that are left without elements are replicas of the others: a
/// share that the first dim has no elements for.
static SmallVector<int64_t> spreadAll(int64_t budget, SmallVector<int64_t> left) {
  SmallVector<int64_t> share = spread(budget, left);
  if (!share.empty())
    share.front() *= budget / llvm::product_of(share);
  return share;
}

FailureOr<DistributedLayout>
tilewright::simtAccumulator(MmaOp op, const ThreadRange &threads) {
  auto type = cast<VectorType>(op.getAcc().getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> left(type.getShape()), warps = warpsPerDim(op), elements(rank, 1);
  if (warps.empty())
    warps = spreadAll(threads.warps, left);
  else if (llvm::product_of(warps) != threads.warps)
    return op.emitOpError() << "has " << threads.warps << " warps, but the lowering config has "
                            << llvm::product_of(warps) << " of them along its result";
  for (int64_t dim = 0; dim < rank; ++dim)
    left[dim] = std::max<int64_t>(1, left[dim] / warps[dim]);

  // Up to four neighbours along the last two dims: 16-byte accesses to shared
  // memory for B along n and for A along m.
  int64_t perThread = llvm::product_of(left) / threads.lanes;
  for (int64_t dim = rank - 1; dim >= std::max<int64_t>(0, rank - 2); --dim)
    while (elements[dim] < 4 && left[dim] % 2 == 0 && perThread > 1) {
      elements[dim] *= 2;
      left[dim] /= 2;
      perThread /= 2;
    }
  SmallVector<int64_t> lanes = spreadAll(threads.lanes, left);
  std::vector<int> order;
  for (int64_t dim = rank - 1; dim >= 0; --dim)
    order.push_back(dim);
  auto layout = DistributedLayout::blocked(
      toVector(type.getShape()), toVector(elements), toVector(lanes),
      toVector(warps), order);
  if (!layout)
    return op.emitOpError() << "has no accumulator layout: " << layout.error();
  return layout->withFirstWarp(threads.firstWarp);
}
