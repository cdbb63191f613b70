// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What upstream would get from the C library, the reference gets from the
// runtime through the support functions:
//
//   %m = memref.alloc(%n) : memref<?x4xf32>
//
//   %p = llvm.call @twr_allocate(%context, %bytes)
//   %b = <descriptor of %p> : memref<?xi8>
//   %m = memref.view %b[%c0][%n] : memref<?xi8> to memref<?x4xf32>
//
// likewise memref.get_global of parameters, whose globals have a number,
//
//   %m = memref.get_global @w : memref<8x4xf32>
//
//   %p = llvm.call @twr_parameter(%context, %number)
//   %m = …
//
// and memref.dealloc, memref.copy (as a loop nest), cf.assert and
// vector.print. Every function takes the context as its first argument.

#include "tilewright/Target/Reference/Passes.h"

#include "tilewright/Target/Buffers.h"
#include "tilewright/Target/Host/Host.h"
#include "tilewright/Target/Host/HostCalls.h"
#include "tilewright/Target/Host/ConvertHost.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTREFERENCEMEMORYPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

static LogicalResult lowerAlloc(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (!type.getLayout().isIdentity() || type.getMemorySpace() ||
      !(type.getElementType().isIntOrIndexOrFloat()))
    return op.emitOpError() << "of " << type
                            << " is not supported by the reference";
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value bytes = createByteCount(builder, loc, type, op.getDynamicSizes());
  Value pointer =
      callSupport(builder, loc, "twr_allocate",
                  LLVM::LLVMPointerType::get(op.getContext()),
                  {getCallContext(op), bytes});
  op.replaceAllUsesWith(createBuffer(builder, loc, pointer, bytes,
                                                type, op.getDynamicSizes()));
  op.erase();
  return success();
}

static void lowerDealloc(memref::DeallocOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, op.getMemref());
  address = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                       address);
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(op.getContext()), address);
  callSupport(builder, loc, "twr_free", Type(), {getCallContext(op), pointer});
  op.erase();
}

/// The whole memory of a parameter, which is a constant of the manifest.
static void lowerParameter(memref::GetGlobalOp op, IntegerAttr number) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  MemRefType type = op.getType();
  Value pointer = callSupport(builder, loc, "twr_parameter",
                              LLVM::LLVMPointerType::get(op.getContext()),
                              {getCallContext(op),
                               createI32(builder, loc, number.getInt())});
  Value bytes = createByteCount(builder, loc, type, {});
  op.replaceAllUsesWith(createBuffer(builder, loc, pointer, bytes, type, {}));
  op.erase();
}

static void lowerAssert(cf::AssertOp op, SymbolTable &symbols) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value condition =
      arith::ExtUIOp::create(builder, loc, builder.getI32Type(), op.getArg());
  callSupport(builder, loc, "twh_check", Type(),
              {getCallContext(op), condition,
               createString(builder, loc, op.getMsg(), &symbols)},
              &symbols);
  op.erase();
}

namespace {
struct ConvertReferenceMemoryPass
    : tilewright::impl::ConvertReferenceMemoryPassBase<
          ConvertReferenceMemoryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    auto pointer = LLVM::LLVMPointerType::get(context);
    SmallVector<Operation *> funcs;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      funcs.push_back(func);
      if (failed(func.insertArgument(0, pointer, {}, func.getLoc())))
        return signalPassFailure();
    }
    SymbolTable symbols(module);
    WalkResult result = module.walk([&](Operation *op) {
      if (auto use = dyn_cast<memref::GetGlobalOp>(op)) {
        auto global = symbols.lookup<memref::GlobalOp>(use.getName());
        if (auto number = global->getAttrOfType<IntegerAttr>(kConstantIdAttr))
          lowerParameter(use, number);
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (callee && !callee.isExternal()) {
          SmallVector<Value> operands = {getCallContext(op)};
          llvm::append_range(operands, call.getOperands());
          call.getOperandsMutable().assign(operands);
        }
      } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
        if (failed(lowerAlloc(alloc)))
          return WalkResult::interrupt();
      } else if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
        lowerDealloc(dealloc);
      } else if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
        lowerAssert(assertion, symbols);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto global : llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
      if (global->hasAttr(kConstantIdAttr))
        global.erase();

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    RewritePatternSet patterns(context);
    populatePrintPatterns(converter, patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<vector::PrintOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(funcs, target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerTargetReferencePasses() {
  registerTilewrightTargetReferencePasses();
}
