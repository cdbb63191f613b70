// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting sectors of global memory.

#include "machine/GlobalTraffic.h"
#include "machine/SharedTraffic.h"
#include "machine/State.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tilewright::ptxsim {
namespace {

constexpr uint64_t sectorBytes = SectorCache::sectorBytes;

/// Reads that may find what they want in the first-level cache.
bool isCached(const Inst &inst) {
  const auto &modifiers = inst.syntax->modifiers;
  auto has = [&](const char *name) {
    return std::find(modifiers.begin(), modifiers.end(), name) != modifiers.end();
  };
  bool isCopy = inst.syntax->root == "cp";
  bool isPlain = inst.syntax->root == "ld" || (isCopy && has("ca"));
  return isPlain && !has("volatile") && !has("cg") && !has("cv") && !has("relaxed") && !has("acquire");
}

TrafficWay wayOf(const Inst &inst) {
  if (!inst.syntax ||
      (inst.space != Space::Global && inst.space != Space::Generic))
    return TrafficWay::None;
  if (inst.syntax->root == "ld")
    return TrafficWay::Read;
  if (inst.syntax->root == "st")
    return TrafficWay::Write;
  return inst.syntax->root == "atom" || inst.syntax->root == "red"
             ? TrafficWay::Update
             : TrafficWay::None;
}

const char *nameOf(TrafficWay way) {
  return way == TrafficWay::Read    ? "read"
         : way == TrafficWay::Write ? "write"
                                    : "update";
}

/// Of lanes' accesses to the cache's banks; copies of whole ranges move 128 bytes a wavefront.
uint64_t requestWavefronts(const Inst &inst, const GlobalTraffic::Range *ranges, unsigned number) {
  uint64_t addresses[warpSize], bytes = 0, widest = 0;
  for (unsigned i = 0; i < number; ++i) {
    bytes += ranges[i].end - ranges[i].begin;
    widest = std::max(widest, ranges[i].end - ranges[i].begin);
  }
  if (widest > 16 || number > warpSize)
    return (bytes + SectorCache::lineBytes - 1) / SectorCache::lineBytes;
  for (unsigned i = 0; i < number; ++i)
    addresses[i] = ranges[i].begin;
  uint32_t mask = number == warpSize ? ~0u : (1u << number) - 1;
  return bankCost(addresses, mask, static_cast<unsigned>(widest), inst.syntax->root == "ld").wavefronts;
}

} // namespace

GlobalTraffic::GlobalTraffic(const Program &program, const DeviceMemory &memory,
                             uint64_t cacheBytes,
                             const std::vector<uint64_t> &sampled)
    : program(program), places(new Place[program.code.size()]),
      cacheBytes(cacheBytes), sampled(sampled) {
  for (const Inst &inst : program.code)
    ways.push_back(wayOf(inst));
  memory.forEachLive([&](const Allocation &allocation) {
    buffers.push_back({allocation.address, allocation.address + allocation.size,
                       allocation.id});
  });
}

GlobalTraffic::Buffer GlobalTraffic::bufferOf(uint64_t address) const {
  auto after = std::upper_bound(
      buffers.begin(), buffers.end(), address,
      [](uint64_t at, const Buffer &buffer) { return at < buffer.begin; });
  if (after != buffers.begin() && address < std::prev(after)->end)
    return *std::prev(after);
  return {0, ~uint64_t(0), 0};
}

void GlobalTraffic::count(ExecContext &context, const Inst &inst) {
  TrafficWay way = ways[static_cast<size_t>(&inst - program.code.data())];
  if (way == TrafficWay::None)
    return;
  const uint64_t *row = context.row(inst.src[0]);
  uint64_t window = context.grid->memory->windowBase();
  unsigned each = inst.elements * ((bitWidth(inst.type) + 7) / 8), number = 0;
  Range ranges[warpSize];
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    uint64_t address = row[lane] + static_cast<uint64_t>(inst.offset);
    // Generic addresses of other memories begin the window.
    if ((context.mask >> lane & 1) &&
        address - window >= DeviceMemory::smallWindowsEnd)
      ranges[number++] = {address, address + each};
  }
  count(context, inst, way, ranges, number);
}

bool GlobalTraffic::touch(const ExecContext &context, const Inst &inst,
                          TrafficWay way, uint64_t sector) {
  if (cacheBytes == 0 && sampled.empty())
    return false;
  std::lock_guard<std::mutex> lock(mutex);
  auto [found, isNew] = samples.try_emplace(context.block->linear, cacheBytes);
  Sample &sample = found->second;
  if (isNew) {
    auto at = std::find(sampled.begin(), sampled.end(), context.block->linear);
    sample.bit = at == sampled.end() ? 0 : uint64_t(1) << (at - sampled.begin());
  }
  if (sample.bit != 0)
    for (TrafficWay each : {TrafficWay::Read, TrafficWay::Write})
      if (way == each || way == TrafficWay::Update)
        touched[each == TrafficWay::Write][sector] |= sample.bit;
  return way == TrafficWay::Read && isCached(inst) && sample.cache.touch(sector);
}

void GlobalTraffic::count(const ExecContext &context, const Inst &inst,
                          TrafficWay way, Range *ranges, unsigned number) {
  uint64_t wavefronts = requestWavefronts(inst, ranges, number);
  std::sort(ranges, ranges + number,
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (unsigned first = 0; first < number;) {
    Buffer buffer = bufferOf(ranges[first].begin);
    uint64_t sectors = 0, bytes = 0, reached = 0, nextSector = 0,
             begin = ranges[first].begin, lines = 0, nextLine = 0, missed = 0;
    for (; first < number && ranges[first].begin < buffer.end; ++first) {
      Range range = ranges[first];
      range.begin = std::max(range.begin, reached);
      if (range.begin >= range.end)
        continue;
      bytes += range.end - range.begin;
      reached = range.end;
      uint64_t sector = std::max(range.begin / sectorBytes, nextSector);
      nextSector = (range.end + sectorBytes - 1) / sectorBytes;
      sectors += nextSector - sector;
      constexpr uint64_t perLine = SectorCache::sectorsPerLine;
      uint64_t line = std::max(sector / perLine, nextLine);
      nextLine = std::max(nextLine, (nextSector + perLine - 1) / perLine);
      lines += nextLine - line;
      for (; sector < nextSector; ++sector)
        missed += !touch(context, inst, way, sector);
    }
    Place &place = places[static_cast<size_t>(&inst - program.code.data())];
    std::lock_guard<std::mutex> lock(place.mutex);
    auto found = std::find_if(
        place.rows.begin(), place.rows.end(), [&](const GlobalRow &row) {
          return row.buffer == buffer.id && row.way == way;
        });
    if (found == place.rows.end()) {
      found = place.rows.insert(found, GlobalRow());
      found->instruction = inst.syntax->name();
      found->line = inst.line;
      found->way = way;
      found->buffer = buffer.id;
      found->begin = begin - buffer.begin;
    }
    ++found->requests;
    // Where a request is of several allocations the first has them.
    found->wavefronts += std::exchange(wavefronts, 0);
    found->sectors += sectors;
    found->bytes += bytes;
    found->least += (bytes + sectorBytes - 1) / sectorBytes;
    found->lines += lines;
    found->missed += missed;
    found->begin = std::min(found->begin, begin - buffer.begin);
    found->end = std::max(found->end, reached - buffer.begin);
  }
}

std::vector<GlobalRow> GlobalTraffic::rows() const {
  std::vector<GlobalRow> result;
  for (size_t i = 0; i < program.code.size(); ++i) {
    std::vector<GlobalRow> rows = places[i].rows;
    // Workers come to an instruction in any order.
    std::sort(
        rows.begin(), rows.end(), [](const GlobalRow &a, const GlobalRow &b) {
          return a.buffer != b.buffer ? a.buffer < b.buffer : a.way < b.way;
        });
    result.insert(result.end(), rows.begin(), rows.end());
  }
  return result;
}

std::vector<FootprintRow> GlobalTraffic::footprints() const {
  std::map<std::tuple<uint64_t, bool, uint64_t>, uint64_t> counts;
  for (bool isWritten : {false, true})
    for (auto [sector, blocks] : touched[isWritten])
      ++counts[{bufferOf(sector * sectorBytes).id, isWritten, blocks}];
  std::vector<FootprintRow> result;
  for (auto &[key, sectors] : counts)
    result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), sectors});
  return result;
}

void GlobalTraffic::arrive(uint64_t source, uint64_t block, uint64_t place, uint64_t mbarrier, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  Arrivals &found = arrivals[{bufferOf(source).id, block}];
  ++found.copies;
  found.bytes += bytes;
  found.places.insert(place);
  found.mbarriers.insert(mbarrier);
}

std::vector<StageRow> GlobalTraffic::stages() const {
  std::vector<StageRow> result;
  for (const auto &[key, found] : arrivals) {
    if (result.empty() || result.back().buffer != key.first)
      result.push_back({key.first});
    StageRow &row = result.back();
    ++row.blocks;
    row.copies += found.copies;
    row.bytes += found.bytes;
    row.places = std::max<uint64_t>(row.places, found.places.size());
    row.mbarriers = std::max<uint64_t>(row.mbarriers, found.mbarriers.size());
  }
  return result;
}

std::string globalTrafficLines(const std::string &kernel,
                               const std::vector<GlobalRow> &rows,
                               const std::vector<FootprintRow> &footprints,
                               const std::vector<StageRow> &stages) {
  std::string text;
  auto number = [&](const char *name, uint64_t value) {
    text += std::string(", \"") + name + "\": " + std::to_string(value);
  };
  for (const GlobalRow &row : rows) {
    text += "{\"kernel\": " + quotedJson(kernel) + ", \"memory\": \"global\"";
    number("line", row.line);
    text += ", \"instruction\": " + quotedJson(row.instruction) +
            ", \"way\": \"" + nameOf(row.way) + "\"";
    number("buffer", row.buffer);
    number("requests", row.requests);
    number("sectors", row.sectors);
    number("least", row.least);
    number("bytes", row.bytes);
    number("begin", row.begin);
    number("end", row.end);
    number("lines", row.lines);
    number("missed", row.missed);
    number("wavefronts", row.wavefronts);
    text += "}\n";
  }
  for (const FootprintRow &row : footprints) {
    text += "{\"kernel\": " + quotedJson(kernel) + ", \"memory\": \"footprint\"";
    number("buffer", row.buffer);
    text += std::string(", \"way\": \"") + (row.isWritten ? "write" : "read") + "\"";
    number("blocks", row.blocks);
    number("sectors", row.sectors);
    text += "}\n";
  }
  for (const StageRow &row : stages) {
    text += "{\"kernel\": " + quotedJson(kernel) + ", \"memory\": \"stages\"";
    number("buffer", row.buffer);
    number("blocks", row.blocks);
    number("copies", row.copies);
    number("bytes", row.bytes);
    number("places", row.places);
    number("mbarriers", row.mbarriers);
    text += "}\n";
  }
  return text;
}

} // namespace tilewright::ptxsim
