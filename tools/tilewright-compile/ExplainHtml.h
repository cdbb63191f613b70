// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page of --explain=html and its pictures share.

#ifndef TILEWRIGHT_TOOLS_COMPILE_EXPLAINHTML_H
#define TILEWRIGHT_TOOLS_COMPILE_EXPLAINHTML_H

#include "Explain.h"

/// Text for HTML and SVG.
std::string escaped(llvm::StringRef text);
/// A name for links: letters, digits and '-'.
std::string anchor(llvm::StringRef target, llvm::StringRef kernel);

/// The picture of one function as SVG.
std::string drawFunction(const ExplainInput &input,
                         const tilewright::ProgramExplanation &program,
                         const tilewright::ExplainedFunction &function);

#endif
