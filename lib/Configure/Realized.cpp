// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether later stages carry out all that a pinned config says in the fields that its
// strategy has (Fields.cpp). `fits` compares with the target's limits; here is what a kernel,
// or a target, has no use for, and tiles that warps and lanes cannot divide among themselves:
//
//   stages = 4              on a target without asynchronous copies
//   promote = [2]           of a product whose operands are 0 and 1
//   warps = [4, 1, 1]       of a tile with two rows

#include "Cpu/Cpu.h"
#include "Enumerate.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

static Refusal checkPromote(const ScheduleStrategy &strategy, const KernelInfo &info,
                            LoweringConfigAttr config) {
  if (config.getPromote().empty() || strategy.keepsRows())
    return {};
  const Contraction *product = nullptr;
  if (strategy.contracts())
    product = info.getContraction(info.getRoot());
  if (!product)
    return refuse(Refused::Config, "'promote' is for contractions whose operands threads share; "
                                   "leave it out");
  auto describe = [&](unsigned number) {
    return numberOperand(info.getRoot()->getOpOperand(number));
  };
  SmallVector<int64_t> seen;
  for (int64_t number : config.getPromote()) {
    if (llvm::is_contained(seen, number))
      return refuse(Refused::Config, "'promote' names operand " + Twine(number) + " twice");
    if (number != product->a && number != product->b)
      return refuse(Refused::Config, "'promote' names operand " + Twine(number) +
                                         "; the operands are " +
                                         describe(std::min(product->a, product->b)) + " and " +
                                         describe(std::max(product->a, product->b)));
    seen.push_back(number);
  }
  return {};
}

/// Why the operand that 'promote' leaves out cannot be read where it is.
static Refusal checkReadRows(const KernelInfo &info, LoweringConfigAttr config) {
  unsigned columns = matchContractionByRows(info.getRoot())->b;
  if (config.getPromote().front() != columns)
    return refuse(Refused::Config, "a CPU packs both operands of a contraction, none, or " +
                                       numberOperand(info.getRoot()->getOpOperand(columns)) +
                                       ", whose rows are vectors; 'promote' has the other one");
  if (config.getMma())
    return refuse(Refused::Config, "'mma' multiplies what is packed; 'promote' has one operand");
  if (whyNotPacked(info))
    return {};
  if (Refusal why = whyNoRowsInPlace(info))
    return why.after("'promote' has one operand, and the other cannot be read where it is: ");
  return {};
}

Refusal tilewright::checkPacked(const ScheduleStrategy &strategy, const KernelInfo &info,
                                LoweringConfigAttr config) {
  if (config.getPromote().empty())
    return {};
  if (Refusal why = checkPromote(strategy, info, config))
    return why;
  if (config.getPromote().size() == 1)
    if (Refusal why = checkReadRows(info, config))
      return why;
  const Contraction &product = *info.getContraction(info.getRoot());
  if (product.k.size() == 2) {
    // Chunks are whole steps of the outer loop.
    unsigned inner = product.k.back();
    int64_t block = entry(config.getBlock(), inner, 0);
    int64_t extent = info.classes[info.getClasses(info.getRoot())[inner]].extent;
    if (block && block < extent)
      return refuse(Refused::TileSize,
                    "the sum runs over two loops, of the inner one of which 'block' has " +
                        Twine(block) + " of " + Twine(extent) +
                        " elements; make it 0, all of them");
  }
  unsigned k = product.k.front();
  int64_t step = entry(config.getThread(), k, 0);
  int64_t chunk = entry(config.getBlock(), k, 0);
  int64_t extent = info.classes[info.getClasses(info.getRoot())[k]].extent;
  if (!ShapedType::isDynamic(extent) && extent <= step && product.k.size() == 1)
    return refuse(Refused::Extents, "'thread' has " + Twine(step) +
                                        " elements of the sum, which is " + Twine(extent) +
                                        " long; packed operands have several steps");
  if (step <= 0 || chunk % step)
    return refuse(Refused::Indivisible, "a chunk of the sum has " + Twine(chunk) +
                                            " elements ('block'), which is no multiple of the " +
                                            Twine(step) + " of a step ('thread')");
  return {};
}

static Refusal checkStages(const ScheduleStrategy &strategy, const KernelInfo &info,
                           LoweringConfigAttr config, TargetAttr target) {
  if (strategy.hasRoles()) // checkPlan has said all of it
    return {};
  int64_t stages = config.getStages();
  std::string count = "'stages' is " + std::to_string(stages) + ", but ";
  if (stages > 1 && config.getPromote().empty())
    return refuse(Refused::Config, count + "no operand goes through shared memory ('promote')");
  if (stages > 2 && !config.getMma())
    return refuse(Refused::Config, count + "without matrix instructions there are at most 2");
  if (stages > 2 && !target.has("async_copy"))
    return refuse(Refused::Target, count + "without asynchronous copies, which " +
                                       target.getName() + " does not have, there are at most 2");
  if (stages > 2 && isRegisterStaged(info, target))
    return refuse(Refused::Layout, count + "an operand is computed, or transposed, on its way "
                                           "through registers, and then there are at most 2");
  return {};
}

/// Rows of tiles lie side by side where there are tiles along two loops, of one tile or of more.
static Refusal checkRaster(const KernelInfo &info, LoweringConfigAttr config) {
  if (config.getRaster() == 1)
    return {};
  llvm::SmallDenseSet<unsigned> spread;
  for (unsigned number : info.getClasses(info.getRoot()))
    if (info.classes[number].parallel)
      spread.insert(number);
  if (spread.size() > 1)
    return {};
  return refuse(Refused::Config, "'raster' is " + Twine(config.getRaster()) +
                                     ", but there are tiles along " +
                                     (spread.empty() ? "no loop" : "one loop only") +
                                     "; leave it out");
}

/// Layouts spread powers of two.
static Refusal checkPowers(const ScheduleStrategy &strategy, const KernelInfo &info,
                           LoweringConfigAttr config) {
  std::optional<MatrixLoops> loops;
  if (strategy.hasRoles())
    loops = findMatrixLoops(*info.getContraction(info.getRoot()), config);
  for (auto [key, values] :
       {std::pair<StringRef, ArrayRef<int64_t>>{"block", config.getBlock()},
        {"warps", config.getWarps()}})
    for (auto [loop, value] : llvm::enumerate(values))
      // Rows and columns of warpgroups are multiples of their instruction's.
      if (value > 0 && !llvm::isPowerOf2_64(value) &&
          !(loops && (loop == loops->m || loop == loops->n)))
        return refuse(Refused::Indivisible,
                      "'" + key + "' has " + Twine(value) + ", which is no power of two");
  return {};
}

static std::string listOf(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os << "[");
  os << "]";
  return text;
}

/// Where threads lie as memory does, `warps` says nothing but how many there are.
static Refusal checkWarps(const ScheduleStrategy &strategy, const KernelInfo &info,
                          LoweringConfigAttr config, TargetAttr target) {
  ArrayRef<int64_t> warps = config.getWarps();
  int64_t count = llvm::product_of(warps);
  if (count <= 1)
    return {};
  SmallVector<SmallVector<int64_t>> spellings = strategy.warpSpellings(info, config, target);
  if (spellings.empty() || llvm::product_of(spellings.front()) != count ||
      llvm::is_contained(spellings, SmallVector<int64_t>(warps)))
    return {};
  return refuse(Refused::Config, "'warps' has " + listOf(warps) + ", but the " + Twine(count) +
                                     " warps of this strategy lie over the block as it lies in "
                                     "memory; write " +
                                     listOf(spellings.front()));
}

Refusal ScheduleStrategy::check(const KernelInfo &info, LoweringConfigAttr config,
                                const TilePlan &plan, TargetAttr target) const {
  if (Refusal why = checkPromote(*this, info, config))
    return why;
  if (Refusal why = checkStages(*this, info, config, target))
    return why;
  if (Refusal why = checkRaster(info, config))
    return why;
  if (Refusal why = checkPowers(*this, info, config))
    return why;
  return checkWarps(*this, info, config, target);
}
