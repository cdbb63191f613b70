// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON document read with errors that say where: a cursor is a value and the
// path that led to it, "programs[0].dispatches[2].grid[1]".
//
// The text may come from anywhere: parsing caps the nesting first, and no
// accessor throws.
#ifndef TILEWRIGHT_CORE_JSON_READER_H
#define TILEWRIGHT_CORE_JSON_READER_H

#include "core/status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright::runtime {

/// Deeper JSON is refused before it is parsed.
constexpr int kMaxJsonDepth = 96;

/// `what` names the document in messages.
Status parseJson(const std::string &what, std::string_view text,
                 nlohmann::json &result);

class JsonCursor {
public:
  JsonCursor(const nlohmann::json &value, std::string path)
      : value(&value), path(std::move(path)) {}

  const nlohmann::json &json() const { return *value; }
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
  const nlohmann::json *value;
  std::string path;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_JSON_READER_H
