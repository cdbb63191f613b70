// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running the cases of one artifact; see cases.h.

#include "cases.h"

#include "files.h"
#include "fill.h"
#include "verdict.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace tilewright::e2e {

using nlohmann::json;
using run::HostTensor;
using run::RunError;
using run::Session;

namespace {

const char *const oracleName = "oracle";

struct Program {
  tilewright_instance *instance;
  std::string folder, artifact;
  uint64_t timeoutNs;
  std::map<std::string, std::unique_ptr<Session>> sessions;
  std::map<std::string, std::string> broken; // why a session did not open

  Session &session(const std::string &device) {
    if (auto it = broken.find(device); it != broken.end())
      throw RunError(it->second);
    std::unique_ptr<Session> &session = sessions[device];
    if (!session) {
      run::ProgramChoice choice;
      choice.reference = device == oracleName;
      choice.device = choice.reference ? "cpu" : device;
      choice.timeoutNs = timeoutNs;
      try {
        session = std::make_unique<Session>(instance, /*path=*/"", artifact, choice);
      } catch (const RunError &error) {
        broken[device] = error.what();
        throw;
      }
    }
    return *session;
  }
};

// What a case expects, computed when first needed.
struct Expectation {
  std::vector<HostTensor> oracle, golden;
  std::vector<std::shared_ptr<const HostTensor>> bounds;
};

/// The elements alone, as f64.
const run::FileKind kGolden = {"golden", uint64_t(1) << 30};

std::vector<HostTensor> readGoldens(const Program &program,
                                    const json &testCase,
                                    const std::vector<HostTensor> &outputs) {
  std::vector<HostTensor> goldens;
  for (const json &path : testCase.value("golden", json::array())) {
    if (goldens.size() >= outputs.size())
      throw RunError("more goldens than outputs");
    HostTensor golden = run::makeTensor(TW_F64, outputs[goldens.size()].dims);
    std::string bytes =
        run::readFile(program.folder + "/" + path.get<std::string>(), kGolden);
    if (bytes.size() != golden.bytes.size())
      throw RunError("golden " + path.get<std::string>() + " has " +
                     std::to_string(bytes.size()) + " bytes; the output is " +
                     outputs[goldens.size()].type());
    std::memcpy(golden.bytes.data(), bytes.data(), bytes.size());
    goldens.push_back(std::move(golden));
  }
  return goldens;
}

std::string judgeAll(const std::vector<HostTensor> &got,
                     const std::vector<HostTensor> &want,
                     const Expectation &expectation, const Check &check,
                     const std::string &against) {
  if (want.size() > got.size())
    return "gives " + std::to_string(got.size()) + " outputs, " + against +
           " has " + std::to_string(want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    std::string problem = judge(got[i], want[i], *expectation.bounds.at(i),
                                check, against == "golden");
    if (!problem.empty())
      return "output " + std::to_string(i) + " against the " + against + ": " +
             problem;
  }
  return "";
}

Expectation expect(Program &program, const json &testCase, const Check &check,
                   const std::vector<HostTensor> &inputs) {
  Expectation result;
  Session &oracle = program.session(oracleName);
  run::OracleValues values = oracle.runOracle(testCase.at("function"), inputs);
  result.oracle = std::move(values.outputs);
  result.bounds = std::move(values.bounds);
  result.golden = readGoldens(program, testCase, result.oracle);
  std::string problem =
      judgeAll(result.oracle, result.golden, result, check, "golden");
  if (!problem.empty())
    throw RunError("the oracle's " + problem);
  return result;
}

// Empty, or what is wrong.
std::string tryDevice(Program &program, const json &testCase,
                      const std::string &device,
                      const std::vector<HostTensor> &inputs,
                      std::optional<Expectation> &expectation) {
  const std::string wantedError = testCase.value("error", "");
  std::vector<HostTensor> got, again;
  try {
    Session &session = program.session(device);
    size_t function = session.findFunction(testCase.at("function"));
    got = session.run(function, inputs);
    again = session.run(function, inputs);
  } catch (const RunError &error) {
    std::string message = error.what();
    if (wantedError.empty())
      return message;
    return message.find(wantedError) != std::string::npos
               ? ""
               : "expected an error with '" + wantedError +
                     "', got: " + message;
  }
  if (!wantedError.empty())
    return "expected an error with '" + wantedError + "', but it ran";
  Check check = readCheck(testCase.at("check"));
  if (!expectation)
    expectation = expect(program, testCase, check, inputs);
  std::string problem =
      judgeAll(got, expectation->oracle, *expectation, check, "oracle");
  if (problem.empty())
    problem = judgeAll(got, expectation->golden, *expectation, check, "golden");
  for (size_t i = 0; problem.empty() && i < got.size(); ++i)
    if (got[i].bytes != again[i].bytes)
      problem = "output " + std::to_string(i) + " differs between two calls";
  return problem;
}

} // namespace

void runProgram(tilewright_instance *instance, const std::string &folder,
                const json &program, const std::vector<std::string> &devices,
                uint64_t timeoutNs, Journal &journal) {
  Program state{instance, folder, "", timeoutNs, {}, {}};
  for (const json &testCase : program.at("cases")) {
    const std::string name = testCase.at("name");
    std::vector<HostTensor> inputs;
    std::optional<Expectation> expectation;
    for (const std::string &device : devices) {
      if (journal.has(name, device))
        continue;
      std::string driver = device.substr(0, device.find(':'));
      if (testCase.contains("devices")) {
        const json &allowed = testCase["devices"];
        if (std::find(allowed.begin(), allowed.end(), driver) == allowed.end())
          continue;
      }
      journal.start(name, device);
      std::string problem;
      try {
        if (state.artifact.empty())
          state.artifact =
              run::readFile(folder + "/" + program.at("artifact").get<std::string>(),
                            run::kArtifact);
        if (inputs.empty())
          for (const json &input : testCase.at("inputs"))
            inputs.push_back(makeInput(input));
        problem = tryDevice(state, testCase, device, inputs, expectation);
      } catch (const std::exception &error) {
        problem = error.what();
      }
      journal.finish(name, device, problem.empty() ? "passed" : "failed",
                     problem);
      // Nothing runs on it any more in this process.
      if (problem.find("device is lost") != std::string::npos)
        throw DeviceLost(problem);
    }
  }
}

} // namespace tilewright::e2e
