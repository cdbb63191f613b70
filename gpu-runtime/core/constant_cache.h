// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants that programs of a device have in common: tensors of a parameter file, and
// what functions at load computed of these. They are there as long as a program has them.
#ifndef TILEWRIGHT_CORE_CONSTANT_CACHE_H
#define TILEWRIGHT_CORE_CONSTANT_CACHE_H

#include "core/view.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tilewright::runtime {

/// Known by a text that says which constant it is, its type included. Thread-safe.
class ConstantCache {
public:
  /// Whether some program has it still; `view` is its.
  bool find(const std::string &key, View &view);
  /// For programs that come later. All of `view` has been written and is read only. Of
  /// two that were loaded at once, the second gets what the first has.
  void share(const std::string &key, View &view);

private:
  struct Entry {
    std::weak_ptr<Buffer> buffer;
    View view; // without its buffer
  };
  static bool take(const Entry &entry, View &view);

  std::mutex mutex;
  std::map<std::string, Entry> entries;
  size_t most = 64; // from here on, those that nobody has any more go
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_CONSTANT_CACHE_H
