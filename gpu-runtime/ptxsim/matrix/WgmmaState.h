// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warp has of wgmma on its way.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_WGMMASTATE_H
#define TILEWRIGHT_PTXSIM_MATRIX_WGMMASTATE_H

#include "checks/Races.h"
#include "machine/SharedTraffic.h"
#include "matrix/Matrix.h"

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace tilewright::ptxsim {

struct Frame;
struct Inst;
struct SparsePlaces;

/// One wgmma.mma_async of one warp, from its issue to the wait that covers it.
struct WgmmaFlight {
  const Inst *inst = nullptr;
  const MatrixCode *code = nullptr;
  Frame *frame = nullptr;
  uint64_t descriptorA = 0, descriptorB = 0;
  bool accumulates = true;
  bool performed = false;
  /// Of a sparse A, as the metadata said at the issue.
  std::shared_ptr<const SparsePlaces> places;
  uint32_t group = 0;
  uint32_t clock = 0;
  IssuePoint issued;
};

struct WgmmaState {
  std::vector<WgmmaFlight> flights;
  uint32_t committed = 0;
  uint32_t issued = 0;
  /// Clock of the last multiplication of each committed group.
  std::vector<uint32_t> groupEnds;
  uint32_t clock = 0;
  bool fenced = false;
  /// By row of the kernel's frame: written since the last fence; read or written since then; in flight as D; in flight as A.
  std::vector<uint8_t> written, touched, owned, read;
  /// What operands cost shared memory, by instruction and descriptors of A and B: loops come back to the same places.
  std::map<std::tuple<const Inst *, uint64_t, uint64_t>, BankCost> operandCosts;
};

/// What the four warps of a warpgroup must agree on, in order of issue.
struct WarpgroupIssue {
  const Inst *inst = nullptr;
  uint64_t descriptorA = 0, descriptorB = 0;
  bool accumulates = true;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_WGMMASTATE_H
