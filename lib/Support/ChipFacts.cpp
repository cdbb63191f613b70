// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the embedded table of chips.

#include "tilewright/Support/ChipFacts.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace tilewright;
namespace json = llvm::json;

static const char kTable[] =
#include "ChipTable.inc"
    ;

namespace {
/// One of the table's objects, whose members are [value, source].
class Members {
public:
  Members(const json::Object *object, const json::Object *next)
      : objects{object, next} {}

  const json::Value *find(llvm::StringRef key) const {
    for (const json::Object *object : objects)
      if (const json::Array *pair = object ? object->getArray(key) : nullptr)
        return &pair->front();
    return nullptr;
  }
  double number(llvm::StringRef key, double otherwise = 0) const {
    const json::Value *value = find(key);
    return value ? value->getAsNumber().value_or(otherwise) : otherwise;
  }
  llvm::StringMap<double> numbers(llvm::StringRef key) const {
    llvm::StringMap<double> result;
    if (const json::Value *value = find(key))
      for (const auto &[name, number] : *value->getAsObject())
        result[name] = number.getAsNumber().value_or(0);
    return result;
  }

private:
  const json::Object *objects[2];
};
} // namespace

/// 80, of "sm_80".
static int architectureOf(llvm::StringRef arch) {
  int sm = 0;
  arch.consume_front("sm_");
  arch.getAsInteger(10, sm);
  return sm;
}

static ChipFacts read(llvm::StringRef key, const json::Object &chip,
                      const json::Object &table) {
  llvm::StringRef arch = chip.getString("arch").value_or("");
  Members own(&chip, table.getObject("architectures")->getObject(arch));
  Members common(table.getObject("all"), nullptr);
  ChipFacts facts;
  facts.key = key.str();
  facts.name = chip.getString("name").value_or("").str();
  facts.architecture = architectureOf(arch);
  facts.multiprocessors = own.number("multiprocessors");
  facts.clockMhz = own.number("clock_mhz");
  facts.memoryBytes = own.number("memory_gbps") * 1e3 / facts.clockMhz;
  facts.l2BytesPerClock = own.number("l2_bytes_per_clock");
  facts.l2Bytes = own.number("l2_bytes");
  facts.cyclesShared = own.number("cycles_shared");
  facts.cyclesL2 = own.number("cycles_l2");
  facts.cyclesMemory = own.number("cycles_memory");
  facts.cyclesArithmetic = common.number("cycles_arithmetic");
  facts.cyclesMatrix = common.number("cycles_matrix");
  facts.cyclesBarrier = common.number("cycles_barrier");
  facts.cyclesOther = common.number("cycles_other");
  facts.lanes = own.numbers("lanes");
  facts.tensor = own.numbers("tensor");
  facts.mmaSyncShare = own.number("mma_sync_share", 1);
  facts.lsuCycles = own.number("lsu_cycles");
  facts.bankBytes = common.number("bank_bytes_per_clock");
  facts.linesPerClock = common.number("lines_per_clock");
  facts.l2PortBytes = common.number("l2_port_bytes");
  facts.cyclesCluster = own.number("cycles_cluster", common.number("cycles_cluster"));
  facts.clusterBlocks = own.numbers("cluster_blocks");
  facts.clusterInStep = common.number("cluster_in_step");
  facts.clusterShared = common.number("cluster_shared");
  facts.kernelMicroseconds = common.number("kernel_microseconds");
  facts.operationsPerByte = common.number("operations_per_byte");
  facts.memoryLoaded = common.number("memory_loaded");
  facts.ringMemoryShare = common.number("ring_memory_share");
  facts.ringMargin = common.number("ring_margin");
  facts.l2SharingExponent = common.number("l2_sharing_exponent");
  facts.sharedWeights = common.number("shared_weights");
  facts.cyclesOutside = common.number("outside_cycles");
  facts.cyclesBetween = common.number("cycles_between");
  facts.copyEngines = common.numbers("copy_engines");
  facts.warpgroupMma = common.numbers("warpgroup_mma");
  facts.warp = common.number("warp");
  facts.schedulers = common.number("schedulers");
  facts.reservedShared = common.number("reserved_shared");
  facts.registerStep = common.number("register_step");
  facts.blocksEach = common.number("blocks_each");
  facts.memoryShare = common.number("memory_share");
  llvm::StringMap<double> limits = own.numbers("limits");
  facts.threads = limits["threads"];
  facts.blocks = limits["blocks"];
  facts.registers = limits["registers"];
  facts.sharedBytes = limits["shared"];
  return facts;
}

namespace {
struct Chips {
  /// The first chip of each architecture, and the one that is assumed.
  std::map<int, ChipFacts> byArchitecture;
  ChipFacts assumed;
};
} // namespace

static Chips readAll() {
  llvm::Expected<json::Value> parsed = json::parse(kTable);
  if (!parsed)
    llvm::report_fatal_error(parsed.takeError());
  const json::Object &table = *parsed->getAsObject();
  std::map<std::string, const json::Object *> sorted;
  for (const auto &[key, value] : *table.getObject("chips"))
    sorted.emplace(key.str(), value.getAsObject());
  Chips chips;
  for (const auto &[key, chip] : sorted) {
    llvm::StringRef arch = chip->getString("arch").value_or("");
    chips.byArchitecture.try_emplace(architectureOf(arch), read(key, *chip, table));
  }
  std::string assumed = table.getString("assumed").value_or("").str();
  if (!sorted.count(assumed))
    llvm::report_fatal_error("the embedded table of chips names no chip to assume");
  chips.assumed = read(assumed, *sorted[assumed], table);
  return chips;
}

static const Chips &getChips() {
  static const Chips chips = readAll();
  return chips;
}

const ChipFacts &tilewright::chipOfArchitecture(int sm) {
  const std::map<int, ChipFacts> &chips = getChips().byArchitecture;
  auto after = chips.upper_bound(sm);
  return after == chips.begin() ? after->second : std::prev(after)->second;
}

const ChipFacts &tilewright::assumedChip() { return getChips().assumed; }
