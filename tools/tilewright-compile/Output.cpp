// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/stat.h>

using namespace llvm;
using namespace tilewright;

static Error failed(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write '%s': %s", path.str().c_str(),
                           code.message().c_str());
}

Error writeFile(StringRef path, StringRef bytes) {
  if (path == "-") {
    outs() << bytes;
    outs().flush();
    return Error::success();
  }
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::exists(status) &&
      !sys::fs::is_regular_file(status)) {
    // Devices and pipes are written in place: renaming would replace them.
    if (sys::fs::is_directory(status))
      return failed(path, std::make_error_code(std::errc::is_a_directory));
    std::error_code code;
    raw_fd_ostream os(path, code);
    if (code)
      return failed(path, code);
    os << bytes;
    os.close();
    if (os.has_error()) {
      code = os.error();
      os.clear_error();
      return failed(path, code);
    }
    return Error::success();
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".tmp-%%%%%%", 0666);
  if (!file)
    return failed(path, errorToErrorCode(file.takeError()));
  raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  os << bytes;
  os.flush();
  if (os.has_error()) {
    std::error_code code = os.error();
    os.clear_error();
    consumeError(file->discard());
    return failed(path, code);
  }
  // TempFile creates private files; the output gets what the umask allows.
  mode_t mask = ::umask(0);
  ::umask(mask);
  if (std::error_code code = sys::fs::setPermissions(
          file->FD, static_cast<sys::fs::perms>(0666 & ~mask)))
    consumeError(errorCodeToError(code));
  if (Error error = file->keep(path))
    return failed(path, errorToErrorCode(std::move(error)));
  return Error::success();
}

Error writeOutputs(StringRef path, ArrayRef<CompileOutput> outputs) {
  bool single = outputs.size() == 1 &&
                (outputs[0].path.empty() || !sys::fs::is_directory(path));
  if (single)
    return writeFile(path, outputs[0].bytes);
  if (path == "-") {
    for (const CompileOutput &output : outputs) {
      outs() << "// " << output.path << "\n" << output.bytes << "\n";
    }
    return Error::success();
  }
  for (const CompileOutput &output : outputs) {
    SmallString<128> file(path);
    sys::path::append(file, output.path);
    if (std::error_code code =
            sys::fs::create_directories(sys::path::parent_path(file)))
      return failed(file, code);
    if (Error error = writeFile(file, output.bytes))
      return error;
  }
  return Error::success();
}
