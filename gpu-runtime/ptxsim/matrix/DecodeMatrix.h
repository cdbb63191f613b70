// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the decode functions of matrix instructions share.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_DECODEMATRIX_H
#define TILEWRIGHT_PTXSIM_MATRIX_DECODEMATRIX_H

#include "decode/InstDecoder.h"
#include "matrix/Matrix.h"

namespace tilewright::ptxsim {

bool needSyncAligned(InstDecoder &d);
/// "m16n8k16" as three numbers.
bool takeShape(InstDecoder &d, MatrixCode &code);
/// A vector of so many registers, or one alone.
bool takeRegisters(InstDecoder &d, const Operand &operand, size_t count, ScalarType type, bool isResult,
                   std::vector<Row> &rows);
/// What the registers of elements of this type are.
ScalarType registerType(MatrixElement element);
/// The metadata and the selector of a sparse A, at this operand and the next.
bool takeMetadata(InstDecoder &d, MatrixCode &code, size_t index);
/// A collective of a whole warp, at one instruction. Source 0 is the mask of its lanes.
void becomeMatrix(InstDecoder &d, MatrixCode code);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_DECODEMATRIX_H
