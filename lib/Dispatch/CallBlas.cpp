// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices become calls of a library, in programs that name one:
//
//   %z = linalg.fill ins(%zero) outs(%e)
//   %p = linalg.generic <matmul> ins(%a, %b) outs(%z)
// becomes
//   %p = tilewright.gemm ins(%a, %b) outs(%e) {library = "libopenblas.so.0", maps = […]}
//
// What is done with the result is in kernels behind it. A result whose columns are the
// rows of memory is the transposed one: C^T = B^T A^T.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CALLBLASPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Sizes are `int` to the library.
static constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();

namespace {
/// A product as the library computes it.
struct Call {
  Value operands[2];
  SmallVector<AffineMap> maps;
};
} // namespace

/// The call for `op`, or why there is none.
static OrRefusal<Call> matchCall(linalg::GenericOp op) {
  std::optional<Contraction> product = matchProduct(op);
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  if (!element.isF32() && !element.isF64())
    return refuse(Refused::Types, "its results are of neither f32 nor f64");
  for (Value operand : op->getOperands())
    if (getElementTypeOrSelf(operand.getType()) != element)
      return refuse(Refused::Types, "it widens an operand");
  if (op->hasAttr(kConfigAttr))
    return refuse(Refused::Pinned, "a lowering config is pinned on it");
  Call call;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned a = product->a, b = product->b;
  AffineMap result = maps[2];
  unsigned last = result.getNumResults() ? result.getDimPosition(result.getNumResults() - 1) : 0;
  if (maps[a].isFunctionOfDim(last) && !maps[b].isFunctionOfDim(last))
    std::swap(a, b);
  call.maps = {maps[a], maps[b], result};
  call.operands[0] = op.getDpsInputs()[a];
  call.operands[1] = op.getDpsInputs()[b];
  if (OrRefusal<GemmLoops> loops = matchGemm(call.maps); !loops)
    return loops.why();
  for (Value operand : call.operands)
    if (operand.getDefiningOp<Im2colOp>())
      return refuse(Refused::Layout, "an operand is windows of an image, which lie on each other");
    else if (isWindow(operand))
      return refuse(Refused::Layout, "an operand is a window of a larger tensor, and the library "
                                     "takes dense memory");
  for (int64_t extent : op.getStaticLoopRanges())
    if (!ShapedType::isDynamic(extent) && extent > kLargest)
      return refuse(Refused::Extents, "a size is beyond what an int counts");
  return call;
}

/// Asserts that the sizes that are not known are what an int counts.
static void assertSizes(OpBuilder &b, linalg::GenericOp op, StringRef library) {
  Location loc = op.getLoc();
  Value largest;
  for (Value operand : op->getOperands())
    for (int64_t dim = 0; dim < cast<ShapedType>(operand.getType()).getRank(); ++dim)
      if (cast<ShapedType>(operand.getType()).isDynamicDim(dim)) {
        Value size = tensor::DimOp::create(b, loc, operand, dim);
        largest = largest ? arith::MaxSIOp::create(b, loc, largest, size).getResult() : size;
      }
  if (!largest)
    return;
  Value most = arith::ConstantIndexOp::create(b, loc, kLargest);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, largest, most);
  cf::AssertOp::create(b, loc, fits,
                       (nameOp(op) + ": a size is beyond what '" + library + "' counts").str());
}

static void rewrite(linalg::GenericOp op, const Call &call, StringRef library) {
  OpBuilder b(op);
  assertSizes(b, op, library);
  Value init = op.getDpsInitOperand(0)->get();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  bool accumulates = !fill || !matchPattern(fill.getInputs()[0], m_PosZeroFloat());
  if (!accumulates)
    init = fill.getOutputs()[0];
  auto gemm = GemmOp::create(b, op.getLoc(), op->getResultTypes(), call.operands[0],
                             call.operands[1], init, b.getAffineMapArrayAttr(call.maps),
                             library, accumulates);
  op->replaceAllUsesWith(gemm.getResults());
  op->erase();
}

/// Makes calls of `library` of the products that it has a function for, and says of the
/// others why not.
static void callBlas(func::FuncOp func, StringRef library) {
  SmallVector<linalg::GenericOp> products;
  func.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && matchProduct(op))
      products.push_back(op);
  });
  for (linalg::GenericOp op : products) {
    OrRefusal<Call> call = matchCall(op);
    if (call) {
      rewrite(op, *call, library);
      continue;
    }
    addExplanation(func, nameOpAndLine(op) + " does not go to '" + library + "': " + call.why().str());
  }
}

namespace {
struct CallBlasPass : tilewright::impl::CallBlasPassBase<CallBlasPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto program = func->getParentOfType<ModuleOp>();
    auto library = program ? program->getAttrOfType<StringAttr>(kExternalBlasAttr) : StringAttr();
    TargetAttr target = getTarget(func);
    if (library && !func.isExternal() && !isKernel(func) && target &&
        target.getFact("calls_libraries", 0))
      callBlas(func, library.getValue());
  }
};
} // namespace
