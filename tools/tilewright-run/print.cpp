// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of tensors; see print.h.

#include "print.h"

#include <cstdio>

namespace tilewright::run {

namespace {

// The elements from dim d on, starting at element `base`.
void append(std::string &text, const HostTensor &tensor, size_t d, int64_t base,
            bool shorten) {
  if (d == tensor.dims.size()) {
    text += elementText(tensor, base);
    return;
  }
  int64_t step = 1;
  for (size_t i = d + 1; i < tensor.dims.size(); ++i)
    step *= tensor.dims[i];
  bool innermost = d + 1 == tensor.dims.size();
  int64_t n = tensor.dims[d];
  for (int64_t i = 0; i < n; ++i) {
    if (shorten && n > 8 && i == 4) {
      text += innermost ? " …" : "…";
      i = n - 4;
    }
    if (innermost)
      text += i ? " " : "";
    else
      text += "[";
    append(text, tensor, d + 1, base + i * step, shorten);
    if (!innermost)
      text += "]";
  }
}

std::string formatted(const char *format, double value) {
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

} // namespace

std::string elementText(const HostTensor &tensor, int64_t i) {
  if (!tensor.isFloat())
    return std::to_string(tensor.bits(i));
  const char *format = tensor.dtype == TW_F64   ? "%.17g"
                       : tensor.dtype == TW_F32 ? "%.9g"
                       : tensor.dtype == TW_F16 ? "%.5g"
                                                : "%.4g";
  return formatted(format, tensor.number(i));
}

std::string tensorText(const HostTensor &tensor, int64_t limit) {
  std::string text = tensor.type() + "=";
  append(text, tensor, 0, 0, tensor.elements() > limit);
  return text;
}

std::string shortNumber(double value) { return formatted("%.3g", value); }

std::string durationText(double seconds) {
  if (seconds < 1e-3)
    return formatted("%.4g us", seconds * 1e6);
  if (seconds < 1)
    return formatted("%.4g ms", seconds * 1e3);
  return formatted("%.4g s", seconds);
}

} // namespace tilewright::run
