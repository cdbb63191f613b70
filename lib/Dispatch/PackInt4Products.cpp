// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of tensors of i4, for targets with matrix instructions that multiply
// numbers of 4 bits. Such tensors have been bytes since `input`, which an op takes
// apart. Where both operands have the sum along their rows, nothing need be taken
// apart: the product runs over bytes, and the body says what it does with each:
//
//   %a = <nibbles of %x : tensor<64x32xi8>> : tensor<64x64xi8>    (and %b)
//   %r = linalg.generic {(m, n, k)} ins(%a, %b) { c + ext a * ext b }
// becomes
//   %r = linalg.generic {(m, n, k)} ins(%x, %y) { c + (ext lo x * ext lo y
//                                                     + ext hi x * ext hi y) }
//
// which the matrix instruction does in one go. Else the product is one of bytes,
// and `tilewright.unpacked` says why.

#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
#define GEN_PASS_DEF_PACKINT4PRODUCTSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// The halves that `value` is, in order along its innermost dim.
static std::optional<Halves> matchUnpacked(Value value) {
  auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapse)
    return std::nullopt;
  int64_t rank = collapse.getSrcType().getRank();
  for (ArrayRef<int64_t> group : collapse.getReassociationIndices())
    if (group.size() != (group.back() + 1 == rank ? 2u : 1u))
      return std::nullopt;
  return matchHalves(collapse.getSrc());
}

/// The product of the bytes themselves, in front of `op`.
static linalg::GenericOp createPacked(RewriterBase &b, linalg::GenericOp op,
                                      const Contraction &product,
                                      const Halves operands[2]) {
  b.setInsertionPoint(op);
  SmallVector<Value> inputs(2);
  inputs[product.a] = operands[0].bytes;
  inputs[product.b] = operands[1].bytes;
  return linalg::GenericOp::create(
      b, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(),
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value sum;
        for (bool isHigh : {false, true}) {
          Value values[2];
          for (unsigned side : {0, 1}) {
            Value nibble = takeNibble(
                b, loc,
                {args[side ? product.b : product.a], isHigh,
                 operands[side].isUnsigned});
            values[side] =
                operands[side].isUnsigned
                    ? arith::ExtUIOp::create(b, loc, args[2].getType(), nibble)
                          .getResult()
                    : arith::ExtSIOp::create(b, loc, args[2].getType(), nibble)
                          .getResult();
          }
          Value both = arith::MulIOp::create(b, loc, values[0], values[1]);
          sum = sum ? arith::AddIOp::create(b, loc, sum, both).getResult() : both;
        }
        linalg::YieldOp::create(
            b, loc, arith::AddIOp::create(b, loc, args[2], sum).getResult());
      });
}

/// A pinned config for a packed instruction speaks of numbers, like the op that
/// carries it: of half as many bytes along the sum. Null for other configs.
static LoweringConfigAttr packedConfig(LoweringConfigAttr config, unsigned k) {
  auto instruction =
      config.getMma() ? MatrixInstruction::parse(config.getContext(),
                                                 config.getMma().getValue())
                      : std::nullopt;
  SmallVector<int64_t> block(config.getBlock());
  if (!instruction || instruction->perElement == 1 || k >= block.size() ||
      block[k] % instruction->perElement)
    return {};
  block[k] /= instruction->perElement;
  return config.withBlock(block);
}

/// Whether a fact of the target lists an instruction for packed numbers.
static bool lists(TargetAttr target, StringRef fact) {
  auto names = target.getFacts().getAs<ArrayAttr>(fact);
  return names && llvm::any_of(names.getAsRange<StringAttr>(), [](StringAttr name) {
           auto instruction =
               MatrixInstruction::parse(name.getContext(), name.getValue());
           return instruction && instruction->perElement > 1;
         });
}

/// The product of bytes that are not taken apart, or why there cannot be one.
static OrRefusal<linalg::GenericOp> pack(RewriterBase &b, linalg::GenericOp op,
                                         const Contraction &product, const Halves operands[2],
                                         TargetAttr target) {
  auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool isNative = lists(target, "mma");
  if (!isNative && !(config && lists(target, "mma_emulated")))
    return refuse(Refused::Target,
                  lists(target, "mma_emulated")
                      ? target.getName().str() +
                            " has no units for i4, and ptxas would make its instructions "
                            "of those for bytes; a pinned 'mma' asks for them"
                      : "no instruction of the target multiplies i4");
  if (!getElementTypeOrSelf(op.getDpsInits()[0].getType()).isInteger(32))
    return refuse(Refused::Types, "its sums are not i32");
  for (unsigned side : {0, 1}) {
    unsigned number = side ? product.b : product.a;
    AffineMap map = op.getIndexingMapsArray()[number];
    unsigned inner = map.getDimPosition(map.getNumResults() - 1);
    if (!llvm::is_contained(product.k, inner))
      return refuse(Refused::Layout,
                    "two elements that share a byte of " + numberOperand(op->getOpOperand(number)) +
                        " belong to different sums; let its innermost dim be the one that is "
                        "summed (transpose the weights)");
    if (product.k.size() != 1)
      return refuse(Refused::NotContraction, "it sums over several loops");
  }
  LoweringConfigAttr pinned;
  if (config) {
    pinned = packedConfig(config, product.k.front());
    if (!pinned)
      return refuse(Refused::Pinned, "it has a lowering config for another product");
  }
  linalg::GenericOp packed = createPacked(b, op, product, operands);
  if (pinned)
    packed->setAttr(kConfigAttr, pinned);
  if (!isForMatrixUnit(cast<linalg::LinalgOp>(packed.getOperation()), target)) {
    b.eraseOp(packed);
    return refuse(Refused::NotContraction,
                  "it has not one loop each of rows, columns and sums, or fewer than 8 "
                  "rows or columns");
  }
  return packed;
}

/// Leaves the bytes of i4 operands whole where a matrix instruction multiplies them
/// so.
static void packInt4Products(func::FuncOp func) {
  TargetAttr target = getTarget(func);
  if (!target || !target.getFacts().contains("mma") ||
      target.getFact("subgroup", 1) <= 1)
    return;
  IRRewriter b(func.getContext());
  SmallVector<linalg::GenericOp> ops;
  func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    auto product = matchContraction(cast<linalg::LinalgOp>(op.getOperation()));
    if (!product || product->perElement != 1)
      continue;
    Halves operands[2];
    bool both = true;
    for (unsigned side : {0, 1}) {
      auto operand = matchUnpacked(
          op.getDpsInputOperand(side ? product->b : product->a)->get());
      // Numbers without a sign are extended either way.
      both &= operand && (operand->isUnsigned || product->signedness[side] == "signed");
      if (operand)
        operands[side] = *operand;
    }
    if (!both)
      continue;
    OrRefusal<linalg::GenericOp> packed = pack(b, op, *product, operands, target);
    if (!packed) {
      op->setAttr(kUnpackedAttr, b.getStringAttr(packed.why().str()));
      continue;
    }
    SmallVector<Value> inputs(op.getInputs());
    b.replaceOp(op, *packed);
    // What took the bytes apart.
    for (Value input : inputs)
      if (Operation *collapse = input.getDefiningOp(); collapse && collapse->use_empty()) {
        Operation *unpack = collapse->getOperand(0).getDefiningOp();
        b.eraseOp(collapse);
        if (unpack->use_empty())
          b.eraseOp(unpack);
      }
  }
}

namespace {
struct PackInt4ProductsPass
    : tilewright::impl::PackInt4ProductsPassBase<PackInt4ProductsPass> {
  void runOnOperation() override { packInt4Products(getOperation()); }
};
} // namespace
