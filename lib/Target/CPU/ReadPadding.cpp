// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of padded operands (Dialect/Padding.h). A tile that is inside of the source
// altogether is read as any other; one that is not, row by row, each under a mask of what of
// it is inside:
//
//   %in = <the corners of the tile are inside>
//   %v = scf.if %in -> vector<4x32xf32> {
//     vector.transfer_read %a[%i, %j] …
//   } else {
//     %m0 = <lanes of row 0 that are inside>
//     %r0 = vector.maskedload %a[%i, %j], %m0, fill … vector.insert %r0 …
//   }
//
// Where elements of a row are no neighbours in memory, the tile is read element by element
// through the stack:
//
//     for %r, %c { %stack[%r, %c] = <inside> ? %a[%i + %r, %j + %c] : fill }
//     vector.transfer_read %stack[0, 0]

#include "tilewright/Target/CPU/Passes.h"

#include "tilewright/Dialect/Padding.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

namespace tilewright {
#define GEN_PASS_DEF_READPADDINGPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
class Reader {
public:
  Reader(OpBuilder &b, Location loc, const Padding &padding)
      : b(b), loc(loc), padding(padding) {}

  /// i1: `constraint` holds at `at`.
  Value holds(AffineExpr constraint, ArrayRef<Value> at) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                 evaluate(constraint, at), index(0));
  }
  Value isInside(ArrayRef<Value> at) {
    Value all;
    for (AffineExpr constraint : padding.inside.getConstraints())
      all = both(all, holds(constraint, at));
    return all;
  }
  Value both(Value left, Value right) {
    return left ? arith::AndIOp::create(b, loc, left, right).getResult() : right;
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value left, Value right) {
    return arith::AddIOp::create(b, loc, left, right);
  }
  /// The element at `at`, or `outside`.
  Value load(Value memory, ArrayRef<Value> at, Value inside, Value outside) {
    auto branch = scf::IfOp::create(b, loc, outside.getType(), inside,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock()),
              other = OpBuilder::atBlockBegin(branch.elseBlock());
    Value element = memref::LoadOp::create(then, loc, memory, at);
    scf::YieldOp::create(then, loc, element);
    scf::YieldOp::create(other, loc, outside);
    return branch.getResult(0);
  }
  Value fill() { return arith::ConstantOp::create(b, loc, padding.fill); }
  /// i1 of each of `lanes` elements at `at` and behind it along dim `dim`: it is inside, and
  /// `size`, where given, is not reached. Of constraints that `dim` has a part in, its
  /// coefficient is 1 or -1.
  Value mask(ArrayRef<Value> at, unsigned dim, int64_t lanes, Value size) {
    Value first = index(0), end = index(lanes), within;
    auto limit = [&](Value value) {
      end = arith::MinSIOp::create(b, loc, end, value);
    };
    for (AffineExpr constraint : padding.inside.getConstraints()) {
      Value here = evaluate(constraint, at);
      int64_t along = coefficient(constraint, dim);
      if (along > 0)
        first = arith::MaxSIOp::create(b, loc, first,
                                       arith::SubIOp::create(b, loc, index(0), here));
      else if (along < 0)
        limit(add(here, index(1)));
      else
        within = both(within, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, here,
                                                      index(0)));
    }
    if (size)
      limit(arith::SubIOp::create(b, loc, size, at[dim]));
    if (within)
      end = arith::SelectOp::create(b, loc, within, end, index(0));
    return both(compareLanes(arith::CmpIPredicate::sge, first, lanes),
                compareLanes(arith::CmpIPredicate::slt, end, lanes));
  }
  /// i1 of each of `lanes` lanes: how its number compares with `value`.
  Value compareLanes(arith::CmpIPredicate predicate, Value value, int64_t lanes) {
    // Of 32 bits: as many lanes as elements of f32 have.
    auto type = VectorType::get(lanes, b.getI32Type());
    value = arith::MinSIOp::create(b, loc, value, index(lanes));
    value = arith::MaxSIOp::create(b, loc, value, index(0));
    value = arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
    SmallVector<int32_t> numbers(lanes);
    std::iota(numbers.begin(), numbers.end(), 0);
    Value number = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    return arith::CmpIOp::create(b, loc, predicate, number,
                                 vector::BroadcastOp::create(b, loc, type, value));
  }
  /// Of dim `dim` in `expr`.
  static int64_t coefficient(AffineExpr expr, unsigned dim) {
    if (auto other = dyn_cast<AffineDimExpr>(expr))
      return other.getPosition() == dim;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return 0;
    int64_t left = coefficient(binary.getLHS(), dim);
    if (expr.getKind() == AffineExprKind::Add)
      return left + coefficient(binary.getRHS(), dim);
    auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    return left && factor ? left * factor.getValue() : left;
  }

private:
  Value evaluate(AffineExpr expr, ArrayRef<Value> at) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return index(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return at[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return padding.symbols[symbol.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value left = evaluate(binary.getLHS(), at),
          right = evaluate(binary.getRHS(), at);
    if (expr.getKind() == AffineExprKind::Mul)
      return arith::MulIOp::create(b, loc, left, right);
    return add(left, right);
  }

  OpBuilder &b;
  Location loc;
  const Padding &padding;
};
} // namespace

/// The tile's dims that are dims of the memory, and which.
static SmallVector<std::pair<unsigned, unsigned>>
readDims(vector::TransferReadOp read) {
  SmallVector<std::pair<unsigned, unsigned>> dims;
  for (auto [dim, expr] :
       llvm::enumerate(read.getPermutationMap().getResults()))
    if (auto memory = dyn_cast<AffineDimExpr>(expr))
      dims.push_back({unsigned(dim), memory.getPosition()});
  return dims;
}

/// i1: all of the tile is inside, each constraint where it is least.
static Value isAllInside(OpBuilder &b, vector::TransferReadOp read,
                         const Padding &padding) {
  Reader reader(b, read.getLoc(), padding);
  Value all;
  for (AffineExpr constraint : padding.inside.getConstraints())
    for (bool last : {false, true}) {
      // Coefficients of one sign, as windows have them, are least at an end.
      SmallVector<Value> at(read.getIndices());
      bool differs = false;
      for (auto [dim, memory] : readDims(read))
        if (last && constraint.isFunctionOfDim(memory)) {
          at[memory] = reader.add(
              at[memory], reader.index(read.getVectorType().getDimSize(dim) - 1));
          differs = true;
        }
      if (!last || differs)
        all = reader.both(all, reader.holds(constraint, at));
    }
  return all;
}

/// Tiles of more rows would be too much code.
static constexpr int64_t kMostRows = 32;

/// Whether padding cuts the tile's rows, and these are neighbours in memory: masks are worth
/// it, and can be had.
static bool hasCutRows(vector::TransferReadOp read, const Padding &padding) {
  auto memory = cast<MemRefType>(read.getBase().getType());
  VectorType type = read.getVectorType();
  SmallVector<int64_t> strides;
  int64_t offset;
  auto dims = readDims(read);
  unsigned last = memory.getRank() - 1;
  if (dims.size() != size_t(type.getRank()) || dims.empty() || dims.back().second != last ||
      type.getElementType().isInteger(1) || read.getMask() ||
      failed(memory.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  if (type.getNumElements() / type.getShape().back() > kMostRows)
    return false;
  bool isCut = false;
  for (AffineExpr constraint : padding.inside.getConstraints()) {
    int64_t along = Reader::coefficient(constraint, last);
    if (std::abs(along) > 1)
      return false;
    isCut |= along != 0;
  }
  return isCut && llvm::none_of(padding.inside.getEqFlags(), [](bool isEqual) { return isEqual; });
}

/// The tile, each of its rows under a mask.
static Value readRows(OpBuilder &b, vector::TransferReadOp read, const Padding &padding) {
  Location loc = read.getLoc();
  VectorType type = read.getVectorType();
  Reader reader(b, loc, padding);
  auto dims = readDims(read);
  int64_t width = type.getShape().back(), lanes = llvm::PowerOf2Ceil(width);
  auto row = VectorType::get(lanes, type.getElementType());
  Value fill = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(row, padding.fill));
  Value tile = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Attribute edge;
  bool isFill = matchPattern(read.getPadding(), m_Constant(&edge)) && edge == padding.fill;
  auto sizeOf = [&](unsigned number) -> Value {
    auto [dim, memory] = dims[number];
    if (read.isDimInBounds(dim))
      return {};
    return memref::DimOp::create(b, loc, read.getBase(), memory);
  };
  for (SmallVector<int64_t> position :
       StaticTileOffsetRange(type.getShape().drop_back(),
                             SmallVector<int64_t>(type.getRank() - 1, 1))) {
    SmallVector<Value> at(read.getIndices());
    Value end = sizeOf(dims.size() - 1);
    for (auto [number, along] : llvm::enumerate(position)) {
      unsigned memory = dims[number].second;
      at[memory] = reader.add(at[memory], reader.index(along));
      // Nothing is left of a row that does not exist.
      if (Value size = sizeOf(number)) {
        Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at[memory], size);
        Value all = end ? end : reader.add(at[dims.back().second], reader.index(lanes));
        end = arith::SelectOp::create(b, loc, exists, all, at[dims.back().second]);
      }
    }
    // What is behind the memory is not what is beside it.
    Value behind = isFill ? Value() : end;
    if (width < lanes && !end)
      end = reader.add(at[dims.back().second], reader.index(width));
    Value mask = reader.mask(at, dims.back().second, lanes, end);
    Value elements =
        vector::MaskedLoadOp::create(b, loc, row, read.getBase(), at, mask, fill);
    if (behind) {
      Value left = arith::SubIOp::create(b, loc, behind, at[dims.back().second]);
      elements = arith::SelectOp::create(
          b, loc, reader.compareLanes(arith::CmpIPredicate::slt, left, lanes), elements,
          vector::BroadcastOp::create(b, loc, row, read.getPadding()));
    }
    if (width < lanes)
      elements = vector::ExtractStridedSliceOp::create(b, loc, elements, ArrayRef<int64_t>{0},
                                                       ArrayRef<int64_t>{width},
                                                       ArrayRef<int64_t>{1});
    if (type.getRank() == 1)
      return elements;
    tile = vector::InsertOp::create(b, loc, elements, tile, position);
  }
  return tile;
}

/// The tile through the stack.
static Value readElements(OpBuilder &b, vector::TransferReadOp read,
                          const Padding &padding) {
  Location loc = read.getLoc();
  VectorType type = read.getVectorType();
  Type element = type.getElementType();
  bool isBit = element.isInteger(1); // a byte in memory
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs(type.getRank(), b.getAffineConstantExpr(0));
  for (auto [dim, memory] : readDims(read)) {
    exprs[dim] = b.getAffineDimExpr(shape.size());
    shape.push_back(type.getDimSize(dim));
  }
  auto stackType = MemRefType::get(shape, isBit ? b.getI8Type() : element);
  auto kernel = read->getParentOfType<func::FuncOp>();
  Value stack;
  {
    OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
    stack = memref::AllocaOp::create(top, loc, stackType,
                                     top.getI64IntegerAttr(64));
  }
  SmallVector<Value> lower, upper, steps;
  Reader outer(b, loc, padding);
  for (int64_t size : shape) {
    lower.push_back(outer.index(0));
    upper.push_back(outer.index(size));
    steps.push_back(outer.index(1));
  }
  scf::buildLoopNest(b, loc, lower, upper, steps, [&](OpBuilder &inner,
                                                      Location, ValueRange ivs) {
    Reader reader(inner, loc, padding);
    SmallVector<Value> at(read.getIndices());
    Value bounds;
    for (auto [number, dims] : llvm::enumerate(readDims(read))) {
      auto [dim, memory] = dims;
      at[memory] = reader.add(at[memory], ivs[number]);
      if (read.isDimInBounds(dim))
        continue;
      Value size = memref::DimOp::create(inner, loc, read.getBase(), memory);
      bounds = reader.both(
          bounds, arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                        at[memory], size));
    }
    Value outside = reader.fill(), inside = reader.isInside(at);
    if (bounds) {
      outside = arith::SelectOp::create(inner, loc, bounds, outside,
                                        read.getPadding());
      inside = reader.both(bounds, inside);
    }
    Value value = reader.load(read.getBase(), at, inside, outside);
    if (isBit)
      value = arith::ExtUIOp::create(inner, loc, inner.getI8Type(), value);
    memref::StoreOp::create(inner, loc, value, stack, ivs);
  });
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(stackType.getElementType())));
  SmallVector<bool> inBounds(type.getRank(), true);
  Value value = vector::TransferReadOp::create(
      b, loc, VectorType::get(type.getShape(), stackType.getElementType()), stack,
      SmallVector<Value>(shape.size(), outer.index(0)), zero,
      AffineMap::get(shape.size(), 0, exprs, b.getContext()),
      ArrayRef<bool>(inBounds));
  return isBit ? arith::TruncIOp::create(b, loc, type, value).getResult() : value;
}

static void readPadding(vector::TransferReadOp read, const Padding &padding) {
  OpBuilder b(read);
  Location loc = read.getLoc();
  auto branch =
      scf::IfOp::create(b, loc, read.getVectorType(), isAllInside(b, read, padding),
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  read.getResult().replaceAllUsesWith(branch.getResult(0));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, hasCutRows(read, padding) ? readRows(b, read, padding)
                                                         : readElements(b, read, padding));
  read->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, loc, read.getResult());
}

static void readPadding(memref::LoadOp read, const Padding &padding) {
  OpBuilder b(read);
  Reader reader(b, read.getLoc(), padding);
  SmallVector<Value> at(read.getIndices());
  Value value = reader.load(read.getMemRef(), at, reader.isInside(at), reader.fill());
  read.getResult().replaceAllUsesWith(value);
  read.erase();
}

namespace {
struct ReadPaddingPass
    : tilewright::impl::ReadPaddingPassBase<ReadPaddingPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal() || !func->hasAttr(kPaddingAttr))
      return;
    SmallVector<std::pair<Operation *, Padding>> reads;
    func.walk([&](Operation *op) {
      Value memory;
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        memory = read.getBase();
      else if (auto load = dyn_cast<memref::LoadOp>(op))
        memory = load.getMemRef();
      if (!memory)
        return;
      if (std::optional<Padding> padding = getPadding(memory))
        reads.push_back({op, *padding});
    });
    for (auto &[op, padding] : reads)
      if (auto read = dyn_cast<vector::TransferReadOp>(op))
        readPadding(read, padding);
      else
        readPadding(cast<memref::LoadOp>(op), padding);
    func->removeAttr(kPaddingAttr);
  }
};
} // namespace
