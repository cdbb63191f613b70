// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vector.gather: elements that a body reads by coordinates of its own, one load
// for each, or for each run of neighbours (tilewright/Dialect/Gathers.h).
//
//   %v = vector.gather %t[%c0] [%places], %any, %zeros : memref<?xf32>, vector<64xindex>, …
// becomes, for each register,
//   %x = scf.if %any -> f32 { yield memref.load %t[%place] } else { yield %zero }

#include "ThreadCode.h"

#include "tilewright/Dialect/Gathers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

layout::RegisterRuns ThreadCode::gatherRuns(vector::GatherOp op, const MemView &mem,
                                            const DistributedLayout &layout) {
  auto known = op->getAttrOfType<DenseI64ArrayAttr>(kGatherRunsAttr);
  if (!known || mem.shared || mem.padding || !mem.strides.back().isConstant() ||
      mem.strides.back().constant != 1)
    return layout.registerRuns(0, 1);
  int64_t aligned = std::gcd(known[1], mem.offsetDivisor);
  for (int64_t divisor : ArrayRef(mem.strideDivisors).drop_back())
    aligned = std::gcd(aligned, divisor);
  int64_t width = accessBytes / elementBytes(mem.element);
  while (width > 1 && (aligned % width || layout.contiguity(known[0]) % width))
    width /= 2;
  return layout.registerRuns(known[0], std::max<int64_t>(width, 1));
}

/// The elements of a run, whose places are neighbours from a multiple of their number on. A run
/// outside of the tensor has one place instead, the first or the last of such neighbours.
///
///   %r = vector.load %t[%first & -4]
///   %v1 = select %first == %last, (select %first & 1 == 1, %r[3], %r[0]), %r[1]
SmallVector<Value> ThreadCode::loadRun(Location loc, const MemView &mem, const Index &base,
                                       Value first, Value last, int64_t length) {
  // Outside of the tile it may be the last of them.
  Value start = arith::AndIOp::create(b, loc, first, constant(loc, -length));
  Value at = elementOffset(loc, mem, add(loc, base, Index(start)));
  SmallVector<Value> values(load(loc, mem, at, length));
  if (!last)
    return values;
  auto equal = [&](Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  };
  Value isOne = equal(first, last);
  Value isOdd = equal(arith::AndIOp::create(b, loc, first, constant(loc, 1)), constant(loc, 1));
  Value one = arith::SelectOp::create(b, loc, isOdd, values.back(), values.front());
  for (Value &value : values)
    value = arith::SelectOp::create(b, loc, isOne, one, value);
  return values;
}

/// One load for each run of registers. Only a mask that is not true everywhere needs a
/// branch: the elements that it leaves out may not be there.
LogicalResult ThreadCode::gather(vector::GatherOp op) {
  FailureOr<MemView> mem = view(op.getBase());
  FailureOr<DistributedLayout> layout = getLayout(op.getResult());
  FailureOr<Registers> places = registers(op.getIndices());
  FailureOr<Registers> mask = registers(op.getMask());
  FailureOr<Registers> otherwise = registers(op.getPassThru());
  if (failed(mem) || failed(layout) || failed(places) || failed(mask) ||
      failed(otherwise))
    return failure();
  Location loc = op.getLoc();
  Index base = mem->offset;
  for (auto [dim, index] : llvm::enumerate(op.getOffsets()))
    base = add(loc, base,
               multiply(loc, mapped(OpFoldResult(index)), mem->strides[dim]));
  Registers result(layout->numRegisters());
  auto runs = gatherRuns(op, *mem, *layout);
  for (ArrayRef<int64_t> run : runs.groups) {
    Value place = (*places)[run.front()], inside = (*mask)[run.front()];
    auto loadAll = [&]() -> SmallVector<Value> {
      if (run.size() > 1)
        return loadRun(loc, *mem, base, place,
                       op->hasAttr(kGatherOutsideAttr) ? (*places)[run.back()] : Value(),
                       run.size());
      return SmallVector<Value>(
          load(loc, *mem, elementOffset(loc, *mem, add(loc, base, Index(place))), 1));
    };
    if (matchPattern(inside, m_One())) {
      for (auto [reg, value] : llvm::zip_equal(run, loadAll()))
        result[reg] = value;
      continue;
    }
    SmallVector<Value> left;
    for (int64_t reg : run)
      left.push_back((*otherwise)[reg]);
    auto branch = scf::IfOp::create(b, loc, ValueRange(left).getTypes(), inside,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, loadAll());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, left);
    for (auto [reg, value] : llvm::zip_equal(run, branch.getResults()))
      result[reg] = value;
  }
  define(op.getResult(), result);
  return success();
}
