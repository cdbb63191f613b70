// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions of manifests, as nlohmann's JSON; see core/infix.h.

#include "expression_text.h"

#include "core/infix.h"

namespace tilewright::inspect {

namespace {
struct Node {
  const nlohmann::json *value;

  std::optional<bool> boolean() const {
    if (!value->is_boolean())
      return std::nullopt;
    return value->get<bool>();
  }
  std::optional<std::string> string() const {
    if (!value->is_string())
      return std::nullopt;
    return value->get<std::string>();
  }
  size_t size() const { return value->is_array() ? value->size() : 0; }
  Node at(size_t i) const { return {&(*value)[i]}; }
  std::string json() const { return value->dump(); }
};
} // namespace

std::string expressionText(const nlohmann::json &expression) {
  return runtime::infixText(Node{&expression});
}

} // namespace tilewright::inspect
