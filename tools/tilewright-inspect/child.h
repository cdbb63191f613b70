// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program and gives what it printed; see child.cpp.
#ifndef TILEWRIGHT_INSPECT_CHILD_H
#define TILEWRIGHT_INSPECT_CHILD_H

#include <string>
#include <vector>

namespace tilewright::inspect {

/// Standard output of `command` (looked up in PATH), which sees `input` as the
/// file /dev/fd/3. Throws RunError if it cannot be started, ends with an error
/// (with its message) or takes longer than a minute.
std::string runOn(const std::vector<std::string> &command,
                  const std::string &input);

/// Whether PATH has it.
bool isInPath(const std::string &program);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_CHILD_H
