// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line; see options.h.

#include "options.h"

#include "../Common/CommandLine.h"
#include "tilewright/tilewright.h"

#include <cstdlib>

namespace tilewright::run {

using tools::numberFrom;

namespace {

// "@file.npy" or "file.npy".
std::string pathOf(const std::string &text) {
  return !text.empty() && text[0] == '@' ? text.substr(1) : text;
}

/// What is read on, once all of the command line is there.
struct Given {
  std::string bench, json, trace;
  double atol = 0, rtol = 0;
  int threads = 0;
  CLI::Option *atolOption = nullptr, *rtolOption = nullptr, *threadsOption = nullptr;
};

constexpr const char *kOfKernels = "Kernels in .ptx (devices cuda and ptxsim)";

void addCall(CLI::App &app, Options &options) {
  app.add_option("PROGRAM", options.program, "artifact (.tw), .mlir, or a kernel in .ptx");
  app.add_option("--device", options.device,
                 "auto (cuda, then vulkan, then cpu; vulkan on a CPU last), cpu, cuda[:i], "
                 "vulkan[:i], ptxsim")
      ->capture_default_str();
  app.add_flag("--list-devices", options.listDevices,
               "list every device, and why others are missing");
  app.add_flag("--resources", options.resources,
               "print what the program's kernels take of the device (registers, spills, "
               "shared memory), as its driver says; nothing runs");
  app.add_option("--predict", options.predict,
                 "print predicted times on a chip that is not here (a100, h100, ...), not measured "
                 "ones; with --device=ptxsim, by the tilewright-sweep beside this program, which "
                 "needs Python 3.8")
      ->option_text("CHIP");
  app.add_option("--function", options.function,
                 "function to call (default: the only one, or main)");
  app.add_option("--input", options.inputs,
                 "one per input: 4x4xf32=1 2 …, 4x4xf32=0.5, "
                 "4x4xf32=random[:seed[:deviation]], 4x4xi8=int:LO:HI[:seed], @file.npy, "
                 "f32=3")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--output", options.outputs,
                 "one per output, to write: @file.npy (results, then inputs "
                 "written in place)")
      ->allow_extra_args(false);
  app.add_flag("--print", options.print, "print the outputs");
}

void addChecks(CLI::App &app, Options &options, Given &given) {
  app.add_option("--check", options.check,
                 "compare with the reference program (oracle) or with another "
                 "device");
  app.add_option("--oracle", options.oracle,
                 "artifact with the reference program for --check and --expect, where "
                 "it is not the program itself (another version of it, say)");
  app.add_option("--expect", options.expect,
                 "one per output, to compare with: @file.npy")
      ->allow_extra_args(false);
  const CLI::Validator tolerance = numberFrom(0, true, "a number, 0 or more");
  given.atolOption =
      app.add_option("--atol", given.atol, "absolute tolerance")->check(tolerance);
  given.rtolOption =
      app.add_option("--rtol", given.rtol, "relative tolerance")->check(tolerance);
}

void addMeasurements(CLI::App &app, Options &options, Given &given) {
  app.add_flag("--bench{20}", given.bench, "time N calls (--bench=N; default 20)");
  app.add_option("--bench-seconds", options.benchSeconds,
                 "with --bench: go on until the calls have taken that long")
      ->check(numberFrom(0, true, "a number of seconds, 0 or more"));
  app.add_flag("--bench-flush-cache", options.benchFlushCache,
               "with --bench: empty the device's caches before each call");
  given.threadsOption =
      app.add_option("--threads", given.threads,
                     "threads of the device cpu (default: TILEWRIGHT_CPU_THREADS, or the "
                     "processors that this process may run on and has a quota of)")
          ->check(CLI::Range(1, 4096));
  app.add_flag("--json{-}", given.json,
               "write one line of JSON to stdout, or append it to a file "
               "(--json=FILE); see the README beside this tool's source");
  app.add_flag("--trace{-}", given.trace,
               "say on stderr which kernels were launched; --trace=FILE writes "
               "what the runtime and the device did and when, for "
               "ui.perfetto.dev");
  app.add_option("--timeout", options.timeoutSeconds,
                 "seconds to wait for a device before it is given up")
      ->capture_default_str()
      ->check(numberFrom(0, false, "a number of seconds above 0"));
}

void addProgram(CLI::App &app, Options &options) {
  app.add_option("--target", options.target,
                 "of an artifact: the target to run; of .mlir: what to compile "
                 "for (default: the device)");
  app.add_option("--compile-arg", options.compileArguments,
                 "further argument for tilewright-compile")
      ->allow_extra_args(false);
  app.add_option("--external-lib", options.externalLibraries,
                 "shared library that defines what the program imports")
      ->allow_extra_args(false);
  app.add_option("--parameters", options.parameters,
                 "parameter file (safetensors) of the program, or a folder with the file "
                 "that it names (default: the folder of the program)")
      ->option_text("FILE");
  app.add_flag("--verify-parameters", options.verifyParameters,
               "fail where a parameter has other values than the program was compiled "
               "with (by SHA-256)");
}

void addKernels(CLI::App &app, Options &options) {
  app.add_option("--entry", options.entry,
                 "kernel to launch (default: the only one)")
      ->group(kOfKernels);
  app.add_option("--grid", options.grid, "blocks: X, X,Y or X,Y,Z")
      ->capture_default_str()
      ->group(kOfKernels);
  app.add_option("--block", options.block, "threads per block: X, X,Y or X,Y,Z")
      ->capture_default_str()
      ->group(kOfKernels);
  app.add_option("--cluster", options.cluster,
                 "blocks per cluster: X, X,Y or X,Y,Z")
      ->capture_default_str()
      ->group(kOfKernels);
  app.add_option("--shared", options.shared, "bytes of dynamic shared memory")
      ->group(kOfKernels);
  app.add_option("--arg", options.kernelArguments,
                 "one per parameter, as --input: with dims or @file.npy a "
                 "buffer (TYPE=undefined: one that nothing has written), "
                 "without a scalar; struct:{f32:1.5,i32:3,[8xf32=random]}, "
                 "bytes:00ff, bytes:@file, "
                 "tensormap:box=64x64:swizzle=128:256x320xf16 by value "
                 "(by=address: of a map in memory; lower=-1x-1:upper=-1x-1: of images); --output, --expect and "
                 "--print are for the buffers, in order")
      ->allow_extra_args(false)
      ->group(kOfKernels);
}

/// Throws where a value is none that the option takes.
void readGiven(const Given &given, Options &options) {
  if (given.atolOption->count())
    options.atol = given.atol;
  if (given.rtolOption->count())
    options.rtol = given.rtol;
  // The driver asks for it when the device is opened.
  if (given.threadsOption->count())
    setenv("TILEWRIGHT_CPU_THREADS", std::to_string(given.threads).c_str(), /*overwrite=*/1);
  if (!given.bench.empty()) {
    char *end = nullptr;
    options.benchCount = std::strtoll(given.bench.c_str(), &end, 10);
    if (*end || options.benchCount < 1 || options.benchCount > 1000000)
      throw CLI::ValidationError(
          "--bench", "'" + given.bench + "'; expected a number from 1 to 1000000");
  } else if (options.benchSeconds > 0 || options.benchFlushCache) {
    throw CLI::ValidationError(
        "--bench-seconds and --bench-flush-cache", "go with --bench");
  }
  options.json = !given.json.empty();
  options.jsonPath = given.json == "-" ? "" : given.json;
  options.trace = given.trace == "-";
  options.tracePath = given.trace == "-" ? "" : given.trace;
  for (std::string &path : options.outputs)
    path = pathOf(path);
  for (std::string &path : options.expect)
    path = pathOf(path);
}

/// Throws where options do not go together.
void checkTogether(const Options &options) {
  if (options.program.empty() && !options.listDevices)
    throw CLI::RequiredError("PROGRAM");
  if (options.resources &&
      (options.benchCount > 0 || !options.inputs.empty() || !options.check.empty() ||
       !options.expect.empty() || !options.outputs.empty()))
    throw CLI::ValidationError("--resources", "runs nothing: it goes without --input, --output, "
                                              "--check, --expect and --bench");
  if (!options.predict.empty() && options.device != "ptxsim")
    throw CLI::ValidationError("--predict", "counts what the simulator does: say --device=ptxsim, too");
  if (!options.predict.empty() &&
      (options.benchCount > 0 || options.resources || options.json || !options.inputs.empty() ||
       !options.function.empty() || !options.check.empty() || !options.expect.empty() ||
       !options.outputs.empty()))
    throw CLI::ValidationError("--predict", "predicts all kernels of a program, whose artifact has "
                                            "their sizes, and gives no results: it goes without "
                                            "--function, --input, --output, --check, --expect, "
                                            "--bench, --resources and --json");
  if (!options.check.empty() && !options.expect.empty())
    throw CLI::ValidationError("--check", "expected either --check or "
                                          "--expect");
}

} // namespace

bool parseOptions(int argc, char **argv, Options &options, int &exitCode) {
  CLI::App app("Runs a function of a compiled program, checks and times it.\n"
               "Given .mlir, compiles it first with the tilewright-compile "
               "beside this program.\n"
               "Exit code: 0 good, 1 error, 2 a check found a difference or could check nothing.",
               "tilewright-run");
  app.set_version_flag("--version",
                       std::string("tilewright-run ") + tilewright_version());
  Given given;
  addCall(app, options);
  addChecks(app, options, given);
  addMeasurements(app, options, given);
  addProgram(app, options);
  addKernels(app, options);
  try {
    tools::parse(app, argc, argv);
    for (const CLI::Option *option : app.get_options())
      if (option->get_group() == kOfKernels && option->count() && options.ofKernels.empty())
        options.ofKernels = option->get_name();
    readGiven(given, options);
    checkTogether(options);
  } catch (const CLI::ParseError &e) {
    exitCode = tools::finish(app, e);
    return false;
  }
  return true;
}

} // namespace tilewright::run
