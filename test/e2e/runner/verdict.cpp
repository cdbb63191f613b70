// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judging results; see verdict.h.

#include "verdict.h"

#include <cmath>
#include <cstdio>

namespace tilewright::e2e {

using run::HostTensor;

Check readCheck(const nlohmann::json &json) {
  Check check;
  const std::string kind = json.at("kind");
  if (kind == "bounded")
    check.kind = Check::Kind::Bounded;
  else if (kind == "relative")
    check.kind = Check::Kind::Relative;
  else if (kind != "exact")
    throw run::RunError("no check '" + kind + "'");
  check.factor = json.value("factor", 0.0);
  check.floor = json.value("floor", 0.0);
  return check;
}

namespace {

std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

bool same(double got, double want) {
  return got == want || (std::isnan(got) && std::isnan(want));
}

} // namespace

std::string judge(const HostTensor &got, const HostTensor &want,
                  const HostTensor &bounds, const Check &check, bool isGolden) {
  if (got.dims != want.dims)
    return "has type " + got.type() + ", expected " + want.type();
  int64_t bad = 0, worst = -1;
  double worstExcess = -1;
  for (int64_t i = 0, n = got.elements(); i < n; ++i) {
    double x = got.number(i), y = want.number(i);
    if (same(x, y))
      continue;
    double allowed = 0;
    if (isGolden && check.kind == Check::Kind::Relative)
      allowed = check.factor * std::fabs(y) + check.floor;
    else if (check.kind != Check::Kind::Exact)
      allowed = bounds.number(i);
    double excess = std::fabs(x - y) - allowed;
    if (excess <= 0)
      continue;
    ++bad;
    if (!(excess <= worstExcess)) { // a NaN is worse than all
      if (worst < 0 || !std::isnan(worstExcess))
        worst = i;
      worstExcess = excess;
    }
  }
  if (!bad)
    return "";
  double x = got.number(worst), y = want.number(worst);
  return std::to_string(bad) + " of " + std::to_string(got.elements()) +
         " elements differ; worst " + run::indexText(got.dims, worst) +
         ": got " + text(x) + ", expected " + text(y) +
         (check.kind == Check::Kind::Exact
              ? " exactly"
              : ", error " + text(std::fabs(x - y)) + " is " +
                    text(worstExcess) + " more than allowed");
}

} // namespace tilewright::e2e
