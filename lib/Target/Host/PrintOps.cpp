// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// vector.print through the runtime, in upstream's format:
//
//   vector.print %v : vector<2xf32>        ( 1, 2 )

#include "tilewright/Target/Host/ConvertHost.h"

#include "tilewright/Target/Host/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

static void printText(OpBuilder &builder, Location loc, Value context,
                      StringRef text) {
  if (text.empty())
    return;
  callSupport(builder, loc, "twh_print", Type(),
              {context, createString(builder, loc, text),
               createI64(builder, loc, text.size())});
}

static LogicalResult printScalar(OpBuilder &builder, Operation *op, Value value) {
  Location loc = op->getLoc();
  Value context = getCallContext(op);
  Type type = value.getType();
  Type i64 = builder.getI64Type();
  auto call = [&](StringRef name, Value argument) {
    callSupport(builder, loc, name, Type(), {context, argument});
    return success();
  };
  if (type.isF64())
    return call("twh_print_f64", value);
  if (type.isF32())
    return call("twh_print_f32", value);
  if (type.isF16() || type.isBF16())
    return call("twh_print_f32", arith::ExtFOp::create(builder, loc,
                                                       builder.getF32Type(), value));
  if (type.isIndex())
    return call("twh_print_u64",
                arith::IndexCastOp::create(builder, loc, i64, value));
  if (!isa<IntegerType>(type) || type.getIntOrFloatBitWidth() > 64)
    return op->emitOpError() << "cannot print " << type;
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  if (!type.isSignlessInteger())
    return op->emitOpError() << "cannot print " << type
                             << "; use a signless integer";
  if (type.getIntOrFloatBitWidth() < 64)
    value = isUnsigned
                ? Value(arith::ExtUIOp::create(builder, loc, i64, value))
                : Value(arith::ExtSIOp::create(builder, loc, i64, value));
  return call(isUnsigned ? "twh_print_u64" : "twh_print_i64", value);
}

static LogicalResult printVector(OpBuilder &builder, Operation *op, Value vector,
                                 SmallVector<int64_t> position) {
  auto type = cast<VectorType>(vector.getType());
  Location loc = op->getLoc();
  Value context = getCallContext(op);
  if (position.size() == size_t(type.getRank()))
    return printScalar(builder, op,
                       vector::ExtractOp::create(builder, loc, vector, position));
  printText(builder, loc, context, "( ");
  int64_t size = type.getDimSize(position.size());
  for (int64_t i = 0; i < size; ++i) {
    SmallVector<int64_t> inner = position;
    inner.push_back(i);
    if (failed(printVector(builder, op, vector, inner)))
      return failure();
    if (i + 1 < size)
      printText(builder, loc, context, ", ");
  }
  printText(builder, loc, context, " )");
  return success();
}

static StringRef getText(vector::PrintPunctuation punctuation) {
  switch (punctuation) {
  case vector::PrintPunctuation::NoPunctuation:
    return "";
  case vector::PrintPunctuation::NewLine:
    return "\n";
  case vector::PrintPunctuation::Comma:
    return ", ";
  case vector::PrintPunctuation::Open:
    return "( ";
  case vector::PrintPunctuation::Close:
    return " )";
  }
  return "";
}

namespace {
struct PrintLowering : OpConversionPattern<vector::PrintOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(vector::PrintOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = adaptor.getSource();
    if (std::optional<StringRef> text = op.getStringLiteral()) {
      // As upstream: a string is printed as it is, without punctuation.
      printText(rewriter, loc, getCallContext(op), *text);
      rewriter.eraseOp(op);
      return success();
    }
    if (source) {
      auto type = dyn_cast<VectorType>(source.getType());
      if (type && (type.isScalable() || type.getNumElements() > 4096))
        return op.emitOpError() << "cannot print " << type
                                << ": its size is scalable or above 4096";
      if (failed(type ? printVector(rewriter, op, source, {})
                      : printScalar(rewriter, op, source)))
        return failure();
    }
    printText(rewriter, loc, getCallContext(op), getText(op.getPunctuation()));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void tilewright::host::populatePrintPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns) {
  patterns.add<PrintLowering>(converter, patterns.getContext());
}
