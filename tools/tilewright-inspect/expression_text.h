// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifest expressions for people: ["lt", ["numel", 0], 8] reads numel(0) < 8.
#ifndef TILEWRIGHT_INSPECT_EXPRESSION_TEXT_H
#define TILEWRIGHT_INSPECT_EXPRESSION_TEXT_H

#include <nlohmann/json.hpp>

#include <string>

namespace tilewright::inspect {

/// The expression in infix form. Anything that is no expression prints as JSON.
std::string expressionText(const nlohmann::json &expression);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_EXPRESSION_TEXT_H
