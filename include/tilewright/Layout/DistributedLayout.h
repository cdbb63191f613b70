// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distributed layouts: which warp, lane and register holds which element of a
// block-level vector.
//
// THE IDEA. A vector of static shape lives in the registers of a thread block.
// The three hardware indices (register, lane, warp) are mixed-radix numbers.
// Each digit, a *mode*, moves the element's coordinate along one dimension by a
// stride, or moves nothing (the digit is a replica):
//
//     Mode { count, dim, stride }       written  count:stride@dim   or  count:*
//
// A level (registers, lanes, warps) is a list of modes, the first one fastest;
// an element's coordinate along d is the sum, over all modes of dimension d, of
// digit * stride.
//
// WORKED TABLE 1. shape=[4, 8] regs=[2:1@1] lanes=[4:2@1, 2:1@0] warps=[2:2@0]
// 2 registers, 8 lanes, 2 warps. Lane 5 = digits (1, 1): column 1*2, row 1*1.
// In the picture, "1:5/0" is warp 1, lane 5, register 0:
//
//            col 0   1     2     3     4     5     6     7
//     row 0  0:0/0 0:0/1 0:1/0 0:1/1 0:2/0 0:2/1 0:3/0 0:3/1
//     row 1  0:4/0 0:4/1 0:5/0 0:5/1 0:6/0 0:6/1 0:7/0 0:7/1
//     row 2  1:0/0 1:0/1 1:1/0 1:1/1 1:2/0 1:2/1 1:3/0 1:3/1
//     row 3  1:4/0 1:4/1 1:5/0 1:5/1 1:6/0 1:6/1 1:7/0 1:7/1
//
// WORKED TABLE 2. The A fragment of mma.m16n8k16 (f16, dimensions m = 0, k = 1):
//     shape=[16, 16] regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0] warps=[]
//     register       0       1       2       3       4       5       6       7
//     lane 0  (m,k)  (0,0)   (0,1)   (8,0)   (8,1)   (0,8)   (0,9)   (8,8)   (8,9)
//     lane 5         (1,2)   (1,3)   (9,2)   (9,3)   (1,10)  (1,11)  (9,10)  (9,11)
// Three such tiles below each other append one mode to the registers: 3:16@0.
// Nothing needs the 3 to be a power of two.
//
// WORKED TABLE 3. Reducing table 1 along dimension 1 leaves
//     shape=[4] regs=[] lanes=[4:*, 2:1@0] warps=[2:2@0]
// Registers of the reduced dimension vanish; its lanes (and warps) all end with
// the result, so their digits become replicas.
//
// WHY hardware index -> element, and not the reverse. Replication is a digit
// that does nothing; in the other direction one element would need a set of
// owners. Every question of code generation ("where is my element", "what do I
// load") starts at a thread. And the reverse stays easy, because a verified
// layout is a *complete mixed-radix decomposition*: along each dimension the
// digits, sorted by stride, have strides 1, c0, c0*c1, ... and the product of
// the counts is the extent. So each element has exactly one owner up to
// replicas, which div, mod and multiply alone find (`owner`).
//
// WHY mixed radix, and not linear maps over bits. Instruction atoms are powers
// of two, but tiles such as 96 or 3 x 64 are not, and here an atom and its grid
// of repeats are one value of one type. The price: sets of digits that do not
// refine each other (2 x 3 against 3 x 2) cannot be compared digit by digit;
// conversions between those go through shared memory.
//
// OPAQUE layouts (cooperative matrices) name an atom whose inside belongs to
// the instruction. Their register modes count atoms per warp, every stride is a
// multiple of the atom's shape, and coordinates are those of the atom's first
// element.
//
// `firstWarp` places a layout on the block's warps [firstWarp, firstWarp +
// numWarps), for warp-specialised kernels. Warp indices in this interface count
// from firstWarp.
//
// Units: shapes and strides are in elements. Values are immutable apart from
// assignment; everything is safe to use from several threads.
// Errors: what comes from outside (text, attributes, configurations) is
// answered by `verify`, `get`, `parse`, `blocked`, ... with a text. All other
// members need a verified layout and arguments in range.

#ifndef TILEWRIGHT_LAYOUT_DISTRIBUTEDLAYOUT_H
#define TILEWRIGHT_LAYOUT_DISTRIBUTEDLAYOUT_H

#include "tilewright/Layout/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::layout {

/// One digit of a hardware index: its values 0 .. count-1 advance the
/// coordinate along `dim` by `stride` each; dim = -1 (then stride = 0) is a
/// replica.
struct Mode {
  int64_t count = 1;
  int dim = -1;
  int64_t stride = 0;

  static Mode replica(int64_t count) { return {count, -1, 0}; }
  bool isReplica() const { return dim < 0; }
  bool operator==(const Mode &o) const {
    return count == o.count && dim == o.dim && stride == o.stride;
  }
  bool operator!=(const Mode &o) const { return !(*this == o); }
};

enum class Level { Register = 0, Lane = 1, Warp = 2 };
inline constexpr std::array<Level, 3> allLevels = {Level::Register, Level::Lane,
                                                   Level::Warp};

/// Where an element is. `warp` counts from firstWarp.
struct Place {
  int64_t reg = 0, lane = 0, warp = 0;
  bool operator==(const Place &o) const {
    return reg == o.reg && lane == o.lane && warp == o.warp;
  }
};

/// One term of index arithmetic, ((x / div) % mod) * multiplier, where x is a
/// level's index; it adds to the coordinate along `dim`. The `% mod` is superfluous
/// where `top` is set (no larger digit exists in x).
struct DigitTerm {
  int dim;
  int64_t div, mod, multiplier;
  bool top;
  int64_t operator()(int64_t x) const { return x / div % mod * multiplier; }
};

/// The registers of one thread, grouped into runs of elements that are adjacent
/// along a dimension. groups[g][i] is the register with the i-th element of run
/// g. Each run starts at a coordinate that is a multiple of `length`.
struct RegisterRuns {
  int64_t length = 1;
  std::vector<std::vector<int64_t>> groups;
};

/// One digit of a warp grid: `count` warps along `dim`, or replicas (dim = -1).
struct WarpDigit {
  int64_t count;
  int dim;
};

class DistributedLayout {
public:
  using Shape = std::vector<int64_t>;
  using Modes = std::vector<Mode>;

  /// Larger layouts are refused by `verify`.
  static constexpr int64_t maxRegisters = int64_t(1) << 20;
  static constexpr int64_t maxLanes = 1024;
  static constexpr int64_t maxWarps = 1024;

  /// A scalar (rank 0) in one thread.
  DistributedLayout() = default;
  /// Unchecked; call `verify` before anything else.
  DistributedLayout(Shape shape, Modes regs, Modes lanes, Modes warps,
                    int64_t firstWarp = 0)
      : extents(std::move(shape)),
        first(firstWarp), levels{std::move(regs), std::move(lanes),
                                 std::move(warps)} {}

  /// Constructs and verifies.
  static Result<DistributedLayout> get(Shape shape, Modes regs, Modes lanes,
                                       Modes warps, int64_t firstWarp = 0);
  /// An opaque layout; `regs` counts atoms, strides are in elements.
  static Result<DistributedLayout> getOpaque(std::string name, Shape atomShape,
                                             Shape shape, Modes regs,
                                             Modes lanes, Modes warps,
                                             int64_t firstWarp = 0);

  /// Empty if well formed, else what is wrong.
  std::string verify() const;

  //===--- What it is -----------------------------------------------------===//

  const Shape &shape() const { return extents; }
  int rank() const { return static_cast<int>(extents.size()); }
  const Modes &modes(Level level) const {
    return levels[static_cast<int>(level)];
  }
  /// The product of the level's counts.
  int64_t size(Level level) const;
  int64_t numRegisters() const { return size(Level::Register); }
  int64_t numLanes() const { return size(Level::Lane); }
  int64_t numWarps() const { return size(Level::Warp); }
  int64_t firstWarp() const { return first; }

  bool isOpaque() const { return !opaque.empty(); }
  const std::string &opaqueName() const { return opaque; }
  /// All ones where the layout is not opaque.
  Shape atomShape() const;

  /// Copies of each element that a level holds.
  int64_t replication(Level level) const;
  bool isReplicated() const;
  /// The replica digits of a level, as (index / div) % mod: a thread is the
  /// first owner where all of them are zero (the guard of a store or atomic).
  std::vector<DigitTerm> replicaDigits(Level level) const;

  /// Drops counts of 1 and merges neighbours that count on as one digit. Two
  /// layouts are the same map exactly if their canonical forms are equal.
  DistributedLayout canonicalize() const;
  /// Equality of maps (shape, firstWarp and opaque atom included).
  bool operator==(const DistributedLayout &o) const;
  bool operator!=(const DistributedLayout &o) const { return !(*this == o); }

  //===--- The map and its inverse ----------------------------------------===//

  std::vector<int64_t> coordinates(int64_t reg, int64_t lane,
                                   int64_t warp) const;
  std::vector<int64_t> coordinates(const Place &p) const {
    return coordinates(p.reg, p.lane, p.warp);
  }
  /// The constant part that a register adds to the thread's coordinates.
  std::vector<int64_t> registerOffset(int64_t reg) const {
    return coordinates(reg, 0, 0);
  }
  /// Terms that a level's index adds to the coordinates (replicas left out).
  std::vector<DigitTerm> forwardTerms(Level level) const;

  /// The first owner: all replica digits zero.
  Place owner(const std::vector<int64_t> &coords) const;

  //===--- Vector accesses ------------------------------------------------===//

  /// How many elements adjacent along `dim` one thread holds.
  int64_t contiguity(int dim) const;
  /// Runs of the largest length that divides contiguity(dim) and is at most
  /// `maxLength`. Runs of replica registers are listed like any other.
  RegisterRuns registerRuns(int dim, int64_t maxLength) const;

  //===--- New layouts from old -------------------------------------------===//
  // Of an opaque layout, only withFirstWarp and transpose have a meaning.

  DistributedLayout withFirstWarp(int64_t warp) const;
  /// Result dimension i is source dimension perm[i] (as vector.transpose).
  DistributedLayout transpose(const std::vector<int> &perm) const;
  /// Extent 1 along `dim`; its modes become replicas at every level. This is
  /// what each thread *reads* when a size-1 dimension is broadcast to this
  /// layout: planConversion(source, target.project(dim)).
  DistributedLayout project(int dim) const;
  /// The result of a reduction along `dim`: the dimension is gone, its lanes
  /// and warps are replicas, its registers vanish.
  DistributedLayout slice(int dim) const;
  /// For each register of this layout, the register of slice(dim) it reduces
  /// into (and, read the other way, is broadcast from).
  std::vector<int64_t> sliceRegisters(int dim) const;
  /// A new dimension before `pos`; all of it (if size > 1) in registers.
  DistributedLayout insertDim(int pos, int64_t size = 1) const;
  /// Grows a size-1 dimension: every thread holds all of it, in new registers.
  Result<DistributedLayout> broadcastInRegisters(int dim, int64_t size) const;
  /// The same elements in row-major order under another shape; an error where
  /// a digit would straddle the new dimensions.
  Result<DistributedLayout> reshape(const Shape &newShape) const;

  //===--- Factories ------------------------------------------------------===//

  /// Elements, then lanes, then warps, then register repeats, per dimension;
  /// order[0] is the fastest dimension at every level. Works for every shape:
  /// along d a thread takes gcd(shape[d], elemsPerThread[d]) elements, lanes
  /// take the gcd of what is left and lanes[d], warps likewise; lanes and warps
  /// that find no work are replicas; the rest becomes register repeats. So
  /// shape[d] should be a multiple of the product to use all threads. An error
  /// only for ranks that disagree, sizes below 1, or a bad order.
  static Result<DistributedLayout>
  blocked(Shape shape, const Shape &elemsPerThread, const Shape &lanes,
          const Shape &warps, const std::vector<int> &order);
  /// Like `blocked`, choosing the split itself: a vector of `elems` along
  /// order[0], then lanes, then warps, each along order[0], order[1], ... as
  /// far as they divide.
  static Result<DistributedLayout> coalesced(Shape shape, int64_t elems,
                                             int64_t numLanes, int64_t numWarps,
                                             const std::vector<int> &order);
  /// An atom times a grid. The atom's digits come first at each level; then the
  /// registers get registerRepeats[d] for d in `order`, the warps get
  /// `warpGrid`, first digit fastest: each warp owns one contiguous part.
  static Result<DistributedLayout>
  repeat(const DistributedLayout &atom, const Shape &registerRepeats,
         const std::vector<WarpDigit> &warpGrid, const std::vector<int> &order);

  //===--- Text -----------------------------------------------------------===//

  /// shape=[16, 8] regs=[2:1@1] lanes=[4:2@1, 8:*] warps=[2:8@0] first_warp=4
  /// (first_warp only if not 0; opaque ones add opaque=name atom=[16, 16]).
  std::string print(bool withShape = true) const;
  /// Reads `print`'s text and verifies. Without shape=[...], the shape is the
  /// product of the counts of each dimension.
  static Result<DistributedLayout> parse(std::string_view text);
  /// Same for text without a shape, or with this very shape.
  static Result<DistributedLayout> parse(std::string_view text,
                                         const Shape &shape);
  /// A table of "warp:lane/register" over the last two dimensions, one page for
  /// each index of the others, first owners only; a trailing '+' marks
  /// elements with replicas. Rows and columns beyond the limit are elided.
  std::string picture(int64_t maxRows = 64, int64_t maxColumns = 64) const;

private:
  DistributedLayout withModesMapped(Shape shape,
                                    const std::vector<int> &newDim) const;

  Shape extents;
  int64_t first = 0;
  std::array<Modes, 3> levels;
  std::string opaque;
  Shape opaqueAtom;
};

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_DISTRIBUTEDLAYOUT_H
