// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/MatrixInstruction.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilewright;

static Type parseType(Builder &builder, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Cases({"tf32", "f32"}, builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Cases({"s8", "u8"}, builder.getI8Type())
      .Cases({"s32", "u32"}, builder.getI32Type())
      .Case("e4m3", builder.getType<Float8E4M3FNType>())
      .Case("e5m2", builder.getType<Float8E5M2Type>())
      .Default(Type());
}

std::optional<MatrixInstruction>
MatrixInstruction::parse(MLIRContext *context, StringRef name) {
  MatrixInstruction result;
  auto number = [&](StringRef prefix, int64_t &value) {
    return name.consume_front(prefix) && !name.consumeInteger(10, value) &&
           value > 0;
  };
  result.opaque = name.consume_front("coopmat.");
  if ((!result.opaque && !name.consume_front("mma.")) || !number("m", result.m) ||
      !number("n", result.n) || !number("k", result.k) ||
      !name.consume_front("."))
    return std::nullopt;
  auto [operand, accumulator] = name.split('.');
  Builder builder(context);
  result.operand = parseType(builder, operand);
  result.accumulator = parseType(builder, accumulator);
  result.rounds = operand == "tf32";
  if (isa_and_nonnull<IntegerType>(result.operand))
    result.signedness = operand.starts_with("u") ? "unsigned" : "signed";
  if (!result.operand || !result.accumulator)
    return std::nullopt;
  return result;
}
