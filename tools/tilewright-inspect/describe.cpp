// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From bytes to the overview; see describe.h.

#include "describe.h"

#include "code.h"
#include "core/manifest.h"
#include "core/sha256.h"
#include "files.h"
#include "host_elf.h"
#include "host_tensor.h"

namespace tilewright::inspect {

using nlohmann::json;
using run::RunError;
using runtime::Artifact;
using runtime::Status;

namespace {

void check(Status status, const std::string &path) {
  if (status)
    throw RunError(path + ": " + status.message());
}

std::string hashOf(const Artifact::Section &section) {
  return runtime::toHex(runtime::sha256(section.data, section.size));
}

/// What the shared object of the host program says.
json describeHost(const Opened &opened, const json &program) {
  if (!program.contains("host"))
    return nullptr;
  json host = program["host"];
  const Artifact::Section *section =
      opened.artifact->find(host["section"].get<std::string>());
  HostElf elf;
  check(readHostElf(section->data, section->size, elf),
        opened.path + ": section '" + section->name + "'");
  host["bytes"] = section->size;
  host["machine"] = elf.machine;
  host["interface"] = elf.interfaceVersion ? json(elf.interfaceVersion) : json();
  host["imports"] = elf.imports;
  host["needed"] = elf.needed;
  host["exports"] = elf.exports;
  auto sizes = [](const std::vector<NamedCode> &list) {
    json result = json::object();
    for (const NamedCode &code : list)
      result[code.name] = code.end - code.begin;
    return result;
  };
  host["functions"] = sizes(elf.functions);
  host["kernels"] = sizes(elf.kernels);
  return host;
}

/// Adds size and facts of its code to a variant.
void describeVariant(const Opened &opened, const json &host, json &variant) {
  std::string name = variant["name"];
  if (!variant.contains("section")) { // a function of the host program
    if (host.is_object() && host["kernels"].contains(name))
      variant["bytes"] = host["kernels"][name];
    variant["language"] = "native";
    return;
  }
  const Artifact::Section *section =
      opened.artifact->find(variant["section"].get<std::string>());
  KernelCodeFacts facts;
  check(readKernelCode(*section, name, facts), opened.path);
  variant["bytes"] = section->size;
  variant["sha256"] = hashOf(*section);
  variant["language"] = facts.language;
  variant["static_shared"] = facts.staticShared;
  if (!facts.capabilities.empty())
    variant["capabilities"] = facts.capabilities;
}

} // namespace

std::string bytesOf(const Artifact::Section &section) {
  return std::string(reinterpret_cast<const char *>(section.data),
                     section.size);
}

Opened openArtifact(const std::string &path) {
  Opened opened;
  opened.path = path;
  std::string bytes = run::readFile(path, run::kArtifact);
  opened.bytes = bytes.size();
  opened.sha256 = runtime::toHex(runtime::sha256(bytes.data(), bytes.size()));
  check(Artifact::parse(bytes.data(), bytes.size(), opened.artifact), path);
  runtime::Manifest verified;
  check(runtime::parseManifest(*opened.artifact, verified), path);
  const Artifact::Section *section = opened.artifact->find("manifest");
  opened.manifest = json::parse(bytesOf(*section)); // as verified
  return opened;
}

json describe(const Opened &opened) {
  json sections = json::array();
  for (const Artifact::Section &section : opened.artifact->sections())
    sections.push_back({{"name", section.name},
                        {"bytes", section.size},
                        {"sha256", hashOf(section)}});
  json programs = opened.manifest["programs"];
  for (json &program : programs) {
    json host = describeHost(opened, program);
    if (program.contains("dispatches"))
      for (json &dispatch : program["dispatches"])
        for (json &variant : dispatch["variants"])
          describeVariant(opened, host, variant);
    if (!host.is_null())
      program["host"] = std::move(host);
  }
  json result{{"bytes", opened.bytes},
              {"sha256", opened.sha256},
              {"container", 1},
              {"format", opened.manifest["format"]},
              {"sections", std::move(sections)},
              {"programs", std::move(programs)}};
  if (opened.manifest.contains("producer"))
    result["producer"] = opened.manifest["producer"];
  return result;
}

} // namespace tilewright::inspect
