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
    if (run.size() > 1) // outside of the tile it may be the last of them
      place = arith::AndIOp::create(b, loc, place, constant(loc, -int64_t(run.size())));
    Value at = elementOffset(loc, *mem, add(loc, base, Index(place)));
    if (matchPattern(inside, m_One())) {
      for (auto [reg, value] : llvm::zip_equal(run, load(loc, *mem, at, run.size())))
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
    scf::YieldOp::create(b, loc, load(loc, *mem, at, run.size()));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, left);
    for (auto [reg, value] : llvm::zip_equal(run, branch.getResults()))
      result[reg] = value;
  }
  define(op.getResult(), result);
  return success();
}
