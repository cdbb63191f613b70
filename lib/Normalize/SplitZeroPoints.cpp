// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of integers with zero points, za and zb, as quantised models have them:
//
//   %r[m, n] = %c[m, n] + sum over k of (ext %a[m, k] - %za) * (ext %b[k, n] - %zb)
// becomes
//   %p[m, n] = %c[m, n] + sum over k of ext %a[m, k] * ext %b[k, n]
//   %s[m] = sum over k of ext %a[m, k];  %t[n] = sum over k of ext %b[k, n]
//   %r[m, n] = %p - %zb * %s - %za * %t + K * %za * %zb
//
// which is the same in the arithmetic of integers, modulo their width. %p is what matrix units
// multiply, %t of constant weights is computed when the program loads, and the rest joins what is
// done with %p. A zero point may be any value that is the same along the sum.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITZEROPOINTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// With at most so many rows or columns the larger operand is read once, and not again for its
/// sums.
static constexpr int64_t kFewRows = 16;

namespace {
/// `ext element - zeroPoint`; without a zero point that is null.
struct Factor {
  BlockArgument element;
  Operation *extension = nullptr;
  Value zeroPoint;
  SetVector<Operation *> slice; // of the zero point, in the body
};

/// The op and its factors, in the order of the multiplication.
struct Product {
  linalg::GenericOp op;
  arith::AddIOp sum;
  Factor factors[2];

  AffineMap mapOf(const Factor &factor) {
    return op.getIndexingMapsArray()[factor.element.getArgNumber()];
  }
  bool isReduced(unsigned loop) {
    return linalg::isReductionIterator(op.getIteratorTypesArray()[loop]);
  }
};
} // namespace

/// Whether `value` of the body is the same along the sum; collects what computes it.
static bool isFixed(Product &product, Value value, SetVector<Operation *> &slice) {
  linalg::GenericOp op = product.op;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == op.getBody()) {
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return false;
    AffineMap map = op.getIndexingMapsArray()[argument.getArgNumber()];
    return map.isProjectedPermutation() &&
           llvm::none_of(map.getResults(), [&](AffineExpr dim) {
             return product.isReduced(cast<AffineDimExpr>(dim).getPosition());
           });
  }
  Operation *inner = value.getDefiningOp();
  if (!inner || inner->getBlock() != op.getBody() || slice.contains(inner))
    return true;
  if (!isa<arith::ArithDialect>(inner->getDialect()) ||
      !llvm::all_of(inner->getOperands(),
                    [&](Value operand) { return isFixed(product, operand, slice); }))
    return false;
  slice.insert(inner);
  return true;
}

static bool matchFactor(Product &product, Value value, Factor &factor) {
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    if (!isFixed(product, difference.getRhs(), factor.slice))
      return false;
    if (!matchPattern(difference.getRhs(), m_Zero()))
      factor.zeroPoint = difference.getRhs();
    value = difference.getLhs();
  }
  factor.extension = value.getDefiningOp();
  if (!isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(factor.extension))
    return false;
  factor.element = dyn_cast<BlockArgument>(factor.extension->getOperand(0));
  return factor.element && factor.element.hasOneUse() &&
         factor.element.getOwner() == product.op.getBody() &&
         factor.element.getArgNumber() < product.op.getNumDpsInputs();
}

/// Each factor has all loops of the sum and a loop of its own, of more than a few iterations.
static bool isMatrixProduct(Product &product) {
  linalg::GenericOp op = product.op;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap maps[] = {product.mapOf(product.factors[0]), product.mapOf(product.factors[1])};
  int64_t own[] = {1, 1};
  bool has[] = {false, false};
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool in[] = {maps[0].isFunctionOfDim(loop), maps[1].isFunctionOfDim(loop)};
    if (product.isReduced(loop) && !(in[0] && in[1]))
      return false;
    for (unsigned side : {0, 1})
      if (in[side] && !in[1 - side]) {
        has[side] = true;
        own[side] = ShapedType::isDynamic(extents[loop]) || own[side] > kFewRows
                        ? kFewRows + 1
                        : own[side] * extents[loop];
      }
  }
  return has[0] && has[1] && own[0] > kFewRows && own[1] > kFewRows;
}

static std::optional<Product> matchProduct(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || op.getNumDpsInits() != 1 ||
      !op.getNumReductionLoops() || op.hasIndexSemantics())
    return std::nullopt;
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  Product product{op, yielded.getDefiningOp<arith::AddIOp>(), {}};
  BlockArgument init = op.getRegionOutputArgs()[0];
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!product.sum || !init.hasOneUse() || !result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  Value term = product.sum.getLhs() == init ? product.sum.getRhs() : product.sum.getLhs();
  auto multiplied = term.getDefiningOp<arith::MulIOp>();
  if (!multiplied || (product.sum.getLhs() != init && product.sum.getRhs() != init))
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (!matchFactor(product, multiplied->getOperand(side), product.factors[side]))
      return std::nullopt;
  bool hasZeroPoint = product.factors[0].zeroPoint || product.factors[1].zeroPoint;
  if (!hasZeroPoint || product.factors[0].element == product.factors[1].element ||
      !isMatrixProduct(product))
    return std::nullopt;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!extentOf(op, loop))
      return std::nullopt;
  return product;
}

static OpFoldResult sizeOf(OpBuilder &b, linalg::GenericOp op, unsigned loop) {
  auto [tensor, dim] = *extentOf(op, loop);
  return tensor::getMixedSize(b, op.getLoc(), tensor, dim);
}

/// `map` of the loops that are `kept`, in that order.
static AffineMap keepLoops(AffineMap map, ArrayRef<unsigned> kept) {
  Builder b(map.getContext());
  SmallVector<AffineExpr> dims(map.getNumDims(), b.getAffineConstantExpr(0));
  for (auto [number, loop] : llvm::enumerate(kept))
    dims[loop] = b.getAffineDimExpr(number);
  return map.replaceDimsAndSymbols(dims, {}, kept.size(), 0);
}

/// The sum of a factor's elements, and the loops that it has a dim for.
static std::pair<Value, SmallVector<unsigned>> sumOf(OpBuilder &b, Product &product,
                                                     const Factor &factor) {
  linalg::GenericOp op = product.op;
  Location loc = op.getLoc();
  AffineMap map = product.mapOf(factor);
  SmallVector<unsigned> dims, window, loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (product.isReduced(loop))
      window.push_back(loop);
    else if (map.isFunctionOfDim(loop))
      dims.push_back(loop);
  loops = dims;
  loops.append(window);
  auto sizes = [&](ArrayRef<unsigned> of) {
    return llvm::map_to_vector(of, [&](unsigned loop) { return sizeOf(b, op, loop); });
  };
  Type type = factor.extension->getResult(0).getType();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value empty = tensor::EmptyOp::create(b, loc, sizes(dims), type);
  Value begin = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  // How long loops of windows are, as poolings have it.
  Value lengths = tensor::EmptyOp::create(b, loc, sizes(window), type);
  AffineMap all = AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext());
  SmallVector<AffineMap> maps = {keepLoops(map, loops),
                                 keepLoops(all.getSubMap(window), loops),
                                 keepLoops(all.getSubMap(dims), loops)};
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  iterators.append(window.size(), utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(
      b, loc, empty.getType(), ValueRange{op->getOperand(factor.element.getArgNumber()), lengths},
      begin, maps, iterators, [&](OpBuilder &inside, Location at, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(factor.element, arguments[0]);
        Value element = inside.clone(*factor.extension, mapping)->getResult(0);
        Value total = arith::AddIOp::create(inside, at, arguments[2], element);
        linalg::YieldOp::create(inside, at, total);
      });
  return {sum.getResult(0), dims};
}

/// How many terms the sum has.
static Value countTerms(OpBuilder &b, Product &product, Type type) {
  Location loc = product.op.getLoc();
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (unsigned loop = 0; loop < product.op.getNumLoops(); ++loop)
    if (product.isReduced(loop))
      count = b.createOrFold<arith::MulIOp>(
          loc, count, getValueOrCreateConstantIndexOp(b, loc, sizeOf(b, product.op, loop)));
  return b.createOrFold<arith::IndexCastOp>(loc, type, count);
}

/// The product without zero points.
static Value multiply(OpBuilder &b, Product &product) {
  linalg::GenericOp op = product.op;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Factor &factor : product.factors) {
    inputs.push_back(op->getOperand(factor.element.getArgNumber()));
    maps.push_back(product.mapOf(factor));
  }
  maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  return linalg::GenericOp::create(
             b, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps,
             op.getIteratorTypesArray(),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               IRMapping mapping;
               Value wide[2];
               for (unsigned side : {0, 1}) {
                 const Factor &factor = product.factors[side];
                 mapping.map(factor.element, arguments[side]);
                 wide[side] = inside.clone(*factor.extension, mapping)->getResult(0);
               }
               Value term = arith::MulIOp::create(inside, at, wide[0], wide[1]);
               linalg::YieldOp::create(
                   inside, at, arith::AddIOp::create(inside, at, arguments[2], term).getResult());
             })
      .getResult(0);
}

bool tilewright::splitZeroPoints(RewriterBase &b, linalg::GenericOp op) {
  std::optional<Product> product = matchProduct(op);
  if (!product)
    return false;
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<unsigned> loops;
  for (AffineExpr dim : result.getResults())
    loops.push_back(cast<AffineDimExpr>(dim).getPosition());
  AffineMap all = AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext());

  // The product, the sums that zero points of the other factor need, and all that zero points are
  // computed of.
  SmallVector<Value> inputs = {multiply(b, *product)};
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(loops.size())};
  unsigned sumAt[2] = {0, 0};
  for (unsigned side : {0, 1}) {
    if (!product->factors[1 - side].zeroPoint)
      continue;
    auto [sum, dims] = sumOf(b, *product, product->factors[side]);
    sumAt[side] = inputs.size();
    inputs.push_back(sum);
    maps.push_back(keepLoops(all.getSubMap(dims), loops));
  }
  SmallVector<std::pair<BlockArgument, unsigned>> others;
  for (BlockArgument argument : op.getRegionInputArgs())
    if (argument != product->factors[0].element && argument != product->factors[1].element &&
        !argument.use_empty()) {
      others.push_back({argument, inputs.size()});
      inputs.push_back(op->getOperand(argument.getArgNumber()));
      maps.push_back(keepLoops(op.getIndexingMapsArray()[argument.getArgNumber()], loops));
    }
  maps.push_back(b.getMultiDimIdentityMap(loops.size()));
  Type type = product->sum.getType();
  Value count = product->factors[0].zeroPoint && product->factors[1].zeroPoint
                    ? countTerms(b, *product, type)
                    : Value();
  Value destination = op.getDpsInits()[0];
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, destination), type);
  auto made = linalg::GenericOp::create(
      b, loc, empty.getType(), inputs, empty, maps,
      SmallVector<utils::IteratorType>(loops.size(), utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange arguments) {
        IRMapping mapping;
        for (auto [argument, number] : others)
          mapping.map(argument, arguments[number]);
        Value value = arguments[0], zeros[2];
        for (unsigned side : {0, 1}) {
          const Factor &factor = product->factors[side];
          if (!factor.zeroPoint)
            continue;
          for (Operation *inner : factor.slice)
            inside.clone(*inner, mapping);
          zeros[side] = mapping.lookupOrDefault(factor.zeroPoint);
          Value part = arith::MulIOp::create(inside, at, zeros[side], arguments[sumAt[1 - side]]);
          value = arith::SubIOp::create(inside, at, value, part);
        }
        if (count) {
          Value both = arith::MulIOp::create(inside, at, zeros[0], zeros[1]);
          value = arith::AddIOp::create(inside, at, value,
                                        arith::MulIOp::create(inside, at, both, count));
        }
        linalg::YieldOp::create(inside, at, value);
      });
  b.replaceOp(op, made);
  return true;
}

namespace {
struct SplitZeroPointsPass : tilewright::impl::SplitZeroPointsPassBase<SplitZeroPointsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      (void)splitZeroPoints(rewriter, op);
  }
};
} // namespace
