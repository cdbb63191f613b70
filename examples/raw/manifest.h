// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is needed of a manifest (docs/abi.md) to launch a kernel oneself: which
// variant runs for these shapes, its grid, the values of its scalars, and what its
// tensor maps describe.
//
//   json program = manifest::load("matmul.json", "cuda");
//   manifest::Launch launch(program, 0, {{100, 70}, {70, 90}, {100, 90}}, facts);
//   // launch.file, launch.grid, launch.block, launch.scalars, launch.maps

#ifndef EXAMPLES_RAW_MANIFEST_H
#define EXAMPLES_RAW_MANIFEST_H

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace manifest {

using nlohmann::json;
using Shape = std::vector<int64_t>; // of a dense tensor

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The program for a driver: "cuda", "vulkan" or "cpu".
inline json load(const std::string &path, const std::string &driver) {
  json root = json::parse(readFile(path));
  if (root.at("format") != 1)
    throw std::runtime_error(path + " has a format newer than this program");
  for (json &program : root.at("programs"))
    if (program.at("driver") == driver)
      return program;
  throw std::runtime_error(path + " has no program for " + driver);
}

/// Elements of the dims from `first` on, together.
inline int64_t count(const Shape &shape, size_t first = 0) {
  int64_t elements = 1;
  for (size_t d = first; d < shape.size(); ++d)
    elements *= shape[d];
  return elements;
}

/// The value of an expression over dense operands. `facts` answers ["device", name],
/// `scalars` are those that the host passes along.
inline int64_t evaluate(const json &e, const std::vector<Shape> &operands,
                        const json &facts, const std::vector<int64_t> &scalars = {}) {
  if (e.is_boolean())
    return e.get<bool>();
  if (e.is_number())
    return e.get<int64_t>();
  std::string op = e.at(0);
  if (op == "device")
    return facts.value(e.at(1).get<std::string>(), int64_t(0));
  if (op == "dim")
    return operands.at(e.at(1)).at(e.at(2));
  if (op == "numel" || op == "span") // a dense operand spans its elements
    return count(operands.at(e.at(1)));
  if (op == "stride")
    return count(operands.at(e.at(1)), e.at(2).get<size_t>() + 1);
  if (op == "offset")
    return 0; // the kernel gets the address of element 0
  if (op == "scalar")
    return scalars.at(e.at(1));
  if (op == "align")
    return 256; // what our allocations have; larger counts as 256 too
  auto value = [&](size_t i) { return evaluate(e.at(i), operands, facts, scalars); };
  if (op == "and" || op == "or") {
    for (size_t i = 1; i < e.size(); ++i)
      if ((value(i) != 0) != (op == "and"))
        return op == "or";
    return op == "and";
  }
  int64_t a = value(1);
  if (op == "not")
    return !a;
  if (e.size() < 3)
    throw std::runtime_error("unknown expression " + e.dump());
  for (size_t i = 2; i < e.size(); ++i) {
    int64_t b = value(i);
    if (op == "add") a += b;
    else if (op == "sub") a -= b;
    else if (op == "mul") a *= b;
    else if (op == "floordiv") a /= b; // dims: never negative
    else if (op == "ceildiv") a = (a + b - 1) / b;
    else if (op == "mod") a %= b;
    else if (op == "min") a = std::min(a, b);
    else if (op == "max") a = std::max(a, b);
    else if (op == "eq") a = a == b;
    else if (op == "ne") a = a != b;
    else if (op == "lt") a = a < b;
    else if (op == "le") a = a <= b;
    else if (op == "gt") a = a > b;
    else if (op == "ge") a = a >= b;
    else throw std::runtime_error("unknown expression " + e.dump());
  }
  return a;
}

/// A scalar parameter: its bits, and how many bytes of them the kernel takes.
struct Scalar {
  uint64_t bits;
  size_t size;
};

/// A tensor map parameter: of which operand, and its box, outermost dim first.
struct TensorMap {
  size_t operand;
  std::string dtype;
  std::vector<uint32_t> box;
  unsigned swizzle; // bytes; 0: none
};

/// One launch of a dispatch: the variant whose guard holds, evaluated.
struct Launch {
  std::string name; // entry point
  std::string file; // as --emit=ptx and --emit=spirv call it
  unsigned grid[3], block[3], cluster[3], shared, subgroup;
  size_t buffers = 0; // come first among the parameters, in operand order
  std::vector<Scalar> scalars;
  std::vector<TensorMap> maps; // come last
  bool uniform; // vulkan: scalars in a uniform buffer, not in push constants

  Launch(const json &program, size_t dispatch,
         const std::vector<Shape> &operands, const json &facts,
         const std::vector<int64_t> &host = {})
      : operands(operands), facts(facts), host(host) {
    const json &entry = program.at("dispatches").at(dispatch);
    for (const json &check : entry.value("checks", json::array())) {
      const json &equal = check.at("equal");
      if (value(equal[0]) != value(equal[1]))
        throw std::runtime_error(check.at("message"));
    }
    for (const json &variant : entry.at("variants"))
      if (value(variant.at("guard"))) {
        fill(entry, variant);
        return;
      }
    throw std::runtime_error("no variant of " + entry.at("name").dump() +
                             " takes these shapes on this device");
  }

  /// The scalars side by side, each at its natural alignment.
  std::vector<uint8_t> pack() const {
    std::vector<uint8_t> bytes;
    for (const Scalar &scalar : scalars) {
      size_t at = (bytes.size() + scalar.size - 1) / scalar.size * scalar.size;
      bytes.resize(at + scalar.size);
      std::memcpy(&bytes[at], &scalar.bits, scalar.size); // little-endian
    }
    return bytes;
  }

private:
  std::vector<Shape> operands;
  json facts;
  std::vector<int64_t> host; // scalars

  int64_t value(const json &e) const { return evaluate(e, operands, facts, host); }

  void fill(const json &entry, const json &variant) {
    name = variant.at("name");
    std::string section = variant.at("section");
    file = section.substr(0, section.find('/') + 1) + name +
           section.substr(section.rfind('.'));
    for (int i = 0; i < 3; ++i) {
      grid[i] = unsigned(value(variant.at("grid")[i]));
      block[i] = variant.at("block")[i];
      cluster[i] = variant.at("cluster")[i];
    }
    shared = variant.value("shared", 0u);
    subgroup = variant.value("subgroup", 0u);
    uniform = variant.value("scalars_in", "push") == "uniform";
    for (const json &param : variant.at("params")) {
      if (param.contains("buffer")) {
        ++buffers;
        continue;
      }
      if (param.contains("tensor_map")) {
        size_t operand = param["tensor_map"];
        maps.push_back({operand, entry.at("operands").at(operand).at("dtype"),
                        param.at("box"), param.at("swizzle")});
        if (param.size() != 3) // a kind of map that this file does not know
          throw std::runtime_error("unknown tensor map " + param.dump());
        continue;
      }
      std::string type = param.at("scalar");
      scalars.push_back(
          {uint64_t(value(param.at("value"))),
           type == "i64" || type == "f64" ? size_t(8) : size_t(4)});
    }
  }
};

} // namespace manifest

#endif
