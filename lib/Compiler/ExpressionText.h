// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifest expressions for people: ["lt", ["numel", 0], 8] reads numel(0) < 8.

#ifndef TILEWRIGHT_LIB_COMPILER_EXPRESSIONTEXT_H
#define TILEWRIGHT_LIB_COMPILER_EXPRESSIONTEXT_H

#include "llvm/Support/JSON.h"

#include <string>

namespace tilewright {

/// The expression in infix form.
std::string expressionText(const llvm::json::Value &expression);

} // namespace tilewright

#endif
