// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch asks of global memory: the reads and writes of every ld, st,
// atom, red, cp.async and bulk copy of a range. A *request* is one such
// instruction of one warp, for its lanes that touch one allocation. Memory
// moves in *sectors*, 32 aligned bytes: a request moves each that it touches
// once, whatever its lanes want of it. There are no caches here: what is asked
// for twice is counted twice. Copies by tensor maps are not counted.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H
#define TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
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
};

class GlobalTraffic {
public:
  /// Allocations that are made later (by the kernel) count as number 0.
  GlobalTraffic(const Program &program, const DeviceMemory &memory);

  /// One lane's part of a request.
  struct Range {
    uint64_t begin = 0, end = 0;
  };

  /// Before a warp executes a load, store or atomic.
  void count(ExecContext &context, const Inst &inst);
  /// What a copy reads or writes.
  void count(const Inst &inst, TrafficWay way, Range *ranges, unsigned number);

  /// In the order of the program, then of the allocations.
  std::vector<GlobalRow> rows() const;

private:
  struct Buffer {
    uint64_t begin = 0, end = 0, id = 0;
  };
  /// Of one instruction.
  struct Place {
    std::mutex mutex;
    std::vector<GlobalRow> rows;
  };
  Buffer bufferOf(uint64_t address) const;

  const Program &program;
  /// Sorted.
  std::vector<Buffer> buffers;
  std::vector<TrafficWay> ways;
  std::unique_ptr<Place[]> places;
};

/// As trafficLines of machine/SharedTraffic.h; these lines have "memory":
/// "global".
std::string globalTrafficLines(const std::string &kernel,
                               const std::vector<GlobalRow> &rows);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_GLOBALTRAFFIC_H
