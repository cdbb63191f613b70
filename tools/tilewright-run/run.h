// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of the tool, and its steps: the artifact, the inputs, the calls, the check.
#ifndef TILEWRIGHT_TOOLS_RUN_RUN_H
#define TILEWRIGHT_TOOLS_RUN_RUN_H

#include "compare.h"
#include "files.h"
#include "options.h"
#include "report.h"
#include "session.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace tilewright::run {

/// What the steps of a run share.
struct Run {
  Options options;
  Report report;
  Handle<tilewright_instance> instance;
  std::string artifact;
  std::string oracle; // another artifact with the reference; empty: the same
  Trace trace;        // outlives the session, which reports to it
  std::unique_ptr<Session> session;
  size_t function = 0;
  std::vector<HostTensor> inputs, outputs;

  ProgramChoice choice(const std::string &device) {
    ProgramChoice result;
    result.trace = options.tracePath.empty() ? nullptr : &trace;
    result.device = device;
    result.externalLibraries = options.externalLibraries;
    result.parameters = options.parameters.empty() ? folderOf(options.program)
                                                   : options.parameters;
    result.verifyParameters = options.verifyParameters;
    result.timeoutNs =
        static_cast<uint64_t>(std::min(options.timeoutSeconds, 1e9) * 1e9);
    return result;
  }
  /// Text for people: not into the JSON on stdout.
  void say(const std::string &text) const {
    bool toStdout = !options.json || !options.jsonPath.empty();
    std::fputs(text.c_str(), toStdout ? stdout : stderr);
  }
};

// artifact.cpp
/// All devices of this machine.
std::vector<tilewright_device_info> listDevices(tilewright_instance *instance);
/// Reads the artifact, or compiles one for the device, and what checks need.
void loadArtifact(Run &run);
/// On the first device that runs a program of the artifact.
void openSession(Run &run);

// check.cpp
/// True if the oracle says how far a result may be off.
bool needsBounds(const Options &options);
/// "result[0]", or "input[1]" of a buffer that the function writes.
std::string outputName(const tilewright_signature &signature, size_t i);
/// False if an output differs.
bool checkOutputs(Run &run);

} // namespace tilewright::run

#endif // TILEWRIGHT_TOOLS_RUN_RUN_H
