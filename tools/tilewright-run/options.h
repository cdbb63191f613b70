// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line.
#ifndef TILEWRIGHT_RUN_OPTIONS_H
#define TILEWRIGHT_RUN_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::run {

struct Options {
  std::string program;
  std::string device = "auto";
  bool listDevices = false;
  bool resources = false; // ask what kernels take; nothing runs
  std::string predict; // a chip: predict times there; nothing runs
  std::string function;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs; // paths
  bool print = false;
  std::string check;               // "oracle" or a device
  std::string oracle;              // path of an artifact
  std::vector<std::string> expect; // paths
  std::optional<double> atol, rtol;
  int64_t benchCount = 0; // 0: no timing
  bool json = false;
  std::string jsonPath; // empty: stdout
  bool trace = false;    // lines on stderr
  std::string tracePath; // a trace file; empty: none
  double benchSeconds = 0;      // measured at least; 0: benchCount decides
  bool benchFlushCache = false; // before each call
  double timeoutSeconds = 600;
  std::string target;
  std::vector<std::string> compileArguments;
  std::vector<std::string> externalLibraries;
  std::string parameters; // path; empty: beside the program
  bool verifyParameters = false;

  // Of a PTX file: see kernel.h.
  std::string ofKernels; // the first such option that was given
  std::string entry; // empty: the only one
  std::string grid = "1", block = "1", cluster = "1";
  uint32_t shared = 0; // dynamic shared memory, bytes
  std::vector<std::string> kernelArguments;
};

/// False, with `exitCode`, when there is nothing more to do (help, version, a
/// wrong option, which has been reported).
bool parseOptions(int argc, char **argv, Options &options, int &exitCode);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_OPTIONS_H
