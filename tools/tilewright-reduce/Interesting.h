// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a program interesting: how the compiler or a run of it ends. Every
// try is a child process with a time limit.

#ifndef TILEWRIGHT_TOOLS_REDUCE_INTERESTING_H
#define TILEWRIGHT_TOOLS_REDUCE_INTERESTING_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

struct Question {
  enum Kind {
    Fails,    // the compiler says an error that contains `text`
    Crashes,  // the compiler dies
    Hangs,    // the compiler does not end within `seconds`
    Differs,  // device and check disagree (tilewright-run's exit code 2)
    Script    // `text` FILE ends with exit code 0
  } kind = Fails;
  std::string text;
  std::string compiler, runner; // programs
  std::string target;
  std::vector<std::string> compileArguments, runArguments;
  std::string device, check;
  int64_t dim = 7; // what ? is at run time
  unsigned seconds = 60;
};

/// Ends the search, with what was found so far. For signals.
void interrupt();
bool isInterrupted();

/// Asks about programs; remembers nothing.
class Interesting {
public:
  explicit Interesting(Question question) : question(std::move(question)) {}
  ~Interesting();

  /// Empty if the answer is yes, else why not, for the first try.
  std::string whyNot(mlir::ModuleOp module, llvm::StringRef text);

private:
  struct Ended {
    int code = 0; // -1: not started, -2: killed by a signal
    bool timedOut = false;
    std::string output;
  };
  std::string path(llvm::StringRef name);
  Ended run(llvm::StringRef program, llvm::ArrayRef<std::string> arguments);
  Ended compile(llvm::StringRef input, llvm::StringRef output);
  std::string ask(mlir::ModuleOp module, llvm::StringRef text);
  std::string whyNotDiffering(mlir::ModuleOp module, llvm::StringRef input);

  Question question;
  std::string folder;
};

#endif
