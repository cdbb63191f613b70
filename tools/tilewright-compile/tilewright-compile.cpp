// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-compile: a thin front of the compiler library.

#include "Explain.h"
#include "Limits.h"
#include "Output.h"
#include "Resources.h"
#include "Serve.h"
#include "Watch.h"
#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Support/Files.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "CLI/CLI.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

using namespace llvm;
using namespace tilewright;

namespace {
/// The command line.
struct Arguments {
  std::string input, output, target = CompileOptions().targets;
  EmitKind emit = EmitKind::Artifact;
  std::vector<std::string> fp;
  std::string asserts = "on";
  std::string externalBlas;
  std::vector<std::string> require;
  std::string stopAfter, startAt, dumpStages, explain, explainOutput;
  std::string name, resources, ptxas, maxMemory, config, tuning, tuningChip, parameters;
  LoopKind loops = LoopKind::Affine;
  int64_t parent = 0;
  bool listTargets = false, listConfigs = false, listInstructions = false, listOps = false, debugInfo = false, serial = false, serve = false, embedParameters = false;
  double timeout = 0;
  WatchArguments watch;
};
} // namespace

static const std::map<std::string, EmitKind> kEmitKinds = {
    {"artifact", EmitKind::Artifact},   {"manifest", EmitKind::Manifest},
    {"mlir", EmitKind::MLIR},           {"llvm", EmitKind::LLVM},
    {"ptx", EmitKind::PTX},             {"spirv", EmitKind::SPIRV},
    {"spirv-asm", EmitKind::SPIRVAssembly}, {"asm", EmitKind::Assembly},
    {"cubin", EmitKind::Cubin},         {"object", EmitKind::Object},
    {"header", EmitKind::Header},       {"loops", EmitKind::Loops}};

static const std::map<std::string, LoopKind> kLoopKinds = {
    {"affine", LoopKind::Affine}, {"scf", LoopKind::SCF}};

static void declareOptions(CLI::App &app, Arguments &arguments) {
  app.add_option("input", arguments.input,
                 "program.mlir, or - for standard input");
  app.add_option("-o", arguments.output,
                 "where the output goes (- is standard output); raw kinds with "
                 "several results make a directory");
  app.add_option("--target", arguments.target,
                 "comma list of NAME[:VERSION](+FEATURE[=VALUE])*, see below")
      ->capture_default_str();
  app.add_option("--emit", arguments.emit,
                 "artifact: one file with everything, for tilewright-run "
                 "(default)\nmanifest: how to launch each kernel, JSON\nmlir: the "
                 "IR in front of the back ends\nllvm: LLVM IR of host programs "
                 "and kernels\nptx, spirv, spirv-asm: one file per kernel "
                 "variant\nasm: assembly of host programs and CPU kernels\ncubin: "
                 "machine code of CUDA kernels, by NVIDIA's ptxas\nobject: one "
                 "relocatable object to link into a C or C++ program: the "
                 "artifact, host programs, CPU kernels\nheader: the functions "
                 "as typed C functions, for that program\nloops: the program "
                 "as loops over memrefs, MLIR")
      ->transform(CLI::Transformer(kEmitKinds).description(""))
      ->option_text("KIND");
  app.add_option("--loops", arguments.loops,
                 "what --emit=loops writes: affine (affine.for, the default) "
                 "or scf (scf.for)")
      ->transform(CLI::Transformer(kLoopKinds).description(""))
      ->option_text("KIND");
  app.add_option("--name", arguments.name,
                 "what C names of --emit=object and header begin with; default "
                 "is the input's name");
  app.add_flag("--resources{text}", arguments.resources,
               "say what each CUDA kernel takes: registers, spills, stack, "
               "shared memory, as NVIDIA's ptxas counts; on standard error; "
               "--resources=json for programs. The output stays the same");
  app.add_option("--ptxas", arguments.ptxas,
                 "ptxas for --emit=cubin and --resources; default: on PATH, in "
                 "CUDA_HOME, in /usr/local/cuda");
  app.add_option("--parameters", arguments.parameters,
                 "parameter file (safetensors) with the constants that the text has "
                 "by name only; default: the one that the module names, beside it")
      ->option_text("FILE");
  app.add_flag("--embed-parameters", arguments.embedParameters,
               "copy these constants into the artifact, which then needs no "
               "parameter file (--emit=object always does)");
  app.add_option("--fp", arguments.fp,
                 "allow in floating-point arithmetic: contract (fuse multiply "
                 "and add), ftz (flush denormals), tf32 (round operands of f32 "
                 "products to 11 bits, for matrix units), fast-f8-sums (sums of 8-bit "
                 "floats stay in tensor cores, which keep about 14 bits on sm_90), "
                 "winograd (on CPUs, 3 x 3 convolutions of f32 by F(2 x 2, 3 x 3)); "
                 "all off by default")
      ->delimiter(',');
  app.add_option("--asserts", arguments.asserts,
                 "on (default): what cf.assert says is checked, in bodies of "
                 "structured ops by a kernel of its own; off: nothing is")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--external-blas", arguments.externalBlas,
                 "on CPUs, let a library with CBLAS (libopenblas.so.0, say) compute "
                 "products of f32 and f64 matrices: the program loads it and calls "
                 "cblas_sgemm and cblas_dgemm, in the library's own threads; --explain "
                 "says which products do not go there, and why")
      ->option_text("LIBRARY");
  app.add_option("--require", arguments.require,
                 "fail, with the reason, where a product does not run on: "
                 "matrix-unit")
      ->delimiter(',');
  app.add_option("--stop-after", arguments.stopAfter,
                 "stop after a stage and write its IR, see below");
  app.add_option("--dump-stages", arguments.dumpStages,
                 "write the IR after each stage to "
                 "DIR/<program>.<number>-<stage>.mlir");
  app.add_option("--start-at", arguments.startAt,
                 "the input is what --dump-stages wrote after the stage before "
                 "this one: go on from there, for the same --target; behind "
                 "place, the dump after place has to lie beside it");
  app.add_flag("--explain{text}", arguments.explain,
               "say which ops became which kernel, what was decided for each "
               "and why, on standard error; --explain=json for programs, "
               "--explain=html as a page with a picture");
  app.add_option("--explain-output", arguments.explainOutput,
                 "where the explanation goes instead (a page: default "
                 "<input>.html)")
      ->option_text("FILE");
  app.add_flag("--list-configs", arguments.listConfigs,
               "print the lowering configs that fit each kernel, best first, "
               "and stop; any of them can be given back by --config");
  app.add_option("--config", arguments.config,
                 "JSON with lowering configs that kernels shall have: {\"KERNEL\": "
                 "{\"TARGET\": \"#tilewright.lowering_config<…>\"}}, with kernels "
                 "as --list-configs names them, or LINE:COLUMN of an op in the "
                 "source; TARGET is cuda:sm_80, cuda, or a program's name")
      ->option_text("FILE");
  app.add_option("--tuning", arguments.tuning,
                 "tuning database, as tilewright-sweep writes it: kernels that have "
                 "no pinned config get the measured best of their problem; "
                 "--explain says which record decided")
      ->option_text("FILE");
  app.add_option("--tuning-chip", arguments.tuningChip,
                 "take only the records of this chip, where the database has those "
                 "of several")
      ->option_text("NAME");
  app.add_flag("--list-ops", arguments.listOps,
               "list the ops of tensor programs that are compiled, and how");
  app.add_flag("--list-instructions", arguments.listInstructions,
               "print the matrix instructions that the targets have, by the names "
               "that lowering configs give, and stop; needs no input");
  app.add_flag("--serve", arguments.serve,
               "compile many times: requests on standard input, a JSON object a line "
               "with input, output, configs (docs/sweeping.md); the other options hold "
               "for all");
  app.add_flag("--list-targets", arguments.listTargets,
               "print what --target takes and what it gives, and stop; needs no "
               "input");
  app.add_flag("-g", arguments.debugInfo, "line tables in PTX and host code");
  app.add_flag("--serial", arguments.serial, "compile without threads");
  app.add_option("--parent-pid", arguments.parent,
                 "the process that starts this one: end when it ends, even if it "
                 "is killed (for programs that cannot ask for it themselves)")
      ->check(CLI::PositiveNumber)
      ->option_text("PID");
  app.add_option("--timeout", arguments.timeout,
                 "give up after so many seconds, with an error and no output; "
                 "default: never")
      ->check(CLI::PositiveNumber)
      ->option_text("SECONDS");
  app.add_option(
         "--max-memory", arguments.maxMemory,
         "give up where compiling takes more memory than that (500M, 4G), "
         "with an error and no output; default: no limit")
      ->option_text("SIZE");
  declareWatchOptions(app, arguments.watch);
}

/// Of --dump-stages.
static std::string stagePath(StringRef folder, StringRef program, Stage stage) {
  SmallString<128> path(folder);
  sys::path::append(path, program + "." +
                              llvm::formatv("{0,0+2}-", unsigned(stage) + 1) +
                              getStageName(stage) + ".mlir");
  return path.str().str();
}
static std::string stagePath(const Arguments &arguments, Stage stage) {
  return stagePath(arguments.dumpStages, sys::path::stem(arguments.input),
                   stage);
}

/// Of --start-at behind stage place: the host programs and the signatures of
/// kernels are in the dump after that stage, beside the input.
static Expected<std::string> readPlaced(StringRef input) {
  StringRef program = sys::path::stem(input).rsplit('.').first;
  std::string path =
      stagePath(sys::path::parent_path(input), program, Stage::Place);
  Expected<std::unique_ptr<MemoryBuffer>> text = readProgram(path);
  if (!text)
    return createStringError(
        std::errc::invalid_argument,
        "--start-at takes the host program from the dump after stage place, "
        "beside the input: %s",
        toString(text.takeError()).c_str());
  return (*text)->getBuffer().str();
}

static int complain(const Twine &message) {
  errs() << "tilewright-compile: error: " << message << "\n";
  return 1;
}

/// Writes what --explain asks for; text and JSON go to standard error unless
/// --explain-output names a file, a page beside the working folder's other
/// outputs.
static Error writeExplanation(const Arguments &arguments,
                              const ExplainInput &input) {
  if (arguments.explain.empty())
    return Error::success();
  std::string text = arguments.explain == "json"   ? explainJson(input)
                     : arguments.explain == "html" ? explainHtml(input)
                                                   : explainText(input);
  std::string path = arguments.explainOutput;
  if (path.empty() && arguments.explain == "html")
    path = (sys::path::stem(input.name) + ".html").str();
  if (!path.empty())
    return writeFile(path, text);
  errs() << text;
  return Error::success();
}

static std::string moreHelp() {
  std::string text;
  raw_string_ostream os(text);
  os << "\nTargets (default " << CompileOptions().targets << "):\n  "
     << getTargetSyntax() << "\n\nStages, in order:\n";
  for (Stage stage : getStages())
    os << "  " << getStageName(stage) << std::string(12 - getStageName(stage).size(), ' ')
       << getStageSummary(stage) << "\n";
  os << "\nExamples:\n"
        "  tilewright-compile mlp.mlir -o mlp.tw\n"
        "  tilewright-compile mlp.mlir --target=cuda:sm_90a --emit=ptx -o ptx/\n"
        "  tilewright-compile mlp.mlir --target=cuda:sm_90a --emit=cubin -o cubin/\n"
        "  tilewright-compile mlp.mlir --emit=object -o mlp.o\n"
        "  tilewright-compile mlp.mlir --emit=header -o mlp.h\n"
        "  tilewright-compile mlp.mlir --target=vulkan+subgroup=32 --stop-after=tile -o -\n";
  return text;
}

static int listInstructions(const Arguments &arguments) {
  std::string error;
  std::optional<std::string> text =
      tilewright::listInstructions(arguments.target, error);
  if (!text)
    return complain(error);
  outs() << *text;
  return 0;
}

/// Also true of a zombie, which is there until its own parent asks for it.
static bool hasEnded(pid_t process) {
  if (kill(process, 0) != 0)
    return errno == ESRCH;
  auto stat = MemoryBuffer::getFileAsStream("/proc/" + Twine(process) + "/stat");
  if (!stat)
    return false;
  // "12 (name) Z …"; a name may have anything in it.
  StringRef state = (*stat)->getBuffer().rsplit(')').second.ltrim();
  return state.starts_with("Z") || state.starts_with("X");
}

/// A killed parent cannot stop its children; the kernel can.
static void endWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before the request. What stands between it and this
  // process, a script or a debugger, is the parent that counts then.
  if (getppid() != parent && hasEnded(parent))
    std::exit(1);
}

static int run(const Arguments &arguments) {
  if (arguments.parent)
    endWithParent(static_cast<pid_t>(arguments.parent));
  std::optional<uint64_t> maxMemory = parseMemorySize(arguments.maxMemory);
  if (!maxMemory && !arguments.maxMemory.empty())
    return complain("--max-memory takes a size such as 500M or 4G, not '" +
                    arguments.maxMemory + "'");
  auto limits = std::make_unique<Limits>(
      "tilewright-compile", arguments.timeout, maxMemory.value_or(0));
  if (arguments.listTargets) {
    outs() << getTargetSyntax("\n") << "\n";
    return 0;
  }
  if (arguments.listOps) {
    outs() << listOps();
    return 0;
  }
  if (arguments.listInstructions)
    return listInstructions(arguments);
  if (arguments.input.empty() && !arguments.serve)
    return complain("input is required; --help lists the options");
  const std::string &input = arguments.input;

  CompileOptions options;
  options.targets = arguments.target;
  options.emit = arguments.emit;
  options.debugInfo = arguments.debugInfo;
  options.explain = !arguments.explain.empty();
  options.listConfigs = arguments.listConfigs;
  options.parallel = !arguments.serial;
  options.loops = arguments.loops;
  options.symbolPrefix = arguments.name;
  options.ptxas = arguments.ptxas;
  options.parameters = arguments.parameters;
  options.embedParameters = arguments.embedParameters;
  for (auto [path, text] : {std::pair(&arguments.config, &options.configs),
                            std::pair(&arguments.tuning, &options.tuning)}) {
    if (path->empty())
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(*path);
    if (!file)
      return complain("cannot read '" + *path + "': " + file.getError().message());
    *text = (*file)->getBuffer().str();
  }
  options.configsName = arguments.config;
  options.tuningName = arguments.tuning;
  options.tuningChip = arguments.tuningChip;
  options.resources = !arguments.resources.empty();
  if (options.resources && arguments.resources != "text" &&
      arguments.resources != "json")
    return complain("--resources takes text or json");
  options.watch = watchOptions(arguments.watch);
  options.asserts = arguments.asserts == "on";
  options.externalBlas = arguments.externalBlas;
  for (const std::string &flag : arguments.fp) {
    if (flag != "contract" && flag != "ftz" && flag != "tf32" &&
        flag != "fast-f8-sums" && flag != "winograd")
      return complain("--fp does not know '" + flag +
                      "'; it takes contract, ftz, tf32, fast-f8-sums, winograd");
    options.fp.push_back(flag);
  }
  for (const std::string &unit : arguments.require) {
    if (unit != "matrix-unit")
      return complain("--require does not know '" + unit +
                      "'; it takes matrix-unit");
    options.require.push_back(unit);
  }
  if (options.explain && arguments.explain != "text" &&
      arguments.explain != "json" && arguments.explain != "html")
    return complain("--explain takes text, json or html");
  if (!arguments.stopAfter.empty()) {
    options.stopAfter = lookupStage(arguments.stopAfter);
    if (!options.stopAfter)
      return complain("--stop-after does not know '" + arguments.stopAfter +
                      "'; --help lists the stages");
  }
  if (!arguments.startAt.empty()) {
    options.startAt = lookupStage(arguments.startAt);
    if (!options.startAt)
      return complain("--start-at does not know '" + arguments.startAt +
                      "'; --help lists the stages");
    if (options.stopAfter && *options.stopAfter < *options.startAt)
      return complain("--stop-after is a stage in front of --start-at");
    if (*options.startAt > Stage::Place) {
      Expected<std::string> placed = readPlaced(input);
      if (!placed)
        return complain(toString(placed.takeError()));
      options.placed = std::move(*placed);
    }
  }
  if (arguments.serve)
    return serve(options);
  Expected<std::unique_ptr<MemoryBuffer>> source = readProgram(input);
  if (!source)
    return complain(toString(source.takeError()));
  std::string dumpError;
  if (!arguments.dumpStages.empty()) {
    if (std::error_code code =
            sys::fs::create_directories(arguments.dumpStages))
      return complain("cannot make '" + arguments.dumpStages +
                      "': " + code.message());
    options.onStage = [&](Stage stage, StringRef text) {
      if (Error error =
              writeFile(stagePath(arguments, stage), text))
        dumpError = toString(std::move(error));
    };
  }
  std::string path = arguments.output;
  if (path.empty() && !arguments.listConfigs) {
    if (options.stopAfter || options.emit == EmitKind::MLIR ||
        options.emit == EmitKind::Manifest ||
        options.emit == EmitKind::Header || options.emit == EmitKind::Loops)
      path = "-";
    else if (options.emit == EmitKind::Artifact)
      path = (sys::path::stem(input) + ".tw").str();
    else if (options.emit == EmitKind::Object)
      path = (sys::path::stem(input) + ".o").str();
    else
      return complain("-o is missing: where shall the files go?");
  }

  CompileResult result =
      compile((*source)->getBuffer(), input == "-" ? "<stdin>" : input, options);
  errs() << result.diagnostics;
  ExplainInput explained{input == "-" ? "stdin" : sys::path::filename(input).str(),
                         (*source)->getBuffer(),
                         result, {}};
  if (!arguments.dumpStages.empty())
    for (Stage stage : getStages())
      explained.stages.emplace_back(
          getStageName(stage),
          stagePath(arguments, stage));
  if (Error error = writeExplanation(arguments, explained))
    return complain(toString(std::move(error)));
  if (Error error = writeWatched(arguments.watch, result))
    return complain(toString(std::move(error)));
  if (!result.succeeded)
    return 1;
  if (options.resources || options.emit == EmitKind::Cubin)
    printResources(errs(), result.resources, arguments.resources == "json");
  if (!dumpError.empty())
    return complain(dumpError);
  if (arguments.listConfigs) {
    for (const KernelExplanation &kernel : result.configs) {
      outs() << kernel.program << " " << kernel.kernel << "\n";
      for (const std::string &line : kernel.lines)
        outs() << "  " << line << "\n";
    }
    return 0;
  }
  // What is compiled is written to the end.
  limits.reset();
  if (Error error = writeOutputs(path, result.outputs))
    return complain(toString(std::move(error)));
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  CLI::App app("Compiles structured operations (linalg in .mlir) for GPUs and "
               "CPUs.",
               "tilewright-compile");
  Arguments arguments;
  declareOptions(app, arguments);
  app.set_version_flag("--version",
                       "tilewright " + getVersion() + ", LLVM " LLVM_VERSION_STRING,
                       "print the version and stop");
  app.footer(moreHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) { // --help
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return complain(std::string(error.what()) + "; --help lists the options");
  }
  return run(arguments);
}
