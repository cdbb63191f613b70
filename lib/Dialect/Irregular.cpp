// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of tilewright.scatter, tilewright.scan and tilewright.sort, and what their
// users share.

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;

#define GET_OP_CLASSES
#include "tilewright/Dialect/IrregularOps.cpp.inc"

Operation *tilewright::findIrregular(func::FuncOp kernel) {
  if (kernel.isExternal())
    return nullptr;
  for (Operation &op : kernel.getBody().front())
    if (isIrregular(&op))
      return &op;
  return nullptr;
}

Value tilewright::combine(OpBuilder &b, Region &combiner, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(combiner.getArguments(), arguments);
  Block &body = combiner.front();
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

Value tilewright::goesBefore(OpBuilder &b, SortOp op, ValueRange first, ValueRange second) {
  if (!op.getCombiner().empty()) {
    SmallVector<Value> pairs;
    for (auto [one, other] : llvm::zip_equal(first, second))
      pairs.append({one, other});
    return combine(b, op.getCombiner(), pairs);
  }
  Location loc = op.getLoc();
  Value less = first[0], more = second[0];
  if (op.getDescending())
    std::swap(less, more);
  Type type = less.getType();
  if (isa<IntegerType>(type)) // an i1 is no number, so false is less than true
    return arith::CmpIOp::create(b, loc,
                                 type.isInteger(1) ? arith::CmpIPredicate::ult
                                                   : arith::CmpIPredicate::slt,
                                 less, more);
  if (isFloat8(type)) {
    less = arith::ExtFOp::create(b, loc, b.getF32Type(), less);
    more = arith::ExtFOp::create(b, loc, b.getF32Type(), more);
  }
  // `less` is a number, and `more` a larger one or NaN.
  Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, less, more);
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, less, less);
  return arith::AndIOp::create(b, loc, below, isNumber);
}

/// Operands are tensors, or all memrefs; a result for each destination of the former.
template <typename Op> static LogicalResult checkOperands(Op op, ValueRange dests) {
  bool isMemref = isa<BaseMemRefType>(dests[0].getType());
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      continue;
    if (!isa<RankedTensorType, MemRefType>(type))
      return op.emitOpError() << "has an operand of " << type
                              << "; operands are ranked tensors, or ranked memrefs";
    if (isa<MemRefType>(type) != isMemref)
      return op.emitOpError("mixes memrefs and tensors; use one of them");
  }
  if (isMemref ? op.getResults().empty() : op.getResultTypes() == dests.getTypes())
    return success();
  if (dests.size() > 1)
    return op.emitOpError("gives results of its destinations' types if these are tensors, "
                          "else none");
  return op.emitOpError() << "gives a result of its destination's type, "
                          << dests[0].getType() << ", if that is a tensor, else none";
}

/// A block of two elements of each of `types` that yields a `result`, by scalar arithmetic.
static LogicalResult checkCombiner(Operation *op, Region &combiner, TypeRange types,
                                   Type result) {
  StringRef name = isa<SortOp>(op) ? "comparison" : "combiner";
  SmallVector<Type> arguments;
  for (Type type : types)
    arguments.append({type, type});
  if (!combiner.hasOneBlock() || combiner.getArgumentTypes() != TypeRange(arguments)) {
    InFlightDiagnostic error = op->emitOpError() << "has a " << name << " that is no block of "
                                                 << (types.size() == 1 ? "two arguments of "
                                                                       : "two arguments each of ");
    llvm::interleaveComma(types, error);
    return error << (types.size() == 1 ? ", the elements' type" : ", the elements' types");
  }
  Block &body = combiner.front();
  auto combined = body.empty() ? CombinedOp() : dyn_cast<CombinedOp>(body.back());
  if (!combined || combined.getValue().getType() != result)
    return op->emitOpError() << "has a " << name << " that does not end in "
                             << "'tilewright.combined' of " << result;
  for (Operation &inner : body.without_terminator()) {
    bool isScalar = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
                    llvm::none_of(inner.getResultTypes(),
                                  [](Type result) { return isa<ShapedType>(result); });
    if (!isScalar)
      return op->emitOpError() << "has '" << inner.getName() << "' in its " << name
                               << "; accepted are scalar arith and math ops";
    if (isFloat8Arithmetic(&inner))
      return op->emitOpError() << "has '" << inner.getName()
                               << "' on floats of 8 bits in its " << name
                               << "; extend them to f32, compute, and truncate the result";
  }
  return success();
}

static bool mayBeEqual(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Operation *op, ValueRange written, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (llvm::is_contained(written, operand.get()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

void ScatterOp::getEffects(Effects &effects) {
  addEffects(*this, getDest(), effects);
}

SmallVector<int64_t> ScatterOp::getSliceDims() {
  SmallVector<int64_t> slice;
  for (int64_t dim = 0; dim < getDestType().getRank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      slice.push_back(dim);
  return slice;
}

LogicalResult ScatterOp::verify() {
  if (failed(checkOperands(*this, getDest())))
    return failure();
  ShapedType updates = getUpdatesType(), indices = getIndicesType(), dest = getDestType();
  if (updates.getElementType() != dest.getElementType())
    return emitOpError() << "puts elements of " << updates.getElementType() << " into "
                         << dest.getElementType() << "; convert them first";
  if (!indices.getElementType().isSignlessInteger())
    return emitOpError() << "has indices of " << indices.getElementType()
                         << "; they are integers";
  int64_t count = getDims().size();
  SmallVector<int64_t> sorted(getDims());
  llvm::sort(sorted);
  if (llvm::unique(sorted) != sorted.end() || count == 0 || sorted.front() < 0 ||
      sorted.back() >= dest.getRank())
    return emitOpError() << "'dims' are distinct dims of the destination, whose rank is "
                         << dest.getRank();
  if (indices.getRank() == 0 || indices.getShape().back() != count)
    return emitOpError() << "has " << count << " 'dims'; the last dim of its indices is "
                         << "to be as long, and static";
  SmallVector<int64_t> slice = getSliceDims();
  SmallVector<int64_t> expected(indices.getShape().drop_back());
  for (int64_t dim : slice)
    expected.push_back(dest.getDimSize(dim));
  bool fits = updates.getRank() == int64_t(expected.size());
  for (int64_t dim = 0; fits && dim < updates.getRank(); ++dim)
    fits = mayBeEqual(updates.getDimSize(dim), expected[dim]);
  if (!fits)
    return emitOpError() << "has updates of " << updates
                         << "; their dims are those of the indices but the last one, and "
                            "those of the destination that are not among 'dims'";
  if (getCombiner().empty())
    return success();
  return checkCombiner(*this, getCombiner(), dest.getElementType(), dest.getElementType());
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

void ScanOp::getEffects(Effects &effects) {
  addEffects(*this, getDpsInits(), effects);
}

/// States and values, of one dim each.
static LogicalResult checkLookBack(ScanOp op) {
  auto isOfOneDim = [](Value value, Type element) {
    auto type = cast<ShapedType>(value.getType());
    return type.getRank() == 1 && type.getElementType() == element;
  };
  ValueRange scratch = op.getScratch();
  if (!op.getLookBack())
    return scratch.empty() ? success()
                           : op.emitOpError("has scratch memory and does not look back");
  Type state = IntegerType::get(op.getContext(), 32);
  if (!op.getChunk() || op.getCarried() || op.getTotals() || scratch.size() != 2 ||
      !isOfOneDim(scratch[0], state) ||
      !isOfOneDim(scratch[1], op.getInputType().getElementType()))
    return op.emitOpError("looks back: that needs a 'chunk', neither 'carried' nor 'totals', and scratch "
                          "memory for states of i32 and for values, of one dim each");
  if (op.getInputType().getRank() == 3 && op.getInputType().getDimSize(2) < 1)
    return op.emitOpError("looks back: that needs a last dim of known size");
  return success();
}

LogicalResult ScanOp::verify() {
  if (failed(checkOperands(*this, getDpsInits())) || failed(checkLookBack(*this)))
    return failure();
  ShapedType input = getInputType(), output = getOutputType();
  int64_t rank = input.getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "'dim' is " << dim << "; the input has rank " << rank;
  auto init = getInit() ? cast<ShapedType>(getInit().getType()) : ShapedType();
  for (ShapedType other : {output, init})
    if (other && other.getElementType() != input.getElementType())
      return emitOpError() << "has elements of " << input.getElementType() << " and "
                           << other.getElementType() << "; all are of one type";
  if (getExclusive() && (!init || getCarried()))
    return emitOpError("is exclusive and needs an init: what the first element gets");
  if ((getCarried() || getTotals()) && !getChunk())
    return emitOpError("'carried' and 'totals' are about chunks, and there is no 'chunk'");
  if (getCarried() && !init)
    return emitOpError("is 'carried', and there is no init to carry");
  if (getTotals() && getExclusive())
    return emitOpError("'totals' are those of whole chunks, and it is exclusive");
  if (getChunk() && (rank != 3 || dim != 1 || (!init && !getTotals() && !getLookBack())))
    return emitOpError("in chunks is along the second of three dims, with an init or "
                       "'totals'");
  for (int64_t d = 0; d < rank; ++d)
    if (output.getRank() != rank || ((d != dim || !getTotals()) &&
                                     !mayBeEqual(output.getDimSize(d), input.getDimSize(d))))
      return emitOpError() << "has an output of " << output << " for an input of " << input;
  if (init) {
    bool fits = init.getRank() == rank - (hasOwnChunks() ? 0 : 1);
    for (int64_t d = 0, at = 0; fits && d < rank; ++d) {
      if (d == dim) {
        at += hasOwnChunks();
        continue;
      }
      fits = mayBeEqual(init.getDimSize(at++), input.getDimSize(d));
    }
    if (!fits)
      return emitOpError() << "has an init of " << init << "; it has the dims of the input, "
                           << input << (hasOwnChunks() ? ", and one element for each chunk"
                                                   : ", but the one of the scan");
  }
  return checkCombiner(*this, getCombiner(), input.getElementType(), input.getElementType());
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

void SortOp::getEffects(Effects &effects) {
  addEffects(*this, getOutputs(), effects);
}

LogicalResult SortOp::verify() {
  size_t inputs = getInputs().size(), outputs = getOutputs().size();
  if (inputs == 0 || (inputs != outputs && !(getRuns() && outputs == 2 * inputs)))
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getOutputs().size()
                         << " outputs; each input, of which there is one at least, has an "
                            "output";
  if (failed(checkOperands(*this, getOutputs())))
    return failure();
  ShapedType key = getKeyType();
  int64_t rank = key.getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "'dim' is " << dim << "; the first input has rank " << rank;
  SmallVector<Type> types;
  for (auto [number, to] : llvm::enumerate(getOutputs())) {
    auto input = cast<ShapedType>(getInputs()[number % inputs].getType());
    auto output = cast<ShapedType>(to.getType());
    if (number < inputs)
      types.push_back(input.getElementType());
    if (!input.getElementType().isSignlessInteger() && !isa<FloatType>(input.getElementType()))
      return emitOpError() << "has elements of " << input.getElementType()
                           << "; they are signless integers or floats";
    if (output.getElementType() != input.getElementType())
      return emitOpError() << "puts elements of " << input.getElementType() << " into "
                           << output.getElementType() << "; convert them first";
    for (ShapedType other : {input, output}) {
      bool fits = other.getRank() == rank;
      for (int64_t d = 0; fits && d < rank; ++d)
        fits = mayBeEqual(other.getDimSize(d), key.getDimSize(d)) ||
               (d == dim && other == output && getHalves());
      if (!fits)
        return emitOpError() << "has an operand of " << other << " beside keys of " << key
                             << "; all have the same dims";
    }
  }
  if (getRuns() && getWidth())
    return emitOpError("either makes 'runs' or merges those of a 'width', not both");
  if (getHalves() && !getWidth())
    return emitOpError("'halves' are those of runs of a 'width'");
  if ((getRuns() || getWidth()) && (rank != 3 || dim != 1))
    return emitOpError("in runs is along the second of three dims");
  if (getCombiner().empty())
    return success();
  if (getDescending())
    return emitOpError("is 'descending' and has a comparison; let that say the order");
  return checkCombiner(*this, getCombiner(), types, IntegerType::get(getContext(), 1));
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

void TopKOp::getEffects(Effects &effects) {
  addEffects(*this, {getValues(), getIndices()}, effects);
}

LogicalResult TopKOp::verify() {
  if (failed(checkOperands(*this, {getValues(), getIndices()})))
    return failure();
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType input = typeOf(getInput()), values = typeOf(getValues()),
             indices = typeOf(getIndices());
  int64_t rank = input.getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "'dim' is " << dim << "; the input has rank " << rank;
  Type element = input.getElementType();
  if (!element.isSignlessInteger() && !isa<FloatType>(element))
    return emitOpError() << "has elements of " << element
                         << "; they are signless integers or floats";
  if (values.getElementType() != element)
    return emitOpError() << "puts elements of " << element << " into "
                         << values.getElementType() << "; convert them first";
  if (!indices.getElementType().isSignlessInteger(32) &&
      !indices.getElementType().isSignlessInteger(64))
    return emitOpError() << "has indices of " << indices.getElementType()
                         << "; they are i32 or i64";
  for (ShapedType output : {values, indices}) {
    bool fits = output.getRank() == rank;
    for (int64_t d = 0; fits && d < rank; ++d)
      fits = d == dim ? mayBeEqual(output.getDimSize(d), values.getDimSize(d)) &&
                            (input.isDynamicDim(d) || output.isDynamicDim(d) ||
                             output.getDimSize(d) <= input.getDimSize(d))
                      : mayBeEqual(output.getDimSize(d), input.getDimSize(d));
    if (!fits)
      return emitOpError() << "has an output of " << output << " for an input of " << input
                           << "; it has the same dims but " << dim
                           << ", which both outputs have alike and at most as long";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// nonzero
//===----------------------------------------------------------------------===//

void NonzeroOp::getEffects(Effects &effects) {
  addEffects(*this, {getIndices(), getCount()}, effects);
}

LogicalResult NonzeroOp::verify() {
  if (failed(checkOperands(*this, {getIndices(), getCount()})))
    return failure();
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType input = typeOf(getInput()), indices = typeOf(getIndices()),
             count = typeOf(getCount());
  Type element = input.getElementType(), number = indices.getElementType();
  if (!element.isSignlessInteger() && !isa<FloatType>(element))
    return emitOpError() << "has elements of " << element
                         << "; they are signless integers or floats";
  if (input.getRank() == 0)
    return emitOpError("has an input without dims; there is an index where there is one");
  if (!number.isSignlessInteger(32) && !number.isSignlessInteger(64))
    return emitOpError() << "has indices of " << number << "; they are i32 or i64";
  if (indices.getRank() != 2 || indices.getDimSize(1) != input.getRank())
    return emitOpError() << "has indices of " << indices << " for an input of rank "
                         << input.getRank() << "; they are rows of so many";
  if (count.getRank() != 0 || count.getElementType() != number)
    return emitOpError() << "has a count of " << count << "; it has no dims, and is of "
                         << number << " as the indices are";
  return success();
}

//===----------------------------------------------------------------------===//
// unique
//===----------------------------------------------------------------------===//

void UniqueOp::getEffects(Effects &effects) {
  addEffects(*this, getOperands().drop_front(), effects);
}

LogicalResult UniqueOp::verify() {
  if (failed(checkOperands(*this, getOperands().drop_front())))
    return failure();
  auto typeOf = [](Value value) { return cast<ShapedType>(value.getType()); };
  ShapedType input = typeOf(getInput()), values = typeOf(getValues()),
             count = typeOf(getCount());
  Type element = input.getElementType(), number = count.getElementType();
  if (!element.isSignlessInteger() && !isa<FloatType>(element))
    return emitOpError() << "has elements of " << element
                         << "; they are signless integers or floats";
  if (input.getRank() == 0)
    return emitOpError("has an input without dims; there is one element");
  if (values.getRank() != 1 || values.getElementType() != element)
    return emitOpError() << "has values of " << values << "; they have one dim, and elements of "
                         << element << " as the input has";
  if (count.getRank() != 0 ||
      (!number.isSignlessInteger(32) && !number.isSignlessInteger(64)))
    return emitOpError() << "has a count of " << count << "; it has no dims, and is i32 or i64";
  auto check = [&](StringRef name, Value operand, ShapedType like) -> LogicalResult {
    if (!operand)
      return success();
    ShapedType type = typeOf(operand);
    bool fits = type.getElementType() == number && type.getRank() == like.getRank();
    for (int64_t dim = 0; fits && dim < type.getRank(); ++dim)
      fits = mayBeEqual(type.getDimSize(dim), like.getDimSize(dim));
    if (fits)
      return success();
    return emitOpError() << "has " << name << " of " << type << "; they have the dims of "
                         << like << ", and are of " << number << " as the count is";
  };
  return success(succeeded(check("indices", getIndices(), values)) &&
                 succeeded(check("an inverse", getInverse(), input)) &&
                 succeeded(check("counts", getCounts(), values)));
}
