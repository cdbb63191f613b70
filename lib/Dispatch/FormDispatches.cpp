// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks the host functions of a program and outlines every group of structured
// ops (Groups.h says what a group is, Outline.cpp what becomes of it). Kernels
// are named after their function, what they are, and a running number:
// @main_matmul_0, @main_reduce_1, @main_elementwise_2.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Normalize/Normalize.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static StringRef nameOf(const Group &group) {
  switch (group.kind) {
  case GroupKind::Contraction:
    return "matmul";
  case GroupKind::Reduction:
    return "reduce";
  case GroupKind::Elementwise:
    break;
  }
  linalg::LinalgOp op = group.ops.front();
  if (isa<linalg::FillOp>(op.getOperation()))
    return "fill";
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  return group.ops.size() == 1 && generic && isRelayout(generic)
             ? "copy"
             : "elementwise";
}

std::string tilewright::kernelName(func::FuncOp host, StringRef kind,
                                   unsigned number) {
  std::string prefix;
  for (char c : host.getSymName())
    prefix += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (prefix.empty() || llvm::isDigit(prefix.front()))
    prefix.insert(prefix.begin(), 'f');
  return llvm::formatv("{0}_{1}_{2}", prefix, kind, number);
}

namespace {
struct FormDispatchesPass
    : public tilewright::impl::FormDispatchesPassBase<FormDispatchesPass> {
  using FormDispatchesPassBase::FormDispatchesPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    IRRewriter rewriter(&getContext());
    SmallVector<func::FuncOp> hosts;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!isKernel(func))
        hosts.push_back(func);
    for (func::FuncOp host : hosts)
      outlineAll(host, rewriter, symbols);
  }

  void outlineAll(func::FuncOp host, RewriterBase &rewriter,
                  SymbolTable &symbols) {
    unsigned number = 0;
    SmallVector<Block *> blocks;
    host.walk<WalkOrder::PreOrder>([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      for (const Group &group :
           formGroups(*block, getTarget(getOperation()), fuse)) {
        std::string name = kernelName(host, nameOf(group), number);
        func::FuncOp kernel = outlineGroup(rewriter, group, name, symbols);
        if (!kernel)
          continue;
        ++number;
        SmallVector<Attribute> lines;
        if (!group.apart.empty())
          lines.push_back(
              rewriter.getStringAttr("a kernel of its own: " + group.apart));
        for (const std::string &note : group.notes)
          lines.push_back(rewriter.getStringAttr(note));
        if (!lines.empty())
          kernel->setAttr(kExplainAttr, rewriter.getArrayAttr(lines));
      }
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (isa<linalg::FillOp, tensor::EmptyOp>(op) && op.use_empty())
          rewriter.eraseOp(&op);
    }
  }
};
} // namespace
