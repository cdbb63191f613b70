// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-configure: the decision, written down. Candidates come from
// Candidates.cpp, what a config means from PlanTiles.cpp, whether it fits from TilePlan.cpp.
//
//   %m = linalg.matmul …
//   -> %m = linalg.matmul {tilewright.lowering_config =
//             #tilewright.lowering_config<strategy = simt_contraction,
//               block = [64, 64, 16], …>} …
//      on the kernel: tilewright.explain = ["strategy simt_contraction: …", …]

#include "Bound.h"
#include "CostModel.h"
#include "ExplainConfig.h"
#include "Remarks.h"
#include "Strategy.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Irregular.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/Tuning.h"
#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/UserNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CONFIGUREPASS
#include "tilewright/Configure/Passes.h.inc"
} // namespace tilewright

DictionaryAttr tilewright::countByKind(MLIRContext *context, ArrayRef<Refusal> refusals) {
  std::map<Refused, int64_t> count;
  for (const Refusal &refusal : refusals)
    ++count[refusal.getKind()];
  Builder b(context);
  SmallVector<NamedAttribute> entries;
  for (auto [kind, times] : count)
    entries.push_back(b.getNamedAttr(nameOf(kind), b.getI64IntegerAttr(times)));
  return b.getDictionaryAttr(entries);
}

/// Why a product is not on matrix units.
static Refusal whyNotOnMatrixUnit(const KernelInfo &info, LoweringConfigAttr config,
                                  StringRef wasChosen, TargetAttr target) {
  if (config.getMma() || !matchProduct(info.getRoot()))
    return {};
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!names)
    names = target.getFacts().getAs<ArrayAttr>("panel_mma");
  if (!names)
    return refuse(Refused::Target,
                  target.getName() + (target.getBackend() == "spirv"
                                          ? " names no cooperative matrices; +coopmat does"
                                          : " has no matrix instructions"));
  Refusal wayOut;
  for (auto name : names.getAsRange<StringAttr>()) {
    auto instruction = matchInstruction(info.getRoot(), name, info.getContraction(info.getRoot()));
    std::string own = strategyOf(info, config, target).whyNoInstruction();
    if (instruction)
      return refuse(Refused::Config, "'" + name.getValue() + "' computes it, but this config " +
                                         (own.empty() ? wasChosen : StringRef(own)));
    if (instruction.why().getKind() == Refused::NotContraction)
      return instruction.why();
    if (!wayOut && instruction.why().getKind() == Refused::Numerics)
      wayOut = instruction.why();
  }
  return wayOut ? wayOut : refuse(Refused::Types, "no instruction of the target has its types");
}

/// Says why a product is not on matrix units, or refuses the kernel for it where
/// the program requires them.
static LogicalResult checkMatrixUnit(const KernelInfo &info,
                                     LoweringConfigAttr config,
                                     StringRef wasChosen, TargetAttr target,
                                     SmallVectorImpl<std::string> &explain) {
  if (StringRef unused = target.getText("unused_mma"); config.getMma() && !unused.empty())
    explain.push_back("multiplied by mma.sync; " + unused.str() + " of " +
                      target.getName().str() + " is not used yet");
  Refusal why = whyNotOnMatrixUnit(info, config, wasChosen, target);
  if (!why) {
    if (config.getMma() && target.getFact("subgroup", 1) <= 1 &&
        getElementTypeOrSelf(info.getRoot()->getOperand(0)).isBF16())
      explain.push_back("multiplied by '" + config.getMma().getValue().str() +
                        "': subnormal operands count as zero, subnormal sums become zero");
    return success();
  }
  linalg::LinalgOp root = info.getRoot();
  auto required = root->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(
      kRequireAttr);
  if (required && llvm::is_contained(required, StringAttr::get(root->getContext(),
                                                               "matrix-unit")))
    return root->emitOpError() << "is not on matrix units, which are required: " << why.str();
  // Of a target without matrix instructions there is nothing to explain.
  if (target.getFacts().contains("mma") || target.getBackend() == "spirv") {
    explain.push_back("not on matrix units: " + why.str());
    remarkMissed(info.kernel, root, "matrix-units", why);
  }
  return success();
}

/// The variant of the same kernel of which more is promised than of `kernel`: that of
/// aligned rows, or the original of one with 64-bit indices. Null: there is none.
static func::FuncOp favouredVariant(func::FuncOp kernel) {
  auto original = kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
  StringAttr family = original ? original : kernel.getSymNameAttr();
  func::FuncOp favoured;
  for (auto other : kernel->getParentOfType<ModuleOp>().getOps<func::FuncOp>()) {
    if ((other->hasAttr(kDivisibleAttr) || other->hasAttr(kAlignedAttr)) &&
        !other->hasAttr(kAtMostAttr) &&
        other->getAttr(kVariantOfAttr) == family)
      return other == kernel ? func::FuncOp() : other;
    if (original && other.getSymNameAttr() == family)
      favoured = other;
  }
  return favoured;
}

/// Whether a pinned config is for another variant of the kernel: copy engines want
/// rows of 16 bytes, and coordinates of 32 bits. Says so, and leaves this one without.
static bool isForOtherVariant(KernelInfo &info, TargetAttr target,
                                SmallVectorImpl<std::string> &explain) {
  linalg::LinalgOp root = info.getRoot();
  auto config = root->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (!config || !config.isWarpSpecialized())
    return false;
  OrRefusal<TilePlan> plan = fits(info, config, target);
  if (plan)
    return false;
  func::FuncOp variant = favouredVariant(info.kernel);
  if (!variant)
    return false;
  explain.push_back("the pinned config is carried out by variant " + variant.getName().str() +
                    "; of this one " + plan.why().str());
  root->removeAttr(kConfigAttr);
  return true;
}

/// Why the kernel cannot have the config that is on its root.
static Refusal whyNotServed(const KernelInfo &info, TargetAttr target) {
  auto config = info.getRoot()->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (config.getStrategy() == Strategy::MatrixUnit && !config.getMma())
    return refuse(Refused::Config, "strategy matrix_unit multiplies by the instruction that 'mma' "
                                   "names, and there is none; --list-instructions prints those of "
                                   "the target");
  if (!strategyOf(info, config, target).accepts(info, config))
    return refuse(Refused::OtherStrategy, "strategy " + stringifyStrategy(config.getStrategy()) +
                                              " does not serve this kernel here; " +
                                              stringifyStrategy(info.strategy) + " does");
  if (Refusal why = whyNotCarriedOut(config, target))
    return why;
  OrRefusal<TilePlan> plan = fits(info, config, target);
  if (!plan)
    return plan.why();
  return strategyOf(info, config, target).check(info, config, *plan, target);
}

/// Honours or refuses the config that the user put on the root.
static LogicalResult checkPinned(const KernelInfo &info, TargetAttr target,
                                 SmallVectorImpl<std::string> &explain) {
  if (Refusal why = whyNotServed(info, target))
    return info.getRoot()->emitOpError()
           << "the pinned lowering config does not fit: " << why.str();
  explain.push_back("config (pinned): " +
                    toString(info.getRoot()->getAttr(kConfigAttr)));
  return success();
}

/// Takes what was measured for the kernel's problem. A record that no longer serves is
/// no error: a remark says why, and the kernel gets what it would have without.
static FailureOr<bool> takeTuned(KernelInfo &info, TargetAttr target,
                                 SmallVectorImpl<std::string> &explain) {
  std::optional<TunedConfig> tuned =
      findTuned(info.kernel, describeProblem(info), describeShape(info));
  if (!tuned)
    return false;
  Operation *root = info.getRoot();
  std::string reason;
  if (auto text = dyn_cast<StringAttr>(tuned->config)) {
    reason = text.str();
  } else {
    root->setAttr(kConfigAttr, tuned->config);
    FailureOr<KernelInfo> anew = KernelInfo::get(info.kernel);
    if (failed(anew))
      return failure();
    Refusal why = whyNotServed(*anew, target);
    if (!why) {
      info = *anew;
      explain.push_back("config (tuned, " + tuned->source +
                        "): " + toString(tuned->config));
      return true;
    }
    reason = why.str();
    root->removeAttr(kConfigAttr);
  }
  root->emitRemark() << "the tuned config (" << tuned->source
                               << ") is refused, the default is taken: " << reason;
  explain.push_back("tuned config refused (" + tuned->source + "): " + reason);
  return false;
}

void tilewright::recordPlan(func::FuncOp kernel, LoweringConfigAttr config,
                            int64_t threads, int64_t copyThreads, int64_t sharedBytes,
                            int64_t registers) {
  Builder b(kernel.getContext());
  auto entry = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  int64_t all = threads + copyThreads;
  if (ArrayRef<int64_t> each = config.getRegisters(); each.size() == 2)
    registers = (each[0] * copyThreads + each[1] * threads) / all;
  kernel->setAttr(kPlannedAttr, b.getDictionaryAttr({entry("threads", all),
                                                     entry("shared_bytes", sharedBytes),
                                                     entry("registers", registers)}));
}

static void recordTilePlan(func::FuncOp kernel, const KernelInfo &info,
                           LoweringConfigAttr config, TargetAttr target) {
  OrRefusal<TilePlan> plan = planTiles(info, config, target);
  if (!plan || plan->subgroup <= 1)
    return;
  Footprint footprint = estimate(info, config, *plan, target);
  recordPlan(kernel, config, plan->threads, plan->copyThreads, footprint.sharedBytes,
             footprint.registers);
  // ptxas takes registers as if blocks were alone.
  if (!plan->getSharedClass())
    return;
  BlockWork work;
  work.threads = double(plan->threads);
  work.registers = double(footprint.registers);
  work.sharedBytes = double(footprint.sharedBytes);
  auto resident = int64_t(residentBlocks(work, chipOf(target)));
  kernel->setAttr(kResidentBlocksAttr, Builder(kernel).getI64IntegerAttr(resident));
}

/// The kernel as its pins, of the kernel or of one op, say, and by the variant that it is for.
static FailureOr<KernelInfo> readKernel(func::FuncOp kernel, TargetAttr target,
                                        SmallVectorImpl<std::string> &explain) {
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  if (failed(info))
    return failure();
  if (LoweringConfigAttr given = getPin(kernel)) {
    for (linalg::LinalgOp op : info->ops)
      op->removeAttr(kConfigAttr);
    info->getRoot()->setAttr(kConfigAttr, given);
    info = KernelInfo::get(kernel);
    if (failed(info))
      return failure();
  }
  if (isForOtherVariant(*info, target, explain))
    info = KernelInfo::get(kernel);
  return info;
}

/// The pinned config, that of the tuning database, or the best candidate; `candidates` are
/// listed where they are asked for, or the choice is theirs. Returns what the config is: "was
/// pinned", "was tuned" or "ranks first".
static FailureOr<StringRef> chooseConfig(KernelInfo &info, TargetAttr target, bool pinned,
                                         bool listAll, std::vector<Candidate> &candidates,
                                         SmallVectorImpl<std::string> &explain) {
  FailureOr<bool> tuned = false;
  if (!pinned && !listAll)
    tuned = takeTuned(info, target, explain);
  if (failed(tuned))
    return failure();
  // A pin that is refused may be on an op that no strategy enumerates configs for.
  if (pinned && failed(checkPinned(info, target, explain)))
    return failure();
  if ((!pinned && !*tuned) || listAll)
    candidates = listConfigs(info, target);
  if (pinned || *tuned)
    return StringRef(pinned ? "was pinned" : "was tuned");
  if (candidates.empty() || candidates.front().refused)
    return info.getRoot()->emitOpError()
           << "no schedule fits " << target.getName() << ": "
           << (candidates.empty() ? "no candidates"
                                  : StringRef(candidates.front().refused.str()));
  info.getRoot()->setAttr(kConfigAttr, candidates.front().config);
  explain.push_back("config: " + toString(candidates.front().config));
  return StringRef("ranks first");
}

static void recordCandidates(const KernelInfo &info, ArrayRef<Candidate> candidates) {
  func::FuncOp kernel = info.kernel;
  SmallVector<Attribute> fitting;
  SmallVector<Refusal> refused;
  for (const Candidate &candidate : candidates)
    if (candidate.refused)
      refused.push_back(candidate.refused);
    else
      fitting.push_back(candidate.config);
  kernel->setAttr(kRefusedAttr, countByKind(kernel.getContext(), refused));
  kernel->setAttr(kConfigsAttr, ArrayAttr::get(kernel.getContext(), fitting));
  recordProblem(kernel, describeProblem(info), describeShape(info));
}

LogicalResult tilewright::configureKernel(func::FuncOp kernel, bool listAll) {
  TargetAttr target = getTarget(kernel);
  if (!target)
    return kernel.emitOpError("is in no module with 'tilewright.target'");
  if (AttentionOp attention = findAttention(kernel))
    return configureAttention(kernel, attention, listAll);
  if (Operation *irregular = findIrregular(kernel))
    return configureIrregular(kernel, irregular, listAll);
  // The first line says the strategy, once it is known.
  SmallVector<std::string> explain{""};
  FailureOr<KernelInfo> info = readKernel(kernel, target, explain);
  if (failed(info))
    return failure();
  unsigned pinned = llvm::count_if(info->ops, [](linalg::LinalgOp op) {
    return op->hasAttr(kConfigAttr);
  });
  if (pinned > 1)
    return info->getRoot()->emitOpError()
           << "is one of " << pinned << " ops with a lowering config in "
           << "kernel @" << kernel.getSymName()
           << "; a kernel has one, on its root op";
  explainKernel(*info, explain);
  std::string whole = whyWhole(*info, target);
  std::vector<Candidate> candidates;
  FailureOr<StringRef> wasChosen =
      chooseConfig(*info, target, pinned, listAll, candidates, explain);
  if (failed(wasChosen))
    return failure();

  auto config = info->getRoot()->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  const ScheduleStrategy &strategy = strategyOf(*info, config, target);
  explain.front() = "strategy " + stringifyStrategy(config.getStrategy()).str() +
                    ": root " + nameOp(info->getRoot()).str() + " " +
                    strategy.explain(*info);
  if (failed(checkMatrixUnit(*info, config, *wasChosen, target, explain)))
    return failure();
  strategy.explainMore(*info, config, *wasChosen, explain);
  explainRefusals(candidates, explain);
  explainGrid(*info, whole, explain);
  if (std::string bound = describeBound(*info, config, target); !bound.empty())
    explain.push_back(bound);
  recordTilePlan(kernel, *info, config, target);
  setExplanation(kernel, explain);
  if (listAll)
    recordCandidates(*info, candidates);
  return success();
}

static Attribute configOf(func::FuncOp kernel) {
  Attribute found;
  kernel.walk([&](linalg::LinalgOp op) {
    if (Attribute config = op->getAttr(kConfigAttr))
      found = config;
  });
  return found;
}

/// Erases variants for few rows that are configured like the next one, which serves
/// as well: they stand in front of it, in ascending order.
static void mergeEqualVariants(ModuleOp program) {
  func::FuncOp next;
  SmallVector<func::FuncOp> functions(program.getOps<func::FuncOp>());
  for (func::FuncOp func : llvm::reverse(functions)) {
    if (!isKernel(func))
      continue;
    bool isSame = func->hasAttr(kAtMostAttr) && next &&
                  configOf(func) == configOf(next);
    if (isSame)
      func.erase();
    else
      next = func;
  }
}

namespace {
struct ConfigurePass
    : public tilewright::impl::ConfigurePassBase<ConfigurePass> {
  using ConfigurePassBase::ConfigurePassBase;

  void runOnOperation() override {
    if (failed(checkPinnedKernels(getOperation())))
      return signalPassFailure();
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>())
      if (isKernel(func) && !func.isExternal() &&
          failed(configureKernel(func, listConfigs)))
        signalPassFailure();
    mergeEqualVariants(getOperation());
  }
};
} // namespace

void tilewright::populateConfigurePipeline(OpPassManager &pm,
                                           const ConfigureOptions &options) {
  pm.addPass(createConfigurePass({options.listConfigs}));
}

void tilewright::registerConfigurePasses() {
  registerPass([] { return createConfigurePass(); });
}
