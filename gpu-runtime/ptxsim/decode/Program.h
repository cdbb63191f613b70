// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executable form of one kernel and everything it calls. An instruction is a function over rows: a row holds one
// register of all 32 lanes, 64 bits each, values zero-extended. Immediates and special registers are rows too, so
// every operand is read the same way:
//
//   Row = 2 bits of bank | 30 bits of index      bank 0: registers of the current frame
//                                                bank 1: constants of the program (addresses in shared memory: of the block)
//                                                bank 2: special registers of the warp

#ifndef TILEWRIGHT_PTXSIM_DECODE_PROGRAM_H
#define TILEWRIGHT_PTXSIM_DECODE_PROGRAM_H

#include "arithmetic/Video.h"
#include "isa/Special.h"
#include "isa/Types.h"
#include "matrix/Matrix.h"
#include "parser/Ast.h"

#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tilewright::ptxsim {

inline constexpr Row frameBank = 0;
inline constexpr Row constantBank = 1u << 30;
inline constexpr Row specialBank = 2u << 30;
inline constexpr Row rowIndexMask = (1u << 30) - 1;
/// Row 0 of every frame takes results written to `_`.
inline constexpr Row sinkRow = 0;

struct ExecContext;
struct Inst;
using Handler = void (*)(ExecContext &, const Inst &);

/// What the interpreter does after, or instead of, the handler.
/// Poll: as Next, but a failed attempt gives up the turn.
enum class Flow : uint8_t { Next, Branch, BranchIndexed, Call, Return, Exit, Collective, Barrier, Poll, Trap };

/// How undefined bits of the sources reach the result (see checks/Undefined.cpp).
enum class UndefRule : uint8_t {
  Own,     // the handler tracks it, or there is no result
  All,     // any undefined source bit makes the whole result undefined
  Bits,    // bit by bit (not, copies of equal width)
  And,     // a defined 0 decides
  Or,      // a defined 1 decides
  Carry,   // undefined from the lowest undefined bit upwards (add, sub, mul low, mad low)
  Shift,   // shifts with a defined amount move the undefined bits
  Select,  // selp: of the chosen source, everything if the predicate is undefined
  Extend,  // integer conversion
  Equal,   // setp eq / ne: a defined difference decides
  Extract, // bfe, shf, prmt and their like with defined positions: evaluated on the undefined bits themselves
};

enum class AtomicOp : uint8_t { Add, Inc, Dec, Min, Max, And, Or, Xor, Exch, Cas };
enum class CollectiveOp : uint8_t { Shuffle, Vote, Match, Reduce, WarpBarrier, Elect, Matrix, MapCopy };
enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };
enum class VoteMode : uint8_t { All, Any, Uniform, Ballot };
enum class MatchMode : uint8_t { Any, All };
enum class BarrierOp : uint8_t { Sync, Arrive, ReducePopc, ReduceAnd, ReduceOr, ClusterArrive, ClusterWait };
enum class SetCombine : uint8_t { None, And, Or, Xor };

struct Inst {
  Handler run = nullptr;
  /// The handler that a wrapper (directed rounding) calls.
  Handler inner = nullptr;
  Row dst[4] = {0, 0, 0, 0};
  Row src[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  Row guard = 0;
  uint8_t numDst = 0;
  uint8_t numSrc = 0;
  bool guarded = false;
  bool guardNegated = false;
  Flow flow = Flow::Next;
  UndefRule undef = UndefRule::All;
  ScalarType type = ScalarType::None;
  ScalarType fromType = ScalarType::None;
  Space space = Space::Generic;
  /// Vector elements of a memory access.
  uint8_t elements = 1;
  /// Width of the destination register, where it may exceed the type's.
  uint8_t dstBits = 0;
  Rounding rounding = Rounding::Nearest;
  Compare compare = Compare::Eq;
  SetCombine combine = SetCombine::None;
  Scope scope = Scope::None;
  Order order = Order::Weak;
  /// AtomicOp, CollectiveOp or BarrierOp.
  uint8_t op = 0;
  /// ShuffleMode, VoteMode, MatchMode.
  uint8_t mode = 0;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool nan = false;
  bool xorSign = false;
  bool approx = false;
  bool wantsPredicate = false;
  bool negateSource = false;
  bool aligned = false;
  bool isVolatile = false;
  /// A bulk copy that combines with what is there, by `op`.
  bool reduces = false;
  /// A bulk copy of pixels, and the number of offsets it has.
  bool isIm2col = false;
  uint8_t im2colOffsets = 0;
  /// A load by the path for memory that nothing writes while the kernel runs: .nc.
  bool readOnly = false;
  /// The memory operand is a function-level .param variable of the current frame.
  bool frameParam = false;
  /// The address is relative to the local variables of the current frame.
  bool frameLocal = false;
  bool uniform = false;
  /// Address offset, lop3 table, branch-table, call-site or video index.
  int64_t offset = 0;
  /// Of a second and a third address.
  int64_t offset2 = 0, offset3 = 0;
  uint32_t target = noIndex;
  /// Index into Program::matrices.
  uint32_t matrix = noIndex;
  /// Index into Program::rowLists: sources of instructions that have many.
  uint32_t rows = noIndex;
  /// Where diverged lanes meet again; noIndex when only the end of the function is common.
  uint32_t reconverge = noIndex;
  uint32_t line = 0;
  SourceLocation source;
  const Instruction *syntax = nullptr;
};

/// Places that a call copies from and to: byte offsets in the parameter area of a frame.
struct ParamSlot {
  uint32_t offset = 0;
  uint32_t size = 0;
};

enum class Builtin : uint8_t { None, Printf, AssertFail, Malloc, Free };

struct CallSite {
  /// Index into Program::functions, or noIndex for an indirect call through src[0].
  uint32_t callee = noIndex;
  Builtin builtin = Builtin::None;
  std::vector<ParamSlot> arguments;
  std::vector<ParamSlot> results;
};

struct FunctionCode {
  const Function *function = nullptr;
  uint32_t entry = 0;
  uint32_t end = 0;
  uint32_t rows = 1;
  uint32_t localBytes = 0;
  uint32_t paramBytes = 0;
  std::vector<ParamSlot> params;
  std::vector<ParamSlot> returns;
  /// Parameters, and results, that live in local memory because their address is taken.
  struct StackSlot {
    uint32_t param = 0, local = 0, size = 0;
  };
  std::vector<StackSlot> stackParams, stackReturns;
};

/// Addresses of module-level variables, by index into Module::variables; 0 for those not in global memory.
using VariableAddresses = std::vector<uint64_t>;

/// Function addresses are this base plus 16 times the function's index in its module.
inline constexpr uint64_t codeAddressBase = 0x00c0de0000000000ull;

struct Program {
  const Module *module = nullptr;
  const Function *kernel = nullptr;
  std::vector<Inst> code;
  /// functions[0] is the kernel.
  std::vector<FunctionCode> functions;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> branchTables;
  std::vector<MatrixCode> matrices;
  std::vector<std::vector<Row>> rowLists;
  std::vector<VideoCode> videos;
  /// Constant rows, 32 lanes each.
  std::vector<uint64_t> constants;
  /// Those of them that hold addresses in shared memory, as the block of rank 0 in its cluster has them.
  std::vector<Row> sharedRows;
  /// Module function index to index in `functions`.
  std::unordered_map<uint32_t, uint32_t> functionOfAddress;
  /// Asynchronous copies count as accesses of their own threads.
  bool usesAgents = false;
  /// Special registers that some instruction reads; the others are never set.
  std::bitset<static_cast<size_t>(Special::Count)> usedSpecials;
  uint32_t staticShared = 0;
  uint32_t dynamicSharedOffset = 0;
  uint32_t paramBytes = 0;
  std::vector<ParamSlot> params;
  /// First byte of the shared window that a kernel may use (sm_90 and later reserve the first KiB).
  uint32_t sharedBegin = 0;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_DECODE_PROGRAM_H
