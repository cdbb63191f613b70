// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps that were encoded already. Programs are launched on the same buffers
// again and again, and a driver takes a microsecond for each map.
#ifndef TILEWRIGHT_CORE_TENSOR_MAP_CACHE_H
#define TILEWRIGHT_CORE_TENSOR_MAP_CACHE_H

#include "core/driver.h"

#include <array>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <tuple>

namespace tilewright::runtime {

using TensorMapBytes = std::array<uint8_t, 8 * kTensorMapSlots>;

/// Known by all of the description; the map that nobody asked for longest goes first.
/// Thread-safe. A map has an address and does not own it: one of a buffer that is gone
/// is right for the next one at its place.
class TensorMapCache {
public:
  explicit TensorMapCache(size_t most = 256) : most(most) {}

  using Encode = std::function<Status(const TensorMapDesc &, TensorMapBytes &)>;

  /// The map of `desc`, by `encode` where it is not here. Errors are not kept.
  Status get(const TensorMapDesc &desc, const Encode &encode, TensorMapBytes &result);

private:
  using Key = std::tuple<tw_dtype, uint64_t, std::vector<uint64_t>, std::vector<uint64_t>,
                         std::vector<uint32_t>, unsigned, bool,
                         std::optional<TensorMapDesc::Image>>;
  struct Entry {
    TensorMapBytes bytes;
    std::list<std::map<Key, Entry>::iterator>::iterator used;
  };

  size_t most;
  std::mutex mutex;
  std::map<Key, Entry> entries;
  std::list<std::map<Key, Entry>::iterator> order; // the latest in front
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_TENSOR_MAP_CACHE_H
