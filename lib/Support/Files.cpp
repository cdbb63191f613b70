// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files; see Files.h.

#include "tilewright/Support/Files.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

using namespace llvm;
using namespace tilewright;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error cannotRead(StringRef path, std::error_code code) {
  return createStringError(code, "cannot read '%s': %s", path.str().c_str(),
                           code.message().c_str());
}

static Error tooLarge(StringRef path, uint64_t maxBytes) {
  return createStringError(
      std::errc::file_too_large,
      "cannot read '%s': it is longer than %llu MiB, the limit for a program",
      path.str().c_str(), static_cast<unsigned long long>(maxBytes >> 20));
}

/// A pipe or a device, whose size nobody knows before its end.
static Expected<std::unique_ptr<MemoryBuffer>>
readStream(StringRef path, sys::fs::file_t file, uint64_t maxBytes) {
  constexpr size_t kChunk = 1 << 16;
  SmallVector<char, 0> bytes;
  for (size_t size = 0;;) {
    bytes.resize_for_overwrite(size + kChunk);
    Expected<size_t> got = sys::fs::readNativeFile(
        file, MutableArrayRef(bytes.data() + size, kChunk));
    if (!got)
      return cannotRead(path, errorToErrorCode(got.takeError()));
    if (*got == 0)
      return MemoryBuffer::getMemBufferCopy(StringRef(bytes.data(), size), path);
    size += *got;
    if (size > maxBytes)
      return tooLarge(path, maxBytes);
  }
}

Expected<std::unique_ptr<MemoryBuffer>>
tilewright::readProgram(StringRef path, uint64_t maxBytes) {
  if (path == "-")
    return readStream("<stdin>", sys::fs::getStdinHandle(), maxBytes);
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return cannotRead(path, errorToErrorCode(file.takeError()));
  scope_exit close([&] { (void)sys::fs::closeFile(*file); });
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(*file, status))
    return cannotRead(path, code);
  if (sys::fs::is_directory(status))
    return cannotRead(path, std::make_error_code(std::errc::is_a_directory));
  if (!sys::fs::is_regular_file(status))
    return readStream(path, *file, maxBytes);
  if (status.getSize() > maxBytes)
    return tooLarge(path, maxBytes);
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getOpenFile(*file, path, status.getSize());
  if (!buffer)
    return cannotRead(path, buffer.getError());
  return std::move(*buffer);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Error cannotWrite(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write '%s': %s", path.str().c_str(),
                           code.message().c_str());
}

/// Left alone, the stream's destructor would end the program.
static std::error_code takeError(raw_fd_ostream &os) {
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

Error tilewright::writeInPlace(StringRef path, StringRef bytes) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  if (code)
    return cannotWrite(path, code);
  os << bytes;
  os.close();
  if ((code = takeError(os)))
    return cannotWrite(path, code);
  return Error::success();
}

Error tilewright::writeFile(StringRef path, StringRef bytes) {
  if (path == "-") {
    outs() << bytes;
    outs().flush();
    if (std::error_code code = takeError(outs()))
      return cannotWrite("standard output", code);
    return Error::success();
  }
  sys::fs::file_status status;
  if (!sys::fs::status(path, status, /*follow=*/false) &&
      sys::fs::exists(status) && !sys::fs::is_regular_file(status)) {
    // Renaming would replace the device, the pipe or the link.
    if (sys::fs::is_directory(status))
      return cannotWrite(path, std::make_error_code(std::errc::is_a_directory));
    return writeInPlace(path, bytes);
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".tmp-%%%%%%", 0666);
  if (!file)
    return cannotWrite(path, errorToErrorCode(file.takeError()));
  raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  os << bytes;
  os.flush();
  if (std::error_code code = takeError(os)) {
    consumeError(file->discard());
    return cannotWrite(path, code);
  }
  // TempFile creates private files; the output gets what the umask allows.
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (std::error_code code = sys::fs::setPermissions(
          file->FD, static_cast<sys::fs::perms>(0666 & ~mask)))
    consumeError(errorCodeToError(code));
  if (Error error = file->keep(path))
    return cannotWrite(path, errorToErrorCode(std::move(error)));
  return Error::success();
}
