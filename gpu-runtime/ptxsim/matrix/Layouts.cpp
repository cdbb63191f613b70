// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of matrices and where their elements lie.

#include "arithmetic/Half.h"
#include "matrix/Matrix.h"

namespace tilewright::ptxsim {

MatrixElement parseMatrixElement(std::string_view spelling) {
  static constexpr std::string_view names[] = {"f16", "bf16", "tf32", "f32", "f64",  "s8",   "u8",
                                               "s4",  "u4",   "b1",   "e4m3", "e5m2", "s32"};
  for (uint8_t i = 0; i < std::size(names); ++i)
    if (names[i] == spelling)
      return static_cast<MatrixElement>(i);
  return MatrixElement::None;
}

unsigned elementBits(MatrixElement element) {
  static constexpr uint8_t bits[] = {16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 8, 8, 32, 0};
  return bits[static_cast<unsigned>(element)];
}

double elementValue(MatrixElement element, uint64_t bits) {
  switch (element) {
  case MatrixElement::F16:
    return halfToDouble(bits);
  case MatrixElement::BF16:
    return bfloatToDouble(bits);
  case MatrixElement::TF32:
    return bitCast<float>(static_cast<uint32_t>(bits) & ~0x1fffu);
  case MatrixElement::F32:
    return bitCast<float>(static_cast<uint32_t>(bits));
  case MatrixElement::E4M3:
    return smallToDouble(bits & 0xff, e4m3Format);
  case MatrixElement::E5M2:
    return smallToDouble(bits & 0xff, e5m2Format);
  default:
    return bitCast<double>(bits);
  }
}

int64_t integerElement(MatrixElement element, uint64_t bits) {
  switch (element) {
  case MatrixElement::S8:
    return static_cast<int8_t>(bits);
  case MatrixElement::U8:
    return static_cast<uint8_t>(bits);
  case MatrixElement::S4:
    return static_cast<int64_t>(bits << 60) >> 60;
  case MatrixElement::U4:
    return bits & 15;
  case MatrixElement::B1:
    return bits & 1;
  default:
    return static_cast<int32_t>(bits);
  }
}

MatrixPlace placeInA(unsigned m, unsigned perRegister, unsigned lane, unsigned reg, unsigned element) {
  unsigned group = lane / 4, quad = lane % 4;
  unsigned half = m == 16 ? reg % 2 : 0, step = m == 16 ? reg / 2 : reg;
  return {group + 8 * half, step * 4 * perRegister + quad * perRegister + element};
}

MatrixPlace placeInC(unsigned lane, unsigned element) {
  return {lane / 4 + 8 * (element / 2), lane % 4 * 2 + element % 2};
}

} // namespace tilewright::ptxsim
