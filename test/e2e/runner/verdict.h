// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a result is right. A case says how exact it must be:
//
//   exact      equal, NaN to NaN (the data keeps every partial sum exact)
//   bounded    within the oracle's error bound of the element
//   relative   the same; a golden, which may be computed by another formula,
//              within factor · |want| + floor
#ifndef TILEWRIGHT_E2E_VERDICT_H
#define TILEWRIGHT_E2E_VERDICT_H

#include "host_tensor.h"

#include <nlohmann/json.hpp>

namespace tilewright::e2e {

struct Check {
  enum class Kind { Exact, Bounded, Relative } kind = Kind::Exact;
  double factor = 0, floor = 0;
};

/// Throws run::RunError for an unknown kind.
Check readCheck(const nlohmann::json &json);

/// Empty if `got` is right; else the worst element and how many are wrong.
/// `bounds` are the oracle's, of f64. A golden has f64 elements.
std::string judge(const run::HostTensor &got, const run::HostTensor &want,
                  const run::HostTensor &bounds, const Check &check,
                  bool isGolden);

} // namespace tilewright::e2e

#endif // TILEWRIGHT_E2E_VERDICT_H
