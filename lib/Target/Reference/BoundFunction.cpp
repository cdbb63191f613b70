// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds in host code: arguments, memory, branches, calls; see BoundErrors.cpp.

#include "Bounder.h"

#include "tilewright/Target/Reference/BoundErrors.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

#include <limits>

using namespace mlir;
using namespace tilewright;

std::string tilewright::getPairName(StringRef function) {
  return (function + ".pair").str();
}

bool Bounder::isTracked(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  Type element = memref ? memref.getElementType() : type;
  return isa<FloatType>(element) ||
         (tracksIntegers && isa<IntegerType, IndexType>(element));
}

Type Bounder::companionType(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return MemRefType::get(memref.getShape(), builder.getF64Type(),
                           memref.getLayout(), memref.getMemorySpace());
  return builder.getF64Type();
}

//===----------------------------------------------------------------------===//
// Companions
//===----------------------------------------------------------------------===//

Value Bounder::fill(Location loc, Value memref, double value) {
  Value constant =
      arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(value));
  linalg::FillOp::create(builder, loc, constant, memref);
  return memref;
}

/// A companion for `memref`, with the strides that its type gives.
Value Bounder::filled(Location loc, Value memref, double value) {
  auto type = cast<MemRefType>(memref.getType());
  auto companion = cast<MemRefType>(companionType(type));
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> dynamic;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d)) {
      sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
      continue;
    }
    dynamic.push_back(memref::DimOp::create(builder, loc, memref, d));
    sizes.push_back(dynamic.back());
  }
  if (type.getLayout().isIdentity())
    return fill(loc, memref::AllocOp::create(builder, loc, companion, dynamic),
                value);
  // Strides that are not in the type are those of a dense tensor.
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  auto toValue = [&](OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  };
  SmallVector<OpFoldResult> mixed(type.getRank());
  Value next = arith::ConstantIndexOp::create(builder, loc, 1), length = next;
  for (int64_t d = type.getRank(); d-- > 0;) {
    if (!ShapedType::isDynamic(strides[d])) {
      mixed[d] = builder.getIndexAttr(strides[d]);
      next = arith::ConstantIndexOp::create(builder, loc, strides[d]);
    } else {
      mixed[d] = next;
    }
    next = arith::MulIOp::create(builder, loc, next, toValue(sizes[d]));
    length = arith::AddIOp::create(builder, loc, length, next);
  }
  bool isAnywhere = ShapedType::isDynamic(offset);
  OpFoldResult start = builder.getIndexAttr(isAnywhere ? 0 : offset);
  length = arith::AddIOp::create(builder, loc, length, toValue(start));
  if (isAnywhere)
    start = toValue(start);
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getF64Type());
  Value memory = memref::AllocOp::create(builder, loc, bytes, length);
  fill(loc, memory, value);
  return memref::ReinterpretCastOp::create(builder, loc, companion, memory,
                                           start, sizes, mixed);
}

Value Bounder::zerosLike(Location loc, Value value) {
  if (isa<MemRefType>(value.getType()))
    return filled(loc, value, 0);
  return rules.constant(0);
}

Value Bounder::materialize(Location loc, Value value) {
  if (Value companion = companions.lookup(value))
    return companion;
  return zerosLike(loc, value);
}

SmallVector<Value> Bounder::materializeAll(Location loc, ValueRange values) {
  SmallVector<Value> result;
  for (Value value : values)
    if (isTracked(value.getType()))
      result.push_back(materialize(loc, value));
  return result;
}

/// Behind the arguments of each block a companion for each that is tracked.
void Bounder::addArguments() {
  for (Block &block : func.getBody()) {
    SmallVector<BlockArgument> arguments(block.getArguments());
    for (BlockArgument argument : arguments) {
      if (!isTracked(argument.getType()))
        continue;
      if (!block.isEntryBlock() || !isEntry) {
        companions[argument] = block.addArgument(
            companionType(argument.getType()), argument.getLoc());
        continue;
      }
      // The caller's tensors are not written.
      if (!func.getArgAttr(argument.getArgNumber(), kBufferAttr))
        continue;
      builder.setInsertionPointToStart(&block);
      companions[argument] = zerosLike(argument.getLoc(), argument);
    }
  }
}

//===----------------------------------------------------------------------===//
// Host code
//===----------------------------------------------------------------------===//

LogicalResult Bounder::visitView(Operation *op, Value source) {
  Value companion = companions.lookup(source);
  if (!companion)
    return success();
  auto type = cast<MemRefType>(op->getResult(0).getType());
  IRMapping mapping;
  mapping.map(source, companion);
  Operation *view = builder.clone(*op, mapping);
  view->getResult(0).setType(companionType(type));
  companions[op->getResult(0)] = view->getResult(0);
  return success();
}

LogicalResult Bounder::visitCall(func::CallOp call) {
  auto module = func->getParentOfType<ModuleOp>();
  auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
  builder.setInsertionPoint(call);
  SmallVector<Value> bounds = materializeAll(call.getLoc(), call.getOperands());
  if (!callee || callee.isExternal()) {
    builder.setInsertionPointAfter(call);
    for (Value operand : call.getOperands())
      if (Value companion = companions.lookup(operand))
        if (isa<MemRefType>(operand.getType()))
          fill(call.getLoc(), companion,
               std::numeric_limits<double>::infinity());
    // The same from the same scalars; nothing is known from others.
    SmallVector<Value> scalars;
    for (Value operand : call.getOperands())
      scalars.push_back(isa<MemRefType>(operand.getType())
                            ? Value()
                            : companions.lookup(operand));
    for (Value result : call.getResults()) {
      if (!isTracked(result.getType()))
        continue;
      if (isa<MemRefType>(result.getType()))
        companions[result] = filled(call.getLoc(), result,
                                    std::numeric_limits<double>::infinity());
      else if (Value bound = rules.ifInexact(
                   scalars, std::numeric_limits<double>::infinity()))
        companions[result] = bound;
    }
    return success();
  }
  SmallVector<Type> types(call.getResultTypes());
  for (Type type : call.getResultTypes())
    if (isTracked(type))
      types.push_back(companionType(type));
  SmallVector<Value> operands(call.getOperands());
  llvm::append_range(operands, bounds);
  auto pair = func::CallOp::create(
      builder, call.getLoc(), getPairName(call.getCallee()), types, operands);
  unsigned next = call.getNumResults();
  for (auto [number, result] : llvm::enumerate(call.getResults())) {
    Value replacement = pair.getResult(number);
    if (isTracked(result.getType()))
      companions[replacement] = pair.getResult(next++);
    result.replaceAllUsesWith(replacement);
  }
  call.erase();
  return success();
}

/// Of @f.bounds: the results, a dense bound of each, and one of each argument
/// that is written.
void Bounder::visitReturn(func::ReturnOp op) {
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<Value> operands(op.getOperands());
  if (!isEntry) {
    llvm::append_range(operands, materializeAll(loc, op.getOperands()));
    op.getOperandsMutable().assign(operands);
    return;
  }
  for (Value operand : op.getOperands())
    operands.push_back(materialize(loc, operand));
  for (BlockArgument argument : func.getArguments()) {
    if (!func.getArgAttr(argument.getArgNumber(), kBufferAttr))
      continue;
    Value companion = materialize(loc, argument);
    auto type = cast<MemRefType>(companion.getType());
    if (!type.getLayout().isIdentity()) {
      SmallVector<Value> sizes;
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d))
          sizes.push_back(memref::DimOp::create(builder, loc, companion, d));
      Value dense = memref::AllocOp::create(
          builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
          sizes);
      memref::CopyOp::create(builder, loc, companion, dense);
      companion = dense;
    }
    operands.push_back(companion);
  }
  op.getOperandsMutable().assign(operands);
}

void Bounder::visitBranch(BranchOpInterface branch) {
  builder.setInsertionPoint(branch);
  for (unsigned i = 0; i < branch->getNumSuccessors(); ++i) {
    SuccessorOperands operands = branch.getSuccessorOperands(i);
    SmallVector<Value> forwarded(operands.getForwardedOperands());
    branch.getSuccessorOperands(i).append(
        materializeAll(branch.getLoc(), forwarded));
  }
}

void Bounder::visitCopy(memref::CopyOp copy) {
  Value target = companions.lookup(copy.getTarget());
  if (!target)
    return;
  if (Value source = companions.lookup(copy.getSource()))
    memref::CopyOp::create(builder, copy.getLoc(), source, target);
  else
    fill(copy.getLoc(), target, 0);
}

/// Anything that computes scalars from scalars.
void Bounder::visitScalar(Operation *op) {
  SmallVector<Value> bounds;
  for (Value operand : op->getOperands())
    bounds.push_back(companions.lookup(operand));
  if (op->getNumResults() == 1 && isTracked(op->getResult(0).getType())) {
    if (Value bound = rules.getBound(op, bounds))
      companions[op->getResult(0)] = bound;
    return;
  }
  for (Value result : op->getResults())
    if (isTracked(result.getType()) && !isa<MemRefType>(result.getType()))
      companions[result] =
          rules.constant(std::numeric_limits<double>::infinity());
}

LogicalResult Bounder::visit(Operation *op) {
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return visitGeneric(generic);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return visitIf(choice);
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (auto done = dyn_cast<func::ReturnOp>(op))
    return visitReturn(done), success();
  if (auto branch = dyn_cast<BranchOpInterface>(op))
    return visitBranch(branch), success();
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return visitCopy(copy), success();
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    if (!isTracked(op->getResult(0).getType()))
      return success();
    Operation *companion = builder.clone(*op);
    companion->getResult(0).setType(
        cast<MemRefType>(companionType(op->getResult(0).getType())));
    companions[op->getResult(0)] = companion->getResult(0);
    return success();
  }
  if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
    if (Value companion = companions.lookup(dealloc.getMemref()))
      memref::DeallocOp::create(builder, loc, companion);
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    Value bound;
    if (Value companion = companions.lookup(load.getMemref()))
      bound =
          memref::LoadOp::create(builder, loc, companion, load.getIndices());
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(companions.lookup(index));
    Value elsewhere =
        rules.ifInexact(indices, std::numeric_limits<double>::infinity());
    if (isTracked(load.getType()) && (bound || elsewhere))
      companions[load.getResult()] = rules.max(bound, elsewhere);
    return success();
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    if (Value companion = companions.lookup(store.getMemref()))
      memref::StoreOp::create(builder, loc, materialize(loc, store.getValue()),
                              companion, store.getIndices());
    return success();
  }
  if (auto view = dyn_cast<ViewLikeOpInterface>(op);
      view && !isa<memref::ViewOp>(op) && op->getNumResults() == 1)
    return visitView(op, view.getViewSource());
  if (isa<memref::TransposeOp>(op))
    return visitView(op, op->getOperand(0));
  if (auto choice = dyn_cast<arith::SelectOp>(op);
      choice && isa<MemRefType>(choice.getType())) {
    if (isTracked(choice.getType()))
      companions[choice.getResult()] =
          arith::SelectOp::create(builder, loc, choice.getCondition(),
                                  materialize(loc, choice.getTrueValue()),
                                  materialize(loc, choice.getFalseValue()));
    return success();
  }
  if (isa<memref::GetGlobalOp, memref::DimOp, memref::RankOp,
          memref::ExtractAlignedPointerAsIndexOp,
          memref::ExtractStridedMetadataOp>(op))
    return success();
  for (Value result : op->getResults())
    if (isa<BaseMemRefType>(result.getType()) && isTracked(result.getType()))
      companions[result] =
          filled(loc, result, std::numeric_limits<double>::infinity());
  visitScalar(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult Bounder::run() {
  IRRewriter rewriter(func.getContext());
  (void)eraseUnreachableBlocks(rewriter, func->getRegions());
  // What is created on the way has no bounds of its own.
  SmallVector<Operation *> ops;
  for (Block *block : getBlocksSortedByDominance(func.getBody()))
    for (Operation &op : *block)
      ops.push_back(&op);
  addArguments();
  for (Operation *op : ops)
    if (failed(visit(op)))
      return failure();
  SmallVector<Type> results(func.getResultTypes());
  for (Block &block : func.getBody())
    if (auto done = dyn_cast<func::ReturnOp>(block.getTerminator()))
      results.assign(done.getOperandTypes().begin(),
                     done.getOperandTypes().end());
  func.setType(FunctionType::get(
      func.getContext(), func.getBody().front().getArgumentTypes(), results));
  return success();
}
