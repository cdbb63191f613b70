// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts for tests: a writer for the container, and the program of
// host_program.c with its manifest.
#ifndef TILEWRIGHT_TEST_RUNTIME_TEST_PROGRAM_H
#define TILEWRIGHT_TEST_RUNTIME_TEST_PROGRAM_H

#include "tilewright/tilewright.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::test {

using Sections = std::vector<std::pair<std::string, std::string>>;

/// A valid container with these sections.
std::string writeArtifact(const Sections &sections);
/// Puts the right hash over bytes that were tampered with.
void rehash(std::string &artifact);

/// The shared object of host_program.c.
const std::string &hostProgram();
/// The manifest of its program, and the sections that it names.
std::string testManifest();
Sections testSections();
/// All of it.
const std::string &testArtifact();

/// Releases, and returns "code: message", or "" for success.
std::string take(tilewright_status *status);

#define EXPECT_OK(call) EXPECT_EQ(::tilewright::test::take(call), "")
#define ASSERT_OK(call) ASSERT_EQ(::tilewright::test::take(call), "")
/// The call fails, and its message contains the text.
#define EXPECT_FAILS(call, text)                                               \
  EXPECT_PRED2(::tilewright::test::contains, ::tilewright::test::take(call),   \
               text)
bool contains(const std::string &text, const std::string &part);

/// An open cpu device with a stream and the test program.
class ProgramTest : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  tilewright_view *newView(int32_t dtype, std::vector<int64_t> dims);
  template <typename T>
  tilewright_view *tensor(int32_t dtype, std::vector<int64_t> dims,
                          const std::vector<T> &elements) {
    tilewright_view *view = newView(dtype, std::move(dims));
    EXPECT_OK(tilewright_view_write(view, stream, elements.data(),
                                    elements.size() * sizeof(T)));
    return view;
  }
  template <typename T> std::vector<T> elements(tilewright_view *view) {
    std::vector<T> result(tilewright_view_size(view) / sizeof(T));
    EXPECT_OK(tilewright_view_read(view, stream, result.size() * sizeof(T),
                                   result.data()));
    EXPECT_OK(tilewright_stream_synchronize(stream, TILEWRIGHT_FOREVER));
    return result;
  }
  /// Calls by name; results that are views are released at the end of the test.
  std::string call(const char *name, std::vector<tilewright_value> args,
                   std::vector<tilewright_value> &results);

  static tilewright_value value(tilewright_view *view) {
    return {TILEWRIGHT_TENSOR, view, 0};
  }
  static tilewright_value scalar(uint64_t bits) {
    return {TILEWRIGHT_SCALAR, nullptr, bits};
  }
  static tilewright_value scalar(float number);

  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  tilewright_stream *stream = nullptr;
  tilewright_program *program = nullptr;
  std::vector<tilewright_view *> owned;
};

} // namespace tilewright::test

#endif // TILEWRIGHT_TEST_RUNTIME_TEST_PROGRAM_H
