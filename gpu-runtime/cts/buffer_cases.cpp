// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: allocation, writes, reads, fills and copies at odd places and sizes.
#include "cts.h"

#include <cstring>
#include <numeric>

namespace tilewright::cts {

static std::vector<uint8_t> pattern(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  for (uint8_t &byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return bytes;
}

static void writeRead(Context &context) {
  std::unique_ptr<DriverStream> stream;
  TW_OK(context.device().createStream(stream));
  for (size_t size : {1, 3, 4, 15, 16, 17, 255, 256, 257, 4096, 65537,
                      262144, 262145, 1000003}) {
    std::unique_ptr<DriverBuffer> buffer;
    TW_OK(context.device().allocate(size, buffer));
    TW_CHECK(buffer->size() >= size, std::to_string(buffer->size()));
    TW_CHECK(buffer->address() % 256 == 0, "allocations are aligned to 256");
    std::vector<uint8_t> in = pattern(size, 1), out(size);
    TW_OK(stream->write(*buffer, 0, in.data(), size));
    TW_OK(stream->read(out.data(), *buffer, 0, size));
    TW_OK(stream->synchronize(kForever));
    TW_CHECK(in == out, "size " + std::to_string(size));
  }
}

/// `source` may be reused at once, and pieces land where they should.
static void offsets(Context &context) {
  constexpr size_t size = 1031;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(size, buffer));
  std::vector<uint8_t> expected = pattern(size, 2), piece;
  TW_OK(stream->write(*buffer, 0, expected.data(), size));
  for (size_t offset : {0, 1, 2, 3, 7, 16, 100, 513, 1030}) {
    size_t length = std::min<size_t>(offset % 31 + 1, size - offset);
    piece = pattern(length, static_cast<uint32_t>(offset));
    std::memcpy(&expected[offset], piece.data(), length);
    TW_OK(stream->write(*buffer, offset, piece.data(), length));
    std::fill(piece.begin(), piece.end(), uint8_t(0xee));
  }
  std::vector<uint8_t> out(size);
  for (size_t at = 0; at < size; at += 101) {
    size_t length = std::min<size_t>(101, size - at);
    TW_OK(stream->read(&out[at], *buffer, at, length));
  }
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out == expected, "pieces");
}

static void fills(Context &context) {
  constexpr size_t size = 259;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(size, buffer));
  for (uint32_t unit : {1u, 2u, 4u})
    for (size_t offset : {0, 4, 6, 8, 9, 11, 252}) {
      if (offset % unit != 0)
        continue;
      for (size_t length : {1, 2, 3, 4, 5, 6, 8, 64, 100, 131}) {
        if (length % unit != 0 || offset + length > size)
          continue;
        uint32_t value = 0xa1b2c3d4;
        std::vector<uint8_t> expected(size, 0x11), out(size);
        for (size_t i = 0; i < length; ++i)
          expected[offset + i] =
              static_cast<uint8_t>(value >> (8 * (i % unit)));
        TW_OK(stream->fill(*buffer, 0, size, 0x11, 1));
        TW_OK(stream->fill(*buffer, offset, length, value, unit));
        TW_OK(stream->read(out.data(), *buffer, 0, size));
        TW_OK(stream->synchronize(kForever));
        TW_CHECK(out == expected, "unit " + std::to_string(unit) + " offset " +
                                      std::to_string(offset) + " length " +
                                      std::to_string(length));
      }
    }
}

static void copies(Context &context) {
  constexpr size_t size = 5000;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> a, b;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(size, a));
  TW_OK(context.device().allocate(size, b));
  std::vector<uint8_t> source = pattern(size, 3), out(size);
  std::vector<uint8_t> expected(size, 0x77);
  TW_OK(stream->write(*a, 0, source.data(), size));
  TW_OK(stream->fill(*b, 0, size, 0x77, 1));
  struct { size_t to, from, length; } moves[] = {
      {0, 4096, 1}, {1, 3, 17}, {100, 0, 999}, {2001, 1, 1024}, {4999, 0, 1}};
  for (auto &m : moves) {
    TW_OK(stream->copy(*b, m.to, *a, m.from, m.length));
    std::memcpy(&expected[m.to], &source[m.from], m.length);
  }
  // Within one buffer, apart.
  TW_OK(stream->copy(*b, 4000, *b, 100, 500));
  std::memcpy(&expected[4000], &expected[100], 500);
  TW_OK(stream->read(out.data(), *b, 0, size));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out == expected, "copied pieces");
}

/// Transfers larger than any staging memory, several in flight at once.
static void large(Context &context) {
  // A simulator follows every byte.
  const size_t size = (context.fact("simulator") ? 9u << 20 : 48u << 20) + 5;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> a, b;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(size, a));
  TW_OK(context.device().allocate(size, b));
  std::vector<uint8_t> in = pattern(size, 4), out(size), again(size);
  TW_OK(stream->fill(*a, 0, size, 0, 1));
  TW_OK(stream->write(*a, 0, in.data(), size));
  TW_OK(stream->read(out.data(), *a, 0, size));
  TW_OK(stream->copy(*b, 0, *a, 0, size));
  TW_OK(stream->fill(*a, 0, size, 0xff, 1));
  TW_OK(stream->read(again.data(), *b, 0, size));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out == in, "read before the fill");
  TW_CHECK(again == in, "copy before the fill");
}

/// A read sees what was there when it was enqueued, not what came later.
static void readBeforeWrite(Context &context) {
  constexpr size_t size = 4096;
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(size, buffer));
  std::vector<std::vector<uint8_t>> out(20, std::vector<uint8_t>(size));
  for (uint32_t i = 0; i < out.size(); ++i) {
    std::vector<uint8_t> in = pattern(size, i);
    TW_OK(stream->write(*buffer, 0, in.data(), size));
    TW_OK(stream->read(out[i].data(), *buffer, 0, size));
    TW_OK(stream->fill(*buffer, 0, size, 0xab, 1));
  }
  TW_OK(stream->synchronize(kForever));
  for (uint32_t i = 0; i < out.size(); ++i)
    TW_CHECK(out[i] == pattern(size, i), "round " + std::to_string(i));
}

static void manyAllocations(Context &context) {
  std::unique_ptr<DriverStream> stream;
  TW_OK(context.device().createStream(stream));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<DriverBuffer>> buffers(5000);
    for (uint32_t i = 0; i < buffers.size(); ++i) {
      TW_OK(context.device().allocate(1 + i % 3000, buffers[i]));
      TW_OK(stream->fill(*buffers[i], 0, 1, i & 0xff, 1));
    }
    std::vector<uint8_t> out(buffers.size());
    for (uint32_t i = 0; i < buffers.size(); ++i)
      TW_OK(stream->read(&out[i], *buffers[i], 0, 1));
    TW_OK(stream->synchronize(kForever));
    for (uint32_t i = 0; i < buffers.size(); ++i)
      TW_CHECK(out[i] == (i & 0xff), "buffer " + std::to_string(i));
  }
}

/// Too much memory is an error with the size in it, and nothing else suffers.
static void tooLarge(Context &context) {
  std::unique_ptr<DriverBuffer> buffer;
  for (uint64_t size : {uint64_t(1) << 50, UINT64_MAX - 7}) {
    Status status = context.device().allocate(size, buffer);
    TW_CHECK(status.code() == StatusCode::OutOfMemory, status.message());
    TW_CHECK(status.message().find(std::to_string(size)) != std::string::npos,
             "the message names the size: " + status.message());
  }
  TW_CHECK(!buffer, "nothing is allocated");
  writeRead(context);
}

static void hostPointer(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(1000, buffer));
  auto *memory = static_cast<uint8_t *>(buffer->hostPointer());
  if (!memory)
    return context.skip("this device's memory is not the host's");
  TW_OK(stream->fill(*buffer, 0, 1000, 0x5a, 1));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(memory[0] == 0x5a && memory[999] == 0x5a, "device writes show");
  memory[500] = 1;
  uint8_t out = 0;
  TW_OK(stream->read(&out, *buffer, 500, 1));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out == 1, "host writes show");
}

std::vector<Case> bufferCases() {
  return {{"buffer.write_read", writeRead},
          {"buffer.offsets", offsets},
          {"buffer.fill", fills},
          {"buffer.copy", copies},
          {"buffer.large", large},
          {"buffer.read_before_write", readBeforeWrite},
          {"buffer.many_allocations", manyAllocations},
          {"buffer.too_large", tooLarge},
          {"buffer.host_pointer", hostPointer}};
}

} // namespace tilewright::cts
