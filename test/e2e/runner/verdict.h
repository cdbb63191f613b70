// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a result is right. A case says how exact it must be:
//
//   exact      equal, NaN to NaN (the data keeps every partial sum exact)
//   magnitude  |got - want| <= factor · m + floor, where m is what the oracle
//              computes from the absolute values of the inputs: sum |a·b| for a
//              contraction, sum |a| for a sum
//   relative   |got - want| <= factor · |want| + floor
//
// `factor` carries the derivation: (K + 8) · eps for K accumulated terms.
#ifndef TILEWRIGHT_E2E_VERDICT_H
#define TILEWRIGHT_E2E_VERDICT_H

#include "host_tensor.h"

#include <nlohmann/json.hpp>

namespace tilewright::e2e {

struct Check {
  enum class Kind { Exact, Magnitude, Relative } kind = Kind::Exact;
  double factor = 0, floor = 0;
};

/// Throws run::RunError for an unknown kind.
Check readCheck(const nlohmann::json &json);

/// Empty if `got` is right; else the worst element and how many are wrong.
/// `magnitude` is read for Kind::Magnitude alone. A golden has f64 elements.
std::string judge(const run::HostTensor &got, const run::HostTensor &want,
                  const run::HostTensor *magnitude, const Check &check);

} // namespace tilewright::e2e

#endif // TILEWRIGHT_E2E_VERDICT_H
