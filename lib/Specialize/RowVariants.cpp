// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variants of reductions for rows of a dynamic extent that fit on chip, where ops behind the
// first one find what it has read.
//
//   func.func private @softmax_aligned(%x: tensor<?x?xf32>, …)
// gets in front of it
//   func.func private @softmax_aligned_upto1024(…)     rows in registers of a block
//   func.func private @softmax_aligned_upto8192(…)     … of a larger one
//   func.func private @softmax_aligned_upto40704(…)    rows in shared memory
//       attributes {tilewright.at_most = array<i64: 0, 1, 40704>, tilewright.at_least = array<i64: 0, 1, 1>}
// and @softmax, whose rows begin anywhere, has the same in front of it: @softmax_upto1024, …
//
// Which of both a variant does is configure's to decide: it knows how long rows are at most.
// A row has an element, which lanes behind its end read.

#include "Kernels.h"
#include "tilewright/Configure/Attention.h"
#include "tilewright/Configure/KeptRows.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Specialize/Specialize.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

/// Elements of rows that few warps hold in registers, and that many do.
static constexpr int64_t kRowClasses[] = {1024, 8192};
/// Bytes of shared memory that are left for what threads exchange, and what lengths are a
/// multiple of.
static constexpr int64_t kExchanged = 4096, kLengthUnit = 64;

static SmallVector<int64_t> rowClasses(const DynamicRows &rows, int64_t shared) {
  SmallVector<int64_t> classes;
  int64_t most = (shared - kExchanged - rows.moved) / rows.bytes / kLengthUnit * kLengthUnit;
  for (int64_t elements : kRowClasses)
    classes.push_back(elements);
  if (most > classes.back())
    classes.push_back(most);
  return classes;
}

/// (operand, dim, limit) of the tensor that the rows' length is read off.
static SmallVector<int64_t> promise(const KernelInfo &info, unsigned number, int64_t limit) {
  const LoopClass &row = info.classes[number];
  func::FuncOp kernel = info.kernel;
  return {operandNumber(kernel.getArgument(row.argument)), row.dim, limit};
}

/// Adds the variants of `kernel`, if a block reads its rows more than once; says whether it did.
static FailureOr<bool> addVariants(func::FuncOp kernel, TargetAttr target,
                                   SymbolTable &symbols) {
  FailureOr<KernelInfo> info = KernelInfo::get(kernel);
  if (failed(info))
    return failure();
  std::optional<DynamicRows> rows = findDynamicRows(*info);
  if (!rows || info->root->hasAttr(kConfigAttr))
    return false;
  OpBuilder b(kernel);
  for (int64_t most : rowClasses(*rows, target.getFact("shared_memory", 0))) {
    auto variant = cast<func::FuncOp>(kernel->clone());
    variant.setName((kernel.getName() + "_upto" + Twine(most)).str());
    if (!kernel->hasAttr(kVariantOfAttr))
      variant->setAttr(kVariantOfAttr, b.getStringAttr(kernel.getName()));
    variant->setAttr(kAtMostAttr,
                     b.getDenseI64ArrayAttr(promise(*info, rows->number, most)));
    variant->setAttr(kAtLeastAttr,
                     b.getDenseI64ArrayAttr(promise(*info, rows->number, 1)));
    symbols.insert(variant, Block::iterator(kernel));
  }
  return true;
}

LogicalResult tilewright::addRowVariants(ModuleOp program) {
  TargetAttr target = getTarget(program);
  if (!target || target.getFact("subgroup", 0) <= 1)
    return success();
  SymbolTable symbols(program);
  SmallVector<func::FuncOp> kernels;
  for (auto func : program.getOps<func::FuncOp>())
    if (isKernel(func) && !func.isExternal() && func->hasAttr(kVariantOfAttr) &&
        (func->hasAttr(kDivisibleAttr) || func->hasAttr(kAlignedAttr)) &&
        !func->hasAttr(kAtMostAttr) && isProgramForm(func) && !findAttention(func) &&
        !findIrregular(func))
      kernels.push_back(func);
  for (func::FuncOp kernel : kernels) {
    FailureOr<bool> added = addVariants(kernel, target, symbols);
    if (failed(added))
      return failure();
    // Rows that begin anywhere are on chip as well, element by element.
    auto general = symbols.lookup<func::FuncOp>(
        kernel->getAttrOfType<StringAttr>(kVariantOfAttr).getValue());
    if (*added && general && !general->hasAttr(kAtMostAttr) &&
        failed(addVariants(general, target, symbols)))
      return failure();
  }
  return success();
}
