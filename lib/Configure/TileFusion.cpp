// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Configure/KernelInfo.h"
#include "tilewright/Configure/Splits.h"

#include "Enumerate.h"

using namespace mlir;
using namespace tilewright;

/// Rows, or columns, of the largest tile that every target with matrix units can
/// hold in registers with sixteen of the other: what enumerateMatrix tries.
static constexpr int64_t kWidestTile = 256;

/// Whether the target has an instruction for the product's types.
static bool hasInstruction(linalg::LinalgOp product,
                           const Contraction &contraction, TargetAttr target) {
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  return names && llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
           auto instruction = MatrixInstruction::parse(product.getContext(), name);
           return instruction && hasTypesOf(product, contraction, *instruction);
         });
}

/// Whether a tile may be worked on after the product at all.
static std::optional<Contraction> matchTile(linalg::LinalgOp product,
                                            TargetAttr target,
                                            std::string &reason) {
  auto fail = [&](const Twine &why) {
    reason = why.str();
    return std::nullopt;
  };
  std::optional<Contraction> contraction = matchContraction(product);
  if (!contraction || product->hasAttr(kSplitAttr))
    return fail("it is computed in parts");
  if (product->hasAttr(kConfigAttr))
    return fail("its lowering config is pinned");
  if (!target || target.getFact("subgroup", 1) <= 1 ||
      !hasInstruction(product, *contraction, target))
    return fail("it is not on matrix units");
  if (isSkinny(product, *contraction))
    return fail("it has so few rows or columns that threads share its sums");
  return contraction;
}

/// Whether a tile can have all of `loops`, which are those of one operand.
static bool fitsTile(linalg::LinalgOp product, ArrayRef<unsigned> loops,
                     std::string &reason) {
  SmallVector<int64_t> extents = product.getStaticLoopRanges();
  if (loops.size() != 1) {
    reason = "it runs over several loops there, and a tile has one of them";
    return false;
  }
  int64_t extent = extents[loops.front()];
  if (ShapedType::isDynamic(extent))
    reason = "how many there are is not known before the launch, and a tile must "
             "have them all";
  else if (extent < 1 || extent > kWidestTile)
    reason = "there are " + std::to_string(extent) + ", and a tile has at most " +
             std::to_string(kWidestTile);
  return reason.empty();
}

bool tilewright::mayReduceTile(linalg::LinalgOp product,
                               ArrayRef<unsigned> loops, TargetAttr target,
                               std::string &reason) {
  std::string why;
  auto fail = [&](StringRef what) {
    reason = ("the product's " + what + " cannot be reduced in its kernel: " + why).str();
    return false;
  };
  std::optional<Contraction> contraction = matchTile(product, target, why);
  if (!contraction)
    return fail("result");
  auto isAllOf = [&](ArrayRef<unsigned> own) {
    return own.size() == loops.size() &&
           llvm::all_of(own, [&](unsigned loop) {
             return llvm::is_contained(loops, loop);
           });
  };
  bool rows = isAllOf(contraction->n), columns = isAllOf(contraction->m);
  if (!rows && !columns) {
    why = "the loops are neither all of its rows' nor all of its columns'";
    return fail("result");
  }
  return fitsTile(product, loops, why) || fail(rows ? "rows" : "columns");
}
