// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of a warp take operands from registers: operands that lie
// in shared memory are read in front of the product, one step of the instruction
// along the reduction at a time. The fragments of a step are read before the
// products of the step before, which hide the read. Such a read gets the layout
// of the instruction's fragment.
//
//   %n = tilewright.mma %sa, %sb, %c {instruction = "mma.m16n8k16.f16.f32", …}
// becomes, of a tile of 32 along the reduction,
//   %a0 = vector.transfer_read %sa[0, 0] …    %b0 = vector.transfer_read %sb[0, 0] …
//   %a1 = vector.transfer_read %sa[0, 16] …   %b1 = vector.transfer_read %sb[16, 0] …
//   %m = tilewright.mma %a0, %b0, %c …
//   %n = tilewright.mma %a1, %b1, %m …

#include "tilewright/Dialect/Fragments.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

/// Opaque fragments: more steps than these are a loop, which drivers unroll as
/// they like. (Their products are the longest code there is.)
static constexpr int64_t kMostSteps = 4;

static Value multiplyInLoop(MmaOp op, FragmentSteps &steps) {
  OpBuilder b(op);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, op.getLoc(), value);
  };
  auto loop = scf::ForOp::create(
      b, op.getLoc(), constant(0), constant(steps.count() * steps.size()),
      constant(steps.size()), op.getAcc(),
      [&](OpBuilder &b, Location loc, Value from, ValueRange carried) {
        auto fragments = steps.loadFrom(b, op.getA(), op.getB(), from);
        scf::YieldOp::create(b, loc, steps.multiply(b, fragments, carried[0]));
      });
  return loop.getResult(0);
}

static void loadFragments(MmaOp op) {
  OpBuilder b(op);
  FragmentSteps steps(op);
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  if (instruction && instruction->opaque && steps.count() > kMostSteps) {
    op.replaceAllUsesWith(multiplyInLoop(op, steps));
    op.erase();
    return;
  }
  auto load = [&](int64_t number) {
    return steps.load(b, op.getA(), op.getB(), number);
  };
  FragmentSteps::Fragments next = load(0);
  Value sum = op.getAcc();
  for (int64_t number = 0; number < steps.count(); ++number) {
    FragmentSteps::Fragments now = next;
    if (number + 1 < steps.count())
      next = load(number + 1);
    sum = steps.multiply(b, now, sum);
  }
  op.replaceAllUsesWith(sum);
  op.erase();
}

void tilewright::loadFragments(func::FuncOp kernel) {
  SmallVector<MmaOp> products;
  kernel.walk([&](MmaOp op) {
    auto instruction = MatrixInstruction::parse(op.getContext(),
                                                op.getInstruction().value_or(""));
    // Warpgroups read shared memory themselves.
    if (op.getInstruction() && !(instruction && instruction->warpgroup))
      products.push_back(op);
  });
  for (MmaOp op : products)
    ::loadFragments(op);
}
