// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The artifact's manifest as structs (docs/abi.md, "Manifest").
//
// parseManifest checks all that can be known without a device: types, ranks,
// operand numbers in expressions, that every section exists, that parameters
// come in the order of the kernel ABI, sizes of constants. Errors carry the
// path of the offending value. Unknown members are ignored.
#ifndef TILEWRIGHT_CORE_MANIFEST_H
#define TILEWRIGHT_CORE_MANIFEST_H

#include "core/artifact.h"
#include "core/driver.h"
#include "core/dtype.h"
#include "core/expression.h"
#include "core/tensor_map.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::runtime {

/// The newest manifest format read.
constexpr int64_t kManifestFormat = 1;

enum class ValueKind {
  Tensor, // read only
  Buffer, // a memref argument: read and written in place
  Scalar
};

/// The type of an argument or result of a function.
struct ValueType {
  ValueKind kind = ValueKind::Tensor;
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> shape; // -1: dynamic; empty for scalars
  std::vector<int64_t> strides; // -1: dynamic; empty: dense
  /// Results only: number of terms summed into one element, over the inputs as
  /// operands. Bounds the rounding error of random-float checks.
  std::optional<Expression> reduction;
};

struct FunctionDesc {
  std::string name;
  std::vector<ValueType> inputs;
  std::vector<ValueType> results;
  /// Work of one call, over the inputs as operands: operations, and bytes that
  /// must move.
  std::optional<Expression> flops;
  std::optional<Expression> bytes;
};

/// A function without inputs that runs when the program is loaded.
struct LoadFunctionDesc {
  std::string name;
  std::vector<ValueType> results; // tensors of static shape
};

/// Its bytes are a section of the artifact, or a tensor of the parameter file, or the
/// result of a function that runs at load.
struct ConstantDesc {
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> shape;
  std::string section;   // empty for others
  std::string parameter; // name of the tensor; empty for others
  std::string sha256;    // of the tensor that was compiled with; lower-case
  int64_t loadFunction = -1; // number of the function; -1 for others
  size_t result = 0;         // of that function
  std::string identity; // of that result, lower-case hexadecimal; empty: of this program alone
  /// Nothing but functions that run at load reads it.
  bool onlyAtLoad = false;
};

struct OperandDesc {
  tw_dtype dtype = TW_F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; // -1: dynamic; empty: dense, or of rank 0
  /// Part of a larger tensor, as element 3 of a vector: it may begin anywhere.
  bool isView = false;
  bool read = false;
  bool written = false;
};

struct CheckDesc {
  Expression left, right; // must be equal
  std::string message;
};

/// Where a kernel's parameter comes from: an operand, an expression, or the tensor
/// map of an operand.
struct ParamDesc {
  bool isBuffer = false;
  uint32_t operand = 0;
  std::optional<TensorMapParam> tensorMap;
  /// What of its images is kOpen, in order: of their dims, of their strides.
  std::vector<Expression> imageSizes;
  tw_dtype scalarType = TW_I64;
  Expression value;
};

struct VariantDesc {
  std::string name;    // entry point
  std::string section; // empty for cpu
  Expression guard;
  Expression grid[3];
  Extent3 block = {1, 1, 1};
  Extent3 cluster = {1, 1, 1};
  uint32_t shared = 0;
  uint32_t subgroup = 0;
  bool scalarsInUniform = false;
  bool dependentLaunch = false;
  std::vector<ParamDesc> params;
};

struct DispatchDesc {
  std::string name;
  std::vector<OperandDesc> operands;
  std::vector<tw_dtype> scalars;
  std::vector<CheckDesc> checks;
  std::vector<VariantDesc> variants;
};

/// A shared library that kernels call, and the functions that they call there.
struct LibraryDesc {
  std::string name; // as dlopen takes it
  std::vector<std::string> functions;
};

struct ProgramDesc {
  std::string target; // "cuda:sm_80"
  std::string driver; // "cuda"
  bool reference = false;
  std::vector<std::pair<std::string, int64_t>> requirements;
  std::string hostSection; // empty: kernels only
  std::string hostTriple;
  std::vector<FunctionDesc> functions;
  std::vector<LibraryDesc> libraries;
  std::vector<LoadFunctionDesc> loadFunctions; // behind `functions` in the host program
  std::vector<ConstantDesc> constants;
  std::string parameterFile; // of the manifest
  std::vector<DispatchDesc> dispatches;
};

struct Manifest {
  std::string producer;
  std::string parameterFile; // without a folder; empty: there is none
  std::vector<ProgramDesc> programs;
};

Status parseManifest(const Artifact &artifact, Manifest &result);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_MANIFEST_H
