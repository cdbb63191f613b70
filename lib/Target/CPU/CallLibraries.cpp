// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that a library computes become calls of CBLAS, whose functions the host
// program imports:
//
//   tilewright.gemm ins(%a, %b : memref<8x64x32xf32>, memref<8x32x16xf32>) outs(%c)
// becomes
//   scf.for %i = 0 to 8 {
//     llvm.call @cblas_sgemm(101, 111, 111, 64, 16, 32, 1.0, %a + 8192 * %i, 32,
//                            %b + 2048 * %i, 16, 0.0, %c + 4096 * %i, 16)
//   }

#include "tilewright/Target/CPU/Passes.h"

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilewright {
#define GEN_PASS_DEF_CALLLIBRARIESPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// CBLAS's numbers.
static constexpr int64_t kRowMajor = 101, kAsIs = 111, kTransposed = 112;

namespace {
class CallWriter {
public:
  CallWriter(GemmOp op, const GemmLoops &loops)
      : op(op), b(op), loc(op.getLoc()), loops(loops),
        maps(op.getMaps().getAsValueRange<AffineMapAttr>()) {}

  void write() {
    SmallVector<Value> ids(maps[0].getNumDims());
    Value zero = index(0), one = index(1);
    for (unsigned loop : loops.batch) {
      auto each = scf::ForOp::create(b, loc, zero, extent(loop), one);
      b.setInsertionPointToStart(each.getBody());
      ids[loop] = each.getInductionVar();
    }
    call(ids);
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value i32(int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  }
  Value toI32(Value size) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), size);
  }

  Value extent(unsigned loop) {
    for (auto [operand, map] : llvm::zip_equal(op->getOperands(), maps))
      if (auto dim = map.getResultPosition(b.getAffineDimExpr(loop)))
        return memref::DimOp::create(b, loc, operand, *dim);
    llvm_unreachable("each loop is an operand's");
  }

  /// Elements from one step of dim `dim` of an operand to the next.
  Value stride(unsigned number, unsigned dim) {
    Value result = index(1);
    for (unsigned d = dim + 1; d < maps[number].getNumResults(); ++d)
      result = arith::MulIOp::create(
          b, loc, result, memref::DimOp::create(b, loc, op->getOperand(number), d));
    return result;
  }

  /// Where the matrix of this batch begins.
  Value address(unsigned number, ArrayRef<Value> ids) {
    Value memory = op->getOperand(number);
    Value first = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
    for (unsigned dim = 0; dim < maps[number].getNumResults(); ++dim)
      if (Value id = ids[maps[number].getDimPosition(dim)]) {
        Value step = arith::MulIOp::create(b, loc, stride(number, dim), index(bytes));
        first = arith::AddIOp::create(b, loc, first, arith::MulIOp::create(b, loc, id, step));
      }
    Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), first);
    return LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                    integer);
  }

  /// The distance of rows in memory, whichever loop they are; never less than 1.
  Value leading(unsigned number, unsigned first, unsigned second) {
    unsigned last = maps[number].getNumResults() - 1;
    unsigned rows = maps[number].getDimPosition(last) == first ? second : first;
    unsigned dim = *maps[number].getResultPosition(b.getAffineDimExpr(rows));
    return toI32(arith::MaxSIOp::create(b, loc, stride(number, dim), index(1)));
  }

  bool isTransposed(unsigned number, unsigned columns) {
    return maps[number].getDimPosition(maps[number].getNumResults() - 1) != columns;
  }

  void call(ArrayRef<Value> ids) {
    Type element = cast<MemRefType>(op.getC().getType()).getElementType();
    auto number = [&](double value) -> Value {
      return LLVM::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
    };
    Value arguments[] = {
        i32(kRowMajor),
        i32(isTransposed(0, loops.k) ? kTransposed : kAsIs),
        i32(isTransposed(1, loops.n) ? kTransposed : kAsIs),
        toI32(extent(loops.m)),
        toI32(extent(loops.n)),
        toI32(extent(loops.k)),
        number(1),
        address(0, ids),
        leading(0, loops.m, loops.k),
        address(1, ids),
        leading(1, loops.k, loops.n),
        number(op.getAccumulate() ? 1 : 0),
        address(2, ids),
        leading(2, loops.m, loops.n)};
    StringRef name = op.getFunction();
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            SmallVector<Type>(ValueRange(arguments).getTypes()));
    auto module = op->getParentOfType<ModuleOp>();
    if (!module.lookupSymbol(name)) {
      auto top = OpBuilder::atBlockBegin(module.getBody());
      LLVM::LLVMFuncOp::create(top, loc, name, type);
    }
    LLVM::CallOp::create(b, loc, type, name, arguments);
  }

  GemmOp op;
  OpBuilder b;
  Location loc;
  const GemmLoops &loops;
  SmallVector<AffineMap> maps;
};

struct CallLibrariesPass : tilewright::impl::CallLibrariesPassBase<CallLibrariesPass> {
  void runOnOperation() override {
    SmallVector<GemmOp> ops;
    getOperation().walk([&](GemmOp op) { ops.push_back(op); });
    for (GemmOp op : ops) {
      for (Value operand : op->getOperands()) {
        auto type = dyn_cast<MemRefType>(operand.getType());
        if (type && type.getLayout().isIdentity())
          continue;
        op.emitOpError() << "has an operand of " << operand.getType()
                         << "; the library takes dense memory";
        return signalPassFailure();
      }
      SmallVector<AffineMap> maps(op.getMaps().getAsValueRange<AffineMapAttr>());
      CallWriter(op, *matchGemm(maps)).write();
      op.erase();
    }
  }
};
} // namespace
