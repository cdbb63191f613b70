// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files; see files.h.

#include "files.h"

#include "host_tensor.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::run {

// The README of this tool lists them.
const FileKind kProgramText = {"program text", uint64_t(1) << 30};
const FileKind kArtifact = {"artifact", uint64_t(4) << 30,
                            std::string("TILEWRT\x01", 8)};
const FileKind kArray = {".npy file", uint64_t(16) << 30, "\x93NUMPY"};
const FileKind kParameter = {"parameter", uint64_t(1) << 20};

namespace {

struct Closer {
  void operator()(FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, Closer>;

[[noreturn]] void fail(const std::string &path, int reason = errno) {
  if (path.empty())
    throw RunError("a file is asked for, and its name is empty");
  throw RunError(path + ": " + std::strerror(reason));
}

[[noreturn]] void failTooLarge(const std::string &path, const FileKind &kind) {
  throw RunError(path + ": longer than " + std::to_string(kind.maxBytes >> 20) +
                 " MiB, the limit for a file read as " + kind.name);
}

/// Writes all, flushes and closes; errno where something of it fails.
int writeAll(File file, const std::string &bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0)
    return errno;
  // Some file systems tell of a full disk only here.
  return std::fclose(file.release()) == 0 ? 0 : errno;
}

/// A new file in the folder of another one. Process ids do not tell names apart where
/// containers share the folder.
File openBeside(const std::string &path, std::string &name) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    name = path + ".tmp" + std::to_string(random());
    int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
      return File(fdopen(file, "wb"));
    if (errno != EEXIST)
      break;
  }
  return nullptr;
}

} // namespace

bool endsWith(const std::string &path, const std::string &suffix) {
  return path.size() >= suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

std::string readFile(const std::string &path, const FileKind &kind) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    fail(path);
  struct stat info;
  if (fstat(fileno(file.get()), &info) != 0)
    fail(path);
  if (S_ISDIR(info.st_mode))
    fail(path, EISDIR);
  if (S_ISREG(info.st_mode) && uint64_t(info.st_size) > kind.maxBytes)
    failTooLarge(path, kind);
  std::string bytes;
  try {
    if (S_ISREG(info.st_mode))
      bytes.reserve(uint64_t(info.st_size) + 1);
    char buffer[1 << 16];
    for (;;) {
      size_t n = std::fread(buffer, 1, sizeof(buffer), file.get());
      bytes.append(buffer, n);
      size_t known = std::min(bytes.size(), kind.magic.size());
      if (n < sizeof(buffer) || bytes.compare(0, known, kind.magic, 0, known))
        break; // the reader says what it expects
      if (bytes.size() > kind.maxBytes)
        failTooLarge(path, kind);
    }
  } catch (const std::bad_alloc &) {
    fail(path, ENOMEM);
  }
  if (std::ferror(file.get()))
    fail(path);
  return bytes;
}

void writeFile(const std::string &path, const std::string &bytes) {
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    File file(std::fopen(path.c_str(), "wb"));
    if (!file)
      fail(path);
    if (int reason = writeAll(std::move(file), bytes))
      fail(path, reason);
    return;
  }
  std::string temporary;
  File file = openBeside(path, temporary);
  if (!file)
    fail(path);
  int reason = writeAll(std::move(file), bytes);
  if (!reason && std::rename(temporary.c_str(), path.c_str()) != 0)
    reason = errno;
  if (reason) {
    std::remove(temporary.c_str());
    fail(path, reason);
  }
}

AnonymousFile::AnonymousFile(const char *name) : number(memfd_create(name, MFD_CLOEXEC)) {
  if (number < 0)
    throw RunError(std::string("memfd_create: ") + std::strerror(errno));
}

AnonymousFile::~AnonymousFile() { close(number); }

void AnonymousFile::write(const std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = ::write(number, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR)
      throw RunError(std::string("anonymous file: ") + std::strerror(errno));
    done += n > 0 ? n : 0;
  }
}

std::string AnonymousFile::contents() const {
  std::string result;
  char buffer[1 << 16];
  for (off_t at = 0;;) {
    ssize_t n = pread(number, buffer, sizeof(buffer), at);
    if (n <= 0)
      return result;
    result.append(buffer, n);
    at += n;
  }
}

void appendLine(const std::string &path, const std::string &line) {
  File file(std::fopen(path.c_str(), "ab"));
  if (!file)
    fail(path);
  if (int reason = writeAll(std::move(file), line + "\n"))
    fail(path, reason);
}

} // namespace tilewright::run
