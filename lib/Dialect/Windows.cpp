// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tilewright/Dialect/Windows.h"

#include "tilewright/Dialect/Picks.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

std::optional<SmallVector<int64_t>>
tilewright::getWindowSteps(AffineExpr expr, unsigned numDims) {
  SmallVector<int64_t> steps(numDims);
  SmallVector<AffineExpr> terms{expr};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    int64_t step = 1;
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (binary && term.getKind() == AffineExprKind::Add) {
      terms.append({binary.getLHS(), binary.getRHS()});
      continue;
    }
    if (binary && term.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
        step = factor.getValue();
        term = binary.getLHS();
      }
    auto dim = dyn_cast<AffineDimExpr>(term);
    if (!dim || step <= 0 ||
        llvm::AddOverflow(steps[dim.getPosition()], step,
                          steps[dim.getPosition()]))
      return std::nullopt;
  }
  return steps;
}

SmallVector<int64_t> Im2colOp::getSteps(unsigned dim) {
  return *getWindowSteps(getMap().getResult(dim), getMap().getNumDims());
}

LogicalResult Im2colOp::verify() {
  RankedTensorType source = getSourceType(), type = getType();
  AffineMap map = getMap();
  if (source.getElementType() != type.getElementType())
    return emitOpError("must keep the element type");
  if (map.getNumSymbols() || map.getNumDims() != type.getRank() ||
      map.getNumResults() != source.getRank())
    return emitOpError("needs a map from the dims of its result to those of "
                       "its source");
  if (getSizes().size() != type.getNumDynamicDims())
    return emitOpError() << "has " << getSizes().size() << " sizes for "
                         << type.getNumDynamicDims() << " dynamic dims";
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto steps = getWindowSteps(expr, map.getNumDims());
    if (!steps)
      return emitOpError() << "takes dim " << dim << " of its source by "
                           << getMapAttr()
                           << ", which has no sum of dims times positive "
                              "constants there";
    int64_t last = 0, size = source.getDimSize(dim);
    bool known = ShapedType::isStatic(size) && type.hasStaticShape() &&
                 !llvm::is_contained(type.getShape(), 0);
    for (auto [step, extent] : llvm::zip_equal(*steps, type.getShape())) {
      int64_t reach;
      if (known && (llvm::MulOverflow(step, extent - 1, reach) ||
                    llvm::AddOverflow(last, reach, last)))
        return emitOpError("reaches beyond 64-bit indices");
    }
    if (known && last >= size)
      return emitOpError() << "reaches element " << last << " of dim " << dim
                           << ", which has " << size;
  }
  return success();
}

Value tilewright::lookThroughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// The memref behind a tensor, or null.
static MemRefType memrefOf(Value tensor) {
  auto op = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return op ? dyn_cast<MemRefType>(op.getBuffer().getType()) : MemRefType();
}

bool tilewright::isWindow(Value value) {
  value = lookThroughCasts(value);
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::PadOp, Im2colOp>(
          value.getDefiningOp()))
    return true;
  MemRefType memref = memrefOf(value);
  return memref && !memref.getLayout().isIdentity();
}

/// Whether the window of `a` along `dim` are the elements in front of where that of `b` begins,
/// which nothing but the run may know.
static bool isAllBefore(tensor::InsertSliceOp a, tensor::InsertSliceOp b, int64_t dim) {
  return isZeroInteger(a.getMixedOffsets()[dim]) && isOneInteger(a.getMixedStrides()[dim]) &&
         isEqualConstantIntOrValue(a.getMixedSizes()[dim], b.getMixedOffsets()[dim]) &&
         b.getStaticStrides()[dim] > 0; // no number is dynamic and positive
}

/// True if there is a dim along which the windows surely have no element in common: one ends
/// where the other begins, or both take every n-th element, and not the same ones.
static bool areApart(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  for (int64_t dim = 0; dim < a.getDestType().getRank(); ++dim) {
    int64_t firstA = a.getStaticOffsets()[dim], firstB = b.getStaticOffsets()[dim],
            sizeA = a.getStaticSizes()[dim], sizeB = b.getStaticSizes()[dim],
            stepA = a.getStaticStrides()[dim], stepB = b.getStaticStrides()[dim];
    if (isAllBefore(a, b, dim) || isAllBefore(b, a, dim))
      return true;
    if (ShapedType::isDynamicShape({firstA, firstB, stepA, stepB}) || stepA < 1 || stepB < 1)
      continue;
    auto endsBefore = [](int64_t first, int64_t size, int64_t step, int64_t other) {
      return ShapedType::isStatic(size) && first + (size - 1) * step < other;
    };
    if (endsBefore(firstA, sizeA, stepA, firstB) || endsBefore(firstB, sizeB, stepB, firstA) ||
        (stepA == stepB && (firstA - firstB) % stepA != 0))
      return true;
  }
  return false;
}

static bool areEqual(tensor::ExtractSliceOp slice, tensor::InsertSliceOp insert) {
  return slice.getType() == insert.getSourceType() &&
         isEqualConstantIntOrValueArray(slice.getMixedOffsets(), insert.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(slice.getMixedSizes(), insert.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(slice.getMixedStrides(), insert.getMixedStrides());
}

/// True if nobody else sees more of the tensor that `insert` puts a window into than that window,
/// as its kernel does, for which it is the destination.
static bool isOfOneWindow(tensor::InsertSliceOp insert) {
  return llvm::all_of(insert.getDest().getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    return user == insert || (slice && areEqual(slice, insert));
  });
}

Value tilewright::getInsertionRoot(tensor::InsertSliceOp insert) {
  tensor::InsertSliceOp later = insert;
  while (auto before = later.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    // Other windows are apart, so whoever reads one of them does not see this one.
    bool isUnseen = later == insert ? later.getDest().hasOneUse() : isOfOneWindow(later);
    if (!isUnseen || !areApart(before, insert))
      break;
    later = before;
  }
  return later.getDest();
}

bool tilewright::isSameWindow(tensor::ExtractSliceOp slice,
                              tensor::InsertSliceOp insert) {
  return (slice.getSource() == insert.getDest() ||
          slice.getSource() == getInsertionRoot(insert)) &&
         areEqual(slice, insert);
}

Value tilewright::getWindowSource(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp, tensor::PadOp,
                         Im2colOp, PickOp>(op))
      return value;
    value = op->getOperand(0);
  }
}

static int64_t add(int64_t a, int64_t b) {
  int64_t result;
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ||
      llvm::AddOverflow(a, b, result))
    return ShapedType::kDynamic;
  return result;
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t result;
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ||
      llvm::MulOverflow(a, b, result))
    return ShapedType::kDynamic;
  return result;
}

static SmallVector<int64_t> stridesOf(Value value);

/// Strides of a padded tensor: its source's. Of a window's dim of one element memory has no
/// stride, and the runtime takes any, which shows once there are more of them.
static SmallVector<int64_t> stridesOfPadded(tensor::PadOp pad) {
  Value source = lookThroughCasts(pad.getSource());
  SmallVector<int64_t> strides = stridesOf(source);
  if (!source.getDefiningOp<tensor::ExtractSliceOp>() && !memrefOf(source))
    return strides;
  bool isLast = true;
  for (int64_t dim = int64_t(strides.size()) - 1; dim >= 0; --dim, isLast = false)
    if (int64_t size = pad.getSourceType().getDimSize(dim);
        (size == 1 || ShapedType::isDynamic(size)) && !(isLast && strides[dim] == 1))
      strides[dim] = ShapedType::kDynamic;
  return strides;
}

/// Strides of a tensor, dense or not.
static SmallVector<int64_t> stridesOf(Value value) {
  value = lookThroughCasts(value);
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    SmallVector<int64_t> from = stridesOf(slice.getSource()), strides;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, step] : llvm::enumerate(slice.getStaticStrides()))
      if (!dropped.test(dim))
        strides.push_back(multiply(from[dim], step));
    return strides;
  }
  if (auto pad = value.getDefiningOp<tensor::PadOp>())
    return stridesOfPadded(pad);
  SmallVector<int64_t> strides;
  if (auto im2col = value.getDefiningOp<Im2colOp>()) {
    strides.assign(im2col.getType().getRank(), 0);
    for (auto [dim, stride] : llvm::enumerate(stridesOf(im2col.getSource())))
      for (auto [own, step] : llvm::zip_equal(strides, im2col.getSteps(dim)))
        if (step)
          own = add(own, multiply(stride, step));
    return strides;
  }
  int64_t offset;
  if (MemRefType memref = memrefOf(value);
      memref && succeeded(memref.getStridesAndOffset(strides, offset)))
    return strides;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  strides.assign(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = multiply(strides[dim + 1], shape[dim + 1]);
  return strides;
}

StridedLayoutAttr tilewright::getWindowLayout(Value value) {
  // Picked matrices lie where their tensor begins, and as they do there.
  if (auto pick = value.getDefiningOp<PickOp>())
    return getWindowLayout(pick.getSource());
  if (!isWindow(value))
    return {};
  return StridedLayoutAttr::get(value.getContext(), ShapedType::kDynamic,
                                stridesOf(value));
}
