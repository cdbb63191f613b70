// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes as f16 or bf16 are what they are as f32: the significand of either type has eight
// bits at least. Where the code generator computes with f32, nothing has to be rounded.
//
//   %f = arith.sitofp %i : vector<16xi8> to vector<16xf32>
//   %h = arith.truncf %f : vector<16xf32> to vector<16xf16>
//   %x = arith.extf %h : vector<16xf16> to vector<16xf32>      // %x is %f

#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {
#define GEN_PASS_DEF_FOLDEXACTCASTSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static bool isByteAsFloat(Operation *op) {
  return op && isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
         getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() <= 8;
}

namespace {
struct FoldExactCastsPass : tilewright::impl::FoldExactCastsPassBase<FoldExactCastsPass> {
  void runOnOperation() override {
    getOperation()->walk([](arith::ExtFOp widen) {
      auto round = widen.getIn().getDefiningOp<arith::TruncFOp>();
      if (!round || !isByteAsFloat(round.getIn().getDefiningOp()) ||
          round.getIn().getType() != widen.getType() ||
          !isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(round.getType())))
        return;
      widen.replaceAllUsesWith(round.getIn());
      widen.erase();
      if (round->use_empty())
        round.erase();
    });
  }
};
} // namespace
