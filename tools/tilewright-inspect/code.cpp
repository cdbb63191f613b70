// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts of PTX text, by its lines, and of SPIR-V words, by the driver's reader.

#include "code.h"

#include "drivers/vulkan/spirv_reader.h"

#include <cctype>
#include <cstring>
#include <limits>

namespace tilewright::inspect {

using runtime::corruptArtifact;
using runtime::Status;

namespace {

bool startsWith(const std::string &text, const char *prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

/// The lines of a PTX text without what stands in front of and behind them.
std::vector<std::string> linesOf(const runtime::Artifact::Section &section) {
  std::vector<std::string> lines(1);
  for (size_t i = 0; i < section.size; ++i) {
    char c = static_cast<char>(section.data[i]);
    if (c == '\n')
      lines.emplace_back();
    else if (!lines.back().empty() || !std::isspace(static_cast<unsigned char>(c)))
      lines.back() += c;
  }
  return lines;
}

/// Bytes of `.shared .align 128 .b8 name[8688];`; 0 where the size is the
/// launch's.
uint64_t sharedBytes(const std::string &line) {
  uint64_t bytes = 1;
  size_t type = line.rfind(" .", line.find('['));
  while (type != std::string::npos && type + 3 < line.size() &&
         !std::isdigit(static_cast<unsigned char>(line[type + 3])))
    type = type ? line.rfind(" .", type - 1) : std::string::npos;
  if (type != std::string::npos)
    bytes = std::strtoull(line.c_str() + type + 3, nullptr, 10) / 8;
  for (size_t at = line.find('['); at != std::string::npos;
       at = line.find('[', at + 1)) {
    uint64_t extent = std::strtoull(line.c_str() + at + 1, nullptr, 10);
    if (extent && bytes > std::numeric_limits<uint32_t>::max() / extent)
      return 0;
    bytes *= extent;
  }
  return bytes;
}

Status readPtx(const runtime::Artifact::Section &section,
               const std::string &entry, KernelCodeFacts &result) {
  bool found = false;
  result.language = "PTX";
  for (const std::string &line : linesOf(section)) {
    if (startsWith(line, ".version "))
      result.language = "PTX " + line.substr(9, 8);
    if (startsWith(line, ".shared "))
      result.staticShared += sharedBytes(line);
    size_t at = line.find(".entry ");
    if (at != std::string::npos) {
      std::string name = line.substr(at + 7);
      found |= name.substr(0, name.find_first_of("( ")) == entry;
    }
  }
  if (!found)
    return corruptArtifact("section '" + section.name + "' has no .entry '" +
                           entry + "'");
  return Status::ok();
}

} // namespace

std::string kindOf(const std::string &section) {
  size_t dot = section.rfind('.');
  return dot == std::string::npos ? "" : section.substr(dot + 1);
}

Status readKernelCode(const runtime::Artifact::Section &section,
                      const std::string &entry, KernelCodeFacts &result) {
  std::string kind = kindOf(section.name);
  if (kind == "ptx")
    return readPtx(section, entry, result);
  if (kind != "spv") {
    result.language = kind;
    return Status::ok();
  }
  runtime::vulkan::SpirvModule module;
  if (Status s = runtime::vulkan::readSpirv(section.data, section.size, module))
    return std::move(s).in("section '" + section.name + "'");
  const runtime::vulkan::SpirvEntryPoint *found = module.find(entry);
  if (!found)
    return corruptArtifact("section '" + section.name +
                           "' has no entry point '" + entry + "'");
  result.language = "SPIR-V " + std::to_string(module.version / 10) + "." +
                    std::to_string(module.version % 10);
  result.staticShared = found->sharedBytes;
  result.capabilities = module.capabilities;
  return Status::ok();
}

} // namespace tilewright::inspect
