// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The artifact of a run, read or compiled for the device, and the device that runs it.

#include "run.h"

#include "compile.h"
#include "core/sha256.h"
#include "origin.h"

#include <map>

namespace tilewright::run {

std::vector<tilewright_device_info> listDevices(tilewright_instance *instance) {
  size_t count = 0;
  check(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  check(tilewright_instance_devices(instance, count, infos.data(), &count));
  return infos;
}

// What "auto" goes through, in order.
static std::vector<std::string> candidates(const Run &run) {
  if (run.options.device != "auto")
    return {run.options.device};
  std::map<int32_t, std::string> names;
  for (const tilewright_device_info &info : listDevices(&*run.instance))
    if (info.automatic)
      names[info.automatic] = info.name;
  std::vector<std::string> result;
  for (const auto &[place, name] : names)
    result.push_back(name);
  return result;
}

// The compiler's target for a device: what the device is best at.
static std::string targetFor(Run &run, const std::string &device) {
  std::string driver = device.substr(0, device.find(':'));
  if (driver == "cpu")
    return driver;
  if (driver == "vulkan") {
    for (const tilewright_device_info &info : listDevices(&*run.instance))
      if (*info.target &&
          info.name == (device == driver ? device + ":0" : device))
        return info.target;
    return driver;
  }
  tilewright_device *opened = nullptr;
  check(tilewright_device_open(&*run.instance, device.c_str(), &opened));
  int64_t sm = tilewright_device_fact(opened, "sm");
  tilewright_device_release(opened);
  if (sm <= 0)
    throw RunError("device " + device +
                   " does not say what it is; name a --target");
  // From Hopper on, the matrix instructions need the chip-specific variant.
  return "cuda:sm_" + std::to_string(sm) + (sm >= 90 ? "a" : "");
}

void loadArtifact(Run &run) {
  const Options &options = run.options;
  if (!endsWith(options.program, ".mlir")) {
    if (!options.compileArguments.empty())
      throw RunError("--compile-arg is only for programs in .mlir");
    run.artifact = readFile(options.program, kArtifact);
  } else {
    CompileRequest request;
    request.input = options.program;
    request.arguments = options.compileArguments;
    request.targets = options.target;
    request.parameters = options.parameters;
    std::vector<std::string> devices = candidates(run);
    if (request.targets.empty() && !devices.empty())
      request.targets = targetFor(run, devices[0]);
    std::vector<std::string> more;
    if (!options.check.empty() && options.check != "oracle")
      more.push_back(targetFor(run, options.check));
    if (options.check == "oracle" || needsBounds(options))
      more.push_back("cpu-reference");
    for (const std::string &target : more)
      if (("," + request.targets + ",").find("," + target + ",") ==
          std::string::npos)
        request.targets += "," + target;
    run.artifact = compileCached(request);
    // What was compiled for --target may be several programs: any serves.
    run.options.target.clear();
  }
  if (!options.oracle.empty()) {
    if (options.check.empty() && options.expect.empty())
      throw RunError("--oracle goes with --check or --expect");
    run.oracle = readFile(options.oracle, kArtifact);
  }
  if ((!options.parameters.empty() || options.verifyParameters) && !hasParameters(run.artifact))
    std::fprintf(stderr,
                 "tilewright-run: note: %s takes no parameters from a file: %s changes nothing\n",
                 options.program.c_str(),
                 options.parameters.empty() ? "--verify-parameters" : "--parameters");
  run.report.artifact = tilewright::runtime::toHex(
      tilewright::runtime::sha256(run.artifact.data(), run.artifact.size()));
}

void openSession(Run &run) {
  std::string reasons;
  for (const std::string &device : candidates(run)) {
    try {
      ProgramChoice choice = run.choice(device);
      choice.target = run.options.target;
      choice.runs = !run.options.resources;
      // A reference program can be run by name.
      choice.reference = run.options.target.substr(0, 13) == "cpu-reference";
      run.session =
          std::make_unique<Session>(&*run.instance, run.options.program, run.artifact, choice);
      return;
    } catch (const RunError &e) {
      if (run.options.device != "auto")
        throw;
      reasons += std::string("\n  ") + device + ": " + e.what();
    }
  }
  throw RunError("no device runs a program of " + run.options.program +
                 (reasons.empty() ? ": there is none" : ":" + reasons));
}

} // namespace tilewright::run
