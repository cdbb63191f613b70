// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's bufferization takes an init whose elements a body does not use for one that is not
// read, though an op whose map is no permutation may leave elements of it as they are:
//
//   %r = linalg.generic <(i) -> (i, 1)> outs(%init) { yield %x }
//     ->  %copy = bufferization.alloc_tensor() copy(%init)
//         %r = linalg.generic <(i) -> (i, 1)> outs(%copy) { yield %x }

#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {
#define GEN_PASS_DEF_COPYPARTIALINITSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
struct CopyPartialInitsPass
    : tilewright::impl::CopyPartialInitsPassBase<CopyPartialInitsPass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) {
      for (OpOperand &init : op.getDpsInitsMutable()) {
        auto type = dyn_cast<RankedTensorType>(init.get().getType());
        if (!type || init.get().getDefiningOp<tensor::EmptyOp>() ||
            op.payloadUsesValueFromOperand(&init) ||
            op.getMatchingIndexingMap(&init).isPermutation())
          continue;
        OpBuilder b(op);
        init.set(bufferization::AllocTensorOp::create(b, op.getLoc(), type,
                                                      /*dynamicSizes=*/ValueRange(), init.get()));
      }
    });
  }
};
} // namespace
