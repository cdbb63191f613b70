// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs of the cases; see fill.h.

#include "fill.h"

#include "core/split_mix64.h"
#include "input.h"
#include "number_formats.h"

#include <cmath>

namespace tilewright::e2e {

using run::HostTensor;
using run::RunError;

namespace {

double fraction(uint64_t seed, uint64_t i, unsigned bits) {
  uint64_t top = SplitMix64((seed << 32) + i).next() >> (64 - bits);
  return std::ldexp(static_cast<double>(top), -static_cast<int>(bits));
}

void setNumber(HostTensor &tensor, int64_t i, double value) {
  if (!tensor.isFloat())
    return tensor.setBits(i, static_cast<int64_t>(value));
  if (tensor.dtype != TW_F64)
    value = static_cast<float>(value);
  tensor.setBits(i, static_cast<int64_t>(
                        run::encodeFloat(tensor.dtype, value)));
}

} // namespace

HostTensor makeInput(const nlohmann::json &input) {
  std::vector<int64_t> dims;
  tw_dtype dtype;
  run::parseType(input.at("type").get<std::string>(), dims, dtype);
  HostTensor tensor = run::makeTensor(dtype, dims);
  const std::string kind = input.at("fill");
  const uint64_t seed = input.value("seed", uint64_t(0));
  const double low = input.value("low", 0.0), high = input.value("high", 0.0);
  std::vector<double> values;
  for (const nlohmann::json &entry : input.value("values", nlohmann::json::array()))
    values.push_back(entry.is_string() ? std::stod(entry.get<std::string>())
                                       : entry.get<double>());
  for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    double value = 0;
    if (kind == "int") {
      double span = (high - low + 1) * fraction(seed, i, 53);
      value = low + std::floor(span);
    } else if (kind == "uniform") {
      double span = (high - low) * fraction(seed, i, 24);
      value = low + span;
    } else if (kind == "choice" && !values.empty()) {
      double position = static_cast<double>(values.size()) *
                        fraction(seed, i, 53);
      value = values[static_cast<size_t>(position)];
    } else if (kind == "values" && static_cast<size_t>(i) < values.size()) {
      value = values[static_cast<size_t>(i)];
    } else {
      throw RunError("no fill '" + kind + "' for " + tensor.type());
    }
    setNumber(tensor, i, value);
  }
  return tensor;
}

} // namespace tilewright::e2e
