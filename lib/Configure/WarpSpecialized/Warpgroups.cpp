// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions by warpgroups (strategy warp_specialized): one warpgroup copies
// tiles of both operands through tensor maps into a ring of stages, the others
// multiply them out of shared memory and keep the sums in registers:
//
//   block = [128, 256, 64], warps = [8, 1, 1], stages = 4,
//   mma = "wgmma.m64n256k16.bf16.f32", registers = [40, 232]
//
// is a producer warpgroup and two consumers with 64 rows each; without `producer`, the
// two consumers, one warp of which copies, too. Which operands copy engines bring is in
// RoleOperands.cpp.

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "TensorMaps.h"
#include "WarpgroupRegisters.h"
#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/MatrixInstruction.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

/// Registers of a thread with sums of the tile's elements: of f16 half of one each.
static int64_t sumsOf(const MatrixInstruction &instruction, int64_t elements,
                      int64_t groups) {
  int64_t sums = elements / (groups * 128);
  return instruction.accumulator.isF16() ? sums / 2 : sums;
}

/// The same in the loop along the sum: in two levels two each.
static int64_t sumsOfThread(LoweringConfigAttr config,
                            const MatrixInstruction &instruction, int64_t elements,
                            int64_t groups) {
  return sumsOf(instruction, elements, groups) * (config.getTwoLevelSums() ? 2 : 1);
}

/// Registers of a thread with a step of A, of `rows` of the tile, where it is in
/// registers.
static int64_t operandOfThread(const MatrixInstruction &instruction, int64_t rows,
                               int64_t sums, int64_t groups) {
  return rows * sums * instruction.operandBits() / 32 / (groups * 128);
}

/// Bits that the target keeps of sums of such products, where those are few; else 0.
static int64_t bitsOfSums(const KernelInfo &info, const MatrixInstruction &instruction) {
  TargetAttr target = getTarget(info.kernel);
  return target && instruction.operandBits() == 8 && instruction.accumulator.isF32() &&
                 isa<FloatType>(instruction.operands[0])
             ? target.getFact("float8_sum_bits")
             : 0;
}

/// Why sums are not right to take in one or two levels; empty if they are.
static Refusal whyNotSummed(const KernelInfo &info, LoweringConfigAttr config,
                            const MatrixInstruction &instruction) {
  if (config.getTwoLevelSums() && !instruction.accumulator.isF32())
    return refuse(Refused::Types, "'two_level_sums' adds partial sums of f32; those of '" +
                                      config.getMma().getValue() + "' are of another type");
  if (config.getTwoLevelSums())
    return {};
  int64_t bits = bitsOfSums(info, instruction);
  if (bits && !hasLiberty(info.getRoot(), "fast-f8-sums"))
    return refuse(Refused::Numerics,
                  "tensor cores keep " + std::to_string(bits) +
                      " bits of sums of 8-bit floats; without 'two_level_sums' that is for "
                      "--fp=fast-f8-sums");
  return {};
}

/// The warps that multiply: whole warpgroups along the rows, or the columns of swapped operands.
static Refusal whyNotGrouped(const KernelInfo &info, LoweringConfigAttr config,
                             const MatrixLoops &loops) {
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop)
    if (loop != loops.m && entry(config.getWarps(), loop, 1) != 1)
      return refuse(Refused::Config, "warpgroups lie along the rows, or the columns of swapped "
                                     "operands, and not along loop " +
                                         Twine(loop) + " beside loop " + Twine(loops.m));
  int64_t warps = entry(config.getWarps(), loops.m, 1), groups = warps / 4;
  if (warps % 4 || groups < 1 || groups > 4)
    return refuse(Refused::Config,
                  Twine(warps) + " warps multiply; it must be 1 to 4 warpgroups of four");
  return {};
}

/// The tile: whole instructions, and what copy engines bring and descriptors name of it.
static Refusal whyNotTiled(const KernelInfo &info, LoweringConfigAttr config,
                           const MatrixInstruction &instruction, const MatrixLoops &loops,
                           const Contraction &product, int64_t groups) {
  int64_t m = config.getBlock()[loops.m], n = config.getBlock()[loops.n],
          k = config.getBlock()[loops.k];
  int64_t bytes = instruction.operandBits() / 8;
  if (m <= 0 || n <= 0)
    return refuse(Refused::TileSize, "the tile " + Twine(m) + " x " + Twine(n) +
                                         " is not given; it is of whole instructions");
  if (m % (instruction.m * groups) || n % instruction.n || k % instruction.k)
    return refuse(Refused::Indivisible, "the tile " + Twine(m) + " x " + Twine(n) + " x " +
                                            Twine(k) + " is no multiple of '" +
                                            config.getMma().getValue() + "' on " + Twine(groups) +
                                            " warpgroups along the rows");
  if (std::max(m, n) > tensor_map::kMaxBox)
    return refuse(Refused::TileSize,
                  "the tile has " + Twine(std::max(m, n)) +
                      " rows or columns; boxes of a tensor map have at most " +
                      Twine(tensor_map::kMaxBox));
  if (!chainedProduct(info, config) && !llvm::is_contained({32, 64, 128}, k * bytes))
    return refuse(Refused::Indivisible,
                  "a step along the sum has " + Twine(k * bytes) +
                      " bytes; rows in shared memory have 32, 64 or 128, as they are "
                      "swizzled");
  // Columns that are neighbours in memory are cut into boxes as wide as a swizzle; so are
  // rows, of which there are 64 at least.
  if (!sumsAlongMemory(info, product.b, loops) && n * bytes % 32)
    return refuse(Refused::Indivisible,
                  "the tile's " + Twine(n) + " columns are no whole boxes of 32 bytes");
  return {};
}

/// Whether operand `number` has its sums across the rows of memory, and a type of which
/// instructions read only rows along the sum out of shared memory.
static bool isTransposed(const KernelInfo &info, const Contraction &product,
                         unsigned number) {
  linalg::LinalgOp root = info.getRoot();
  OpOperand &operand = root->getOpOperand(number);
  AffineMap map = root.getMatchingIndexingMap(&operand);
  return bytesPerElement(operand.get().getType()) != 2 && map.getNumResults() &&
         !llvm::is_contained(product.k, map.getDimPosition(map.getNumResults() - 1));
}

/// Whether neighbours along `loop` are neighbours in memory in the result.
static bool isContiguousInResult(const KernelInfo &info, unsigned loop) {
  linalg::LinalgOp root = info.getRoot();
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  return map.getNumResults() && map.getDimPosition(map.getNumResults() - 1) == loop;
}

/// Registers of a thread with the sums, with an operand that is in registers, and with what is
/// combined with the sums behind the loop.
static Refusal whyNotHeld(const KernelInfo &info, LoweringConfigAttr config,
                          const MatrixInstruction &instruction, const MatrixLoops &loops,
                          const Contraction &product, int64_t groups) {
  int64_t m = config.getBlock()[loops.m], n = config.getBlock()[loops.n],
          k = config.getBlock()[loops.k];
  bool isChained(chainedProduct(info, config));
  bool inRegisters = hasAInRegisters(config, product);
  int64_t tiles = info.rootProducts.size();
  int64_t held =
      isChained ? chainedSums(config, loops)
                : sumsOfThread(config, instruction, tiles * m * n, groups) +
                      (inRegisters ? operandOfThread(instruction, m, k, groups) : 0);
  // What two products of wide instructions become is combined in registers of its own, as
  // ptxas counts them.
  constexpr int64_t kWide = 128, kBesideTwo = 8;
  if (info.isDual() && instruction.n > kWide)
    held += kBesideTwo;
  // Bytes that registers transpose: the rows of the result that a thread has lie apart where they
  // do not lie along memory, and ptxas 13.0 keeps their addresses through the loop.
  constexpr int64_t kRowsApart = 20;
  bool isTurned = inRegisters && isTransposed(info, product, product.a);
  if (isTurned && config.getTwoLevelSums() && !isContiguousInResult(info, loops.m))
    held += kRowsApart;
  std::string what = isChained                  ? "registers of sums of two products"
                     : config.getTwoLevelSums() ? "sums in two levels"
                                                : "registers of sums";
  if (inRegisters)
    what += " and of an operand";
  // Behind the loop sums are whole, and operands gone.
  int64_t whole = sumsOf(instruction, tiles * m * n, groups);
  int64_t beside = registersBesideSums(info, config, loops, groups);
  if (beside && whole + beside > held) {
    held = whole + beside;
    what = "registers of sums and of what is combined with them";
  }
  // So are those of matrices that are read beside them, which are more of floats.
  constexpr int64_t kMatricesApart = 37, kFewestBeside = 193;
  if (isTurned && beside && !config.getTmaStore() && instruction.accumulator.isF32() &&
      !clusterSumLoop(info, config))
    held = std::max(held + kMatricesApart,
                    isContiguousInResult(info, loops.m) ? 0 : kFewestBeside);
  if (Refusal why = whyNotEnoughRegisters(config, groups, held, what))
    return why;
  return whyNotNamed(config, groups, instruction.n / 2);
}

Refusal Warpgroups::checkTiles(const KernelInfo &info, LoweringConfigAttr config,
                               const MatrixInstruction &instruction, const MatrixLoops &loops,
                               TargetAttr target) const {
  Contraction product = *info.getOriented(config);
  if (Refusal why = whyNotOneProduct(info, config, loops, product))
    return why;
  bool isChained(chainedProduct(info, config));
  if (isChained)
    if (Refusal why = whyNotChained(info, config, instruction, loops, product))
      return why;
  for (unsigned number : {product.a, product.b})
    if (!isChained || number != product.a)
      if (Refusal why = whyNotCopied(info, config, number, loops, product))
        return why;
  if (Refusal why = whyNotGrouped(info, config, loops))
    return why;
  int64_t groups = entry(config.getWarps(), loops.m, 1) / 4;
  if (Refusal why = whyNotTiled(info, config, instruction, loops, product, groups))
    return why;
  if (config.getStages() < 2)
    return refuse(Refused::Config,
                  "'stages' is " + Twine(config.getStages()) +
                      "; a ring between warps needs 2, one of which is read while the "
                      "other is filled");
  if (Refusal why = whyNotSummed(info, config, instruction))
    return why;
  if (config.getTmaStore())
    if (Refusal why = whyNotStoredByEngine(info, config, loops))
      return why;
  if (Refusal why = whyNotClustered(info, config, loops))
    return why;
  if (Refusal why = whyNotSummedInCluster(info, config, loops, target))
    return why;
  if (Refusal why = whyNotCopiedByThreads(info, config, groups))
    return why;
  return whyNotHeld(info, config, instruction, loops, product, groups);
}

/// Whether sums are taken in two levels: what may be, the best first.
static SmallVector<bool> levelsOf(const KernelInfo &info,
                                  const MatrixInstruction &instruction) {
  if (!bitsOfSums(info, instruction))
    return {false};
  if (hasLiberty(info.getRoot(), "fast-f8-sums"))
    return {false, true};
  return {true};
}

/// Whether operand `number` of the root is computed in its kernel.
static bool isComputed(const KernelInfo &info, unsigned number) {
  return !isa<BlockArgument>(info.getRoot()->getOperand(number));
}

/// Whether matrices are read beside the sums.
static bool readsMatrices(const KernelInfo &info) {
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  return llvm::any_of(info.ops, [&](linalg::LinalgOp op) {
    return !llvm::is_contained(products, op) && !isFusedProducer(info, op) &&
           llvm::any_of(op.getDpsInputs(), [](Value input) {
             auto type = dyn_cast<RankedTensorType>(input.getType());
             return isa<BlockArgument>(input) && type && type.getRank() > 1;
           });
  });
}

/// Registers that the roles have: as they are by default, and with all that a producer can do
/// without for what is read beside the sums.
static SmallVector<SmallVector<int64_t>> registersFor(const KernelInfo &info, int64_t groups) {
  SmallVector<SmallVector<int64_t>> choices{registersOf(groups)};
  if (groups == 2 && readsMatrices(info))
    choices.push_back(otherRegisters(groups).front());
  return choices;
}

/// Configs of the contraction `product`, the root's or that with its operands swapped.
static void enumerateOriented(const KernelInfo &info, ArrayAttr names,
                              const Contraction &product,
                              std::vector<LoweringConfigAttr> &configs) {
  /// Columns of the smallest instruction.
  constexpr int64_t kMinColumns = 8;
  MLIRContext *context = info.getRoot()->getContext();
  unsigned m = longestLoop(info, product.m), n = longestLoop(info, product.n),
           k = contiguousSum(info.getRoot(), product)
                   .value_or(longestLoop(info, product.k));
  SmallVector<int64_t> promote{product.a, product.b};
  llvm::sort(promote);
  // What is computed is multiplied out of registers, and what no descriptor names.
  bool inRegisters = isComputed(info, product.a) || isTransposed(info, product, product.a);
  if (inRegisters)
    promote = {product.b};
  int64_t extentOfSum = info.getRoot().getStaticLoopRanges()[k];
  bool isChained = info.isChained();
  for (auto name : names.getAsRange<StringAttr>()) {
    auto instruction = matchInstruction(info.getRoot(), name, &product);
    if (!instruction || nominalExtent(info, m) < instruction->m ||
        instruction->n >
            std::max<int64_t>(kMinColumns,
                              llvm::PowerOf2Ceil(nominalExtent(info, n))))
      continue;
    for (auto [rows, groups] :
         {std::pair<int64_t, int64_t>{128, 2}, {256, 2}, {64, 1}, {192, 3}}) {
      SmallVector<int64_t> block(info.getNumConfigLoops(), 1), warps(block);
      block[m] = rows, block[n] = instruction->n;
      // All columns of the first of two products.
      block[k] = isChained ? std::max<int64_t>(
                                 16, llvm::PowerOf2Ceil(nominalExtent(info, k)))
                           : 1024 / instruction->operandBits();
      // Groups with a scale of their own may be shorter than a swizzle.
      while (inRegisters && !isChained && ShapedType::isStatic(extentOfSum) &&
             block[k] > int64_t(llvm::PowerOf2Ceil(extentOfSum)) &&
             block[k] * instruction->operandBits() > 256)
        block[k] /= 2;
      warps[m] = 4 * groups;
      if (rows > int64_t(llvm::PowerOf2Ceil(nominalExtent(info, m))) ||
          (info.split && info.isSplit(k) && info.split->unit % block[k]))
        continue;
      for (bool twoLevels : levelsOf(info, *instruction))
        for (int64_t stages : {4, 6, 5, 3, 2, 8})
          for (ArrayRef<int64_t> registers : registersFor(info, groups)) {
            auto plain = LoweringConfigAttr::get(
                             context, Strategy::WarpSpecialized, block, warps, {}, stages,
                             promote, name, info.getSplits(),
                             rasterOf(info, m, n, rows, instruction->n))
                             .withRegisters(registers)
                             .withTwoLevelSums(twoLevels);
            llvm::append_range(configs, withTechniques(info, plain, /*each=*/stages == 4));
            llvm::append_range(configs, withClusterSums(info, plain));
          }
    }
  }
}

std::vector<LoweringConfigAttr>
Warpgroups::enumerate(const KernelInfo &info, TargetAttr target) const {
  // Rows of one warpgroup: of fewer, columns are its rows, and perhaps of some that are no
  // multiple; so they are where the right operand is computed or transposed, as A alone may be
  // in registers.
  constexpr int64_t kRows = 64, kMostColumns = 256;
  std::vector<LoweringConfigAttr> configs;
  auto names = target.getFacts().getAs<ArrayAttr>("warpgroup_mma");
  const Contraction *product = info.getContraction(info.getRoot());
  if (!names || !product || product->m.empty() || product->n.empty() ||
      product->k.empty())
    return configs;
  enumerateOriented(info, names, *product, configs);
  if (info.isChained())
    return configs;
  auto isForRegisters = [&](unsigned number) {
    return isComputed(info, number) || isTransposed(info, *product, number);
  };
  int64_t rows = nominalExtent(info, longestLoop(info, product->m));
  if (rows < kRows || (rows % kRows && rows <= kMostColumns) ||
      (isForRegisters(product->b) && !isForRegisters(product->a)))
    enumerateOriented(info, names, swapped(*product), configs);
  return configs;
}

Refusal Warpgroups::checkInstruction(StringAttr name, TargetAttr target) const {
  if (!target.has("warpgroup_mma"))
    return refuse(Refused::Target, target.getName() + " has no warpgroups whose instructions "
                                                      "multiply; cuda:sm_90a has");
  return whyNotListed(name, {"warpgroup_mma"}, "instruction of warpgroups", target);
}
