// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the outputs of a run with those of the oracle, of another device, or of files.

#include "run.h"

#include "npy.h"
#include "print.h"

namespace tilewright::run {

bool needsBounds(const Options &options) {
  return !options.atol && !options.rtol &&
         (!options.check.empty() || !options.expect.empty());
}

std::string outputName(const tilewright_signature &signature, size_t i) {
  if (i < signature.num_results)
    return "result[" + std::to_string(i) + "]";
  size_t k = i - signature.num_results;
  for (size_t input = 0; input < signature.num_inputs; ++input)
    if (signature.inputs[input].kind == TILEWRIGHT_BUFFER && k-- == 0)
      return "input[" + std::to_string(input) + "]";
  return "output";
}

// What the oracle gives; empty if the artifact has none.
static OracleValues askOracle(Run &run) {
  ProgramChoice choice = run.choice("cpu");
  choice.reference = true;
  bool isOther = !run.oracle.empty();
  Session oracle(&*run.instance, isOther ? run.options.oracle : run.options.program,
                 isOther ? run.oracle : run.artifact, choice);
  return oracle.runOracle(run.report.function, run.inputs);
}

// What the outputs should be, and by how much they may be off; fewer than
// outputs where not all are given.
static OracleValues references(Run &run) {
  OracleValues result;
  if (!run.options.expect.empty()) {
    if (run.options.expect.size() > run.outputs.size())
      throw RunError(std::to_string(run.options.expect.size()) +
                     " --expect for " + std::to_string(run.outputs.size()) +
                     " outputs");
    for (size_t i = 0; i < run.options.expect.size(); ++i)
      result.outputs.push_back(parseNpy(run.options.expect[i],
                                        readFile(run.options.expect[i], kArray),
                                        run.outputs[i].dtype));
    return result;
  }
  if (run.options.check == "oracle")
    return askOracle(run);
  Session other(&*run.instance, run.options.program, run.artifact,
                run.choice(run.options.check));
  result.outputs =
      other.run(other.findFunction(run.report.function), run.inputs);
  return result;
}

// The error bounds of the oracle, for a reference that is another device's or a
// file: of each output, or none.
static std::vector<std::shared_ptr<const HostTensor>> askBounds(Run &run) {
  bool isFloat = false;
  for (const HostTensor &output : run.outputs)
    isFloat |= output.isFloat();
  try {
    std::vector<std::shared_ptr<const HostTensor>> bounds =
        askOracle(run).bounds;
    if (!bounds.empty() || !isFloat)
      return bounds;
    throw RunError("it has none");
  } catch (const RunError &e) {
    // Integers must be equal as long as nobody says otherwise.
    if (!isFloat)
      return {};
    throw RunError(std::string("the results differ, and the error bounds of a reference program would "
                               "say whether they may: ") +
                   e.what() + "; or name an artifact that has them with --oracle, or give --atol or --rtol");
  }
}

bool checkOutputs(Run &run) {
  if (run.options.check.empty() && run.options.expect.empty()) {
    run.report.verdict = "unchecked";
    return true;
  }
  run.report.check = run.options.check.empty() ? "expect" : run.options.check;
  OracleValues expected = references(run);
  bool byOracle = run.options.check == "oracle", asked = byOracle;
  tilewright_signature signature = run.session->signature(run.function);
  bool good = true;
  for (size_t i = 0; i < expected.outputs.size() && i < run.outputs.size();
       ++i) {
    const HostTensor &reference = expected.outputs[i];
    auto check = [&]() {
      bool hasBounds = i < expected.bounds.size() && needsBounds(run.options);
      return compare(run.outputs[i], reference,
                     hasBounds ? boundedTolerance(expected.bounds[i],
                                                  byOracle ? 1 : 2)
                               : plainTolerance(run.options.atol,
                                                run.options.rtol));
    };
    Comparison result = check();
    // What is equal needs no oracle.
    if (!result.ok && result.problem.empty() && !asked &&
        needsBounds(run.options)) {
      asked = true;
      expected.bounds = askBounds(run);
      result = check();
    }
    run.say(
        describe(outputName(signature, i), run.outputs[i], reference, result));
    good &= result.ok;
    run.report.outputs[i].comparison = std::move(result);
  }
  run.report.verdict = good ? "ok" : "mismatch";
  return good;
}

} // namespace tilewright::run
