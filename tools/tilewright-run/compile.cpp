// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the compiler; see compile.h.

#include "compile.h"

#include "core/child_process.h"
#include "core/sha256.h"
#include "files.h"
#include "host_tensor.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::run {

namespace {

std::string compilerPath() {
  std::string path = pathBeside("tilewright-compile");
  if (access(path.c_str(), X_OK) != 0)
    throw RunError("a .mlir needs the compiler, and there is none at " + path +
                   "; give an artifact (.tw) instead");
  return path;
}

bool makeFolders(const std::string &path, mode_t mode = 0777) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    if (mkdir(path.substr(0, at).c_str(), mode) != 0 && errno != EEXIST)
      return false;
  }
  return access(path.c_str(), W_OK) == 0;
}

std::string temporaryFolder() {
  const char *folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

/// The artifact depends on such an argument's text, on no file that it names; and the
/// compiler writes nothing for it but the artifact.
bool isPure(const std::string &argument) {
  for (const char *pure : {"--fp=", "--require=", "--asserts=", "--external-blas="})
    if (argument.rfind(pure, 0) == 0)
      return true;
  return argument == "-g" || argument == "--serial";
}

void noteNotKept(const std::string &reason) {
  std::fprintf(stderr, "tilewright-run: note: the compiled program is not kept: %s\n",
               reason.c_str());
}

// A folder that can be written; the system's temporary one at worst. Empty, with a
// note: there is none.
std::string cacheFolder() {
  const char *xdg = std::getenv("XDG_CACHE_HOME");
  const char *home = std::getenv("HOME");
  std::string base = xdg && *xdg == '/' ? xdg
                     : home && *home    ? std::string(home) + "/.cache"
                                        : "";
  if (!base.empty() && makeFolders(base + "/tilewright"))
    return base + "/tilewright";
  std::string folder =
      temporaryFolder() + "/tilewright-" + std::to_string(getuid());
  // In a folder of everybody's, one that others may write to is not to be trusted:
  // artifacts are code.
  struct stat info;
  std::string reason;
  if (!makeFolders(folder, 0700) || lstat(folder.c_str(), &info) != 0)
    reason = std::strerror(errno);
  else if (info.st_uid != getuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    reason = "others may write to it";
  if (reason.empty())
    return folder;
  noteNotKept("no folder for it: " + folder + ": " + reason + "; set XDG_CACHE_HOME");
  return "";
}

/// The string that begins at text[at], a quote, without MLIR's escapes; `at` is then behind it.
std::string readString(const std::string &text, size_t &at) {
  std::string value;
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      value += text[at];
      continue;
    }
    ++at;
    if (at + 1 < text.size() && std::isxdigit(uint8_t(text[at])) &&
        std::isxdigit(uint8_t(text[at + 1])))
      value += char(std::stoi(text.substr(at++, 2), nullptr, 16));
    else
      value += text[at] == 'n' ? '\n' : text[at] == 't' ? '\t' : text[at];
  }
  at = std::min(at + 1, text.size());
  return value;
}

/// What `tilewright.parameters` of a text says; empty: nothing. Comments and other strings
/// are read over.
std::string namedParameters(const std::string &text) {
  const std::string attribute = "tilewright.parameters";
  auto isPartOfName = [](char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '.'; };
  for (size_t at = 0; at < text.size();) {
    bool isNamed = false;
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text[at] == '"') {
      isNamed = readString(text, at) == attribute;
    } else if (text.compare(at, attribute.size(), attribute) == 0 &&
               !(at && isPartOfName(text[at - 1]))) {
      at += attribute.size();
      isNamed = true;
    } else {
      ++at;
    }
    size_t equals = isNamed ? text.find_first_not_of(" \t\r\n", at) : std::string::npos;
    if (equals == std::string::npos || text[equals] != '=')
      continue;
    size_t quote = text.find_first_not_of(" \t\r\n", equals + 1);
    if (quote != std::string::npos && text[quote] == '"')
      return readString(text, quote);
  }
  return "";
}

/// The parameter file of a program's text; empty: it names none.
std::string parameterPath(const CompileRequest &request, const std::string &text) {
  std::string name = namedParameters(text);
  if (name.empty())
    return request.parameters;
  struct stat info;
  bool isFolder = stat(request.parameters.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if (!request.parameters.empty() && !isFolder)
    return request.parameters;
  return (isFolder ? request.parameters + "/" : folderOf(request.input)) + name;
}

/// Which file it is and in which state.
std::string describeFile(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    throw RunError(path + ": " + std::strerror(errno));
  return path + ":" + std::to_string(info.st_size) + ":" +
         std::to_string(info.st_mtim.tv_sec) + ":" +
         std::to_string(info.st_mtim.tv_nsec);
}

void runCompiler(const std::vector<std::string> &command, const AnonymousFile &output) {
  runtime::ChildEnd end = runtime::runChild({command, {{output.number, output.number}}});
  if (end.error)
    throw RunError(command[0] + ": " + std::strerror(end.error));
  int status = end.status;
  if (WIFSIGNALED(status))
    throw RunError("tilewright-compile ended by signal " +
                   std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    throw RunError("tilewright-compile failed with exit code " +
                   std::to_string(WEXITSTATUS(status)));
}

/// What the compiler makes of its own path, the input and further arguments. Its standard output
/// is ours, for what else it is asked to write.
std::string compileNow(std::vector<std::string> command) {
  AnonymousFile output("tilewright-artifact");
  command.insert(command.begin() + 2, {"-o", "/proc/self/fd/" + std::to_string(output.number)});
  runCompiler(command, output);
  return output.contents();
}

/// What was compiled serves though it cannot be kept.
void keep(const std::string &path, const std::string &artifact) {
  try {
    writeFile(path, artifact);
  } catch (const RunError &e) {
    noteNotKept(e.what());
  }
}

} // namespace

std::string pathBeside(const std::string &name) {
  // Under an explicit dynamic loader /proc/self/exe is the loader.
  char buffer[PATH_MAX];
  Dl_info info;
  if (!(dladdr(reinterpret_cast<void *>(&pathBeside), &info) &&
        realpath(info.dli_fname, buffer)) &&
      !realpath("/proc/self/exe", buffer))
    throw RunError("cannot find this program's own folder");
  std::string path = buffer;
  return path.substr(0, path.rfind('/') + 1) + name;
}

std::string compileCached(const CompileRequest &request) {
  std::string text = readFile(request.input, kProgramText);
  std::string compiler = compilerPath();
  std::string key = describeFile(compiler);
  // Lengths keep the parts apart.
  auto add = [&](const std::string &part) {
    key += "\n" + std::to_string(part.size()) + ":" + part;
  };
  add(request.targets);
  std::vector<std::string> arguments = request.arguments;
  std::string parameters = parameterPath(request, text);
  struct stat info;
  if (!parameters.empty()) {
    arguments.push_back("--parameters=" + parameters);
    // Of one that is missing the compiler tells.
    if (stat(parameters.c_str(), &info) == 0)
      add(describeFile(parameters));
  }
  for (const std::string &argument : arguments)
    add(argument);
  add(text);
  std::vector<std::string> command = {compiler, request.input,
                                      "--target=" + request.targets};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const std::vector<std::string> &given = request.arguments;
  if (!std::all_of(given.begin(), given.end(), isPure))
    return compileNow(std::move(command));
  std::string name =
      runtime::toHex(runtime::sha256(key.data(), key.size())) + ".tw";
  std::string folder = cacheFolder();
  if (folder.empty())
    return compileNow(std::move(command));
  std::string path = folder + "/" + name;
  if (access(path.c_str(), R_OK) == 0)
    return readFile(path, kArtifact);
  std::string artifact = compileNow(std::move(command));
  keep(path, artifact);
  return artifact;
}

} // namespace tilewright::run
