// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Divisibility.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace tilewright;

static int64_t clampDivisor(int64_t value) {
  return value == 0 ? kAnyDivisor : std::min(kAnyDivisor, std::abs(value));
}

/// The largest power of two known to divide the expression.
static int64_t expressionDivisor(AffineExpr expr, ArrayRef<int64_t> operands,
                                 unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return clampDivisor(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t left = expressionDivisor(binary.getLHS(), operands, numDims);
  int64_t right = expressionDivisor(binary.getRHS(), operands, numDims);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return std::gcd(left, right);
  case AffineExprKind::Mul:
    return left >= kAnyDivisor / std::max<int64_t>(right, 1) ? kAnyDivisor : left * right;
  default:
    return 1;
  }
}

/// What a kernel's guard promises of the size of an argument.
static int64_t dimDivisor(memref::DimOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  std::optional<int64_t> dim = op.getConstantIndex();
  auto kernel = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                         : func::FuncOp();
  return kernel && dim ? clampDivisor(promisedDivisor(kernel, operandNumber(argument), *dim))
                       : 1;
}

int64_t tilewright::knownDivisor(Value value, int depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return clampDivisor(constant.getSExtValue());
  if (depth > 16)
    return 1;
  auto of = [&](Value operand) { return knownDivisor(operand, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return std::gcd(of(op->getOperand(0)), of(op->getOperand(1)));
  if (isa<arith::MulIOp>(op)) {
    int64_t left = of(op->getOperand(0)), right = of(op->getOperand(1));
    return left >= kAnyDivisor / right ? kAnyDivisor : left * right;
  }
  // Of the least, or greatest, of several what all are multiples of.
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    SmallVector<int64_t> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand));
    AffineMap map = cast<AffineMapAttr>(op->getAttr("map")).getValue();
    int64_t divisor = 0;
    for (AffineExpr result : map.getResults())
      divisor = std::gcd(divisor, expressionDivisor(result, operands, map.getNumDims()));
    return divisor;
  }
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return std::gcd(of(select.getTrueValue()), of(select.getFalseValue()));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return of(op->getOperand(0));
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return dimDivisor(dim);
  return 1;
}

int64_t tilewright::knownDivisor(OpFoldResult value) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return clampDivisor(*known);
  return knownDivisor(cast<Value>(value));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

bool tilewright::getWindowStrides(MemRefType type,
                                  SmallVectorImpl<int64_t> &strides) {
  int64_t offset;
  return !type.getLayout().isIdentity() &&
         succeeded(type.getStridesAndOffset(strides, offset));
}

int64_t tilewright::operandNumber(BlockArgument argument) {
  return llvm::count_if(
      argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
      [](Value other) { return isa<ShapedType>(other.getType()); });
}

bool tilewright::isReadOnly(func::FuncOp kernel, BlockArgument argument) {
  auto access = kernel->getAttrOfType<ArrayAttr>(kAccessAttr);
  int64_t operand = operandNumber(argument);
  return access && operand < int64_t(access.size()) &&
         cast<StringAttr>(access[operand]).getValue() == "read";
}

StridedLayoutAttr tilewright::getView(func::FuncOp kernel, int64_t operand) {
  auto views = kernel->getAttrOfType<ArrayAttr>(kViewsAttr);
  return views && operand < int64_t(views.size())
             ? dyn_cast<StridedLayoutAttr>(views[operand])
             : StridedLayoutAttr();
}

ImageAttr tilewright::getImage(func::FuncOp kernel, int64_t operand) {
  auto images = kernel->getAttrOfType<ArrayAttr>(kImagesAttr);
  return images && operand < int64_t(images.size())
             ? dyn_cast<ImageAttr>(images[operand])
             : ImageAttr();
}

int64_t tilewright::getMergedDims(func::FuncOp kernel, int64_t operand) {
  auto merged = kernel->getAttrOfType<DenseI64ArrayAttr>(kMergedAttr);
  return merged && operand < int64_t(merged.size()) ? merged[operand] : 1;
}

/// The images whose pixels dim `dim` of the kernel's `operand` counts, or null.
static ImageAttr imagesCounted(func::FuncOp kernel, int64_t operand, int64_t dim) {
  auto images = kernel->getAttrOfType<ArrayAttr>(kImagesAttr);
  if (dim || !images || (!getImage(kernel, operand) && getMergedDims(kernel, operand) == 1))
    return {};
  return cast<ImageAttr>(*llvm::find_if(images, llvm::IsaPred<ImageAttr>));
}

HostDims tilewright::getHostDims(func::FuncOp kernel, int64_t operand, int64_t dim) {
  int64_t merged = getMergedDims(kernel, operand);
  ImageAttr image = imagesCounted(kernel, operand, dim);
  if (!image)
    return {{dim + merged - 1}};
  HostDims host;
  auto add = [&](int64_t size, int64_t position) {
    if (ShapedType::isDynamic(size))
      host.dims.push_back(position);
    else
      host.times *= size;
  };
  add(image.getDims().front(), 0);
  // A result has its places side by side, windows have taps between them.
  int64_t first = merged - int64_t(image.getPlaces().size());
  for (auto [number, places] : llvm::enumerate(image.getPlaces()))
    add(places, !getImage(kernel, operand) ? first + int64_t(number)
                : image.isOpen()           ? image.getWindows()[number]
                                           : 0);
  return host;
}

int64_t tilewright::pixelsPerImage(func::FuncOp kernel, int64_t operand, int64_t dim) {
  ImageAttr image = imagesCounted(kernel, operand, dim);
  if (!image)
    return 1;
  return ShapedType::isDynamicShape(image.getPlaces()) ? ShapedType::kDynamic
                                                       : llvm::product_of(image.getPlaces());
}

int64_t tilewright::promisedDivisor(func::FuncOp kernel, int64_t operand,
                                    int64_t dim) {
  auto promises = kernel->getAttrOfType<DenseI64ArrayAttr>(kDivisibleAttr);
  if (promises)
    for (int64_t i = 0; i + 2 < promises.size(); i += 3)
      if (promises[i] == operand && promises[i + 1] == dim)
        return std::max<int64_t>(1, promises[i + 2]);
  return 1;
}

int64_t tilewright::promisedMost(func::FuncOp kernel, int64_t operand,
                                 int64_t dim) {
  auto promises = kernel->getAttrOfType<DenseI64ArrayAttr>(kAtMostAttr);
  if (promises)
    for (int64_t i = 0; i + 2 < promises.size(); i += 3)
      if (promises[i] == operand && promises[i + 1] == dim)
        return promises[i + 2];
  return ShapedType::kDynamic;
}

/// What offset and strides of a window are promised to be multiples of.
static int64_t promisedAlignment(func::FuncOp kernel, int64_t operand,
                                 int64_t accessBytes, Type element) {
  auto aligned = kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  if (!aligned || !llvm::is_contained(aligned.asArrayRef(), operand) ||
      !element.isIntOrFloat())
    return 1;
  int64_t bytes = std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8);
  return std::max<int64_t>(1, accessBytes / bytes);
}

BufferDivisors tilewright::argumentDivisors(func::FuncOp kernel,
                                            BlockArgument argument,
                                            int64_t accessBytes) {
  auto type = cast<ShapedType>(argument.getType());
  int64_t operand = operandNumber(argument), rank = type.getRank();
  BufferDivisors result;
  for (int64_t dim = 0; dim < rank; ++dim)
    result.sizes.push_back(
        type.isDynamicDim(dim) ? promisedDivisor(kernel, operand, dim)
                               : std::max<int64_t>(1, type.getDimSize(dim)));
  SmallVector<int64_t> strides;
  auto buffer = dyn_cast<MemRefType>(type);
  if (StridedLayoutAttr view = getView(kernel, operand); view && !buffer)
    strides.assign(view.getStrides().begin(), view.getStrides().end());
  if (!strides.empty() || (buffer && getWindowStrides(buffer, strides))) {
    int64_t promised = promisedAlignment(kernel, operand, accessBytes,
                                         type.getElementType());
    for (int64_t stride : strides)
      result.strides.push_back(ShapedType::isDynamic(stride)
                                   ? promised
                                   : std::max<int64_t>(1, stride));
    result.offset = promised;
    return result;
  }
  result.strides.assign(rank, 1);
  for (int64_t dim = rank - 2; dim >= 0; --dim)
    result.strides[dim] = std::min(
        kAnyDivisor, result.strides[dim + 1] * result.sizes[dim + 1]);
  return result;
}
