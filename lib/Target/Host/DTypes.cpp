// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types as the runtime numbers and names them, and constants as bytes.

#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tilewright;

namespace {
struct DType {
  int32_t number;
  StringRef name;
};
} // namespace

static DType getDType(Type type) {
  if (type.isF64())
    return {1, "f64"};
  if (type.isF32())
    return {2, "f32"};
  if (type.isF16())
    return {3, "f16"};
  if (type.isBF16())
    return {4, "bf16"};
  if (isa<Float8E4M3FNType>(type))
    return {5, "f8E4M3FN"};
  if (isa<Float8E5M2Type>(type))
    return {6, "f8E5M2"};
  if (isa<Float8E4M3FNUZType>(type))
    return {14, "f8E4M3FNUZ"};
  if (isa<Float8E5M2FNUZType>(type))
    return {15, "f8E5M2FNUZ"};
  if (type.isIndex())
    return {13, "index"};
  if (!isa<IntegerType>(type))
    return {0, ""};
  switch (type.getIntOrFloatBitWidth()) {
  case 64:
    return {7, "i64"};
  case 32:
    return {8, "i32"};
  case 16:
    return {9, "i16"};
  case 8:
    return {10, "i8"};
  case 4:
    return {11, "i4"};
  case 2:
    return {16, "i2"};
  case 1:
    return {12, "i1"};
  default:
    return {0, ""};
  }
}

int32_t tilewright::getDTypeNumber(Type type) { return getDType(type).number; }
StringRef tilewright::getDTypeName(Type type) { return getDType(type).name; }

bool tilewright::isParameter(Attribute constant) {
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(constant);
  return resource && !resource.getRawHandle().getBlob();
}

FailureOr<std::string> tilewright::getConstantBytes(ElementsAttr constant) {
  ShapedType type = constant.getShapedType();
  Type element = type.getElementType();
  if (!getDTypeNumber(element) || elementsPerByte(element) > 1)
    return failure();
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  unsigned bytes = llvm::divideCeil(bits, 8);
  std::string result;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || bits == 1 ||
        blob->getData().size() != size_t(type.getNumElements()) * bytes)
      return failure();
    return std::string(blob->getData().begin(), blob->getData().end());
  }
  result.reserve(type.getNumElements() * bytes);
  auto append = [&](const APInt &value) {
    uint64_t word = value.getZExtValue();
    for (unsigned i = 0; i < bytes; ++i)
      result.push_back(char(word >> (8 * i)));
  };
  if (isa<FloatType>(element)) {
    auto values = constant.tryGetValues<APFloat>();
    if (!values)
      return failure();
    for (const APFloat &value : *values)
      append(value.bitcastToAPInt());
    return result;
  }
  auto values = constant.tryGetValues<APInt>();
  if (!values)
    return failure();
  for (const APInt &value : *values)
    append(value);
  return result;
}
