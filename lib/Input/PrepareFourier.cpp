// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms by structured ops, for all targets alike. Of a length n = r m a
// place j is j1 m + j2, and a frequency k is k1 + r k2:
//
//   out[k1 + r k2] = sum_j2 w_m^(j2 k2) w_n^(j2 k1) sum_j1 w_r^(j1 k1) in[j1 m + j2]
//
// where w_n = exp(-2 pi i / n). So rows are seen with a dim for each factor of n, and
// each factor, the outermost first, becomes a product with the r x r matrix of w_r, of
// real numbers 2r x 2r, and one with the powers w_n^(j2 k1), element by element; then
// rows of m are transformed in the same way:
//
//   %x : tensor<?x480x2xf32>  as  tensor<?x15x16x2x2xf32>         j1 j2 j3, parts
//   %a = linalg.generic <matmul> ins(dense<..> : tensor<15x2x15x2xf32>, %x)    k1 j2 j3
//   %b = linalg.generic ins(%a, %a, dense<..> : tensor<15x16x2xf32>, dense<..>) k1 j2 j3
//   …
//   %r = linalg.generic <matmul>                                   k3 k2 k1
//   %r  as  tensor<?x480x2xf32>
//
// A length that is not known, or with a large prime factor, is summed term by term, with
// the n powers of the root in a table.

#include "IrregularForms.h"
#include "tilewright/Dialect/Fourier.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// Factors of a length are joined up to here; a prime one may be as large as the second.
static constexpr int64_t kFactor = 16, kPrime = 256;
/// The longest row whose powers of the root are constants of the program.
static constexpr int64_t kLength = int64_t(1) << 22;

/// Factors of `length`, whose product it is; none where a prime factor is too large.
static SmallVector<int64_t> factorize(int64_t length) {
  SmallVector<int64_t> primes, factors;
  int64_t rest = length;
  for (int64_t prime = 2; prime * prime <= rest; ++prime)
    for (; rest % prime == 0; rest /= prime)
      primes.push_back(prime);
  if (rest > 1)
    primes.push_back(rest);
  // As few products as there can be: the largest primes first.
  while (!primes.empty()) {
    int64_t factor = primes.pop_back_val();
    if (factor > kPrime)
      return {};
    for (size_t i = primes.size(); i-- > 0;)
      if (factor * primes[i] <= kFactor) {
        factor *= primes[i];
        primes.erase(primes.begin() + i);
      }
    factors.push_back(factor);
  }
  if (factors.empty())
    factors.push_back(1);
  return factors;
}

/// exp(sign 2 pi i number / length), for any number.
static std::pair<double, double> root(int64_t number, int64_t length, int sign) {
  number %= length;
  double angle = 2 * M_PI * double(number) / double(length);
  double re = std::cos(angle), im = std::sin(angle);
  if (4 * number % length == 0) { // quarters of a turn are exact
    static constexpr int kParts[] = {1, 0, -1, 0};
    int64_t quarter = 4 * number / length;
    re = kParts[quarter];
    im = kParts[(quarter + 3) % 4];
  }
  return {re, sign * im};
}

namespace {
class FourierWriter {
public:
  FourierWriter(RewriterBase &b, FftOp op)
      : b(b), op(op), loc(op.getLoc()),
        element(cast<ShapedType>(op.getInput().getType()).getElementType()),
        sign(op.getInverse() ? 1 : -1) {}
  void write();

private:
  Value constant(ArrayRef<int64_t> shape, llvm::function_ref<double(ArrayRef<int64_t>)> value);
  Value transform(Value digits, ArrayRef<int64_t> factors, unsigned number, int64_t length);
  Value turn(Value digits, ArrayRef<int64_t> factors, unsigned number, int64_t length);
  Value inStages(Value rows, ArrayRef<int64_t> factors);
  Value byTerms(Value rows);

  RewriterBase &b;
  FftOp op;
  Location loc;
  Type element;
  int sign; // of the exponent
};
} // namespace

/// A tensor constant whose element at each place is `value` of it.
Value FourierWriter::constant(ArrayRef<int64_t> shape,
                              llvm::function_ref<double(ArrayRef<int64_t>)> value) {
  auto type = RankedTensorType::get(shape, element);
  SmallVector<APFloat> values;
  SmallVector<int64_t> place(shape.size(), 0);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    APFloat number(value(place));
    bool isInexact;
    number.convert(cast<FloatType>(element).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &isInexact);
    values.push_back(number);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++place[dim] < shape[dim])
        break;
      place[dim] = 0;
    }
  }
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}

/// Digit `number` of places, dim number + 1, becomes one of frequencies. The last product
/// leaves digits of frequencies in order, the lowest last.
Value FourierWriter::transform(Value digits, ArrayRef<int64_t> factors, unsigned number,
                               int64_t length) {
  int64_t r = factors[number], rank = factors.size() + 2;
  bool isLast = number + 1 == factors.size();
  double scale = isLast && op.getInverse() ? 1.0 / double(length) : 1.0;
  // Loops: those of the result, then places and their parts.
  Value matrix = constant({r, 2, r, 2}, [&](ArrayRef<int64_t> at) {
    auto [re, im] = root(at[0] * at[2], r, sign);
    return scale * (at[1] == at[3] ? re : at[1] ? im : -im);
  });
  auto loop = [&](int64_t dim) { return b.getAffineDimExpr(dim); };
  SmallVector<AffineExpr> from, to;
  for (int64_t dim = 0; dim < rank; ++dim) {
    from.push_back(loop(dim));
    to.push_back(loop(dim));
  }
  from[number + 1] = loop(rank);
  from.back() = loop(rank + 1);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, digits);
  if (isLast) {
    std::reverse(to.begin() + 1, to.end() - 1);
    std::reverse(sizes.begin() + 1, sizes.end() - 1);
  }
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(rank + 2, 0, exprs, b.getContext());
  };
  LoopKinds loops(rank + 2, utils::IteratorType::parallel);
  loops[rank] = loops[rank + 1] = utils::IteratorType::reduction;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value start = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  return generic(
      b, loc, {matrix, digits}, start,
      {map({loop(number + 1), loop(rank - 1), loop(rank), loop(rank + 1)}), map(from), map(to)},
      loops, [&](OpBuilder &b, ValueRange scalars) {
        Value product = arith::MulFOp::create(b, loc, scalars[0], scalars[1]);
        return arith::AddFOp::create(b, loc, scalars[2], product).getResult();
      });
}

/// Times w_length^(j k), where k is the digit of dim number + 1 and j the place that the
/// digits behind it are.
Value FourierWriter::turn(Value digits, ArrayRef<int64_t> factors, unsigned number,
                          int64_t length) {
  int64_t rank = factors.size() + 2;
  ArrayRef<int64_t> rest = factors.drop_front(number);
  auto powers = [&](bool imaginary) {
    return constant(rest, [&](ArrayRef<int64_t> at) {
      int64_t place = 0;
      for (auto [digit, factor] : llvm::zip_equal(at.drop_front(), rest.drop_front()))
        place = place * factor + digit;
      auto [re, im] = root(at[0] * place, length, sign);
      return imaginary ? im : re;
    });
  };
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> part(all.getResults()), table;
  for (int64_t dim = number + 1; dim + 1 < rank; ++dim)
    table.push_back(b.getAffineDimExpr(dim));
  SmallVector<AffineMap> maps;
  for (int64_t which : {0, 1}) {
    part.back() = b.getAffineConstantExpr(which);
    maps.push_back(AffineMap::get(rank, 0, part, b.getContext()));
  }
  maps.append(2, AffineMap::get(rank, 0, table, b.getContext()));
  maps.push_back(all);
  Value empty =
      tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, digits), element);
  LoopKinds loops(rank, utils::IteratorType::parallel);
  return generic(b, loc, {digits, digits, powers(false), powers(true)}, empty, maps, loops,
                 [&](OpBuilder &b, ValueRange x) {
                   auto times = [&](unsigned one, unsigned other) -> Value {
                     return arith::MulFOp::create(b, loc, x[one], x[other]);
                   };
                   Value re = arith::SubFOp::create(b, loc, times(0, 2), times(1, 3));
                   Value im = arith::AddFOp::create(b, loc, times(0, 3), times(1, 2));
                   Value which = linalg::IndexOp::create(b, loc, rank - 1);
                   Value zero = arith::ConstantIndexOp::create(b, loc, 0);
                   Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                                        which, zero);
                   return arith::SelectOp::create(b, loc, isReal, re, im).getResult();
                 });
}

/// `rows` has three dims: rows, numbers, parts.
Value FourierWriter::inStages(Value rows, ArrayRef<int64_t> factors) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, rows);
  int64_t length = *getConstantIntValue(sizes[1]);
  Groups digits{{0}, {}};
  SmallVector<OpFoldResult> split{sizes[0]};
  for (int64_t factor : factors) {
    digits[1].push_back(split.size());
    split.push_back(b.getIndexAttr(factor));
  }
  digits.push_back({int64_t(split.size())});
  split.push_back(sizes[2]);
  Value value = expand(b, loc, rows, digits, split);
  int64_t rest = length;
  for (unsigned number = 0; number < factors.size(); ++number) {
    value = transform(value, factors, number, length);
    if (number + 1 < factors.size())
      value = turn(value, factors, number, rest);
    rest /= factors[number];
  }
  return collapse(b, loc, value, digits);
}

Value FourierWriter::byTerms(Value rows) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, rows);
  Value length = getValueOrCreateConstantIndexOp(b, loc, sizes[1]);
  Type i64 = b.getI64Type();
  Value terms = arith::IndexCastOp::create(b, loc, i64, length);
  Value count = arith::SIToFPOp::create(b, loc, element, terms);
  auto number = [&](OpBuilder &b, double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
  };
  Value one = number(b, 1);
  Value scale =
      op.getInverse() ? arith::DivFOp::create(b, loc, one, count).getResult() : one;
  SmallVector<OpFoldResult> pairs = {sizes[1], b.getIndexAttr(2)};
  Value powers = tensor::EmptyOp::create(b, loc, pairs, element);
  AffineMap pair = b.getMultiDimIdentityMap(2);
  Value table = generic(
      b, loc, {}, powers, {pair}, LoopKinds(2, utils::IteratorType::parallel),
      [&](OpBuilder &b, ValueRange) {
        Value at = linalg::IndexOp::create(b, loc, 0), part = linalg::IndexOp::create(b, loc, 1);
        Value place = arith::SIToFPOp::create(
            b, loc, element, arith::IndexCastOp::create(b, loc, i64, at));
        Value turns = arith::DivFOp::create(b, loc, place, count);
        Value angle = arith::MulFOp::create(b, loc, turns, number(b, sign * 2 * M_PI));
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, zero);
        return arith::SelectOp::create(b, loc, isReal, math::CosOp::create(b, loc, angle),
                                       math::SinOp::create(b, loc, angle))
            .getResult();
      });
  // Loops: row, frequency, part, place.
  auto loop = [&](int64_t dim) { return b.getAffineDimExpr(dim); };
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(4, 0, exprs, b.getContext()); };
  SmallVector<AffineMap> maps = {map({loop(0), loop(3), b.getAffineConstantExpr(0)}),
                                 map({loop(0), loop(3), b.getAffineConstantExpr(1)}),
                                 map({loop(0), loop(1), loop(2)})};
  LoopKinds loops(4, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  Value start = linalg::FillOp::create(b, loc, number(b, 0), empty).getResult(0);
  Value sums = generic(b, loc, {rows, rows}, start, maps, loops, [&](OpBuilder &b, ValueRange x) {
    auto wide = [&](int64_t which) -> Value {
      Value index = linalg::IndexOp::create(b, loc, which);
      return arith::IndexCastOp::create(b, loc, i64, index);
    };
    // The product may be more than an index counts.
    Value power = arith::RemUIOp::create(b, loc, arith::MulIOp::create(b, loc, wide(1), wide(3)),
                                         terms);
    Value at = arith::IndexCastOp::create(b, loc, b.getIndexType(), power);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value re = tensor::ExtractOp::create(b, loc, table, ValueRange{at, zero});
    Value im = tensor::ExtractOp::create(b, loc, table, ValueRange{at, one});
    auto times = [&](Value left, Value right) -> Value {
      return arith::MulFOp::create(b, loc, left, right);
    };
    Value real = arith::SubFOp::create(b, loc, times(x[0], re), times(x[1], im));
    Value imaginary = arith::AddFOp::create(b, loc, times(x[0], im), times(x[1], re));
    Value part = linalg::IndexOp::create(b, loc, 2);
    Value isReal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, part, zero);
    Value term = arith::SelectOp::create(b, loc, isReal, real, imaginary);
    return arith::AddFOp::create(b, loc, x[2], term).getResult();
  });
  if (!op.getInverse())
    return sums;
  AffineMap each = b.getMultiDimIdentityMap(3);
  return generic(b, loc, sums, empty, {each, each}, LoopKinds(3, utils::IteratorType::parallel),
                 [&](OpBuilder &b, ValueRange x) {
                   return arith::MulFOp::create(b, loc, x[0], scale).getResult();
                 });
}

void FourierWriter::write() {
  b.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t rank = type.getRank(), length = type.getDimSize(rank - 2);
  if (ShapedType::isDynamic(length))
    length = cast<RankedTensorType>(op.getOutput().getType()).getDimSize(rank - 2);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, op.getInput());
  Value rows = op.getInput();
  if (type.isDynamicDim(rank - 2) && !ShapedType::isDynamic(length)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[rank - 2] = length;
    rows = tensor::CastOp::create(b, loc, type.clone(shape), rows);
    sizes[rank - 2] = b.getIndexAttr(length);
  }
  // Rows are one dim.
  Groups joined;
  addGroup(joined, 0, rank - 2);
  joined.push_back({rank - 2});
  joined.push_back({rank - 1});
  SmallVector<OpFoldResult> three(sizes.end() - 2, sizes.end());
  three.insert(three.begin(), b.getIndexAttr(1));
  Groups one{{0, 1}, {2}};
  rows = rank == 2 ? expand(b, loc, rows, one, three) : collapse(b, loc, rows, joined);
  SmallVector<int64_t> factors;
  if (length > 0 && length <= kLength)
    factors = factorize(length);
  Value result = factors.empty() ? byTerms(rows) : inStages(rows, factors);
  result = rank == 2 ? collapse(b, loc, result, one) : expand(b, loc, result, joined, sizes);
  Type wanted = op.getOutput().getType();
  if (result.getType() != wanted)
    result = tensor::CastOp::create(b, loc, wanted, result);
  b.replaceOp(op, result);
}

void tilewright::decomposeFourier(RewriterBase &b, FftOp op) { FourierWriter(b, op).write(); }
