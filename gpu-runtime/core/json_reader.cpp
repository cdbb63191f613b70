// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON with paths in its errors; see json_reader.h.

#include "core/json_reader.h"

namespace tilewright::runtime {

namespace {

const nlohmann::json &nullValue() {
  static const nlohmann::json null;
  return null;
}

// How a value looks in a message: short, on one line.
std::string preview(const nlohmann::json &value) {
  if (value.is_null())
    return "nothing";
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "an array of " + std::to_string(value.size());
  std::string text =
      value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "…" : text;
}

} // namespace

Status parseJson(const std::string &what, std::string_view text,
                 nlohmann::json &result) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth)
        return corruptArtifact(what + ": nested deeper than " +
                               std::to_string(kMaxJsonDepth) +
                               " levels at byte " + std::to_string(i));
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  try {
    result = nlohmann::json::parse(text.begin(), text.end());
  } catch (const nlohmann::json::exception &e) {
    std::string reason = e.what();
    // "[json.exception.parse_error.101] parse error at …"
    size_t close = reason.find("] ");
    return corruptArtifact(
        what + ": " +
        (close == std::string::npos ? reason : reason.substr(close + 2)));
  }
  return Status::ok();
}

Status JsonCursor::expected(const std::string &what) const {
  return corruptArtifact(path + ": expected " + what + "; found " +
                         preview(*value));
}

Status JsonCursor::error(const std::string &message) const {
  return corruptArtifact(path + ": " + message);
}

bool JsonCursor::has(const char *key) const {
  return value->is_object() && value->contains(key);
}

JsonCursor JsonCursor::operator[](const char *key) const {
  auto found = value->is_object() ? value->find(key) : value->end();
  return JsonCursor(found != value->end() ? *found : nullValue(),
                    path.empty() ? key : path + "." + key);
}

JsonCursor JsonCursor::operator[](size_t i) const {
  return JsonCursor(value->is_array() && i < value->size() ? (*value)[i]
                                                           : nullValue(),
                    path + "[" + std::to_string(i) + "]");
}

size_t JsonCursor::size() const { return value->size(); }

Status JsonCursor::object() const {
  return value->is_object() ? Status::ok() : expected("an object");
}

Status JsonCursor::array(size_t limit) const {
  if (!value->is_array())
    return expected("an array");
  if (value->size() > limit)
    return error("has " + std::to_string(value->size()) +
                 " elements; the limit is " + std::to_string(limit));
  return Status::ok();
}

Status JsonCursor::string(std::string &result) const {
  const std::string *text = value->get_ptr<const std::string *>();
  if (!text || text->empty() || text->size() > 4096 ||
      text->find('\0') != std::string::npos)
    return expected("a string of 1 to 4096 characters");
  result = *text;
  return Status::ok();
}

Status JsonCursor::integer(int64_t low, int64_t high, int64_t &result) const {
  bool fits = false;
  int64_t number = 0;
  if (value->is_number_unsigned()) {
    uint64_t bits = *value->get_ptr<const uint64_t *>();
    fits = bits <= uint64_t(INT64_MAX);
    number = static_cast<int64_t>(bits);
  } else if (value->is_number_integer()) {
    number = *value->get_ptr<const int64_t *>();
    fits = true;
  }
  if (!fits || number < low || number > high) {
    std::string range = "an integer";
    if (low == INT64_MIN && high == INT64_MAX)
      range += " of 64 bits";
    else if (high == INT64_MAX)
      range += " of at least " + std::to_string(low);
    else
      range += " from " + std::to_string(low) + " to " + std::to_string(high);
    return expected(range);
  }
  result = number;
  return Status::ok();
}

Status JsonCursor::boolean(bool &result) const {
  const bool *flag = value->get_ptr<const bool *>();
  if (!flag)
    return expected("true or false");
  result = *flag;
  return Status::ok();
}

} // namespace tilewright::runtime
