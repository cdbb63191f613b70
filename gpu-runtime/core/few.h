// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array whose length a call knows: without host memory of its own while it is
// short, as nearly all are.
#ifndef TILEWRIGHT_CORE_FEW_H
#define TILEWRIGHT_CORE_FEW_H

#include <cstddef>
#include <vector>

namespace tilewright::runtime {

template <typename T, size_t N = 8> class Few {
public:
  explicit Few(size_t count) : many(count > N ? count : 0), count(count) {}
  Few(const Few &) = delete;
  Few &operator=(const Few &) = delete;

  T *data() { return count > N ? many.data() : few; }
  const T *data() const { return count > N ? many.data() : few; }
  size_t size() const { return count; }
  T &operator[](size_t i) { return data()[i]; }

private:
  T few[N] = {};
  std::vector<T> many;
  size_t count;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_FEW_H
