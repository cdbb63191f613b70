// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConstantElements.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

/// Tensors of more elements are not looked at, unless all are the same.
static constexpr int64_t kElements = 1 << 16;

static bool isOfIntegers(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

/// The type, where it is a static tensor of integers.
static RankedTensorType getTensorOfIntegers(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isOfIntegers(tensor) ? tensor : nullptr;
}

int64_t tilewright::numberOf(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [index, size] : llvm::zip_equal(place, shape))
    number = number * size + index;
  return number;
}

bool tilewright::moveOn(MutableArrayRef<int64_t> point, ArrayRef<int64_t> sizes) {
  for (size_t dim = point.size(); dim-- > 0;) {
    if (++point[dim] < sizes[dim])
      return true;
    point[dim] = 0;
  }
  return false;
}

static Elements makeElements(RankedTensorType type, std::vector<Attribute> values) {
  if (!values.empty() && llvm::all_equal(values))
    values.resize(1);
  return {type, std::move(values)};
}

void ConstantElements::add(Value value, const Elements &elements) {
  // To hold them costs, too.
  folds -= elements.values.size() / 16;
  known[value] = elements;
}

const Elements *ConstantElements::find(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? nullptr : &found->second;
}

Attribute ConstantElements::scalarOf(Value value) const {
  Attribute constant;
  return isOfIntegers(value.getType()) && matchPattern(value, m_Constant(&constant))
             ? constant
             : Attribute();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Attribute
ConstantElements::extract(tensor::ExtractOp op,
                          llvm::function_ref<Attribute(Value)> valueOf) const {
  const Elements *source = find(op.getTensor());
  if (!source)
    return {};
  SmallVector<int64_t> place;
  for (auto [index, size] : llvm::zip_equal(op.getIndices(), source->type.getShape())) {
    auto number = dyn_cast_or_null<IntegerAttr>(valueOf(index));
    if (!number || number.getInt() < 0 || number.getInt() >= size)
      return {};
    place.push_back(number.getInt());
  }
  return source->at(numberOf(place, source->type.getShape()));
}

/// The result of `op`, which is of arith, where all operands are known.
Attribute ConstantElements::fold(Operation &op,
                                 llvm::function_ref<Attribute(Value)> valueOf) const {
  if (!isa<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1)
    return {};
  SmallVector<Attribute> operands = llvm::map_to_vector(op.getOperands(), valueOf);
  SmallVector<OpFoldResult> folded;
  if (llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, folded)) ||
      folded.size() != 1)
    return {};
  auto attribute = dyn_cast<Attribute>(folded[0]);
  return attribute ? attribute : valueOf(cast<Value>(folded[0]));
}

/// What the body yields, whose arguments are `arguments`, at `point` of its loops; null where
/// that is not known.
Attribute ConstantElements::evaluateBody(Block &body, ArrayRef<Attribute> arguments,
                                  ArrayRef<int64_t> point) {
  DenseMap<Value, Attribute> values;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    if (value)
      values[argument] = value;
  auto valueOf = [&](Value value) {
    auto found = values.find(value);
    return found == values.end() ? scalarOf(value) : found->second;
  };
  for (Operation &op : body.without_terminator()) {
    if (--folds < 0)
      return {};
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      auto holds = dyn_cast_or_null<IntegerAttr>(valueOf(check.getArg()));
      if (!holds || holds.getValue().isZero())
        return {};
      continue;
    }
    Attribute result;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      result = b.getIndexAttr(point[index.getDim()]);
    else if (auto read = dyn_cast<tensor::ExtractOp>(op))
      result = extract(read, valueOf);
    else
      result = fold(op, valueOf);
    // What is undefined, as shifts by too many bits, is left to the targets.
    if (!isa_and_nonnull<IntegerAttr>(result))
      return {};
    values[op.getResult(0)] = result;
  }
  return valueOf(body.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The elements in the text; null where they are in the parameter file.
static DenseElementsAttr getElements(arith::ConstantOp op) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue())) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    bool isSplat = false;
    if (!blob ||
        !DenseElementsAttr::isValidRawBuffer(resource.getType(), blob->getData(), isSplat))
      return {};
    return DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
  }
  return dyn_cast<DenseElementsAttr>(op.getValue());
}

ConstantElements::Result ConstantElements::evaluate(linalg::GenericOp op) {
  auto type = op.getNumResults() == 1 ? getTensorOfIntegers(op.getResult(0).getType())
                                      : RankedTensorType();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!type || !op.hasPureTensorSemantics() || llvm::is_contained(sizes, 0) ||
      llvm::any_of(sizes, ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<const Elements *> read;
  OpOperand &result = *op.getDpsInitOperand(0);
  bool isSame = op.getNumReductionLoops() == 0 && !op.hasIndexSemantics() &&
                op.getMatchingIndexingMap(&result).isPermutation();
  for (OpOperand &operand : op->getOpOperands()) {
    bool isRead = !op.getMatchingBlockArgument(&operand).use_empty();
    read.push_back(isRead ? find(operand.get()) : nullptr);
    if (isRead && !read.back())
      return std::nullopt;
    isSame &= !isRead || read.back()->isSplat();
  }
  int64_t points = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(points, size, points) || (!isSame && points > kElements))
      return std::nullopt;

  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> point(sizes.size(), 0);
  SmallVector<Attribute> arguments(read.size());
  std::vector<Attribute> values(isSame ? 1 : type.getNumElements());
  unsigned init = op.getNumDpsInputs();
  do {
    for (auto [i, elements] : llvm::enumerate(read))
      if (elements && (i != init || !isSame))
        arguments[i] = elements->at(
            elements->isSplat() ? 0 : numberOf(maps[i].compose(point), elements->type.getShape()));
    int64_t place = isSame ? 0 : numberOf(maps[init].compose(point), type.getShape());
    if (read[init])
      arguments[init] = values[place] ? values[place] : read[init]->at(place);
    values[place] = evaluateBody(*op.getBody(), arguments, point);
    if (!values[place])
      return std::nullopt;
  } while (!isSame && moveOn(point, sizes));
  // Elements that no point writes are those of the init.
  const Elements *before = find(result.get());
  for (auto [number, value] : llvm::enumerate(values))
    if (!value)
      value = before ? before->at(number) : Attribute();
  if (llvm::is_contained(values, Attribute()))
    return std::nullopt;
  return makeElements(type, std::move(values));
}

/// The numbers of the elements of a tensor of `shape` that `window` speaks of; nothing where they
/// are dynamic.
static std::optional<SmallVector<int64_t>> numbersOf(OffsetSizeAndStrideOpInterface window,
                                                     ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> offsets = window.getStaticOffsets(), sizes = window.getStaticSizes(),
                    strides = window.getStaticStrides();
  for (ArrayRef<int64_t> part : {offsets, sizes, strides})
    if (llvm::any_of(part, ShapedType::isDynamic))
      return std::nullopt;
  SmallVector<int64_t> numbers, point(sizes.size(), 0), place(sizes.size());
  if (llvm::is_contained(sizes, 0))
    return numbers;
  do {
    for (auto [dim, index] : llvm::enumerate(point))
      place[dim] = offsets[dim] + index * strides[dim];
    numbers.push_back(numberOf(place, shape));
  } while (moveOn(point, sizes));
  return numbers;
}

ConstantElements::Result ConstantElements::evaluate(tensor::ExtractSliceOp op) {
  const Elements *source = find(op.getSource());
  if (!source)
    return std::nullopt;
  if (source->isSplat())
    return Elements{op.getType(), source->values};
  std::optional<SmallVector<int64_t>> numbers = numbersOf(op, source->type.getShape());
  if (!numbers)
    return std::nullopt;
  std::vector<Attribute> values;
  for (int64_t number : *numbers)
    values.push_back(source->at(number));
  return makeElements(op.getType(), std::move(values));
}

ConstantElements::Result ConstantElements::evaluate(tensor::InsertSliceOp op) {
  const Elements *source = find(op.getSource()), *dest = find(op.getDest());
  if (!source || !dest || op.getType().getNumElements() > kElements)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> numbers = numbersOf(op, op.getType().getShape());
  if (!numbers)
    return std::nullopt;
  std::vector<Attribute> values(op.getType().getNumElements());
  for (size_t number = 0; number < values.size(); ++number)
    values[number] = dest->at(number);
  for (auto [i, number] : llvm::enumerate(*numbers))
    values[number] = source->at(i);
  return makeElements(op.getType(), std::move(values));
}

ConstantElements::Result ConstantElements::evaluate(ScanOp op) {
  const Elements *input = find(op.getInput());
  const Elements *init = op.getInit() ? find(op.getInit()) : nullptr;
  if (!input || (op.getInit() && !init) || op.getChunk() || op.getTotals() ||
      op->getNumResults() != 1 || !input->type.getNumElements() ||
      input->type.getNumElements() > kElements)
    return std::nullopt;
  ArrayRef<int64_t> shape = input->type.getShape();
  int64_t dim = op.getDim(), length = shape[dim];
  SmallVector<int64_t> rows(shape);
  rows[dim] = 1;
  SmallVector<int64_t> row(shape.size(), 0);
  std::vector<Attribute> values(input->type.getNumElements());
  do {
    SmallVector<int64_t> place(row);
    Attribute sum;
    if (init) {
      SmallVector<int64_t> without(row);
      without.erase(without.begin() + dim);
      sum = init->at(numberOf(without, init->type.getShape()));
    }
    for (int64_t step = 0; step < length; ++step) {
      place[dim] = op.getReverse() ? length - 1 - step : step;
      int64_t number = numberOf(place, shape);
      Attribute before = sum;
      sum = sum ? evaluateBody(op.getCombiner().front(), {sum, input->at(number)}, {})
                : input->at(number);
      values[number] = op.getExclusive() ? before : sum;
      if (!sum || !values[number])
        return std::nullopt;
    }
  } while (moveOn(row, rows));
  return makeElements(input->type, std::move(values));
}

ConstantElements::Result ConstantElements::evaluate(Operation *op) {
  auto type = op->getNumResults() == 1 ? getTensorOfIntegers(op->getResult(0).getType())
                                       : RankedTensorType();
  if (!type || !type.getNumElements() || op->hasAttr(kConfigAttr))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp op) -> Result {
        DenseElementsAttr values = getElements(op);
        if (!values || (!values.isSplat() && type.getNumElements() > kElements))
          return std::nullopt;
        if (values.isSplat())
          return Elements{type, {values.getSplatValue<Attribute>()}};
        auto range = values.getValues<Attribute>();
        return Elements{type, {range.begin(), range.end()}};
      })
      .Case([&](tensor::EmptyOp) { return Elements{type, {Attribute()}}; })
      .Case([&](linalg::FillOp op) -> Result {
        Attribute value = scalarOf(op.getInputs()[0]);
        return value ? Result(Elements{type, {value}}) : std::nullopt;
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
          [&](Operation *op) -> Result {
            const Elements *source = find(op->getOperand(0));
            return source ? Result(Elements{type, source->values}) : std::nullopt;
          })
      .Case<linalg::GenericOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, ScanOp>(
          [&](auto op) { return evaluate(op); })
      .Default([](Operation *) { return std::nullopt; });
}
