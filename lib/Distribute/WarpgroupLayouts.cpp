// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts of the accumulator of a wgmma, and of its operand A in registers: the instruction's atom
// as often as the tile has it, by warpgroups along m.
//
//   128 x 256 sums of "wgmma.m64n256k16.bf16.f32" by 8 warps: rows 0 to 63 are the first
//   warpgroup's, rows 64 to 127 the second's; a thread has rows 8 apart, pairs of columns

#include "WarpgroupLayouts.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Layout/Atoms.h"

using namespace mlir;
using namespace tilewright;
using layout::Level;
using layout::Mode;

FailureOr<ProductLoops> tilewright::warpgroupLoops(MmaOp op) {
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  std::optional<unsigned> m, n, k;
  for (unsigned loop = 0; loop < maps[2].getNumDims(); ++loop) {
    bool inA = maps[0].isFunctionOfDim(loop),
         inB = maps[1].isFunctionOfDim(loop),
         inC = maps[2].isFunctionOfDim(loop);
    auto &role = inA && inC && !inB ? m : inB && inC && !inA ? n : k;
    if (role || (&role == &k && !(inA && inB && !inC)))
      return op.emitOpError()
             << "by a warpgroup's instruction needs exactly one "
                "m, one n and one k loop";
    role = loop;
  }
  if (!m || !n || !k)
    return op.emitOpError() << "needs an m, an n and a k loop";
  return ProductLoops{*m, *n, *k};
}

int64_t tilewright::countWarpgroups(const ThreadRange &threads) {
  return threads.warps % 4 || threads.firstWarp % 4 ? 0 : threads.warps / 4;
}

int64_t tilewright::rowsTogether(MmaOp op) {
  auto rows = op->getAttrOfType<IntegerAttr>(kRowsTogetherAttr);
  return rows ? rows.getInt() : 1;
}

/// `layout`, of `dim` as the instruction counts rows, with the rows in the order in which
/// `together` of them are one thread's: the row 8 further down is the next one, where
/// `together` is more than 2, so is that of the next instruction along the rows.
static FailureOr<DistributedLayout> gatherRows(MmaOp op, const DistributedLayout &layout,
                                               int dim, int64_t together) {
  if (together == 1)
    return layout;
  auto moved = [&](DistributedLayout::Modes modes, Level level) {
    for (Mode &mode : modes) {
      if (mode.dim != dim)
        continue;
      if (level == Level::Register)
        mode.stride = mode.stride == 8 ? 1 : together > 2 ? mode.stride / 32 : mode.stride;
      else if (mode.stride < 64)
        mode.stride = mode.stride == 1 ? together : mode.stride / 2 * together;
    }
    return modes;
  };
  auto result = DistributedLayout::get(
      layout.shape(), moved(layout.modes(Level::Register), Level::Register),
      moved(layout.modes(Level::Lane), Level::Lane),
      moved(layout.modes(Level::Warp), Level::Warp), layout.firstWarp());
  if (!result)
    return op.emitOpError() << result.error();
  return *result;
}

/// `atom` as often as `counts` says, by warpgroups along the rows.
template <typename Atom>
static FailureOr<DistributedLayout>
repeatAtom(MmaOp op, const Atom &atom, ArrayRef<int64_t> counts, int64_t groups,
           bool isTransposed, const ThreadRange &threads) {
  if (!atom)
    return op.emitOpError() << atom.error();
  auto result = DistributedLayout::repeat(*atom, counts, {{groups, 0}}, {0, 1});
  if (!result)
    return op.emitOpError() << result.error();
  if (isTransposed)
    *result = result->transpose({1, 0});
  return result->withFirstWarp(threads.firstWarp);
}

FailureOr<DistributedLayout>
tilewright::warpgroupAccumulator(MmaOp op, const ThreadRange &threads) {
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> loops = warpgroupLoops(op);
  if (!instruction || failed(loops))
    return failure();
  int64_t groups = countWarpgroups(threads);
  if (!groups)
    return op.emitOpError()
           << "by '" << *op.getInstruction()
           << "' is for whole warpgroups of four warps, not " << threads.warps
           << " warps from warp " << threads.firstWarp << " on";
  auto acc = cast<VectorType>(op.getAcc().getType());
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[2]).getValue();
  if (acc.getRank() != 2)
    return op.emitOpError()
           << "by a warpgroup's instruction has an accumulator of m by n, or n by m";
  unsigned rows = map.getDimPosition(0) == loops->m ? 0 : 1;
  int64_t m = acc.getDimSize(rows), n = acc.getDimSize(1 - rows);
  if (m % (instruction->m * groups) || n % instruction->n)
    return op.emitOpError()
           << "tile " << m << "x" << n << " is no multiple of instruction '"
           << *op.getInstruction() << "' by " << groups
           << " warpgroups along m";
  auto layout = repeatAtom(op, layout::wgmmaAccumulator(instruction->n),
                           {m / (instruction->m * groups), n / instruction->n}, groups,
                           /*isTransposed=*/rows == 1, threads);
  if (failed(layout))
    return failure();
  return gatherRows(op, *layout, rows, rowsTogether(op));
}

FailureOr<DistributedLayout>
tilewright::warpgroupOperandA(MmaOp op, const ThreadRange &threads) {
  auto instruction =
      MatrixInstruction::parse(op.getContext(), *op.getInstruction());
  FailureOr<ProductLoops> loops = warpgroupLoops(op);
  int64_t groups = countWarpgroups(threads);
  if (!instruction || failed(loops) || !groups)
    return failure();
  auto type = cast<VectorType>(op.getA().getType());
  AffineMap map = cast<AffineMapAttr>(op.getMaps()[0]).getValue();
  unsigned rows = map.getDimPosition(0) == loops->m ? 0 : 1;
  int64_t m = type.getDimSize(rows), k = type.getDimSize(1 - rows);
  if (type.getRank() != 2 || m % (instruction->m * groups) || k % instruction->k)
    return op.emitOpError() << "has " << type << " in registers, which '"
                            << *op.getInstruction() << "' by " << groups
                            << " warpgroups does not take from there";
  auto layout = repeatAtom(op, layout::wgmmaOperandA(instruction->operandBits()),
                           {m / (instruction->m * groups), k / instruction->k}, groups,
                           /*isTransposed=*/rows == 1, threads);
  int64_t together = rowsTogether(op);
  if (failed(layout) || together == 1)
    return layout;
  layout = gatherRows(op, *layout, rows, together);
  if (failed(layout))
    return failure();
  // Registers in memory's order: those side by side first.
  DistributedLayout::Modes first, rest;
  for (const Mode &mode : layout->modes(Level::Register))
    (mode.dim == int(rows) && mode.stride < together ? first : rest).push_back(mode);
  llvm::append_range(first, rest);
  auto result = DistributedLayout::get(layout->shape(), first, layout->modes(Level::Lane),
                                       layout->modes(Level::Warp), layout->firstWarp());
  if (!result)
    return op.emitOpError() << result.error();
  return *result;
}
