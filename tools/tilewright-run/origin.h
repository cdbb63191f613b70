// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where, when and of what a figure is: what makes it comparable with another
// one.
#ifndef TILEWRIGHT_RUN_ORIGIN_H
#define TILEWRIGHT_RUN_ORIGIN_H

#include "tilewright/tilewright.h"

#include <map>
#include <string>

namespace tilewright::run {

/// What an artifact says of itself.
struct Origin {
  std::string compiler;                       // "tilewright 0.1.0"
  std::map<std::string, std::string> configs; // lowering config by variant
};

/// Of the program for `target`; empty where the artifact does not say.
Origin readOrigin(const std::string &artifact, const std::string &target);

/// Whether it takes constants from a parameter file.
bool hasParameters(const std::string &artifact);

/// "node17, Linux 6.1.0 x86_64"
std::string hostText();

/// "2026-01-31T23:59:59Z"
std::string timeText();

/// 32 hexadecimal digits, empty where the driver does not say.
std::string uuidOf(tilewright_instance *instance, const std::string &device);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_ORIGIN_H
