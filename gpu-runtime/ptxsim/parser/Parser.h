// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From PTX text to a Module. Accepts what LLVM's NVPTX back end and nvcc write; refuses everything else with its line.

#ifndef TILEWRIGHT_PTXSIM_PARSER_PARSER_H
#define TILEWRIGHT_PTXSIM_PARSER_PARSER_H

#include "parser/Ast.h"
#include "parser/Lexer.h"

#include <memory>
#include <string>

namespace tilewright::ptxsim {

/// Null on the first error, which is then described in `error`.
std::unique_ptr<Module> parseModule(std::string source, Diagnostic &error);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_PARSER_PARSER_H
