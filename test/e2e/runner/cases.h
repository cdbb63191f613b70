// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running the cases of one artifact: the oracle once per case, then every
// device against it and against the NumPy golden where there is one.
#ifndef TILEWRIGHT_E2E_CASES_H
#define TILEWRIGHT_E2E_CASES_H

#include "journal.h"
#include "session.h"

#include <nlohmann/json.hpp>

namespace tilewright::e2e {

struct DeviceLost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One member of "programs" of the list of cases:
///
///   {"artifact": FILE, "cases": [{
///      "name": "matmul/f32/static/9x9x9/int", "function": "matmul_…",
///      "inputs": [{"type": "9x9xf32", "fill": "int", "low": -3, …}],
///      "check": {"kind": "exact"}, "golden": [FILE],       // of f64
///      "error": "differs",       // the call must fail with these words
///      "devices": ["cpu"]}]}     // where it was compiled for; absent: all
///
/// Paths are relative to `folder`. Throws DeviceLost after a case that lost its
/// device, as one does whose call takes longer than `timeoutNs`; the verdict is in
/// the journal then.
void runProgram(tilewright_instance *instance, const std::string &folder,
                const nlohmann::json &program,
                const std::vector<std::string> &devices, uint64_t timeoutNs,
                Journal &journal);

} // namespace tilewright::e2e

#endif // TILEWRIGHT_E2E_CASES_H
