// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of manifests, as LLVM's JSON; see core/infix.h.

#include "ExpressionText.h"

#include "core/infix.h"
#include "llvm/Support/FormatVariadic.h"

namespace json = llvm::json;

namespace {
struct Node {
  const json::Value *value;

  std::optional<bool> boolean() const { return value->getAsBoolean(); }
  std::optional<std::string> string() const {
    if (std::optional<llvm::StringRef> text = value->getAsString())
      return text->str();
    return std::nullopt;
  }
  size_t size() const {
    const json::Array *list = value->getAsArray();
    return list ? list->size() : 0;
  }
  Node at(size_t i) const { return {&(*value->getAsArray())[i]}; }
  std::string json() const { return llvm::formatv("{0}", *value).str(); }
};
} // namespace

std::string tilewright::expressionText(const json::Value &expression) {
  return runtime::infixText(Node{&expression});
}
