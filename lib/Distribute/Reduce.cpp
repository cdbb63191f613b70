// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of block vectors, in a fixed order: first the registers of a
// thread, then the lanes of a warp by butterfly shuffles, then the warps
// through shared memory. Every thread that belongs to the result's layout ends
// up with the result.

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

LogicalResult ThreadCode::reduce(vector::MultiDimReductionOp op) {
  Location loc = op.getLoc();
  vector::CombiningKind kind = op.getKind();
  SmallVector<int64_t> dims(op.getReductionDims());
  FailureOr<DistributedLayout> sourceLayout = getLayout(op.getSource());
  FailureOr<Registers> source = registers(op.getSource());
  if (failed(sourceLayout) || failed(source))
    return failure();
  DistributedLayout layout = reduceDims(*sourceLayout, dims);

  // 1. Registers. A replicated register counts once.
  Registers partial(layout.numRegisters());
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted, std::greater<int64_t>());
  std::set<std::vector<int64_t>> seen;
  for (int64_t reg = 0; reg < sourceLayout->numRegisters(); ++reg) {
    if (!seen.insert(sourceLayout->registerOffset(reg)).second)
      continue;
    int64_t into = reg;
    DistributedLayout step = *sourceLayout;
    for (int64_t dim : sorted) {
      into = step.sliceRegisters(dim)[into];
      step = step.slice(dim);
    }
    Value value = (*source)[reg];
    partial[into] = partial[into] ? combine(b, loc, kind, partial[into], value)
                                  : value;
  }

  // 2. Lanes.
  for (auto [divisor, count] : digitsAlong(*sourceLayout, Level::Lane, dims)) {
    if (!llvm::isPowerOf2_64(divisor) || !llvm::isPowerOf2_64(count))
      return op.emitOpError() << "reduces over " << count
                              << " lanes, which is no power of two";
    for (int64_t step = count / 2; step >= 1; step /= 2) {
      Value offset =
          arith::ConstantIntOp::create(b, loc, b.getI32Type(), step * divisor);
      for (Value &value : partial)
        value = combine(b, loc, kind, value,
                        shuffle(loc, value, offset, gpu::ShuffleMode::XOR));
    }
  }

  // 3. Warps: scratch[reduced warp digits][linear coordinates of the result].
  auto warpDigits = digitsAlong(*sourceLayout, Level::Warp, dims);
  if (!warpDigits.empty()) {
    int64_t elements = 1, parts = 1;
    MemView view;
    view.element = op.getSourceVectorType().getElementType();
    for (int64_t extent : layout.shape())
      elements *= extent;
    int64_t stride = elements;
    for (int64_t extent : layout.shape()) {
      stride /= extent;
      view.sizes.push_back(Index(extent));
      view.strides.push_back(Index(stride));
    }
    Index part(0);
    for (auto [divisor, count] : warpDigits) {
      Value digit = warp();
      if (divisor != 1)
        digit = arith::DivUIOp::create(b, loc, digit, constant(loc, divisor));
      digit = arith::RemUIOp::create(b, loc, digit, constant(loc, count));
      part = add(loc, part, multiply(loc, Index(digit), Index(parts)));
      parts *= count;
    }
    view.base = scratch(loc, view.element, elements * parts);
    view.shared = SharedAttr::get(b.getContext(), {});

    // The first lane of each element writes its warp's part.
    SmallVector<Index> base = baseCoordinates(layout);
    auto address = [&](int64_t reg, Index partIndex) {
      Index offset = multiply(loc, partIndex, Index(elements));
      for (auto [coordinate, extra, step] : llvm::zip_equal(
               base, layout.registerOffset(reg), view.strides))
        offset = add(loc, offset,
                     multiply(loc, add(loc, coordinate, Index(extra)), step));
      return materialize(loc, offset);
    };
    {
      OpBuilder::InsertionGuard guard(b);
      Value owner;
      int64_t divisor = 1;
      for (const Mode &mode : layout.modes(Level::Lane)) {
        if (mode.isReplica() && mode.count > 1) {
          Value digit = lane();
          if (divisor != 1)
            digit = arith::DivUIOp::create(b, loc, digit, constant(loc, divisor));
          digit = arith::RemUIOp::create(b, loc, digit, constant(loc, mode.count));
          Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               digit, constant(loc, 0));
          owner = owner ? arith::AndIOp::create(b, loc, owner, isZero).getResult()
                        : isZero;
        }
        divisor *= mode.count;
      }
      if (owner) {
        auto branch = scf::IfOp::create(b, loc, owner, /*withElseRegion=*/false);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      for (auto [reg, value] : llvm::enumerate(partial))
        store(loc, view, address(reg, part), {value});
    }
    barrier(loc);
    for (auto [reg, value] : llvm::enumerate(partial)) {
      value = {};
      for (int64_t index = 0; index < parts; ++index) {
        Value loaded = load(loc, view, address(reg, Index(index)), 1).front();
        value = value ? combine(b, loc, kind, value, loaded) : loaded;
      }
    }
    barrier(loc);
  }

  // 4. The accumulator.
  if (laidOutType(op.getAcc().getType())) {
    FailureOr<Registers> acc = registers(op.getAcc());
    if (failed(acc))
      return failure();
    for (auto [value, old] : llvm::zip_equal(partial, *acc))
      value = combine(b, loc, kind, old, value);
    define(op.getResult(), partial);
  } else {
    scalars.map(op.getResult(), combine(b, loc, kind,
                                        scalars.lookup(op.getAcc()),
                                        partial.front()));
  }
  return success();
}
