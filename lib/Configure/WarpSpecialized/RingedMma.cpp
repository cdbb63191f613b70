// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions by warps (mma.sync) out of a ring that another warp fills through tensor
// maps (strategy warp_specialized with an instruction of a warp): for targets that have
// copy engines but no instructions of warpgroups, and for comparison on those that have
// both:
//
//   block = [128, 128, 64], warps = [2, 2, 1], stages = 4, mma = "mma.m16n8k16.bf16.f32"
//
// is one warp that copies and four that read fragments out of the stages (ldmatrix) and
// keep sums of 64 x 64 each. What copy engines can name is said in RoleOperands.cpp; what is
// added here are the limits of fragments. Without `producer` one of the four warps copies.

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "WarpgroupRegisters.h"
#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/Rings.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

static int64_t warpsOf(LoweringConfigAttr config, unsigned loop) {
  return entry(config.getWarps(), loop, 1);
}

int64_t tilewright::copyThreadsOf(LoweringConfigAttr config) {
  constexpr int64_t kWarp = 32;
  if (!config.isWarpSpecialized() || !config.getProducer())
    return 0;
  // Registers move between whole warpgroups.
  return config.isForWarpgroups() ? kCopyThreads : kWarp;
}

/// The first field that is for instructions of warpgroups only, and why.
static Refusal whyNotField(LoweringConfigAttr config) {
  std::string of = " of '" + config.getMma().getValue().str() + "'";
  if (!config.getRegisters().empty())
    return refuse(Refused::OtherStrategy,
                  "'registers' moves registers between warpgroups (setmaxnreg); the warps" + of +
                      " have what the block has: leave it out");
  if (config.getTmaStore())
    return refuse(Refused::OtherStrategy,
                  "'tma_store' is for sums in layouts of warpgroups' instructions; those" + of +
                      " are stored by threads: leave it out");
  if (config.getTwoLevelSums())
    return refuse(Refused::OtherStrategy,
                  "'two_level_sums' is for instructions of warpgroups; leave it out");
  if (!config.getTmaCopy())
    return refuse(Refused::OtherStrategy,
                  "'tma_copy' is false: what threads copy for the warps" + of +
                      " is strategy matrix_unit's; leave it out, or take that");
  return {};
}

/// Whether a warp's part of rows or columns that are neighbours in memory is of whole
/// boxes, or several parts are one box.
static bool isOfBoxes(int64_t extent, int64_t warps, int64_t bytes) {
  int64_t own = extent / warps, width = storePieceOf(extent, bytes).columns;
  return extent == width || own % width == 0 || width % own == 0;
}

Refusal RingedMma::checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                              const MatrixInstruction &instruction, const MatrixLoops &loops,
                              TargetAttr target) const {
  StringRef name = config.getMma().getValue();
  const Contraction &product = *info.getContraction(info.getRoot());
  if (Refusal why = whyNotOneProduct(info, config, loops, product))
    return why;
  for (unsigned number : {product.a, product.b})
    if (Refusal why = whyNotCopied(info, config, number, loops, product))
      return why;
  if (instruction.operandBits() != 16 && instruction.operandBits() != 8)
    return refuse(Refused::Types, "'" + name + "' has operands of " +
                                      Twine(instruction.operandBits()) +
                                      " bits; fragments are loaded as matrices of 16 or 8");
  if (Refusal why = whyNotField(config))
    return why;
  int64_t threads = copyThreadsOf(config), sums = 1;
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop)
    if (warpsOf(config, loop) != 1 && loop != loops.m && loop != loops.n)
      return refuse(Refused::Config, Twine(warpsOf(config, loop)) + " warps along loop " +
                                         Twine(loop) +
                                         ", which is not the instruction's rows or columns");
  for (auto [loop, size, number] :
       {std::tuple<unsigned, int64_t, unsigned>{loops.m, instruction.m, product.a},
        {loops.n, instruction.n, product.b}}) {
    int64_t block = config.getBlock()[loop], warps = warpsOf(config, loop);
    if (block <= 0 || warps <= 0 || block % (size * warps))
      return refuse(Refused::Indivisible, "'block' entry " + Twine(block) + " of loop " +
                                              Twine(loop) +
                                              " is no multiple of the instruction's " +
                                              Twine(size) + " times " + Twine(warps) + " warps");
    if (block > tensor_map::kMaxBox)
      return refuse(Refused::TileSize,
                    "the tile has " + Twine(block) +
                        " rows or columns; boxes of a tensor map have at most " +
                        Twine(tensor_map::kMaxBox));
    int64_t bytes = instruction.operandBits() / 8;
    if (!sumsAlongMemory(info, number, loops) &&
        (block * bytes % 32 || !isOfBoxes(block, warps, bytes)))
      return refuse(Refused::Indivisible,
                    "a warp's " + Twine(block / warps) + " of " + Twine(block) +
                        " neighbours in memory are no whole boxes of swizzled rows");
    sums *= block / warps;
    threads = loop == loops.m ? threads + 32 * warps * warpsOf(config, loops.n) : threads;
  }
  int64_t k = config.getBlock()[loops.k], bytes = k * instruction.operandBits() / 8;
  if (!llvm::is_contained({32, 64, 128}, bytes) || k % instruction.k)
    return refuse(Refused::Indivisible,
                  "a step along the sum has " + Twine(bytes) +
                      " bytes; rows in shared memory have 32, 64 or 128, as they are swizzled, "
                      "and whole steps of '" +
                      name + "'");
  if (config.getStages() < 2)
    return refuse(Refused::Config,
                  "'stages' is " + Twine(config.getStages()) +
                      "; a ring between warps needs 2, one of which is read while the other is "
                      "filled");
  if (!config.getCluster().empty() && !target.has("multicast"))
    return refuse(Refused::Target, "'cluster': " + target.getName() +
                                       " does not copy to several blocks at once; leave it out");
  if (Refusal why = whyNotSummedInCluster(info, config, loops, target))
    return why;
  if (Refusal why = whyNotClustered(info, config, loops))
    return why;
  int64_t most = registersEach(threads);
  sums /= 32;
  if (instruction.accumulator.isF16())
    sums /= 2;
  if (sums + kBesideSums > most)
    return refuse(Refused::Registers, "a thread has " + Twine(sums) +
                                          " registers of sums and needs " + Twine(kBesideSums) +
                                          " beside them, but has " + Twine(most))
        .of(sums + kBesideSums, most);
  return {};
}

std::vector<LoweringConfigAttr> RingedMma::enumerate(const KernelInfo &info,
                                                     TargetAttr target) const {
  static constexpr int64_t tiles[][2] = {{128, 128}, {128, 256}, {256, 128},
                                         {64, 128},  {128, 64},  {64, 64}};
  static constexpr int64_t grids[][2] = {{2, 2}, {2, 4}, {4, 2}, {1, 4}, {4, 1}};
  std::vector<LoweringConfigAttr> configs;
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  const Contraction *product = info.getContraction(info.getRoot());
  if (!target.has("tensor_copy") || !names || !product)
    return configs;
  for (auto name : names.getAsRange<StringAttr>()) {
    auto instruction = matchInstruction(info.getRoot(), name, product);
    if (!instruction || instruction->operandBits() > 16)
      continue;
    unsigned m = longestLoop(info, product->m), n = longestLoop(info, product->n),
             k = contiguousSum(info.getRoot(), *product)
                     .value_or(longestLoop(info, product->k));
    SmallVector<int64_t> promote{product->a, product->b};
    llvm::sort(promote);
    for (auto [rows, columns] : tiles)
      for (auto [warpsM, warpsN] : grids) {
        if (rows > int64_t(llvm::PowerOf2Ceil(nominalExtent(info, m))) ||
            columns > int64_t(llvm::PowerOf2Ceil(nominalExtent(info, n))))
          continue;
        SmallVector<int64_t> block(info.getNumConfigLoops(), 1), warps(block);
        block[m] = rows, block[n] = columns;
        block[k] = 1024 / instruction->operandBits();
        warps[m] = warpsM, warps[n] = warpsN;
        if (info.split && info.isSplit(k) && info.split->unit % block[k])
          continue;
        for (int64_t stages : {4, 3, 5, 2})
          for (bool persistent : {true, false})
            configs.push_back(LoweringConfigAttr::get(
                                  info.getRoot()->getContext(), Strategy::WarpSpecialized,
                                  block, warps, {}, stages, promote, name,
                                  info.getSplits(), rasterOf(info, m, n, rows, columns))
                                  .withPersistent(persistent));
      }
    // The first of the target's instructions of these types is the largest.
    break;
  }
  return configs;
}

bool RingedMma::match(const KernelInfo &info, TargetAttr target) const {
  return info.strategy == Strategy::SimtContraction;
}

Refusal RingedMma::checkInstruction(StringAttr name, TargetAttr target) const {
  if (!target.has("tensor_copy"))
    return refuse(Refused::Target, target.getName() + " has no copy engines (TMA) that fill a "
                                                      "ring; cuda:sm_90 and newer have");
  return whyNotListed(name, {"mma", "mma_emulated"}, "matrix instruction", target);
}
