// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files in and out, for tilewright-run and tilewright-inspect. All throw
// RunError with the path and the reason.
#ifndef TILEWRIGHT_RUN_FILES_H
#define TILEWRIGHT_RUN_FILES_H

#include <cstdint>
#include <string>

namespace tilewright::run {

/// What a file is read as. An endless or huge file is refused at `maxBytes`; one
/// that does not begin with `magic` is read no further than that.
struct FileKind {
  const char *name;
  uint64_t maxBytes;
  std::string magic = {};
};

extern const FileKind kProgramText; // .mlir, .ptx
extern const FileKind kArtifact;
extern const FileKind kArray;     // .npy
extern const FileKind kParameter; // a kernel's parameter, as raw bytes

std::string readFile(const std::string &path, const FileKind &kind);
/// A regular file is replaced at once: the path has all of `bytes` or what it
/// had. Devices, pipes and symbolic links are opened and written to.
void writeFile(const std::string &path, const std::string &bytes);
bool endsWith(const std::string &path, const std::string &suffix);
/// "a/b/" of a/b/c, "./" of c.
bool endsWith(const std::string &text, const std::string &suffix);
std::string folderOf(const std::string &path);
/// A file without a name, which no signal can leave behind.
class AnonymousFile {
public:
  /// `name`: for people who look at the process.
  explicit AnonymousFile(const char *name);
  AnonymousFile(const AnonymousFile &) = delete;
  ~AnonymousFile();
  void write(const std::string &bytes);
  std::string contents() const;

  const int number;
};
/// Adds one line to the end.
void appendLine(const std::string &path, const std::string &line);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_FILES_H
