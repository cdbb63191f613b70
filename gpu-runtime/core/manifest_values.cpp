// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, functions and constants of the manifest; see manifest_parts.h.

#include "core/manifest_parts.h"

namespace tilewright::runtime::manifest_parts {

Status readDtype(const JsonCursor &json, tw_dtype &result) {
  std::string name;
  if (Status s = json.string(name))
    return s;
  if (!parseDtype(name, result))
    return json.expected(std::string("one of ") + dtypeList());
  return Status::ok();
}

static Status readShape(const JsonCursor &json, tw_dtype dtype,
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

static Status readValueType(const JsonCursor &json, ValueType &result) {
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

static Status readOptional(const JsonCursor &parent, const char *key,
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

static Status checkHash(const JsonCursor &json, const std::string &text) {
  bool isHash = text.size() == 64;
  for (char c : text)
    isHash &= (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  return isHash ? Status::ok() : json.error("expected 64 lower-case hexadecimal digits");
}

/// What is said of a parameter; that its file has it is known when that is open.
static Status readParameter(const JsonCursor &json, ConstantDesc &result) {
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
  return checkHash(json["sha256"], result.sha256);
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
static Status readComputed(const JsonCursor &json,
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
  if (json.has("identity")) {
    if (Status s = json["identity"].string(result.identity))
      return s;
    if (Status s = checkHash(json["identity"], result.identity))
      return s;
  }
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

} // namespace tilewright::runtime::manifest_parts
