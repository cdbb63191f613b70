// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What manifest.cpp reads an artifact's manifest with: a function for each object of it, in
// manifest_values.cpp (functions and constants) and manifest_dispatches.cpp. Errors name the
// place in the JSON text.
#ifndef TILEWRIGHT_CORE_MANIFEST_PARTS_H
#define TILEWRIGHT_CORE_MANIFEST_PARTS_H

#include "core/json_reader.h"
#include "core/manifest.h"

namespace tilewright::runtime::manifest_parts {

// Larger counts are taken for damage.
constexpr size_t kMaxPrograms = 1024;
constexpr size_t kMaxItems = 1 << 20;  // functions, dispatches, constants
constexpr size_t kMaxArguments = 4096; // of a function or dispatch
constexpr size_t kMaxVariants = 4096;

Status readDtype(const JsonCursor &json, tw_dtype &result);
Status readTensor(const JsonCursor &json, tw_dtype &dtype, std::vector<int64_t> &shape);
/// "strides" beside a shape; left empty where there are none.
Status readStrides(const JsonCursor &parent, size_t rank, std::vector<int64_t> &result);
/// The name of a section that the artifact has.
Status readSection(const JsonCursor &json, const Artifact &artifact, std::string &result);

Status readFunction(const JsonCursor &json, FunctionDesc &result);
Status readLoadFunction(const JsonCursor &json, LoadFunctionDesc &result);
/// `functions` are those that run at load.
Status readConstant(const JsonCursor &json, const Artifact &artifact,
                    const std::vector<LoadFunctionDesc> &functions, ConstantDesc &result);
/// `hasSections`: variants name the section with their code.
Status readDispatch(const JsonCursor &json, const Artifact &artifact, bool hasSections,
                    DispatchDesc &result);

} // namespace tilewright::runtime::manifest_parts

#endif // TILEWRIGHT_CORE_MANIFEST_PARTS_H
