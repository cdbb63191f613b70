// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix instructions of a warp take operands from registers: operands that lie
// in shared memory are read in front of the product. Such a read gets the
// layout of the instruction's fragment.
//
//   %n = tilewright.mma %sa, %sb, %c {instruction = "mma.m16n8k16.f16.f32", …}
// becomes
//   %va = vector.transfer_read %sa …
//   %vb = vector.transfer_read %sb …
//   %n = tilewright.mma %va, %vb, %c …

#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

void tilewright::loadFragments(func::FuncOp kernel) {
  kernel.walk([](MmaOp op) {
    if (!op.getInstruction())
      return;
    OpBuilder b(op);
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
      auto type = dyn_cast<MemRefType>(operand->get().getType());
      if (!type)
        continue;
      Location loc = op.getLoc();
      Value zero = arith::ConstantIndexOp::create(b, loc, 0);
      Value padding = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      SmallVector<Value> zeros(type.getRank(), zero);
      SmallVector<bool> inBounds(type.getRank(), true);
      operand->set(vector::TransferReadOp::create(
          b, loc, VectorType::get(type.getShape(), type.getElementType()),
          operand->get(), zeros, padding, ArrayRef<bool>(inBounds)));
    }
  });
}
