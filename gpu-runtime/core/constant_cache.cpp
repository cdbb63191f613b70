// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants that programs have in common; see constant_cache.h.

#include "core/constant_cache.h"

#include <algorithm>

namespace tilewright::runtime {

bool ConstantCache::take(const Entry &entry, View &view) {
  std::shared_ptr<Buffer> buffer = entry.buffer.lock();
  if (!buffer)
    return false;
  view = entry.view;
  view.buffer = std::move(buffer);
  return true;
}

bool ConstantCache::find(const std::string &key, View &view) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = entries.find(key);
  return found != entries.end() && take(found->second, view);
}

void ConstantCache::share(const std::string &key, View &view) {
  View replaced = view; // outlives the lock: a buffer that goes asks for others
  std::lock_guard<std::mutex> lock(mutex);
  auto found = entries.find(key);
  if (found != entries.end() && take(found->second, view))
    return;
  if (entries.size() >= most) {
    for (auto it = entries.begin(); it != entries.end();)
      it = it->second.buffer.expired() ? entries.erase(it) : std::next(it);
    most = std::max<size_t>(64, 2 * entries.size());
  }
  Entry &entry = entries[key];
  entry.buffer = view.buffer;
  entry.view = view;
  entry.view.buffer = nullptr;
}

} // namespace tilewright::runtime
