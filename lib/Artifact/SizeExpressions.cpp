// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products of sizes; see SizeExpressions.h.

#include "SizeExpressions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tilewright::sizes;

/// A sum of more is not worth its place in the manifest.
static constexpr size_t kMaxTerms = 64;

Expr tilewright::sizes::apply(StringRef name, Expr left, Expr right) {
  if (!left || !right)
    return std::nullopt;
  return json::Array{name, std::move(*left), std::move(*right)};
}

Expr tilewright::sizes::fold(StringRef name, Expr left, Expr right) {
  if (!left || !right)
    return std::nullopt;
  std::optional<int64_t> a = left->getAsInteger(), b = right->getAsInteger();
  if (b == 0 && (name == "add" || name == "sub"))
    return left;
  if (a == 0 && name == "add")
    return right;
  if (a && b) {
    int64_t value = 0;
    bool overflows = false;
    if (name == "add")
      overflows = AddOverflow(*a, *b, value);
    else if (name == "sub")
      overflows = SubOverflow(*a, *b, value);
    else if (name == "mul")
      overflows = MulOverflow(*a, *b, value);
    else if (name == "max")
      value = std::max(*a, *b);
    else
      llvm_unreachable("is not folded");
    return overflows ? Expr() : Expr(value);
  }
  return apply(name, std::move(left), std::move(right));
}

void Product::multiply(const Expr &factor) {
  if (!factor) {
    known = false;
    return;
  }
  if (std::optional<int64_t> number = factor->getAsInteger())
    known &= !MulOverflow(coefficient, *number, coefficient);
  else
    factors.push_back(*factor);
}

static std::string textOf(const json::Value &value) { return formatv("{0}", value); }

void Sum::add(Product product) {
  known &= product.known;
  llvm::sort(product.factors, [](const json::Value &a, const json::Value &b) {
    return textOf(a) < textOf(b);
  });
  std::string key;
  for (const json::Value &factor : product.factors)
    key += textOf(factor);
  auto [it, isNew] = terms.insert({key, product});
  if (!isNew)
    known &= !AddOverflow(it->second.coefficient, product.coefficient,
                          it->second.coefficient);
}

Expr Sum::take() {
  if (!known || terms.size() > kMaxTerms)
    return std::nullopt;
  json::Array sum{"add"};
  for (auto &[key, product] : terms) {
    json::Array factors{"mul"};
    if (product.coefficient != 1 || product.factors.empty())
      factors.push_back(product.coefficient);
    for (json::Value &factor : product.factors)
      factors.push_back(std::move(factor));
    sum.push_back(factors.size() == 2 ? std::move(factors[1])
                                      : json::Value(std::move(factors)));
  }
  if (sum.size() == 1)
    return 0;
  return sum.size() == 2 ? std::move(sum[1]) : json::Value(std::move(sum));
}
