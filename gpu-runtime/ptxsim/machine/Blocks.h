// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making blocks, and the constants of those that share a cluster.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_BLOCKS_H
#define TILEWRIGHT_PTXSIM_MACHINE_BLOCKS_H

#include "machine/State.h"

namespace tilewright::ptxsim {

/// The program's constants as blocks of rank 1 and up in clusters of this size have them; none when it takes no address in
/// shared memory.
std::vector<std::vector<uint64_t>> constantsOfRanks(const Program &program, uint64_t clusterSize);

/// The blocks of the index'th cluster of the grid, ready to run.
std::unique_ptr<Cluster> makeCluster(ExecContext &context, uint64_t index);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_BLOCKS_H
