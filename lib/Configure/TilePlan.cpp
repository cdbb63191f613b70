// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan of tiles says, and the limits; PlanTiles.cpp makes it.

#include "tilewright/Configure/TilePlan.h"
#include "CostModel.h"
#include "Enumerate.h"
#include "Strategy.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Support/ChipFacts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Whether the root is `op`, or computed from it.
static bool isBeforeSum(const KernelInfo &info, Operation *op) {
  SmallVector<Operation *> work{info.getRoot()};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (next == op)
      return true;
    for (Value operand : next->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && seen.insert(producer).second)
        work.push_back(producer);
  }
  return false;
}

int64_t TilePlan::getSlices(const KernelInfo &info, Operation *op) const {
  return clusterSum && !isBeforeSum(info, op) ? clusterSum->parts : 1;
}

SmallVector<int64_t> TilePlan::getVectorSizes(const KernelInfo &info,
                                              Operation *op) const {
  SmallVector<int64_t> sizes;
  int64_t slices = getSlices(info, op);
  for (unsigned number : info.getClasses(op)) {
    bool isSliced = slices > 1 && number == clusterSum->sliced;
    sizes.push_back(isSliced ? classes[number].vector / slices : classes[number].vector);
  }
  return sizes;
}

std::string tilewright::describeLoop(const KernelInfo &info, unsigned loop) {
  return "loop " + std::to_string(loop) + " of " +
         info.getRoot()->getName().getStringRef().str();
}

SmallVector<unsigned> tilewright::pairedLoops(const KernelInfo &info) {
  SmallVector<unsigned> paired;
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands())
      if (bytesOf(input->get()) != input->get())
        paired.push_back(info.getClasses(*input).back());
  return paired;
}

/// Why tiles of packed elements are no whole bytes.
static Refusal whyPairsCut(const KernelInfo &info, const TilePlan &plan) {
  for (unsigned number : pairedLoops(info)) {
    int64_t extent = plan.classes[number].vector;
    if (extent > 0 && extent % 2 == 0)
      continue;
    return refuse(Refused::Indivisible,
                  "two elements of an operand lie in a byte, and the tile has " +
                      Twine(std::max<int64_t>(extent, 1)) + " along its rows");
  }
  return {};
}

/// Why the product in front of the root's is not in whole tiles of the instruction
/// too, or is computed twice.
static Refusal whyChainCut(const KernelInfo &info, LoweringConfigAttr config,
                           const TilePlan &plan) {
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  if (!info.isChained() || plan.subgroup <= 1)
    return {};
  if (!config.getMma())
    return refuse(Refused::Config, "two products in one kernel need a matrix instruction");
  const Contraction &last = *info.getContraction(info.getRoot());
  auto instruction = MatrixInstruction::parse(info.getRoot()->getContext(),
                                              config.getMma().getValue());
  ArrayRef<unsigned> own = info.getClasses(info.getRoot());
  for (unsigned loop : last.n)
    if (plan.classes[own[loop]].loop)
      return refuse(Refused::TileSize,
                    "the tile has " + Twine(plan.classes[own[loop]].step) +
                        " of the result's columns; without all of them the first product "
                        "would be computed again");
  if (config.isForWarpgroups()) // whyNotChained has said the rest
    return {};
  int64_t warps = 1;
  for (unsigned loop : last.n)
    warps *= entry(config.getWarps(), loop, 1);
  for (linalg::LinalgOp op : ArrayRef(products).drop_back()) {
    const Contraction &product = *info.getContraction(op);
    ArrayRef<unsigned> classes = info.getClasses(op);
    if (plan.classes[classes[product.n.front()]].step % (instruction->n * warps) ||
        plan.classes[classes[product.k.front()]].step % instruction->k ||
        !hasTypesOf(op, product, *instruction))
      return refuse(Refused::Indivisible,
                    "the first product's tile is no multiple of the instruction's on " +
                        Twine(warps) + " warps, or of other types");
  }
  return {};
}

/// Why what other ops reduce of the root's product is not in one tile: a block
/// that came back to it would compute the product again.
static Refusal whyReducedCut(const KernelInfo &info, const TilePlan &plan) {
  linalg::LinalgOp root = info.root;
  if (!info.getContraction(root) || plan.subgroup <= 1)
    return {};
  for (auto [loop, type] : llvm::enumerate(root.getIteratorTypesArray())) {
    unsigned number = info.getClasses(root)[loop];
    if (type != utils::IteratorType::parallel || info.classes[number].parallel ||
        !plan.classes[number].loop)
      continue;
    return refuse(Refused::TileSize, "the tile has " + Twine(plan.classes[number].step) +
                                         " elements of " + describeLoop(info, loop) +
                                         ", of which another op of the kernel needs all");
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// What a register tile of a CPU is at most, as it becomes straight code: vectors that live at
/// once, and vectors computed for one step. Either takes LLVM seconds.
static constexpr int64_t kMostVectors = 1024, kMostVectorOps = 8192;
/// Those of a product, for each register: more are no faster, and with ragged edges take a minute.
static constexpr int64_t kMostForRegister = 8;

/// Why the register tile of a CPU is more code than compiles in a reasonable time.
static Refusal whyTooMuchCode(const KernelInfo &info, const TilePlan &plan,
                              LoweringConfigAttr config, const Footprint &footprint,
                              TargetAttr target) {
  auto over = [&](int64_t vectors, int64_t most, const Twine &what,
                  const Twine &reason = "") -> Refusal {
    if (vectors <= most)
      return {};
    return refuse(Refused::Registers, "a register tile " + what + " " + Twine(vectors) +
                                          " vectors, and has " + Twine(most) + " at most" +
                                          reason +
                                          "; make 'thread' smaller, or 'block' where there is "
                                          "none")
        .of(vectors, most);
  };
  linalg::LinalgOp root = info.getRoot();
  int64_t registers = target.getFact("registers", 16);
  if (info.getContraction(root) && !config.getMma())
    if (Refusal why = over(footprint.registers, kMostForRegister * registers, "keeps",
                           ", " + Twine(kMostForRegister) + " for each of " + Twine(registers) +
                               " registers"))
      return why;
  if (Refusal why = over(footprint.registers, kMostVectors, "keeps"))
    return why;
  int64_t bytes = bytesPerElement(root.getDpsInits()[0].getType());
  for (unsigned number : info.getClasses(root))
    bytes *= std::max<int64_t>(1, plan.classes[number].inner);
  if (config.getMma())
    bytes /= MatrixInstruction::parse(config.getContext(), config.getMma())->perWord();
  return over(llvm::divideCeil(bytes, target.getFact("vector_bytes", 32)), kMostVectorOps,
              "computes");
}

/// Why a plan needs more than the target has; `footprint` is the plan's.
static Refusal whyOverLimits(const KernelInfo &info, const TilePlan &plan,
                             LoweringConfigAttr config, const Footprint &footprint,
                             TargetAttr target) {
  auto over = [&](Refused kind, const Twine &what, int64_t need, int64_t limit,
                  const Twine &of = "") -> Refusal {
    if (need <= limit)
      return {};
    return refuse(kind, "needs " + Twine(need) + " " + what + " but " + target.getName() + " has " +
                            Twine(limit) + of)
        .of(need, limit);
  };
  int64_t threadMemory = target.getFact("thread_memory", 0);
  if (plan.chunks)
    if (Refusal why = over(Refused::ThreadMemory, "bytes for sums between chunks",
                           plan.chunks->bytes, threadMemory))
      return why;
  if (plan.panels)
    if (Refusal why = over(Refused::ThreadMemory, "bytes for packed panels", plan.panels->bytes,
                           threadMemory))
      return why;
  int64_t threads = plan.threads + plan.copyThreads;
  if (Refusal why =
          over(Refused::Threads, "threads per block", threads, target.getFact("max_threads", 1)))
    return why;
  std::string shared = "bytes of shared memory";
  if (footprint.scratchBytes)
    shared += " (" + std::to_string(footprint.scratchBytes) +
              " of them to move values between threads)";
  if (Refusal why = over(Refused::SharedMemory, shared, footprint.sharedBytes,
                         target.getFact("shared_memory", 0)))
    return why;
  if (plan.subgroup <= 1)
    return whyTooMuchCode(info, plan, config, footprint, target);
  // Of registers that move between roles the strategy has said what each needs.
  int64_t named = target.getFact("registers", kNamedRegisters),
          registers = config.getRegisters().empty() ? registerLimit(target, threads) : named;
  return over(Refused::Registers, "registers per thread", footprint.registers, registers,
              registers < named ? " for each of " + std::to_string(threads) : std::string());
}

/// A tile is of one entry of a table that names matrices.
static Refusal whyPicksCut(const KernelInfo &info, const TilePlan &plan) {
  for (linalg::LinalgOp op : info.ops)
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (!getPick(input->get()))
        continue;
      unsigned loop = op.getMatchingIndexingMap(input).getDimPosition(0);
      const ClassTile &tile = plan.classes[info.getClasses(op)[loop]];
      if (std::max(tile.step, tile.inner) > 1)
        return refuse(Refused::Neighbours,
                      "a table names the matrices of operand " + Twine(input->getOperandNumber()) +
                          ", and a tile is of several entries");
    }
  return {};
}

OrRefusal<TilePlan> tilewright::fits(const KernelInfo &info, LoweringConfigAttr config,
                                     TargetAttr target) {
  func::FuncOp kernel = info.kernel;
  for (BlockArgument argument : kernel.getArguments())
    if (isa<ShapedType>(argument.getType()) && !strategyOf(info, config, target).readsImages() &&
        getImage(kernel, operandNumber(argument)))
      return refuse(Refused::Layout, "argument " + Twine(argument.getArgNumber()) +
                                         " is pixels of images, which copy engines alone read");
  OrRefusal<TilePlan> plan = planTiles(info, config, target);
  if (!plan)
    return plan;
  if (Refusal why = whyReducedCut(info, *plan))
    return why;
  if (Refusal why = whyChainCut(info, config, *plan))
    return why;
  if (Refusal why = whyPairsCut(info, *plan))
    return why;
  if (Refusal why = whyPicksCut(info, *plan))
    return why;
  plan->footprint = estimate(info, config, *plan, target);
  if (Refusal why = whyOverLimits(info, *plan, config, *plan->footprint, target))
    return why;
  return plan;
}
