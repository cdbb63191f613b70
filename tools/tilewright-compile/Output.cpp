// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Output.h"

#include "tilewright/Support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace tilewright;

std::error_code createFolders(StringRef path) {
  return sys::fs::create_directories(path, /*IgnoreExisting=*/true,
                                     sys::fs::perms::all_all);
}

Error writeOutputs(StringRef path, ArrayRef<CompileOutput> outputs) {
  bool isFolder = path.ends_with("/") || sys::fs::is_directory(path);
  bool single = outputs.size() == 1 && (outputs[0].path.empty() || !isFolder);
  if (single)
    return writeFile(path, outputs[0].bytes);
  if (path == "-") {
    std::string text;
    for (const CompileOutput &output : outputs)
      text += "// " + output.path + "\n" + output.bytes + "\n";
    return writeFile(path, text);
  }
  for (const CompileOutput &output : outputs) {
    SmallString<128> file(path);
    sys::path::append(file, output.path);
    if (std::error_code code =
            createFolders(sys::path::parent_path(file)))
      return createStringError(code, "cannot write '%s': %s", file.c_str(),
                               code.message().c_str());
    if (Error error = writeFile(file, output.bytes))
      return error;
  }
  return Error::success();
}
