// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fields.h.

#include "Fields.h"
#include "Strategy.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;

static constexpr std::pair<ConfigField, StringLiteral> kNames[] = {
    {ConfigField::Warps, "warps"},
    {ConfigField::Thread, "thread"},
    {ConfigField::Stages, "stages"},
    {ConfigField::Promote, "promote"},
    {ConfigField::Mma, "mma"},
    {ConfigField::Splits, "splits"},
    {ConfigField::Raster, "raster"},
    {ConfigField::Registers, "registers"},
    {ConfigField::Persistent, "persistent"},
    {ConfigField::Cluster, "cluster"},
    {ConfigField::TmaStore, "tma_store"},
    {ConfigField::TwoLevelSums, "two_level_sums"},
    {ConfigField::StreamK, "stream_k"},
    {ConfigField::Producer, "producer"},
    {ConfigField::TmaCopy, "tma_copy"}};

bool tilewright::isSet(LoweringConfigAttr config, ConfigField field) {
  switch (field) {
  case ConfigField::Warps:
    return llvm::any_of(config.getWarps(), [](int64_t count) { return count != 1; });
  case ConfigField::Thread:
    return !config.getThread().empty();
  case ConfigField::Stages:
    return config.getStages() != 1;
  case ConfigField::Promote:
    return !config.getPromote().empty();
  case ConfigField::Mma:
    return bool(config.getMma());
  case ConfigField::Splits:
    return config.getSplits() != 1;
  case ConfigField::Raster:
    return config.getRaster() != 1;
  case ConfigField::Registers:
    return !config.getRegisters().empty();
  case ConfigField::Persistent:
    return config.getPersistent();
  case ConfigField::Cluster:
    return !config.getCluster().empty();
  case ConfigField::TmaStore:
    return config.getTmaStore();
  case ConfigField::TwoLevelSums:
    return config.getTwoLevelSums();
  case ConfigField::StreamK:
    return config.getStreamK() != 0;
  case ConfigField::Producer:
    return !config.getProducer();
  case ConfigField::TmaCopy:
    return !config.getTmaCopy();
  }
  llvm_unreachable("unknown field");
}

/// The fields of every strategy, by its name: classes that share one have them together.
using FieldsByStrategy = llvm::MapVector<Strategy, SmallVector<ConfigField>>;

static FieldsByStrategy listFields(bool isCpu) {
  FieldsByStrategy all;
  for (const ScheduleStrategy *strategy : strategiesOf(isCpu))
    llvm::append_range(all[strategy->getName()], strategy->fields());
  llvm::append_range(all[Strategy::Attention], attentionFields(isCpu));
  llvm::append_range(all[Strategy::Irregular], irregularFields(isCpu));
  return all;
}

/// Names of the strategies that have `field`, in the order of the list.
static SmallVector<StringRef> strategiesWith(ConfigField field, bool isCpu) {
  SmallVector<StringRef> names;
  for (auto &[name, fields] : listFields(isCpu))
    if (llvm::is_contained(fields, field))
      names.push_back(stringifyStrategy(name));
  return names;
}

/// "a", "a and b", "a, b and c".
static std::string listOf(ArrayRef<StringRef> names) {
  std::string text;
  for (auto [position, name] : llvm::enumerate(names))
    text += (position == 0 ? "" : position + 1 == names.size() ? " and " : ", ") + name.str();
  return text;
}

Refusal tilewright::whyNotCarriedOut(LoweringConfigAttr config, TargetAttr target) {
  bool isCpu = target.getFact("subgroup", 1) <= 1;
  FieldsByStrategy all = listFields(isCpu);
  auto own = all.find(config.getStrategy());
  // CPUs multiply panels by instructions under the names of GPUs' strategies, too.
  if (own == all.end())
    own = all.find(Strategy::SimtContraction);
  constexpr StringLiteral kKinds[] = {"GPUs", "CPUs"};
  for (auto [field, name] : kNames) {
    if (!isSet(config, field) || llvm::is_contained(own->second, field))
      continue;
    std::string said = ("strategy " + stringifyStrategy(config.getStrategy()) +
                        " does not carry out '" + name + "' on " + kKinds[isCpu] + "; ")
                           .str();
    SmallVector<StringRef> others = strategiesWith(field, isCpu);
    if (others.empty()) {
      others = strategiesWith(field, !isCpu);
      said += "on " + kKinds[!isCpu].str() + " ";
    }
    return refuse(Refused::OtherStrategy, said + listOf(others) +
                                              (others.size() == 1 ? " does" : " do") +
                                              ": leave it out");
  }
  return {};
}

std::string tilewright::describeFields() {
  std::string text = "| field | on GPUs | on CPUs |\n|---|---|---|\n";
  for (auto [field, name] : kNames) {
    text += "| `" + name.str() + "` |";
    for (bool isCpu : {false, true}) {
      SmallVector<StringRef> names = strategiesWith(field, isCpu);
      text += " " + (names.empty() ? "—" : "`" + llvm::join(names, "`, `") + "`") + " |";
    }
    text += "\n";
  }
  return text;
}
