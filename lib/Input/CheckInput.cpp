// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first gate: modules without work, and signatures that the host program's
// ABI (docs/abi.md) has no form for.

#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/Attention.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CHECKINPUTPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// Of tensors and memrefs at the boundary.
static constexpr int64_t kMaxRank = 10;

static bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         isFloat8(type);
}

/// Why a value of `type` cannot cross the boundary, with the way out; empty if
/// it can.
static std::string objection(Type type, bool isResult) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) {
    if ((isElementType(type) && !isFloat8(type)) || type.isIndex())
      return {};
    return "scalars are index, i1 to i64, f16, bf16, f32 or f64";
  }
  if (!shaped.hasRank())
    return "only ranked types are compiled; give it a shape of '?'";
  if (!isa<RankedTensorType, MemRefType>(type))
    return "values are tensors, memrefs or scalars";
  if (elementsPerByte(shaped.getElementType()) > 1)
    return "i4 and i2 are elements of tensors that are read, two or four to a byte; take an "
           "argument as a tensor, return i8";
  if (!isElementType(shaped.getElementType()))
    return ("elements are i1, i8, i16, i32, i64, " + kFloat8Names +
            ", f16, bf16, f32 or f64")
        .str();
  if (shaped.getRank() > kMaxRank)
    return "the largest rank is 10; collapse dims first";
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (tensor.getEncoding())
      return "only dense tensors are compiled; drop the encoding";
  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (isResult)
      return "return tensors, or write into a memref argument";
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)))
      return "only memrefs with a stride per dim are compiled; copy the view";
    if (llvm::any_of(strides, [](int64_t stride) {
          return !ShapedType::isDynamic(stride) && stride < 1;
        }))
      return "strides are positive; copy the view";
    if (memref.getMemorySpace())
      return "memrefs at the boundary have no memory space";
  }
  int64_t bytes = 8;
  for (int64_t size : shaped.getShape())
    if (ShapedType::isStatic(size) && size != 0 &&
        llvm::MulOverflow(bytes, size, bytes))
      return "its size in bytes does not fit 63 bits";
  return {};
}

static LogicalResult checkSignature(func::FuncOp func) {
  LogicalResult result = success();
  auto check = [&](TypeRange types, StringRef what, bool isResult) {
    for (auto [number, type] : llvm::enumerate(types)) {
      std::string reason = objection(type, isResult);
      if (reason.empty())
        continue;
      StringRef name = isResult || func.isExternal()
                           ? StringRef()
                           : getWrittenName(func.getArgument(number));
      InFlightDiagnostic error = func.emitOpError() << what << " " << number;
      if (!name.empty())
        error << " (" << name << ")";
      result = error << " has type " << type << ": " << reason;
    }
  };
  check(func.getArgumentTypes(), "argument", false);
  check(func.getResultTypes(), "result", true);
  return result;
}

static bool isConfig(Attribute value) {
  auto byTarget = dyn_cast<DictionaryAttr>(value);
  return isa<LoweringConfigAttr>(value) ||
         (byTarget && llvm::any_of(byTarget, [](NamedAttribute entry) {
            return isa<LoweringConfigAttr>(entry.getValue());
          }));
}

/// Attributes of this dialect that nobody would read.
static LogicalResult checkAttributes(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    if (name != kConfigAttr && isConfig(attr.getValue()))
      return op->emitOpError() << "has a lowering config as '" << name
                               << "', which nothing reads; call it '" << kConfigAttr
                               << "'";
    if (name == kConfigAttr && !isa<linalg::LinalgOp, AttentionOp>(op))
      return op->emitOpError()
             << "has a lowering config, but is no op with loops of its own; write it "
                "as linalg.generic, or give the config of its kernel by --config";
    bool isInside = !isa<func::FuncOp, ModuleOp>(op);
    if (isInside && name != kConfigAttr && name != kAssociativeAttr &&
        name.starts_with("tilewright."))
      return op->emitOpError() << "has the attribute '" << name
                               << "', which nothing reads; programs may give '"
                               << kConfigAttr << "'";
  }
  return success();
}

/// Windows that run backwards have no form in memory that calls could check.
static LogicalResult checkSteps(Operation *op) {
  auto window = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  if (!window)
    return success();
  for (int64_t step : window.getStaticStrides())
    if (!ShapedType::isDynamic(step) && step < 0)
      return op->emitOpError() << "has a step of " << step
                               << ", and windows go forwards; read backwards in a linalg.generic, "
                                  "by a map as affine_map<(i) -> (9 - i * 2)>";
  return success();
}

/// Forms of our ops that the compiler makes, and whose operands it alone knows to fit.
static LogicalResult checkForm(Operation *op) {
  if (isa<GemmOp>(op))
    return op->emitOpError("is what the compiler makes of products for a library; write "
                           "linalg.matmul, and name the library by --external-blas");
  if (isa<CheckOp>(op))
    return op->emitOpError("is what the compiler makes of cf.assert in the body of an op; "
                           "write that");
  auto scan = dyn_cast<ScanOp>(op);
  if (scan && scan.getChunk())
    return op->emitOpError("has a 'chunk', which the compiler chooses; leave it out");
  auto sort = dyn_cast<SortOp>(op);
  if (sort && (sort.getRuns() || sort.getWidth()))
    return op->emitOpError("has 'runs' or a 'width', which the compiler makes of whole "
                           "sorts; leave it out");
  return success();
}

LogicalResult tilewright::checkInput(ModuleOp module) {
  bool hasFunction = false;
  LogicalResult result = success();
  for (Operation &op : *module.getBody()) {
    if (isa<ModuleOp>(op)) {
      result = op.emitOpError("is nested; give each module as an input of its "
                              "own");
      continue;
    }
    auto func = dyn_cast<func::FuncOp>(op);
    if (!func)
      continue;
    if (isKernel(func)) {
      result = func.emitOpError()
               << "has '" << kKernelAttr
               << "', which the compiler gives; remove the attribute";
      continue;
    }
    if (func.isExternal() || func.isPrivate())
      continue;
    hasFunction = true;
    if (failed(checkSignature(func)))
      result = failure();
  }
  if (module->walk([](Operation *op) {
        return failed(checkAttributes(op)) || failed(checkForm(op)) || failed(checkSteps(op))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      }).wasInterrupted())
    return failure();
  if (succeeded(result) && !hasFunction)
    return module.emitError("the module defines no public function, so there "
                            "is nothing to compile; add a func.func with a "
                            "body");
  return result;
}

namespace {
struct CheckInputPass
    : public tilewright::impl::CheckInputPassBase<CheckInputPass> {
  void runOnOperation() override {
    if (failed(checkInput(getOperation())))
      signalPassFailure();
  }
};
} // namespace
