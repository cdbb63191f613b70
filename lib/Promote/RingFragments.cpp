// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction of a warp takes its operands from registers. The fragments of a step are
// read in front of the products of the step before, also across stages: the loop carries
// those of the last step, which begin as zeros. A stage is released when all of it has
// been read, before its last products:
//
//   %r:3 = scf.for %p … iter_args(%acc = %init, %a = 0, %b = 0) {
//     %sa, %sb = tilewright.wait %ring[%p]
//     %a0 = vector.transfer_read %sa[0, 0] …   %b0 = …
//     %s0 = tilewright.mma %a, %b, %acc         // the last of the stage before
//     %a1 = vector.transfer_read %sa[0, 16] …  %b1 = …
//     %s1 = tilewright.mma %a0, %b0, %s0
//     …
//     tilewright.warp_barrier; tilewright.release %ring[%p]
//     %s3 = tilewright.mma %a2, %b2, %s2
//     scf.yield %s3, %a3, %b3
//   }
//   %sum = tilewright.mma %r#1, %r#2, %r#0

#include "RingFragments.h"

#include "tilewright/Dialect/Fragments.h"
#include "tilewright/Dialect/Rings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

Value tilewright::writeFragmentSums(OpBuilder &b, MmaOp product, const RingSums &sums) {
  Location loc = product.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto ring = cast<RingType>(sums.ring.getType());
  SmallVector<Value> inits{sums.init};
  for (unsigned operand : {0, 1}) {
    VectorType type = FragmentSteps::typeOf(
        ring.getTiles()[operand], sums.maps, operand, *product.getInstruction());
    inits.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  }
  auto loop = scf::ForOp::create(b, loc, constant(0), sums.steps, constant(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  sums.fillNext(b, loop.getInductionVar());
  Value at = sums.position(b, loop.getInductionVar());
  auto stage = WaitOp::create(b, loc, sums.ring, at);
  auto whole = cast<MmaOp>(b.clone(*product));
  whole.getAMutable().assign(stage.getTiles()[0]);
  whole.getBMutable().assign(stage.getTiles()[1]);
  whole.setMapsAttr(sums.maps);
  FragmentSteps steps(whole);
  auto arguments = loop.getRegionIterArgs();
  Value sum = arguments[0];
  FragmentSteps::Fragments now{arguments[1], arguments[2]};
  for (int64_t number = 0; number < steps.count(); ++number) {
    auto next = steps.load(b, whole.getA(), whole.getB(), number);
    if (number + 1 == steps.count()) {
      // One lane says so for all.
      WarpBarrierOp::create(b, loc);
      sums.release(b, at);
    }
    sum = steps.multiply(b, now, sum);
    now = next;
  }
  scf::YieldOp::create(b, loc, ValueRange{sum, now.first, now.second});
  b.setInsertionPointAfter(loop);
  Value last = steps.multiply(b, {loop.getResult(1), loop.getResult(2)},
                              loop.getResult(0));
  whole.erase();
  return last;
}
