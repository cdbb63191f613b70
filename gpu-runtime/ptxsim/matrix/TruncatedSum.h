// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products of 8-bit floats as the tensor cores of Hopper take them (option `truncatesFloat8`):
//
//   the products of one instruction and the sum so far are aligned to the largest of their exponents; of each, the
//   highest 14 bits stay (13 behind the binary point), the others are cut off; the sum is cut to 14 bits again.
//
// Source: DeepSeek-AI, "DeepSeek-V3 Technical Report" (arXiv 2412.19437), 3.3.2 and 3.5.2, who measured it. NVIDIA has
// published nothing on it. That bits are cut towards zero, and that all 32 products of an instruction are aligned together,
// are assumptions: others measured truncation for the other types of tensor cores.

#ifndef TILEWRIGHT_PTXSIM_MATRIX_TRUNCATEDSUM_H
#define TILEWRIGHT_PTXSIM_MATRIX_TRUNCATEDSUM_H

namespace tilewright::ptxsim {

constexpr int truncatedSumBits = 14;

/// old + sum over i < k of sign * x[i] * y[i]. Infinities and NaN give what exact sums give.
double truncatedSum(double old, double sign, const double *x, const double *y, unsigned k);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_MATRIX_TRUNCATEDSUM_H
