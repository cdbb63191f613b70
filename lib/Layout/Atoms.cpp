// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts that matrix instructions prescribe.

#include "tilewright/Layout/Atoms.h"

#include "Checked.h"

#include <algorithm>

using namespace tilewright::layout;

using Modes = DistributedLayout::Modes;

static Error badFragment(const char *operand, int64_t rows, int64_t columns,
                         int bits) {
  return Error{std::string("no ") + operand + " fragment of " +
               std::to_string(rows) + "x" + std::to_string(columns) + " with " +
               std::to_string(bits) + "-bit elements"};
}

/// Elements of one 32-bit register; 0 if there is no such element.
static int64_t packed(int bits) {
  bool known = bits == 1 || bits == 4 || bits == 8 || bits == 16 ||
               bits == 32 || bits == 64;
  return known ? std::max(1, 32 / bits) : 0;
}

/// The operand registers and lanes along k, shared by A and B.
static bool validK(int64_t k, int64_t v, int bits) {
  int64_t groups = k / (4 * v);
  return k % (4 * v) == 0 &&
         (groups == 1 || groups == 2 || (groups == 4 && bits == 64));
}

Result<DistributedLayout> tilewright::layout::mmaOperandA(int64_t m, int64_t k,
                                                          int bits) {
  int64_t v = packed(bits);
  if ((m != 8 && m != 16) || v == 0 || !validK(k, v, bits))
    return badFragment("mma A", m, k, bits);
  return DistributedLayout::get(
      {m, k}, Modes{{v, 1, 1}, {m / 8, 0, 8}, {k / (4 * v), 1, 4 * v}},
      Modes{{4, 1, v}, {8, 0, 1}}, {});
}

Result<DistributedLayout> tilewright::layout::mmaOperandB(int64_t k, int bits) {
  int64_t v = packed(bits);
  if (v == 0 || !validK(k, v, bits))
    return badFragment("mma B", k, 8, bits);
  return DistributedLayout::get({k, 8},
                                Modes{{v, 0, 1}, {k / (4 * v), 0, 4 * v}},
                                Modes{{4, 0, v}, {8, 1, 1}}, {});
}

Result<DistributedLayout> tilewright::layout::mmaAccumulator(int64_t m) {
  if (m != 8 && m != 16)
    return Error{"no mma accumulator of " + std::to_string(m) + " rows"};
  return DistributedLayout::get({m, 8}, Modes{{2, 1, 1}, {m / 8, 0, 8}},
                                Modes{{4, 1, 2}, {8, 0, 1}}, {});
}

Result<DistributedLayout> tilewright::layout::wgmmaAccumulator(int64_t n) {
  if (n < 8 || n > 256 || n % 8 != 0)
    return Error{"no wgmma accumulator of " + std::to_string(n) +
                 " columns, expected a multiple of 8 up to 256"};
  return DistributedLayout::get({64, n},
                                Modes{{2, 1, 1}, {2, 0, 8}, {n / 8, 1, 8}},
                                Modes{{4, 1, 2}, {8, 0, 1}}, Modes{{4, 0, 16}});
}

Result<DistributedLayout> tilewright::layout::wgmmaOperandA(int bits) {
  if (bits != 8 && bits != 16 && bits != 32)
    return badFragment("wgmma A", 64, bits > 0 ? 256 / bits : 0, bits);
  Result<DistributedLayout> warp = mmaOperandA(16, 256 / bits, bits);
  if (!warp)
    return warp;
  return DistributedLayout::repeat(*warp, {1, 1}, {{4, 0}}, {0, 1});
}

Result<LdMatrix> tilewright::layout::ldmatrix(int64_t matrixRows,
                                              int64_t matrixColumns,
                                              bool rowsFirst, int bits,
                                              bool transposed) {
  int64_t matrices = saturatingMul(matrixRows, matrixColumns);
  if (matrixRows < 1 || matrixColumns < 1 ||
      (matrices != 1 && matrices != 2 && matrices != 4))
    return Error{"ldmatrix of " + std::to_string(matrixRows) + "x" +
                 std::to_string(matrixColumns) +
                 " matrices, expected 1, 2 or 4 in all"};
  int64_t v = packed(bits);
  if (v < 1 || bits > 32 || bits < 4)
    return Error{"ldmatrix of " + std::to_string(bits) + "-bit elements"};
  if (transposed && bits != 16)
    return Error{"transposing ldmatrix of " + std::to_string(bits) +
                 "-bit elements, expected 16"};

  // A matrix is 8 rows of 4 * v elements.
  DistributedLayout::Shape shape = {8 * matrixRows, 4 * v * matrixColumns};
  Mode downRows = {matrixRows, 0, 8}, alongColumns = {matrixColumns, 1, 4 * v};
  Modes grid = {rowsFirst ? downRows : alongColumns,
                rowsFirst ? alongColumns : downRows};
  Modes addressLanes = {
      {8, 0, 1}, grid[0], grid[1], Mode::replica(4 / matrices)};
  auto addresses =
      DistributedLayout::get(shape, Modes{{4 * v, 1, 1}}, addressLanes, {});
  int packDim = transposed ? 0 : 1;
  auto fragment =
      DistributedLayout::get(shape, Modes{{v, packDim, 1}, grid[0], grid[1]},
                             Modes{{4, packDim, v}, {8, 1 - packDim, 1}}, {});
  if (!addresses || !fragment)
    return Error{addresses.error() + fragment.error()};
  return LdMatrix{addresses->canonicalize(), fragment->canonicalize()};
}

Result<DistributedLayout>
tilewright::layout::cooperativeMatrix(const std::string &name,
                                      const DistributedLayout::Shape &shape,
                                      int64_t lanes) {
  return DistributedLayout::getOpaque(name, shape, shape, {},
                                      Modes{Mode::replica(lanes)}, {});
}
