// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of a row by one number, as a softmax has them, are products with its reciprocal where
// they become f16 or bf16. A division takes as long as five or six products.
//
//   scf.for … {
//     %d = vector.broadcast %sum : vector<2x1xf32> to vector<2x64xf32>
//     %q = arith.divf %e, %d : vector<2x64xf32>
//     %h = arith.truncf %q : vector<2x64xf32> to vector<2x64xf16>
//   }
// becomes, by the power of two %p that brings %sum to [1/2, 1),
//   %r = 1 / (%sum * %p)
//   scf.for … { %q = (%e * %p) * %r … }
//
// Neither product nor reciprocal leaves the range of f32 then unless the quotient does. %q is off by
// three units in the last place of f32 at most, which changes what is rounded to 16 bits only next
// to the middle of two numbers. NVIDIA's GPUs do likewise (lib/Target/NVVM/ShareReciprocals.cpp).

#include "tilewright/Dialect/Quotients.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_DIVIDEROWSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Products behind a quotient, at most, up to what is rounded to 16 bits.
static constexpr unsigned kProducts = 3;
static constexpr uint32_t kExponent = 0x7f800000u, kUnit = 0x00800000u;

/// What `value` repeats, and the ops that repeat it, the last one first.
static Value repeated(Value value, SmallVectorImpl<Operation *> &ops) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, vector::ShapeCastOp>(op))
      break;
    ops.push_back(op);
    value = op->getOperand(0);
  }
  return value;
}

/// `value` by `ops`, at the builder's place.
static Value repeat(OpBuilder &b, Value value, ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    value = b.clone(*op, mapping)->getResult(0);
  }
  return value;
}

namespace {
/// A power of two, and the reciprocal of the number times it.
struct Reciprocal {
  Value scale, value;
};
} // namespace

/// `number`: f32, or a vector of them.
static Reciprocal reciprocalOf(OpBuilder &b, Location loc, Value number) {
  Type type = number.getType(), bits = b.getI32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.clone(bits);
  auto constant = [&](Type type, TypedAttr value) -> Value {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, loc, value);
  };
  auto integer = [&](uint32_t value) {
    return constant(bits, b.getI32IntegerAttr(int32_t(value)));
  };
  Value exponent = arith::AndIOp::create(
      b, loc, arith::BitcastOp::create(b, loc, bits, number), integer(kExponent));
  exponent = arith::MinUIOp::create(b, loc, exponent, integer(252 * kUnit));
  Value scale = arith::BitcastOp::create(
      b, loc, type, arith::SubIOp::create(b, loc, integer(253 * kUnit), exponent));
  Value scaled = arith::MulFOp::create(b, loc, number, scale);
  Value one = constant(type, b.getF32FloatAttr(1));
  return {scale, arith::DivFOp::create(b, loc, one, scaled)};
}

/// The outermost loop around `op` that does not make `number`.
static scf::ForOp findLoop(Operation *op, Value number) {
  scf::ForOp found;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop && loop.isDefinedOutsideOfLoop(number);
       loop = loop->getParentOfType<scf::ForOp>())
    found = loop;
  return found;
}

namespace {
struct DivideRowsPass : tilewright::impl::DivideRowsPassBase<DivideRowsPass> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      return;
    getOperation()->walk([](arith::DivFOp op) {
      auto type = dyn_cast<VectorType>(op.getType());
      if (!type || !type.getElementType().isF32() || !becomesNarrow(op, kProducts) ||
          matchPattern(op.getRhs(), m_Constant()))
        return;
      SmallVector<Operation *> ops;
      Value number = repeated(op.getRhs(), ops);
      // Of a row in registers the divisions overlap with other rows' steps: a reciprocal costs more.
      scf::ForOp loop = findLoop(op, number);
      if (ops.empty() || !loop)
        return;
      OpBuilder b(loop);
      Reciprocal reciprocal = reciprocalOf(b, op.getLoc(), number);
      b.setInsertionPoint(op);
      Value scaled = arith::MulFOp::create(b, op.getLoc(), op.getLhs(),
                                           repeat(b, reciprocal.scale, ops));
      Value product =
          arith::MulFOp::create(b, op.getLoc(), scaled, repeat(b, reciprocal.value, ops));
      op.replaceAllUsesWith(product);
      op.erase();
    });
  }
};
} // namespace
