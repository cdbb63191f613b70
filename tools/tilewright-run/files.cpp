// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files; see files.h.

#include "files.h"

#include "host_tensor.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::run {

namespace {

struct Closer {
  void operator()(FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Closer>;

[[noreturn]] void fail(const std::string &path) {
  throw RunError(path + ": " + std::strerror(errno));
}

} // namespace

std::string readFile(const std::string &path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    fail(path);
  struct stat info;
  if (fstat(fileno(file.get()), &info) == 0 && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail(path);
  }
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    size_t n = std::fread(buffer, 1, sizeof(buffer), file.get());
    bytes.append(buffer, n);
    if (n < sizeof(buffer))
      break;
  }
  if (std::ferror(file.get()))
    fail(path);
  return bytes;
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  {
    File file(std::fopen(temporary.c_str(), "wb"));
    if (!file)
      fail(path);
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) !=
            bytes.size() ||
        std::fflush(file.get()) != 0) {
      int reason = errno;
      std::remove(temporary.c_str());
      errno = reason;
      fail(path);
    }
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    int reason = errno;
    std::remove(temporary.c_str());
    errno = reason;
    fail(path);
  }
}

void appendLine(const std::string &path, const std::string &line) {
  File file(std::fopen(path.c_str(), "ab"));
  if (!file)
    fail(path);
  std::string text = line + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0)
    fail(path);
}

} // namespace tilewright::run
