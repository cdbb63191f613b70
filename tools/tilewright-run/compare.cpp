// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing tensors; see compare.h.

#include "compare.h"

#include "number_formats.h"
#include "print.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright::run {

namespace {

// |got - ref|; infinity if one of them is no number, or of another infinity.
double errorOf(const HostTensor &got, const HostTensor &reference, int64_t i) {
  if (!got.isFloat()) {
    int64_t a = got.bits(i), b = reference.bits(i);
    uint64_t distance =
        a > b ? uint64_t(a) - uint64_t(b) : uint64_t(b) - uint64_t(a);
    // Never 0 for values that differ.
    return static_cast<double>(distance);
  }
  double a = got.number(i), b = reference.number(i);
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double error = std::fabs(a - b);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

// The elements of the same row within three of element i, one per line.
std::string window(const HostTensor &got, const HostTensor &reference,
                   const Tolerance &tolerance, int64_t i) {
  int64_t row = got.dims.empty() ? 1 : got.dims.back();
  int64_t begin = std::max(i - 3, i / row * row);
  int64_t end = std::min(i + 4, (i / row + 1) * row);
  std::string text;
  for (int64_t k = begin; k < end; ++k) {
    double error = errorOf(got, reference, k);
    double allowed = allowedError(reference, k, tolerance);
    text += (k == i ? "  > " : "    ") + indexText(got.dims, k) + " got " +
            elementText(got, k) + ", expected " + elementText(reference, k);
    if (error > 0)
      text += ", error " + shortNumber(error) + ", allowed " +
              shortNumber(allowed) + (error > allowed ? "  BAD" : "");
    text += "\n";
  }
  return text;
}

// How far `error` is from `value`, in units of the last place of its type.
double ulpsOf(double error, double value, tw_dtype dtype) {
  int exponent;
  std::frexp(value, &exponent);
  double place = std::ldexp(2 * unitRoundoff(dtype), exponent - 1);
  return place > 0 ? error / place : 0;
}

} // namespace

double allowedError(const HostTensor &reference, int64_t i,
                    const Tolerance &tolerance) {
  if (tolerance.bounds)
    return tolerance.scale * tolerance.bounds->number(i);
  double value = std::fabs(reference.number(i));
  return std::isfinite(value) ? tolerance.atol + tolerance.rtol * value : 0;
}

Tolerance plainTolerance(std::optional<double> atol,
                         std::optional<double> rtol) {
  if (atol || rtol)
    return {atol.value_or(0), rtol.value_or(0), "given"};
  return {0, 0, "exact"};
}

Tolerance boundedTolerance(std::shared_ptr<const HostTensor> bounds,
                           double scale) {
  Tolerance result;
  result.source = scale == 1 ? "error bounds of the oracle"
                             : shortNumber(scale) + " times the error bounds of the oracle";
  result.bounds = std::move(bounds);
  result.scale = scale;
  return result;
}

Comparison compare(const HostTensor &got, const HostTensor &reference,
                   const Tolerance &tolerance) {
  Comparison result;
  result.tolerance = tolerance;
  result.elements = reference.elements();
  if (got.dtype != reference.dtype || got.dims != reference.dims) {
    result.problem = "is " + got.type() + ", expected " + reference.type();
    return result;
  }
  double worstShare = -1, errorOfWorst = 0;
  for (int64_t i = 0; i < result.elements; ++i) {
    double error = errorOf(got, reference, i);
    double allowed = allowedError(reference, i, tolerance);
    result.unbounded += std::isinf(allowed);
    if (error == 0)
      continue;
    double value = std::fabs(reference.number(i));
    result.worstError = std::max(result.worstError, error);
    if (value > 0 && std::isfinite(value)) {
      result.worstRelative = std::max(result.worstRelative, error / value);
      if (reference.isFloat())
        result.worstUlps =
            std::max(result.worstUlps, ulpsOf(error, value, reference.dtype));
    }
    // A bound that is NaN allows nothing.
    bool bad = !(error <= allowed);
    double share = !bad && std::isinf(allowed) ? 0 : error / allowed;
    if (std::isnan(share))
      share = std::numeric_limits<double>::infinity();
    // Where nothing is allowed, all are alike but for their errors.
    if (share > worstShare || (share == worstShare && error > errorOfWorst)) {
      result.worst = i;
      worstShare = share;
      errorOfWorst = error;
    }
    if (bad) {
      ++result.mismatches;
      if (result.firstBad < 0)
        result.firstBad = i;
    }
  }
  result.ok = result.mismatches == 0 && !result.saysNothing();
  return result;
}

std::string describe(const std::string &name, const HostTensor &got,
                     const HostTensor &reference, const Comparison &result) {
  std::string text = name + ": ";
  if (!result.problem.empty())
    return text + "MISMATCH: " + result.problem + "\n";
  const Tolerance &t = result.tolerance;
  std::string rule = t.source;
  if (!t.bounds) {
    rule = "allowed " + shortNumber(t.atol);
    if (t.rtol != 0)
      rule += " + " + shortNumber(t.rtol) + " |expected|";
    rule += " (" + t.source + ")";
  }
  std::string errors =
      ", largest error " + shortNumber(result.worstError) + ", relative " +
      shortNumber(result.worstRelative) +
      (got.isFloat() ? ", " + shortNumber(result.worstUlps) + " ulp" : "");
  if (result.unbounded)
    rule += "; NOT CHECKED: " + std::to_string(result.unbounded) + " of " +
            std::to_string(result.elements) +
            " elements, of which no error bound is known";
  if (result.mismatches == 0) {
    text += (result.ok ? "ok: " : "NOTHING CHECKED: ") + got.type();
    int64_t i = result.worst;
    if (i >= 0)
      text += errors + "; nearest to its bound " + indexText(got.dims, i) +
              ": got " + elementText(got, i) + ", expected " +
              elementText(reference, i) + ", error " +
              shortNumber(errorOf(got, reference, i)) + " of " +
              shortNumber(allowedError(reference, i, t)) + " allowed; " + rule;
    else
      text += ", all elements equal";
    if (!result.ok)
      text += "\n  give --atol and --rtol, or smaller inputs if rounding of these could "
              "change everything";
    return text + "\n";
  }
  text += "MISMATCH: " + std::to_string(result.mismatches) + " of " +
          std::to_string(result.elements) + " elements of " + got.type() +
          errors + "; " + rule + "\n  first bad element:\n" +
          window(got, reference, t, result.firstBad);
  if (result.worst != result.firstBad)
    text += "  worst element:\n" + window(got, reference, t, result.worst);
  return text;
}

} // namespace tilewright::run
