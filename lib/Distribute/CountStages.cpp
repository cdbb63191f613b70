// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a ring's number of stages is no power of two, a loop along a sum counts stages and
// phases in place of dividing each step's position by it: two comparisons and selections for two
// multiplications of 64 bits, and the stage before this one, which a consumer releases, is a
// value that the loop has anyway.
//
//   scf.for %k = %c0 to %n step %c1 {
//     %at = addi %begin, %k
//     … remui %at, 3 … remui (divui %at, 3), 2 … remui (subi %at, 1), 3 …
//   }
// becomes
//   scf.for … iter_args(%stage = remui %begin, 3, %phase = …, %last = …) {
//     … %stage … %phase … %last …
//     %next = addi %stage, 1
//     %ends = cmpi eq, %next, 3
//     scf.yield select(%ends, 0, %next), select(%ends, xori(%phase, 1), %phase), %stage
//   }
//
// A position that lies some rounds ahead has the same stage, and the same phase or the other one.

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// Where the positions of a ring begin, but for the loop's lower bound (null: at 0), and its
/// number of stages.
using Ring = std::pair<Value, int64_t>;

/// base + induction variable + offset.
struct Position {
  Value base;
  int64_t offset = 0;
};

/// What a use of a position asks of the one that is `behind` (0 or 1) this iteration's: its stage,
/// or the phase of `rounds` rounds later.
struct Use {
  Operation *op;
  bool isPhase;
  int64_t behind, rounds;
};

class StageCounter {
public:
  StageCounter(scf::ForOp loop, Ring ring) : loop(loop), base(ring.first), stages(ring.second) {}
  void collect();
  /// Returns the loop that takes its place.
  scf::ForOp rewrite(RewriterBase &rewriter);

private:
  void add(Operation *op, bool isPhase, Value position, int64_t rounds);
  SmallVector<Value> begin(OpBuilder &b);

  scf::ForOp loop;
  Value base;
  int64_t stages;
  SmallVector<Use> uses;
};
} // namespace

static std::optional<Position> matchPosition(Value value, scf::ForOp loop) {
  Position position;
  for (;;) {
    if (value == loop.getInductionVar())
      return position;
    Operation *op = value.getDefiningOp();
    if (!isa_and_present<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    Value left = op->getOperand(0), right = op->getOperand(1);
    if (std::optional<int64_t> offset = getConstantIntValue(right)) {
      position.offset += isa<arith::AddIOp>(op) ? *offset : -*offset;
      value = left;
      continue;
    }
    if (left == loop.getInductionVar())
      std::swap(left, right);
    if (position.base || !isa<arith::AddIOp>(op) || !loop.isDefinedOutsideOfLoop(left))
      return std::nullopt;
    position.base = left;
    value = right;
  }
}

/// The phase remui (divui %at, N) + rounds, 2: (%at, N, rounds).
static std::optional<std::tuple<Value, int64_t, int64_t>> matchPhase(Operation *op) {
  if (!isa_and_present<arith::RemUIOp>(op) || getConstantIntValue(op->getOperand(1)) != 2)
    return std::nullopt;
  int64_t rounds = 0;
  auto add = op->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (add && getConstantIntValue(add.getRhs()))
    rounds = *getConstantIntValue(add.getRhs());
  auto round = (rounds ? add.getLhs() : op->getOperand(0)).getDefiningOp<arith::DivUIOp>();
  std::optional<int64_t> stages = round ? getConstantIntValue(round.getRhs()) : std::nullopt;
  if (!stages || llvm::isPowerOf2_64(*stages))
    return std::nullopt;
  return std::tuple(round.getLhs(), *stages, rounds);
}

void StageCounter::add(Operation *op, bool isPhase, Value value, int64_t rounds) {
  std::optional<Position> position = matchPosition(value, loop);
  if (!position || position->base != base)
    return;
  rounds += llvm::divideFloorSigned(position->offset, stages);
  int64_t ahead = llvm::mod(position->offset, stages);
  if (ahead == 0)
    uses.push_back({op, isPhase, 0, rounds});
  else if (ahead == stages - 1)
    uses.push_back({op, isPhase, 1, rounds + 1});
}

void StageCounter::collect() {
  loop.getBody()->walk([&](arith::RemUIOp op) {
    if (std::optional phase = matchPhase(op); phase && std::get<1>(*phase) == stages)
      add(op, /*isPhase=*/true, std::get<0>(*phase), std::get<2>(*phase));
    else if (getConstantIntValue(op.getRhs()) == stages)
      add(op, /*isPhase=*/false, op.getLhs(), 0);
  });
}

/// Stage and phase of the first iteration's position, then of the one before it. That of the
/// very first one nobody asks for.
SmallVector<Value> StageCounter::begin(OpBuilder &b) {
  Location loc = loop.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value first = loop.getLowerBound();
  if (base)
    first = getConstantIntValue(first) == 0 ? base : arith::AddIOp::create(b, loc, base, first).getResult();
  SmallVector<Value> counters;
  for (int64_t behind : {0, 1}) {
    // A round and a step ahead of the one before.
    Value at = first;
    if (behind)
      at = arith::AddIOp::create(b, loc, first, constant(stages - 1));
    counters.push_back(arith::RemUIOp::create(b, loc, at, constant(stages)));
    Value round = arith::DivUIOp::create(b, loc, at, constant(stages));
    if (behind)
      round = arith::AddIOp::create(b, loc, round, constant(1));
    counters.push_back(arith::RemUIOp::create(b, loc, round, constant(2)));
  }
  return counters;
}

scf::ForOp StageCounter::rewrite(RewriterBase &rewriter) {
  if (uses.empty())
    return loop;
  Location loc = loop.getLoc();
  // The stage is counted, of the others those that are asked for. A phase becomes the one before.
  auto isCounted = [&](int64_t counter) {
    return counter == 0 || llvm::any_of(uses, [&](const Use &use) {
             return counter == 1 ? use.isPhase : use.behind && counter == 2 + use.isPhase;
           });
  };
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits;
  SmallVector<int64_t> placeOf(4, -1);
  for (auto [counter, init] : llvm::enumerate(begin(rewriter)))
    if (isCounted(counter)) {
      placeOf[counter] = inits.size();
      inits.push_back(init);
    }
  auto yields = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> counters) {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    auto counter = [&](int64_t number) -> Value { return counters[placeOf[number]]; };
    Value next = arith::AddIOp::create(b, loc, counter(0), constant(1));
    Value ends = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, next, constant(stages));
    SmallVector<Value> result{arith::SelectOp::create(b, loc, ends, constant(0), next)};
    if (placeOf[1] >= 0) {
      Value other = arith::XOrIOp::create(b, loc, counter(1), constant(1));
      result.push_back(arith::SelectOp::create(b, loc, ends, other, counter(1)));
    }
    for (int64_t before : {0, 1})
      if (placeOf[before + 2] >= 0)
        result.push_back(counter(before));
    return result;
  };
  auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, yields));
  ValueRange counters = replaced.getRegionIterArgs().take_back(inits.size());
  for (const Use &use : uses) {
    Value value = counters[placeOf[2 * use.behind + use.isPhase]];
    rewriter.setInsertionPoint(use.op);
    if (use.isPhase && use.rounds % 2)
      value = arith::XOrIOp::create(rewriter, loc, value,
                                    arith::ConstantIndexOp::create(rewriter, loc, 1));
    rewriter.replaceOp(use.op, value);
  }
  return replaced;
}

void tilewright::countStages(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (getConstantIntValue(loop.getStep()) == 1)
      loops.push_back(loop);
  });
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp loop : loops) {
    llvm::SetVector<Ring> rings;
    loop.getBody()->walk([&](MbarrierWaitOp wait) {
      if (std::optional phase = matchPhase(wait.getParity().getDefiningOp()))
        if (std::optional<Position> position = matchPosition(std::get<0>(*phase), loop))
          rings.insert({position->base, std::get<1>(*phase)});
    });
    for (Ring ring : rings) {
      StageCounter counter(loop, ring);
      counter.collect();
      loop = counter.rewrite(rewriter);
    }
  }
}
