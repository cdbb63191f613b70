// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where, when and of what a figure is; see origin.h.

#include "origin.h"
#include "session.h"

#include "core/artifact.h"

#include <ctime>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>

namespace tilewright::run {

using Json = nlohmann::json;

/// The manifest, an object without members where there is none.
static Json readManifest(const std::string &artifact) {
  std::shared_ptr<const runtime::Artifact> container;
  if (runtime::Artifact::parse(artifact.data(), artifact.size(), container))
    return Json::object();
  const runtime::Artifact::Section *manifest = container->find("manifest");
  if (!manifest)
    return Json::object();
  Json root =
      Json::parse(manifest->data, manifest->data + manifest->size, nullptr,
                  /*allow_exceptions=*/false);
  return root.is_object() ? root : Json::object();
}

bool hasParameters(const std::string &artifact) {
  return readManifest(artifact).contains("parameters");
}

Origin readOrigin(const std::string &artifact, const std::string &target) {
  Origin origin;
  // The runtime has accepted it; a member that is missing is one that is not
  // said.
  Json root = readManifest(artifact);
  origin.compiler = root.value("producer", "");
  for (const Json &program : root.value("programs", Json::array())) {
    if (program.value("target", "") != target)
      continue;
    for (const Json &dispatch : program.value("dispatches", Json::array()))
      for (const Json &variant : dispatch.value("variants", Json::array()))
        if (variant.contains("config"))
          origin.configs[variant.value("name", "")] =
              variant.value("config", "");
  }
  return origin;
}

std::string hostText() {
  utsname system;
  if (uname(&system) != 0)
    return "";
  return std::string(system.nodename) + ", " + system.sysname + " " +
         system.release + " " + system.machine;
}

std::string timeText() {
  std::time_t now = std::time(nullptr);
  std::tm utc;
  char text[32];
  if (!gmtime_r(&now, &utc) ||
      !std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
    return "";
  return text;
}

std::string uuidOf(tilewright_instance *instance, const std::string &device) {
  size_t count = 0;
  check(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  check(tilewright_instance_devices(instance, count, infos.data(), &count));
  for (const tilewright_device_info &info : infos)
    if (info.available && device == info.name)
      return info.uuid;
  return "";
}

} // namespace tilewright::run
