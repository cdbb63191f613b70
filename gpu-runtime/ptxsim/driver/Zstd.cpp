// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zstandard by the system's libzstd, opened when the first such fatbin is: every Linux distribution has the library, and
// building the simulator needs no headers of it. The two functions are part of its stable interface.

#include "driver/Decompress.h"

#include <dlfcn.h>

namespace tilewright::ptxsim {
namespace {

struct Zstd {
  size_t (*decompress)(void *to, size_t capacity, const void *from, size_t size) = nullptr;
  unsigned (*isError)(size_t result) = nullptr;

  Zstd() {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return;
    decompress = reinterpret_cast<decltype(decompress)>(dlsym(library, "ZSTD_decompress"));
    isError = reinterpret_cast<decltype(isError)>(dlsym(library, "ZSTD_isError"));
  }
};

} // namespace

bool decompressZstd(const uint8_t *in, size_t size, size_t limit, std::vector<uint8_t> &out, std::string &why) {
  static const Zstd zstd;
  out.clear();
  if (!zstd.decompress || !zstd.isError) {
    why = "it is compressed with Zstandard, and there is no libzstd.so.1 here; install it, or have nvcc write "
          "it with -no-compress";
    return false;
  }
  out.resize(limit);
  size_t bytes = zstd.decompress(out.data(), out.size(), in, size);
  bool failed = zstd.isError(bytes) != 0;
  out.resize(failed ? 0 : bytes);
  if (failed)
    why = "it cannot be decompressed";
  return !failed;
}

} // namespace tilewright::ptxsim
