// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kind of image a program gave us. PTX text is taken as it is; from a fatbin, the PTX of the newest architecture
// that the device has; a cubin is machine code and refused.
//
// A fatbin, as nvcc writes it (offsets in bytes, little endian):
//
//   0  magic 0xba55ed50     4  version u16, header bytes u16     8  bytes of all entries u64
//
// and per entry
//
//   0  kind u16 (1 PTX, 2 ELF)    4  header bytes u32     8  payload bytes u64     16  compressed bytes u32
//   28 architecture u32           40 flags u64 (0x2000 LZ4, 0x8000 Zstandard)      56  bytes when decompressed u64

#include "driver/Decompress.h"
#include "driver/State.h"

#include <cstring>

namespace tilewright::ptxsim {
namespace {

constexpr uint32_t elfMagic = 0x464c457f;
constexpr uint32_t fatbinMagic = 0xba55ed50;
constexpr uint32_t wrapperMagic = 0x466243b1;
constexpr uint64_t maxImageBytes = 1ull << 30;

template <typename T> T read(const uint8_t *bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof(value));
  return value;
}

struct Entry {
  uint16_t kind = 0;
  uint32_t architecture = 0;
  uint64_t flags = 0;
  uint64_t decompressed = 0;
  const uint8_t *payload = nullptr;
  uint64_t stored = 0;
};

/// Reads the entry at `at` and moves behind it.
bool readEntry(const uint8_t *bytes, uint64_t end, uint64_t &at, Entry &entry) {
  if (end - at < 64)
    return false;
  const uint8_t *header = bytes + at;
  uint32_t headerBytes = read<uint32_t>(header, 4);
  uint64_t payload = read<uint64_t>(header, 8);
  if (headerBytes < 64 || headerBytes > end - at || payload > end - at - headerBytes)
    return false;
  entry.kind = read<uint16_t>(header, 0);
  entry.architecture = read<uint32_t>(header, 28);
  entry.flags = read<uint64_t>(header, 40);
  entry.decompressed = read<uint64_t>(header, 56);
  entry.payload = header + headerBytes;
  uint32_t compressed = read<uint32_t>(header, 16);
  entry.stored = compressed != 0 && compressed <= payload ? compressed : payload;
  at += headerBytes + payload;
  return true;
}

bool unpack(const Entry &entry, std::string &text, std::string &why) {
  constexpr uint64_t lz4 = 0x2000, zstd = 0x8000;
  std::vector<uint8_t> bytes;
  if (entry.flags & (lz4 | zstd)) {
    why = "it is too large";
    if (entry.decompressed > maxImageBytes)
      return false;
    bool ok = entry.flags & lz4 ? decompressLz4(entry.payload, entry.stored, entry.decompressed, bytes, why)
                                : decompressZstd(entry.payload, entry.stored, entry.decompressed, bytes, why);
    if (!ok)
      return false;
  } else {
    bytes.assign(entry.payload, entry.payload + entry.stored);
  }
  // Entries are padded with zeros.
  size_t length = strnlen(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  text.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
  return true;
}

CUresult extractFromFatbin(const Image &image, std::string &text, std::string &why) {
  const uint8_t *bytes = image.bytes;
  if (image.size < 16) {
    why = "the fatbin is cut off";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  uint16_t headerBytes = read<uint16_t>(bytes, 6);
  uint64_t size = read<uint64_t>(bytes, 8);
  if (headerBytes < 16 || size > maxImageBytes) {
    why = "damaged fatbin";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (headerBytes + size > image.size) {
    why = "the fatbin is cut off: " + std::to_string(image.size) + " bytes of " + std::to_string(headerBytes + size);
    return CUDA_ERROR_INVALID_IMAGE;
  }
  Entry best;
  bool sawMachineCode = false;
  for (uint64_t at = headerBytes, end = headerBytes + size; at < end;) {
    Entry entry;
    if (!readEntry(bytes, end, at, entry)) {
      why = "damaged fatbin";
      return CUDA_ERROR_INVALID_IMAGE;
    }
    sawMachineCode |= entry.kind == 2;
    if (entry.kind == 1 && entry.architecture <= driver().options.computeCapability &&
        entry.architecture >= best.architecture)
      best = entry;
  }
  if (!best.payload) {
    why = sawMachineCode ? "the fatbin has machine code and no PTX for this device (compile for compute_NN too)"
                         : "the fatbin has no PTX for this device";
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  std::string reason;
  if (unpack(best, text, reason))
    return CUDA_SUCCESS;
  why = "the fatbin's PTX: " + reason;
  return CUDA_ERROR_INVALID_IMAGE;
}

} // namespace

CUresult extractPtx(const Image &image, std::string &text, std::string &why) {
  const uint8_t *bytes = image.bytes;
  // The shortest text may be shorter than a magic number.
  if (bytes[0] == 0 || bytes[1] == 0 || bytes[2] == 0) {
    why = "the image is empty";
    return CUDA_ERROR_INVALID_IMAGE;
  }
  uint32_t magic = read<uint32_t>(bytes, 0);
  // A wrapper has a pointer, which means nothing in a file.
  if (magic == wrapperMagic && !image.isFile())
    return extractPtx({read<const uint8_t *>(bytes, 8)}, text, why);
  if (magic == fatbinMagic)
    return extractFromFatbin(image, text, why);
  if (magic == elfMagic) {
    why = "the image is a cubin (machine code); the simulator runs PTX";
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  text.assign(reinterpret_cast<const char *>(bytes));
  return CUDA_SUCCESS;
}

} // namespace tilewright::ptxsim
