// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vector.gather: elements that a body reads by coordinates of its own, one load
// for each.
//
//   %v = vector.gather %t[%c0] [%places], %any, %zeros : memref<?xf32>,
//   vector<64xindex>, …
// becomes, for each register,
//   %x = scf.if %any -> f32 { yield memref.load %t[%place] } else { yield %zero
//   }

#include "ThreadCode.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

/// One load for each register. Only a mask that is not true everywhere needs a
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
  Registers result;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    Value at = elementOffset(loc, *mem, add(loc, base, Index((*places)[reg])));
    Value inside = (*mask)[reg];
    if (matchPattern(inside, m_One())) {
      result.push_back(load(loc, *mem, at, 1).front());
      continue;
    }
    auto branch = scf::IfOp::create(b, loc, (*otherwise)[reg].getType(), inside,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, load(loc, *mem, at, 1));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, (*otherwise)[reg]);
    result.push_back(branch.getResult(0));
  }
  define(op.getResult(), result);
  return success();
}
