// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of a PTX text with their parameters, as far as a launch needs
// them: a driver cannot tell how many arguments a program gave it.
#ifndef TILEWRIGHT_RUN_PTX_ENTRY_H
#define TILEWRIGHT_RUN_PTX_ENTRY_H

#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::run {

struct PtxParam {
  std::string name;
  /// "u64", "f32", "b8"
  std::string type;
  uint64_t bytes = 0;
  /// An array of bytes: a structure by value.
  bool isStruct = false;
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParam> params;
};

/// Every `.entry`, in order. Throws RunError for a list of parameters that
/// makes no sense.
std::vector<PtxEntry> ptxEntries(const std::string &ptx);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_PTX_ENTRY_H
