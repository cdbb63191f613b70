// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The artifact's container (docs/abi.md): named sections behind a hash.

#ifndef TILEWRIGHT_ARTIFACT_CONTAINER_H
#define TILEWRIGHT_ARTIFACT_CONTAINER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tilewright {

struct Section {
  std::string name; // at most 47 bytes
  std::string bytes;
};

/// The bytes of an artifact. Sections keep their order. An error names a
/// section whose name is too long or given twice.
llvm::Expected<std::string> writeContainer(llvm::ArrayRef<Section> sections);

/// The sections of an artifact, after checking magic, version, sizes and hash.
llvm::Expected<std::vector<Section>> readContainer(llvm::StringRef bytes);

} // namespace tilewright

#endif
