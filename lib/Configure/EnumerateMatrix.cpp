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

bool tilewright::hasLiberty(Operation *op, StringRef flag) {
  auto module = op->getParentOfType<ModuleOp>();
  auto fp = module ? module->getAttrOfType<ArrayAttr>(kFpAttr) : ArrayAttr();
  return fp && llvm::is_contained(fp, StringAttr::get(op->getContext(), flag));
}

/// True if factors of f32 products may be rounded.
static bool mayRound(Operation *op) { return hasLiberty(op, "tf32"); }

bool tilewright::hasTypesOf(linalg::LinalgOp op, const Contraction &contraction,
                            const MatrixInstruction &instruction) {
  auto isOf = [&](unsigned number, Type type) {
    return getElementTypeOrSelf(op->getOperand(number)) == type;
  };
  return (!instruction.rounds || mayRound(op)) &&
         contraction.perElement == instruction.perElement &&
         isOf(contraction.a, instruction.operands[0]) &&
         isOf(contraction.b, instruction.operands[1]) &&
         isOf(2, instruction.accumulator) &&
         contraction.signedness[0] == instruction.signedness[0] &&
         contraction.signedness[1] == instruction.signedness[1];
}

bool tilewright::isForMatrixUnit(linalg::LinalgOp op, TargetAttr target) {
  /// Rows, or columns, of which a tile has at least one in two.
  constexpr int64_t kFewest = 8;
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr))
    return bool(config.getMma());
  std::optional<Contraction> contraction = matchContraction(op);
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!contraction || !names || contraction->m.size() != 1 ||
      contraction->n.size() != 1 || contraction->k.empty())
    return false;
  SmallVector<int64_t> extents = promisedExtents(op);
  for (unsigned loop : {contraction->m[0], contraction->n[0]})
    if (!ShapedType::isDynamic(extents[loop]) && extents[loop] < kFewest)
      return false;
  // Nibbles share bytes only where they are multiplied so.
  if (contraction->perElement > 1)
    return true;
  return llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
    auto instruction = MatrixInstruction::parse(op.getContext(), name);
    return instruction && hasTypesOf(op, *contraction, *instruction);
  });
}

std::optional<Contraction> tilewright::matchOriented(linalg::LinalgOp op,
                                                     LoweringConfigAttr config) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction || !config || !config.isForWarpgroups())
    return contraction;
  ArrayRef<int64_t> warps = config.getWarps();
  auto has = [&](ArrayRef<unsigned> loops) {
    return llvm::any_of(loops, [&](unsigned loop) {
      return loop < warps.size() && warps[loop] > 1;
    });
  };
  return has(contraction->n) && !has(contraction->m) ? swapped(*contraction)
                                                     : contraction;
}

StringAttr tilewright::withColumns(StringAttr instruction, int64_t columns) {
  // wgmma.m64n128k16.f16.f32
  auto [rows, rest] = instruction.getValue().split('n');
  return StringAttr::get(instruction.getContext(),
                         rows + "n" + Twine(columns) + rest.ltrim("0123456789"));
}

Contraction tilewright::swapped(Contraction contraction) {
  std::swap(contraction.a, contraction.b);
  std::swap(contraction.m, contraction.n);
  std::swap(contraction.signedness[0], contraction.signedness[1]);
  return contraction;
}

std::optional<MatrixInstruction>
tilewright::matchInstruction(const KernelInfo &info, StringRef name,
                             const std::optional<Contraction> &contraction,
                             std::string &reason) {
  auto instruction =
      MatrixInstruction::parse(info.getRoot()->getContext(), name);
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
    bool isWide = llvm::all_of(
        ArrayRef<unsigned>{contraction->a, contraction->b}, [&](unsigned number) {
          return getElementTypeOrSelf(info.getRoot()->getOperand(number)).isF32();
        });
    if (instruction->rounds && isWide && !mayRound(info.getRoot()))
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

std::optional<unsigned>
tilewright::contiguousSum(linalg::LinalgOp op, const Contraction &contraction) {
  constexpr int64_t kLong = 32;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned number : {contraction.a, contraction.b}) {
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(number));
    unsigned loop = map.getDimPosition(map.getNumResults() - 1);
    if (llvm::is_contained(contraction.k, loop) &&
        (ShapedType::isDynamic(extents[loop]) || extents[loop] >= kLong))
      return loop;
  }
  return std::nullopt;
}

unsigned tilewright::longestLoop(const KernelInfo &info, ArrayRef<unsigned> loops) {
  return *std::max_element(loops.begin(), loops.end(),
                           [&](unsigned a, unsigned b) {
                             return nominalExtent(info, a) <=
                                    nominalExtent(info, b);
                           });
}

int64_t tilewright::rasterOf(const KernelInfo &info, unsigned m, unsigned n,
                        int64_t blockM, int64_t blockN) {
  return nominalExtent(info, m) >= 4 * blockM &&
                 nominalExtent(info, n) >= 4 * blockN
             ? 8
             : 1;
}

/// Slots of shared memory that are worth trying, best first: as many as there
/// are steps at most.
static SmallVector<int64_t> stagesOf(TargetAttr target, int64_t steps,
                                     bool waits) {
  if (!target.has("async_copy"))
    return {2, 1};
  if (waits)
    return {2};
  SmallVector<int64_t> stages;
  for (int64_t count : {4, 3, 5, 2})
    if (count == 2 || count <= steps)
      stages.push_back(count);
  return stages;
}

/// Whether a larger instruction of the same types does all that `instruction`
/// does, as fast: one of as many rows, or more where there are as many; likewise
/// along the sum, where less than two of its steps may be largely zeros.
static bool isCovered(const KernelInfo &info,
                      const MatrixInstruction &instruction,
                      ArrayRef<MatrixInstruction> larger, unsigned m,
                      unsigned k) {
  return llvm::any_of(larger, [&](const MatrixInstruction &other) {
    return (other.m == instruction.m ||
            (other.m > instruction.m && nominalExtent(info, m) >= other.m)) &&
           (other.k == instruction.k ||
            (other.k > instruction.k && nominalExtent(info, k) >= 2 * other.k));
  });
}

std::vector<LoweringConfigAttr>
tilewright::enumerateMatrix(const KernelInfo &info, TargetAttr target) {
  std::vector<LoweringConfigAttr> configs;
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  if (!names || !matchContraction(info.getRoot()))
    return configs;
  MLIRContext *context = info.getRoot()->getContext();
  SmallVector<MatrixInstruction> tried;
  for (auto name : names.getAsRange<StringAttr>()) {
    std::string reason;
    Contraction contraction = *matchContraction(info.getRoot());
    auto instruction = matchInstruction(info, name, contraction, reason);
    if (!instruction)
      continue;
    unsigned m = longestLoop(info, contraction.m), n = longestLoop(info, contraction.n),
             k = contiguousSum(info.getRoot(), contraction)
                     .value_or(longestLoop(info, contraction.k));
    if (isCovered(info, *instruction, tried, m, k))
      continue;
    tried.push_back(*instruction);
    // Registers between two slots wait for one step, whatever the slots.
    bool waits = waitsInRegisters(info, target);
    auto most = [&](unsigned loop, int64_t least) {
      return std::max<int64_t>(
          least, llvm::PowerOf2Ceil(nominalExtent(info, loop)));
    };
    bool chained = info.getProducts().size() > 1;
    auto hasAll = [&](unsigned loop, int64_t block) {
      const LoopClass &loopClass =
          info.classes[info.getClasses(info.getRoot())[loop]];
      return (loopClass.parallel && !(chained && loop == n)) ||
             block >= loopClass.extent;
    };
    int64_t mMost = most(m, instruction->m), nMost = most(n, instruction->n),
            kMost = most(k, instruction->k);
    // Steps of other sums (the taps of a convolution) are steps of the same loop.
    int64_t others = 1;
    for (unsigned loop : contraction.k)
      if (loop != k)
        others *= nominalExtent(info, loop);
    SmallVector<int64_t> promote{contraction.a, contraction.b};
    llvm::sort(promote);
    static constexpr int64_t grids[][2] = {{2, 2}, {2, 4}, {4, 2}, {1, 4},
                                           {4, 1}, {1, 2}, {2, 1}, {1, 1}};
    for (int64_t blockM : {128, 64, 256, 32, 16})
      for (int64_t blockN : {128, 64, 256, 32, 16, 8})
        for (int64_t blockK : {32, 64, 128, 16, 8})
          for (auto [warpsM, warpsN] : grids) {
            // A tile that is reduced on chip has all of that loop; so has the
            // product of a product of its columns.
            if (!hasAll(m, blockM) || !hasAll(n, blockN))
              continue;
            if (blockM > mMost || blockN > nMost || blockK > kMost ||
                blockM % (instruction->m * warpsM) ||
                blockN % (instruction->n * warpsN) ||
                blockK % instruction->k ||
                (info.split && info.isSplit(k) && info.split->unit % blockK))
              continue;
            SmallVector<int64_t> block(info.getNumConfigLoops(), 1);
            SmallVector<int64_t> warps(block);
            block[m] = blockM, block[n] = blockN, block[k] = blockK;
            warps[m] = warpsM, warps[n] = warpsN;
            int64_t raster = rasterOf(info, m, n, blockM, blockN);
            int64_t steps = others * llvm::divideCeil(
                nominalExtent(info, k) / info.getSplits(), blockK);
            for (int64_t stages : stagesOf(target, steps, waits))
              configs.push_back(LoweringConfigAttr::get(
                  context, Strategy::MatrixUnit, block, warps, {}, stages,
                  promote, name, info.getSplits(), raster));
          }
  }
  return configs;
}
