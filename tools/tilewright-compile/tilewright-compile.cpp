// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-compile: a thin front of the compiler library.

#include "../Common/CommandLine.h"
#include "CommandLine.h"
#include "Explain.h"
#include "Limits.h"
#include "Output.h"
#include "Resources.h"
#include "Serve.h"
#include "tilewright/Compiler/Compiler.h"
#include "tilewright/Support/Files.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

using namespace llvm;
using namespace tilewright;

static int complain(const Twine &message) {
  errs() << "tilewright-compile: error: " << message << "\n";
  return 1;
}
static int complain(Error error) { return complain(toString(std::move(error))); }

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

static int print(StringRef text) {
  Error error = writeFile("-", text);
  return error ? complain(std::move(error)) : 0;
}

/// The lists that are asked for, one after the other.
static int printLists(const Arguments &arguments) {
  std::string text;
  if (arguments.listTargets)
    text += getTargetSyntax("\n") + "\n";
  if (arguments.listOps)
    text += listOps();
  if (arguments.listInstructions) {
    std::string error;
    std::optional<std::string> found = listInstructions(arguments.target, error);
    if (!found)
      return complain(error);
    text += *found;
  }
  return print(text);
}

static int printConfigs(const CompileResult &result) {
  std::string text;
  for (const KernelExplanation &kernel : result.configs) {
    text += kernel.program + " " + kernel.kernel + "\n";
    for (const std::string &line : kernel.lines)
      text += "  " + line + "\n";
  }
  return print(text);
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

/// "in.mlir: error: …", where the compiler says "in.mlir:0:0: error: …" of what is no
/// place in the text, an option say.
static std::string withoutLineZero(StringRef diagnostics, StringRef input) {
  std::string place = (input + ":0:0: ").str(), text;
  for (StringRef line : split(diagnostics, '\n')) {
    if (!text.empty() || line.data() != diagnostics.data())
      text += '\n';
    if (line.consume_front(place))
      text += (input + ": ").str();
    text += line;
  }
  return text;
}

/// Reads, compiles, writes. Limits hold until everything is there to be written.
static int compileProgram(const Arguments &arguments, CompileOptions &options,
                          std::unique_ptr<Limits> limits) {
  const std::string &input = arguments.input;
  Expected<std::unique_ptr<MemoryBuffer>> source = readProgram(input);
  if (!source)
    return complain(source.takeError());
  if ((*source)->getBuffer().starts_with("TILEWRT\x01"))
    return complain("'" + input + "' is a compiled artifact; tilewright-run runs it, "
                                  "tilewright-inspect shows what is in it");
  Expected<std::string> path = outputPath(arguments);
  if (!path)
    return complain(path.takeError());
  std::string dumpError;
  if (!arguments.dumpStages.empty()) {
    if (std::error_code code = createFolders(arguments.dumpStages))
      return complain("cannot make '" + arguments.dumpStages + "': " + code.message());
    options.onStage = [&](Stage stage, StringRef text) {
      if (Error error = writeFile(stagePath(arguments, stage), text))
        dumpError = toString(std::move(error));
    };
  }

  CompileResult result =
      compile((*source)->getBuffer(), input == "-" ? "<stdin>" : input, options);
  errs() << withoutLineZero(result.diagnostics, input);
  ExplainInput explained{input == "-" ? "stdin" : sys::path::filename(input).str(),
                         (*source)->getBuffer(),
                         result, {}};
  if (!arguments.dumpStages.empty())
    for (Stage stage : getStages())
      explained.stages.emplace_back(getStageName(stage), stagePath(arguments, stage));
  if (Error error = writeExplanation(arguments, explained))
    return complain(std::move(error));
  if (Error error = writeWatched(arguments.watch, result))
    return complain(std::move(error));
  if (!result.succeeded)
    return 1;
  if (options.resources || options.emit == EmitKind::Cubin)
    printResources(errs(), result.resources, arguments.resources == "json");
  if (!dumpError.empty())
    return complain(dumpError);
  if (arguments.listConfigs)
    return printConfigs(result);
  // What is compiled is written to the end.
  limits.reset();
  if (Error error = writeOutputs(*path, result.outputs))
    return complain(std::move(error));
  return 0;
}

static int run(const Arguments &arguments) {
  if (arguments.parent)
    endWithParent(static_cast<pid_t>(arguments.parent));
  std::optional<uint64_t> maxMemory = parseMemorySize(arguments.maxMemory);
  if (!maxMemory && !arguments.maxMemory.empty())
    return complain("--max-memory takes a size such as 500M or 4G, not '" +
                    arguments.maxMemory + "'");
  auto limits = std::make_unique<Limits>("tilewright-compile", arguments.timeout,
                                         maxMemory.value_or(0));
  if (arguments.listTargets || arguments.listOps || arguments.listInstructions)
    return printLists(arguments);
  if (arguments.input.empty() && !arguments.serve)
    return complain("input is required; --help lists the options");
  Expected<CompileOptions> options = readOptions(arguments);
  if (!options)
    return complain(options.takeError());
  return arguments.serve ? serve(*options)
                         : compileProgram(arguments, *options, std::move(limits));
}

int main(int argc, char **argv) {
  tools::openStandardFiles();
  InitLLVM init(argc, argv);
  CLI::App app("Compiles structured operations (linalg in .mlir) for GPUs and "
               "CPUs.",
               "tilewright-compile");
  Arguments arguments;
  app.set_version_flag("--version",
                       "tilewright " + getVersion() + ", LLVM " LLVM_VERSION_STRING,
                       "print the version and stop");
  declareOptions(app, arguments);
  app.footer(moreHelp);
  try {
    tools::parse(app, argc, argv);
  } catch (const CLI::Success &success) { // --help
    return tools::finish(app, success);
  } catch (const CLI::ParseError &error) {
    return complain(std::string(error.what()) + "; --help lists the options");
  }
  return run(arguments);
}
