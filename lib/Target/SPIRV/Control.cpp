// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured control flow. Values that leave a construct are block arguments
// (OpPhi) and results of the loop or selection, never variables:
//
//   %r = scf.for %i = %lb to %ub step %s iter_args(%x = %a) -> (f32) {
//     …  scf.yield %y : f32
//   }
// becomes
//   %r = spirv.mlir.loop -> f32 {
//     spirv.Branch ^header(%lb, %a)
//   ^header(%i, %x):  spirv.BranchConditional %i < %ub, ^body, ^merge
//   ^body:            …  spirv.Branch ^continue(%y)
//   ^continue(%z):    spirv.Branch ^header(%i + %s, %z)
//   ^merge:           spirv.mlir.merge %x : f32
//   }
//
// An scf.while tests in a block after its header, because its test may hold
// constructs of its own.

#include "KernelEmitter.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

Outcome KernelEmitter::emitControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return emitIf(branch);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return emitWhile(loop);
  return Outcome::Unknown;
}

static Block *addBlock(Region &region, TypeRange types, Location loc) {
  Block *block = &region.emplaceBlock();
  for (Type type : types)
    block->addArgument(type, loc);
  return block;
}

static Parts arguments(Block *block) {
  return Parts(block->args_begin(), block->args_end());
}

Outcome KernelEmitter::emitFor(scf::ForOp op) {
  Location at = op.getLoc();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(appendPartTypes(op, type, types)))
      return Outcome::Failed;
  SmallVector<Type> headerTypes;
  if (failed(appendPartTypes(op, op.getInductionVar().getType(), headerTypes)))
    return Outcome::Failed;
  headerTypes.append(types);

  auto loop = spirv::LoopOp::create(b, at, types, spirv::LoopControl::None);
  OpBuilder::InsertionGuard guard(b);
  Region &region = loop.getBody();
  Block *entry = addBlock(region, {}, at);
  Block *header = addBlock(region, headerTypes, at);
  Block *body = addBlock(region, {}, at);
  Block *next = addBlock(region, types, at);
  Block *merge = addBlock(region, {}, at);

  Parts start = parts(op.getLowerBound());
  start.append(parts(op.getInitArgs()));
  b.setInsertionPointToEnd(entry);
  spirv::BranchOp::create(b, at, header, start);

  b.setInsertionPointToEnd(header);
  Value iv = header->getArgument(0);
  Value upper = part(op.getUpperBound());
  Value more = op.getUnsignedCmp() ? make<spirv::ULessThanOp>(iv, upper)
                                   : make<spirv::SLessThanOp>(iv, upper);
  spirv::BranchConditionalOp::create(b, at, more, body, ValueRange(), merge,
                                     ValueRange());
  Parts carried = arguments(header);
  setParts(op.getInductionVar(), iv);
  setParts(op.getRegionIterArgs(), ArrayRef(carried).drop_front());

  b.setInsertionPointToEnd(body);
  if (failed(emitBody(*op.getBody())))
    return Outcome::Failed;
  spirv::BranchOp::create(b, at, next,
                          parts(op.getBody()->getTerminator()->getOperands()));

  b.setInsertionPointToEnd(next);
  loc = at;
  Parts again{make<spirv::IAddOp>(iv, part(op.getStep()))};
  again.append(arguments(next));
  spirv::BranchOp::create(b, at, header, again);

  b.setInsertionPointToEnd(merge);
  spirv::MergeOp::create(b, at, ValueRange(carried).drop_front());
  setParts(op.getResults(), Parts(loop.getResults()));
  return Outcome::Done;
}

Outcome KernelEmitter::emitIf(scf::IfOp op) {
  Location at = op.getLoc();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (failed(appendPartTypes(op, type, types)))
      return Outcome::Failed;

  auto selection =
      spirv::SelectionOp::create(b, at, types, spirv::SelectionControl::None);
  OpBuilder::InsertionGuard guard(b);
  Region &region = selection.getBody();
  Block *header = addBlock(region, {}, at);
  SmallVector<Block *, 2> sides{addBlock(region, {}, at)};
  bool hasElse = !op.getElseRegion().empty();
  if (hasElse)
    sides.push_back(addBlock(region, {}, at));
  Block *merge = addBlock(region, types, at);

  b.setInsertionPointToEnd(header);
  spirv::BranchConditionalOp::create(b, at, part(op.getCondition()), sides[0],
                                     ValueRange(), hasElse ? sides[1] : merge,
                                     ValueRange());
  for (auto [side, source] : llvm::zip(sides, op->getRegions())) {
    b.setInsertionPointToEnd(side);
    Block &block = source.front();
    if (failed(emitBody(block)))
      return Outcome::Failed;
    spirv::BranchOp::create(b, at, merge,
                            parts(block.getTerminator()->getOperands()));
  }
  b.setInsertionPointToEnd(merge);
  spirv::MergeOp::create(b, at, merge->getArguments());
  setParts(op.getResults(), Parts(selection.getResults()));
  return Outcome::Done;
}

Outcome KernelEmitter::emitWhile(scf::WhileOp op) {
  Location at = op.getLoc();
  SmallVector<Type> before, after;
  for (Type type : op.getInits().getTypes())
    if (failed(appendPartTypes(op, type, before)))
      return Outcome::Failed;
  for (Type type : op.getResultTypes())
    if (failed(appendPartTypes(op, type, after)))
      return Outcome::Failed;

  auto loop = spirv::LoopOp::create(b, at, after, spirv::LoopControl::None);
  OpBuilder::InsertionGuard guard(b);
  Region &region = loop.getBody();
  Block *entry = addBlock(region, {}, at);
  Block *header = addBlock(region, before, at);
  Block *test = addBlock(region, {}, at);
  Block *body = addBlock(region, {}, at);
  Block *next = addBlock(region, before, at);
  Block *merge = addBlock(region, {}, at);

  b.setInsertionPointToEnd(entry);
  spirv::BranchOp::create(b, at, header, parts(op.getInits()));
  b.setInsertionPointToEnd(header);
  spirv::BranchOp::create(b, at, test);

  b.setInsertionPointToEnd(test);
  setParts(op.getBeforeArguments(), arguments(header));
  if (failed(emitBody(*op.getBeforeBody())))
    return Outcome::Failed;
  scf::ConditionOp condition = op.getConditionOp();
  Parts passed = parts(condition.getArgs());
  spirv::BranchConditionalOp::create(b, at, part(condition.getCondition()),
                                     body, ValueRange(), merge, ValueRange());

  b.setInsertionPointToEnd(body);
  setParts(op.getAfterArguments(), passed);
  if (failed(emitBody(*op.getAfterBody())))
    return Outcome::Failed;
  spirv::BranchOp::create(
      b, at, next, parts(op.getAfterBody()->getTerminator()->getOperands()));

  b.setInsertionPointToEnd(next);
  spirv::BranchOp::create(b, at, header, arguments(next));
  b.setInsertionPointToEnd(merge);
  spirv::MergeOp::create(b, at, passed);
  setParts(op.getResults(), Parts(loop.getResults()));
  return Outcome::Done;
}
