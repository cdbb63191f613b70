// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-run: load (or compile), run, check, time, report.

#include "../Common/CommandLine.h"
#include "bench.h"
#include "input.h"
#include "kernel.h"
#include "npy.h"
#include "origin.h"
#include "print.h"
#include "predict.h"
#include "resources.h"
#include "run.h"

#include <sstream>

using namespace tilewright::run;

namespace {

void printDevices(tilewright_instance *instance) {
  for (const tilewright_device_info &info : listDevices(instance)) {
    std::printf("%-10s %s%s%s\n", info.name, info.description,
                info.available ? "" : " (not available: ",
                info.available ? "" : (std::string(info.reason) + ")").c_str());
    if (*info.target)
      std::printf("%-10s --target=%s\n", "", info.target);
  }
}

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
      if (!run.options.predict.empty())
        return predict(run.options) ? 0 : 1;
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
