// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors, as LLVM knows them.

#include "Chips.h"

#include "tilewright/Target/LLVMEmit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace tilewright::cpu;
using llvm::StringRef;

static constexpr llvm::StringLiteral kX86Triple = "x86_64-unknown-linux-gnu",
                                     kArmTriple = "aarch64-unknown-linux-gnu";

namespace {
struct ArmProcessor {
  StringRef name;
  /// LLVM's, of which the loader knows whether a machine has them.
  StringRef features[6];
  int64_t sveBits;
};
} // namespace

// Arm's technical reference manuals of the cores, A64FX microarchitecture manual; LLVM's
// AArch64Processors.td has the same features.
static constexpr ArmProcessor kArmProcessors[] = {
    {"cortex-a72", {}, 0},
    {"neoverse-n1", {"dotprod", "fullfp16"}, 0},
    {"neoverse-v1", {"bf16", "dotprod", "fullfp16", "i8mm", "sve"}, 256},
    {"neoverse-n2", {"bf16", "dotprod", "fullfp16", "i8mm", "sve", "sve2"}, 128},
    {"neoverse-v2", {"bf16", "dotprod", "fullfp16", "i8mm", "sve", "sve2"}, 128},
    {"a64fx", {"fullfp16", "sve"}, 512},
};

bool Chip::hasAvx512() const {
  return level == "x86-64-v4" || llvm::is_contained(features, "avx512f");
}

StringRef Chip::getTriple() const { return isArm() ? kArmTriple : kX86Triple; }

StringRef Chip::getProcessor() const { return isArm() ? "generic" : StringRef(level); }

int64_t Chip::getVectorBytes() const {
  return isArm() ? std::max<int64_t>(sveBits, 128) / 8 : hasAvx512() ? 64 : 32;
}

int64_t Chip::getVectorRegisters() const { return isArm() || hasAvx512() ? 32 : 16; }

bool tilewright::cpu::isLevel(StringRef name) {
  return name == "x86-64-v3" || name == "x86-64-v4" || name == "aarch64";
}

bool tilewright::cpu::isSveLength(int64_t bits) {
  return bits >= 128 && bits <= 2048 && llvm::isPowerOf2_64(bits);
}

std::optional<Chip> tilewright::cpu::getArmProcessor(StringRef name) {
  for (const ArmProcessor &processor : kArmProcessors) {
    if (processor.name != name)
      continue;
    Chip chip{"aarch64", {}, processor.sveBits};
    for (StringRef feature : processor.features)
      if (!feature.empty())
        chip.features.push_back(feature.str());
    return chip;
  }
  return std::nullopt;
}

/// LLVM's view of a processor.
static std::unique_ptr<llvm::MCSubtargetInfo> getSubtarget(StringRef name,
                                                           StringRef cpu) {
  tilewright::initializeLLVMTargets();
  std::string message;
  llvm::Triple triple(name);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(triple, cpu, ""));
}

bool tilewright::cpu::isFeature(const Chip &chip, StringRef name) {
  auto info = getSubtarget(chip.getTriple(), chip.getProcessor());
  if (!info)
    return false;
  return llvm::any_of(info->getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &feature) {
                        return name == feature.Key;
                      });
}

/// The names of the features that a processor model has.
static llvm::StringSet<> getFeatures(StringRef cpu) {
  llvm::StringSet<> names;
  auto info = getSubtarget(kX86Triple, cpu);
  if (!info)
    return names;
  for (const llvm::SubtargetFeatureKV &feature : info->getAllProcessorFeatures())
    if (info->getFeatureBits().test(feature.Value))
      names.insert(feature.Key);
  return names;
}

std::optional<Chip> tilewright::cpu::getNativeChip() {
  if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    return std::nullopt;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  // Those that the level promises and that the processor itself reports;
  // tuning flags are not reported.
  auto hasAll = [&](StringRef level) {
    for (const auto &feature : getFeatures(level)) {
      auto reported = host.find(feature.getKey());
      if (reported != host.end() && !reported->second)
        return false;
    }
    return true;
  };
  Chip chip;
  for (StringRef level : {"x86-64-v4", "x86-64-v3"})
    if (chip.level.empty() && hasAll(level))
      chip.level = level.str();
  if (chip.level.empty())
    return std::nullopt;
  llvm::StringSet<> included = getFeatures(chip.level);
  for (const auto &feature : host)
    if (feature.second && !included.contains(feature.getKey()))
      chip.features.push_back(feature.getKey().str());
  llvm::sort(chip.features);
  return chip;
}
