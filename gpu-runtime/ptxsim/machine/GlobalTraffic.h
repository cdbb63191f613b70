// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch asks of global memory: the reads and writes of every ld, st,
// atom, red, cp.async and bulk copy of a range. A *request* is one such
// instruction of one warp, for its lanes that touch one allocation. Memory
// moves in *sectors*, 32 aligned bytes: a request moves each that it touches
// once, whatever its lanes want of it. There are no caches here: what is asked
// for twice is counted twice, except in `missed`: reads of one block go through a
// cache of its own (MachineOptions::cacheBytes), which keeps what the block reads.
// A tile that a tensor map describes is one request, less what lies outside of the
// tensor; a multicast is read once, by the block that asked for it.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H
#define TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H

#include "machine/SectorCache.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilewright::ptxsim {

class DeviceMemory;
struct ExecContext;
struct Inst;
struct Program;

enum class TrafficWay : uint8_t { None, Read, Write, Update };

/// Of one instruction and one allocation, in one launch.
struct GlobalRow {
  std::string instruction;
  uint32_t line = 0;
  TrafficWay way = TrafficWay::Read;
  /// The allocation's number, in the order of their making, from 1; 0 for
  /// memory that is none of the device's.
  uint64_t buffer = 0;
  /// `bytes` are different ones within a request; `least` is the fewest sectors
  /// that could hold them.
  uint64_t requests = 0, sectors = 0, bytes = 0, least = 0;
  /// First byte touched in the allocation, and the one after the last.
  uint64_t begin = 0, end = 0;
  /// Lines of 128 bytes of all requests, sectors that no cache had, and wavefronts as of shared memory: the cache has
  /// the same banks (`machine/SharedTraffic.h`).
  uint64_t lines = 0, missed = 0, wavefronts = 0;
};

/// Sectors of an allocation that exactly the blocks of `blocks` touched: bit i is
/// the i'th block of MachineOptions::blocks.
struct FootprintRow {
  uint64_t buffer = 0;
  bool isWritten = false;
  uint64_t blocks = 0, sectors = 0;
};

/// What copies of one allocation bring into the shared memory of a block, counted at each block that they reach: the
/// most places where they begin, and mbarriers that they complete at. These say how many stages are in flight.
struct StageRow {
  uint64_t buffer = 0;
  uint64_t blocks = 0, copies = 0, bytes = 0, places = 0, mbarriers = 0;
};

class GlobalTraffic {
public:
  /// Allocations that are made later (by the kernel) count as number 0.
  /// `cacheBytes`: of each block's cache; 0: none. `sampled`: linear numbers of the blocks whose footprints are kept,
  /// 64 at most.
  GlobalTraffic(const Program &program, const DeviceMemory &memory, uint64_t cacheBytes = 0,
                const std::vector<uint64_t> &sampled = {});

  /// One lane's part of a request.
  struct Range {
    uint64_t begin = 0, end = 0;
  };

  /// Before a warp executes a load, store or atomic.
  void count(ExecContext &context, const Inst &inst);
  /// What a copy reads or writes.
  void count(const ExecContext &context, const Inst &inst, TrafficWay way,
             Range *ranges, unsigned number);

  /// A copy from `source` arrives at a place in the shared memory of a block, and completes at an mbarrier there.
  void arrive(uint64_t source, uint64_t block, uint64_t place, uint64_t mbarrier, uint64_t bytes);

  /// In the order of the program, then of the allocations.
  std::vector<GlobalRow> rows() const;
  /// Of each allocation, what was read and what was written; empty without sampled blocks.
  std::vector<FootprintRow> footprints() const;
  /// In the order of the allocations.
  std::vector<StageRow> stages() const;

private:
  /// Copies of one allocation into one block.
  struct Arrivals {
    uint64_t copies = 0, bytes = 0;
    std::set<uint64_t> places, mbarriers;
  };
  struct Buffer {
    uint64_t begin = 0, end = 0, id = 0;
  };
  /// Of one instruction.
  struct Place {
    std::mutex mutex;
    std::vector<GlobalRow> rows;
  };
  /// Of one block.
  struct Sample {
    explicit Sample(uint64_t cacheBytes) : cache(cacheBytes) {}
    SectorCache cache;
    uint64_t bit = 0;
  };
  Buffer bufferOf(uint64_t address) const;
  /// Counts one sector of a request in the block's cache and footprint; whether the cache had it.
  bool touch(const ExecContext &context, const Inst &inst, TrafficWay way, uint64_t sector);

  const Program &program;
  /// Sorted.
  std::vector<Buffer> buffers;
  std::vector<TrafficWay> ways;
  std::unique_ptr<Place[]> places;
  uint64_t cacheBytes;
  std::vector<uint64_t> sampled;
  std::mutex mutex;
  /// By the block's linear number.
  std::unordered_map<uint64_t, Sample> samples;
  /// Blocks by sector, of reads and of writes.
  std::unordered_map<uint64_t, uint64_t> touched[2];
  /// By allocation and block.
  std::map<std::pair<uint64_t, uint64_t>, Arrivals> arrivals;
};

/// As trafficLines of machine/SharedTraffic.h; these lines have "memory":
/// "global", those of footprints "footprint", those of stages "stages".
std::string globalTrafficLines(const std::string &kernel,
                               const std::vector<GlobalRow> &rows,
                               const std::vector<FootprintRow> &footprints = {},
                               const std::vector<StageRow> &stages = {});

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H
