// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/PredictTime.h"
#include "tilewright/Configure/Splits.h"

#include "Bound.h"
#include "CostModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// Rows, or columns, of the largest tile that a target with matrix units can surely
/// hold with sixteen of the other: what enumerateMatrix tries. Half of it where
/// there is little shared memory for the operands.
static int64_t widestTile(TargetAttr target) {
  return target.getFact("shared_memory", 0) < 48 * 1024 ? 128 : 256;
}

/// The longest rows that a block reads again for each tile of what follows.
static constexpr int64_t kLongestRows = 256;

/// The target's instructions for the product's types.
static SmallVector<StringAttr> instructionsOf(linalg::LinalgOp product,
                                              const Contraction &contraction,
                                              TargetAttr target, StringRef fact = "mma") {
  SmallVector<StringAttr> result;
  if (auto names = target.getFacts().getAs<ArrayAttr>(fact))
    for (auto name : names.getAsRange<StringAttr>())
      if (auto instruction = MatrixInstruction::parse(product.getContext(), name);
          instruction && hasTypesOf(product, contraction, *instruction))
        result.push_back(name);
  return result;
}

/// Whether the pinned config of `second` has its operand `number`, what a product becomes,
/// in registers of warpgroups.
static bool asksForChain(linalg::LinalgOp second, unsigned number) {
  auto pinned = second->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  return pinned && pinned.isForWarpgroups() &&
         !llvm::is_contained(pinned.getPromote(), int64_t(number));
}

/// Whether a tile may be worked on after the product at all. `isAsked`: its pinned config
/// says so.
static OrRefusal<Contraction> matchTile(linalg::LinalgOp product, TargetAttr target,
                                        bool isAsked = false) {
  std::optional<Contraction> contraction = matchContraction(product);
  if (!contraction || product->hasAttr(kSplitAttr) || product->hasAttr(kClusterSumAttr))
    return refuse(Refused::NotContraction, "it is computed in parts");
  if (product->hasAttr(kConfigAttr) && !isAsked)
    return refuse(Refused::Pinned, "its lowering config is pinned");
  if (!target || target.getFact("subgroup", 1) <= 1 ||
      instructionsOf(product, *contraction, target).empty())
    return refuse(Refused::Target, "it is not on matrix units");
  if (isSkinny(product, *contraction))
    return refuse(Refused::Extents, "it has so few rows or columns that threads share its sums");
  return *contraction;
}

/// Whether a tile can have all of `loops`, which are those of one operand.
static Refusal checkTileLoops(linalg::LinalgOp product, ArrayRef<unsigned> loops,
                              TargetAttr target) {
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  if (loops.size() != 1)
    return refuse(Refused::NotContraction,
                  "it runs over several loops there, and a tile has one of them");
  int64_t extent = extents[loops.front()];
  if (ShapedType::isDynamic(extent))
    return refuse(Refused::DynamicExtents,
                  "how many there are is not known before the launch, and a tile must "
                  "have them all");
  if (int64_t most = widestTile(target); extent < 1 || extent > most)
    return refuse(Refused::TileSize,
                  "there are " + Twine(extent) + ", and a tile has at most " + Twine(most))
        .of(extent, most);
  return {};
}

Refusal tilewright::checkReducedTile(linalg::LinalgOp product, ArrayRef<unsigned> loops,
                                     TargetAttr target) {
  auto fail = [](StringRef what, const Refusal &why) {
    return why.after("the product's " + what + " cannot be reduced in its kernel: ");
  };
  OrRefusal<Contraction> contraction = matchTile(product, target);
  if (!contraction)
    return fail("result", contraction.why());
  auto isAllOf = [&](ArrayRef<unsigned> own) {
    return own.size() == loops.size() &&
           llvm::all_of(own, [&](unsigned loop) {
             return llvm::is_contained(loops, loop);
           });
  };
  bool rows = isAllOf(contraction->n), columns = isAllOf(contraction->m);
  if (!rows && !columns)
    return fail("result", refuse(Refused::Neighbours, "the loops are neither all of its rows' "
                                                      "nor all of its columns'"));
  if (Refusal why = checkTileLoops(product, loops, target))
    return fail(rows ? "rows" : "columns", why);
  return {};
}

/// Whether rows of an operand begin at multiples of 16 bytes, or a guard may find that.
static bool mayBeAligned(OpOperand &operand) {
  auto type = cast<RankedTensorType>(operand.get().getType());
  int64_t row = type.getShape().back();
  return ShapedType::isDynamic(row) || row * type.getElementTypeBitWidth() % 128 == 0;
}

/// Why a block reads rows of `first` again for each tile of its result; empty where
/// warpgroups keep all of its columns in registers (ChainedWarpgroups.cpp), and there are
/// rows for at least half of the multiprocessors.
static Refusal whyReadAgain(linalg::LinalgOp first, const Contraction &before,
                            linalg::LinalgOp second, const Contraction &after, TargetAttr target) {
  constexpr int64_t kRows = 64, kWidest = 256, kLongest = 512, kBytes = 64 * 1024;
  SmallVector<int64_t> extents = first.getStaticLoopRanges();
  int64_t rows = extents[before.m.front()], columns = extents[before.n.front()];
  Type element = getElementTypeOrSelf(first->getOperand(before.a).getType());
  if (!target.has("warpgroup_mma"))
    return refuse(Refused::Target,
                  target.getName().str() + " has no warpgroups that keep all of a result");
  if (!(element.isF16() || element.isBF16()) ||
      !getElementTypeOrSelf(first->getResult(0).getType()).isF32())
    return refuse(Refused::Types, "warpgroups keep f32 sums of f16 and bf16 alone");
  for (auto [op, number] : {std::pair(first, before.a), std::pair(first, before.b),
                            std::pair(second, after.b)})
    if (!mayBeAligned(op->getOpOperand(number)))
      return refuse(Refused::Alignment,
                    "rows of an operand are no multiples of 16 bytes, which copy engines for "
                    "warpgroups want");
  if (ShapedType::isDynamic(columns) || columns > kWidest)
    return refuse(
        Refused::TileSize,
        "it has " + (ShapedType::isDynamic(columns) ? "any number of" : std::to_string(columns)) +
            " columns, of which registers of warpgroups have room for " + std::to_string(kWidest));
  // Beside more than half of what there is, blocks have 64 rows, and read twice as much of
  // the first product's right operand.
  int64_t sums = extents[before.k.front()];
  int64_t bytes = 2 * columns * second.getStaticLoopRanges()[after.n.front()];
  if (bytes > kBytes && (ShapedType::isDynamic(sums) || sums > kLongest))
    return refuse(Refused::SharedMemory,
                  "the second product's right operand takes " + std::to_string(bytes) +
                      " bytes of shared memory, beside which rows of up to " +
                      std::to_string(kLongest) + " pay");
  int64_t blocks = ShapedType::isDynamic(rows) ? multiprocessorsOf(target)
                                               : int64_t(llvm::divideCeil(rows, kRows));
  if (2 * blocks < multiprocessorsOf(target))
    return refuse(Refused::Extents, "its " + std::to_string(rows) + " rows are " +
                                        std::to_string(blocks) + " blocks of warpgroups, for " +
                                        std::to_string(multiprocessorsOf(target)) +
                                        " multiprocessors");
  return {};
}

/// The same of the products and their loops, without the words in front.
static Refusal checkLoopsOfChain(linalg::LinalgOp first, linalg::LinalgOp second, unsigned number,
                                 TargetAttr target) {
  bool isAsked = asksForChain(second, number);
  OrRefusal<Contraction> before = matchTile(first, target),
                         after = matchTile(second, target, isAsked);
  if (!before || !after)
    return after ? before.why() : after.why();
  if (number != after->a)
    return refuse(Refused::Config, "it is the right operand");
  auto isPlain = [](const Contraction &product) {
    return product.m.size() == 1 && product.n.size() == 1 && product.k.size() == 1;
  };
  if (!isPlain(*before) || !isPlain(*after))
    return refuse(Refused::NotContraction, "not both have one loop of rows, columns and sums each");
  SmallVector<StringAttr> others = instructionsOf(second, *after, target);
  if (llvm::none_of(instructionsOf(first, *before, target), [&](StringAttr name) {
        return llvm::is_contained(others, name);
      }))
    return refuse(Refused::Types, "no matrix instruction is for the types of both");
  // Rows of fragments come before columns in both.
  if (after->m.front() > after->n.front() || before->m.front() > before->n.front())
    return refuse(Refused::Layout, "a result has its columns in front of its rows");
  int64_t rows = first.getStaticLoopRanges()[before->k.front()];
  if (Refusal why = checkTileLoops(second, after->n, target))
    return why.after("of the result's columns, ");
  if (!isAsked && (ShapedType::isDynamic(rows) || rows > kLongestRows))
    if (Refusal again = whyReadAgain(first, *before, second, *after, target))
      return again.after("a block would read rows of " +
                         (ShapedType::isDynamic(rows) ? "any number of" : Twine(rows).str()) +
                         " elements again for each tile of them, which pays up to " +
                         Twine(kLongestRows) + "; ");
  return {};
}

Refusal tilewright::checkChain(linalg::LinalgOp first, linalg::LinalgOp second, unsigned number,
                               TargetAttr target) {
  Refusal why = checkLoopsOfChain(first, second, number, target);
  return why ? why.after("the product of a product cannot be computed in the kernel of the "
                         "latter: ")
             : why;
}

std::optional<double> tilewright::lostByWarps(linalg::LinalgOp product, TargetAttr target) {
  constexpr double kTile = 64;
  Contraction contraction = *matchContraction(product);
  if (!target.has("warpgroup_mma") ||
      instructionsOf(product, contraction, target, "warpgroup_mma").empty() ||
      !mayBeAligned(product->getOpOperand(contraction.a)) ||
      !mayBeAligned(product->getOpOperand(contraction.b)))
    return 0;
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  if (llvm::any_of(extents, ShapedType::isDynamic))
    return std::nullopt;
  auto count = [&](ArrayRef<unsigned> loops) {
    double result = 1;
    for (unsigned loop : loops)
      result *= double(std::max<int64_t>(1, extents[loop]));
    return result;
  };
  const ChipFacts &chip = chipOf(target);
  double blocks = count(contraction.batch) * std::ceil(count(contraction.m) / kTile) *
                  std::ceil(count(contraction.n) / kTile);
  double waves = std::ceil(blocks / chip.multiprocessors);
  double products = 2 * kTile * kTile * count(contraction.k);
  return waves * products / chip.tensor.lookup("f16_f32") * (1 / chip.mmaSyncShare - 1) /
         chip.clockMhz;
}

/// Microseconds that a dual product takes, and that both of its kernels and one more launch
/// do; nothing where sizes are not known.
static std::optional<std::pair<double, double>> predictDual(const DualParts &parts,
                                                            TargetAttr target) {
  auto all = llvm::to_vector(llvm::concat<const linalg::LinalgOp>(parts.before, parts.after));
  llvm::sort(all, [](linalg::LinalgOp a, linalg::LinalgOp b) { return a->isBeforeInBlock(b); });
  std::optional<double> one = predictTime(all, target),
                        first = predictTime(parts.before, target),
                        second = predictTime(parts.after, target);
  if (!one || !first || !second)
    return std::nullopt;
  return std::pair(*one, *first + *second + chipOf(target).kernelMicroseconds);
}

OrRefusal<std::string> tilewright::mayFuseDual(linalg::LinalgOp first, linalg::LinalgOp second,
                                               unsigned number, const DualParts &parts,
                                               TargetAttr target) {
  auto fail = [](Refused kind, const Twine &why) {
    return refuse(kind, "two products of one operand are not computed in one kernel: " + why);
  };
  std::optional<Contraction> contraction = matchContraction(first);
  if (!target || !contraction)
    return fail(Refused::NotContraction, "they are no plain products");
  if (target.getFact("subgroup", 1) <= 1)
    return fail(Refused::Target,
                "on CPUs, one product at a time has panels of its operands, and a launch costs "
                "little");
  if (first->hasAttr(kConfigAttr) || second->hasAttr(kConfigAttr))
    return fail(Refused::Pinned, "a lowering config is pinned on one of them");
  if (isSkinny(first, *contraction) && !isForMatrixUnit(first, target))
    return fail(Refused::Extents, "they have so few rows or columns that threads share their sums");
  for (linalg::LinalgOp product : {first, second})
    for (Value input : product.getDpsInputs())
      if (input.getDefiningOp<Im2colOp>())
        return fail(Refused::Layout, "an operand is all windows of an image");
  double elements = 1, bytes = 0;
  bool assumed = false;
  for (Value value : parts.between) {
    auto type = cast<RankedTensorType>(value.getType());
    elements = 1;
    for (int64_t extent : type.getShape()) {
      assumed |= ShapedType::isDynamic(extent);
      elements *= double(ShapedType::isDynamic(extent) ? kNominal : extent);
    }
    bytes += 2 * elements * double(bytesPerElement(type));
  }
  std::optional<double> lost = parts.inMemory ? 0 : lostByWarps(first, target);
  if (!lost)
    return fail(Refused::DynamicExtents,
                "an operand is computed in it, so that warps would multiply both and not "
                "warpgroups, and how much is not known before the launch");
  const ChipFacts &chip = chipOf(target);
  double saved = chip.kernelMicroseconds + bytes / chip.memoryBytes / chip.clockMhz;
  bool pays = *lost <= saved;
  std::optional<std::pair<double, double>> times;
  if (parts.inMemory && target.has("warpgroup_mma"))
    times = predictDual(parts, target);
  if (times)
    pays = times->first <= times->second;
  std::string numbers = llvm::formatv("that {0} a kernel, and {1} bytes{2} that are written and "
                                      "read back, about {3:f1} us",
                                      pays ? "saves" : "would save", int64_t(bytes),
                                      assumed ? " (assumed)" : "", saved)
                            .str();
  if (*lost > 0)
    numbers += llvm::formatv(", and {0} {1:f1} us, as warps multiply both, and not warpgroups",
                             pays ? "loses" : "lose", *lost)
                   .str();
  if (times)
    numbers += llvm::formatv("; {0:f1} us as one kernel, {1:f1} us as two and a launch, as "
                             "predicted",
                             times->first, times->second)
                   .str();
  if (!pays)
    return fail(Refused::NotProfitable, numbers);
  return "two products of operand " + std::to_string(number) +
         " run side by side in one kernel, a dual product: " + numbers;
}
