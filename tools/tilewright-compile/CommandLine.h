// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of tilewright-compile: what it takes, and what that asks of the
// compiler. Options that look on are in Watch.h.

#ifndef TILEWRIGHT_TOOLS_COMPILE_COMMANDLINE_H
#define TILEWRIGHT_TOOLS_COMPILE_COMMANDLINE_H

#include "Watch.h"
#include "tilewright/Compiler/Compiler.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// As given, but for kinds, which are read at once.
struct Arguments {
  std::string input, output, target = tilewright::CompileOptions().targets;
  tilewright::EmitKind emit = tilewright::EmitKind::Artifact;
  std::vector<std::string> fp;
  std::string asserts = "on";
  std::string externalBlas;
  std::vector<std::string> require;
  std::string stopAfter, startAt, dumpStages, explain, explainOutput;
  std::string name, resources, ptxas, maxMemory, config, tuning, tuningChip, parameters;
  std::optional<tilewright::LoopKind> loops;
  int64_t parent = 0;
  bool listTargets = false, listConfigs = false, listInstructions = false;
  bool listOps = false, debugInfo = false, serial = false, serve = false;
  bool embedParameters = false;
  double timeout = 0;
  WatchArguments watch;
};

void declareOptions(CLI::App &app, Arguments &arguments);

/// What they ask of the compiler; files that they name are read. Not the program, and not
/// what has to do with the process.
llvm::Expected<tilewright::CompileOptions> readOptions(const Arguments &arguments);

/// Where --dump-stages writes the IR after a stage.
std::string stagePath(const Arguments &arguments, tilewright::Stage stage);

/// Where the output goes: -o, or what its kind and the program's name say.
llvm::Expected<std::string> outputPath(const Arguments &arguments);

#endif
