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
      .Cases({"s8", "u8", "s4", "u4"}, builder.getI8Type())
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
  result.warpgroup = name.consume_front("wgmma.");
  result.tiles = name.consume_front("amx.");
  result.panels = result.tiles || name.consume_front("dot.");
  if ((!result.opaque && !result.warpgroup && !result.panels && !name.consume_front("mma.")) || !number("m", result.m) ||
      !number("n", result.n) || !number("k", result.k) ||
      !name.consume_front("."))
    return std::nullopt;
  // Of A, of B where it has another one, of the accumulator.
  SmallVector<StringRef> types;
  name.split(types, '.');
  if (types.size() != 2 && types.size() != 3)
    return std::nullopt;
  unsigned packed = 0;
  Builder builder(context);
  result.accumulator = parseType(builder, types.back());
  for (unsigned number : {0, 1}) {
    StringRef operand = types[types.size() == 2 ? 0 : number];
    Type type = parseType(builder, operand);
    result.operands[number] = type;
    result.rounds |= operand == "tf32";
    if (isa_and_nonnull<IntegerType>(type))
      result.signedness[number] =
          operand.starts_with("u") ? "unsigned" : "signed";
    if (operand == "s4" || operand == "u4")
      ++packed;
  }
  if (!result.operands[0] || !result.operands[1] || !result.accumulator ||
      result.operands[1].getIntOrFloatBitWidth() != result.operandBits())
    return std::nullopt;
  if (packed == 1 || (packed && (result.opaque || result.k % 2)))
    return std::nullopt;
  if (packed) {
    result.perElement = 2;
    result.k /= 2;
  }
  return result;
}
