// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors and numbers as text.
#ifndef TILEWRIGHT_RUN_PRINT_H
#define TILEWRIGHT_RUN_PRINT_H

#include "host_tensor.h"

#include <string>

namespace tilewright::run {

/// "2x2xf32=[1 2][3 4]", in the syntax of --input. Beyond `limit` elements the
/// middle of each dim is left out ("…").
std::string tensorText(const HostTensor &tensor, int64_t limit);
/// Element i; floats with as many digits as tell them apart.
std::string elementText(const HostTensor &tensor, int64_t i);
/// Three significant digits.
std::string shortNumber(double value);
/// "12.3 us", "1.25 ms"
std::string durationText(double seconds);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_PRINT_H
