// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification of tilewright.scatter and tilewright.scan, and what their users share.

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

Value tilewright::combine(OpBuilder &b, Region &combiner, Value first, Value second) {
  IRMapping mapping;
  mapping.map(combiner.getArgument(0), first);
  mapping.map(combiner.getArgument(1), second);
  Block &body = combiner.front();
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// Operands are tensors, or all memrefs; a result for the destination of the former.
template <typename Op> static LogicalResult checkOperands(Op op, Value dest) {
  bool isMemref = isa<BaseMemRefType>(dest.getType());
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
  if (op.getResults().size() != size_t(!isMemref) ||
      (!isMemref && op.getResults()[0].getType() != dest.getType()))
    return op.emitOpError() << "gives a result of its destination's type, "
                            << dest.getType() << ", if that is a tensor, else none";
  return success();
}

/// A block of two elements of `type` that yields a third, by scalar arithmetic.
static LogicalResult checkCombiner(Operation *op, Region &combiner, Type type) {
  if (!combiner.hasOneBlock() || combiner.getNumArguments() != 2 ||
      combiner.getArgumentTypes()[0] != type || combiner.getArgumentTypes()[1] != type)
    return op->emitOpError() << "has a combiner that is no block of two arguments of "
                             << type << ", the elements' type";
  auto combined = dyn_cast<CombinedOp>(combiner.front().getTerminator());
  if (!combined || combined.getValue().getType() != type)
    return op->emitOpError() << "has a combiner that does not end in "
                                "'tilewright.combined' of " << type;
  for (Operation &inner : combiner.front().without_terminator()) {
    bool isScalar = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
                    llvm::none_of(inner.getResultTypes(), [](Type result) {
                      return isa<ShapedType>(result);
                    });
    if (!isScalar)
      return op->emitOpError() << "has '" << inner.getName()
                               << "' in its combiner; accepted are scalar arith and math ops";
    if (isFloat8Arithmetic(&inner))
      return op->emitOpError() << "has '" << inner.getName()
                               << "' on floats of 8 bits in its combiner; extend them to "
                                  "f32, compute, and truncate the result";
  }
  return success();
}

static bool mayBeEqual(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffects(Operation *op, Value written, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (operand.get() == written)
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
  return checkCombiner(*this, getCombiner(), dest.getElementType());
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

void ScanOp::getEffects(Effects &effects) {
  addEffects(*this, getOutput(), effects);
}

LogicalResult ScanOp::verify() {
  if (failed(checkOperands(*this, getOutput())))
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
  if (getChunk() && (rank != 3 || dim != 1 || (!init && !getTotals())))
    return emitOpError("in chunks is along the second of three dims, with an init or "
                       "'totals'");
  for (int64_t d = 0; d < rank; ++d)
    if (output.getRank() != rank || ((d != dim || !getTotals()) &&
                                     !mayBeEqual(output.getDimSize(d), input.getDimSize(d))))
      return emitOpError() << "has an output of " << output << " for an input of " << input;
  if (init) {
    bool fits = init.getRank() == rank - (getChunk() ? 0 : 1);
    for (int64_t d = 0, at = 0; fits && d < rank; ++d) {
      if (d == dim) {
        at += bool(getChunk());
        continue;
      }
      fits = mayBeEqual(init.getDimSize(at++), input.getDimSize(d));
    }
    if (!fits)
      return emitOpError() << "has an init of " << init << "; it has the dims of the input, "
                           << input << (getChunk() ? ", and one element for each chunk"
                                                   : ", but the one of the scan");
  }
  return checkCombiner(*this, getCombiner(), input.getElementType());
}
