// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel as PTX, which others/make wrote. Its first lines are comments that say how it is launched:
//
//   kernel NAME threads N shared BYTES
//   grid 2x1x1 cluster 1x1x1            and what follows: only where a host program of others was recorded
//   sizes M N K
//   workspace BYTES                     buffer 3, zeros; of Triton: for each block
//   parameters BYTES                    one parameter, a struct
//   word OFFSET VALUE                   its words of 8 bytes that are neither zero nor below
//   pointer OFFSET buffer INDEX offset BYTES
//   tensormap OFFSET buffer INDEX offset BYTES type T dims ..x.. strides .. box .. steps .. interleave I swizzle S
//             promotion P fill F        arguments of cuTensorMapEncodeTiled
//   data INDEX HEX...                   two bytes each: what the buffer holds, line after line

#ifndef TILEWRIGHT_PTXSIM_TEST_OTHERS_KERNELFILE_H
#define TILEWRIGHT_PTXSIM_TEST_OTHERS_KERNELFILE_H

#include "Gpu.h"

#include <fstream>
#include <map>
#include <sstream>

/// Ends a test whose file was left out.
#define SKIP_WITHOUT(name)                                                                                             \
  if (std::string reason = others::KernelFile::skipped(name); !reason.empty())                                         \
  GTEST_SKIP() << (name) << ": " << reason

namespace others {

struct KernelFile {
  std::string text, kernel;
  Shape shape;
  std::array<unsigned, 3> sizes = {};
  size_t workspace = 0;
  std::map<unsigned, std::vector<uint8_t>> data;

  static std::string path(const std::string &name) {
    return std::string(PTXSIM_OTHERS) + "/" + name;
  }

  /// Why the file was not made, empty if it was. Without nvcc CUTLASS's are not.
  static std::string skipped(const std::string &name) {
    if (name.rfind("cutlass/", 0) != 0 || std::ifstream(path(name)))
      return "";
    std::string reason = "nobody made it";
    std::ifstream file(path("skipped"));
    std::getline(file, reason);
    return reason;
  }

  explicit KernelFile(const std::string &name) {
    std::ifstream file(path(name));
    if (!file)
      ADD_FAILURE() << "no file " << path(name) << "; see others/make";
    std::string line;
    while (file.peek() == '/' && std::getline(file, line)) {
      std::istringstream words(line.substr(2));
      read(words);
    }
    std::stringstream rest;
    rest << file.rdbuf();
    text = rest.str();
  }

  /// The recorded struct, with these buffers.
  std::vector<uint8_t> parameters(Gpu &gpu, const std::vector<CUdeviceptr> &buffers) const {
    std::vector<uint8_t> bytes(parameterBytes);
    auto put = [&](size_t at, const void *value, size_t size) {
      std::memcpy(&bytes[at], value, std::min(size, bytes.size() - at));
    };
    for (const auto &[at, value] : words)
      put(at, &value, sizeof(value));
    for (const Pointer &pointer : pointers) {
      uint64_t value = buffers.at(pointer.buffer) + pointer.offset;
      put(pointer.at, &value, sizeof(value));
    }
    for (const TensorMap &map : tensorMaps) {
      CUtensorMap encoded = map.encode(gpu, buffers);
      put(map.pointer.at, &encoded, sizeof(encoded));
    }
    return bytes;
  }

private:
  struct Pointer {
    size_t at;
    unsigned buffer;
    uint64_t offset;
  };
  struct TensorMap {
    Pointer pointer;
    int type, interleave, swizzle, promotion, fill;
    std::vector<uint64_t> dims, strides, box, steps;

    CUtensorMap encode(Gpu &gpu, const std::vector<CUdeviceptr> &buffers) const {
      CUtensorMap map;
      std::vector<uint32_t> narrowBox(box.begin(), box.end()), narrowSteps(steps.begin(), steps.end());
      gpu.must(gpu.cuTensorMapEncodeTiled(
          &map, static_cast<CUtensorMapDataType>(type), static_cast<cuuint32_t>(dims.size()),
          reinterpret_cast<void *>(buffers.at(pointer.buffer) + pointer.offset),
          reinterpret_cast<const cuuint64_t *>(dims.data()), reinterpret_cast<const cuuint64_t *>(strides.data()),
          narrowBox.data(), narrowSteps.data(), static_cast<CUtensorMapInterleave>(interleave),
          static_cast<CUtensorMapSwizzle>(swizzle), static_cast<CUtensorMapL2promotion>(promotion),
          static_cast<CUtensorMapFloatOOBfill>(fill)));
      return map;
    }
  };

  static std::vector<uint64_t> numbers(std::istringstream &from) {
    std::string list, number;
    from >> list;
    std::vector<uint64_t> result;
    for (std::istringstream parts(list); std::getline(parts, number, 'x');)
      result.push_back(std::stoull(number));
    return result;
  }
  static std::array<unsigned, 3> triple(std::istringstream &from) {
    std::vector<uint64_t> list = numbers(from);
    return {unsigned(list.at(0)), unsigned(list.at(1)), unsigned(list.at(2))};
  }
  static Pointer pointer(std::istringstream &from) {
    Pointer result;
    std::string word;
    from >> result.at >> word >> result.buffer >> word >> result.offset;
    return result;
  }

  void read(std::istringstream &line) {
    std::string word, value;
    size_t at;
    line >> word;
    if (word == "kernel") {
      line >> kernel >> word >> shape.block[0] >> word >> shape.shared;
    } else if (word == "grid") {
      shape.grid = triple(line);
      line >> word;
      shape.cluster = triple(line);
    } else if (word == "sizes") {
      line >> sizes[0] >> sizes[1] >> sizes[2];
    } else if (word == "workspace") {
      line >> workspace;
    } else if (word == "parameters") {
      line >> parameterBytes;
    } else if (word == "data") {
      line >> at;
      for (std::vector<uint8_t> &bytes = data[unsigned(at)]; line >> value;)
        for (unsigned shift : {0, 8})
          bytes.push_back(static_cast<uint8_t>(std::stoul(value, nullptr, 16) >> shift));
    } else if (word == "word") {
      line >> at >> value;
      words.emplace_back(at, std::stoull(value, nullptr, 16));
    } else if (word == "pointer") {
      pointers.push_back(pointer(line));
    } else if (word == "tensormap") {
      TensorMap map;
      map.pointer = pointer(line);
      line >> word >> map.type;
      for (auto *list : {&map.dims, &map.strides, &map.box, &map.steps}) {
        line >> word;
        *list = numbers(line);
      }
      line >> word >> map.interleave >> word >> map.swizzle >> word >> map.promotion >> word >> map.fill;
      tensorMaps.push_back(map);
    }
  }

  size_t parameterBytes = 0;
  std::vector<std::pair<size_t, uint64_t>> words;
  std::vector<Pointer> pointers;
  std::vector<TensorMap> tensorMaps;
};

} // namespace others

#endif // TILEWRIGHT_PTXSIM_TEST_OTHERS_KERNELFILE_H
