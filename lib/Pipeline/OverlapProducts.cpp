// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two products of a loop that are one behind the other (attention): the second one of a
// step runs beside the first one of the next, and while what lies between them (the
// softmax) is computed.
//
//   scf.for %key = %lb to %ub step %c iter_args(%max, %out, %p) {
//     %k = wait %keys[%p];   %s = mma_wait 0 (mma %q, %k, %zero);   release %keys[%p]
//     … softmax of %s: %powers, %shrink …
//     %v = wait %values[%p]; %o = mma_wait 0 (mma %powers, %v, %out * %shrink); release %values[%p]
//   }
// becomes, with one step in front of the loop and one product behind it (and all of it in an
// `scf.if`, where the loop may have no step),
//   … softmax of the first step …
//   scf.for %key = %lb + %c to %ub step %c iter_args(%max, %out, %p, %powers, %shrink, %before) {
//     %k = wait %keys[%p];        %s = mma %q, %k, %zero
//     %v = wait %values[%before]; %o = mma %powers, %v, %out * %shrink
//     mma_wait 1 (%s);            release %keys[%p]
//     … softmax of %s …
//     mma_wait 0 (%o);            release %values[%before]
//   }
//   … the last step's second product …
//
// Powers are cast to the instruction's type behind the second wait: until then the
// registers of the step before are read. Where registers are left it is the next step that casts
// them, before its first product starts: an operand in registers that one loop leaves to another
// (masked steps behind others) is moved in each step, for it has to lie in a row.

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Pipeline/Pipeline.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// What a step is made of: `back`, the second product and what only it needs, and all
/// else.
struct Step {
  MmaOp first, second;
  MmaWaitOp firstDone, secondDone;
  /// The number of the loop's value that the second product adds to.
  unsigned sums = 0;
  SetVector<Operation *> back;
  /// What the back takes from the front, and of these what is cast to its operand.
  SetVector<Value> crossing;
  arith::TruncFOp cast;
  /// Whether the next step casts.
  bool castsNext = false;
};

class Overlap {
public:
  Overlap(scf::ForOp loop, Step step) : loop(loop), step(std::move(step)) {}
  void write();

private:
  void cloneFront(OpBuilder &b, IRMapping &mapping);
  Value cloneBack(OpBuilder &b, IRMapping &mapping);
  SmallVector<Value> rotate(OpBuilder &b);
  void writeBody(OpBuilder &b, ValueRange arguments, IRMapping &front);
  SmallVector<Value> carry(IRMapping &front, Value sums);
  IRMapping mapBack(ValueRange carried);

  scf::ForOp loop;
  Step step;
};

} // namespace

/// The wait that a product alone goes through.
static MmaWaitOp waitOf(MmaOp product) {
  if (!product->hasOneUse())
    return {};
  auto wait = dyn_cast<MmaWaitOp>(*product->user_begin());
  return wait && wait->getBlock() == product->getBlock() && wait.getNumOperands() == 1
             ? wait
             : MmaWaitOp();
}

/// Whether a thread holds few sums of both products: of 128 and more, powers that have not been
/// cast were spilled; so they were of 96 where the role reads of memory where its loops end.
static bool leavesRegisters(scf::ForOp loop, const Step &step) {
  constexpr int64_t kLanes = 32;
  auto role = loop->getParentOfType<WarpsOp>();
  bool readsEnds =
      role.walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  int64_t sums = 0;
  for (MmaOp product : {step.first, step.second})
    sums += cast<VectorType>(product.getType()).getNumElements();
  return sums <= (readsEnds ? 80 : 96) * kLanes * int64_t(role.getCount());
}

static std::optional<Step> findStep(scf::ForOp loop) {
  SmallVector<MmaOp> products(loop.getBody()->getOps<MmaOp>());
  if (products.size() != 2)
    return std::nullopt;
  Step step;
  step.first = products[0], step.second = products[1];
  step.firstDone = waitOf(step.first), step.secondDone = waitOf(step.second);
  auto stage = step.second.getB().getDefiningOp<WaitOp>();
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  if (!step.firstDone || !step.secondDone || !stage ||
      !step.secondDone->hasOneUse() || *step.secondDone->user_begin() != yield)
    return std::nullopt;
  step.sums = step.secondDone->use_begin()->getOperandNumber();
  step.back.insert(stage);
  for (Operation &op : *loop.getBody())
    if (auto release = dyn_cast<ReleaseOp>(op);
        release && release.getRing() == stage.getRing())
      step.back.insert(release);
  // What becomes of the sums before they are added to.
  SmallVector<Value> work{loop.getRegionIterArgs()[step.sums]};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (user->getBlock() != loop.getBody() || user == yield)
        return std::nullopt;
      if (step.back.insert(user) && user != step.second)
        llvm::append_range(work, user->getResults());
    }
  if (!step.back.contains(step.second))
    return std::nullopt;
  step.back.insert(step.secondDone);
  // Rows are carried rather than what repeats them.
  for (Operation &op : llvm::reverse(*loop.getBody()))
    if (isa<vector::BroadcastOp, vector::ShapeCastOp>(op) &&
        llvm::all_of(op.getUsers(),
                     [&](Operation *user) { return step.back.contains(user); }))
      step.back.insert(&op);
  for (Operation *op : step.back)
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      bool isInside = source ? source->getBlock() == loop.getBody()
                             : operand.getParentBlock() == loop.getBody();
      if (isInside && !step.back.contains(source) &&
          operand != loop.getRegionIterArgs()[step.sums])
        step.crossing.insert(operand);
    }
  step.cast = step.second.getA().getDefiningOp<arith::TruncFOp>();
  if (step.cast && (!step.crossing.contains(step.cast.getResult()) || !step.cast->hasOneUse()))
    step.cast = {};
  if (step.cast && leavesRegisters(loop, step)) {
    step.castsNext = true;
    step.crossing.remove(step.cast.getResult());
    step.crossing.insert(step.cast.getIn());
    step.back.insert(step.cast);
  }
  return step;
}

/// All of a step but the second product.
void Overlap::cloneFront(OpBuilder &b, IRMapping &mapping) {
  for (Operation &op : loop.getBody()->without_terminator())
    if (!step.back.contains(&op))
      b.clone(op, mapping);
}

/// The second product of a step; returns its sums.
Value Overlap::cloneBack(OpBuilder &b, IRMapping &mapping) {
  for (Operation &op : loop.getBody()->without_terminator())
    if (step.back.contains(&op))
      b.clone(op, mapping);
  return mapping.lookup(step.secondDone.getResult(0));
}

/// What a step leaves to the next: the loop's values, with `sums` of the second product,
/// and what that product takes.
SmallVector<Value> Overlap::carry(IRMapping &front, Value sums) {
  SmallVector<Value> values;
  for (auto [number, value] : llvm::enumerate(loop.getYieldedValues()))
    values.push_back(number == step.sums ? sums : front.lookupOrDefault(value));
  for (Value value : step.crossing)
    values.push_back(front.lookupOrDefault(value));
  return values;
}

/// For the second product of the step that left `carried`.
IRMapping Overlap::mapBack(ValueRange carried) {
  IRMapping mapping;
  size_t own = loop.getNumRegionIterArgs();
  mapping.map(loop.getRegionIterArgs()[step.sums], carried[step.sums]);
  for (auto [number, value] : llvm::enumerate(step.crossing))
    mapping.map(value, carried[own + number]);
  return mapping;
}

void Overlap::writeBody(OpBuilder &b, ValueRange arguments, IRMapping &front) {
  Location loc = loop.getLoc();
  IRMapping back = mapBack(arguments);
  Operation *done = step.secondDone;
  if (step.castsNext)
    b.clone(*step.cast, back);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (step.back.contains(&op) || &op == step.cast)
      continue;
    if (&op != step.firstDone) {
      b.clone(op, front);
      continue;
    }
    for (Operation &later : loop.getBody()->without_terminator())
      if (step.back.contains(&later) && !isa<ReleaseOp>(later) && &later != done &&
          &later != step.cast)
        b.clone(later, back);
    auto wait = cast<MmaWaitOp>(b.clone(op, front));
    wait.setPending(1);
  }
  SmallVector<Value> values{back.lookup(step.second.getResult())};
  if (step.cast)
    values.push_back(front.lookup(step.cast.getIn()));
  auto wait = MmaWaitOp::create(b, loc, TypeRange(ValueRange(values)), 0, values);
  for (Operation *op : step.back)
    if (isa<ReleaseOp>(op))
      b.clone(*op, back);
  if (step.castsNext) {
    front.map(step.cast.getIn(), wait.getResult(1));
  } else if (step.cast) {
    IRMapping late(front);
    late.map(step.cast.getIn(), wait.getResult(1));
    b.clone(*step.cast, late);
    front.map(step.cast.getResult(), late.lookup(step.cast.getResult()));
  }
  scf::YieldOp::create(b, loc, carry(front, wait.getResult(0)));
}

/// The rotated loop with what stands in front of and behind it; its values.
SmallVector<Value> Overlap::rotate(OpBuilder &b) {
  Location loc = loop.getLoc();
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  first.map(loop.getRegionIterArgs(), loop.getInitArgs());
  cloneFront(b, first);
  Value second =
      b.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
  auto rotated = scf::ForOp::create(b, loc, second, loop.getUpperBound(), loop.getStep(),
                                    carry(first, loop.getInitArgs()[step.sums]));
  IRMapping front;
  front.map(loop.getInductionVar(), rotated.getInductionVar());
  front.map(loop.getRegionIterArgs(),
            rotated.getRegionIterArgs().take_front(loop.getNumRegionIterArgs()));
  OpBuilder inside = OpBuilder::atBlockBegin(rotated.getBody());
  writeBody(inside, rotated.getRegionIterArgs(), front);
  // A limit may lie in front of the second step.
  rotated.walk([&](arith::CmpIOp whole) {
    if (!whole->hasAttr(kWholeAttr) || !rotated.isDefinedOutsideOfLoop(whole.getRhs()))
      return;
    OpBuilder before(rotated);
    whole->setOperand(1,
                      before.createOrFold<arith::MaxSIOp>(loc, whole.getRhs(), second));
  });
  IRMapping last = mapBack(rotated.getResults());
  Value sums = cloneBack(b, last);
  SmallVector<Value> values(
      rotated.getResults().take_front(loop.getNumRegionIterArgs()));
  values[step.sums] = sums;
  return values;
}

void Overlap::write() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         upper = getConstantIntValue(loop.getUpperBound());
  SmallVector<Value> values;
  if (lower && upper && *lower < *upper) {
    values = rotate(b);
  } else {
    Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), any,
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder inside = OpBuilder::atBlockEnd(branch.thenBlock());
    scf::YieldOp::create(inside, loc, rotate(inside));
    inside = OpBuilder::atBlockEnd(branch.elseBlock());
    scf::YieldOp::create(inside, loc, loop.getInitArgs());
    values = branch.getResults();
  }
  loop.replaceAllUsesWith(values);
  loop->erase();
}

/// Whether `loop` has two products, of which one multiplies what becomes of the other. Those
/// of a dual product are only carried.
static bool chainsProducts(scf::ForOp loop) {
  auto products = loop.getBody()->getOps<MmaOp>();
  return llvm::range_size(products) == 2 && llvm::none_of(products, [&](MmaOp product) {
           return llvm::is_contained(product->getUsers(), loop.getBody()->getTerminator());
         });
}

void tilewright::overlapProducts(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (loop->getParentOfType<WarpsOp>() && chainsProducts(loop))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    std::optional<Step> step = findStep(loop);
    if (step)
      Overlap(loop, *step).write();
    addExplanation(kernel, step ? "the second product of a step runs beside the first of the next, "
                                  "and the work between them"
                                : "each product of a step is waited for");
  }
}

namespace {
struct OverlapProductsPass
    : tilewright::impl::OverlapProductsPassBase<OverlapProductsPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      overlapProducts(getOperation());
  }
};
} // namespace
