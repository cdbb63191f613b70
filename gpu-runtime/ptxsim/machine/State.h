// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running grid: blocks, warps, and the fragments that a warp falls into when its lanes diverge.
//
// A fragment is a set of lanes at one program counter. A divergent branch splits a fragment in two and leaves a join at
// the branch's immediate post-dominator; fragments that reach the join wait there and leave it as one. Lanes that exit
// are no longer expected. Every runnable fragment gets its turn, so a lane may wait for another lane of its own warp
// (independent thread scheduling), and lanes at a join are let go early when the others spin.

#ifndef TILEWRIGHT_PTXSIM_MACHINE_STATE_H
#define TILEWRIGHT_PTXSIM_MACHINE_STATE_H

#include "async/Bulk.h"
#include "async/CopyAsync.h"
#include "async/Mbarrier.h"
#include "checks/Findings.h"
#include "checks/Races.h"
#include "decode/Program.h"
#include "isa/Special.h"
#include "matrix/WgmmaState.h"
#include "machine/DeviceMemory.h"
#include "machine/Options.h"

#include <atomic>
#include <array>
#include <map>
#include <memory>
#include <vector>

namespace tilewright::ptxsim {

class Progress;
class GlobalTraffic;
class IssueCounts;
class SharedTraffic;
struct Block;
struct Cluster;
struct Grid;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct Frame {
  const FunctionCode *function = nullptr;
  std::vector<uint64_t> registers;
  /// One bit per lane and row: some bit of the register is undefined; which ones, undefinedBits tells.
  std::vector<uint32_t> undefinedLanes;
  std::vector<uint64_t> undefinedBits;
  /// Call parameters, lane-major; a byte of definedParams has a bit set per defined bit.
  std::vector<uint8_t> params;
  std::vector<uint8_t> definedParams;
  /// Where this frame's .local variables begin in each lane's local memory.
  uint32_t localBase = 0;
  /// Ends of what alloca has handed out, per lane; made by the first.
  std::vector<uint32_t> localTops;
  Frame *caller = nullptr;
  const CallSite *site = nullptr;
};

struct Join {
  uint32_t expected = 0;
  uint32_t arrived = 0;
  uint32_t pc = 0;
  Frame *frame = nullptr;
  uint32_t parent = noIndex;
  /// Set for a call: the frame that ends with this join.
  std::unique_ptr<Frame> callee;
  bool live = false;
};

struct Fragment {
  /// Asleep: polled in vain (see async/Mbarrier.h).
  enum State : uint8_t { Runnable, AtCollective, AtBarrier, Asleep };
  uint32_t mask = 0;
  uint32_t pc = 0;
  /// Reconvergence point in the current frame, or noIndex.
  uint32_t stopPc = noIndex;
  uint32_t join = noIndex;
  Frame *frame = nullptr;
  State state = Runnable;
  /// Lanes that the collective waits for.
  uint32_t memberMask = 0;
  uint8_t barrier = 0;
  /// Of a fragment that is asleep: the instruction that polled, behind which it may stand already.
  uint32_t polledAt = noIndex;

  /// The instruction that it runs or waits at.
  uint32_t place() const { return state == Asleep ? polledAt : pc; }
};

struct Warp {
  Block *block = nullptr;
  uint32_t index = 0;
  /// Lanes that have not exited.
  uint32_t live = 0;
  std::array<Fragment, warpSize> fragments;
  std::vector<Join> joins;
  std::unique_ptr<Frame> kernelFrame;
  /// A row per special register that the program uses.
  std::array<uint64_t, warpSize * static_cast<unsigned>(Special::Count)> special;
  /// Per-lane local memory, lane-major with this stride.
  std::vector<uint8_t> local;
  std::vector<uint8_t> definedLocal;
  uint32_t localStride = 0;
  /// Backward branches since lanes last met: a high count with lanes waiting at a join lets those go.
  uint32_t spins = 0;
  /// Made by the first cp.async.
  std::unique_ptr<AsyncCopies> copies;
  /// Made by the first wgmma.
  std::unique_ptr<WgmmaState> wgmma;
  /// Lanes that arrived at the cluster's barrier: in the phase that is under way, and in one that is complete and that
  /// they have not waited for yet.
  uint32_t clusterArrived = 0, clusterComplete = 0;

  bool hasRunnable() const;
};

struct NamedBarrier {
  /// Threads to wait for; 0 means all threads of the block that have not exited.
  uint32_t expected = 0;
  uint32_t arrived = 0;
  bool active = false;
  bool aligned = false;
  uint32_t population = 0;
  bool allOf = true;
  bool anyOf = false;
  JoinedClock clock;
};

struct Block {
  Grid *grid = nullptr;
  Cluster *cluster = nullptr;
  Dim3 id;
  uint64_t linear = 0;
  /// Place in the cluster.
  uint32_t rank = 0;
  /// The program's constants, with the addresses that this block has of what is in its shared memory.
  const std::vector<uint64_t> *constants = nullptr;
  std::vector<uint8_t> shared;
  /// The part of it that is the kernel's: its address, where it begins in `shared`, and its size.
  uint32_t sharedAddress = 0, sharedBegin = 0, sharedBytes = 0;
  /// A bit set per defined bit of shared memory.
  std::vector<uint8_t> definedShared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> barriers;
  uint32_t liveThreads = 0;
  std::unique_ptr<BlockRaces> races;
  uint32_t smId = 0;
  /// Made by the first bulk copy.
  std::unique_ptr<BulkCopies> bulk;
  /// Made by the first mbarrier.init.
  std::unique_ptr<MbarrierSet> mbarriers;
  /// Times that sleepers were woken because nobody else could run, since the last progress.
  uint32_t idleWakes = 0;
  /// Registers of a thread, by warp, and free ones in threads of a warp; set up by the first setmaxnreg.
  std::vector<uint32_t> registers;
  int64_t freeRegisters = 0;
  /// The setmaxnreg that each warp has executed.
  std::vector<std::vector<const Inst *>> registerChanges;
  /// What each warpgroup has issued.
  std::map<uint32_t, std::vector<WarpgroupIssue>> warpgroups;
};

/// Blocks that are resident together; one block in a launch without clusters. Ended blocks stay until all have ended.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  /// What arrivals at the barrier of the phase under way have released, and of the one before.
  JoinedClock arriving, completed;
  /// Times that its barrier was complete.
  uint64_t meetings = 0;
};

/// What one launch shares among its blocks. Findings and the abort flag are the only parts written by several threads.
struct Grid {
  const Program *program = nullptr;
  std::string name;
  Dim3 gridDim, blockDim, clusterDim;
  /// Launched with clusters, be it of one block.
  bool explicitCluster = false;
  /// The constants of blocks of rank 1 and up; none where the program takes no address in shared memory.
  std::vector<std::vector<uint64_t>> constantsOfRank;
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> params;
  uint64_t launchId = 0;
  const void *owner = nullptr;
  DeviceMemory *memory = nullptr;
  const MachineOptions *options = nullptr;
  FindingLog *findings = nullptr;
  GridRaces *races = nullptr;
  /// Null unless shared memory's wavefronts are counted.
  SharedTraffic *traffic = nullptr;
  /// Null unless requests of global memory are counted.
  GlobalTraffic *globalTraffic = nullptr;
  /// Null unless issue slots are counted.
  IssueCounts *issue = nullptr;
  bool checks = false;
  /// When the launch is given up; see LaunchRequest.
  uint64_t deadline = 0;
  const std::atomic<bool> *cancelled = nullptr;
  std::atomic<bool> aborted{false};
  /// The finding that ended the launch.
  std::atomic<FindingKind> reason{FindingKind::Trap};
  std::atomic<uint64_t> instructions{0};
  std::atomic<uint64_t> warpInstructions{0};
  std::atomic<uint64_t> clock{0};
  Progress *progress = nullptr;
};

/// What a handler sees: the fragment it runs for and the rows of its operands.
struct ExecContext {
  uint64_t *bases[3] = {nullptr, nullptr, nullptr};
  uint32_t mask = 0;
  Frame *frame = nullptr;
  Fragment *fragment = nullptr;
  Warp *warp = nullptr;
  Block *block = nullptr;
  Grid *grid = nullptr;
  bool checks = false;
  /// The launch was given up; the interpreter returns at once.
  bool stopped = false;
  /// Set by a handler of Flow::Poll that failed in all lanes.
  bool sleeps = false;
  /// With sleeps: the instruction is to be tried again.
  bool again = false;
  uint64_t stepCount = 0;
  uint64_t threadStepCount = 0;
  /// Choices that a program must not depend on.
  uint64_t (*next)(void *) = nullptr;
  void *generator = nullptr;
  uint64_t random() { return next(generator); }
  /// One recently used allocation per instruction.
  std::vector<Allocation *> allocationCache;

  uint64_t *row(Row row) { return bases[row >> 30] + uint64_t(row & rowIndexMask) * warpSize; }

  /// Lanes of a row with any undefined bit; constants and special registers have none.
  uint32_t undefinedLanes(Row row) const { return row < constantBank ? frame->undefinedLanes[row] : 0; }
  uint64_t undefinedBits(Row row, unsigned lane) const {
    if (row >= constantBank || !(frame->undefinedLanes[row] >> lane & 1))
      return 0;
    return frame->undefinedBits[uint64_t(row) * warpSize + lane];
  }
  void setUndefinedBits(Row row, unsigned lane, uint64_t bits) {
    uint32_t bit = 1u << lane;
    if (bits == 0) {
      frame->undefinedLanes[row] &= ~bit;
      return;
    }
    frame->undefinedLanes[row] |= bit;
    frame->undefinedBits[uint64_t(row) * warpSize + lane] = bits;
  }
  void setDefined(Row row, uint32_t lanes) { frame->undefinedLanes[row] &= ~lanes; }

  /// Records a finding at this instruction; aborts the launch when findings are fatal. `lane` may be noIndex.
  void report(FindingKind kind, const Inst &inst, unsigned lane, uint64_t address, std::string message) {
    reportWithOther(kind, inst, lane, address, std::move(message), 0);
  }
  /// The same with the line of the other access of a race. A warning fails no launch.
  void reportWithOther(FindingKind kind, const Inst &inst, unsigned lane, uint64_t address, std::string message,
                       uint32_t otherLine, bool isWarning = false);
};

template <typename Callable> inline void forEachLane(uint32_t mask, Callable callable) {
  while (mask != 0) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(mask));
    callable(lane);
    mask &= mask - 1;
  }
}

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MACHINE_STATE_H
