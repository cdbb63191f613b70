// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of tensor programs that are compiled, and how, from what the stages
// themselves go by: interfaces and traits of the registered ops, the lists that
// gates and rewrites look into, and the patterns that convert TOSA.

#include "Source.h"

#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Input/Input.h"
#include "tilewright/Normalize/Normalize.h"

#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Fourier.h"
#include "tilewright/Dialect/Irregular.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright;

/// How ops of `name` are compiled; empty where they are not, or not as such.
static StringRef describe(OperationName name, ArrayRef<OperationName> tosa) {
  if (llvm::is_contained(tosa, name))
    return "converted: to linalg, tensor, scf and arith by upstream's patterns";
  if (name.getStringRef() == AttentionOp::getOperationName())
    return "kernel: one, or several where no lowering config fits";
  if (name.getStringRef() == ScatterOp::getOperationName())
    return "kernel";
  if (name.getStringRef() == ScanOp::getOperationName())
    return "kernel: one, or three where the dim is long";
  if (name.getStringRef() == SortOp::getOperationName())
    return "kernel: one, and one that is run for each doubling of a dim of more than 512";
  if (name.getStringRef() == TopKOp::getOperationName())
    return "rewritten: to the first elements of tilewright.sort";
  if (name.getStringRef() == NonzeroOp::getOperationName())
    return "rewritten: to elementwise ops, tilewright.scan and tilewright.scatter";
  if (name.getStringRef() == FftOp::getOperationName())
    return "rewritten: to products with constant matrices, or a sum of terms where the length is dynamic";
  if (name.getStringRef() == UniqueOp::getOperationName())
    return "rewritten: to tilewright.sort, tilewright.scan, tilewright.scatter and elementwise ops";
  if (name.getStringRef() == tensor::ScatterOp::getOperationName())
    return "rewritten: to tilewright.scatter, a kernel";
  if (name.getStringRef().starts_with("linalg.winograd_"))
    return "rewritten: to a product with a constant matrix, a kernel";
  if (name.getDialectNamespace() == "tilewright" ||
      name.hasTrait<OpTrait::IsTerminator>())
    return "";
  if (name.hasInterface<linalg::LinalgOp>())
    return "kernel";
  if (isDecomposed(name))
    return "rewritten: to structured ops, slices and reshapes, then a kernel";
  StringRef text = name.getStringRef();
  if (llvm::is_contained({"affine.for", "affine.if", "affine.load", "affine.store"}, text))
    return "rewritten: nests of loops over memrefs, to structured ops, then kernels";
  if (llvm::is_contained({"affine.parallel", "scf.forall", "scf.parallel"}, text))
    return "rewritten: to loops one after the other";
  if (llvm::is_contained({"func.call_indirect", "func.constant"}, text))
    return "rewritten: to calls by name, of a constant or of an arith.select of them";
  if (llvm::is_contained({"memref.alloc", "memref.alloca", "memref.dealloc", "memref.load", "memref.store",
                          "memref.copy", "memref.subview", "memref.cast", "memref.transpose",
                          "memref.expand_shape", "memref.collapse_shape", "memref.get_global",
                          "bufferization.to_buffer"},
                         text))
    return "rewritten: to tensors that memrefs hold, where they lie";
  if (text == "tensor.parallel_insert_slice")
    return "rewritten: with its scf.forall, to loops one after the other";
  if (text == "scf.execute_region")
    return "rewritten: its only block takes its place";
  if (text == "scf.index_switch")
    return "rewritten: to scf.if";
  if (text == "scf.for")
    return "kernel: in bodies, a few known iterations; host; rewritten: nests over memrefs, to "
           "structured ops, where dependences allow";
  if (text == "scf.if")
    return "kernel: in bodies; host; rewritten: nests over memrefs, to structured ops, where dependences allow";
  bool isScalar =
      llvm::is_contained({"arith", "math"}, name.getDialectNamespace());
  if (isScalar && name.hasTrait<OpTrait::Elementwise>())
    return "kernel: in bodies, and elementwise on tensors; host: on scalars";
  if (runsInBodies(name))
    return runsOnHost(name) ? "kernel: in bodies; host" : "kernel: in bodies";
  if (runsOnHost(name))
    return "host";
  return "";
}

std::string tilewright::listOps() {
  DialectRegistry dialects;
  registerInputDialects(dialects);
  MLIRContext context(dialects, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  SmallVector<OperationName> tosa = getConvertedTosaOps(&context);
  std::vector<std::string> lines;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (StringRef how = describe(name, tosa); !how.empty())
      lines.push_back((name.getStringRef() + " " + how + "\n").str());
  llvm::sort(lines);
  return llvm::join(lines, "");
}
