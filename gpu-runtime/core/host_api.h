// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a host program: the context behind `tw_context`, the tensors
// behind `tw_view`, and the table of functions that host code calls
// (tilewright/program_abi.h).
//
// The context records the first error; from then on every function does
// nothing. It also owns every view that host code has not released, so that a
// call cut short by an error leaks nothing.
#ifndef TILEWRIGHT_CORE_HOST_API_H
#define TILEWRIGHT_CORE_HOST_API_H

#include "core/program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

/// A tensor as host code holds it.
struct tw_view {
  tilewright::runtime::View view;
  int64_t references = 1;
  void *mapped = nullptr; // while mapped
  bool mappedForWriting = false;
  bool staged = false; // `mapped` is host memory of the runtime's own

  tw_view() = default;
  ~tw_view();
  tw_view(const tw_view &) = delete;
  tw_view &operator=(const tw_view &) = delete;
};

namespace tilewright::runtime {

/// The tensors of one call: the first few without memory of their own, more in pieces
/// that double. A pointer is one of them if it points to a place that has one; nothing
/// is read through it.
class CallViews {
public:
  CallViews() = default;
  CallViews(const CallViews &) = delete;
  CallViews &operator=(const CallViews &) = delete;

  tw_view *add(View view);
  bool has(const tw_view *view) { return find(view); }
  /// One of them.
  void remove(const tw_view *view);

private:
  struct Place {
    std::optional<tw_view> view;
    Place *nextUnused = nullptr;
  };
  static constexpr size_t kFirst = 8;
  static size_t sizeOf(size_t piece) { return kFirst << (piece + 1); }
  Place *find(const tw_view *view);

  Place first[kFirst];
  std::vector<std::unique_ptr<Place[]>> more;
  Place *unused = nullptr;              // had one
  Place *fresh = first, *end = first + kFirst; // never had
};

} // namespace tilewright::runtime

/// One call of one function, used by one thread.
struct tw_context {
  tw_context(tilewright::runtime::Program &program,
             tilewright::runtime::Stream &stream, std::string where)
      : program(program), stream(stream), where(std::move(where)) {}
  tw_context(const tw_context &) = delete;
  tw_context &operator=(const tw_context &) = delete;

  /// Keeps the first error.
  void record(tilewright::runtime::Status status);
  bool ok() const { return error.isOk(); }
  /// A new reference for host code.
  tw_view *own(tilewright::runtime::View view);
  /// Records an error, and is false, for a pointer that is not a live view.
  bool isLive(const tw_view *view, const char *where);

  tilewright::runtime::Program &program;
  tilewright::runtime::Stream &stream;
  std::string where; // in front of errors that come after the call
  tilewright::runtime::Status error;
  tilewright::runtime::CallViews views;
};

namespace tilewright::runtime {

/// The table, the same for every program.
const TilewrightHostApi &hostApi();

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_HOST_API_H
