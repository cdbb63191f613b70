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

RaceShadow::Page &RaceShadow::at(uint64_t offset, uint64_t bytes) {
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
    : shared(256 * 1024), grid(grid), block(block), threads(grid.threadsPerBlock) {
  auto nothing = std::make_shared<VectorClock>();
  nothing->own.assign(threads.size(), 0);
  for (Thread &thread : threads)
    thread.known = nothing;
}

bool BlockRaces::happensBefore(uint32_t globalThread, uint32_t clock, uint32_t thread) const {
  uint64_t otherBlock = globalThread / grid.threadsPerBlock;
  uint32_t other = globalThread % grid.threadsPerBlock;
  if (otherBlock == block)
    return other == thread || threads[thread].known->own[other] >= clock ||
           (threads[thread].issuedAt >= clock && threads[thread].issuer == other);
  auto found = threads[thread].known->others.find(otherBlock);
  return found != threads[thread].known->others.end() && (*found->second)[other] >= clock;
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
  return raced;
}

bool BlockRaces::accessCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report) {
  uint32_t self = static_cast<uint32_t>(block * grid.threadsPerBlock + access.thread);
  bool raced = false;
  auto blame = [&](uint32_t thread, uint32_t line, bool wasWrite, uint32_t launch) {
    raced = true;
    report = {thread / grid.threadsPerBlock, thread % grid.threadsPerBlock, line, wasWrite, launch};
  };
  if (cell.launch != grid.launch) {
    // An earlier launch, or a fresh cell: ordered as a whole, or not at all.
    if (cell.launch != 0 && !grid.launchOrdered(cell.launch)) {
      if (cell.writeClock != 0 && !(access.kind != AccessKind::Read && access.sameValue))
        blame(cell.writeThread, cell.writeLine, true, cell.launch);
      else if (access.kind != AccessKind::Read && cell.readClock != 0)
        blame(cell.readThread, cell.readLine, false, cell.launch);
    }
    cell = {};
    cell.launch = grid.launch;
  }
  bool writes = access.kind != AccessKind::Read;
  if (cell.writeClock != 0 && cell.writeThread != self &&
      !happensBefore(cell.writeThread, cell.writeClock, access.thread) &&
      !morallyStrong(cell.writeThread, cell.writeScope, access) &&
      !(access.kind == AccessKind::Write && access.sameValue))
    blame(cell.writeThread, cell.writeLine, true, grid.launch);
  if (writes && !(access.kind == AccessKind::Write && access.sameValue)) {
    if (cell.readClock != 0 && cell.readThread != self &&
        !happensBefore(cell.readThread, cell.readClock, access.thread) &&
        !morallyStrong(cell.readThread, cell.readScope, access))
      blame(cell.readThread, cell.readLine, false, grid.launch);
    if (cell.readers != 0)
      for (const GridRaces::Reader &reader : grid.readerSets[cell.readers - 1])
        for (uint32_t lanes = reader.lanes; lanes != 0; lanes &= lanes - 1) {
          uint32_t thread = reader.firstThread + static_cast<uint32_t>(__builtin_ctz(lanes));
          if (thread != self && !happensBefore(thread, reader.clock, access.thread) &&
              !morallyStrong(thread, reader.scope, access))
            blame(thread, reader.line, false, grid.launch);
        }
  }
  bool isOwnShared = &shadow == &shared;
  if (!raced && isAsyncProxy(access.thread) && lacksProxyFence(cell, access, isOwnShared)) {
    report = {cell.writeThread / grid.threadsPerBlock, cell.writeThread % grid.threadsPerBlock, cell.writeLine, true,
              cell.launch};
    report.needsProxyFence = true;
    report.isWarning = writes || !isOwnShared;
  }
  uint32_t clock = threads[access.thread].clock;
  if (writes) {
    cell.writeThread = self;
    cell.writeClock = clock;
    cell.writeLine = access.line;
    cell.writeScope = access.scope;
    // Reads before this write either raced (reported) or are ordered before it.
    cell.readClock = 0;
    if (cell.readers != 0)
      grid.readerSets[cell.readers - 1].clear();
  } else {
    addReader(cell, access);
  }
  return raced;
}

void BlockRaces::addReader(RaceCell &cell, const Access &access) {
  uint32_t self = static_cast<uint32_t>(block * grid.threadsPerBlock + access.thread);
  uint32_t clock = threads[access.thread].clock;
  // A read that happens before this one needs no memory of its own.
  if (cell.readClock == 0 || cell.readThread == self || happensBefore(cell.readThread, cell.readClock, access.thread)) {
    cell.readThread = self;
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
  uint32_t lane = access.thread % 32;
  uint32_t first = self - lane;
  for (GridRaces::Reader &reader : readers)
    if (reader.firstThread == first && reader.clock == clock && reader.scope == access.scope) {
      reader.lanes |= 1u << lane;
      return;
    }
  GridRaces::Reader entry = {first, 1u << lane, clock, access.line, access.scope};
  if (readers.size() < maxReaders)
    readers.push_back(entry);
  else
    readers[(self * 2654435761u + clock) % maxReaders] = entry;
}

JoinedClock BlockRaces::snapshot(uint32_t thread) const {
  JoinedClock result;
  const Thread &state = threads[thread];
  result.blocks = state.known->others;
  auto own = std::make_shared<BlockClock>(state.known->own);
  (*own)[thread] = state.clock;
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
  return {state.known, thread, state.clock++};
}

void BlockRaces::become(uint32_t agent, const IssuePoint &issued, uint32_t clock) {
  Thread &state = threads[agent];
  state.known = issued.known;
  state.issuer = issued.thread;
  state.issuedAt = issued.clock;
  state.clock = clock;
}

void BlockRaces::learn(uint32_t thread, uint32_t agent, uint32_t clock) {
  Thread &state = threads[thread];
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
