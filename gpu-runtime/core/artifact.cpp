// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and verifies the container; see artifact.h.

#include "core/artifact.h"

#include "core/checked.h"
#include "core/sha256.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tilewright::runtime {

namespace {

constexpr char kMagic[8] = {'T', 'I', 'L', 'E', 'W', 'R', 'T', '\x01'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHashed = 56;    // first byte under the hash, and the table
constexpr size_t kEntrySize = 64; // bytes per section table entry
constexpr size_t kNameSize = 48;
constexpr size_t kAlignment = 64;

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value; // hosts are little-endian, like the format
}

std::string number(uint64_t value) { return std::to_string(value); }

} // namespace

void Artifact::AlignedFree::operator()(uint8_t *memory) const {
  std::free(memory);
}

Status Artifact::parse(const void *data, size_t size,
                       std::shared_ptr<const Artifact> &result) {
  if (!data)
    return invalidArgument("the artifact's bytes are null");
  if (size < kHashed)
    return corruptArtifact("artifact is " + number(size) +
                           " bytes long; its header alone takes " +
                           number(kHashed));
  if (std::memcmp(data, kMagic, sizeof(kMagic)) != 0)
    return corruptArtifact("not a Tilewright artifact: the file does not start "
                           "with the bytes TILEWRT 01");
  std::shared_ptr<Artifact> artifact(new Artifact);
  size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  artifact->bytes.reset(
      static_cast<uint8_t *>(std::aligned_alloc(kAlignment, rounded)));
  if (!artifact->bytes)
    return outOfMemory("no host memory for an artifact of " + number(size) +
                       " bytes");
  std::memcpy(artifact->bytes.get(), data, size);
  if (Status s = artifact->verify(size))
    return s;
  result = std::move(artifact);
  return Status::ok();
}

Status Artifact::verify(size_t size) {
  const uint8_t *base = bytes.get();
  uint32_t version = load<uint32_t>(base + 8);
  if (version != kVersion)
    return unsupported("artifact has container version " + number(version) +
                       "; this runtime reads version " + number(kVersion));
  uint64_t stated = load<uint64_t>(base + 16);
  if (stated != size)
    return corruptArtifact(
        "artifact is " + number(size) + " bytes long, but its header says " +
        number(stated) + (size < stated ? " (truncated)" : ""));
  Sha256Digest digest = sha256(base + kHashed, size - kHashed);
  if (std::memcmp(digest.data(), base + 24, digest.size()) != 0)
    return corruptArtifact("artifact is damaged: its SHA-256 differs from the "
                           "one in its header");

  uint64_t count = load<uint32_t>(base + 12);
  if (count > (size - kHashed) / kEntrySize)
    return corruptArtifact("artifact has room for " +
                           number((size - kHashed) / kEntrySize) +
                           " sections, but its header says " + number(count));
  uint64_t dataBegin = kHashed + count * kEntrySize;
  for (uint64_t i = 0; i < count; ++i) {
    const uint8_t *entry = base + kHashed + i * kEntrySize;
    const char *text = reinterpret_cast<const char *>(entry);
    Section section;
    section.name.assign(text, strnlen(text, kNameSize));
    uint64_t offset = load<uint64_t>(entry + kNameSize);
    uint64_t length = load<uint64_t>(entry + kNameSize + 8);
    std::string where = "section " + number(i) + " '" + section.name + "'";
    if (section.name.empty())
      return corruptArtifact("section " + number(i) + " has no name");
    if (!byName.emplace(section.name, i).second)
      return corruptArtifact(where + ": the name is used twice");
    if (offset < dataBegin || !rangeFits(offset, length, size))
      return corruptArtifact(where + ": bytes " + number(offset) + " + " +
                             number(length) +
                             " lie outside the data, which is "
                             "at " +
                             number(dataBegin) + " to " + number(size));
    if (offset % kAlignment)
      return corruptArtifact(where + ": offset " + number(offset) +
                             " is not a multiple of " + number(kAlignment));
    section.data = base + offset;
    section.size = length;
    table.push_back(std::move(section));
  }

  std::vector<const Section *> order;
  for (const Section &section : table)
    if (section.size)
      order.push_back(&section);
  std::sort(order.begin(), order.end(), [](const Section *a, const Section *b) {
    return a->data < b->data;
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->data + order[i - 1]->size > order[i]->data)
      return corruptArtifact("sections '" + order[i - 1]->name + "' and '" +
                             order[i]->name + "' overlap");
  return Status::ok();
}

const Artifact::Section *Artifact::find(std::string_view name) const {
  auto found = byName.find(std::string(name));
  return found == byName.end() ? nullptr : &table[found->second];
}

} // namespace tilewright::runtime
