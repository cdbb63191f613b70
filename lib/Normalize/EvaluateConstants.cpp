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
// computed by the folders of `arith`, a million of them in a function at most.

#include "ConstantElements.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_EVALUATECONSTANTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Elements of a table that becomes part of the program.
static constexpr int64_t kTableElements = 512;
/// Elements of a table that is computed from coordinates instead, where it is linear.
static constexpr int64_t kLinearElements = 8;

/// Bodies have the value where they read an element of what is the same everywhere.
static void foldExtracts(Operation *op, const ConstantElements &known) {
  op->walk([&](tensor::ExtractOp read) {
    const Elements *source = known.find(read.getTensor());
    if (!source || !source->isSplat() || !source->values[0])
      return;
    OpBuilder b(read);
    auto value = cast<TypedAttr>(source->values[0]);
    read.replaceAllUsesWith(arith::ConstantOp::create(b, read.getLoc(), value).getResult());
    if (read != op) // else it is dead
      read.erase();
  });
}

/// The number at the first place, then what each dim adds to it, where the elements are linear in
/// the coordinates.
static std::optional<SmallVector<int64_t>> linearSteps(const Elements &elements) {
  ArrayRef<int64_t> shape = elements.type.getShape();
  auto type = elements.type.getElementType();
  if (!type.isInteger(32) && !type.isInteger(64))
    return std::nullopt;
  auto numberAt = [&](ArrayRef<int64_t> place) {
    return cast<IntegerAttr>(elements.at(numberOf(place, shape))).getInt();
  };
  SmallVector<int64_t> place(shape.size(), 0);
  int64_t first = numberAt(place);
  SmallVector<int64_t> found{first};
  for (auto [dim, size] : llvm::enumerate(shape)) {
    int64_t step = 0;
    place[dim] = size > 1;
    if (llvm::SubOverflow(numberAt(place), first, step))
      return std::nullopt;
    found.push_back(step);
    place[dim] = 0;
  }
  do {
    int64_t number = first, product = 0;
    for (auto [index, step] : llvm::zip_equal(place, ArrayRef(found).drop_front()))
      if (llvm::MulOverflow(index, step, product) || llvm::AddOverflow(number, product, number))
        return std::nullopt;
    if (number != numberAt(place))
      return std::nullopt;
  } while (moveOn(place, shape));
  return found;
}

/// An op that computes the elements from coordinates, where they are linear in these; or null.
static Value createLinear(OpBuilder &b, Location loc, const Elements &elements) {
  std::optional<SmallVector<int64_t>> steps = linearSteps(elements);
  if (!steps)
    return {};
  ArrayRef<int64_t> shape = elements.type.getShape();
  Type type = elements.type.getElementType();
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
        for (auto [dim, step] : llvm::enumerate(ArrayRef(*steps).drop_front())) {
          if (!step)
            continue;
          Value part = arith::IndexCastOp::create(
              body, loc, type, linalg::IndexOp::create(body, loc, dim));
          if (step != 1)
            part = arith::MulIOp::create(body, loc, part, number(step));
          sum = sum ? arith::AddIOp::create(body, loc, sum, part) : part;
        }
        if (int64_t first = steps->front())
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
static Value createReplacement(Operation *op, const Elements &elements) {
  if (llvm::is_contained(elements.values, Attribute()))
    return {};
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  int64_t count = elements.type.getNumElements();
  if (elements.isSplat() && isa<arith::ConstantOp, linalg::FillOp>(op))
    return {};
  if (!elements.isSplat()) {
    if (isApart(op) || (isRead(op) && count >= kLinearElements))
      if (Value linear = createLinear(b, op->getLoc(), elements))
        return linear;
    if (!isApart(op) || count > kTableElements)
      return {};
  }
  return arith::ConstantOp::create(b, op->getLoc(),
                                   DenseElementsAttr::get(elements.type, elements.values));
}

static void evaluateConstants(func::FuncOp func) {
  ConstantElements known(func.getContext());
  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> replaced;
  for (Operation &op : func.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (!known.goesOn())
      break;
    foldExtracts(op, known);
    std::optional<Elements> elements = known.evaluate(op);
    if (!elements)
      continue;
    Value value = createReplacement(op, *elements);
    if (value) {
      op->getResult(0).replaceAllUsesWith(value);
      replaced.insert(op);
    }
    known.add(value ? value : op->getResult(0), *elements);
  }
  // Asserts in the bodies of those that are replaced hold.
  for (Operation *op : llvm::reverse(ops))
    if (replaced.contains(op) || isOpTriviallyDead(op))
      op->erase();
}

namespace {
struct EvaluateConstantsPass
    : tilewright::impl::EvaluateConstantsPassBase<EvaluateConstantsPass> {
  void runOnOperation() override {
    if (!getOperation().isExternal())
      evaluateConstants(getOperation());
  }
};
} // namespace
