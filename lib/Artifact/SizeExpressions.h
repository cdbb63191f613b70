// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions over sizes as the manifest has them, JSON that the runtime evaluates, and sums
// of their products.

#ifndef TILEWRIGHT_LIB_ARTIFACT_SIZEEXPRESSIONS_H
#define TILEWRIGHT_LIB_ARTIFACT_SIZEEXPRESSIONS_H

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::sizes {

/// 4096, ["dim", 0, 1], ["mul", …]; nothing where it is not known.
using Expr = std::optional<llvm::json::Value>;

/// [name, left, right].
Expr apply(llvm::StringRef name, Expr left, Expr right);

/// The same of "add", "sub", "mul" and "max", of what is not known only: numbers and sums with
/// 0 are folded.
Expr fold(llvm::StringRef name, Expr left, Expr right);

/// coefficient · factor · factor …
struct Product {
  int64_t coefficient = 1;
  std::vector<llvm::json::Value> factors;
  bool known = true;

  void multiply(const Expr &factor);
};

/// A sum of products, like ones joined.
class Sum {
public:
  void add(Product product);
  /// It has a term that is not known.
  void forget() { known = false; }
  /// Nothing where it is not known, or has so many terms that it is not worth its place.
  Expr take();

private:
  bool known = true;
  llvm::MapVector<std::string, Product, std::map<std::string, unsigned>> terms;
};

} // namespace tilewright::sizes

#endif
