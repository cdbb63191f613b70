// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches of the manifest: operands, parameters and variants of kernels; see
// manifest_parts.h.

#include "core/manifest_parts.h"

namespace tilewright::runtime::manifest_parts {

static Status readExtent(const JsonCursor &json, Extent3 &result) {
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

static Status readUnsigned(const JsonCursor &parent, const char *key,
                           uint32_t &result) {
  if (!parent.has(key))
    return Status::ok();
  int64_t value;
  if (Status s = parent[key].integer(0, UINT32_MAX, value))
    return s;
  result = static_cast<uint32_t>(value);
  return Status::ok();
}

static Status readOperand(const JsonCursor &json, OperandDesc &result) {
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

static Status readCheck(const JsonCursor &json, const ExpressionScope &scope,
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

static Status readIntegers(const JsonCursor &json, int64_t least, int64_t most,
                           std::vector<int64_t> &result) {
  if (Status s = json.array(kMaxArguments))
    return s;
  for (size_t i = 0; i < json.size(); ++i)
    if (Status s = json[i].integer(least, most, result.emplace_back()))
      return s;
  return Status::ok();
}

/// Integers, or expressions, which are `open`.
static Status readSizes(const JsonCursor &json, const ExpressionScope &scope, int64_t least,
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

static Status readImage(const JsonCursor &json, const ExpressionScope &scope, ImageParam &result,
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

static Status readTensorMap(const JsonCursor &json, const ExpressionScope &scope,
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

static Status readParam(const JsonCursor &json, const ExpressionScope &scope,
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

static Status readVariant(const JsonCursor &json, const Artifact &artifact,
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

} // namespace tilewright::runtime::manifest_parts
