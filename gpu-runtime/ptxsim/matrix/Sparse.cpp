// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading the metadata of sparse matrices.

#include "matrix/Sparse.h"

namespace tilewright::ptxsim {
namespace {

constexpr unsigned rows = 16;

/// Elements of A that four bits of metadata speak of.
unsigned groupOf(MatrixElement type) {
  unsigned bits = elementBits(type);
  return bits == 32 ? 2 : bits == 4 ? 8 : 4;
}

bool isNarrow(MatrixElement type) { return elementBits(type) <= 8; }

/// Whether the four bits name two places (one of tf32), in increasing order where that is the rule.
bool isValid(const MatrixCode &code, unsigned bits) {
  if (elementBits(code.aType) == 32)
    return bits == 0b0100 || bits == 0b1110;
  unsigned first = bits & 3, second = bits >> 2;
  return code.isOrdered ? first < second : first != second;
}

} // namespace

unsigned metadataLanes(const MatrixCode &code) { return code.k / groupOf(code.aType) / 4; }

SparsePlaces sparsePlaces(const WarpRegisters &registers, const MatrixCode &code) {
  SparsePlaces result = {};
  unsigned group = groupOf(code.aType), first = code.selector * metadataLanes(code);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned index = 0; index < code.k / group; ++index) {
      unsigned lane = row % 8 * 4 + first, shift;
      if (isNarrow(code.aType)) {
        lane += index / 8 * 2 + row / 8;
        shift = index % 8 * 4;
      } else {
        lane += index / 4;
        shift = row / 8 * 16 + index % 4 * 4;
      }
      unsigned bits = registers.read(code.metadata, lane) >> shift & 15;
      const Inst &inst = registers.context.grid->program->code[registers.context.fragment->pc];
      if (registers.undefinedBits(code.metadata, lane) >> shift & 15)
        registers.context.report(FindingKind::Undefined, inst, lane, 0, "the metadata of A are undefined");
      else if (registers.context.checks && !isValid(code, bits))
        registers.context.report(FindingKind::CollectiveMisuse, inst, lane, 0,
                                 "the metadata of A say " + std::to_string(bits) + " for row " + std::to_string(row) +
                                     ", columns " + std::to_string(index * group) + " and on" +
                                     (code.isOrdered ? ": no two places in increasing order" : ": no two places"));
      for (unsigned i = 0; i < group / 2; ++i) {
        unsigned place = elementBits(code.aType) == 32 ? bits >> 3
                         : group == 8                  ? (bits >> i / 2 * 2 & 3) * 2 + i % 2
                                                       : bits >> i * 2 & 3;
        result.column[row][index * group / 2 + i] = static_cast<uint8_t>(index * group + place);
      }
    }
  return result;
}

} // namespace tilewright::ptxsim
