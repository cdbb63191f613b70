// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-evaluate-constants: integers that depend on coordinates and constants alone, as
// models compute positions and masks of them, are computed by the compiler where the rest of the
// program gets simpler by it:
//
//   %p = linalg.generic <(i) -> (i)> { linalg.index 0 }                 // positions
//   %n = tilewright.scan ins(<where %p does not follow the one before>) // the sequence's number
//   %m = linalg.generic ins(%p, ...) { kv <= q and %n[kv] == %n[q] }
// becomes
//   %m = linalg.generic { kv <= q }
//
//  * What is the same everywhere is a constant.
//  * What a scan, a reduction, a gather or a table in the program makes linear in the coordinates,
//    as a running sum of ones, is computed from them: bodies of readers take it in, and those who
//    look for a causal mask find it.
//  * What else scans, reductions and concatenations give is a table in the program where it is
//    small.
//
// Other ops stay as they are: to compute from coordinates is cheaper than to read. Elements are
// computed by the folders of `arith`, up to kFolds of them in a function.

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_EVALUATECONSTANTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Tensors of more elements are not looked at, unless all are the same.
static constexpr int64_t kElements = 1 << 16;
/// Ops that are folded in one function, those of each element counted.
static constexpr int64_t kFolds = 1 << 20;
/// Elements of a table that becomes part of the program.
static constexpr int64_t kTableElements = 512;
/// Elements of a table that is computed from coordinates instead, where it is linear.
static constexpr int64_t kLinearElements = 8;

namespace {
/// The elements of a tensor of integers, in row-major order; one where all are the same. Null is
/// what nobody has written.
struct Elements {
  RankedTensorType type;
  std::vector<Attribute> values;

  bool isSplat() const { return values.size() == 1; }
  Attribute at(int64_t number) const { return values[isSplat() ? 0 : number]; }
};

class Evaluator {
public:
  explicit Evaluator(func::FuncOp func) : func(func), b(func.getContext()) {}
  void run();

private:
  using Result = std::optional<Elements>;
  const Elements *find(Value value) const;
  Attribute scalarOf(Value value) const;

  void foldExtracts(Operation *op);
  Result evaluate(Operation *op);
  Result evaluate(linalg::GenericOp op);
  Result evaluate(tensor::ExtractSliceOp op);
  Result evaluate(tensor::InsertSliceOp op);
  Result evaluate(ScanOp op);
  Attribute evaluateBody(Block &body, ArrayRef<Attribute> arguments,
                         ArrayRef<int64_t> point);
  Attribute extract(tensor::ExtractOp op, const DenseMap<Value, Attribute> &known) const;

  Value createReplacement(Operation *op, const Elements &elements);
  Value createLinear(Operation *op, const Elements &elements);

  func::FuncOp func;
  OpBuilder b;
  DenseMap<Value, Elements> known;
  int64_t folds = kFolds;
};
} // namespace

static bool isOfIntegers(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

/// The type, where it is a static tensor of integers.
static RankedTensorType getTensorOfIntegers(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isOfIntegers(tensor) ? tensor : nullptr;
}

/// The number of the element at `place` in row-major order.
static int64_t numberOf(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [index, size] : llvm::zip_equal(place, shape))
    number = number * size + index;
  return number;
}

/// Moves `point` on in row-major order; false behind the last.
static bool next(MutableArrayRef<int64_t> point, ArrayRef<int64_t> sizes) {
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

const Elements *Evaluator::find(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? nullptr : &found->second;
}

Attribute Evaluator::scalarOf(Value value) const {
  Attribute constant;
  return isOfIntegers(value.getType()) && matchPattern(value, m_Constant(&constant))
             ? constant
             : Attribute();
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Attribute Evaluator::extract(tensor::ExtractOp op,
                             const DenseMap<Value, Attribute> &values) const {
  const Elements *source = find(op.getTensor());
  if (!source)
    return {};
  SmallVector<int64_t> place;
  for (auto [index, size] : llvm::zip_equal(op.getIndices(), source->type.getShape())) {
    Attribute value = values.contains(index) ? values.lookup(index) : scalarOf(index);
    auto number = dyn_cast_or_null<IntegerAttr>(value);
    if (!number || number.getInt() < 0 || number.getInt() >= size)
      return {};
    place.push_back(number.getInt());
  }
  return source->at(numberOf(place, source->type.getShape()));
}

/// What the body yields, whose arguments are `arguments`, at `point` of its loops; null where
/// that is not known.
Attribute Evaluator::evaluateBody(Block &body, ArrayRef<Attribute> arguments,
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
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      result = b.getIndexAttr(point[index.getDim()]);
    } else if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
      result = extract(read, values);
    } else if (isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1) {
      SmallVector<Attribute> operands = llvm::map_to_vector(op.getOperands(), valueOf);
      SmallVector<OpFoldResult> folded;
      if (llvm::is_contained(operands, Attribute()) ||
          failed(op.fold(operands, folded)) || folded.size() != 1)
        return {};
      auto attribute = dyn_cast<Attribute>(folded[0]);
      result = attribute ? attribute : valueOf(cast<Value>(folded[0]));
    }
    // What is undefined, as shifts by too many bits, is left to the targets.
    if (!isa_and_nonnull<IntegerAttr>(result))
      return {};
    values[op.getResult(0)] = result;
  }
  return valueOf(body.getTerminator()->getOperand(0));
}

/// Bodies have the value where they read an element of what is the same everywhere.
void Evaluator::foldExtracts(Operation *op) {
  op->walk([&](tensor::ExtractOp read) {
    const Elements *source = find(read.getTensor());
    if (!source || !source->isSplat() || !source->values[0])
      return;
    b.setInsertionPoint(read);
    auto value = cast<TypedAttr>(source->values[0]);
    read.replaceAllUsesWith(arith::ConstantOp::create(b, read.getLoc(), value).getResult());
    if (read != op) // else it is dead
      read.erase();
  });
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

Evaluator::Result Evaluator::evaluate(linalg::GenericOp op) {
  auto type = op.getNumResults() == 1 ? getTensorOfIntegers(op.getResult(0).getType())
                                      : RankedTensorType();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!type || !op.hasPureTensorSemantics() || llvm::is_contained(sizes, 0) ||
      llvm::any_of(sizes, ShapedType::isDynamic))
    return std::nullopt;
  SmallVector<const Elements *> read;
  bool isSame = op.getNumReductionLoops() == 0 && !op.hasIndexSemantics();
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
  } while (!isSame && next(point, sizes));
  // Elements that no point writes are those of the init.
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
  } while (next(point, sizes));
  return numbers;
}

Evaluator::Result Evaluator::evaluate(tensor::ExtractSliceOp op) {
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

Evaluator::Result Evaluator::evaluate(tensor::InsertSliceOp op) {
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

Evaluator::Result Evaluator::evaluate(ScanOp op) {
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
  } while (next(row, rows));
  return makeElements(input->type, std::move(values));
}

Evaluator::Result Evaluator::evaluate(Operation *op) {
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

//===----------------------------------------------------------------------===//
// What stands for them
//===----------------------------------------------------------------------===//

/// a + the sum of b(d) * index(d), where the elements are so; or null.
Value Evaluator::createLinear(Operation *op, const Elements &elements) {
  ArrayRef<int64_t> shape = elements.type.getShape();
  auto type = elements.type.getElementType();
  if (!type.isInteger(32) && !type.isInteger(64))
    return {};
  auto numberAt = [&](ArrayRef<int64_t> place) {
    return cast<IntegerAttr>(elements.at(numberOf(place, shape))).getInt();
  };
  SmallVector<int64_t> place(shape.size(), 0);
  int64_t first = numberAt(place);
  SmallVector<int64_t> steps(shape.size(), 0);
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size > 1) {
      place[dim] = 1;
      if (llvm::SubOverflow(numberAt(place), first, steps[dim]))
        return {};
      place[dim] = 0;
    }
  do {
    int64_t number = first;
    for (auto [index, step] : llvm::zip_equal(place, steps)) {
      int64_t product;
      if (llvm::MulOverflow(index, step, product) ||
          llvm::AddOverflow(number, product, number))
        return {};
    }
    if (number != numberAt(place))
      return {};
  } while (next(place, shape));

  Location loc = op->getLoc();
  Value empty = tensor::EmptyOp::create(b, loc, shape, type);
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(shape.size())};
  SmallVector<utils::IteratorType> loops(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{elements.type}, ValueRange{}, empty, maps, loops,
      [&](OpBuilder &body, Location loc, ValueRange) {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantOp::create(body, loc, body.getIntegerAttr(type, value));
        };
        Value sum;
        for (auto [dim, step] : llvm::enumerate(steps)) {
          if (!step)
            continue;
          Value part = arith::IndexCastOp::create(
              body, loc, type, linalg::IndexOp::create(body, loc, dim));
          if (step != 1)
            part = arith::MulIOp::create(body, loc, part, number(step));
          sum = sum ? arith::AddIOp::create(body, loc, sum, part) : part;
        }
        if (first)
          sum = arith::AddIOp::create(body, loc, sum, number(first));
        linalg::YieldOp::create(body, loc, sum);
      });
  return generic.getResult(0);
}

/// Whether readers cannot take in what `op` computes of coordinates and constants.
static bool isApart(Operation *op) {
  if (isa<ScanOp, tensor::InsertSliceOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() != 0;
}

/// Whether `op` reads from memory what may be computed.
static bool isRead(Operation *op) {
  if (isa<arith::ConstantOp, tensor::ExtractSliceOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && !generic.getBody()->getOps<tensor::ExtractOp>().empty();
}

/// The value that stands for the result of `op`; null where the op stays.
Value Evaluator::createReplacement(Operation *op, const Elements &elements) {
  if (llvm::is_contained(elements.values, Attribute()))
    return {};
  b.setInsertionPointAfter(op);
  int64_t count = elements.type.getNumElements();
  if (elements.isSplat() && isa<arith::ConstantOp, linalg::FillOp>(op))
    return {};
  if (!elements.isSplat()) {
    if (isApart(op) || (isRead(op) && count >= kLinearElements))
      if (Value linear = createLinear(op, elements))
        return linear;
    if (!isApart(op) || count > kTableElements)
      return {};
  }
  return arith::ConstantOp::create(b, op->getLoc(),
                                   DenseElementsAttr::get(elements.type, elements.values));
}

void Evaluator::run() {
  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> replaced;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (folds <= 0)
      break;
    foldExtracts(op);
    Result elements = evaluate(op);
    if (!elements)
      continue;
    // To hold them costs, too.
    folds -= elements->values.size() / 16;
    if (Value value = createReplacement(op, *elements)) {
      known[value] = *elements;
      op->getResult(0).replaceAllUsesWith(value);
      replaced.insert(op);
    } else {
      known[op->getResult(0)] = *elements;
    }
  }
  // Asserts in the bodies of those that are replaced hold.
  for (Operation *op : llvm::reverse(ops))
    if (replaced.contains(op) || isOpTriviallyDead(op)) {
      for (Value result : op->getResults())
        known.erase(result);
      op->erase();
    }
}

namespace {
struct EvaluateConstantsPass
    : tilewright::impl::EvaluateConstantsPassBase<EvaluateConstantsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      Evaluator(getOperation()).run();
  }
};
} // namespace
