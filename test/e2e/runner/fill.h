// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of the cases' inputs. test/e2e/data.py computes the same numbers:
// element i of a tensor with seed s comes from
//
//   u(s, i) = the upper 53 bits of splitmix64(s · 2^32 + i), as a fraction
//
//   int      low + floor(u · (high - low + 1))
//   uniform  low + (high - low) · u, with u cut to 24 bits, so that the result
//            is the same with and without fused multiply-add
//   choice   values[floor(u · count)], numbers or "nan", "inf", "-inf"
//
// and is rounded first to f32 (f64 excepted), then to the element type.
#ifndef TILEWRIGHT_E2E_FILL_H
#define TILEWRIGHT_E2E_FILL_H

#include "host_tensor.h"

#include <nlohmann/json.hpp>

namespace tilewright::e2e {

/// The tensor that `input` of a case describes. Throws run::RunError.
run::HostTensor makeInput(const nlohmann::json &input);

} // namespace tilewright::e2e

#endif // TILEWRIGHT_E2E_FILL_H
