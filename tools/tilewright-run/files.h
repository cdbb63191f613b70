// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files in and out. Both throw RunError with the path and the reason.
#ifndef TILEWRIGHT_RUN_FILES_H
#define TILEWRIGHT_RUN_FILES_H

#include <string>

namespace tilewright::run {

std::string readFile(const std::string &path);
/// Through a temporary file beside it: the path has all of it or what it had.
void writeFile(const std::string &path, const std::string &bytes);
/// Adds one line to the end.
void appendLine(const std::string &path, const std::string &line);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_FILES_H
