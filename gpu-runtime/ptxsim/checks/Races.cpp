// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks and the cells of memory, as described in Races.h.

#include "checks/Races.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

constexpr size_t maxReaders = 48;

/// The element-wise maximum; shares an input where that already is the answer.
std::shared_ptr<const BlockClock> maximum(const std::shared_ptr<const BlockClock> &a,
                                          const std::shared_ptr<const BlockClock> &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  auto result = std::make_shared<BlockClock>(*a);
  bool isFirst = true, isSecond = true;
  for (size_t i = 0; i < result->size() && i < b->size(); ++i) {
    isFirst &= (*a)[i] >= (*b)[i];
    isSecond &= (*b)[i] >= (*a)[i];
    (*result)[i] = std::max((*a)[i], (*b)[i]);
  }
  return isFirst ? a : isSecond ? b : result;
}

} // namespace

void JoinedClock::join(const JoinedClock &other) {
  for (const auto &[block, clock] : other.blocks) {
    std::shared_ptr<const BlockClock> &mine = blocks[block];
    mine = maximum(mine, clock);
  }
}

RaceShadow::Page &RaceShadow::prepare(uint64_t offset, uint64_t bytes) {
  std::unique_ptr<Page> &page = pages[offset / pageBytes];
  if (!page) {
    page = std::make_unique<Page>();
  }
  if (page->cells.empty()) {
    if (bytes == pageBytes)
      return *page;
    page->cells.assign(pageBytes / 4, page->uniform);
  }
  if (!page->fine && (bytes % 4 != 0 || offset % 4 != 0)) {
    std::vector<RaceCell> fine(pageBytes);
    for (uint64_t i = 0; i < pageBytes; ++i)
      fine[i] = page->cells[i / 4];
    page->cells = std::move(fine);
    page->fine = true;
  }
  return *page;
}

BlockRaces::BlockRaces(GridRaces &grid, uint64_t block)
    : shared(256 * 1024), grid(grid), block(block), firstThread(static_cast<uint32_t>(block * grid.threadsPerBlock)),
      threads(grid.threadsPerBlock) {
  auto nothing = std::make_shared<VectorClock>();
  nothing->own.assign(threads.size(), 0);
  for (Thread &thread : threads)
    thread.known = nothing;
}

bool BlockRaces::isKnown(const VectorClock &known, uint32_t globalThread, uint32_t clock) const {
  uint32_t other = globalThread - firstThread;
  if (other < threads.size())
    return known.own[other] >= clock;
  auto found = known.others.find(globalThread / grid.threadsPerBlock);
  return found != known.others.end() && (*found->second)[globalThread % grid.threadsPerBlock] >= clock;
}

bool BlockRaces::happensBefore(uint32_t globalThread, uint32_t clock, uint32_t thread) const {
  const Thread &state = threads[thread];
  uint32_t other = globalThread - firstThread;
  return other == thread || isKnown(*state.known, globalThread, clock) ||
         (state.issuedAt >= clock && state.issuer == other) || (state.agentClock >= clock && state.agent == other);
}

uint32_t BlockRaces::unorderedLanes(uint32_t globalThread, uint32_t clock, const Access &access) const {
  uint32_t first = access.thread % 32, late = 0;
  const VectorClock *sufficient = nullptr;
  for (uint32_t lanes = access.lanes | 1u << first; lanes != 0; lanes &= lanes - 1) {
    uint32_t lane = static_cast<uint32_t>(__builtin_ctz(lanes)), thread = access.thread - first + lane;
    // Threads that met share what they know.
    const VectorClock *known = threads[thread].known.get();
    if (known == sufficient)
      continue;
    if (isKnown(*known, globalThread, clock))
      sufficient = known;
    else
      late |= uint32_t(!happensBefore(globalThread, clock, thread)) << lane;
  }
  return late;
}

uint32_t BlockRaces::unorderedReaders(uint32_t warp, uint32_t lanes, uint32_t clock, uint32_t thread) const {
  uint32_t late = 0, first = warp - firstThread;
  const VectorClock &known = *threads[thread].known;
  if (first < threads.size() && lanes == ~0u) {
    const uint32_t *clocks = known.own.data() + first;
    for (unsigned lane = 0; lane < 32; ++lane)
      late |= uint32_t(clocks[lane] < clock) << lane;
  } else {
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
      late |= uint32_t(!isKnown(known, warp + lane, clock)) << lane;
    }
  }
  uint32_t unordered = 0;
  for (; late != 0; late &= late - 1) {
    uint32_t lane = static_cast<uint32_t>(__builtin_ctz(late));
    unordered |= uint32_t(!happensBefore(warp + lane, clock, thread)) << lane;
  }
  return unordered;
}

bool BlockRaces::morallyStrong(uint32_t globalThread, Scope otherScope, const Access &access) const {
  if (access.scope == Scope::None || otherScope == Scope::None)
    return false;
  uint64_t other = globalThread / grid.threadsPerBlock;
  Scope narrower = std::min(access.scope, otherScope);
  return other == block || narrower >= Scope::Gpu ||
         (narrower == Scope::Cluster && grid.clusters.same(block, other));
}

bool BlockRaces::access(RaceShadow &shadow, uint64_t offset, uint64_t bytes, const Access &access, RaceReport &report) {
  bool raced = false;
  shadow.visit(offset, bytes, [&](RaceCell &cell) { raced |= accessCell(shadow, cell, access, report); });
  return raced || (access.readOnly && readsWritten(shadow, offset, bytes, access, report));
}

bool BlockRaces::readsWritten(RaceShadow &shadow, uint64_t offset, uint64_t bytes, const Access &access,
                              RaceReport &report) const {
  bool found = false;
  shadow.visit(offset, bytes, [&](const RaceCell &cell) {
    if (found || cell.writeClock == 0)
      return;
    found = true;
    report = reportOf(cell.writeThread, cell.writeLine, true, grid.launch);
    report.isReadOnly = true;
    report.lane = access.lanes ? static_cast<uint32_t>(__builtin_ctz(access.lanes)) : access.thread % 32;
  });
  return found;
}

RaceReport BlockRaces::reportOf(uint32_t globalThread, uint32_t line, bool wasWrite, uint32_t launch) const {
  RaceReport report = {globalThread / grid.threadsPerBlock, globalThread % grid.threadsPerBlock, line, wasWrite, launch};
  report.isRace = true;
  return report;
}

bool BlockRaces::renewCell(RaceCell &cell, const Access &access, RaceReport &report) {
  bool raced = false, writes = access.kind != AccessKind::Read;
  // An earlier launch is ordered as a whole, or not at all.
  if (cell.launch != 0 && !isBefore(cell.launch)) {
    if (cell.writeClock != 0)
      raced = !writes || !access.sameValue;
    else
      raced = writes && cell.readClock != 0;
    if (raced && cell.writeClock != 0)
      report = reportOf(cell.writeThread, cell.writeLine, true, cell.launch);
    else if (raced)
      report = reportOf(cell.readWarp + static_cast<uint32_t>(__builtin_ctz(cell.readLanes | 1u << 31)), cell.readLine,
                        false, cell.launch);
    report.lane = access.thread % 32;
  }
  cell = {};
  cell.launch = grid.launch;
  return raced;
}

bool BlockRaces::accessCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report) {
  bool raced = cell.launch != grid.launch && renewCell(cell, access, report);
  if (access.kind == AccessKind::Read)
    return readCell(shadow, cell, access, report) || raced;
  return writeCell(shadow, cell, access, report) || raced;
}

void BlockRaces::checkProxy(const RaceShadow &shadow, const RaceCell &cell, const Access &access,
                            RaceReport &report) const {
  bool isOwnShared = &shadow == &shared;
  if (report.isRace || !isAsyncProxy(access.thread) || !lacksProxyFence(cell, access, isOwnShared))
    return;
  // Of the bytes of one access, the worst is told.
  if (report.needsProxyFence && !report.isWarning)
    return;
  report = reportOf(cell.writeThread, cell.writeLine, true, cell.launch);
  report.isRace = false;
  report.needsProxyFence = true;
  report.isFencedByOther = fencedOnTheWay(cell.writeThread, cell.writeClock, access.thread,
                                          access.inShared ? fencesShared : fencesGlobal);
  report.isWarning = access.kind != AccessKind::Read || !isOwnShared ||
                     report.block != block || report.isFencedByOther || report.thread >= grid.realThreads;
}

bool BlockRaces::readCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report) {
  bool raced = false;
  if (cell.writeClock != 0 && !morallyStrong(cell.writeThread, cell.writeScope, access))
    if (uint32_t late = unorderedLanes(cell.writeThread, cell.writeClock, access)) {
      raced = true;
      report = reportOf(cell.writeThread, cell.writeLine, true, grid.launch);
      report.lane = static_cast<uint32_t>(__builtin_ctz(late));
    }
  checkProxy(shadow, cell, access, report);
  // Lanes whose clocks differ are entries of their own.
  uint32_t first = access.thread % 32, lanes = access.lanes | 1u << first, warp = access.thread - first;
  while (lanes != 0) {
    uint32_t clock = threads[warp + static_cast<uint32_t>(__builtin_ctz(lanes))].clock, same = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
      same |= uint32_t(threads[warp + lane].clock == clock) << lane;
    }
    addReaders(cell, globalThread(warp), same, clock, access);
    lanes &= ~same;
  }
  return raced;
}

bool BlockRaces::writeRacesWithReads(const RaceCell &cell, const Access &access, RaceReport &report) const {
  bool raced = false;
  auto check = [&](uint32_t warp, uint32_t lanes, uint32_t clock, uint32_t line, Scope scope) {
    if (morallyStrong(warp, scope, access))
      return;
    if (uint32_t late = unorderedReaders(warp, lanes, clock, access.thread)) {
      raced = true;
      report = reportOf(warp + static_cast<uint32_t>(__builtin_ctz(late)), line, false, grid.launch);
    }
  };
  if (cell.readClock != 0)
    check(cell.readWarp, cell.readLanes, cell.readClock, cell.readLine, cell.readScope);
  if (cell.readers != 0)
    for (const GridRaces::Reader &reader : grid.readerSets[cell.readers - 1])
      check(reader.firstThread, reader.lanes, reader.clock, reader.line, reader.scope);
  return raced;
}

bool BlockRaces::writeCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report) {
  bool raced = false;
  bool changes = access.kind != AccessKind::Write || !access.sameValue;
  if (changes) {
    if (cell.writeClock != 0 && !morallyStrong(cell.writeThread, cell.writeScope, access) &&
        !happensBefore(cell.writeThread, cell.writeClock, access.thread)) {
      raced = true;
      report = reportOf(cell.writeThread, cell.writeLine, true, grid.launch);
    }
    raced |= writeRacesWithReads(cell, access, report);
    report.lane = access.thread % 32;
  }
  checkProxy(shadow, cell, access, report);
  cell.writeThread = globalThread(access.thread);
  cell.writeClock = threads[access.thread].clock;
  cell.writeLine = access.line;
  cell.writeScope = access.scope;
  // Reads before this write either raced (reported) or are ordered before it.
  cell.readClock = 0;
  if (cell.readers != 0)
    grid.readerSets[cell.readers - 1].clear();
  return raced;
}

void BlockRaces::addReaders(RaceCell &cell, uint32_t warp, uint32_t lanes, uint32_t clock, const Access &access) {
  bool isSameWarp = cell.readWarp == warp;
  if (cell.readClock == clock && isSameWarp && cell.readScope == access.scope) {
    cell.readLanes |= lanes;
    return;
  }
  // A read that happens before one of these needs no memory of its own.
  uint32_t thread = warp - firstThread + static_cast<uint32_t>(__builtin_ctz(lanes));
  if (cell.readClock == 0 || (isSameWarp && (cell.readLanes & ~lanes) == 0) ||
      unorderedReaders(cell.readWarp, cell.readLanes, cell.readClock, thread) == 0) {
    cell.readWarp = warp;
    cell.readLanes = lanes;
    cell.readClock = clock;
    cell.readLine = access.line;
    cell.readScope = access.scope;
    return;
  }
  if (cell.readers == 0) {
    grid.readerSets.emplace_back();
    cell.readers = static_cast<uint32_t>(grid.readerSets.size());
  }
  std::vector<GridRaces::Reader> &readers = grid.readerSets[cell.readers - 1];
  for (GridRaces::Reader &reader : readers)
    if (reader.firstThread == warp && reader.clock == clock && reader.scope == access.scope) {
      reader.lanes |= lanes;
      return;
    }
  GridRaces::Reader entry = {warp, lanes, clock, access.line, access.scope};
  if (readers.size() < maxReaders)
    readers.push_back(entry);
  else
    readers[(warp * 2654435761u + clock) % maxReaders] = entry;
}

JoinedClock BlockRaces::snapshot(uint32_t thread) const {
  JoinedClock result;
  const Thread &state = threads[thread];
  result.blocks = state.known->others;
  auto own = std::make_shared<BlockClock>(state.known->own);
  (*own)[thread] = state.clock;
  (*own)[state.agent] = std::max((*own)[state.agent], state.agentClock);
  result.blocks[block] = std::move(own);
  return result;
}

void BlockRaces::release(const std::vector<uint32_t> &released, JoinedClock &into) {
  if (released.empty())
    return;
  // Threads that share their knowledge, as all do after a barrier, are joined in one step.
  auto own = std::make_shared<BlockClock>(threads.size(), 0);
  if (auto known = into.blocks.find(block); known != into.blocks.end())
    *own = *known->second;
  const VectorClock *last = nullptr;
  for (uint32_t thread : released) {
    Thread &state = threads[thread];
    if (state.known.get() != last) {
      last = state.known.get();
      for (size_t i = 0; i < own->size(); ++i)
        (*own)[i] = std::max((*own)[i], last->own[i]);
      for (const auto &[other, clock] : last->others) {
        std::shared_ptr<const BlockClock> &mine = into.blocks[other];
        mine = maximum(mine, clock);
      }
    }
    (*own)[thread] = std::max((*own)[thread], state.clock);
    (*own)[state.agent] = std::max((*own)[state.agent], state.agentClock);
    ++state.clock;
  }
  into.blocks[block] = std::move(own);
}

void BlockRaces::acquire(const std::vector<uint32_t> &acquiring, const JoinedClock &from) {
  // One new vector per distinct old one.
  std::vector<std::pair<ClockRef, ClockRef>> made;
  for (uint32_t thread : acquiring) {
    Thread &state = threads[thread];
    ClockRef result;
    for (const auto &[old, fresh] : made)
      if (old == state.known)
        result = fresh;
    if (!result) {
      auto joined = std::make_shared<VectorClock>(*state.known);
      for (const auto &[other, clock] : from.blocks) {
        if (other == block) {
          for (size_t i = 0; i < joined->own.size(); ++i)
            joined->own[i] = std::max(joined->own[i], (*clock)[i]);
        } else {
          std::shared_ptr<const BlockClock> &mine = joined->others[other];
          mine = maximum(mine, clock);
        }
      }
      result = joined;
      // Most threads of a block know the same; a few distinct predecessors are worth remembering.
      if (made.size() < 4)
        made.emplace_back(state.known, result);
      else
        made[thread % 4] = {state.known, result};
    }
    state.known = std::move(result);
  }
}

IssuePoint BlockRaces::issue(uint32_t thread) {
  Thread &state = threads[thread];
  return {state.known, thread, state.clock++, state.agentClock};
}

void BlockRaces::become(uint32_t agent, const IssuePoint &issued, uint32_t clock) {
  Thread &state = threads[agent];
  state.known = issued.known;
  state.issuer = issued.thread;
  state.issuedAt = issued.clock;
  state.agent = agentOf(issued.thread);
  state.agentClock = issued.agentClock;
  state.clock = clock;
}

void BlockRaces::learn(uint32_t thread, uint32_t agent, uint32_t clock) {
  Thread &state = threads[thread];
  if (agent == agentOf(thread)) {
    state.agent = agent;
    state.agentClock = std::max(state.agentClock, clock);
    return;
  }
  if (state.known->own[agent] >= clock)
    return;
  auto known = std::make_shared<VectorClock>(*state.known);
  known->own[agent] = clock;
  state.known = std::move(known);
}

void BlockRaces::publishFence(uint32_t thread, JoinedClock &into) const {
  if (threads[thread].fenced)
    into.join(*threads[thread].fenced);
}

void BlockRaces::fence(uint32_t thread, Scope scope) {
  Thread &state = threads[thread];
  if (!state.seen.empty()) {
    acquire({thread}, state.seen);
    state.seen.clear();
  }
  state.fenced = std::make_shared<JoinedClock>(snapshot(thread));
  state.fencedScope = scope;
  ++state.clock;
}

void BlockRaces::strongRead(uint32_t thread, uint64_t key, Scope scope, bool acquires) {
  auto found = grid.released.find(key);
  if (found == grid.released.end())
    return;
  const GridRaces::Released &location = found->second;
  Scope narrower = std::min(scope, location.scope);
  bool inScope = location.block == block || narrower >= Scope::Gpu ||
                 (narrower == Scope::Cluster && grid.clusters.same(block, location.block));
  if (!inScope)
    return;
  if (acquires)
    acquire({thread}, location.clock);
  else
    threads[thread].seen.join(location.clock);
}

void BlockRaces::strongWrite(uint32_t thread, uint64_t key, Scope scope, bool releases, bool isRmw) {
  Thread &state = threads[thread];
  if (!releases && !state.fenced) {
    // A plain strong store ends a release sequence; a read-modify-write continues it.
    if (!isRmw)
      grid.released.erase(key);
    return;
  }
  GridRaces::Released &location = grid.released[key];
  if (!isRmw)
    location.clock.clear();
  location.scope = releases ? scope : std::min(scope, state.fencedScope);
  location.block = block;
  if (releases) {
    location.clock.join(snapshot(thread));
    ++state.clock;
  } else {
    location.clock.join(*state.fenced);
  }
}

} // namespace tilewright::ptxsim
