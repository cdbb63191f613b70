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
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace tilewright::cpu;
using llvm::StringRef;

static constexpr llvm::StringLiteral kTriple = "x86_64-unknown-linux-gnu";

bool Chip::hasAvx512() const {
  return level == "x86-64-v4" || llvm::is_contained(features, "avx512f");
}

bool tilewright::cpu::isLevel(StringRef name) {
  return name == "x86-64-v3" || name == "x86-64-v4";
}

/// LLVM's view of a processor with these features, "+a,+b".
static std::unique_ptr<llvm::MCSubtargetInfo> getSubtarget(StringRef cpu) {
  tilewright::initializeLLVMTargets();
  std::string message;
  llvm::Triple triple(kTriple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(triple, cpu, ""));
}

bool tilewright::cpu::isFeature(StringRef name) {
  auto info = getSubtarget("x86-64");
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
  auto info = getSubtarget(cpu);
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
