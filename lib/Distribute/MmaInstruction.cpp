// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block-level matrix products by matrix instructions. The block tile is a grid
// of instruction tiles; A, B and the accumulator are fragments in registers, in
// layouts made of the instruction's atoms. Each instruction tile becomes one
// tilewright.mma_fragment on the registers of its atoms:
//
//   vector<32x16xf32> by one warp with "mma.m16n8k16.f16.f32": 2 x 2 atoms,
//   accumulator registers [atom (0,0): 4][atom (1,0): 4][atom (0,1): 4] …

#include "ThreadCode.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Layout/Atoms.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// The product's shape: which loop is which, and where it is in each operand.
struct Shape {
  // Positions of the rows and columns in A (m, k), B (k, n) and acc (m, n).
  int am, ak, bk, bn, cm, cn;
  int64_t m, n, k;
};

} // namespace

static FailureOr<MatrixInstruction> parseInstruction(MmaOp op) {
  StringRef name = *op.getInstruction();
  if (auto result = MatrixInstruction::parse(op.getContext(), name))
    return *result;
  return op.emitOpError() << "instruction '" << name
                          << "' is not understood; an example is "
                             "\"mma.m16n8k16.f16.f32\"";
}

static FailureOr<Shape> shapeOf(MmaOp op) {
  SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
  Shape shape;
  auto position = [&](int operand, unsigned loop) -> int {
    for (auto [dim, expr] : llvm::enumerate(maps[operand].getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == loop)
        return dim;
    return -1;
  };
  int m = -1, n = -1, k = -1;
  for (unsigned loop = 0; loop < maps[2].getNumDims(); ++loop) {
    bool inA = position(0, loop) >= 0, inB = position(1, loop) >= 0,
         inC = position(2, loop) >= 0;
    int &which = inA && inC && !inB ? m : inB && inC && !inA ? n : k;
    if (which >= 0 || (&which == &k && !(inA && inB && !inC)))
      return op.emitOpError() << "by instruction needs exactly one m, one n and "
                                 "one k loop";
    which = loop;
  }
  if (m < 0 || n < 0 || k < 0)
    return op.emitOpError() << "by instruction needs an m, an n and a k loop";
  shape = {position(0, m), position(0, k), position(1, k),
           position(1, n), position(2, m), position(2, n), 0, 0, 0};
  auto acc = cast<ShapedType>(op.getAcc().getType());
  shape.m = acc.getDimSize(shape.cm);
  shape.n = acc.getDimSize(shape.cn);
  shape.k = cast<ShapedType>(op.getA().getType()).getDimSize(shape.ak);
  return shape;
}

/// Warps along m and n: the config's, or as square as they fit where it says nothing of them.
static FailureOr<std::pair<int64_t, int64_t>>
warpGrid(MmaOp op, const Shape &shape, const MatrixInstruction &instruction, int64_t warps) {
  if (SmallVector<int64_t> given = warpsPerDim(op); !given.empty()) {
    auto grid = std::pair(given[shape.cm], given[shape.cn]);
    if (grid.first * grid.second != warps)
      return op.emitOpError() << "has " << warps << " warps, but the lowering config has "
                              << grid.first << " x " << grid.second << " of them";
    return grid;
  }
  int64_t m = 1;
  while (warps % (m * 2) == 0 && shape.m % (m * 2 * instruction.m) == 0 &&
         m * 2 * m * 2 <= warps * 2)
    m *= 2;
  return std::pair(m, warps / m);
}

FailureOr<MmaLayouts>
tilewright::instructionLayouts(MmaOp op, const ThreadRange &threads) {
  FailureOr<MatrixInstruction> instruction = parseInstruction(op);
  if (failed(instruction))
    return failure();
  if (instruction->warpgroup) {
    auto acc = warpgroupAccumulator(op, threads);
    if (failed(acc))
      return failure();
    MmaLayouts layouts{{}, {}, *acc};
    if (laidOutType(op.getA().getType())) {
      auto a = warpgroupOperandA(op, threads);
      if (failed(a))
        return failure();
      layouts.a = *a;
    }
    return layouts;
  }
  FailureOr<Shape> shape = shapeOf(op);
  if (failed(shape))
    return failure();
  int bits = instruction->operandBits();
  auto opaque = [&](std::string name, int64_t rows, int64_t columns,
                    bool swapped) {
    if (swapped)
      name += kTransposedSuffix.str();
    return layout::cooperativeMatrix(name, {rows, columns}, threads.lanes);
  };
  auto warpsAlong = warpGrid(op, *shape, *instruction, threads.warps);
  if (failed(warpsAlong))
    return failure();
  int64_t warpsM = warpsAlong->first, warpsN = warpsAlong->second;
  if (shape->m % (instruction->m * warpsM) ||
      shape->n % (instruction->n * warpsN) || shape->k % instruction->k)
    return op.emitOpError() << "tile " << shape->m << "x" << shape->n << "x"
                            << shape->k << " is no multiple of instruction '"
                            << *op.getInstruction() << "' on " << warpsM << "x"
                            << warpsN << " warps";
  int64_t repeatM = shape->m / (instruction->m * warpsM),
          repeatN = shape->n / (instruction->n * warpsN),
          repeatK = shape->k / instruction->k;

  // Atoms are [m, k], [k, n], [m, n]; k (n for the accumulator) repeats slowest.
  auto grid = [&](layout::Result<DistributedLayout> atom, int64_t rows,
                  int64_t columns, int dimM, int dimN, std::vector<int> order,
                  bool swapped) -> FailureOr<DistributedLayout> {
    if (!atom)
      return op.emitOpError() << atom.error();
    auto result = DistributedLayout::repeat(
        *atom, {rows, columns}, {{warpsM, dimM}, {warpsN, dimN}}, order);
    if (!result)
      return op.emitOpError() << result.error();
    if (swapped)
      *result = result->transpose({1, 0});
    return result->withFirstWarp(threads.firstWarp);
  };
  bool swapA = shape->am != 0, swapB = shape->bk != 0, swapC = shape->cm != 0;
  auto [im, in, ik] = std::tuple(instruction->m, instruction->n, instruction->k);
  bool isOpaque = instruction->opaque;
  auto a = grid(isOpaque ? opaque("a", im, ik, swapA)
                         : layout::mmaOperandA(im, ik, bits),
                repeatM, repeatK, 0, -1, {0, 1}, swapA);
  auto b = grid(isOpaque ? opaque("b", ik, in, swapB)
                         : layout::mmaOperandB(ik, bits),
                repeatK, repeatN, -1, 1, {1, 0}, swapB);
  auto c = grid(isOpaque ? opaque("acc", im, in, swapC)
                         : layout::mmaAccumulator(im),
                repeatM, repeatN, 0, 1, {0, 1}, swapC);
  if (failed(a) || failed(b) || failed(c))
    return failure();
  return MmaLayouts{*a, *b, *c};
}

LogicalResult ThreadCode::mma(MmaOp op) {
  if (!op.getInstruction())
    return multiplyByFma(op);
  FailureOr<MatrixInstruction> instruction = parseInstruction(op);
  if (failed(instruction))
    return failure();
  return instruction->warpgroup ? multiplyByWarpgroup(op) : multiplyByInstruction(op);
}

LogicalResult ThreadCode::multiplyByInstruction(MmaOp op) {
  if (!laidOutType(op.getA().getType()) || !laidOutType(op.getB().getType()))
    return op.emitOpError()
           << "by instruction takes its operands from registers";
  FailureOr<MatrixInstruction> instruction = parseInstruction(op);
  FailureOr<Shape> shape = shapeOf(op);
  FailureOr<MmaLayouts> layouts = instructionLayouts(op, threads);
  FailureOr<Registers> a = registers(op.getA()), bRegisters = registers(op.getB()),
                       acc = registers(op.getAcc());
  if (failed(instruction) || failed(shape) || failed(layouts) || failed(a) ||
      failed(bRegisters) || failed(acc))
    return failure();
  auto warpsAlong = warpGrid(op, *shape, *instruction, threads.warps);
  if (failed(warpsAlong))
    return failure();
  int64_t warpsM = warpsAlong->first, warpsN = warpsAlong->second;
  int64_t repeatM = shape->m / (instruction->m * warpsM),
          repeatN = shape->n / (instruction->n * warpsN),
          repeatK = shape->k / instruction->k;
  int64_t sizeA = a->size() / (repeatM * repeatK),
          sizeB = bRegisters->size() / (repeatN * repeatK),
          sizeC = acc->size() / (repeatM * repeatN);
  Registers result = *acc;
  for (int64_t k = 0; k < repeatK; ++k)
    for (int64_t n = 0; n < repeatN; ++n)
      for (int64_t m = 0; m < repeatM; ++m) {
        auto at = [](Registers &registers, int64_t tile, int64_t size) {
          return ArrayRef<Value>(registers).slice(tile * size, size);
        };
        ArrayRef<Value> c = at(result, m + repeatM * n, sizeC);
        SmallVector<Type> types(sizeC, c.front().getType());
        auto fragment = MmaFragmentOp::create(
            b, op.getLoc(), types, *op.getInstruction(),
            at(*a, m + repeatM * k, sizeA), at(*bRegisters, n + repeatN * k, sizeB),
            c);
        llvm::copy(fragment.getResults(),
                   result.begin() + (m + repeatM * n) * sizeC);
      }
  define(op.getResult(), result);
  return success();
}
