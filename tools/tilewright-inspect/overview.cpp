// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The overview, one line per thing:
//
//   program cuda:sm_80 (driver cuda; requires ptx 70, sm 80)
//     function main(?x784xf32, …) -> ?x10xf32
//     dispatch 0 main_matmul_0
//       operand 0  read   ?x784xf32
//       variant main_matmul_0  cuda_sm_80/1.ptx, PTX 7.0, 35896 bytes
//         guard   numel(0) < 2147483648 and …
//         grid    (dim(3, 0) ceildiv 64, 4, 1)
//         block   128 x 1 x 1, subgroup 32, shared memory 16880 bytes

#include "overview.h"

#include "expression_text.h"

namespace tilewright::inspect {

using nlohmann::json;

namespace {

std::string join(const json &list, const char *separator) {
  std::string text;
  for (const json &item : list)
    text += (text.empty() ? "" : separator) +
            (item.is_string() ? item.get<std::string>() : item.dump());
  return text;
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width)
    text.append(width - text.size(), ' ');
  return text;
}

/// "?x784xf32", with " strides [?, 1]" for windows.
std::string typeText(const json &type) {
  std::string text;
  if (type.contains("shape"))
    for (const json &dim : type["shape"])
      text += (dim.get<int64_t>() < 0 ? "?" : dim.dump()) + "x";
  text += type["dtype"].get<std::string>();
  if (type.contains("strides")) {
    std::string strides;
    for (const json &stride : type["strides"])
      strides += (strides.empty() ? "" : ", ") +
                 (stride.get<int64_t>() < 0 ? "?" : stride.dump());
    text += " strides [" + strides + "]";
  }
  return text;
}

std::string valuesText(const json &parent, const char *key) {
  std::string text;
  if (parent.contains(key))
    for (const json &value : parent[key]) {
      std::string kind = value.value("kind", "tensor");
      text += (text.empty() ? "" : ", ") +
              (kind == "tensor" ? "" : kind + " ") + typeText(value);
    }
  return text;
}

std::string functionText(const json &function) {
  std::string text = "  function " + function["name"].get<std::string>() + "(" +
                     valuesText(function, "inputs") + ") -> (" +
                     valuesText(function, "results") + ")\n";
  for (const char *key : {"flops", "bytes"})
    if (function.contains(key))
      text += "    " + padded(key, 6) + expressionText(function[key]) + "\n";
  return text;
}

std::string extentsText(const json &list) {
  std::string text;
  for (const json &extent : list)
    text += (text.empty() ? "(" : ", ") + expressionText(extent);
  return text + ")";
}

/// "tensor map of operand 0 in boxes of 128 x 64, swizzled by 128 bytes"; the
/// map of a convolution's image adds "as an image".
std::string tensorMapText(const json &map) {
  std::string text = "tensor map of operand " + map["tensor_map"].dump() +
                     (map.contains("image") ? " as an image" : "") + " in boxes of " +
                     join(map["box"], " x ");
  if (int64_t swizzle = map.value("swizzle", int64_t(0)))
    text += ", swizzled by " + std::to_string(swizzle) + " bytes";
  return text;
}

std::string paramText(const json &param) {
  if (param.contains("buffer"))
    return "operand " + param["buffer"].dump();
  if (param.contains("tensor_map"))
    return tensorMapText(param);
  return param["scalar"].get<std::string>() + " " + expressionText(param["value"]);
}

std::string paramsText(const json &variant) {
  std::string text;
  if (variant.contains("params"))
    for (const json &param : variant["params"])
      text += (text.empty() ? "" : ", ") + paramText(param);
  return text.empty() ? "none" : text;
}

std::string variantText(const json &variant) {
  std::string text = "    variant " + variant["name"].get<std::string>() + "  ";
  if (variant.contains("section"))
    text += variant["section"].get<std::string>() + ", ";
  text += variant["language"].get<std::string>();
  if (variant.contains("bytes"))
    text += ", " + variant["bytes"].dump() + " bytes";
  text += "\n      guard   " +
          expressionText(variant.value("guard", json(true))) + "\n";
  text += "      grid    " + extentsText(variant["grid"]) + "\n";
  text += "      block   " + join(variant.value("block", json{1, 1, 1}), " x ");
  json cluster = variant.value("cluster", json{1, 1, 1});
  if (cluster != json{1, 1, 1})
    text += ", cluster " + join(cluster, " x ");
  if (variant.contains("subgroup"))
    text += ", subgroup " + variant["subgroup"].dump();
  int64_t dynamic = variant.value("shared", int64_t(0));
  int64_t inside = variant.value("static_shared", int64_t(0));
  text += ", shared memory " + std::to_string(inside + dynamic) + " bytes";
  if (dynamic)
    text += " (" + std::to_string(dynamic) + " of them given at launch)";
  text += "\n      params  " + paramsText(variant) + "\n";
  if (variant.contains("config"))
    text += "      config  " + variant["config"].get<std::string>() + "\n";
  return text;
}

std::string dispatchText(const json &dispatch, size_t number) {
  std::string text = "  dispatch " + std::to_string(number) + " " +
                     dispatch["name"].get<std::string>() + "\n";
  size_t index = 0;
  for (const json &operand : dispatch["operands"])
    text += "    operand " + std::to_string(index++) + "  " +
            padded(operand["access"], 9) + " " + typeText(operand) + "\n";
  if (dispatch.contains("scalars") && !dispatch["scalars"].empty())
    text += "    scalars    " + join(dispatch["scalars"], ", ") + "\n";
  if (dispatch.contains("checks"))
    for (const json &check : dispatch["checks"])
      text += "    check      " + expressionText(check["equal"][0]) + " == " +
              expressionText(check["equal"][1]) + ", else \"" +
              check["message"].get<std::string>() + "\"\n";
  for (const json &variant : dispatch["variants"])
    text += variantText(variant);
  return text;
}

std::string hostText(const json &host) {
  std::string text = "  host program " + host["section"].get<std::string>() +
                     ", " + host["bytes"].dump() + " bytes, for " +
                     host.value("triple", host["machine"].get<std::string>());
  text += host["interface"].is_null()
              ? ", without a table of exports that this tool knows"
              : ", interface version " + host["interface"].dump();
  text += host["imports"].empty() ? ", imports nothing"
                                  : ", imports " + join(host["imports"], ", ");
  if (!host["needed"].empty())
    text += ", needs " + join(host["needed"], ", ");
  return text + "\n";
}

/// Where the values of a constant come from.
std::string constantSource(const json &constant, const json &program) {
  if (constant.contains("at_load"))
    return " is result " + constant["result"].dump() + " of " +
           program["at_load"][constant["at_load"].get<size_t>()]["name"].get<std::string>() +
           ", which runs at load";
  std::string text = constant.contains("parameter")
                         ? " is parameter '" + constant["parameter"].get<std::string>() + "'"
                         : " in " + constant["section"].get<std::string>();
  return text + (constant.value("only_at_load", false) ? ", read at load only" : "");
}

std::string programText(const json &program) {
  std::string text = "program " + program["target"].get<std::string>() +
                     " (driver " + program["driver"].get<std::string>();
  std::string required;
  if (program.contains("requires"))
    for (const auto &item : program["requires"].items())
      required += (required.empty() ? "; requires " : ", ") + item.key() + " " +
                  item.value().dump();
  text += required;
  text += program.value("reference", false) ? "; the reference)\n" : ")\n";
  if (program.contains("host"))
    text += hostText(program["host"]);
  for (const json &library : program.value("libraries", json::array()))
    text += "  library " + library["name"].get<std::string>() + ": " +
            join(library["functions"], ", ") + "\n";
  for (const json &function : program.value("functions", json::array()))
    text += functionText(function);
  size_t index = 0;
  for (const json &constant : program.value("constants", json::array()))
    text += "  constant " + std::to_string(index++) + " " + typeText(constant) +
            constantSource(constant, program) + "\n";
  index = 0;
  for (const json &dispatch : program.value("dispatches", json::array()))
    text += dispatchText(dispatch, index++);
  return text;
}

} // namespace

std::string printable(const std::string &text) {
  std::string result = text;
  for (char &c : result)
    if ((static_cast<unsigned char>(c) < 32 && c != '\n') || c == 127)
      c = '?';
  return result;
}

std::string sectionsText(const json &description) {
  size_t width = 0;
  for (const json &section : description["sections"])
    width = std::max(width, section["name"].get<std::string>().size());
  std::string text;
  for (const json &section : description["sections"]) {
    std::string bytes = section["bytes"].dump();
    text += "  " + padded(section["name"], width) + " " +
            std::string(bytes.size() < 10 ? 10 - bytes.size() : 0, ' ') + bytes +
            "  " + section["sha256"].get<std::string>() + "\n";
  }
  return printable(text);
}

std::string overviewText(const json &description, const std::string &target) {
  std::string text =
      "artifact of " + description["bytes"].dump() + " bytes, container version " +
      description["container"].dump() + ", manifest format " +
      description["format"].dump();
  if (description.contains("producer"))
    text += ", by " + description["producer"].get<std::string>();
  text += "\nSHA-256 " + description["sha256"].get<std::string>() +
          "\n\nsections: name, bytes, SHA-256\n";
  text = printable(text) + sectionsText(description);
  for (const json &program : description["programs"])
    if (target.empty() || program["target"] == target)
      text += "\n" + printable(programText(program));
  return text;
}

} // namespace tilewright::inspect
