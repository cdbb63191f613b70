// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles one kernel in thread form for Vulkan and runs it on this machine's
// first Vulkan device, through the runtime's driver:
//
//   Buffer x = bytesOf<float>({1, 2}), y(8);
//   run(kernel text, {&x, &y}, {i32(2)}, /*grid=*/1);
//
// Without a device that can run subgroups of 8 the tests are skipped.

#ifndef TILEWRIGHT_TEST_UNIT_TARGET_SPIRV_VULKANKERNEL_H
#define TILEWRIGHT_TEST_UNIT_TARGET_SPIRV_VULKANKERNEL_H

#include "core/driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tilewright::test {

using Buffer = std::vector<uint8_t>;

template <typename T> Buffer bytesOf(const std::vector<T> &values) {
  Buffer bytes(values.size() * sizeof(T));
  if (!bytes.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T> std::vector<T> valuesOf(const Buffer &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty())
    std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

struct Scalar {
  tw_dtype type;
  uint64_t bits;
};
inline Scalar i32(int32_t v) { return {TW_I32, uint64_t(int64_t(v))}; }
inline Scalar i64(int64_t v) { return {TW_I64, uint64_t(v)}; }
inline Scalar f32(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  return {TW_F32, bits};
}

class VulkanKernel : public testing::Test {
protected:
  void SetUp() override;

  /// `text` is a func.func @k with threads and subgroup in its launch. Buffers
  /// are written back.
  void run(const std::string &text, const std::vector<Buffer *> &buffers,
           const std::vector<Scalar> &scalars, uint32_t grid,
           const std::string &target = "vulkan:1.3+subgroup=8");

  /// The same for a kernel in block form, which is distributed first.
  void runBlockForm(const std::string &text,
                    const std::vector<Buffer *> &buffers,
                    const std::vector<Scalar> &scalars, uint32_t grid);

  /// Loads %x (and %y) of `in` from the inputs, runs `body`, which defines %r
  /// of type `out`, for each of the elements.
  Buffer map(const std::string &in, const std::string &out,
             const std::string &body, Buffer x, Buffer y, size_t elements,
             const std::string &target = "vulkan:1.3+subgroup=8");

  template <typename Out, typename In>
  std::vector<Out> map(const std::string &in, const std::string &out,
                       const std::string &body, const std::vector<In> &x,
                       const std::vector<In> &y = {}) {
    return valuesOf<Out>(map(in, out, body, bytesOf(x), bytesOf(y), x.size()));
  }
};

/// Kernel attributes for blocks of `threads` in subgroups of 8.
std::string launch(int threads);

/// Ops that define %bx, %lane, %sg and the thread's number in its block, %tid.
extern const char *const kThreadIds;

} // namespace tilewright::test

#endif
