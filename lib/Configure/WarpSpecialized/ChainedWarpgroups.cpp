// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Back-to-back GEMM by warpgroups, D = act(A B) C in one kernel: the ring feeds the first
// product, whose sums become operand A of the second in registers; C comes once.
//
//   block = [128, 256, 128], warps = [8, 1, 1], stages = 4, promote = [1],
//   mma = "wgmma.m64n256k16.f16.f32", registers = [40, 232]
//
// is the config of the second product, its root: 256 columns of D, and all 128 columns of
// A B, which are the second product's sums, in one step. The first product's instruction
// follows from it, wgmma.m64n128k16.f16.f32, and so do its steps, of 128 bytes of A.

#include "CostModel.h"
#include "Enumerate.h"
#include "WarpSpecialized.h"
#include "TensorMaps.h"
#include "WarpgroupRegisters.h"
#include "tilewright/Dialect/UserNames.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

linalg::LinalgOp tilewright::chainedProduct(const KernelInfo &info,
                                            LoweringConfigAttr config) {
  ArrayRef<linalg::LinalgOp> products = info.getProducts();
  return config.isForWarpgroups() && products.size() == 2 && info.isChained() ? products.front()
                                                          : linalg::LinalgOp();
}

linalg::LinalgOp Warpgroups::getFirstProduct(const KernelInfo &info,
                                             LoweringConfigAttr config) const {
  return chainedProduct(info, config);
}

int64_t Warpgroups::stepOfFirst(linalg::LinalgOp first) const { return chainedStep(first); }

int64_t tilewright::chainedStep(linalg::LinalgOp first) {
  constexpr int64_t kLongest = 128, kShortest = 32; // bytes of a row in shared memory
  int64_t bytes = bytesPerElement(first->getOperand(0).getType()), sums = 1;
  for (unsigned loop : matchContraction(first)->k)
    if (int64_t extent = first.getStaticLoopRanges()[loop];
        ShapedType::isDynamic(extent) || extent >= kLongest / bytes)
      return kLongest / bytes;
    else
      sums = std::max(sums, extent);
  return std::max<int64_t>(kShortest / bytes, llvm::PowerOf2Ceil(sums));
}

/// Why copy engines cannot bring operand `number` of the first product; none if they can.
static Refusal whyNotCopied(const KernelInfo &info, linalg::LinalgOp first, unsigned number) {
  OpOperand &operand = first->getOpOperand(number);
  std::string what = numberOperand(operand) + " of the first product";
  auto argument = dyn_cast<BlockArgument>(operand.get());
  if (!argument)
    return refuse(Refused::Neighbours,
                  what + " is computed in the kernel; copy engines bring what lies in memory");
  if (Refusal why = whyNoTensorMap(info.kernel, argument))
    return why.after(what);
  const Contraction &product = *info.getContraction(first);
  AffineMap map = first.getMatchingIndexingMap(&operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  if (!llvm::is_contained(product.k, last) && !llvm::is_contained(product.m, last) &&
      !llvm::is_contained(product.n, last))
    return refuse(Refused::Layout, what + " has neighbours in memory along loop " +
                                       std::to_string(last) + ", of which a tile has one element");
  return {};
}

int64_t tilewright::chainedSums(LoweringConfigAttr config, const MatrixLoops &loops) {
  int64_t rows = config.getBlock()[loops.m], groups = config.getWarps()[loops.m] / 4;
  int64_t between = config.getBlock()[loops.k], columns = config.getBlock()[loops.n];
  // The first product's sums; later what they become, two to a register, beside those of
  // the second.
  return rows * std::max(between, between / 2 + columns) / (groups * 128);
}

int64_t tilewright::chainedBytes(const KernelInfo &info, LoweringConfigAttr config,
                                 const MatrixLoops &loops) {
  linalg::LinalgOp first = chainedProduct(info, config);
  int64_t bytes = bytesPerElement(first->getOperand(0).getType());
  int64_t between = config.getBlock()[loops.k], barriers = 16;
  int64_t stage =
      (config.getBlock()[loops.m] + between) * chainedStep(first) * bytes + barriers;
  return config.getStages() * stage + between * config.getBlock()[loops.n] * bytes +
         barriers;
}

/// The field of a config that only kernels of one product have; empty if there is none.
static StringRef ofOneProduct(LoweringConfigAttr config) {
  return config.getTwoLevelSums() ? "two_level_sums"
         : config.getStreamK()    ? "stream_k"
         : !config.getProducer()  ? "producer"
         : !config.getTmaCopy()   ? "tma_copy"
                                  : "";
}

Refusal tilewright::whyNotChained(const KernelInfo &info, LoweringConfigAttr config,
                                  const MatrixInstruction &instruction, const MatrixLoops &loops,
                                  const Contraction &product) {
  constexpr int64_t kWidest = 256;
  linalg::LinalgOp root = info.getRoot(), first = chainedProduct(info, config);
  const Contraction &before = *info.getContraction(first);
  if (StringRef field = ofOneProduct(config); !field.empty())
    return refuse(Refused::Config,
                  "'" + field.str() + "' is for kernels of one product, and this one has two");
  if (product.a != info.getContraction(root)->a)
    return refuse(Refused::Config,
                  "warpgroups lie along the columns, and what the first product becomes is the "
                  "second's rows");
  if (!hasAInRegisters(config, product) ||
      !isa<BlockArgument>(root->getOperand(product.b)))
    return refuse(Refused::Config,
                  "'promote' must be [" + std::to_string(product.b) +
                      "]: what the first product becomes is an operand in registers, the other one "
                      "comes from memory");
  if (!hasTypesOf(first, before, instruction) || instruction.operandBits() != 16)
    return refuse(Refused::Types,
                  "both products have f16 or both bf16 operands, and f32 sums, where the result of "
                  "one is an operand of the other");
  int64_t between = config.getBlock()[loops.k];
  int64_t extent = root.getStaticLoopRanges()[loops.k];
  if (ShapedType::isDynamic(extent) || extent > kWidest)
    return refuse(Refused::DynamicExtents,
                  "the first product has " +
                      (ShapedType::isDynamic(extent) ? "any number of" : std::to_string(extent)) +
                      " columns; registers have room for all of up to " + std::to_string(kWidest) +
                      " of them, beside the second product's");
  if (extent > between || between > kWidest || between % 16 ||
      !llvm::isPowerOf2_64(between))
    return refuse(Refused::TileSize, "'block' has " + std::to_string(between) +
                                         " of the first product's " + std::to_string(extent) +
                                         " columns; it must have all, and 16, 32, 64, 128 or 256");
  for (unsigned number : {before.a, before.b})
    if (Refusal why = ::whyNotCopied(info, first, number))
      return why;
  return {};
}
