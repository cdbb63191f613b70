// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text as a manifest, and all expressions of the ones that are accepted,
// bound and evaluated over small and over extreme operands.

#include "core/json_reader.h"
#include "core/manifest.h"
#include "core/sha256.h"

#include <climits>
#include <cstring>
#include <string>
#include <vector>

using namespace tilewright::runtime;

namespace {

template <typename T> void put(std::string &bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

/// A container with the manifest and three sections that it may name.
std::string container(const std::string &manifest) {
  const char *names[] = {"manifest", "host", "code.ptx", "constants/0"};
  std::string bytes("TILEWRT\x01", 8);
  bytes.resize(56 + 4 * 64);
  for (int i = 0; i < 4; ++i) {
    bytes.resize((bytes.size() + 63) / 64 * 64);
    std::string data = i ? std::string(64, '\0') : manifest;
    std::memcpy(bytes.data() + 56 + 64 * i, names[i], std::strlen(names[i]));
    put<uint64_t>(bytes, 56 + 64 * i + 48, bytes.size());
    put<uint64_t>(bytes, 56 + 64 * i + 56, data.size());
    bytes += data;
  }
  put<uint32_t>(bytes, 8, 1);
  put<uint32_t>(bytes, 12, 4);
  put<uint64_t>(bytes, 16, bytes.size());
  Sha256Digest digest = sha256(bytes.data() + 56, bytes.size() - 56);
  std::memcpy(bytes.data() + 24, digest.data(), digest.size());
  return bytes;
}

void evaluate(Expression expression, const DispatchDesc &dispatch) {
  for (int64_t extreme : {int64_t(3), int64_t(0), INT64_MAX, INT64_MIN}) {
    expression.bind([&](const std::string &) { return extreme; });
    std::vector<std::vector<int64_t>> dims;
    for (const OperandDesc &operand : dispatch.operands)
      dims.emplace_back(operand.shape.size(), extreme);
    std::vector<ExpressionOperand> operands(dispatch.operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      operands[i].rank = static_cast<int32_t>(dims[i].size());
      operands[i].dims = dims[i].data();
      operands[i].strides = dims[i].data();
    }
    std::vector<int64_t> scalars(dispatch.scalars.size(), extreme);
    ExpressionValues values{operands.data(), scalars.data()};
    int64_t result = 0;
    (void)expression.evaluate(values, result);
    (void)expression.text();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes =
      container(std::string(reinterpret_cast<const char *>(data), size));
  std::shared_ptr<const Artifact> artifact;
  Manifest manifest;
  if (Artifact::parse(bytes.data(), bytes.size(), artifact) ||
      parseManifest(*artifact, manifest))
    return 0;
  for (const ProgramDesc &program : manifest.programs)
    for (const DispatchDesc &dispatch : program.dispatches) {
      for (const CheckDesc &check : dispatch.checks) {
        evaluate(check.left, dispatch);
        evaluate(check.right, dispatch);
      }
      for (const VariantDesc &variant : dispatch.variants) {
        evaluate(variant.guard, dispatch);
        for (const Expression &extent : variant.grid)
          evaluate(extent, dispatch);
        for (const ParamDesc &param : variant.params)
          evaluate(param.value, dispatch);
      }
    }
  return 0;
}
