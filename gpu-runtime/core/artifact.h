// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container (.tw): verified bytes with named sections (docs/abi.md,
// "Artifact container").
//
//   0        8     12   16    24        56            56 + 64 n
//   ┌────────┬─────┬────┬─────┬─────────┬─────────────┬──────────────────
//   │ magic  │ ver │ n  │size │ SHA-256 │ n × section │ data, 64-aligned …
//   └────────┴─────┴────┴─────┴─────────┴─────────────┴──────────────────
//                                       └──── hashed, to the end ───────
//
// parse() checks everything here before any byte is used: sizes, the hash, that
// names are unique and sections lie behind the table, aligned, in bounds and
// apart from each other.
#ifndef TILEWRIGHT_CORE_ARTIFACT_H
#define TILEWRIGHT_CORE_ARTIFACT_H

#include "core/status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tilewright::runtime {

class Artifact {
public:
  struct Section {
    std::string name;
    const uint8_t *data; // into the artifact, 64-byte aligned
    size_t size;
  };

  /// Copies the bytes (aligned) and verifies them.
  static Status parse(const void *data, size_t size,
                      std::shared_ptr<const Artifact> &result);

  const std::vector<Section> &sections() const { return table; }
  /// Null if there is none of that name.
  const Section *find(std::string_view name) const;

private:
  struct AlignedFree {
    void operator()(uint8_t *memory) const;
  };
  Artifact() = default;
  Status verify(size_t size);

  std::unique_ptr<uint8_t[], AlignedFree> bytes;
  std::vector<Section> table;
  std::unordered_map<std::string, size_t> byName;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_ARTIFACT_H
