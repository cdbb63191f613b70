// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A concatenation of the end of a tensor and its beginning, as front ends write torch.roll, reads
// each element where it is:
//
//   %a = tensor.extract_slice %x[3, 0] [53, 56] [1, 1]
//   %b = tensor.extract_slice %x[0, 0] [3, 56] [1, 1]
//   %r = tensor.concat dim(0) %a, %b      // or two tensor.insert_slice into a tensor.empty
// becomes
//   %r = linalg.generic {
//     %k = addi (linalg.index 0), 3
//     %i = select (%k >= 56), %k - 56, %k
//     yield (tensor.extract %x[%i, linalg.index 1])
//   }
//
// One of what another one gives, along another dim, reads the tensor that that one reads.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_READROTATIONSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

namespace {
/// The only dim of a tensor that a window does not have whole, where it begins there, and its size.
struct Part {
  int64_t dim, begin, size;
};
} // namespace

/// The window that `op`, a slice or an insertion, has of a tensor of type `whole`; `rank`: of what it
/// gives or takes.
static std::optional<Part> partOf(OffsetSizeAndStrideOpInterface op, RankedTensorType whole,
                                  int64_t rank) {
  if (rank != whole.getRank() || !whole.hasStaticShape() ||
      ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      ShapedType::isDynamicShape(op.getStaticSizes()) || !op.hasUnitStride())
    return std::nullopt;
  std::optional<Part> part;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t size = op.getStaticSizes()[dim];
    if (size == whole.getDimSize(dim))
      continue;
    if (part)
      return std::nullopt;
    part = Part{dim, op.getStaticOffsets()[dim], size};
  }
  return part;
}

static std::optional<Part> takenBy(tensor::ExtractSliceOp slice) {
  return partOf(slice, slice.getSourceType(), slice.getType().getRank());
}

static std::optional<Part> filledBy(tensor::InsertSliceOp insert) {
  return partOf(insert, insert.getDestType(), insert.getSourceType().getRank());
}

namespace {
/// Two tensors, one behind the other along `dim`.
struct Pair {
  Value first, second;
  int64_t dim;
};
} // namespace

static std::optional<Pair> matchPair(Operation *op) {
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return concat.getInputs().size() == 2 && concat.getResultType().hasStaticShape()
               ? std::optional(Pair{concat.getInputs()[0], concat.getInputs()[1],
                                    int64_t(concat.getDim())})
               : std::nullopt;
  auto second = dyn_cast<tensor::InsertSliceOp>(op);
  auto first = second ? second.getDest().getDefiningOp<tensor::InsertSliceOp>()
                      : tensor::InsertSliceOp();
  if (!first || !first->hasOneUse() || !first.getDest().getDefiningOp<tensor::EmptyOp>())
    return std::nullopt;
  std::optional<Part> one = filledBy(first), other = filledBy(second);
  if (one && other && other->begin == 0) {
    std::swap(one, other);
    std::swap(first, second);
  }
  if (!one || !other || one->dim != other->dim || one->begin != 0 || other->begin != one->size ||
      other->begin + other->size != second.getDestType().getDimSize(one->dim))
    return std::nullopt;
  return Pair{first.getSource(), second.getSource(), one->dim};
}

/// By how much a pair moves the elements of one tensor along its dim, and that tensor.
static std::optional<std::pair<Value, int64_t>> matchRotation(const Pair &pair) {
  auto end = pair.first.getDefiningOp<tensor::ExtractSliceOp>(),
       start = pair.second.getDefiningOp<tensor::ExtractSliceOp>();
  if (!end || !start || end.getSource() != start.getSource())
    return std::nullopt;
  std::optional<Part> last = takenBy(end), first = takenBy(start);
  if (!last || !first || last->dim != pair.dim || first->dim != pair.dim || first->begin != 0 ||
      last->begin != first->size ||
      last->begin + last->size != end.getSourceType().getDimSize(pair.dim))
    return std::nullopt;
  return std::pair(Value(end.getSource()), last->begin);
}

void tilewright::readRotations(RewriterBase &b, func::FuncOp func) {
  /// What a rotated tensor is read from, and from where on along each dim.
  DenseMap<Value, std::pair<Value, SmallVector<int64_t>>> rotated;
  func.walk([&](Operation *op) {
    std::optional<Pair> pair = matchPair(op);
    auto rotation = pair ? matchRotation(*pair) : std::nullopt;
    if (!rotation)
      return;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    std::pair<Value, SmallVector<int64_t>> read(rotation->first,
                                                SmallVector<int64_t>(type.getRank(), 0));
    if (auto before = rotated.find(rotation->first); before != rotated.end())
      read = before->second;
    int64_t &begin = read.second[pair->dim], size = type.getDimSize(pair->dim);
    begin = (begin + rotation->second) % size;
    b.setInsertionPoint(op);
    Value empty = tensor::EmptyOp::create(b, op->getLoc(), type, ValueRange());
    auto generic = linalg::GenericOp::create(
        b, op->getLoc(), type, ValueRange(), empty, b.getMultiDimIdentityMap(type.getRank()),
        SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
        [&](OpBuilder &inner, Location at, ValueRange) {
          SmallVector<Value> places;
          for (auto [dim, first] : llvm::enumerate(read.second)) {
            Value place = linalg::IndexOp::create(inner, at, dim);
            if (first) {
              auto number = [&](int64_t value) {
                return arith::ConstantIndexOp::create(inner, at, value);
              };
              Value extent = number(type.getDimSize(dim));
              place = arith::AddIOp::create(inner, at, place, number(first));
              Value behind =
                  arith::CmpIOp::create(inner, at, arith::CmpIPredicate::sge, place, extent);
              Value back = arith::SubIOp::create(inner, at, place, extent);
              place = arith::SelectOp::create(inner, at, behind, back, place);
            }
            places.push_back(place);
          }
          Value element = tensor::ExtractOp::create(inner, at, read.first, places);
          linalg::YieldOp::create(inner, at, element);
        });
    rotated[generic.getResult(0)] = read;
    b.replaceOp(op, generic);
  });
}

namespace {
struct ReadRotationsPass : tilewright::impl::ReadRotationsPassBase<ReadRotationsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    readRotations(rewriter, getOperation());
  }
};
} // namespace
