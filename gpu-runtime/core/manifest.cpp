// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the manifest, program by program; see manifest_parts.h for what is in one.

#include "core/manifest.h"

#include "core/manifest_parts.h"

namespace tilewright::runtime {

using namespace manifest_parts;

namespace {

Status readRequirements(const JsonCursor &json, ProgramDesc &result) {
  if (Status s = json.object())
    return s;
  for (const std::string &key : json.json().keys) {
    JsonCursor value = json[key.c_str()];
    int64_t number;
    if (value.json().is(JsonValue::Kind::Boolean))
      number = value.json().boolean;
    else if (Status s = value.integer(INT64_MIN, INT64_MAX, number))
      return s;
    result.requirements.emplace_back(key, number);
  }
  return Status::ok();
}

template <typename T, typename Read>
Status readList(const JsonCursor &parent, const char *key,
                std::vector<T> &result, Read read) {
  if (!parent.has(key))
    return Status::ok();
  JsonCursor list = parent[key];
  if (Status s = list.array(kMaxItems))
    return s;
  result.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (Status s = read(list[i], result.emplace_back()))
      return s;
  return Status::ok();
}

Status readLibrary(const JsonCursor &json, LibraryDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  return readList(json, "functions", result.functions,
                  [](const JsonCursor &item, std::string &name) { return item.string(name); });
}

Status readParameterFile(const JsonCursor &root, std::string &result) {
  if (!root.has("parameters"))
    return Status::ok();
  if (Status s = root["parameters"].object())
    return s;
  JsonCursor file = root["parameters"]["file"];
  if (Status s = file.string(result))
    return s;
  return result.find('/') == std::string::npos
             ? Status::ok()
             : file.error("expected a name without a folder");
}

Status readProgram(const JsonCursor &json, const Artifact &artifact,
                   ProgramDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["target"].string(result.target))
    return s;
  if (Status s = json["driver"].string(result.driver))
    return s;
  if (json.has("reference"))
    if (Status s = json["reference"].boolean(result.reference))
      return s;
  if (json.has("requires"))
    if (Status s = readRequirements(json["requires"], result))
      return s;
  if (json.has("host")) {
    JsonCursor host = json["host"];
    if (Status s = host.object())
      return s;
    if (Status s = readSection(host["section"], artifact, result.hostSection))
      return s;
    if (host.has("triple"))
      if (Status s = host["triple"].string(result.hostTriple))
        return s;
  }
  if (Status s = readList(json, "functions", result.functions, readFunction))
    return s;
  if (Status s = readList(json, "libraries", result.libraries, readLibrary))
    return s;
  if (json.has("at_load"))
    if (Status s = readList(json, "at_load", result.loadFunctions, readLoadFunction))
      return s;
  if ((!result.functions.empty() || !result.loadFunctions.empty()) &&
      result.hostSection.empty())
    return json.error("has functions but no host program");
  if (Status s = readList(json, "constants", result.constants,
                          [&](const JsonCursor &item, ConstantDesc &desc) {
                            return readConstant(item, artifact, result.loadFunctions,
                                                desc);
                          }))
    return s;
  for (const ConstantDesc &constant : result.constants)
    if (!constant.parameter.empty() && result.parameterFile.empty())
      return json["constants"].error("has parameter '" + constant.parameter +
                                     "', but the manifest names no file");
  return readList(json, "dispatches", result.dispatches,
                  [&](const JsonCursor &item, DispatchDesc &desc) {
                    return readDispatch(item, artifact, result.driver != "cpu",
                                        desc);
                  });
}

} // namespace

Status parseManifest(const Artifact &artifact, Manifest &result) {
  const Artifact::Section *section = artifact.find("manifest");
  if (!section)
    return corruptArtifact("the artifact has no section 'manifest'");
  JsonValue json;
  if (Status s = parseJson(
          "manifest",
          std::string_view(reinterpret_cast<const char *>(section->data),
                           section->size),
          json))
    return s;
  JsonCursor root(json, "");
  if (!json.is(JsonValue::Kind::Object))
    return corruptArtifact("manifest: expected a JSON object");
  int64_t format;
  if (Status s = root["format"].integer(0, INT64_MAX, format))
    return std::move(s).in("manifest");
  if (format != kManifestFormat)
    return unsupported("manifest has format " + std::to_string(format) +
                       "; this runtime reads format " +
                       std::to_string(kManifestFormat));
  Manifest manifest;
  if (root.has("producer"))
    if (Status s = root["producer"].string(manifest.producer))
      return std::move(s).in("manifest");
  if (Status s = readParameterFile(root, manifest.parameterFile))
    return std::move(s).in("manifest");
  JsonCursor programs = root["programs"];
  if (Status s = programs.array(kMaxPrograms))
    return std::move(s).in("manifest");
  for (size_t i = 0; i < programs.size(); ++i) {
    ProgramDesc &program = manifest.programs.emplace_back();
    program.parameterFile = manifest.parameterFile;
    if (Status s = readProgram(programs[i], artifact, program))
      return std::move(s).in("manifest");
  }
  result = std::move(manifest);
  return Status::ok();
}

} // namespace tilewright::runtime
