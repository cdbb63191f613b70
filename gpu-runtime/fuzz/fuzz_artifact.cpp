// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes as an artifact: as they are, and with a hash that fits, so that what
// lies behind the hash is reached. Sections are also tried as host programs.

#include "core/artifact.h"
#include "core/elf.h"
#include "core/manifest.h"
#include "core/sha256.h"

#include <cstring>
#include <string>

using namespace tilewright::runtime;

static void read(const std::string &bytes) {
  std::shared_ptr<const Artifact> artifact;
  if (Artifact::parse(bytes.data(), bytes.size(), artifact))
    return;
  Manifest manifest;
  (void)parseManifest(*artifact, manifest);
  for (const Artifact::Section &section : artifact->sections())
    (void)verifyHostElf(section.data, section.size);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  // docs/abi.md: the size at 16, the hash of everything behind it at 24.
  if (size >= 56) {
    uint64_t length = size;
    std::memcpy(bytes.data() + 16, &length, sizeof(length));
    Sha256Digest digest = sha256(bytes.data() + 56, size - 56);
    std::memcpy(bytes.data() + 24, digest.data(), digest.size());
    read(bytes);
  }
  (void)verifyHostElf(data, size);
  return 0;
}
