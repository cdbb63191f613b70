// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-native-math: what the hardware has an instruction for. All other math is
// expanded behind this pass, with the errors that lib/Target/ExpandMath.cpp lists.
//
//   %p = math.exp2 %x fastmath<afn> : f32     ->    ex2.approx.ftz.f32
//   %m = arith.maxnumf %x, %y : f32           ->    max.f32
//
// ex2.approx is within 2^-22 of the result, relatively; a power below 2^-126 is zero.

#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace tilewright {
#define GEN_PASS_DEF_NATIVEMATHPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Upstream would compare, and ask for NaN.
template <typename Intrinsic, typename Op> static void replace(Op op) {
  if (!op.getType().isF32())
    return;
  OpBuilder b(op);
  op.replaceAllUsesWith(
      Intrinsic::create(b, op.getLoc(), op.getLhs(), op.getRhs()).getResult());
  op.erase();
}

namespace {
struct NativeMathPass
    : tilewright::impl::NativeMathPassBase<NativeMathPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto most = dyn_cast<arith::MaxNumFOp>(op))
        replace<LLVM::MaxNumOp>(most);
      else if (auto least = dyn_cast<arith::MinNumFOp>(op))
        replace<LLVM::MinNumOp>(least);
    });
    getOperation()->walk([](mlir::math::Exp2Op op) {
      if (!op.getType().isF32() ||
          !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
        return;
      OpBuilder b(op);
      auto call = LLVM::CallIntrinsicOp::create(
          b, op.getLoc(), op.getType(), b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
          ValueRange{op.getOperand()});
      op.replaceAllUsesWith(call.getResults());
      op.erase();
    });
  }
};
} // namespace
