// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of block vectors, in a fixed order: first the registers of a
// thread, then the lanes of a warp by butterfly shuffles, then the warps
// through shared memory. Every thread that belongs to the result's layout ends
// up with the result. Where the blocks of a cluster share what is reduced, each
// then stores its result in the memory of all:
//
//   cluster_arrive               at the kernel's beginning: this block has begun
//   cluster_wait                 before the first exchange: all have
//   cluster_store %part, %parts[own rank] block 0, 1, …
//   cluster_barrier
//   %all = combined %parts[0], %parts[1], …
//
// Each exchange has memory of its own, which the next one does not wait for; in a loop
// a barrier in front says that all have read what the step before has left there.

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Utils/VectorUtils.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

Value tilewright::combine(OpBuilder &b, Location loc,
                          vector::CombiningKind kind, Value acc, Value value) {
  return vector::makeArithReduction(b, loc, kind, acc, value);
}

/// The digits of a level that move along one of `dims`, as (divisor, count).
static SmallVector<std::pair<int64_t, int64_t>>
digitsAlong(const DistributedLayout &layout, Level level,
            ArrayRef<int64_t> dims) {
  SmallVector<std::pair<int64_t, int64_t>> digits;
  int64_t divisor = 1;
  for (const Mode &mode : layout.modes(level)) {
    if (mode.count > 1 && llvm::is_contained(dims, mode.dim))
      digits.push_back({divisor, mode.count});
    divisor *= mode.count;
  }
  return digits;
}

/// What each register of the result holds of this thread's. A replicated register
/// counts once.
static Registers reduceRegisters(ThreadCode &code, Location loc,
                                 vector::CombiningKind kind,
                                 const DistributedLayout &source,
                                 const Registers &values, ArrayRef<int64_t> dims) {
  Registers partial(reduceDims(source, dims).numRegisters());
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted, std::greater<int64_t>());
  std::set<std::vector<int64_t>> seen;
  for (int64_t reg = 0; reg < source.numRegisters(); ++reg) {
    if (!seen.insert(source.registerOffset(reg)).second)
      continue;
    int64_t into = reg;
    DistributedLayout step = source;
    for (int64_t dim : sorted) {
      into = step.sliceRegisters(dim)[into];
      step = step.slice(dim);
    }
    partial[into] = partial[into]
                        ? combine(code.b, loc, kind, partial[into], values[reg])
                        : values[reg];
  }
  return partial;
}

/// Over the lanes of a warp, all of which get the result.
static LogicalResult reduceLanes(ThreadCode &code, vector::MultiDimReductionOp op,
                                 const DistributedLayout &source,
                                 ArrayRef<int64_t> dims, Registers &partial) {
  Location loc = op.getLoc();
  OpBuilder &b = code.b;
  for (auto [divisor, count] : digitsAlong(source, Level::Lane, dims)) {
    if (!llvm::isPowerOf2_64(divisor) || !llvm::isPowerOf2_64(count))
      return op.emitOpError() << "reduces over " << count
                              << " lanes, which is no power of two";
    for (int64_t step = count / 2; step >= 1; step /= 2) {
      Value offset =
          arith::ConstantIntOp::create(b, loc, b.getI32Type(), step * divisor);
      for (Value &value : partial)
        value = combine(b, loc, op.getKind(), value,
                        code.shuffle(loc, value, offset, gpu::ShuffleMode::XOR));
    }
  }
  return success();
}

namespace {
/// Partial results of a vector in shared memory: [part][linear coordinates], of which a
/// thread has those of its registers.
class PartMemory {
public:
  /// No layout: of a scalar.
  PartMemory(ThreadCode &code, Location loc, Type element,
             const std::optional<DistributedLayout> &layout, int64_t parts)
      : code(code), loc(loc), layout(layout) {
    view.element = element;
    if (layout) {
      for (int64_t extent : layout->shape())
        elements *= extent;
      int64_t stride = elements;
      for (int64_t extent : layout->shape()) {
        stride /= extent;
        view.sizes.push_back(Index(extent));
        view.strides.push_back(Index(stride));
      }
      base = code.baseCoordinates(*layout);
    }
    view.base = code.sharedMemory(loc, element, elements * parts);
    view.shared = SharedAttr::get(code.b.getContext(), {});
  }

  Value address(int64_t reg, Index part) {
    Index offset = code.multiply(loc, part, Index(elements));
    if (layout)
      for (auto [coordinate, extra, step] :
           llvm::zip_equal(base, layout->registerOffset(reg), view.strides))
        offset = code.add(
            loc, offset,
            code.multiply(loc, code.add(loc, coordinate, Index(extra)), step));
    return code.materialize(loc, offset);
  }

  /// All parts of register `reg`, combined in order.
  Value combined(int64_t reg, vector::CombiningKind kind, int64_t parts) {
    Value all;
    for (int64_t part = 0; part < parts; ++part) {
      Value loaded = code.load(loc, view, address(reg, Index(part)), 1).front();
      all = all ? combine(code.b, loc, kind, all, loaded) : loaded;
    }
    return all;
  }

  MemView view;

private:
  ThreadCode &code;
  Location loc;
  std::optional<DistributedLayout> layout;
  int64_t elements = 1;
  SmallVector<Index> base;
};
} // namespace

/// Over the warps, by scratch[reduced warp digits][linear coordinates of the
/// result], which is `layout`'s: the first lane of each element writes its warp's
/// part, and everybody reads all parts.
static void reduceWarps(ThreadCode &code, vector::MultiDimReductionOp op,
                        ArrayRef<std::pair<int64_t, int64_t>> digits,
                        const DistributedLayout &layout, Registers &partial) {
  Location loc = op.getLoc();
  OpBuilder &b = code.b;
  int64_t parts = 1;
  for (auto [divisor, count] : digits)
    parts *= count;
  PartMemory memory(code, loc, op.getSourceVectorType().getElementType(), layout, parts);
  Index part(0);
  int64_t step = 1;
  for (auto [divisor, count] : digits) {
    Value digit = code.warp();
    if (divisor != 1)
      digit = arith::DivUIOp::create(b, loc, digit, code.constant(loc, divisor));
    digit = arith::RemUIOp::create(b, loc, digit, code.constant(loc, count));
    part = code.add(loc, part, code.multiply(loc, Index(digit), Index(step)));
    step *= count;
  }
  {
    OpBuilder::InsertionGuard guard(b);
    if (Value first = code.isFirstOwner(loc, layout, {Level::Lane})) {
      auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [reg, value] : llvm::enumerate(partial))
      code.store(loc, memory.view, memory.address(reg, part), {value});
  }
  for (auto [reg, value] : llvm::enumerate(partial))
    value = memory.combined(reg, op.getKind(), parts);
}

//===----------------------------------------------------------------------===//
// Blocks of a cluster
//===----------------------------------------------------------------------===//

bool ThreadCode::beginCluster() {
  bool inLoop = false, any = false;
  source.walk([&](ClusterReduceOp op) {
    any = true;
    inLoop |= bool(op->getParentOfType<scf::ForOp>());
  });
  // Exchanges in loops begin with a barrier of their own.
  if (any && !inLoop) {
    ClusterArriveOp::create(b, source.getLoc());
    waitsForCluster = true;
  }
  return any;
}

/// i1: of what all threads of the block have, this one stores it.
static Value isStoring(ThreadCode &code, Location loc,
                       const std::optional<DistributedLayout> &layout) {
  if (layout)
    return code.isFirstOwner(loc, *layout);
  OpBuilder &b = code.b;
  Value zero = code.constant(loc, 0);
  auto isZero = [&](Value id) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, id, zero);
  };
  return arith::AndIOp::create(b, loc, isZero(code.lane()), isZero(code.warp()));
}

LogicalResult ThreadCode::reduceOverCluster(ClusterReduceOp op) {
  Location loc = op.getLoc();
  int64_t blocks = clusterSize();
  if (blocks == 1)
    return op.emitOpError("is in a kernel whose blocks are in no clusters");
  std::optional<DistributedLayout> layout;
  Registers values;
  if (laidOutType(op.getType())) {
    FailureOr<DistributedLayout> found = getLayout(op.getResult());
    FailureOr<Registers> held = registers(op.getValue());
    if (failed(found) || failed(held))
      return failure();
    layout = *found;
    values = *held;
  } else {
    values.push_back(scalars.lookup(op.getValue()));
  }

  Type element = getElementTypeOrSelf(op.getType());
  PartMemory memory(*this, loc, element, layout, blocks);
  if (op->getParentOfType<scf::ForOp>())
    ClusterBarrierOp::create(b, loc);
  else if (std::exchange(waitsForCluster, false))
    ClusterWaitOp::create(b, loc);
  Value rank = ClusterRankOp::create(b, loc, b.getIndexType());
  {
    OpBuilder::InsertionGuard guard(b);
    if (Value first = isStoring(*this, loc, layout)) {
      auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [reg, value] : llvm::enumerate(values)) {
      Value stored = value;
      if (Type type = memoryElement(element); type != element)
        stored = arith::ExtUIOp::create(b, loc, type, value);
      Value place = memory.address(reg, Index(rank));
      for (int64_t block = 0; block < blocks; ++block)
        ClusterStoreOp::create(b, loc, stored, memory.view.base, place,
                               constant(loc, block));
    }
  }
  ClusterBarrierOp::create(b, loc);
  for (auto [reg, value] : llvm::enumerate(values))
    value = memory.combined(reg, op.getKind(), blocks);
  if (layout)
    define(op.getResult(), values);
  else
    scalars.map(op.getResult(), values.front());
  return success();
}

LogicalResult ThreadCode::reduce(vector::MultiDimReductionOp op) {
  Location loc = op.getLoc();
  vector::CombiningKind kind = op.getKind();
  SmallVector<int64_t> dims(op.getReductionDims());
  FailureOr<DistributedLayout> layout = getLayout(op.getSource());
  FailureOr<Registers> source = registers(op.getSource());
  if (failed(layout) || failed(source))
    return failure();

  Registers partial = reduceRegisters(*this, loc, kind, *layout, *source, dims);
  if (failed(reduceLanes(*this, op, *layout, dims, partial)))
    return failure();
  auto warpDigits = digitsAlong(*layout, Level::Warp, dims);
  if (!warpDigits.empty())
    reduceWarps(*this, op, warpDigits, reduceDims(*layout, dims), partial);

  if (!laidOutType(op.getAcc().getType())) {
    scalars.map(op.getResult(),
                combine(b, loc, kind, scalars.lookup(op.getAcc()), partial.front()));
    return success();
  }
  FailureOr<Registers> acc = registers(op.getAcc());
  if (failed(acc))
    return failure();
  for (auto [value, old] : llvm::zip_equal(partial, *acc))
    value = combine(b, loc, kind, old, value);
  define(op.getResult(), partial);
  return success();
}
