// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values a thread holds at once, in kernels of elementwise ops and reductions, of the tiles
// that it has (ThreadTiles.h). Between two points that code cannot be moved across, ptxas computes
// element after element, so that only what is loaded and what is stored counts; at such a point all
// has to be there at once:
//
//   a sum that warps share   what is needed again, the results of all warps, and what is
//                            loaded for the ops behind it, before the block waits
//   a step of a loop         a sum for each element, and the loads of the next steps
//   an exact division, root  both operands, and quotients: where it is not ordinary, code is
//                            called that has registers of its own
//   the edge of a tensor     of each access an address, and whether it is made
//
// Registers that no block more would need are free: ptxas loads ahead, and computes elements
// side by side, as far as they go. Constants here are counted of what ptxas 13.0 makes of the
// suites' kernels with many of their configs (perf/static/plans).

#include "LiveValues.h"
#include "BodyCalls.h"
#include "Bound.h"
#include "CostModel.h"
#include "Footprint.h"
#include "ThreadTiles.h"
#include "tilewright/Analysis/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Registers of every thread: the stack pointer and two that ptxas keeps, and where the thread
/// is; of each tensor an address, two words.
static constexpr int64_t kThread = 4, kAddress = 2;
/// Those of the code that computes what is not ordinary of an exact division or root.
static constexpr int64_t kCalled = 6, kRemainder = 20;
/// Words under way in a loop whose steps are unrolled in part; in one that is unrolled
/// altogether, as those of so many steps are, with its sums.
static constexpr int64_t kAhead = 20, kUnrolled = 64, kFewSteps = 16;
/// Temporaries of functions of the math dialect (polynomials) beside what they are computed
/// from, and registers of each element that is computed side by side with others.
static constexpr int64_t kFunction = 8, kSideBySide = 3;
/// A maximum, a sum, what the sum is scaled by, and the element itself.
static constexpr int64_t kOnline = 4;
/// What steps of these, each of which needs the last one's, fill of the registers that are free.
static constexpr int64_t kFilled = 48;

/// What ptxas takes of `registers` where each value is used up as it comes; no more than these
/// are put in another order.
static int64_t oneByOne(int64_t registers, int64_t free) {
  constexpr int64_t kReordered = 160;
  return registers <= kReordered ? std::min(registers, free) : registers;
}

namespace {
class LiveValues {
public:
  LiveValues(const KernelInfo &info, const TilePlan &plan, TargetAttr target,
             OpOperand &leading);
  /// `ahead`: with what ptxas takes only where there are registers left.
  int64_t count(bool ahead);

private:
  bool isWalked(linalg::LinalgOp op) const {
    return llvm::any_of(info.getClasses(op), [&](unsigned number) {
      return !info.classes[number].parallel && plan.classes[number].loop;
    });
  }
  int64_t stepsOf(linalg::LinalgOp op) const;
  /// Whether only the launch knows how many steps it has.
  bool isOpen(linalg::LinalgOp op) const {
    return llvm::any_of(info.getClasses(op), [&](unsigned number) {
      return !info.classes[number].parallel && plan.classes[number].loop &&
             ShapedType::isDynamic(info.classes[number].extent);
    });
  }
  /// Operands in memory that `op` or what it is computed from element by element reads.
  SmallVector<OpOperand *> loadsOf(linalg::LinalgOp op) const;
  int64_t wordsOfLoads(linalg::LinalgOp op) const;
  /// Addresses and the constant, as often as one access has it.
  int64_t wordsOfFill(OpOperand &init) const;
  /// What the body of `op` reads where a number says, each element by an access of its own.
  int64_t wordsExtracted(linalg::LinalgOp op) const;
  /// Where an element of a result is and where the result ends, dim by dim, if tiles of it may
  /// end beside what there is.
  int64_t wordsOfBounds(OpOperand &init) const;
  /// What is there before op `index` and needed behind it.
  int64_t wordsAcross(size_t index) const;
  /// What is loaded for the ops between op `index` and the next point.
  int64_t wordsBehind(size_t index) const;
  bool hasCallOfElements(linalg::LinalgOp op) const;
  int64_t ofReduction(size_t index) const;
  int64_t ofBody(size_t index) const;
  int64_t ofSegment() const;

  const KernelInfo &info;
  const TilePlan &plan;
  TargetAttr target;
  /// What a thread has of each tile.
  ThreadTiles tiles;
  /// Registers that no block more would need, and those of every thread.
  int64_t free = 0, fixed = kThread;
  bool ahead = true;
};
} // namespace

/// The first of the largest tiles that are read, or what is written element by element if that
/// is larger.
static OpOperand *leadingOperand(const KernelInfo &info, const TilePlan &plan) {
  OpOperand *leading = nullptr;
  int64_t most = -1;
  auto take = [&](OpOperand &operand) {
    if (int64_t elements = tileElements(info, plan, operand); elements > most)
      leading = &operand, most = elements;
  };
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isa<BlockArgument>(input->get()) && isa<RankedTensorType>(input->get().getType()))
        take(*input);
  if (!leading || !info.getRoot().getNumReductionLoops())
    for (OpOperand &init : info.getRoot().getDpsInitsMutable())
      take(init);
  return leading;
}

LiveValues::LiveValues(const KernelInfo &info, const TilePlan &plan, TargetAttr target,
                       OpOperand &leading)
    : info(info), plan(plan), target(target), tiles(info, plan, target, leading),
      free(freeRegisters(plan, target)) {
  llvm::SmallPtrSet<Value, 8> tensors;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (isLoaded(*input))
        tensors.insert(input->get());
  fixed += kAddress * int64_t(tensors.size() + info.results.size());
}

int64_t LiveValues::stepsOf(linalg::LinalgOp op) const {
  int64_t steps = 1;
  for (unsigned number : info.getClasses(op))
    if (const LoopClass &loop = info.classes[number];
        !loop.parallel && plan.classes[number].loop)
      steps *= llvm::divideCeil(llvm::divideCeil(nominalExtent(loop), loop.parts),
                                plan.classes[number].step * plan.classes[number].terms);
  return steps;
}

SmallVector<OpOperand *> LiveValues::loadsOf(linalg::LinalgOp op) const {
  SmallVector<OpOperand *> loads;
  SmallVector<linalg::LinalgOp> work{op};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!work.empty())
    for (OpOperand *input : work.pop_back_val().getDpsInputOperands()) {
      if (!seen.insert(input->get()).second)
        continue;
      if (isLoaded(*input))
        loads.push_back(input);
      else if (auto producer = input->get().getDefiningOp<linalg::LinalgOp>();
               producer && !producer.getNumReductionLoops())
        work.push_back(producer);
    }
  return loads;
}

int64_t LiveValues::wordsExtracted(linalg::LinalgOp op) const {
  int64_t words = 0;
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>())
    words += tiles.wordsOf(info.getClasses(op), extract.getType());
  return words;
}

int64_t LiveValues::wordsOfBounds(OpOperand &init) const {
  int64_t each = getIndexBits(info.kernel) / 16;
  int64_t dims = llvm::count_if(info.getClasses(init), [&](unsigned number) {
    return ShapedType::isDynamic(info.classes[number].extent) && plan.classes[number].vector > 1;
  });
  // Where it is along one of them is its address.
  return dims ? each * dims - each / 2 : 0;
}

int64_t LiveValues::wordsOfLoads(linalg::LinalgOp op) const {
  int64_t words = 0;
  for (OpOperand *load : loadsOf(op))
    words += tiles.wordsInMemory(*load);
  return words;
}

int64_t LiveValues::wordsOfFill(OpOperand &init) const {
  int64_t access = target.getFact("access_bytes", 16) / 4;
  int64_t words = llvm::divideCeil(tiles.elementsOf(info.getClasses(init)) *
                                       bytesPerElement(init.get().getType()),
                                   4);
  int64_t beyond = llvm::divideCeil(words, access) - 1;
  bool isOpen = llvm::any_of(info.getClasses(init), [&](unsigned number) {
    return ShapedType::isDynamic(info.classes[number].extent);
  });
  // At an edge that only the launch knows, each access beyond the first one has an address and a
  // number of elements.
  return isOpen ? std::min(words, access) + (kAddress + 1) * beyond
                : std::min(kAddress * beyond, kAddress);
}

bool LiveValues::hasCallOfElements(linalg::LinalgOp op) const {
  auto ofRows = bodyOfRows(op, [&](OpOperand &input) { return isOfRow(info, op, input); });
  return !op.getNumReductionLoops() &&
         llvm::any_of(op.getBlock()->without_terminator(), [&](Operation &inner) {
           return isCall(&inner) && !ofRows.contains(&inner);
         });
}

int64_t LiveValues::wordsAcross(size_t index) const {
  int64_t words = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (size_t later = index + 1; later < info.ops.size(); ++later) {
    linalg::LinalgOp op = info.ops[later];
    // In steps of a loop it is read again.
    if (isWalked(op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!isa<RankedTensorType>(input->get().getType()) || !seen.insert(input->get()).second)
        continue;
      ArrayRef<linalg::LinalgOp> sofar = ArrayRef(info.ops).take_front(index + 1);
      bool isThere = llvm::any_of(sofar, [&](linalg::LinalgOp before) {
        return llvm::is_contained(before->getOperands(), input->get()) ||
               (before != info.ops[index] && before == input->get().getDefiningOp());
      });
      if (isThere && !matchPattern(input->get(), m_Constant()))
        words += tiles.wordsOf(info.getClasses(*input), input->get().getType());
    }
  }
  return words;
}

int64_t LiveValues::wordsBehind(size_t index) const {
  int64_t words = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (linalg::LinalgOp before : ArrayRef(info.ops).take_front(index + 1))
    seen.insert(before->operand_begin(), before->operand_end());
  for (linalg::LinalgOp op : ArrayRef(info.ops).drop_front(index + 1)) {
    if (isWalked(op))
      break;
    for (OpOperand *input : op.getDpsInputOperands())
      if (isLoaded(*input) && seen.insert(input->get()).second)
        words += tiles.wordsInMemory(*input);
    if (op.getNumReductionLoops() || hasCall(op))
      break;
  }
  return words;
}

int64_t LiveValues::ofReduction(size_t index) const {
  linalg::LinalgOp op = info.ops[index];
  int64_t elements = tiles.elementsOf(info.getClasses(op)), sums = 0, results = 0, sharing = 1;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    sums += tiles.wordsOf(info.getClasses(op), init.get().getType());
    results += tiles.wordsOf(info.getClasses(init), init.get().getType());
  }
  for (auto [iterator, number] :
       llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
    if (iterator == utils::IteratorType::reduction)
      sharing *= tiles.warps[number];
  int64_t loads = wordsOfLoads(op), edges = tiles.countAtEdges(loadsOf(op)), registers = fixed;
  if (isWalked(op)) {
    int64_t steps = stepsOf(op);
    for (unsigned number : info.getClasses(op))
      loads *= plan.classes[number].terms;
    // Addresses go on with the steps; whether an access is made does, too.
    registers += edges / 2;
    int64_t all = std::max(loads * steps, sums + loads);
    // What is narrow is widened, and added, as it comes.
    bool isNarrow = llvm::any_of(loadsOf(op), [](OpOperand *load) {
      return bytesPerElement(load->get().getType()) < 4;
    });
    // Steps at an edge, whose loads are made or not, stay a loop. No more are under way in it, but
    // for those of several results of one operand.
    bool isOneByOne = edges && (results == 1 || matchProduct(op));
    bool isUnrolled = !isNarrow && !edges && steps > kFewSteps / 2 && steps <= kFewSteps &&
                      elements >= kFewSteps;
    bool isChain = plan.onlineSums || hasFunction(op) || op.hasIndexSemantics();
    // Nor are those unrolled that read each word alone, if it is there.
    int64_t beyond = edges && edges >= loads ? 0 : kAhead;
    // Where registers are short, one access after the other is made.
    if (!ahead)
      loads = std::min<int64_t>(loads, target.getFact("access_bytes", 16) / 4);
    else
      loads = std::max(isNarrow ? 0 : isOneByOne ? std::min(loads, kAhead) : loads,
                       isUnrolled ? kUnrolled - sums : beyond);
    int64_t step = plan.onlineSums ? kOnline * elements : std::min(sums + loads, all);
    // ptxas unrolls in part what ends where only the launch knows, as it does many steps.
    int64_t filled = isOpen(op) ? free : std::min(free, registers + all);
    filled = std::min(filled, isChain ? kFilled : free);
    registers = std::max(registers + step, ahead ? filled : 0);
  } else {
    // What is not needed again is added as it comes.
    registers = std::max(oneByOne(registers + loads + edges + edges / 2, free),
                         registers + results);
  }
  int64_t across = wordsAcross(index);
  // Results of rows that are read again are each thread's; others are some thread's each.
  int64_t gathered = 0;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    int64_t words = std::max<int64_t>(1, bytesPerElement(init.get().getType()) / 4);
    gathered += llvm::divideCeil(tileElements(info, plan, init) * words, plan.threads);
  }
  gathered = across ? results : std::min(results, gathered);
  int64_t shared = fixed + across;
  if (ahead)
    shared += wordsBehind(index) + (sharing > 1 ? sharing * gathered : 0);
  return std::max(registers, shared);
}

/// What the body of an op has computed or read before `at`, and needs there or behind it.
static SmallVector<Value> liveAt(Operation *at) {
  Block *block = at->getBlock();
  auto isLive = [&](Value value, bool isRead) {
    bool isThere = !isRead, isNeeded = false;
    for (Operation *user : value.getUsers()) {
      isThere |= user == at || user->isBeforeInBlock(at);
      isNeeded |= user == at || at->isBeforeInBlock(user);
    }
    return isThere && isNeeded;
  };
  SmallVector<Value> live;
  for (BlockArgument argument : block->getArguments())
    if (isLive(argument, /*isRead=*/true))
      live.push_back(argument);
  for (Operation &op : llvm::make_range(block->begin(), at->getIterator()))
    for (Value result : op.getResults())
      if (!matchPattern(result, m_Constant()) && isLive(result, /*isRead=*/false))
        live.push_back(result);
  return live;
}

int64_t LiveValues::ofBody(size_t index) const {
  linalg::LinalgOp op = info.ops[index];
  auto ofRows = bodyOfRows(op, [&](OpOperand &input) { return isOfRow(info, op, input); });
  int64_t elements = tiles.elementsOf(info.getClasses(op)), rows = 1, most = 0;
  for (unsigned number : info.getClasses(op))
    if (info.classes[number].parallel)
      rows *= tiles.own[number];
  int64_t inputs = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (isLoaded(*input))
      inputs += tiles.wordsInMemory(*input);
    else if (isa<RankedTensorType>(input->get().getType()))
      inputs += tiles.wordsOf(info.getClasses(*input), input->get().getType());
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (!isCall(&inner))
      continue;
    int64_t called = isa<arith::RemFOp>(inner) ? kRemainder : kCalled;
    int64_t registers = fixed + called + wordsAcross(index);
    if (ofRows.contains(&inner)) {
      registers += inputs + 2 * rows;
    } else {
      int64_t each = std::max<int64_t>(1, bytesPerElement(inner.getResult(0).getType()) / 4);
      // Half of the quotients have registers of their own.
      registers += ahead ? elements * each / 2 : 0;
      for (Value value : liveAt(&inner)) {
        auto argument = dyn_cast<BlockArgument>(value);
        OpOperand *input = argument ? op.getMatchingOpOperand(argument) : nullptr;
        bool isRow = argument ? isOfRow(info, op, *input)
                              : ofRows.contains(value.getDefiningOp());
        int64_t words = std::max<int64_t>(1, bytesPerElement(value.getType()) / 4);
        registers += isRow   ? rows
                     : input ? tiles.wordsOf(info.getClasses(*input), value.getType())
                             : elements * words;
      }
    }
    most = std::max(most, registers);
  }
  return most;
}

/// Of ops without such points: what is loaded and what is stored, and elements side by side.
int64_t LiveValues::ofSegment() const {
  int64_t loads = 0, stores = 0, filled = 0, elements = 0, edges = 0, bounds = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  bool isComputed = false, isConverted = false;
  for (linalg::LinalgOp op : info.ops) {
    if (op.getNumReductionLoops())
      continue;
    for (OpOperand *input : op.getDpsInputOperands())
      if (isLoaded(*input) && seen.insert(input->get()).second)
        loads += tiles.wordsInMemory(*input), edges = std::max(edges, tiles.countAtEdges(*input));
    loads += wordsExtracted(op);
    elements = std::max(elements, tiles.elementsOf(info.getClasses(op)));
    isComputed |= hasFunction(op);
    isConverted |= convertsToFloat8(op, target);
  }
  for (OpResult result : info.results) {
    auto op = cast<linalg::LinalgOp>(result.getOwner());
    OpOperand &init = *op.getDpsInitOperand(result.getResultNumber());
    if (isa<linalg::FillOp>(op.getOperation()))
      filled += wordsOfFill(init);
    else
      stores += tiles.wordsInMemory(init);
    bounds = std::max(bounds, wordsOfBounds(init));
  }
  // What is widened is stored as it is computed. Each access at an edge has an address, half
  // of them a register for whether it is made; of sizes that are known all of that is.
  bool isKnown = llvm::none_of(info.classes, [](const LoopClass &loopClass) {
    return ShapedType::isDynamic(loopClass.extent);
  });
  edges = edges ? edges + edges / 2 : bounds;
  loads = oneByOne(fixed + loads + (isKnown ? edges : 0), free) - fixed;
  stores = std::min(stores, loads + target.getFact("access_bytes", 16) / 4);
  int64_t registers = fixed + filled + std::max(stores, loads) + (isKnown ? 0 : edges);
  if (!ahead)
    return registers;
  int64_t sideBySide = fixed + loads + (loads < elements ? kSideBySide : 1) * elements;
  // Of elements that several words hold together.
  if (isConverted && loads < elements)
    registers = std::max(registers, std::min(free, sideBySide));
  if (!isComputed)
    return registers;
  return std::max(registers + kFunction, std::min(free, sideBySide));
}

int64_t LiveValues::count(bool withAhead) {
  int64_t registers = 0;
  ahead = withAhead;
  for (auto [index, op] : llvm::enumerate(info.ops))
    registers = std::max(registers, linalg::LinalgOp(op).getNumReductionLoops()
                                        ? ofReduction(index)
                                        : ofBody(index));
  bool isCut = llvm::any_of(info.ops, [&](linalg::LinalgOp op) { return hasCallOfElements(op); });
  return isCut || isWalked(info.ops.back()) ? registers : std::max(registers, ofSegment());
}

int64_t tilewright::countLiveRegisters(const KernelInfo &info, const TilePlan &plan,
                                       TargetAttr target, OpOperand *leading) {
  LiveValues values(info, plan, target, leading ? *leading : *leadingOperand(info, plan));
  return std::max(values.count(/*ahead=*/false),
                  std::min(values.count(/*ahead=*/true), registerLimit(target, plan.threads)));
}
