// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-reduce: the command line.

#include "../Common/CommandLine.h"
#include "Reducer.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Support/Files.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace mlir;

namespace {
struct Arguments {
  std::string input, output = "-", fails, script;
  bool crashes = false, hangs = false;
  Question question;
};
} // namespace

static const char *const kExamples =
    "\nExamples:\n"
    "  tilewright-reduce big.mlir --fails='is not supported' -o small.mlir\n"
    "  tilewright-reduce big.mlir --crashes --target=vulkan -o small.mlir\n"
    "  tilewright-reduce big.mlir --hangs --limit=20 -o small.mlir\n"
    "  tilewright-reduce big.mlir --device=vulkan --check=oracle -o small.mlir\n"
    "  tilewright-reduce big.mlir --script=./interesting.sh -o small.mlir\n";

static void declare(CLI::App &app, Arguments &arguments) {
  Question &question = arguments.question;
  app.add_option("input", arguments.input, "program.mlir")->required();
  app.add_option("-o", arguments.output,
                 "where the small program goes (default: standard output)");
  const char *kinds = "What is interesting (one of these)";
  auto *fails = app.add_option("--fails", arguments.fails,
                               "the compiler's error contains this text")
                    ->group(kinds);
  auto *crashes =
      app.add_flag("--crashes", arguments.crashes, "the compiler dies")
          ->group(kinds);
  auto *hangs = app.add_flag("--hangs", arguments.hangs,
                             "the compiler does not end within --limit")
                    ->group(kinds);
  auto *check = app.add_option("--check", question.check,
                               "the result on --device differs from this "
                               "device's, or from the oracle's")
                    ->group(kinds);
  auto *script = app.add_option("--script", arguments.script,
                                "this program, given the path of a .mlir, ends "
                                "with exit code 0")
                     ->group(kinds);
  fails->excludes(crashes, hangs, check, script);
  crashes->excludes(hangs, check, script);
  hangs->excludes(check, script);
  check->excludes(script);
  app.add_option("--device", question.device, "the device under --check");
  app.add_option("--dim", question.dim, "what a ? is in runs")
      ->capture_default_str()
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--target", question.target,
                 "of tilewright-compile (default: its own; under --check what "
                 "the two devices need)");
  app.add_option("--compile-arg", question.compileArguments,
                 "further argument for tilewright-compile")
      ->allow_extra_args(false);
  app.add_option("--run-arg", question.runArguments,
                 "further argument for tilewright-run")
      ->allow_extra_args(false);
  app.add_option("--limit", question.seconds, "seconds for each try")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_option("--compiler", question.compiler,
                 "instead of the tilewright-compile beside this program");
  app.add_option("--runner", question.runner,
                 "instead of the tilewright-run beside this program");
  app.footer(kExamples);
}

static int complain(const Twine &message) {
  llvm::errs() << "tilewright-reduce: error: " << message << "\n";
  return 1;
}

/// The target that a device of tilewright-run takes.
static std::string targetOf(StringRef device) {
  StringRef driver = device.take_until([](char c) { return c == ':'; });
  if (driver == "oracle")
    return "cpu-reference";
  if (driver == "cuda" || driver == "ptxsim")
    return "cuda:sm_80";
  return driver.str();
}

/// Fills in what the command line left open, or says what is missing.
static std::string complete(Arguments &arguments, const char *self) {
  Question &question = arguments.question;
  question.kind = arguments.crashes            ? Question::Crashes
                  : arguments.hangs            ? Question::Hangs
                  : !question.check.empty()    ? Question::Differs
                  : !arguments.script.empty()  ? Question::Script
                                               : Question::Fails;
  question.text =
      question.kind == Question::Script ? arguments.script : arguments.fails;
  if (question.kind == Question::Fails && question.text.empty())
    return "what is interesting? one of --fails, --crashes, --hangs, --check, "
           "--script";
  if (question.kind == Question::Differs) {
    if (question.device.empty())
      return "--check needs --device";
    if (question.target.empty()) {
      question.target = targetOf(question.device);
      std::string other = targetOf(question.check);
      if (other != question.target)
        question.target += "," + other;
    }
  }
  std::string here = llvm::sys::path::parent_path(
                         llvm::sys::fs::getMainExecutable(
                             self, reinterpret_cast<void *>(&complain)))
                         .str();
  if (question.compiler.empty())
    question.compiler = here + "/tilewright-compile";
  if (question.runner.empty())
    question.runner = here + "/tilewright-run";
  // Paths as they are; names through PATH.
  for (std::string *program :
       {&question.compiler, &question.runner,
        question.kind == Question::Script ? &question.text : nullptr})
    if (program && !StringRef(*program).contains('/'))
      if (auto found = llvm::sys::findProgramByName(*program))
        *program = *found;
  return "";
}

/// Whether the small program can be written, before anything is tried.
static llvm::Error checkOutput(StringRef path) {
  if (path == "-")
    return llvm::Error::success();
  StringRef folder = llvm::sys::path::parent_path(path);
  std::error_code code;
  if (llvm::sys::fs::is_directory(path))
    code = std::make_error_code(std::errc::is_a_directory);
  else if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    code = llvm::sys::fs::access(path, llvm::sys::fs::AccessMode::Write);
  else
    code = llvm::sys::fs::access(folder.empty() ? "." : folder,
                                 llvm::sys::fs::AccessMode::Write);
  if (!code)
    return llvm::Error::success();
  return llvm::createStringError(code, "cannot write '" + path + "': " + code.message());
}

/// Writes the small program, which has cost much: where it cannot be written, it is printed.
static int finish(const Arguments &arguments, StringRef text) {
  llvm::Error failed = tilewright::writeFile(arguments.output, text);
  if (!failed)
    return 0;
  complain(llvm::toString(std::move(failed)) + "; this is the smallest so far:");
  if (arguments.output == "-" || tilewright::writeFile("-", text))
    llvm::errs() << text;
  return 1;
}

static int reduce(const Arguments &arguments) {
  if (llvm::Error error = checkOutput(arguments.output))
    return complain(llvm::toString(std::move(error)));
  auto source = tilewright::readProgram(arguments.input);
  if (!source)
    return complain(llvm::toString(source.takeError()));
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<tilewright::TilewrightDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Interesting interesting(arguments.question);
  std::string error;
  auto keep = [&](StringRef text) {
    // The last one says what is wrong.
    if (arguments.output != "-")
      llvm::consumeError(tilewright::writeFile(arguments.output, text));
  };
  llvm::sys::SetInterruptFunction(interrupt);
  std::string text = Reducer(context, interesting, arguments.question.dim, keep)
                         .reduce((*source)->getBuffer(), error);
  if (text.empty())
    return isInterrupted() ? 130
                           : complain("'" + arguments.input + "' is not interesting as it is: " +
                                      StringRef(error).trim());
  int code = finish(arguments, text);
  if (isInterrupted())
    llvm::errs() << "tilewright-reduce: interrupted; this is the smallest so far\n";
  return isInterrupted() ? 130 : code;
}

int main(int argc, char **argv) {
  tilewright::tools::openStandardFiles();
  llvm::InitLLVM init(argc, argv);
  // Whoever reads what is printed may end first: that is an interrupt like others, and
  // what is printed after it is nobody's. No SIG_IGN, which the compiler would inherit.
  std::signal(SIGPIPE, [](int) { interrupt(); });
  CLI::App app("Makes a program that shows a fault as small as it gets: one on "
               "which the compiler\nfails, crashes or hangs, or on which two "
               "devices disagree.",
               "tilewright-reduce");
  Arguments arguments;
  declare(app, arguments);
  try {
    tilewright::tools::parse(app, argc, argv);
  } catch (const CLI::Success &success) { // --help
    return tilewright::tools::finish(app, success);
  } catch (const CLI::ParseError &error) {
    return complain(std::string(error.what()) + "; --help lists the options");
  }
  std::string missing = complete(arguments, argv[0]);
  int code = missing.empty() ? reduce(arguments) : complain(missing);
  llvm::errs().clear_error(); // LLVM's end of the program would be an abort
  return code;
}
