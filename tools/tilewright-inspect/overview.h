// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The overview as text for people.
#ifndef TILEWRIGHT_INSPECT_OVERVIEW_H
#define TILEWRIGHT_INSPECT_OVERVIEW_H

#include <nlohmann/json.hpp>

#include <string>

namespace tilewright::inspect {

/// The section table of what describe() gives.
std::string sectionsText(const nlohmann::json &description);
/// All of it. `target`, unless empty, leaves out the other programs.
std::string overviewText(const nlohmann::json &description,
                         const std::string &target);

/// Control characters replaced, so that names out of a file cannot command a
/// terminal.
std::string printable(const std::string &text);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_OVERVIEW_H
