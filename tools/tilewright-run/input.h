// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The syntax of --input.
//
//   4x4xf32=1 2 3 …            every element, in row-major order; brackets and
//                              commas are white space
//   4x4xf32=0.5                one value for all elements
//   4x4xf32                    zeros
//   4x4xf32=random[:SEED[:DEVIATION]]  normal distribution, mean 0, of that standard
//                              deviation (1)
//   4x4xi8=int:LO:HI[:SEED]    integers from LO to HI, both included, in any
//   type
//   @FILE.npy                  a file
//   f32=3, i64=4               a scalar (or a tensor of rank 0)
//
// Random values depend on the seed alone: SplitMix64, through Box-Muller for
// normal values. Without a seed, input number i has seed i.
#ifndef TILEWRIGHT_RUN_INPUT_H
#define TILEWRIGHT_RUN_INPUT_H

#include "host_tensor.h"

#include <string>

namespace tilewright::run {

/// Reads the text of input number `index`, whose declared element type is
/// `wanted` (it tells apart what .npy files cannot). Throws RunError.
HostTensor parseInput(const std::string &text, size_t index, tw_dtype wanted);

/// Shape and element type of "4x4xf32"; `?` is no dim here. Throws RunError.
void parseType(const std::string &text, std::vector<int64_t> &dims,
               tw_dtype &dtype);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_INPUT_H
