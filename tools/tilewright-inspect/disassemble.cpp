// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the code that was asked for and prints it; see disassemble.h.

#include "disassemble.h"

#include "child.h"
#include "code.h"
#include "host_elf.h"
#include "host_tensor.h"
#include "overview.h"

#ifdef TILEWRIGHT_WITH_SPIRV_TOOLS
#include <spirv-tools/libspirv.hpp>
#endif

#include <cstring>
#include <set>

namespace tilewright::inspect {

using nlohmann::json;
using run::RunError;
using runtime::Artifact;

namespace {

std::string spirvText(const Artifact::Section &section) {
#ifdef TILEWRIGHT_WITH_SPIRV_TOOLS
  std::vector<uint32_t> words(section.size / 4);
  std::memcpy(words.data(), section.data, words.size() * 4);
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string reason, text;
  tools.SetMessageConsumer([&](spv_message_level_t, const char *,
                               const spv_position_t &, const char *message) {
    reason = reason.empty() ? message : reason;
  });
  if (!tools.Disassemble(words, &text,
                         SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES |
                             SPV_BINARY_TO_TEXT_OPTION_INDENT))
    throw RunError("section '" + section.name + "': " +
                   (reason.empty() ? "not SPIR-V" : reason));
  return text;
#else
  throw RunError("section '" + section.name +
                 "': this build has no SPIRV-Tools to disassemble it; write "
                 "the words with --raw -o FILE and use spirv-dis");
#endif
}

std::string objdumpOf(const CodeRequest &request) {
  if (!request.objdump.empty())
    return request.objdump;
  for (const char *name : {"llvm-objdump-22", "llvm-objdump", "objdump"})
    if (isInPath(name))
      return name;
  throw RunError("host code needs llvm-objdump or objdump in PATH, or "
                 "--objdump=PROGRAM; --raw writes it as it is");
}

/// The lines of a disassembly behind objdump's header, which names the file.
std::string withoutHeader(const std::string &text) {
  size_t start = text.find("Disassembly of section");
  return start == std::string::npos ? text : text.substr(start);
}

std::string hexText(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx",
                static_cast<unsigned long long>(value));
  return buffer;
}

/// Collects the pieces that fit a request.
class Finder {
public:
  Finder(const Opened &opened, const CodeRequest &request)
      : opened(opened), request(request) {}

  std::string run() {
    for (const json &program : opened.manifest["programs"])
      if (request.target.empty() || program["target"] == request.target)
        visit(program);
    if (found == 0)
      throw RunError(opened.path + ": no " + wanted() + "; " + choices());
    if (request.raw && found > 1)
      throw RunError(opened.path + ": " + std::to_string(found) +
                     " programs have " + wanted() +
                     "; --raw takes one, name it with --target");
    return text;
  }

private:
  std::string wanted() const {
    return (request.kernel.empty() ? "code"
                                   : "kernel or function '" + request.kernel +
                                         "'") +
           (request.target.empty() ? "" : " for target '" + request.target + "'");
  }
  std::string choices() const {
    std::string list;
    for (const std::string &name : seen)
      list += (list.empty() ? "there are " : ", ") + name;
    return list.empty() ? "tilewright-inspect without options lists the targets"
                        : list;
  }
  bool wants(const std::string &name) {
    seen.insert(name);
    return request.kernel.empty() || request.kernel == name;
  }
  void add(const json &program, const std::string &what,
           const Artifact::Section &section, const std::string &code) {
    ++found;
    if (request.raw) {
      text = bytesOf(section);
      return;
    }
    text += (text.empty() ? "" : "\n") +
            printable("// " + program["target"].get<std::string>() + ", " +
                      what + ", section " + section.name) +
            "\n" + code;
  }

  void visit(const json &program) {
    if (program.contains("dispatches"))
      for (const json &dispatch : program["dispatches"])
        for (const json &variant : dispatch["variants"]) {
          std::string name = variant["name"];
          if (!variant.contains("section") || !wants(name))
            continue;
          const Artifact::Section &section = *opened.artifact->find(
              variant["section"].get<std::string>());
          add(program, "kernel " + name, section, kernelText(section));
        }
    if (program.contains("host"))
      visitHost(program);
  }

  std::string kernelText(const Artifact::Section &section) const {
    if (request.raw)
      return "";
    std::string kind = kindOf(section.name);
    if (kind == "ptx")
      return bytesOf(section);
    if (kind == "spv")
      return spirvText(section);
    return "(" + kind + ": --raw writes it as it is)\n";
  }

  void visitHost(const json &program) {
    const Artifact::Section &section =
        *opened.artifact->find(program["host"]["section"].get<std::string>());
    HostElf elf;
    if (runtime::Status s = readHostElf(section.data, section.size, elf))
      throw RunError(opened.path + ": section '" + section.name +
                     "': " + s.message());
    for (auto [list, kind] : {std::pair(&elf.functions, "function "),
                              std::pair(&elf.kernels, "kernel ")})
      for (const NamedCode &code : *list)
        if (wants(code.name))
          add(program, kind + code.name, section,
              request.raw ? "" : hostText(section, code));
  }

  std::string hostText(const Artifact::Section &section,
                       const NamedCode &code) const {
    return withoutHeader(
        runOn({objdumpOf(request), "-d", "--start-address=" + hexText(code.begin),
               "--stop-address=" + hexText(code.end), "/dev/fd/3"},
              bytesOf(section)));
  }

  const Opened &opened;
  const CodeRequest &request;
  std::set<std::string> seen;
  std::string text;
  size_t found = 0;
};

} // namespace

std::string codeText(const Opened &opened, const CodeRequest &request) {
  return Finder(opened, request).run();
}

} // namespace tilewright::inspect
