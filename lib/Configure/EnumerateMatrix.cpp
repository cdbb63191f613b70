// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions on matrix units. A warp's part of the block tile is a grid of
// instruction tiles; a tile may hang over the edge of a small problem, where
// operands are filled with zeros and results are not written:
//
//   block = [128, 128, 32], warps = [2, 2, 1], mma = "mma.m16n8k16.f16.f32"

#include "CostModel.h"
#include "Enumerate.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// True if factors of f32 products may be rounded (--fp=tf32).
static bool mayRound(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto fp = module ? module->getAttrOfType<ArrayAttr>(kFpAttr) : ArrayAttr();
  return fp && llvm::is_contained(fp, StringAttr::get(op->getContext(), "tf32"));
}

bool tilewright::hasTypesOf(linalg::LinalgOp op, const Contraction &contraction,
                            const MatrixInstruction &instruction) {
  auto isOf = [&](unsigned number, Type type) {
    return getElementTypeOrSelf(op->getOperand(number)) == type;
  };
  return (!instruction.rounds || mayRound(op)) &&
         isOf(contraction.a, instruction.operand) &&
         isOf(contraction.b, instruction.operand) &&
         isOf(2, instruction.accumulator) &&
         llvm::all_of(contraction.signedness, [&](StringRef factor) {
           return factor == instruction.signedness;
         });
}

std::optional<MatrixInstruction>
tilewright::matchInstruction(const KernelInfo &info, StringRef name,
                             std::string &reason) {
  auto instruction =
      MatrixInstruction::parse(info.getRoot()->getContext(), name);
  std::optional<Contraction> contraction = matchContraction(info.getRoot());
  if (!instruction) {
    reason = "matrix instruction '" + name.str() + "' is not understood";
    return std::nullopt;
  }
  if (!contraction || contraction->k.empty()) {
    reason = "matrix instructions need an m, an n and a k loop";
    return std::nullopt;
  }
  if (!hasTypesOf(info.getRoot(), *contraction, *instruction)) {
    reason = "matrix instruction '" + name.str() + "' is for other types";
    if (instruction->rounds && !mayRound(info.getRoot()))
      reason += ", and f32 is rounded for it with --fp=tf32 only";
    return std::nullopt;
  }
  return instruction;
}

std::optional<MatrixLoops>
tilewright::findMatrixLoops(const Contraction &contraction,
                            LoweringConfigAttr config) {
  auto tiled = [&](ArrayRef<unsigned> loops, unsigned &result) {
    unsigned count = 0;
    for (unsigned loop : loops)
      if (loop < config.getBlock().size() && config.getBlock()[loop] != 1)
        result = loop, ++count;
    return count == 1;
  };
  MatrixLoops result{};
  if (!tiled(contraction.m, result.m) || !tiled(contraction.n, result.n) ||
      !tiled(contraction.k, result.k))
    return std::nullopt;
  return result;
}

/// Of the loops of one kind, the longest becomes the instruction's; a block runs
/// the others one by one. Of equal ones the inner.
static unsigned longest(const KernelInfo &info, ArrayRef<unsigned> loops) {
  return *std::max_element(loops.begin(), loops.end(),
                           [&](unsigned a, unsigned b) {
                             return nominalExtent(info, a) <=
                                    nominalExtent(info, b);
                           });
}

std::vector<LoweringConfigAttr>
tilewright::enumerateMatrix(const KernelInfo &info, TargetAttr target) {
  std::vector<LoweringConfigAttr> configs;
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!names || info.split)
    return configs;
  MLIRContext *context = info.getRoot()->getContext();
  for (auto name : names.getAsRange<StringAttr>()) {
    std::string reason;
    auto instruction = matchInstruction(info, name, reason);
    if (!instruction)
      continue;
    Contraction contraction = *matchContraction(info.getRoot());
    unsigned m = longest(info, contraction.m), n = longest(info, contraction.n),
             k = longest(info, contraction.k);
    auto most = [&](unsigned loop, int64_t least) {
      return std::max<int64_t>(
          least, llvm::PowerOf2Ceil(nominalExtent(info, loop)));
    };
    int64_t mMost = most(m, instruction->m), nMost = most(n, instruction->n),
            kMost = most(k, instruction->k);
    SmallVector<int64_t> promote{contraction.a, contraction.b};
    llvm::sort(promote);
    static constexpr int64_t grids[][2] = {{2, 2}, {1, 1}, {2, 1}, {1, 2},
                                           {4, 2}, {2, 4}, {4, 1}, {1, 4}};
    for (int64_t blockM : {128, 64, 256, 32, 16})
      for (int64_t blockN : {128, 64, 256, 32, 16, 8})
        for (int64_t blockK : {32, 64, 16, 8})
          for (auto [warpsM, warpsN] : grids) {
            if (blockM > mMost || blockN > nMost || blockK > kMost ||
                blockM % (instruction->m * warpsM) ||
                blockN % (instruction->n * warpsN) ||
                blockK % instruction->k)
              continue;
            SmallVector<int64_t> block(info.getNumConfigLoops(), 1);
            SmallVector<int64_t> warps(block), thread(block);
            block[m] = blockM, block[n] = blockN, block[k] = blockK;
            warps[m] = warpsM, warps[n] = warpsN;
            for (int64_t stages : {2, 1})
              configs.push_back(LoweringConfigAttr::get(
                  context, Strategy::MatrixUnit, block, warps, thread, stages,
                  promote, name, info.getSplits()));
          }
  }
  return configs;
}
