// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of i4 have been made tensors of bytes whose halves an op takes apart, in a dim
// of two (`input`). That dim would be two steps of a sum of their own, or two columns. A
// product whose kernel computes its operand reads the elements in order instead, through
// tilewright.unpack:
//
//   %u = linalg.generic ins(%bytes, dense<[0, 4]>) { shrui; shli; shrsi }   80x48x2xi8
//   %d = linalg.generic ins(%u, %scale) { sitofp; mulf }                    80x48x2xf16
//   %f = tensor.collapse_shape %d [[0], [1, 2]]                             80x96xf16
//   %r = linalg.generic <matmul> ins(%x, %f)
// becomes
//   %u = tilewright.unpack %bytes : tensor<80x48xi8> to tensor<80x96xi8>
//   %f = linalg.generic ins(%u, %scale) { sitofp; mulf }                    80x96xf16
//   %r = linalg.generic <matmul> ins(%x, %f)

#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PACKOPERANDSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

std::optional<Halves> tilewright::matchHalves(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() || op.getNumDpsInputs() != 2 ||
      op.getNumResults() != 1 || op->hasAttr(kConfigAttr))
    return std::nullopt;
  DenseIntElementsAttr shifts;
  unsigned rank = op.getNumLoops();
  MLIRContext *context = op.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (rank < 2 || maps[2] != all || maps[0] != all.dropResult(rank - 1) ||
      maps[1] != AffineMap::get(rank, 0, getAffineDimExpr(rank - 1, context)) ||
      !matchPattern(op.getDpsInputOperand(1)->get(), m_Constant(&shifts)) ||
      shifts.getNumElements() != 2 || !shifts.getElementType().isInteger(8) ||
      shifts.getValues<APInt>()[0] != 0 || shifts.getValues<APInt>()[1] != 4)
    return std::nullopt;
  Block *body = op.getBody();
  Operation *last = body->getTerminator()->getOperand(0).getDefiningOp();
  bool isUnsigned = isa_and_nonnull<arith::AndIOp>(last);
  if (!isUnsigned && !isa_and_nonnull<arith::ShRSIOp>(last))
    return std::nullopt;
  if (!isConstantIntValue(last->getOperand(1), isUnsigned ? 15 : 4))
    return std::nullopt;
  Value low = last->getOperand(0);
  if (!isUnsigned) {
    auto left = low.getDefiningOp<arith::ShLIOp>();
    if (!left || !isConstantIntValue(left.getRhs(), 4))
      return std::nullopt;
    low = left.getLhs();
  }
  auto right = low.getDefiningOp<arith::ShRUIOp>();
  if (!right || right.getLhs() != body->getArgument(0) ||
      right.getRhs() != body->getArgument(1))
    return std::nullopt;
  return Halves{op.getDpsInputOperand(0)->get(), isUnsigned};
}

namespace {
/// One reshape in front of a product, and what stands in front of it.
class Packer {
public:
  Packer(tensor::CollapseShapeOp reshape, IRRewriter &b)
      : reshape(reshape), b(b) {}

  /// False where nothing was changed.
  bool run(TargetAttr target);

private:
  bool joinsPairs();
  Value joinPairs(Value value, AffineMap map);
  AffineMap joinedMap(AffineMap map);
  Value unpack(Location loc, const Halves &halves);

  tensor::CollapseShapeOp reshape;
  IRRewriter &b;
  /// The op that reads the halves.
  linalg::GenericOp reader;
};
} // namespace

Value Packer::unpack(Location loc, const Halves &halves) {
  auto bytes = cast<RankedTensorType>(halves.bytes.getType());
  SmallVector<int64_t> shape(bytes.getShape());
  shape.back() *= 2;
  auto type = RankedTensorType::get(shape, bytes.getElementType());
  return UnpackOp::create(b, loc, type, halves.bytes, halves.isUnsigned);
}

/// Whether the reshape's last group ends in the dim of two, and every operand of the
/// reader has both that dim and the bytes', one behind the other, or neither.
bool Packer::joinsPairs() {
  auto type = cast<RankedTensorType>(reshape.getSrc().getType());
  int64_t rank = type.getRank();
  ReassociationIndices last = reshape.getReassociationIndices().back();
  // Of rows without elements no tile is whole bytes.
  if (last.size() < 2 || type.getShape().back() != 2 ||
      ShapedType::isDynamic(type.getDimSize(rank - 2)) || type.getDimSize(rank - 2) == 0)
    return false;
  for (OpOperand &operand : reader->getOpOperands()) {
    AffineMap map = reader.getMatchingIndexingMap(&operand);
    auto pair = map.getResultPosition(b.getAffineDimExpr(rank - 2));
    auto half = map.getResultPosition(b.getAffineDimExpr(rank - 1));
    if (pair.has_value() != half.has_value() || (pair && *half != *pair + 1))
      return false;
  }
  return true;
}

/// Without the dim of halves, which is the last loop.
AffineMap Packer::joinedMap(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    if (result != b.getAffineDimExpr(map.getNumDims() - 1))
      results.push_back(result);
  return AffineMap::get(map.getNumDims() - 1, 0, results, b.getContext());
}

Value Packer::joinPairs(Value value, AffineMap map) {
  std::optional<unsigned> half =
      map.getResultPosition(b.getAffineDimExpr(map.getNumDims() - 1));
  if (!half)
    return value;
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    if (dim == *half)
      groups.back().push_back(dim);
    else
      groups.push_back({int64_t(dim)});
  return tensor::CollapseShapeOp::create(b, value.getLoc(), value, groups);
}

bool Packer::run(TargetAttr target) {
  auto product = dyn_cast<linalg::LinalgOp>(*reshape->user_begin());
  reader = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!product || !reshape->hasOneUse() || !reader || !reader->hasOneUse() ||
      reader->getBlock() != product->getBlock() || reader.getNumResults() != 1 ||
      classify(reader) != GroupKind::Elementwise ||
      classify(product) != GroupKind::Contraction ||
      !reader.getMatchingIndexingMap(reader.getDpsInitOperand(0)).isIdentity() ||
      reader.hasIndexSemantics() || !joinsPairs())
    return false;
  OpOperand *halvesOperand = nullptr;
  std::optional<Halves> halves;
  for (OpOperand *input : reader.getDpsInputOperands())
    if (auto found = matchHalves(input->get()); found && !halves) {
      halves = found;
      halvesOperand = input;
    }
  unsigned number = reshape->use_begin()->getOperandNumber();
  if (!halves || !reader.getMatchingIndexingMap(halvesOperand).isIdentity() ||
      !mayFuseProducers({cast<linalg::LinalgOp>(reader.getOperation())}, product, number,
                        /*products=*/1, target))
    return false;

  Location loc = reader.getLoc();
  b.setInsertionPoint(reader);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : reader->getOpOperands()) {
    AffineMap map = reader.getMatchingIndexingMap(&operand);
    maps.push_back(joinedMap(map));
    if (reader.isDpsInput(&operand))
      inputs.push_back(&operand == halvesOperand
                           ? unpack(operand.get().getLoc(), *halves)
                           : joinPairs(operand.get(), map));
  }
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, loc, reader.getDpsInitOperand(0)->get());
  sizes.pop_back();
  auto bytes = cast<RankedTensorType>(halves->bytes.getType());
  sizes.back() = b.getIndexAttr(bytes.getShape().back() * 2);
  Value empty = tensor::EmptyOp::create(
      b, loc, sizes, getElementTypeOrSelf(reader.getResult(0)));
  SmallVector<utils::IteratorType> loops(reader.getNumLoops() - 1,
                                         utils::IteratorType::parallel);
  auto joined = linalg::GenericOp::create(b, loc, empty.getType(), inputs,
                                          ValueRange(empty), maps, loops);
  b.inlineRegionBefore(reader.getRegion(), joined.getRegion(),
                       joined.getRegion().end());
  SmallVector<ReassociationIndices> groups = reshape.getReassociationIndices();
  groups.back().pop_back();
  b.setInsertionPoint(reshape);
  Value result = joined.getResult(0);
  if (llvm::any_of(groups, [](auto &group) { return group.size() > 1; }))
    result = tensor::CollapseShapeOp::create(b, reshape.getLoc(),
                                             reshape.getType(), result, groups);
  b.replaceOp(reshape, result);
  b.eraseOp(reader);
  return true;
}

namespace {
struct PackOperandsPass
    : public tilewright::impl::PackOperandsPassBase<PackOperandsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    SmallVector<tensor::CollapseShapeOp> reshapes;
    getOperation().walk(
        [&](tensor::CollapseShapeOp op) { reshapes.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (tensor::CollapseShapeOp reshape : reshapes)
      (void)Packer(reshape, rewriter).run(target);
  }
};
} // namespace
