// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, branches, loops over threads and roles of warps, whose block vectors become the
// scalars of a thread like all others.
//
//   %r = scf.for … iter_args(%acc = %init) -> (vector<16x8xf32>)
// becomes, where a thread has four elements of it,
//   %r:4 = scf.for … iter_args(%a0 = %i0, %a1 = %i1, %a2 = %i2, %a3 = %i3) -> (f32, f32, f32, f32)

#include "Distributor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

static bool isPacked(ValueRange carried, size_t number) {
  return number < carried.size() && staysPacked(carried[number]);
}

FailureOr<SmallVector<Value>> Distributor::flatten(ValueRange values,
                                                   ValueRange carried) {
  SmallVector<Value> flat;
  for (auto [number, value] : llvm::enumerate(values)) {
    if (!laidOutType(value.getType())) {
      flat.push_back(code.scalars.lookup(value));
      continue;
    }
    FailureOr<Registers> held = code.registers(value);
    if (failed(held))
      return failure();
    llvm::append_range(flat, isPacked(carried, number)
                                 ? code.packPairs(value.getLoc(), *held)
                                 : *held);
  }
  return flat;
}

LogicalResult Distributor::unflatten(ValueRange values, ValueRange flat,
                                     ValueRange carried) {
  for (auto [number, value] : llvm::enumerate(values)) {
    int64_t count = 1;
    if (laidOutType(value.getType())) {
      FailureOr<DistributedLayout> layout = getLayout(value);
      if (failed(layout))
        return failure();
      count = layout->numRegisters();
      bool packed = isPacked(carried, number);
      if (packed)
        count /= 2;
      Registers held(flat.take_front(count));
      code.define(value, packed ? code.unpackPairs(value.getLoc(), held) : held);
    } else {
      code.scalars.map(value, flat.front());
    }
    flat = flat.drop_front(count);
  }
  return success();
}

static bool contains(Operation *parent, llvm::function_ref<bool(Operation *)> isOne) {
  return parent
      ->walk([&](Operation *op) {
        return isOne(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether sums of matrix instructions in `op`, a loop of all warps, begin with what is in
/// memory, and go back there: an argument is read in front of it and written behind it.
static bool beginsWithMemory(scf::ForOp op) {
  auto kernel = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!kernel || !contains(op, llvm::IsaPred<MmaOp>) || contains(kernel, llvm::IsaPred<WarpsOp>))
    return false;
  auto argumentOf = [](Value memory) -> Value {
    while (auto view = memory.getDefiningOp<memref::SubViewOp>())
      memory = view.getSource();
    return dyn_cast<BlockArgument>(memory);
  };
  llvm::SmallDenseSet<Value, 4> read;
  for (Operation &other : *op->getBlock())
    if (auto in = dyn_cast<vector::TransferReadOp>(other); in && other.isBeforeInBlock(op))
      read.insert(argumentOf(in.getBase()));
  read.erase(Value());
  return llvm::any_of(*op->getBlock(), [&](Operation &other) {
    auto out = dyn_cast<vector::TransferWriteOp>(other);
    return out && op->isBeforeInBlock(&other) && read.contains(argumentOf(out.getBase()));
  });
}

LogicalResult Distributor::loop(scf::ForOp op) {
  ValueRange carried = op.getRegionIterArgs();
  FailureOr<SmallVector<Value>> inits = flatten(op.getInitArgs(), carried);
  if (failed(inits))
    return failure();
  auto loop = scf::ForOp::create(
      code.b, op.getLoc(), code.scalars.lookup(op.getLowerBound()),
      code.scalars.lookup(op.getUpperBound()), code.scalars.lookup(op.getStep()),
      *inits);
  if (inits->empty())
    loop.getBody()->getTerminator()->erase();
  code.scalars.map(op.getInductionVar(), loop.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPointToStart(loop.getBody());
    if (failed(unflatten(carried, loop.getRegionIterArgs(), carried)) ||
        failed(block(*op.getBody())))
      return failure();
    FailureOr<SmallVector<Value>> yields =
        flatten(op.getBody()->getTerminator()->getOperands(), carried);
    if (failed(yields))
      return failure();
    scf::YieldOp::create(code.b, op.getLoc(), *yields);
  }
  // Or where they are read and written would take registers all along the loop.
  TargetAttr target = getTarget(code.source);
  if (target && target.getBackend() == "nvvm" && beginsWithMemory(op))
    code.computeCoordinatesAgain(op.getLoc());
  return unflatten(op.getResults(), loop.getResults(), carried);
}

/// One thread's alone: others would have to be there at barriers within.
LogicalResult Distributor::loop(scf::WhileOp op) {
  if (!code.isOneThread)
    return op.emitOpError("is in code of one thread, in no other");
  auto types = [](ValueRange values) { return llvm::to_vector(values.getTypes()); };
  FailureOr<SmallVector<Value>> inits = flatten(op.getInits());
  if (failed(inits))
    return failure();
  auto loop = scf::WhileOp::create(code.b, op.getLoc(), types(op.getResults()), *inits);
  SmallVector<Location> locs(op.getNumOperands(), op.getLoc());
  OpBuilder::InsertionGuard guard(code.b);
  code.b.createBlock(&loop.getBefore(), {}, types(op.getBeforeArguments()), locs);
  code.scalars.map(op.getBeforeArguments(), loop.getBeforeArguments());
  scf::ConditionOp condition = op.getConditionOp();
  if (failed(block(*op.getBeforeBody())))
    return failure();
  FailureOr<SmallVector<Value>> passed = flatten(condition.getArgs());
  if (failed(passed))
    return failure();
  scf::ConditionOp::create(code.b, op.getLoc(), code.scalars.lookup(condition.getCondition()),
                           *passed);
  locs.assign(op.getNumResults(), op.getLoc());
  code.b.createBlock(&loop.getAfter(), {}, types(op.getResults()), locs);
  code.scalars.map(op.getAfterArguments(), loop.getAfterArguments());
  if (failed(block(*op.getAfterBody())))
    return failure();
  FailureOr<SmallVector<Value>> yields = flatten(op.getYieldOp().getOperands());
  if (failed(yields))
    return failure();
  scf::YieldOp::create(code.b, op.getLoc(), *yields);
  code.scalars.map(op.getResults(), loop.getResults());
  return success();
}

LogicalResult Distributor::branch(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    VectorType type = laidOutType(result.getType());
    if (!type) {
      types.push_back(result.getType());
      continue;
    }
    FailureOr<DistributedLayout> layout = getLayout(result);
    if (failed(layout))
      return failure();
    types.append(layout->numRegisters(),
                 registerType(*layout, type.getElementType()));
  }
  auto branch = scf::IfOp::create(code.b, op.getLoc(), types,
                                  code.scalars.lookup(op.getCondition()),
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/!op.getElseRegion().empty());
  for (auto [from, to] : {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
                          std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
    if (from->empty())
      continue;
    OpBuilder::InsertionGuard guard(code.b);
    to->front().clear();
    code.b.setInsertionPointToStart(&to->front());
    if (failed(block(from->front())))
      return failure();
    FailureOr<SmallVector<Value>> yields =
        flatten(from->front().getTerminator()->getOperands());
    if (failed(yields))
      return failure();
    scf::YieldOp::create(code.b, op.getLoc(), *yields);
  }
  return unflatten(op.getResults(), branch.getResults());
}

/// Iterations are shared out among the block's threads, each of which has its own.
LogicalResult Distributor::eachThread(scf::ForallOp op) {
  std::optional<int64_t> count;
  if (op.getRank() == 1 && op.isNormalized() && op.getOutputs().empty())
    count = getConstantIntValue(op.getMixedUpperBound()[0]);
  if (!count || code.isOneThread)
    return op.emitOpError("is spread over threads where it is one loop from zero by one "
                          "up to a constant, in no other");
  Location loc = op.getLoc();
  OpBuilder &b = code.b;
  Value lanes = code.constant(loc, code.threads.lanes);
  Value thread = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, code.warp(), lanes), code.lane());
  OpBuilder::InsertionGuard guard(b);
  int64_t threads = code.threads.lanes * code.threads.warps;
  code.scalars.map(op.getInductionVar(0), thread);
  if (*count != threads) {
    auto loop = scf::ForOp::create(b, loc, thread, code.constant(loc, *count),
                                   code.constant(loc, threads));
    b.setInsertionPointToStart(loop.getBody());
    code.scalars.map(op.getInductionVar(0), loop.getInductionVar());
  }
  code.isOneThread = true;
  LogicalResult result = block(*op.getBody());
  code.isOneThread = false;
  return result;
}

LogicalResult Distributor::warps(WarpsOp op) {
  Location loc = op.getLoc();
  OpBuilder &b = code.b;
  ThreadRange outer = code.threads;
  int64_t outerBarrier = code.barrierId;
  int64_t first = op.getFirst(), count = op.getCount();
  if (first < outer.firstWarp || count < 1 ||
      first + count > outer.firstWarp + outer.warps)
    return op.emitOpError() << "names warps outside [" << outer.firstWarp << ", "
                            << outer.firstWarp + outer.warps << ")";
  Value warp = code.warpOfBlock();
  Value inside = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ult,
      arith::SubIOp::create(b, loc, warp, code.constant(loc, op.getFirst())),
      code.constant(loc, op.getCount()));
  // Named barriers 8 to 15 are the distributor's; the kernel may use 1 to 7.
  std::optional<int64_t> id = code.takeBarriers(1);
  if (!id)
    return op.emitOpError() << "is one warps region too many; there are named barriers "
                               "for eight";
  auto role = RoleOp::create(b, loc, inside, *id, count * code.threads.lanes);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&role.getBody().emplaceBlock());
  code.threads.firstWarp = op.getFirst();
  code.threads.warps = op.getCount();
  code.barrierId = *id;
  LogicalResult result = block(op.getBody().front());
  code.threads = outer;
  code.barrierId = outerBarrier;
  return result;
}
