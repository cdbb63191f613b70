// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON document read with errors that say where: a cursor is a value and the
// path that led to it, "programs[0].dispatches[2].grid[1]".
//
// The text may come from anywhere: parsing caps the nesting first, and no
// accessor throws. The document is a tree of our own, made by the library's parser:
// the library's own values ask for memory when they are destroyed, which aborts
// where there is none.
#ifndef TILEWRIGHT_CORE_JSON_READER_H
#define TILEWRIGHT_CORE_JSON_READER_H

#include "core/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

/// Deeper JSON is refused before it is parsed.
constexpr int kMaxJsonDepth = 96;

/// A document or a part of it.
struct JsonValue {
  enum class Kind : uint8_t { Null, Boolean, Integer, Real, String, Array, Object };
  Kind kind = Kind::Null;
  bool boolean = false;
  /// Integers beyond 64 bits with a sign are Real.
  int64_t integer = 0;
  double real = 0;
  /// Of a string; of a Real as it is written.
  std::string text;
  /// Elements of an array, or members of an object, whose keys are in `keys`
  /// in the same order; of a key that repeats the last counts.
  std::vector<JsonValue> elements;
  std::vector<std::string> keys;

  bool is(Kind wanted) const { return kind == wanted; }
  bool isNumber() const { return is(Kind::Integer) || is(Kind::Real); }
  /// Null: no such member, or no object.
  const JsonValue *find(std::string_view key) const;
};

/// `what` names the document in messages.
Status parseJson(const std::string &what, std::string_view text,
                 JsonValue &result);

class JsonCursor {
public:
  JsonCursor(const JsonValue &value, std::string path)
      : value(&value), path(std::move(path)) {}

  const JsonValue &json() const { return *value; }
  const std::string &where() const { return path; }

  /// "path: expected X; found Y".
  Status expected(const std::string &what) const;
  Status error(const std::string &message) const;

  bool has(const char *key) const;
  /// The member; a missing one is null, which every accessor refuses by name.
  JsonCursor operator[](const char *key) const;
  /// Element i; i < size().
  JsonCursor operator[](size_t i) const;
  size_t size() const;

  Status object() const;
  /// An array of at most `limit` elements.
  Status array(size_t limit) const;
  /// A string without NUL, of 1 to 4096 bytes.
  Status string(std::string &result) const;
  Status integer(int64_t low, int64_t high, int64_t &result) const;
  Status boolean(bool &result) const;

private:
  const JsonValue *value;
  std::string path;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_JSON_READER_H
