// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atoms: the layouts that matrix instructions prescribe for their operands.
//
// THE IDEA. All matrix fragments of PTX since sm_75 follow one pattern. Call
// v = 32 / bits (at least 1) the elements of a 32-bit register; g = lane >> 2
// the "groupID" and t = lane & 3 the "threadID_in_group". Then
//
//   A (m x k)  row g + 8 * i, column t * v + j + 4 * v * l
//              regs=[v:1@k, m/8:8@m, k/4v:4v@k]   lanes=[4:v@k, 8:1@m]
//   B (k x n)  row t * v + j + 4 * v * l, column g
//              regs=[v:1@k, k/4v:4v@k]            lanes=[4:v@k, 8:1@n]
//   C (m x n)  row g + 8 * i, column t * 2 + j
//              regs=[2:1@n, m/8:8@m]              lanes=[4:2@n, 8:1@m]
//
// WORKED TABLE. C of m16n8k16, lanes that hold (rows 0 and 8 shown):
//     column   0    1    2    3    4    5    6    7
//     row 0    0/0  0/1  1/0  1/1  2/0  2/1  3/0  3/1      lane/register
//     row 8    0/2  0/3  1/2  1/3  2/2  2/3  3/2  3/3
//
// Shapes: A is [m, k], B is [k, n], C and D are [m, n]. Registers are elements;
// packing v of them into a 32-bit register (always adjacent ones) is left to
// the lowering. Block tiles are made of atoms by DistributedLayout::repeat.
//
// Sources: PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64", "... for
// mma.m16n8k4", "... m16n8k8", "... m16n8k16", "... m16n8k32", "... m16n8k64";
// "Register Fragments and Shared Memory Matrix Layouts" of wgmma.m64nNk*;
// "ldmatrix".

#ifndef TILEWRIGHT_LAYOUT_ATOMS_H
#define TILEWRIGHT_LAYOUT_ATOMS_H

#include "tilewright/Layout/DistributedLayout.h"

namespace tilewright::layout {

//===--- mma.sync: one warp -----------------------------------------------===//
// m is 8 or 16, n is 8, bits is the operand's element size (1, 4 .. 64).
// mma.m8n8k4 with .f16 operands (sm_70) has fragments of its own and is not
// covered.

/// m16n8k8 tf32: (16, 8, 32). m16n8k16 f16 / bf16: (16, 16, 16). m16n8k32 s8 /
/// u8 / fp8: (16, 32, 8). m8n8k4 f64: (8, 4, 64).
Result<DistributedLayout> mmaOperandA(int64_t m, int64_t k, int bits);
Result<DistributedLayout> mmaOperandB(int64_t k, int bits);
/// f16, f32, f64 and s32 accumulators alike.
Result<DistributedLayout> mmaAccumulator(int64_t m);

//===--- wgmma: four warps, 64 rows ---------------------------------------===//

/// n is a multiple of 8, up to 256.
Result<DistributedLayout> wgmmaAccumulator(int64_t n);
/// A from registers: 64 x (256 / bits).
Result<DistributedLayout> wgmmaOperandA(int bits);

//===--- ldmatrix ---------------------------------------------------------===//

/// An ldmatrix of 1, 2 or 4 matrices of 8 rows x 16 bytes, over a tile whose
/// rows (dimension 0) are contiguous in shared memory.
///   addresses: lane l supplies the address of the row that it holds; its
///     registers are the row's 16 bytes. Conflicts of the instruction are those
///     of this layout with 16-byte accesses (a phase is a matrix). Lanes whose
///     address is not used are replicas.
///   fragment: what each lane receives, over the same tile.
struct LdMatrix {
  DistributedLayout addresses, fragment;
};

/// The tile is matrixRows x matrixColumns matrices, which the instruction
/// counts down the rows first if `rowsFirst`. With `transposed` (.trans; 16-bit
/// elements only) each lane receives a column's elements.
///   A of m16n8k16 from [m, k]:        ldmatrix(2, 2, true)
///   two B of m16n8k16 from [n, k]:    ldmatrix(2, 2, false)
///   two B of m16n8k16 from [k, n]:    ldmatrix(2, 2, true, 16, true)
Result<LdMatrix> ldmatrix(int64_t matrixRows, int64_t matrixColumns,
                          bool rowsFirst, int bits = 16,
                          bool transposed = false);

//===--- Cooperative matrices ---------------------------------------------===//

/// One opaque matrix, held by a subgroup of `lanes`.
Result<DistributedLayout>
cooperativeMatrix(const std::string &name,
                  const DistributedLayout::Shape &shape, int64_t lanes);

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_ATOMS_H
