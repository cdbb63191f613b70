// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strategies with matrix instructions have in common, see MatrixUnit.h.

#include "MatrixUnit.h"
#include "CostModel.h"
#include "Enumerate.h"

using namespace mlir;
using namespace tilewright;

Refusal tilewright::whyNotListed(StringAttr name, ArrayRef<StringRef> facts, StringRef what,
                                 TargetAttr target) {
  for (StringRef fact : facts)
    if (auto names = target.getFacts().getAs<ArrayAttr>(fact);
        names && llvm::is_contained(names, name))
      return {};
  return refuse(Refused::Target,
                target.getName() + " has no " + what + " '" + name.getValue() + "'");
}

bool tilewright::hasAInRegisters(LoweringConfigAttr config, const Contraction &product) {
  return !llvm::is_contained(config.getPromote(), int64_t(product.a));
}

/// Whether windows are multiplied by a filter of few features, of a group say, that fill half
/// of an instruction's columns at least: each element is in several windows.
static bool multipliesWindows(const KernelInfo &info, TargetAttr target) {
  constexpr int64_t kMinExtent = 8;
  std::optional<Contraction> product = matchContraction(info.root);
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!product || !names || product->k.size() < 2 || product->m.size() + product->n.size() < 3)
    return false;
  auto hasTile = [&](ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return nominalExtent(info, loop) >= kMinExtent;
    });
  };
  return hasTile(product->m) && hasTile(product->n) &&
         llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
           auto instruction = MatrixInstruction::parse(info.root->getContext(), name);
           return instruction && hasTypesOf(info.root, *product, *instruction);
         });
}

bool InstructionStrategy::match(const KernelInfo &info, TargetAttr target) const {
  return info.strategy == Strategy::SimtContraction ||
         (info.strategy == Strategy::SkinnyContraction &&
          (isForMatrixUnit(info.root, target) || multipliesWindows(info, target)));
}

bool InstructionStrategy::accepts(const KernelInfo &info, LoweringConfigAttr config) const {
  return ScheduleStrategy::accepts(info, config) ||
         ((config.getStrategy() == Strategy::MatrixUnit || config.isWarpSpecialized()) &&
          info.strategy == Strategy::SimtContraction && config.getMma());
}

Refusal InstructionStrategy::checkPlan(const KernelInfo &info, LoweringConfigAttr config,
                                       TargetAttr target) const {
  StringAttr name = config.getMma();
  if (Refusal why = checkInstruction(name, target))
    return why;
  std::optional<Contraction> contraction = info.getOriented(config);
  auto instruction = matchInstruction(info.getRoot(), name, contraction ? &*contraction : nullptr);
  if (!instruction)
    return instruction.why();
  for (auto [loop, block] : llvm::enumerate(config.getBlock()))
    if (block == 0)
      return refuse(Refused::Config, "'block' has 0, all of a dim, for " +
                                         describeLoop(info, loop) +
                                         "; tiles of instructions have a number of elements");
  for (unsigned loop : contraction->batch)
    if (int64_t block = entry(config.getBlock(), loop, 1); block != 1)
      return refuse(Refused::Config, "'block' has " + Twine(block) + " for " +
                                         describeLoop(info, loop) +
                                         ", whose matrices a block multiplies one at a time: "
                                         "the entry is 1");
  std::optional<MatrixLoops> loops = findMatrixLoops(*contraction, config);
  if (!loops)
    return refuse(Refused::Config, "'block' must have one m, one n and one k loop of more than one "
                                   "element, for the instruction's tiles");
  // Warpgroups take A from registers, too.
  if ((!instruction->warpgroup &&
       llvm::count(config.getPromote(), contraction->a) != 1) ||
      llvm::count(config.getPromote(), contraction->b) != 1)
    return refuse(Refused::Config, "both operands must be in 'promote'");
  return checkTiles(info, config, *instruction, *loops, target);
}

/// Warps share the rows and columns of an instruction's tiles.
static Refusal checkInstructionWarps(const KernelInfo &info, LoweringConfigAttr config) {
  std::optional<MatrixLoops> loops =
      findMatrixLoops(*info.getContraction(info.getRoot()), config);
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop)
    if (int64_t warps = entry(config.getWarps(), loop, 1);
        warps != 1 && (!loops || (loop != loops->m && loop != loops->n)))
      return refuse(Refused::Config, Twine(warps) + " warps along loop " + Twine(loop) +
                                         ", which is not the instruction's rows or columns");
  return {};
}

Refusal InstructionStrategy::check(const KernelInfo &info, LoweringConfigAttr config,
                                   const TilePlan &plan, TargetAttr target) const {
  if (Refusal why = ScheduleStrategy::check(info, config, plan, target))
    return why;
  return checkInstructionWarps(info, config);
}

ArrayRef<linalg::LinalgOp>
InstructionStrategy::getProducts(const KernelInfo &info) const {
  return info.getProducts();
}

std::string InstructionStrategy::explain(const KernelInfo &info) const {
  return "multiplies and adds";
}
