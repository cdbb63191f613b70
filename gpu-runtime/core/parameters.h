// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parameter file: named tensors in the format safetensors, mapped into memory.
//
//   0     8              8 + n
//   ┌─────┬──────────────┬───────────
//   │  n  │ n bytes JSON │ data …
//   └─────┴──────────────┴───────────
//   {"w": {"dtype": "F32", "shape": [8, 4], "data_offsets": [0, 128]}, …}
//
// Offsets count from the beginning of the data. open() checks the whole header before
// any tensor is used: its length, the JSON, element types, shapes and sizes, that
// tensors lie in the file and apart from each other.
#ifndef TILEWRIGHT_CORE_PARAMETERS_H
#define TILEWRIGHT_CORE_PARAMETERS_H

#include "core/status.h"
#include "tilewright/program_abi.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::runtime {

class ParameterFile {
public:
  struct Tensor {
    std::string dtype; // as the file writes it: "F32"
    std::vector<int64_t> shape;
    const uint8_t *data; // in the mapping
    uint64_t size;       // bytes
  };

  /// Maps a file, read-only. All who have the same file open share one mapping. The
  /// file must not be changed or truncated in place meanwhile; replacing it by
  /// another (rename) is safe.
  static Status open(const std::string &path,
                     std::shared_ptr<const ParameterFile> &result);
  ~ParameterFile();
  ParameterFile(const ParameterFile &) = delete;
  ParameterFile &operator=(const ParameterFile &) = delete;

  /// The same of all who have the same state of the same file open, at any time.
  const std::string &identity() const { return key; }
  /// By name, in the order of names.
  const std::map<std::string, Tensor> &tensors() const { return table; }
  /// The tensor of that name, type and static shape. The error says what there is
  /// instead.
  Status find(const std::string &name, tw_dtype dtype,
              const std::vector<int64_t> &shape, const Tensor *&result) const;

private:
  ParameterFile() = default;
  Status map(int file, uint64_t size);
  Status readHeader();

  uint8_t *base = nullptr;
  uint64_t bytes = 0;
  std::string key;
  std::map<std::string, Tensor> table;
};

/// Whether the format's element type `name` serves for `dtype`: BOOL is i1, U8 and
/// I8 are i8; F8_E4M3 is f8E4M3FN. No name serves for i4 and the FNUZ types.
bool isParameterDtype(const std::string &name, tw_dtype dtype);

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_PARAMETERS_H
