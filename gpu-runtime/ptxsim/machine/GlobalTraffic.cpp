// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counting sectors of global memory.

#include "machine/GlobalTraffic.h"
#include "machine/SharedTraffic.h"
#include "machine/State.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr uint64_t sectorBytes = 32;

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

} // namespace

GlobalTraffic::GlobalTraffic(const Program &program, const DeviceMemory &memory)
    : program(program), places(new Place[program.code.size()]) {
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
  count(inst, way, ranges, number);
}

void GlobalTraffic::count(const Inst &inst, TrafficWay way, Range *ranges,
                          unsigned number) {
  std::sort(ranges, ranges + number,
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  for (unsigned first = 0; first < number;) {
    Buffer buffer = bufferOf(ranges[first].begin);
    uint64_t sectors = 0, bytes = 0, reached = 0, nextSector = 0,
             begin = ranges[first].begin;
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
    found->sectors += sectors;
    found->bytes += bytes;
    found->least += (bytes + sectorBytes - 1) / sectorBytes;
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

std::string globalTrafficLines(const std::string &kernel,
                               const std::vector<GlobalRow> &rows) {
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
    text += "}\n";
  }
  return text;
}

} // namespace tilewright::ptxsim
