// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often shared memory is touched: what every ld, st, ldmatrix, stmatrix, cp.async, bulk copy and operand of wgmma of a
// launch costs its banks. There
// are 32 banks of four bytes, and lanes take turns where they touch more bytes than the banks hold: 32 lanes at once up to
// four bytes each, 16 for eight, 8 for sixteen and for the rows of a matrix. A load of eight or sixteen bytes, in which
// all lanes have the address of lane^1, or all of lane^2, takes half as many turns (an engineer of NVIDIA about compute
// capability 7, forums.developer.nvidia.com/t/77228; assumed of later ones). A turn lasts as many *wavefronts* as the
// busiest bank has different words to give. A bulk copy moves 128 bytes a wavefront, in each block that it reaches. wgmma
// reads its operands in matrices of eight rows of 16 bytes, A for each warp, B once for the four of them (assumed: no source
// says in which order). Atomics are not counted.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_SHAREDTRAFFIC_H
#define TILEWRIGHT_PTXSIM_MACHINE_SHAREDTRAFFIC_H

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::ptxsim {

struct ExecContext;
struct Inst;
struct Program;

/// Of one instruction, in one launch.
struct TrafficRow {
  /// As written, and where in the PTX.
  std::string instruction;
  uint32_t line = 0;
  /// Times that a warp executed it, wavefronts in all, and the wavefronts that it would take without conflicts.
  uint64_t executed = 0, wavefronts = 0, least = 0;
  /// Wavefronts if each lane took the eight or sixteen aligned bytes around its address: ptxas merges neighbours.
  uint64_t as8 = 0, as16 = 0;
};

/// Of one access of a warp to 32 banks.
struct BankCost {
  unsigned wavefronts = 0, turns = 0;
};
/// `addresses` of the lanes of `mask`, each `bytes` wide.
BankCost bankCost(const uint64_t *addresses, uint32_t mask, unsigned bytes, bool isLoad);
/// Of rows of 16 bytes, eight to a matrix.
BankCost matricesCost(const uint64_t *rows, unsigned count);

class SharedTraffic {
public:
  explicit SharedTraffic(const Program &program);

  /// Before a warp executes an instruction other than those that move matrices.
  void count(ExecContext &context, const Inst &inst);
  /// `rows` addresses of matrices' rows in shared memory, eight to a matrix.
  void countMatrices(const Inst &inst, const uint64_t *rows, unsigned count) { this->count(inst, matricesCost(rows, count)); }
  /// An instruction of which a warp's cost is known.
  void count(const Inst &inst, BankCost cost);
  /// A bulk copy at one end in shared memory.
  void countBulk(const Inst &inst, uint64_t bytes);

  /// Instructions that were executed, in the order of the program.
  std::vector<TrafficRow> rows() const;

private:
  struct Counters {
    std::atomic<uint64_t> executed{0}, wavefronts{0}, least{0}, as8{0}, as16{0};
  };
  Counters &countersOf(const Inst &inst);

  const Program &program;
  /// Per instruction, bytes that a lane touches; 0 for those that are not counted.
  std::vector<uint8_t> bytes;
  std::vector<Counters> counters;
};

/// `text` as JSON has it.
std::string quotedJson(const std::string &text);

/// A line of JSON per row, for people's scripts: kernel, line, instruction and the numbers; "memory": "shared".
std::string trafficLines(const std::string &kernel, const std::vector<TrafficRow> &rows);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_SHAREDTRAFFIC_H
