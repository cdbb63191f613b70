// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Watch.h"

#include "tilewright/Support/Files.h"

#include "CLI/CLI.hpp"

using namespace llvm;
using namespace tilewright;

void declareWatchOptions(CLI::App &app, WatchArguments &arguments) {
  const char *group = "Debugging, IR printing (each also under its name in mlir-opt)";
  WatchOptions &options = arguments.options;
  app.add_option("--print-ir-before,--mlir-print-ir-before",
                 options.printBefore,
                 "print the IR before these stages or passes, on standard error")
      ->delimiter(',')
      ->option_text("STAGE|PASS,...")
      ->group(group);
  app.add_option("--print-ir-after,--mlir-print-ir-after", options.printAfter,
                 "print the IR after them")
      ->delimiter(',')
      ->option_text("STAGE|PASS,...")
      ->group(group);
  app.add_flag("--print-ir-before-all,--mlir-print-ir-before-all",
               options.printBeforeAll, "print the IR before each pass")
      ->group(group);
  app.add_flag("--print-ir-after-all,--mlir-print-ir-after-all",
               options.printAfterAll, "print the IR after each pass")
      ->group(group);
  app.add_flag("--print-ir-after-failure,--mlir-print-ir-after-failure",
               options.printAfterFailure,
               "print the IR that a pass leaves when it fails")
      ->group(group);
  app.add_flag("--timing,--mlir-timing", options.timing,
               "how long each stage, program, pass and kernel took, on standard "
               "error")
      ->group(group);
  app.add_option("--trace", arguments.trace,
                 "write what each thread did when, for ui.perfetto.dev")
      ->option_text("FILE")
      ->group(group);
  app.add_option(
         "--crash-reproducer,--mlir-pass-pipeline-crash-reproducer",
         options.crashReproducer,
         "when a pass fails or the compiler crashes, write the IR in front of "
         "it and the command that runs it again")
      ->option_text("FILE")
      ->group(group);
}

WatchOptions watchOptions(const WatchArguments &arguments) {
  WatchOptions options = arguments.options;
  options.trace = !arguments.trace.empty();
  return options;
}

Error writeWatched(const WatchArguments &arguments,
                   const CompileResult &result) {
  errs() << result.timing;
  if (arguments.trace.empty())
    return Error::success();
  return writeFile(arguments.trace, result.trace);
}
