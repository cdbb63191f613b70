// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting wavefronts of shared memory.

#include "machine/SharedTraffic.h"
#include "machine/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr unsigned banks = 32, wordBytes = 4;

/// Bytes that a lane touches, for what count() counts.
uint8_t sharedBytes(const Inst &inst) {
  if (!inst.syntax)
    return 0;
  const auto &modifiers = inst.syntax->modifiers;
  auto has = [&](const char *name) { return std::find(modifiers.begin(), modifiers.end(), name) != modifiers.end(); };
  if (inst.syntax->root == "cp")
    return has("async") && has("global") && !has("bulk") ? inst.elements : 0;
  bool isPlain = inst.syntax->root == "ld" || inst.syntax->root == "st";
  if (!isPlain || (inst.space != Space::Shared && inst.space != Space::Generic))
    return 0;
  return static_cast<uint8_t>(std::min(16u, inst.elements * ((bitWidth(inst.type) + 7) / 8)));
}

/// Wavefronts of one turn: words of the busiest bank.
unsigned wavefronts(const uint64_t *addresses, unsigned count, unsigned bytes) {
  uint64_t words[banks * 4];
  unsigned found = 0, most = 0;
  uint8_t load[banks] = {};
  for (unsigned i = 0; i < count; ++i)
    for (uint64_t word = addresses[i] / wordBytes; word <= (addresses[i] + bytes - 1) / wordBytes; ++word) {
      if (found == banks * 4 || std::find(words, words + found, word) != words + found)
        continue;
      words[found++] = word;
      most = std::max<unsigned>(most, ++load[word % banks]);
    }
  return most;
}

/// All lanes of `mask` have the address of lane ^ distance, where that takes part.
bool arePaired(const uint64_t *addresses, uint32_t mask, unsigned distance) {
  for (unsigned lane = 0; lane < warpSize; ++lane)
    if ((mask >> lane & 1) && (mask >> (lane ^ distance) & 1) && addresses[lane] != addresses[lane ^ distance])
      return false;
  return true;
}

} // namespace

BankCost bankCost(const uint64_t *addresses, uint32_t mask, unsigned bytes, bool isLoad) {
  unsigned lanes = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  if (isLoad && bytes > 4 && (arePaired(addresses, mask, 1) || arePaired(addresses, mask, 2)))
    lanes *= 2;
  BankCost cost;
  for (unsigned first = 0; first < warpSize; first += lanes) {
    uint64_t chosen[warpSize];
    unsigned count = 0;
    for (unsigned lane = first; lane < first + lanes; ++lane)
      if (mask >> lane & 1)
        chosen[count++] = addresses[lane];
    cost.wavefronts += wavefronts(chosen, count, bytes);
    cost.turns += count != 0;
  }
  return cost;
}

BankCost matricesCost(const uint64_t *rows, unsigned count) {
  constexpr unsigned perMatrix = 8;
  BankCost cost;
  for (unsigned first = 0; first < count; first += perMatrix)
    cost.wavefronts += wavefronts(rows + first, perMatrix, 16);
  cost.turns = count / perMatrix;
  return cost;
}

SharedTraffic::SharedTraffic(const Program &program) : program(program), counters(program.code.size()) {
  for (const Inst &inst : program.code)
    bytes.push_back(sharedBytes(inst));
}

SharedTraffic::Counters &SharedTraffic::countersOf(const Inst &inst) {
  return counters[static_cast<size_t>(&inst - program.code.data())];
}

void SharedTraffic::count(ExecContext &context, const Inst &inst) {
  unsigned each = bytes[static_cast<size_t>(&inst - program.code.data())];
  if (each == 0)
    return;
  const uint64_t *row = context.row(inst.src[0]);
  uint64_t window = context.grid->memory->windowBase();
  bool isCopy = inst.syntax->root == "cp", isLoad = inst.syntax->root == "ld";
  uint64_t addresses[warpSize];
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    if (!(context.mask >> lane & 1))
      continue;
    uint64_t address = row[lane] + static_cast<uint64_t>(inst.offset);
    bool isInWindow = address - window < DeviceMemory::localWindow;
    if (isInWindow)
      address -= window;
    if (!isInWindow && inst.space != Space::Shared && !isCopy)
      continue;
    addresses[lane] = address & 0xffffffff;
    mask |= 1u << lane;
  }
  if (mask == 0)
    return;
  BankCost cost = bankCost(addresses, mask, each, isLoad);
  Counters &counts = countersOf(inst);
  ++counts.executed;
  counts.wavefronts += cost.wavefronts;
  counts.least += cost.turns;
  for (unsigned wide : {8u, 16u}) {
    forEachLane(mask, [&](unsigned lane) { addresses[lane] &= ~uint64_t(wide - 1); });
    (wide == 8 ? counts.as8 : counts.as16) += bankCost(addresses, mask, std::max(wide, each), isLoad).wavefronts;
  }
}

void SharedTraffic::count(const Inst &inst, BankCost cost) {
  Counters &counts = countersOf(inst);
  ++counts.executed;
  counts.wavefronts += cost.wavefronts;
  counts.least += cost.turns;
}

void SharedTraffic::countBulk(const Inst &inst, uint64_t bytes) {
  constexpr uint64_t wide = banks * wordBytes;
  auto turns = static_cast<unsigned>((bytes + wide - 1) / wide);
  count(inst, {turns, turns});
}

std::vector<TrafficRow> SharedTraffic::rows() const {
  std::vector<TrafficRow> result;
  for (size_t i = 0; i < counters.size(); ++i) {
    if (counters[i].executed == 0)
      continue;
    const Inst &inst = program.code[i];
    result.push_back({inst.syntax->name(), inst.line, counters[i].executed, counters[i].wavefronts, counters[i].least, counters[i].as8,
                      counters[i].as16});
  }
  return result;
}

std::string quotedJson(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + '"';
}

std::string trafficLines(const std::string &kernel, const std::vector<TrafficRow> &rows) {
  std::string text;
  for (const TrafficRow &row : rows)
    text += "{\"kernel\": " + quotedJson(kernel) + ", \"memory\": \"shared\", \"line\": " + std::to_string(row.line) +
            ", \"instruction\": " + quotedJson(row.instruction) + ", \"executed\": " + std::to_string(row.executed) +
            ", \"wavefronts\": " + std::to_string(row.wavefronts) + ", \"least\": " + std::to_string(row.least) +
            ", \"as8\": " + std::to_string(row.as8) + ", \"as16\": " + std::to_string(row.as16) + "}\n";
  return text;
}

} // namespace tilewright::ptxsim
