// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value, or the reason why there is none. The layout library is plain C++
// (no LLVM, no exceptions), so it carries its own small result type; callers
// turn the text into a diagnostic at their operation.

#ifndef TILEWRIGHT_LAYOUT_RESULT_H
#define TILEWRIGHT_LAYOUT_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace tilewright::layout {

/// The text of an error: lower case, without a full stop, ready to follow
/// "error: ".
struct Error {
  std::string text;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T v) : val(std::move(v)) {}
  Result(Error e) : err(std::move(e.text)) {}

  explicit operator bool() const { return val.has_value(); }
  /// Both need a value to be there.
  T &operator*() { return *val; }
  const T &operator*() const { return *val; }
  T *operator->() { return &*val; }
  const T *operator->() const { return &*val; }
  /// Empty where there is a value.
  const std::string &error() const { return err; }

private:
  std::optional<T> val;
  std::string err;
};

} // namespace tilewright::layout

#endif // TILEWRIGHT_LAYOUT_RESULT_H
