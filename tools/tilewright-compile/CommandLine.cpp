// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of tilewright-compile, see CommandLine.h.

#include "CommandLine.h"

#include "../Common/CommandLine.h"

#include "tilewright/Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace llvm;
using namespace tilewright;

static const std::map<std::string, EmitKind> kEmitKinds = {
    {"artifact", EmitKind::Artifact},   {"manifest", EmitKind::Manifest},
    {"mlir", EmitKind::MLIR},           {"llvm", EmitKind::LLVM},
    {"ptx", EmitKind::PTX},             {"spirv", EmitKind::SPIRV},
    {"spirv-asm", EmitKind::SPIRVAssembly}, {"asm", EmitKind::Assembly},
    {"cubin", EmitKind::Cubin},         {"object", EmitKind::Object},
    {"header", EmitKind::Header},       {"loops", EmitKind::Loops}};

static const std::map<std::string, LoopKind> kLoopKinds = {
    {"affine", LoopKind::Affine}, {"scf", LoopKind::SCF}};

/// An option that takes one of the words of a table.
template <typename Kind, typename Value>
static CLI::Option *addWord(CLI::App &app, const std::string &name, Value &value,
                            const std::map<std::string, Kind> &words,
                            const std::string &description) {
  return app
      .add_option_function<std::string>(
          name,
          [&value, &words, name](const std::string &word) {
            auto found = words.find(word);
            if (found == words.end())
              throw CLI::ValidationError(
                  name + " does not know '" + word + "'; it takes " +
                  join(map_range(words, [](const auto &entry) { return entry.first; }),
                       ", "));
            value = found->second;
          },
          description)
      ->option_text("KIND");
}

static void declareProgram(CLI::App &app, Arguments &arguments) {
  app.add_option("input", arguments.input,
                 "program.mlir, or - for standard input");
  app.option_defaults()->group("What is compiled");
  app.add_option("--target", arguments.target,
                 "comma list of NAME[:VERSION](+FEATURE[=VALUE])*, see below")
      ->capture_default_str();
  app.add_option("--parameters", arguments.parameters,
                 "parameter file (safetensors) with the constants that the program only "
                 "names; default: the one that the module names, in its folder")
      ->option_text("FILE");
  app.add_option("--start-at", arguments.startAt,
                 "the input is what --dump-stages wrote after the stage before "
                 "this one: go on from there, for the same --target; for stages "
                 "after place, keep the dump of place in the same folder");
}

static void declareOutputs(CLI::App &app, Arguments &arguments) {
  app.option_defaults()->group("Output");
  app.add_option("-o", arguments.output,
                 "where the output goes (- is standard output); raw kinds with "
                 "several files make a directory");
  addWord(app, "--emit", arguments.emit, kEmitKinds,
          "artifact: one file with everything, for tilewright-run "
          "(default)\nmanifest: how to launch each kernel, JSON\nmlir: the "
          "IR in front of the back ends\nllvm: LLVM IR of host programs "
          "and kernels\nptx, spirv, spirv-asm: one file per kernel "
          "variant\nasm: assembly of host programs and CPU kernels\ncubin: "
          "machine code of CUDA kernels, by NVIDIA's ptxas\nobject: one "
          "relocatable object to link into a C or C++ program: the "
          "artifact, host programs, CPU kernels\nheader: the functions "
          "as typed C functions, for that program\nloops: the program "
          "as loops over memrefs, MLIR");
  addWord(app, "--loops", arguments.loops, kLoopKinds,
          "what --emit=loops writes: affine (affine.for, the default) "
          "or scf (scf.for)");
  app.add_option("--name", arguments.name,
                 "prefix of C names of --emit=object and header; default: "
                 "the input's name");
  app.add_flag("--embed-parameters", arguments.embedParameters,
               "copy these constants into the artifact, which then needs no "
               "parameter file (--emit=object always does)");
  app.add_flag("-g", arguments.debugInfo, "line tables in PTX and host code");
  app.add_option("--stop-after", arguments.stopAfter,
                 "stop after a stage and write its IR, see below");
  app.add_option("--dump-stages", arguments.dumpStages,
                 "write the IR after each stage to "
                 "DIR/<program>.<number>-<stage>.mlir");
}

static void declareChoices(CLI::App &app, Arguments &arguments) {
  app.option_defaults()->group("What the code may do");
  app.add_option("--fp", arguments.fp,
                 "allow in floating-point arithmetic: contract (fuse multiply "
                 "and add), ftz (flush denormals), tf32 (round operands of f32 "
                 "matmuls to 11 bits, for matrix units), fast-f8-sums (fp8 sums stay in "
                 "tensor cores, which keep about 14 bits on sm_90), "
                 "winograd (on CPUs, 3 x 3 convolutions of f32 by F(2 x 2, 3 x 3)); "
                 "all off by default")
      ->delimiter(',');
  app.add_option("--asserts", arguments.asserts,
                 "on (default): cf.assert is checked, in bodies of structured "
                 "ops by a separate kernel; off: it is dropped")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--external-blas", arguments.externalBlas,
                 "on CPUs, let a CBLAS library (such as libopenblas.so.0) compute "
                 "f32 and f64 matmuls: the program loads it and calls "
                 "cblas_sgemm and cblas_dgemm, in the library's own threads; --explain "
                 "says which matmuls do not use it, and why")
      ->option_text("LIBRARY");
  app.add_option("--require", arguments.require,
                 "fail, with the reason, if a matmul does not run on: "
                 "matrix-unit")
      ->delimiter(',');
  app.add_option("--config", arguments.config,
                 "JSON with lowering configs for kernels: {\"KERNEL\": "
                 "{\"TARGET\": \"#tilewright.lowering_config<…>\"}}, with kernels "
                 "as --list-configs names them, or LINE:COLUMN of an op in the "
                 "source; TARGET is cuda:sm_80, cuda, or a program's name")
      ->option_text("FILE");
  app.add_option("--tuning", arguments.tuning,
                 "tuning database of tilewright-sweep: kernels without a pinned "
                 "config get the measured best one of their problem; "
                 "--explain says which record decided")
      ->option_text("FILE");
  app.add_option("--tuning-chip", arguments.tuningChip,
                 "use only the records of this chip, if the database has several "
                 "chips")
      ->option_text("NAME");
}

static void declareReports(CLI::App &app, Arguments &arguments) {
  app.option_defaults()->group("Reports");
  app.add_flag("--explain{text}", arguments.explain,
               "say which ops became which kernel, what was decided for each "
               "and why, on standard error; --explain=json for scripts, "
               "--explain=html as a page with a picture");
  app.add_option("--explain-output", arguments.explainOutput,
                 "file for the explanation (for html: default "
                 "<input>.html)")
      ->option_text("FILE");
  app.add_flag("--list-configs", arguments.listConfigs,
               "print the lowering configs that are legal for each kernel, best "
               "first, and stop; --config takes any of them");
  app.add_flag("--resources{text}", arguments.resources,
               "print the resource usage of each CUDA kernel (registers, spills, "
               "stack, shared memory), by NVIDIA's ptxas, on standard error; "
               "--resources=json for scripts. The output stays the same");
  app.add_option("--ptxas", arguments.ptxas,
                 "ptxas for --emit=cubin and --resources; default: on PATH, in "
                 "CUDA_HOME, in /usr/local/cuda");
}

static void declareLists(CLI::App &app, Arguments &arguments) {
  app.option_defaults()->group("Lists (they need no input)");
  app.add_flag("--list-ops", arguments.listOps,
               "list the ops that are compiled, and how");
  app.add_flag("--list-targets", arguments.listTargets,
               "print what --target takes");
  app.add_flag("--list-instructions", arguments.listInstructions,
               "print the targets' matrix instructions, by the names that lowering "
               "configs use, and stop");
}

static void declareProcess(CLI::App &app, Arguments &arguments) {
  app.option_defaults()->group("The process");
  app.add_option("--timeout", arguments.timeout,
                 "give up after so many seconds, with an error and no output; "
                 "default: never")
      ->check(tools::numberFrom(0, false, "a number of seconds above 0"))
      ->option_text("SECONDS");
  app.add_option(
         "--max-memory", arguments.maxMemory,
         "give up if compiling takes more memory than that (500M, 4G), "
         "with an error and no output; default: no limit")
      ->option_text("SIZE");
  app.add_flag("--serial", arguments.serial, "compile without threads");
  app.add_flag("--serve", arguments.serve,
               "compile many times: requests on standard input, one JSON object per line "
               "with input, output, configs (docs/sweeping.md); the other options hold "
               "for all");
  app.add_option("--parent-pid", arguments.parent,
                 "the process that starts this one: end when it ends, even if it "
                 "is killed (for programs that cannot ask for it themselves)")
      ->check(tools::numberFrom(1, true, "the number of a process"))
      ->option_text("PID");
}

void declareOptions(CLI::App &app, Arguments &arguments) {
  declareProgram(app, arguments);
  declareOutputs(app, arguments);
  declareChoices(app, arguments);
  declareReports(app, arguments);
  declareLists(app, arguments);
  declareProcess(app, arguments);
  declareWatchOptions(app, arguments.watch);
}

//===----------------------------------------------------------------------===//
// What the options ask for
//===----------------------------------------------------------------------===//

static Error wrong(const Twine &message) {
  return createStringError(message);
}

static std::string stagePath(StringRef folder, StringRef program, Stage stage) {
  SmallString<128> path(folder);
  sys::path::append(path, program + "." +
                              llvm::formatv("{0,0+2}-", unsigned(stage) + 1) +
                              getStageName(stage) + ".mlir");
  return path.str().str();
}

std::string stagePath(const Arguments &arguments, Stage stage) {
  return stagePath(arguments.dumpStages, sys::path::stem(arguments.input), stage);
}

/// Of --start-at behind stage place: the host programs and the signatures of
/// kernels are in the dump after that stage, beside the input.
static Expected<std::string> readPlaced(StringRef input) {
  StringRef program = sys::path::stem(input).rsplit('.').first;
  std::string path =
      stagePath(sys::path::parent_path(input), program, Stage::Place);
  Expected<std::unique_ptr<MemoryBuffer>> text = readProgram(path);
  if (!text)
    return wrong("--start-at takes the host program from the dump after stage place, "
                 "beside the input: " +
                 toString(text.takeError()));
  return (*text)->getBuffer().str();
}

static Expected<std::optional<Stage>> readStage(StringRef option,
                                                const std::string &name) {
  if (name.empty())
    return std::nullopt;
  if (std::optional<Stage> stage = lookupStage(name))
    return stage;
  return wrong(option + " does not know '" + name + "'; --help lists the stages");
}

static Error readStages(const Arguments &arguments, CompileOptions &options) {
  if (Error error =
          readStage("--stop-after", arguments.stopAfter).moveInto(options.stopAfter))
    return error;
  if (Error error = readStage("--start-at", arguments.startAt).moveInto(options.startAt))
    return error;
  if (!options.startAt)
    return Error::success();
  if (options.stopAfter && *options.stopAfter < *options.startAt)
    return wrong("--stop-after is a stage in front of --start-at");
  if (*options.startAt <= Stage::Place)
    return Error::success();
  return readPlaced(arguments.input).moveInto(options.placed);
}

/// The text of a file that an option names, if it does.
static Error readText(const std::string &path, std::string &text) {
  if (path.empty())
    return Error::success();
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return wrong("cannot read '" + path + "': " + file.getError().message());
  text = (*file)->getBuffer().str();
  return Error::success();
}

/// `words`, each of which has to be one of those that `option` knows.
static Error checkWords(StringRef option, ArrayRef<std::string> words,
                        ArrayRef<StringRef> known) {
  for (const std::string &word : words)
    if (!is_contained(known, word))
      return wrong(option + " does not know '" + word + "'; it takes " +
                   join(known, ", "));
  return Error::success();
}

/// Host code of the reference takes no library.
static bool hasCpuTarget(StringRef targets) {
  for (StringRef target : split(targets, ','))
    if (target == "cpu" || target.starts_with("cpu:") || target.starts_with("cpu+"))
      return true;
  return false;
}

/// What would change nothing is no good, or meant for something else.
static Error checkUse(const Arguments &arguments) {
  if (!arguments.tuningChip.empty() && arguments.tuning.empty())
    return wrong("--tuning-chip is only for --tuning");
  if (arguments.loops && arguments.emit != EmitKind::Loops)
    return wrong("--loops is only for --emit=loops");
  if (!arguments.stopAfter.empty() && arguments.emit != EmitKind::Artifact &&
      arguments.emit != EmitKind::MLIR)
    return wrong("--stop-after writes the IR of a stage, which is no other --emit");
  if (!arguments.explainOutput.empty() && arguments.explain.empty())
    return wrong("--explain-output is only for --explain");
  if (!arguments.externalBlas.empty() && !hasCpuTarget(arguments.target))
    return wrong("--external-blas is only for a target cpu; --target is " +
                 arguments.target);
  if (arguments.serve && !(arguments.input.empty() && arguments.output.empty()))
    return wrong("--serve takes inputs and outputs in its requests, none here");
  if (!arguments.parameters.empty() && !sys::fs::exists(arguments.parameters))
    return wrong("--parameters: cannot read '" + arguments.parameters +
                 "': No such file or directory");
  return Error::success();
}

Expected<CompileOptions> readOptions(const Arguments &arguments) {
  if (Error error = checkUse(arguments))
    return error;
  CompileOptions options;
  options.targets = arguments.target;
  options.parameters = arguments.parameters;
  options.emit = arguments.emit;
  options.loops = arguments.loops.value_or(LoopKind::Affine);
  options.symbolPrefix = arguments.name;
  options.embedParameters = arguments.embedParameters;
  options.debugInfo = arguments.debugInfo;
  options.fp = arguments.fp;
  options.asserts = arguments.asserts == "on";
  options.externalBlas = arguments.externalBlas;
  options.require = arguments.require;
  options.configsName = arguments.config;
  options.tuningName = arguments.tuning;
  options.tuningChip = arguments.tuningChip;
  options.explain = !arguments.explain.empty();
  options.listConfigs = arguments.listConfigs;
  options.resources = !arguments.resources.empty();
  options.ptxas = arguments.ptxas;
  options.parallel = !arguments.serial;
  options.watch = watchOptions(arguments.watch);

  if (options.resources && arguments.resources != "text" &&
      arguments.resources != "json")
    return wrong("--resources takes text or json");
  if (options.explain && arguments.explain != "text" &&
      arguments.explain != "json" && arguments.explain != "html")
    return wrong("--explain takes text, json or html");
  if (Error error = checkWords(
          "--fp", options.fp, {"contract", "ftz", "tf32", "fast-f8-sums", "winograd"}))
    return error;
  if (Error error = checkWords("--require", options.require, {"matrix-unit"}))
    return error;
  if (Error error = readText(arguments.config, options.configs))
    return error;
  if (Error error = readText(arguments.tuning, options.tuning))
    return error;
  if (Error error = readStages(arguments, options))
    return error;
  return options;
}

Expected<std::string> outputPath(const Arguments &arguments) {
  if (!arguments.output.empty() || arguments.listConfigs)
    return arguments.output;
  if (!arguments.stopAfter.empty())
    return "-";
  std::string stem = sys::path::stem(arguments.input).str();
  switch (arguments.emit) {
  case EmitKind::MLIR:
  case EmitKind::Manifest:
  case EmitKind::Header:
  case EmitKind::Loops:
    return "-";
  case EmitKind::Artifact:
    return stem + ".tw";
  case EmitKind::Object:
    return stem + ".o";
  default:
    return wrong("-o is missing: where shall the files go?");
  }
}
