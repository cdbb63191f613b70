// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the manifest; one function per object of it, in the order of
// manifest.h, outermost last.

#include "core/manifest.h"

#include "core/json_reader.h"

namespace tilewright::runtime {

namespace {

// Larger counts are taken for damage.
constexpr size_t kMaxPrograms = 1024;
constexpr size_t kMaxItems = 1 << 20;  // functions, dispatches, constants
constexpr size_t kMaxArguments = 4096; // of a function or dispatch
constexpr size_t kMaxVariants = 4096;

Status readDtype(const JsonCursor &json, tw_dtype &result) {
  std::string name;
  if (Status s = json.string(name))
    return s;
  if (!parseDtype(name, result))
    return json.expected(std::string("one of ") + dtypeList());
  return Status::ok();
}

Status readShape(const JsonCursor &json, tw_dtype dtype,
                 std::vector<int64_t> &result) {
  if (Status s = json.array(kMaxRank))
    return s;
  std::vector<int64_t> known;
  for (size_t i = 0; i < json.size(); ++i) {
    int64_t dim;
    if (Status s = json[i].integer(-1, INT64_MAX, dim))
      return s;
    result.push_back(dim);
    if (dim >= 0)
      known.push_back(dim);
  }
  int64_t elements, bytes;
  if (Status s = denseSize(known, dtype, elements, bytes))
    return json.error(s.message());
  return Status::ok();
}

Status readTensor(const JsonCursor &json, tw_dtype &dtype,
                  std::vector<int64_t> &shape) {
  if (Status s = json.object())
    return s;
  if (Status s = readDtype(json["dtype"], dtype))
    return s;
  return readShape(json["shape"], dtype, shape);
}

Status readSection(const JsonCursor &json, const Artifact &artifact,
                   std::string &result) {
  if (Status s = json.string(result))
    return s;
  if (!artifact.find(result))
    return json.error("the artifact has no section '" + result + "'");
  return Status::ok();
}

Status readExtent(const JsonCursor &json, Extent3 &result) {
  if (Status s = json.array(3))
    return s;
  if (json.size() != 3)
    return json.expected("an array of 3 extents");
  for (size_t i = 0; i < 3; ++i) {
    int64_t value;
    if (Status s = json[i].integer(1, INT32_MAX, value))
      return s;
    result[i] = static_cast<uint32_t>(value);
  }
  return Status::ok();
}

Status readUnsigned(const JsonCursor &parent, const char *key,
                    uint32_t &result) {
  if (!parent.has(key))
    return Status::ok();
  int64_t value;
  if (Status s = parent[key].integer(0, UINT32_MAX, value))
    return s;
  result = static_cast<uint32_t>(value);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// "strides" beside a shape; left empty where there are none.
Status readStrides(const JsonCursor &parent, size_t rank,
                   std::vector<int64_t> &result) {
  if (!parent.has("strides"))
    return Status::ok();
  JsonCursor strides = parent["strides"];
  if (!strides.json().is(JsonValue::Kind::Array) || strides.size() != rank)
    return strides.expected("an array of a stride per dim");
  for (size_t i = 0; i < rank; ++i)
    if (Status s = strides[i].integer(-1, INT64_MAX, result.emplace_back()))
      return s;
  return Status::ok();
}

Status readValueType(const JsonCursor &json, ValueType &result) {
  if (Status s = json.object())
    return s;
  std::string kind;
  if (Status s = json["kind"].string(kind))
    return s;
  if (kind == "scalar") {
    result.kind = ValueKind::Scalar;
    return readDtype(json["dtype"], result.dtype);
  }
  if (kind != "tensor" && kind != "buffer")
    return json["kind"].expected("tensor, buffer or scalar");
  result.kind = kind == "tensor" ? ValueKind::Tensor : ValueKind::Buffer;
  if (Status s = readTensor(json, result.dtype, result.shape))
    return s;
  return readStrides(json, result.shape.size(), result.strides);
}

Status readOptional(const JsonCursor &parent, const char *key,
                    const ExpressionScope &scope,
                    std::optional<Expression> &result) {
  if (!parent.has(key))
    return Status::ok();
  return Expression::parse(parent[key], scope, result.emplace());
}

Status readFunction(const JsonCursor &json, FunctionDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  JsonCursor inputs = json["inputs"], results = json["results"];
  if (Status s = inputs.array(kMaxArguments))
    return s;
  if (Status s = results.array(kMaxArguments))
    return s;
  ExpressionScope scope;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Status s = readValueType(inputs[i], result.inputs.emplace_back()))
      return s;
    const ValueType &type = result.inputs.back();
    scope.operandRanks.push_back(static_cast<int>(type.shape.size()));
    scope.numScalars += type.kind == ValueKind::Scalar;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    ValueType &type = result.results.emplace_back();
    if (Status s = readValueType(results[i], type))
      return s;
    if (type.kind == ValueKind::Buffer)
      return results[i]["kind"].expected("tensor or scalar in a result");
    if (Status s = readOptional(results[i], "reduction", scope, type.reduction))
      return s;
  }
  if (Status s = readOptional(json, "flops", scope, result.flops))
    return s;
  return readOptional(json, "bytes", scope, result.bytes);
}

/// What is said of a parameter; that its file has it is known when that is open.
Status readParameter(const JsonCursor &json, ConstantDesc &result) {
  if (Status s = json["parameter"].string(result.parameter))
    return s;
  if (json.has("section"))
    return json.error("has both a section and a parameter");
  int64_t elements, bytes, stated;
  if (Status s = denseSize(result.shape, result.dtype, elements, bytes))
    return json["shape"].error(s.message());
  if (Status s = json["bytes"].integer(0, INT64_MAX, stated))
    return s;
  if (stated != bytes)
    return json["bytes"].error("a parameter " +
                               shapeText(result.shape, result.dtype) +
                               " takes " + std::to_string(bytes) + " bytes");
  if (Status s = json["sha256"].string(result.sha256))
    return s;
  bool isHash = result.sha256.size() == 64;
  for (char c : result.sha256)
    isHash &= (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  return isHash ? Status::ok()
                : json["sha256"].error("expected 64 lower-case hexadecimal digits");
}

Status readLoadFunction(const JsonCursor &json, LoadFunctionDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  JsonCursor results = json["results"];
  if (Status s = results.array(kMaxItems))
    return s;
  for (size_t i = 0; i < results.size(); ++i) {
    ValueType &type = result.results.emplace_back();
    if (Status s = readValueType(results[i], type))
      return s;
    bool isStatic = type.kind == ValueKind::Tensor;
    for (int64_t size : type.shape)
      isStatic &= size >= 0;
    if (!isStatic)
      return results[i].expected("a tensor of static shape");
  }
  return Status::ok();
}

/// The result of a function that runs at load.
Status readComputed(const JsonCursor &json,
                    const std::vector<LoadFunctionDesc> &functions,
                    ConstantDesc &result) {
  if (Status s = json["at_load"].integer(0, int64_t(functions.size()) - 1,
                                         result.loadFunction))
    return s;
  const std::vector<ValueType> &results = functions[size_t(result.loadFunction)].results;
  int64_t number;
  if (Status s = json["result"].integer(0, int64_t(results.size()) - 1, number))
    return s;
  result.result = size_t(number);
  const ValueType &type = results[result.result];
  return type.dtype == result.dtype && type.shape == result.shape
             ? Status::ok()
             : json.error("has another type than result " + std::to_string(number) +
                          " of function '" +
                          functions[size_t(result.loadFunction)].name + "'");
}

Status readConstant(const JsonCursor &json, const Artifact &artifact,
                    const std::vector<LoadFunctionDesc> &functions,
                    ConstantDesc &result) {
  if (Status s = readTensor(json, result.dtype, result.shape))
    return s;
  if (json.has("at_load"))
    return readComputed(json, functions, result);
  if (json.has("only_at_load"))
    if (Status s = json["only_at_load"].boolean(result.onlyAtLoad))
      return s;
  if (json.has("parameter"))
    return readParameter(json, result);
  if (Status s = readSection(json["section"], artifact, result.section))
    return s;
  int64_t elements, bytes;
  if (Status s = denseSize(result.shape, result.dtype, elements, bytes))
    return json["shape"].error(s.message());
  size_t have = artifact.find(result.section)->size;
  if (have != static_cast<uint64_t>(bytes))
    return json["section"].error("section '" + result.section + "' has " +
                                 std::to_string(have) + " bytes; a constant " +
                                 shapeText(result.shape, result.dtype) +
                                 " takes " + std::to_string(bytes));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Dispatches
//===----------------------------------------------------------------------===//

Status readOperand(const JsonCursor &json, OperandDesc &result) {
  if (Status s = readTensor(json, result.dtype, result.shape))
    return s;
  if (Status s = readStrides(json, result.shape.size(), result.strides))
    return s;
  result.isView = json.has("strides");
  std::string access;
  if (Status s = json["access"].string(access))
    return s;
  if (access != "read" && access != "write" && access != "readwrite")
    return json["access"].expected("read, write or readwrite");
  result.read = access != "write";
  result.written = access != "read";
  return Status::ok();
}

Status readCheck(const JsonCursor &json, const ExpressionScope &scope,
                 CheckDesc &result) {
  if (Status s = json.object())
    return s;
  JsonCursor equal = json["equal"];
  if (!equal.json().is(JsonValue::Kind::Array) || equal.size() != 2)
    return equal.expected("an array of 2 expressions");
  if (Status s = Expression::parse(equal[size_t(0)], scope, result.left))
    return s;
  if (Status s = Expression::parse(equal[size_t(1)], scope, result.right))
    return s;
  return json["message"].string(result.message);
}

Status readIntegers(const JsonCursor &json, int64_t least, int64_t most,
                    std::vector<int64_t> &result) {
  if (Status s = json.array(kMaxArguments))
    return s;
  for (size_t i = 0; i < json.size(); ++i)
    if (Status s = json[i].integer(least, most, result.emplace_back()))
      return s;
  return Status::ok();
}

/// Integers, or expressions, which are `open`.
Status readSizes(const JsonCursor &json, const ExpressionScope &scope, int64_t least,
                 std::vector<int64_t> &result, std::vector<Expression> &open) {
  if (Status s = json.array(kMaxArguments))
    return s;
  for (size_t i = 0; i < json.size(); ++i) {
    int64_t &size = result.emplace_back(kOpen);
    if (!json[i].json().is(JsonValue::Kind::Array)) {
      if (Status s = json[i].integer(least, INT64_MAX, size))
        return s;
    } else if (Status s = Expression::parse(json[i], scope, open.emplace_back())) {
      return s;
    }
  }
  return Status::ok();
}

Status readImage(const JsonCursor &json, const ExpressionScope &scope, ImageParam &result,
                 std::vector<Expression> &open) {
  if (Status s = json.object())
    return s;
  if (Status s = readSizes(json["dims"], scope, 1, result.dims, open))
    return s;
  if (Status s = readSizes(json["strides"], scope, 0, result.strides, open))
    return s;
  if (Status s = readIntegers(json["lower"], INT32_MIN, INT32_MAX, result.lower))
    return s;
  if (Status s = readIntegers(json["upper"], INT32_MIN, INT32_MAX, result.upper))
    return s;
  return readIntegers(json["steps"], 1, INT32_MAX, result.steps);
}

Status readTensorMap(const JsonCursor &json, const ExpressionScope &scope,
                     const std::vector<OperandDesc> &operands, ParamDesc &result) {
  int64_t operand;
  if (Status s = json["tensor_map"].integer(
          0, int64_t(scope.operandRanks.size()) - 1, operand))
    return s;
  result.operand = static_cast<uint32_t>(operand);
  TensorMapParam &map = result.tensorMap.emplace();
  if (Status s = readIntegers(json["box"], 1, INT32_MAX, map.box))
    return s;
  if (Status s = readUnsigned(json, "swizzle", map.swizzle))
    return s;
  if (json.has("merged")) {
    int64_t merged;
    if (Status s = json["merged"].integer(1, kMaxArguments, merged))
      return s;
    map.merged = size_t(merged);
  }
  if (json.has("image"))
    if (Status s = readImage(json["image"], scope, map.image.emplace(), result.imageSizes))
      return s;
  if (Status s = checkTensorMapBox(map, operands[operand].dtype,
                                   operands[operand].shape.size()))
    return json.error(s.message());
  return Status::ok();
}

Status readParam(const JsonCursor &json, const ExpressionScope &scope,
                 const std::vector<OperandDesc> &operands, ParamDesc &result) {
  if (Status s = json.object())
    return s;
  result.isBuffer = json.has("buffer");
  if (result.isBuffer) {
    int64_t operand;
    if (Status s = json["buffer"].integer(
            0, int64_t(scope.operandRanks.size()) - 1, operand))
      return s;
    result.operand = static_cast<uint32_t>(operand);
    return Status::ok();
  }
  if (json.has("tensor_map"))
    return readTensorMap(json, scope, operands, result);
  if (!json.has("scalar"))
    return json.expected("a parameter, with a member buffer, scalar or tensor_map");
  if (Status s = readDtype(json["scalar"], result.scalarType))
    return s;
  return Expression::parse(json["value"], scope, result.value);
}

Status readVariant(const JsonCursor &json, const Artifact &artifact,
                   const ExpressionScope &scope,
                   const std::vector<OperandDesc> &operands, bool hasSection,
                   VariantDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  if (hasSection)
    if (Status s = readSection(json["section"], artifact, result.section))
      return s;
  result.guard = Expression::constant(1);
  if (json.has("guard"))
    if (Status s = Expression::parse(json["guard"], scope, result.guard))
      return s;
  JsonCursor grid = json["grid"];
  if (!grid.json().is(JsonValue::Kind::Array) || grid.size() != 3)
    return grid.expected("an array of 3 expressions");
  for (size_t i = 0; i < 3; ++i)
    if (Status s = Expression::parse(grid[i], scope, result.grid[i]))
      return s;
  if (json.has("block"))
    if (Status s = readExtent(json["block"], result.block))
      return s;
  if (json.has("cluster"))
    if (Status s = readExtent(json["cluster"], result.cluster))
      return s;
  if (Status s = readUnsigned(json, "shared", result.shared))
    return s;
  if (Status s = readUnsigned(json, "subgroup", result.subgroup))
    return s;
  if (json.has("dependent_launch"))
    if (Status s = json["dependent_launch"].boolean(result.dependentLaunch))
      return s;
  if (json.has("scalars_in")) {
    std::string where;
    if (Status s = json["scalars_in"].string(where))
      return s;
    if (where != "uniform" && where != "push")
      return json["scalars_in"].expected("uniform or push");
    result.scalarsInUniform = where == "uniform";
  }
  JsonCursor params = json["params"];
  if (Status s = params.array(kMaxArguments))
    return s;
  for (size_t i = 0; i < params.size(); ++i) {
    if (Status s = readParam(params[i], scope, operands,
                             result.params.emplace_back()))
      return s;
    if (i && result.params[i].isBuffer && !result.params[i - 1].isBuffer)
      return params[i].error("a buffer behind a scalar; buffers come first");
  }
  return Status::ok();
}

Status readDispatch(const JsonCursor &json, const Artifact &artifact,
                    bool hasSections, DispatchDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  JsonCursor operands = json["operands"];
  if (Status s = operands.array(kMaxArguments))
    return s;
  ExpressionScope scope;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (Status s = readOperand(operands[i], result.operands.emplace_back()))
      return s;
    scope.operandRanks.push_back(
        static_cast<int>(result.operands.back().shape.size()));
  }
  if (json.has("scalars")) {
    JsonCursor scalars = json["scalars"];
    if (Status s = scalars.array(kMaxArguments))
      return s;
    for (size_t i = 0; i < scalars.size(); ++i)
      if (Status s = readDtype(scalars[i], result.scalars.emplace_back()))
        return s;
    scope.numScalars = scalars.size();
  }
  if (json.has("checks")) {
    JsonCursor checks = json["checks"];
    if (Status s = checks.array(kMaxArguments))
      return s;
    for (size_t i = 0; i < checks.size(); ++i)
      if (Status s = readCheck(checks[i], scope, result.checks.emplace_back()))
        return s;
  }
  JsonCursor variants = json["variants"];
  if (Status s = variants.array(kMaxVariants))
    return s;
  if (variants.size() == 0)
    return variants.expected("at least one variant");
  for (size_t i = 0; i < variants.size(); ++i)
    if (Status s = readVariant(variants[i], artifact, scope, result.operands,
                               hasSections, result.variants.emplace_back()))
      return s;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Status readRequirements(const JsonCursor &json, ProgramDesc &result) {
  if (Status s = json.object())
    return s;
  for (const std::string &key : json.json().keys) {
    JsonCursor value = json[key.c_str()];
    int64_t number;
    if (value.json().is(JsonValue::Kind::Boolean))
      number = value.json().boolean;
    else if (Status s = value.integer(INT64_MIN, INT64_MAX, number))
      return s;
    result.requirements.emplace_back(key, number);
  }
  return Status::ok();
}

template <typename T, typename Read>
Status readList(const JsonCursor &parent, const char *key,
                std::vector<T> &result, Read read) {
  if (!parent.has(key))
    return Status::ok();
  JsonCursor list = parent[key];
  if (Status s = list.array(kMaxItems))
    return s;
  result.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i)
    if (Status s = read(list[i], result.emplace_back()))
      return s;
  return Status::ok();
}

Status readLibrary(const JsonCursor &json, LibraryDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["name"].string(result.name))
    return s;
  return readList(json, "functions", result.functions,
                  [](const JsonCursor &item, std::string &name) { return item.string(name); });
}

Status readParameterFile(const JsonCursor &root, std::string &result) {
  if (!root.has("parameters"))
    return Status::ok();
  if (Status s = root["parameters"].object())
    return s;
  JsonCursor file = root["parameters"]["file"];
  if (Status s = file.string(result))
    return s;
  return result.find('/') == std::string::npos
             ? Status::ok()
             : file.error("expected a name without a folder");
}

Status readProgram(const JsonCursor &json, const Artifact &artifact,
                   ProgramDesc &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["target"].string(result.target))
    return s;
  if (Status s = json["driver"].string(result.driver))
    return s;
  if (json.has("reference"))
    if (Status s = json["reference"].boolean(result.reference))
      return s;
  if (json.has("requires"))
    if (Status s = readRequirements(json["requires"], result))
      return s;
  if (json.has("host")) {
    JsonCursor host = json["host"];
    if (Status s = host.object())
      return s;
    if (Status s = readSection(host["section"], artifact, result.hostSection))
      return s;
    if (host.has("triple"))
      if (Status s = host["triple"].string(result.hostTriple))
        return s;
  }
  if (Status s = readList(json, "functions", result.functions, readFunction))
    return s;
  if (Status s = readList(json, "libraries", result.libraries, readLibrary))
    return s;
  if (json.has("at_load"))
    if (Status s = readList(json, "at_load", result.loadFunctions, readLoadFunction))
      return s;
  if ((!result.functions.empty() || !result.loadFunctions.empty()) &&
      result.hostSection.empty())
    return json.error("has functions but no host program");
  if (Status s = readList(json, "constants", result.constants,
                          [&](const JsonCursor &item, ConstantDesc &desc) {
                            return readConstant(item, artifact, result.loadFunctions,
                                                desc);
                          }))
    return s;
  for (const ConstantDesc &constant : result.constants)
    if (!constant.parameter.empty() && result.parameterFile.empty())
      return json["constants"].error("has parameter '" + constant.parameter +
                                     "', but the manifest names no file");
  return readList(json, "dispatches", result.dispatches,
                  [&](const JsonCursor &item, DispatchDesc &desc) {
                    return readDispatch(item, artifact, result.driver != "cpu",
                                        desc);
                  });
}

} // namespace

Status parseManifest(const Artifact &artifact, Manifest &result) {
  const Artifact::Section *section = artifact.find("manifest");
  if (!section)
    return corruptArtifact("the artifact has no section 'manifest'");
  JsonValue json;
  if (Status s = parseJson(
          "manifest",
          std::string_view(reinterpret_cast<const char *>(section->data),
                           section->size),
          json))
    return s;
  JsonCursor root(json, "");
  if (!json.is(JsonValue::Kind::Object))
    return corruptArtifact("manifest: expected a JSON object");
  int64_t format;
  if (Status s = root["format"].integer(0, INT64_MAX, format))
    return std::move(s).in("manifest");
  if (format != kManifestFormat)
    return unsupported("manifest has format " + std::to_string(format) +
                       "; this runtime reads format " +
                       std::to_string(kManifestFormat));
  Manifest manifest;
  if (root.has("producer"))
    if (Status s = root["producer"].string(manifest.producer))
      return std::move(s).in("manifest");
  if (Status s = readParameterFile(root, manifest.parameterFile))
    return std::move(s).in("manifest");
  JsonCursor programs = root["programs"];
  if (Status s = programs.array(kMaxPrograms))
    return std::move(s).in("manifest");
  for (size_t i = 0; i < programs.size(); ++i) {
    ProgramDesc &program = manifest.programs.emplace_back();
    program.parameterFile = manifest.parameterFile;
    if (Status s = readProgram(programs[i], artifact, program))
      return std::move(s).in("manifest");
  }
  result = std::move(manifest);
  return Status::ok();
}

} // namespace tilewright::runtime
