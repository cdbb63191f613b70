// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.m8n8k4 with f16: four products at once, one per quad pair. Lanes 4q to 4q+3 and 4q+16 to 4q+19 hold the matrices of
// product q; with i the element in the lane, x = lane % 4 and h = 4 in the upper half of the warp:
//
//   A by rows      row = x + h   column = i          A by columns   row = i + h   column = x
//   B by columns   row = i       column = x + h      B by rows      row = x       column = i + h
//   C, D of f16    row = x + h   column = i
//   C, D of f32    row = (x & 1) + (i & 2) + h       column = (i & 4) + (x & 2) + (i & 1)

#include "arithmetic/Families.h"
#include "decode/Decoder.h"
#include "matrix/Execute.h"
#include "matrix/WarpRegisters.h"

namespace tilewright::ptxsim {
namespace {

using E = MatrixElement;

constexpr unsigned quads = 4, rows = 8, columns = 8, depth = 4;

/// Elements that may be undefined.
struct Values {
  double value[quads][rows][columns] = {};
  bool undefined[quads][rows][columns] = {};
};

MatrixPlace placeOf(E type, unsigned lane, unsigned i) {
  unsigned x = lane % 4, high = lane < 16 ? 0 : 4;
  if (type == E::F16)
    return {x + high, i};
  return {(x & 1) + (i & 2) + high, (i & 4) + (x & 2) + (i & 1)};
}

template <typename Place> Values gather(const WarpRegisters &registers, const std::vector<Row> &from, E type, Place place) {
  Values result;
  unsigned each = perRegister(type), width = elementBits(type);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned i = 0; i < from.size() * each; ++i) {
      MatrixPlace at = place(lane, i);
      unsigned quad = lane % 16 / 4;
      result.value[quad][at.row][at.column] =
          elementValue(type, elementOf(registers.read(from[i / each], lane), type, i % each));
      result.undefined[quad][at.row][at.column] =
          (registers.undefinedBits(from[i / each], lane) >> (width * (i % each)) & lowBits(width)) != 0;
    }
  return result;
}

} // namespace

void multiplyQuads(const WarpRegisters &registers, const MatrixCode &code) {
  auto half = [](unsigned lane) { return lane < 16 ? 0u : 4u; };
  Values a = gather(registers, code.a, code.aType, [&](unsigned lane, unsigned i) -> MatrixPlace {
    return code.mMajor ? MatrixPlace{i + half(lane), lane % 4} : MatrixPlace{lane % 4 + half(lane), i};
  });
  Values b = gather(registers, code.b, code.bType, [&](unsigned lane, unsigned i) -> MatrixPlace {
    return code.nMajor ? MatrixPlace{lane % 4, i + half(lane)} : MatrixPlace{i, lane % 4 + half(lane)};
  });
  Values c = gather(registers, code.c, code.cType,
                    [&](unsigned lane, unsigned i) { return placeOf(code.cType, lane, i); });
  unsigned each = perRegister(code.dType), width = elementBits(code.dType);
  for (unsigned lane = 0; lane < warpSize; ++lane)
    for (unsigned r = 0; r < code.d.size(); ++r) {
      uint64_t bits = 0, undefined = 0;
      for (unsigned j = 0; j < each; ++j) {
        MatrixPlace at = placeOf(code.dType, lane, r * each + j);
        unsigned quad = lane % 16 / 4;
        double sum = 0;
        bool unknown = c.undefined[quad][at.row][at.column];
        for (unsigned k = 0; k < depth; ++k) {
          sum += a.value[quad][at.row][k] * b.value[quad][k][at.column];
          unknown |= a.undefined[quad][at.row][k] || b.undefined[quad][k][at.column];
        }
        bits |= resultBits(code.dType, sum + c.value[quad][at.row][at.column]) << (width * j);
        if (unknown)
          undefined |= lowBits(width) << (width * j);
      }
      registers.write(code.d[r], lane, bits, undefined);
    }
}

bool takeQuadLayouts(InstDecoder &d, MatrixCode &code) {
  size_t found = 0;
  bool columnMajor[2] = {};
  for (std::string_view modifier : d.syntax.modifiers)
    if (found < 2 && (modifier == "row" || modifier == "col"))
      columnMajor[found++] = modifier == "col";
  for (size_t i = 0; i < found; ++i)
    d.take(columnMajor[i] ? "col" : "row");
  code.mMajor = columnMajor[0];
  code.nMajor = !columnMajor[1];
  return found == 2 || d.fail("needs .row or .col for A and for B");
}

} // namespace tilewright::ptxsim
