// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writer and reader of the container. Layout (docs/abi.md): a 56-byte header
// with the SHA-256 of all that follows, a table of 64-byte entries, then the
// sections, each aligned to 64 bytes.

#include "tilewright/Artifact/Container.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;
using namespace tilewright;

static constexpr StringLiteral kMagic = "TILEWRT\x01";
static constexpr uint32_t kVersion = 1;
static constexpr size_t kHeader = 56, kEntry = 64, kName = 48, kAlign = 64;

template <typename T> static void put(std::string &bytes, size_t at, T value) {
  support::endian::write(bytes.data() + at, value, endianness::little);
}
template <typename T> static T get(StringRef bytes, size_t at) {
  return support::endian::read<T>(bytes.data() + at, endianness::little);
}

Expected<std::string> tilewright::writeContainer(ArrayRef<Section> sections) {
  StringSet<> names;
  size_t offset = alignTo(kHeader + kEntry * sections.size(), kAlign);
  std::string bytes(offset, '\0');
  for (auto [index, section] : llvm::enumerate(sections)) {
    if (section.name.empty() || section.name.size() >= kName)
      return createStringError("section name '%s' must have 1 to %zu bytes",
                               section.name.c_str(), kName - 1);
    if (!names.insert(section.name).second)
      return createStringError("section '%s' is given twice",
                               section.name.c_str());
    size_t entry = kHeader + kEntry * index;
    llvm::copy(section.name, bytes.begin() + entry);
    put<uint64_t>(bytes, entry + kName, bytes.size());
    put<uint64_t>(bytes, entry + kName + 8, section.bytes.size());
    bytes += section.bytes;
    bytes.resize(alignTo(bytes.size(), kAlign), '\0');
  }
  llvm::copy(kMagic, bytes.begin());
  put<uint32_t>(bytes, 8, kVersion);
  put<uint32_t>(bytes, 12, sections.size());
  put<uint64_t>(bytes, 16, bytes.size());
  auto hash = SHA256::hash(arrayRefFromStringRef(StringRef(bytes).drop_front(kHeader)));
  std::copy(hash.begin(), hash.end(), bytes.begin() + 24);
  return bytes;
}

Expected<std::vector<Section>> tilewright::readContainer(StringRef bytes) {
  if (bytes.size() < kHeader || !bytes.starts_with(kMagic))
    return createStringError("not a Tilewright artifact");
  if (get<uint32_t>(bytes, 8) != kVersion)
    return createStringError("artifact has container version %u; this build "
                             "reads version %u",
                             get<uint32_t>(bytes, 8), kVersion);
  uint64_t count = get<uint32_t>(bytes, 12);
  if (get<uint64_t>(bytes, 16) != bytes.size() ||
      count > (bytes.size() - kHeader) / kEntry)
    return createStringError("artifact is truncated or too long");
  auto hash = SHA256::hash(arrayRefFromStringRef(bytes.drop_front(kHeader)));
  if (!std::equal(hash.begin(), hash.end(),
                  bytes.bytes_begin() + 24))
    return createStringError("artifact is corrupt: its hash differs");
  std::vector<Section> sections;
  for (uint64_t index = 0; index < count; ++index) {
    size_t entry = kHeader + kEntry * index;
    uint64_t offset = get<uint64_t>(bytes, entry + kName),
             size = get<uint64_t>(bytes, entry + kName + 8);
    if (offset > bytes.size() || size > bytes.size() - offset)
      return createStringError("section %zu lies outside the artifact",
                               size_t(index));
    StringRef name = bytes.substr(entry, kName);
    sections.push_back({name.take_until([](char c) { return !c; }).str(),
                        bytes.substr(offset, size).str()});
  }
  return sections;
}
