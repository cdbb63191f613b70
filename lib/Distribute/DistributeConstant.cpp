// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread holds of a vector constant. A splat is one scalar. Of other constants, register r
// of a thread holds the element at the thread's coordinates: an arithmetic sequence along the
// row-major position is computed, anything else chosen run by run of equal elements.
//
//   dense<[0, 0, 7, 7]> over 4 lanes   ->   %v = select (lane >= 2), 7, 0

#include "Distributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// The elements of a constant that is no splat.
struct ConstantElements {
  explicit ConstantElements(DenseElementsAttr dense);

  SmallVector<Attribute> elements;
  /// Runs of equal elements: where each begins.
  SmallVector<std::pair<int64_t, Attribute>> runs;
  /// Indices that count: start, start + step, …
  bool counts = false;
  int64_t start = 0, step = 0;
};
} // namespace

ConstantElements::ConstantElements(DenseElementsAttr dense)
    : elements(dense.getValues<Attribute>()), counts(dense.getElementType().isIndex()) {
  for (auto [position, element] : llvm::enumerate(elements))
    if (runs.empty() || runs.back().second != element)
      runs.push_back({int64_t(position), element});
  if (!counts)
    return;
  start = cast<IntegerAttr>(elements[0]).getInt();
  step = cast<IntegerAttr>(elements[1]).getInt() - start;
  for (auto [position, element] : llvm::enumerate(elements))
    counts &= cast<IntegerAttr>(element).getInt() == start + int64_t(position) * step;
}

static Value createScalar(ThreadCode &code, Location loc, Attribute value) {
  return arith::ConstantOp::create(code.b, loc, cast<TypedAttr>(value));
}

/// The element at a position that differs between threads.
static Value chooseElement(ThreadCode &code, Location loc, const ConstantElements &constant,
                           Index position) {
  if (constant.counts)
    return code.materialize(
        loc, code.add(loc, Index(constant.start),
                      code.multiply(loc, position, Index(constant.step))));
  Value at = code.materialize(loc, position), value;
  for (auto [begin, element] : constant.runs) {
    Value next = createScalar(code, loc, element);
    if (!value) {
      value = next;
      continue;
    }
    Value inside = arith::CmpIOp::create(code.b, loc, arith::CmpIPredicate::sge, at,
                                         code.constant(loc, begin));
    value = arith::SelectOp::create(code.b, loc, inside, next, value);
  }
  return value;
}

/// Elements of the row-major shape from one coordinate to the next along each dim.
static SmallVector<int64_t> rowMajorStrides(const DistributedLayout &layout) {
  SmallVector<int64_t> strides(layout.rank(), 1);
  for (int dim = layout.rank() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * layout.shape()[dim + 1];
  return strides;
}

LogicalResult Distributor::constant(arith::ConstantOp op) {
  constexpr size_t kMaxRuns = 64;
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense)
    return op.emitOpError() << "is a vector constant without plain elements";
  FailureOr<DistributedLayout> layout = getLayout(op.getResult());
  if (failed(layout))
    return failure();
  Location loc = op.getLoc();
  if (dense.isSplat()) {
    Value value = createScalar(code, loc, dense.getSplatValue<Attribute>());
    if (layout->isOpaque())
      value = createScalar(
          code, loc, dense.resizeSplat(fragmentType(*layout, dense.getElementType())));
    code.define(op, Registers(layout->numRegisters(), value));
    return success();
  }
  if (layout->isOpaque())
    return op.emitOpError() << "is no splat and cannot be a cooperative-matrix fragment";

  // Position of the thread's register 0; registers add constants.
  SmallVector<Index> base = code.baseCoordinates(*layout);
  SmallVector<int64_t> strides = rowMajorStrides(*layout);
  Index first(0);
  for (auto [coordinate, stride] : llvm::zip_equal(base, strides))
    first = code.add(loc, first, code.multiply(loc, coordinate, Index(stride)));
  ConstantElements constant(dense);
  if (!first.isConstant() && !constant.counts && constant.runs.size() > kMaxRuns)
    return op.emitOpError()
           << "is a vector constant with " << constant.runs.size()
           << " runs of equal elements spread over threads; at most "
           << kMaxRuns << " are chosen between, pass it as an argument";
  Registers result;
  for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
    int64_t offset = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(layout->registerOffset(reg), strides))
      offset += coordinate * stride;
    Index position = code.add(loc, first, Index(offset));
    result.push_back(position.isConstant()
                         ? createScalar(code, loc, constant.elements[position.constant])
                         : chooseElement(code, loc, constant, position));
  }
  code.define(op, result);
  return success();
}
