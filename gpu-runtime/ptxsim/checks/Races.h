// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Data races by happens-before.
//
// Every thread has a clock that ticks when it releases (a barrier, a fence, a release operation), and knows clock values
// of other threads through what it acquired. An access (thread t, clock c) happens before another thread's access when
// that thread knows clock c of t. Knowledge is a vector clock; vectors are immutable and shared, because after a barrier
// all participants know the same.
//
// Memory has a cell per four bytes, or per byte where narrower accesses were seen. A cell remembers the last write and
// the reads since then that nothing orders yet; at most `maxReaders` of those are kept, which can hide a race but never
// invent one. Two strong accesses (atomic, volatile, relaxed) within each other's scope do not race, nor do two writes
// of the value that is already there.

#ifndef TILEWRIGHT_PTXSIM_CHECKS_RACES_H
#define TILEWRIGHT_PTXSIM_CHECKS_RACES_H

#include "isa/Types.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tilewright::ptxsim {

using BlockClock = std::vector<uint32_t>;

struct VectorClock {
  /// Clocks of this thread's own block, by thread, and of other blocks, by linear block index.
  BlockClock own;
  std::map<uint64_t, std::shared_ptr<const BlockClock>> others;
};
using ClockRef = std::shared_ptr<const VectorClock>;

/// A vector clock of no particular thread: what a barrier or a memory location has collected.
struct JoinedClock {
  std::map<uint64_t, std::shared_ptr<const BlockClock>> blocks;
  bool empty() const { return blocks.empty(); }
  void clear() { blocks.clear(); }
  void join(const JoinedClock &other);
};

/// What a thread knew when it issued an asynchronous copy.
struct IssuePoint {
  ClockRef known;
  uint32_t thread = 0, clock = 0;
  /// Clock of the thread's own agent up to which it had waited.
  uint32_t agentClock = 0;
};

enum class AccessKind : uint8_t { Read, Write, Atomic };

struct Access {
  uint64_t block = 0;
  uint32_t thread = 0;
  /// Reads: other lanes of the thread's warp that do the same.
  uint32_t lanes = 0;
  AccessKind kind = AccessKind::Read;
  Scope scope = Scope::None;
  uint32_t line = 0;
  /// A write of the bytes that are already there.
  bool sameValue = false;
  /// Of shared memory, of whichever block.
  bool inShared = false;
  /// A read by the path for memory that nothing writes while the kernel runs, which no order makes see a write.
  bool readOnly = false;
};

/// The other half of a race.
struct RaceReport {
  uint64_t block = 0;
  uint32_t thread = 0;
  uint32_t line = 0;
  bool wasWrite = false;
  /// Launch that made it; differs from the current one for a race between launches.
  uint64_t launch = 0;
  /// Of this access: the lane that races.
  uint32_t lane = 0;
  bool isRace = false;
  /// The race is one whatever orders the two: a read by the path for what nothing writes.
  bool isReadOnly = false;
  /// No race, but an access through the asynchronous proxy to what was written through the generic one, without a fence.
  bool needsProxyFence = false;
  /// That rule is not confirmed on hardware.
  bool isWarning = false;
  /// Another thread has fenced on the way, which the rule does not accept.
  bool isFencedByOther = false;
};

/// Which memory a fence between proxies is for.
enum : uint8_t { fencesShared = 1, fencesGlobal = 2 };

/// How blocks make clusters.
struct ClusterShape {
  uint32_t grid[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  bool same(uint64_t a, uint64_t b) const;
};

struct RaceCell {
  uint32_t launch = 0;
  uint32_t writeThread = 0, writeClock = 0, writeLine = 0;
  /// Lanes of a warp (its first thread), at one clock.
  uint32_t readWarp = 0, readLanes = 0, readClock = 0, readLine = 0;
  /// Index of a reader set plus one; kept, empty, when a write orders the reads.
  uint32_t readers = 0;
  Scope writeScope = Scope::None;
  Scope readScope = Scope::None;
};

/// Cells of one allocation, or of one block's shared memory, made on first use.
class RaceShadow {
public:
  explicit RaceShadow(uint64_t bytes) : pages((bytes + pageBytes - 1) / pageBytes) {}
  /// Calls `visit` on each cell that [offset, offset + bytes) touches; splits cells where needed.
  template <typename Callable> void visit(uint64_t offset, uint64_t bytes, Callable callable) {
    uint64_t end = offset + bytes;
    while (offset < end) {
      uint64_t begin = offset - offset % pageBytes;
      Page &page = at(offset, offset == begin && end - offset >= pageBytes ? pageBytes : bytes);
      if (page.cells.empty()) {
        callable(page.uniform);
        offset += pageBytes;
        continue;
      }
      unsigned step = page.fine ? 1 : 4;
      for (uint64_t stop = std::min(end, begin + pageBytes); offset < stop; offset += step)
        callable(page.cells[(offset - begin) / step]);
    }
  }

private:
  static constexpr uint64_t pageBytes = 1024;
  struct Page {
    /// Stands for every cell of the page while `cells` is empty: whole pages that copies and fills touched.
    RaceCell uniform;
    std::vector<RaceCell> cells;
    bool fine = false;
  };
  Page &at(uint64_t offset, uint64_t bytes) {
    Page *page = pages[offset / pageBytes].get();
    bool suits = page && !page->cells.empty() && (page->fine || (offset | bytes) % 4 == 0);
    return suits ? *page : prepare(offset, bytes);
  }
  /// Makes the page, and splits it into cells, or finer ones, as these bytes need it.
  Page &prepare(uint64_t offset, uint64_t bytes);
  std::vector<std::unique_ptr<Page>> pages;
};

/// Race state of one launch.
class GridRaces {
public:
  /// With `agents`, every thread has one that its cp.async count as, one for its bulk copies into shared memory, one for what
  /// its bulk stores write, one for the wgmma of its warp, and one for what its bulk stores read: rows of as many as there
  /// are threads.
  static constexpr uint32_t rows = 6;
  GridRaces(uint32_t launch, uint32_t realThreads, bool agents, ClusterShape clusters,
            std::function<bool(uint32_t)> launchOrdered)
      : launch(launch), realThreads(realThreads), threadsPerBlock(agents ? rows * wholeWarps(realThreads) : realThreads),
        clusters(clusters), launchOrdered(std::move(launchOrdered)) {}

  static uint32_t wholeWarps(uint32_t threads) { return (threads + 31) / 32 * 32; }

  const uint32_t launch;
  const uint32_t realThreads;
  /// Agents included: they follow the threads of whole warps.
  const uint32_t threadsPerBlock;
  const ClusterShape clusters;
  /// Whether an earlier launch happens before this one.
  std::function<bool(uint32_t)> launchOrdered;
  /// Whether it may still run while this one's blocks have not waited for it; none does when empty.
  std::function<bool(uint32_t)> mayOverlap;

  /// Lanes of one warp that read at the same clock.
  struct Reader {
    uint32_t firstThread, lanes, clock, line;
    Scope scope;
  };
  std::deque<std::vector<Reader>> readerSets;
  /// What release operations stored with a memory location, and the narrowest scope they used.
  struct Released {
    JoinedClock clock;
    Scope scope = Scope::None;
    uint64_t block = 0;
  };
  std::unordered_map<uint64_t, Released> released;

  /// fence.proxy.async: when, what the thread knew, up to which clock it had waited for its cp.async, and for which memory.
  struct ProxyFence {
    uint32_t clock;
    ClockRef known;
    uint32_t agentClock;
    uint8_t memory;
  };
  /// The last of a thread, at most maxProxyFences of them.
  struct ProxyFences {
    std::vector<ProxyFence> last;
    bool forgotten = false;
  };
  /// By block, then by thread.
  std::unordered_map<uint64_t, std::vector<ProxyFences>> proxyFences;
};

/// Race state of one resident block.
class BlockRaces {
public:
  BlockRaces(GridRaces &grid, uint64_t block);

  /// Records the access and returns true when it races.
  bool access(RaceShadow &shadow, uint64_t offset, uint64_t bytes, const Access &access, RaceReport &report);

  /// Adds what the threads know to `into`, and starts a new period of theirs.
  void release(const std::vector<uint32_t> &threads, JoinedClock &into);
  void acquire(const std::vector<uint32_t> &threads, const JoinedClock &from);

  uint32_t agentOf(uint32_t thread) const { return agent(1, thread); }
  uint32_t bulkAgentOf(uint32_t thread) const { return agent(2, thread); }
  uint32_t bulkWriterOf(uint32_t thread) const { return agent(3, thread); }
  uint32_t wgmmaAgentOf(uint32_t thread) const { return agent(4, thread); }
  uint32_t bulkReaderOf(uint32_t thread) const { return agent(5, thread); }
  /// Bulk copies and wgmma access memory through the asynchronous proxy.
  bool isAsyncProxy(uint32_t thread) const { return thread >= grid.realThreads && thread >= agent(2, 0); }
  /// The thread issues work for an agent: what it did so far happens before that, what it does from now on does not.
  IssuePoint issue(uint32_t thread);
  /// The agent's next accesses are of work issued there, and have this clock.
  void become(uint32_t agent, const IssuePoint &issued, uint32_t clock);
  /// What the thread's last fence released, if there was one, and what its next fence will acquire.
  void publishFence(uint32_t thread, JoinedClock &into) const;
  void noteSeen(uint32_t thread, const JoinedClock &from) { threads[thread].seen.join(from); }
  /// The thread has waited for the agent's accesses up to this clock.
  void learn(uint32_t thread, uint32_t agent, uint32_t clock);

  void fence(uint32_t thread, Scope scope);
  /// griddepcontrol.wait of one of its threads, which the others are taken to come together with.
  void waitForLaunches() { hasWaited = true; }
  /// Whether a fence between proxies of that thread stands between an event of it and what the agent knows of it.
  bool proxyFenced(uint32_t globalThread, uint32_t clock, uint32_t agent, uint8_t memory) const;
  uint32_t clockOf(uint32_t thread) const { return threads[thread].clock; }
  /// Whether what that thread did at that clock happens before what this one does now.
  bool knows(uint32_t thread, uint32_t globalThread, uint32_t clock) const {
    return happensBefore(globalThread, clock, thread);
  }
  /// Whether the thread has learned of anything that happened in another block of the grid.
  bool knowsOf(uint32_t thread, uint64_t otherBlock) const {
    return threads[thread].known && threads[thread].known->others.count(otherBlock) != 0;
  }
  /// A thread's number among all of the grid.
  uint32_t globalThread(uint32_t thread) const { return static_cast<uint32_t>(block * grid.threadsPerBlock + thread); }
  /// fence.proxy.async, fence.mbarrier_init: what the thread wrote so far may be read through the asynchronous proxy.
  void proxyFence(uint32_t thread, uint8_t memory);
  /// Ordering effects of an atomic or strong access at `key` (an address that identifies the location).
  void strongRead(uint32_t thread, uint64_t key, Scope scope, bool acquires);
  void strongWrite(uint32_t thread, uint64_t key, Scope scope, bool releases, bool isRmw);

  RaceShadow shared;

  /// Another block's thread, or a copy, has accessed this block's shared memory.
  void noteOutstanding(uint32_t globalThread, uint32_t clock, uint32_t line);
  /// Such an access that no thread of this block, which has ended, knows of; null when all are known.
  struct Outstanding {
    uint32_t globalThread = 0, clock = 0, line = 0;
  };
  const Outstanding *unknownAtEnd() const;

private:
  struct Thread {
    uint32_t clock = 1;
    ClockRef known;
    /// State at the last fence, published by strong writes that follow it.
    std::shared_ptr<const JoinedClock> fenced;
    Scope fencedScope = Scope::None;
    /// What strong reads saw and the next fence will acquire.
    JoinedClock seen;
    /// An agent's: the thread that issued its work, and until which clock of that thread it knows.
    uint32_t issuer = 0, issuedAt = 0;
    /// What is known of the agent that the thread's (or the issuer's) cp.async count as. Not in `known`, which the lanes of
    /// a warp can go on to share so.
    uint32_t agent = 0, agentClock = 0;
  };
  uint32_t agent(uint32_t row, uint32_t thread) const { return grid.threadsPerBlock / GridRaces::rows * row + thread; }
  bool happensBefore(uint32_t globalThread, uint32_t clock, uint32_t thread) const;
  bool isKnown(const VectorClock &known, uint32_t globalThread, uint32_t clock) const;
  /// Which of these lanes' reads do not happen before what the thread does now.
  uint32_t unorderedReaders(uint32_t warp, uint32_t lanes, uint32_t clock, uint32_t thread) const;
  /// Which of the accessing lanes an event does not happen before.
  uint32_t unorderedLanes(uint32_t globalThread, uint32_t clock, const Access &access) const;
  bool morallyStrong(uint32_t globalThread, Scope otherScope, const Access &access) const;
  bool lacksProxyFence(const RaceCell &cell, const Access &access, bool isOwnShared) const;
  bool fencedBy(uint64_t candidate, uint32_t thread, const GridRaces::ProxyFences &fences, uint32_t globalThread,
                uint32_t clock, uint32_t agent, uint8_t memory) const;
  bool fencedOnTheWay(uint32_t globalThread, uint32_t clock, uint32_t agent, uint8_t memory) const;
  bool accessCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report);
  bool isBefore(uint32_t launch) const {
    return grid.launchOrdered(launch) && (hasWaited || !grid.mayOverlap || !grid.mayOverlap(launch));
  }
  /// A cell that an earlier launch touched, or nobody; true when that races.
  bool renewCell(RaceCell &cell, const Access &access, RaceReport &report);
  /// Whether a read by the path for what nothing writes is of what this launch has written.
  bool readsWritten(RaceShadow &shadow, uint64_t offset, uint64_t bytes, const Access &access, RaceReport &report) const;
  bool readCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report);
  bool writeCell(const RaceShadow &shadow, RaceCell &cell, const Access &access, RaceReport &report);
  /// An access through the asynchronous proxy that no fence orders with the write before it.
  void checkProxy(const RaceShadow &shadow, const RaceCell &cell, const Access &access, RaceReport &report) const;
  bool writeRacesWithReads(const RaceCell &cell, const Access &access, RaceReport &report) const;
  RaceReport reportOf(uint32_t globalThread, uint32_t line, bool wasWrite, uint32_t launch) const;
  void addReaders(RaceCell &cell, uint32_t warp, uint32_t lanes, uint32_t clock, const Access &access);
  JoinedClock snapshot(uint32_t thread) const;

  GridRaces &grid;
  uint64_t block;
  /// Number in the grid of the block's first thread.
  uint32_t firstThread;
  std::vector<Thread> threads;
  bool hasWaited = false;
  /// The latest by thread.
  std::map<uint32_t, Outstanding> outstanding;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_CHECKS_RACES_H
