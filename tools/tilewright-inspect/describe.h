// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact as one JSON value, from which every form of output is made.
#ifndef TILEWRIGHT_INSPECT_DESCRIBE_H
#define TILEWRIGHT_INSPECT_DESCRIBE_H

#include "core/artifact.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace tilewright::inspect {

struct Opened {
  std::string path;
  uint64_t bytes = 0;
  std::string sha256; // of the whole file
  std::shared_ptr<const runtime::Artifact> artifact;
  nlohmann::json manifest; // verified by the runtime's own reader
};

/// Reads and verifies an artifact as the runtime does, and loads nothing of it.
/// Throws RunError with the path and the reason.
Opened openArtifact(const std::string &path);

/// The overview: sizes and hashes of sections, and each program of the
/// manifest with what its code says of itself.
nlohmann::json describe(const Opened &opened);

/// The section's bytes as text.
std::string bytesOf(const runtime::Artifact::Section &section);

} // namespace tilewright::inspect

#endif // TILEWRIGHT_INSPECT_DESCRIBE_H
