// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/tensor_map_cache.h"

namespace tilewright::runtime {

Status TensorMapCache::get(const TensorMapDesc &desc, const Encode &encode,
                           TensorMapBytes &result) {
  Key key(desc.dtype, desc.address, desc.dims, desc.strides, desc.box, desc.swizzle,
          desc.fillsNaN, desc.image);
  std::lock_guard<std::mutex> lock(mutex);
  if (auto found = entries.find(key); found != entries.end()) {
    order.splice(order.begin(), order, found->second.used);
    result = found->second.bytes;
    return Status::ok();
  }
  if (Status s = encode(desc, result))
    return s;
  if (entries.size() >= most) {
    entries.erase(order.back());
    order.pop_back();
  }
  order.emplace_front(); // nothing is half there if memory ends
  try {
    order.front() = entries.emplace(std::move(key), Entry{result, order.begin()}).first;
  } catch (...) {
    order.pop_front();
    throw;
  }
  return Status::ok();
}

} // namespace tilewright::runtime
