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
// two consumers, one warp of which copies, too. What copy
// engines and descriptors can name is said here, once: rows of 32, 64 or 128
// bytes along the sum (or, of 16-bit types, rows of whole boxes along m or n),
// at multiples of 16 bytes in memory, in boxes of at most 256 rows. One operand that is
// computed (dequantised, cast), or that lies otherwise, goes through registers, where
// `promote` leaves it out.

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "TensorMaps.h"
#include "WarpgroupRegisters.h"
#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/MatrixInstruction.h"
#include "tilewright/Dialect/Packed.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

OpOperand *tilewright::copiedOperand(const KernelInfo &info, unsigned number,
                                     const Contraction &product,
                                     const MatrixLoops &loops) {
  linalg::LinalgOp root = info.getRoot();
  OpOperand &operand = root->getOpOperand(number);
  if (isa<BlockArgument>(operand.get()))
    return &operand;
  ArrayRef<unsigned> rootClasses = info.getClasses(root);
  unsigned rows = rootClasses[number == product.a ? loops.m : loops.n];
  OpOperand *found = nullptr;
  for (linalg::LinalgOp op : info.ops) {
    if (!isFusedProducer(info, op))
      continue;
    for (OpOperand *input : op.getDpsInputOperands()) {
      SmallVector<unsigned> classes;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
        classes.push_back(info.getClasses(op)[cast<AffineDimExpr>(expr).getPosition()]);
      if (!isa<BlockArgument>(bytesOf(input->get())) ||
          !llvm::is_contained(classes, rows) ||
          !llvm::is_contained(classes, rootClasses[loops.k]))
        continue;
      if (found)
        return nullptr;
      found = input;
    }
  }
  return found;
}

Refusal tilewright::whyNotCopied(const KernelInfo &info, LoweringConfigAttr config, unsigned number,
                                 const MatrixLoops &loops, const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  bool inRegisters = number == product.a && hasAInRegisters(config, product);
  std::string what = numberOperand(root->getOpOperand(number));
  if (!isa<BlockArgument>(root->getOpOperand(number).get()) && !inRegisters)
    return refuse(Refused::Neighbours,
                  what + " is computed in the kernel; copy engines bring what lies in memory");
  OpOperand *copied = copiedOperand(info, number, product, loops);
  if (!copied)
    return refuse(Refused::Layout,
                  what + " is not computed from one tensor in memory of its shape");
  OpOperand &operand = *copied;
  auto owner = cast<linalg::LinalgOp>(operand.getOwner());
  if (owner != root)
    what += ", or what it is computed from,";
  auto argument = cast<BlockArgument>(bytesOf(operand.get()));
  bool isPacked = argument != operand.get();
  if (Refusal why = whyNoTensorMap(info.kernel, argument))
    return why.after(what);
  AffineMap map = owner.getMatchingIndexingMap(&operand);
  int64_t bytes = bytesPerElement(argument.getType());
  ArrayRef<unsigned> classes = info.getClasses(root);
  unsigned rows = number == product.a ? loops.m : loops.n;
  unsigned dim = map.getDimPosition(map.getNumResults() - 1);
  unsigned last = info.getClasses(owner)[dim];
  if (last != classes[rows] && last != classes[loops.k])
    return refuse(Refused::Layout, what + " has neighbours in memory along loop " +
                                       std::to_string(dim) + ", of which a tile has one element");
  int64_t neighbours = config.getBlock()[last == classes[rows] ? rows : loops.k] * bytes;
  neighbours /= isPacked ? 2 : 1;
  bool isShort = neighbours == 16 && last == classes[loops.k];
  if (inRegisters && !isShort && !llvm::is_contained({32, 64}, neighbours) &&
      neighbours % 128)
    return refuse(
        Refused::Layout,
        what + " has tiles of " + std::to_string(neighbours) +
            " bytes a row; to be read into registers they have 32, 64 or whole 128, along "
            "the sum 16, too");
  if (last == classes[rows] && bytes != 2 && !inRegisters)
    return refuse(Refused::Layout,
                  what +
                      " has its sums across the rows of memory, where only 16-bit types are "
                      "read as matrices; one such operand is taken out of registers, if 'promote' "
                      "leaves it out");
  return {};
}

/// Why the products of a dual product are not multiplied out of one ring: operands of all of
/// them are brought by copy engines, and lie as those of the root do.
static Refusal whyNotDual(const KernelInfo &info, LoweringConfigAttr config,
                          const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  if (!config.isForWarpgroups() || config.getTwoLevelSums() ||
      hasAInRegisters(config, product))
    return refuse(Refused::Config,
                  "the kernel has two products of one operand, which roles of warps multiply by "
                  "instructions of warpgroups alone, out of shared memory and in one level");
  for (linalg::LinalgOp op : info.rootProducts)
    for (unsigned number : {product.a, product.b}) {
      OpOperand &operand = op->getOpOperand(number);
      std::string what = numberOperand(operand) + " of one of two products";
      auto argument = dyn_cast<BlockArgument>(operand.get());
      if (!argument)
        return refuse(Refused::Neighbours,
                      what + " is computed in the kernel; copy engines bring what lies in memory");
      if (op.getMatchingIndexingMap(&operand) !=
          root.getMatchingIndexingMap(&root->getOpOperand(number)))
        return refuse(Refused::Layout,
                      what + " does not lie in memory as that of the other one does");
      if (Refusal why = whyNoTensorMap(info.kernel, argument))
        return why.after(what);
    }
  return {};
}

Refusal tilewright::whyNotOneProduct(const KernelInfo &info, LoweringConfigAttr config,
                                     const MatrixLoops &loops, const Contraction &product) {
  linalg::LinalgOp root = info.getRoot();
  // Of several loops along the sum, the tile's and others, one is made.
  SmallVector<int64_t> extents = root.getStaticLoopRanges();
  bool several = llvm::any_of(product.k, [&](unsigned loop) {
    return loop != loops.k && extents[loop] != 1;
  });
  if (several && llvm::any_of(product.k, [&](unsigned loop) {
        return ShapedType::isDynamic(extents[loop]);
      }))
    return refuse(Refused::DynamicExtents, "the sum runs over several loops of dynamic extents");
  if (llvm::any_of(info.ops, [&](linalg::LinalgOp op) { return isFusedReduction(info, op); }))
    return refuse(Refused::Neighbours,
                  "rows of an operand are reduced before the product, and no role of warps does");
  if (info.isDual())
    return whyNotDual(info, config, product);
  if (info.getProducts().size() > 1 && !chainedProduct(info, config))
    return refuse(Refused::Neighbours,
                  "the kernel has two products, and roles of warps are for one");
  return {};
}

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

bool tilewright::sumsAlongMemory(const KernelInfo &info, unsigned number,
                                 const MatrixLoops &loops) {
  linalg::LinalgOp root = info.getRoot();
  AffineMap map = root.getMatchingIndexingMap(&root->getOpOperand(number));
  return map.getDimPosition(map.getNumResults() - 1) == loops.k;
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
    if (Refusal why = isChained && number == product.a
                          ? Refusal()
                          : whyNotCopied(info, config, number, loops, product))
      return why;

  int64_t warps = entry(config.getWarps(), loops.m, 1), groups = warps / 4;
  for (unsigned loop = 0; loop < info.getNumConfigLoops(); ++loop)
    if (loop != loops.m && entry(config.getWarps(), loop, 1) != 1)
      return refuse(Refused::Config, "warpgroups lie along the rows, or the columns of swapped "
                                     "operands, and not along loop " +
                                         Twine(loop) + " beside loop " + Twine(loops.m));
  if (warps % 4 || groups < 1 || groups > 4)
    return refuse(Refused::Config,
                  Twine(warps) + " warps multiply; it must be 1 to 4 warpgroups of four");
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
  if (!isChained && !llvm::is_contained({32, 64, 128}, k * bytes))
    return refuse(Refused::Indivisible,
                  "a step along the sum has " + Twine(k * bytes) +
                      " bytes; rows in shared memory have 32, 64 or 128, as they are "
                      "swizzled");
  // Columns that are neighbours in memory are cut into boxes as wide as a swizzle; so are
  // rows, of which there are 64 at least.
  if (!sumsAlongMemory(info, product.b, loops) && n * bytes % 32)
    return refuse(Refused::Indivisible,
                  "the tile's " + Twine(n) + " columns are no whole boxes of 32 bytes");
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
  std::string what = isChained                  ? "registers of sums of two products"
                     : config.getTwoLevelSums() ? "sums in two levels"
                                                : "registers of sums";
  if (inRegisters)
    what += " and of an operand";
  // Behind the loop sums are whole, and operands gone.
  int64_t whole = sumsOf(instruction, tiles * m * n, groups);
  if (int64_t beside = registersBesideSums(info, config, loops, groups);
      beside && whole + beside > held) {
    held = whole + beside;
    what = "registers of sums and of what is combined with them";
  }
  if (Refusal why = whyNotEnoughRegisters(config, groups, held, what))
    return why;
  if (Refusal why = whyNotNamed(config, groups, instruction.n / 2))
    return why;
  return {};
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
        for (int64_t stages : {4, 6, 5, 3, 2, 8}) {
          auto plain = LoweringConfigAttr::get(
                           context, Strategy::WarpSpecialized, block, warps, {}, stages,
                           promote, name, info.getSplits(),
                           rasterOf(info, m, n, rows, instruction->n))
                           .withRegisters(registersOf(groups))
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
