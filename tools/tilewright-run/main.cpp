// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-run: load (or compile), run, check, time, report.

#include "../Common/CommandLine.h"
#include "bench.h"
#include "compare.h"
#include "compile.h"
#include "core/sha256.h"
#include "files.h"
#include "input.h"
#include "kernel.h"
#include "npy.h"
#include "options.h"
#include "origin.h"
#include "print.h"
#include "report.h"
#include "resources.h"
#include "session.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

using namespace tilewright::run;

namespace {

struct Run {
  Options options;
  Report report;
  Handle<tilewright_instance> instance;
  std::string artifact;
  std::string oracle; // another artifact with the reference; empty: the same
  Trace trace;        // outlives the session, which reports to it
  std::unique_ptr<Session> session;
  size_t function = 0;
  std::vector<HostTensor> inputs, outputs;

  ProgramChoice choice(const std::string &device) {
    ProgramChoice result;
    result.trace = options.tracePath.empty() ? nullptr : &trace;
    result.device = device;
    result.externalLibraries = options.externalLibraries;
    result.parameters = options.parameters.empty() ? folderOf(options.program)
                                                   : options.parameters;
    result.verifyParameters = options.verifyParameters;
    result.timeoutNs =
        static_cast<uint64_t>(std::min(options.timeoutSeconds, 1e9) * 1e9);
    return result;
  }
  // Text for people: not into the JSON on stdout.
  void say(const std::string &text) const {
    bool toStdout = !options.json || !options.jsonPath.empty();
    std::fputs(text.c_str(), toStdout ? stdout : stderr);
  }
};

std::vector<tilewright_device_info> listDevices(tilewright_instance *instance) {
  size_t count = 0;
  check(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  check(tilewright_instance_devices(instance, count, infos.data(), &count));
  return infos;
}

void printDevices(tilewright_instance *instance) {
  for (const tilewright_device_info &info : listDevices(instance)) {
    std::printf("%-10s %s%s%s\n", info.name, info.description,
                info.available ? "" : " (not available: ",
                info.available ? "" : (std::string(info.reason) + ")").c_str());
    if (*info.target)
      std::printf("%-10s --target=%s\n", "", info.target);
  }
}

// What "auto" goes through, in order.
std::vector<std::string> candidates(const Run &run) {
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

//===----------------------------------------------------------------------===//
// The artifact
//===----------------------------------------------------------------------===//

// The compiler's target for a device: what the device is best at.
std::string targetFor(Run &run, const std::string &device) {
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

/// True if the oracle says how far a result may be off.
bool needsBounds(const Options &options) {
  return !options.atol && !options.rtol &&
         (!options.check.empty() || !options.expect.empty());
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

// The first candidate that runs a program of the artifact.
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

//===----------------------------------------------------------------------===//
// Running and checking
//===----------------------------------------------------------------------===//

void readInputs(Run &run) {
  tilewright_signature signature = run.session->signature(run.function);
  run.report.function = signature.name;
  for (size_t i = 0; i < run.options.inputs.size(); ++i) {
    tw_dtype wanted = i < signature.num_inputs
                          ? static_cast<tw_dtype>(signature.inputs[i].dtype)
                          : TW_F32;
    const std::string &text = run.options.inputs[i];
    run.inputs.push_back(parseInput(text, i, wanted));
    // Long lists of values are told by their type alone.
    run.report.inputs.push_back(
        text[0] == '@'      ? run.inputs[i].type() + "=" + text
        : text.size() <= 80 ? text
                            : run.inputs[i].type() + "=…");
  }
}

std::string outputName(const tilewright_signature &signature, size_t i) {
  if (i < signature.num_results)
    return "result[" + std::to_string(i) + "]";
  size_t k = i - signature.num_results;
  for (size_t input = 0; input < signature.num_inputs; ++input)
    if (signature.inputs[input].kind == TILEWRIGHT_BUFFER && k-- == 0)
      return "input[" + std::to_string(input) + "]";
  return "output";
}

/// What a line of JSON says of the device, the host and the artifact.
void noteOrigin(Run &run) {
  run.report.host = hostText();
  run.report.time = timeText();
  run.report.uuid = uuidOf(&*run.instance, run.report.device);
  if (!run.session)
    return;
  Origin origin = readOrigin(run.artifact, run.report.target);
  run.report.compiler = origin.compiler;
  // "DISPATCH variant VARIANT grid …"
  for (const std::string &line : run.report.launches) {
    std::istringstream words(line);
    std::string dispatch, word, variant;
    words >> dispatch >> word >> variant;
    auto config = origin.configs.find(variant);
    if (config != origin.configs.end())
      run.report.configs.insert(*config);
  }
}

void runOnce(Run &run) {
  run.session->setTracing(true);
  run.outputs = run.session->run(run.function, run.inputs);
  run.session->setTracing(false);
  run.report.launches = run.session->takeTrace();
  if (run.options.trace)
    for (const std::string &line : run.report.launches)
      std::fprintf(stderr, "%s\n", line.c_str());
  tilewright_signature signature = run.session->signature(run.function);
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    run.report.outputs.push_back({run.outputs[i].type(), {}});
    std::string name = outputName(signature, i) + ": ";
    if (run.options.print)
      run.say(name + tensorText(run.outputs[i], 1024) + "\n");
    else if (run.options.check.empty() && run.options.expect.empty())
      run.say(name + run.outputs[i].type() + "\n");
  }
}

void writeOutputs(const Run &run) {
  if (run.options.outputs.size() > run.outputs.size())
    throw RunError(std::to_string(run.options.outputs.size()) +
                   " --output for " + std::to_string(run.outputs.size()) +
                   " outputs");
  for (size_t i = 0; i < run.options.outputs.size(); ++i)
    writeFile(run.options.outputs[i], formatNpy(run.outputs[i]));
}

// What the oracle gives; empty if the artifact has none.
OracleValues askOracle(Run &run) {
  ProgramChoice choice = run.choice("cpu");
  choice.reference = true;
  bool isOther = !run.oracle.empty();
  Session oracle(&*run.instance, isOther ? run.options.oracle : run.options.program,
                 isOther ? run.oracle : run.artifact, choice);
  return oracle.runOracle(run.report.function, run.inputs);
}

// What the outputs should be, and by how much they may be off; fewer than
// outputs where not all are given.
OracleValues references(Run &run) {
  OracleValues result;
  if (!run.options.expect.empty()) {
    if (run.options.expect.size() > run.outputs.size())
      throw RunError(std::to_string(run.options.expect.size()) +
                     " --expect for " + std::to_string(run.outputs.size()) +
                     " outputs");
    for (size_t i = 0; i < run.options.expect.size(); ++i)
      result.outputs.push_back(parseNpy(run.options.expect[i],
                                        readFile(run.options.expect[i], kArray),
                                        run.outputs[i].dtype));
    return result;
  }
  if (run.options.check == "oracle")
    return askOracle(run);
  Session other(&*run.instance, run.options.program, run.artifact,
                run.choice(run.options.check));
  result.outputs =
      other.run(other.findFunction(run.report.function), run.inputs);
  return result;
}

// The error bounds of the oracle, for a reference that is another device's or a
// file: of each output, or none.
std::vector<std::shared_ptr<const HostTensor>> askBounds(Run &run) {
  bool isFloat = false;
  for (const HostTensor &output : run.outputs)
    isFloat |= output.isFloat();
  try {
    std::vector<std::shared_ptr<const HostTensor>> bounds =
        askOracle(run).bounds;
    if (!bounds.empty() || !isFloat)
      return bounds;
    throw RunError("it has none");
  } catch (const RunError &e) {
    // Integers must be equal as long as nobody says otherwise.
    if (!isFloat)
      return {};
    throw RunError(std::string("the results differ, and the error bounds of a reference program would "
                               "say whether they may: ") +
                   e.what() + "; or name an artifact that has them with --oracle, or give --atol or --rtol");
  }
}

// False if an output differs.
bool checkOutputs(Run &run) {
  if (run.options.check.empty() && run.options.expect.empty()) {
    run.report.verdict = "unchecked";
    return true;
  }
  run.report.check = run.options.check.empty() ? "expect" : run.options.check;
  OracleValues expected = references(run);
  bool byOracle = run.options.check == "oracle", asked = byOracle;
  tilewright_signature signature = run.session->signature(run.function);
  bool good = true;
  for (size_t i = 0; i < expected.outputs.size() && i < run.outputs.size();
       ++i) {
    const HostTensor &reference = expected.outputs[i];
    auto check = [&]() {
      bool hasBounds = i < expected.bounds.size() && needsBounds(run.options);
      return compare(run.outputs[i], reference,
                     hasBounds ? boundedTolerance(expected.bounds[i],
                                                  byOracle ? 1 : 2)
                               : plainTolerance(run.options.atol,
                                                run.options.rtol));
    };
    Comparison result = check();
    // What is equal needs no oracle.
    if (!result.ok && result.problem.empty() && !asked &&
        needsBounds(run.options)) {
      asked = true;
      expected.bounds = askBounds(run);
      result = check();
    }
    run.say(
        describe(outputName(signature, i), run.outputs[i], reference, result));
    good &= result.ok;
    run.report.outputs[i].comparison = std::move(result);
  }
  run.report.verdict = good ? "ok" : "mismatch";
  return good;
}

void timeCalls(Run &run) {
  run.report.bench =
      bench(*run.session, run.function, run.inputs,
            {run.options.benchCount, run.options.benchSeconds,
             run.options.benchFlushCache});
  const BenchResult &b = *run.report.bench;
  std::string text = "median " + durationText(b.medianSeconds) + ", spread " +
                     shortNumber(b.spread * 100) + " %, min " +
                     durationText(b.minSeconds) + ", " +
                     std::to_string(b.count) + " calls, " +
                     shortNumber(b.bytesPerSecond * 1e-9) + " GB/s";
  if (b.flopsPerSecond >= 0)
    text += ", " + shortNumber(b.flopsPerSecond * 1e-9) + " GFLOP/s";
  if (b.enqueueSeconds > 0)
    text += ", " + durationText(b.enqueueSeconds) + " to enqueue";
  run.say(text + " on " + run.report.device + ", verdict " +
          run.report.verdict + "\n");
  double all = 0;
  for (const KernelTime &kernel : b.kernels)
    all += kernel.secondsPerCall;
  for (const KernelTime &kernel : b.kernels)
    run.say("  " + kernel.kernel +
            (kernel.variant == kernel.kernel ? "" : " (" + kernel.variant + ")") +
            ": median " + durationText(kernel.medianSeconds) + ", min " +
            durationText(kernel.minSeconds) + ", " +
            shortNumber(kernel.launchesPerCall) + " launches, " +
            shortNumber(100 * kernel.secondsPerCall / std::max(all, 1e-12)) +
            " % of the kernels' time\n");
}

/// A kernel in .ptx: its buffers are the outputs. False if one differs.
bool runKernelFile(Run &run) {
  KernelRun result = runKernel(run.options, run.trace);
  run.report.device = result.device;
  run.report.description = result.description;
  run.report.function = run.options.entry;
  run.report.inputs = run.options.kernelArguments;
  run.report.check = run.options.expect.empty() ? "" : "expect";
  run.report.verdict = run.options.expect.empty() ? "unchecked" : "ok";
  run.outputs = std::move(result.buffers);
  if (run.options.expect.size() > run.outputs.size())
    throw RunError(std::to_string(run.options.expect.size()) +
                   " --expect for " + std::to_string(run.outputs.size()) +
                   " buffers");
  writeOutputs(run);
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    const HostTensor &got = run.outputs[i];
    std::string name = "argument[" + std::to_string(result.argument[i]) + "]";
    run.report.outputs.push_back({got.type(), {}});
    if (run.options.print)
      run.say(name + ": " + tensorText(got, 1024) + "\n");
    if (i >= run.options.expect.size())
      continue;
    const std::string &path = run.options.expect[i];
    HostTensor expected = parseNpy(path, readFile(path, kArray), got.dtype);
    Comparison comparison =
        compare(got, expected,
                plainTolerance(run.options.atol, run.options.rtol));
    run.say(describe(name, got, expected, comparison));
    if (!comparison.ok)
      run.report.verdict = "mismatch";
    run.report.outputs[i].comparison = std::move(comparison);
  }
  return run.report.verdict != "mismatch";
}

bool runAll(Run &run) {
  run.instance = createInstance();
  if (run.options.listDevices) {
    printDevices(&*run.instance);
    return true;
  }
  run.report.program = run.options.program;
  if (isKernelFile(run.options.program))
    return runKernelFile(run);
  if (!run.options.ofKernels.empty())
    throw RunError(run.options.ofKernels + " is only for kernels in .ptx");
  loadArtifact(run);
  openSession(run);
  run.report.device = run.session->deviceName();
  run.report.description = run.session->deviceDescription();
  run.report.target = run.session->target();
  if (run.options.resources) {
    run.report.verdict = "unchecked";
    run.report.resources = askResources(*run.session);
    run.say(resourceText(run.report.resources));
    return true;
  }
  run.function = run.session->findFunction(run.options.function);
  readInputs(run);
  runOnce(run);
  writeOutputs(run);
  bool good = checkOutputs(run);
  if (run.options.benchCount > 0)
    timeCalls(run);
  return good;
}

void writeReport(Run &run) {
  if (!run.options.json || run.options.listDevices)
    return;
  noteOrigin(run);
  std::string line = toJson(run.report);
  if (run.options.jsonPath.empty())
    std::printf("%s\n", line.c_str());
  else
    appendLine(run.options.jsonPath, line);
}

} // namespace

int main(int argc, char **argv) {
  tilewright::tools::openStandardFiles();
  Run run;
  int exitCode = 0;
  if (!parseOptions(argc, argv, run.options, exitCode))
    return exitCode;
  try {
    try {
      exitCode = runAll(run) ? 0 : 2;
    } catch (const std::exception &e) {
      std::fprintf(stderr, "tilewright-run: error: %s\n", e.what());
      run.report.verdict = "error";
      run.report.error = e.what();
      exitCode = 1;
    }
    writeReport(run);
    if (!run.options.tracePath.empty())
      writeFile(run.options.tracePath, run.trace.toJson());
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw RunError("cannot write to standard output");
  } catch (const std::exception &e) {
    std::fprintf(stderr, "tilewright-run: error: %s\n", e.what());
    exitCode = 1;
  }
  return exitCode;
}
