// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON with paths in its errors; see json_reader.h.

#include "core/json_reader.h"

#include <nlohmann/json.hpp>

namespace tilewright::runtime {

namespace {

const JsonValue &nullValue() {
  static const JsonValue null;
  return null;
}

// How a value looks in a message: short, on one line.
std::string preview(const JsonValue &value) {
  using Kind = JsonValue::Kind;
  nlohmann::json scalar;
  switch (value.kind) {
  case Kind::Null:
    return "nothing";
  case Kind::Object:
    return "an object";
  case Kind::Array:
    return "an array of " + std::to_string(value.elements.size());
  case Kind::Boolean:
    return value.boolean ? "true" : "false";
  case Kind::Integer:
    return std::to_string(value.integer);
  case Kind::Real:
    return value.text.substr(0, 60);
  case Kind::String:
    scalar = value.text;
    break;
  }
  std::string text =
      scalar.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "…" : text;
}

// Makes the tree of what the library's parser comes by.
class TreeBuilder : public nlohmann::json::json_sax_t {
public:
  explicit TreeBuilder(JsonValue &root) { open.push_back(&root); }
  std::string error;

  bool null() override {
    add(JsonValue::Kind::Null);
    return true;
  }
  bool boolean(bool value) override {
    add(JsonValue::Kind::Boolean).boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override {
    add(JsonValue::Kind::Integer).integer = value;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= uint64_t(INT64_MAX))
      return number_integer(static_cast<int64_t>(value));
    return number_float(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t &written) override {
    JsonValue &number = add(JsonValue::Kind::Real);
    number.real = value;
    number.text = written;
    return true;
  }
  bool string(string_t &value) override {
    add(JsonValue::Kind::String).text = std::move(value);
    return true;
  }
  bool binary(binary_t &) override { return false; } // JSON text has none
  bool start_object(size_t) override { return enter(JsonValue::Kind::Object); }
  bool start_array(size_t) override { return enter(JsonValue::Kind::Array); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t &name) override {
    open.back()->keys.push_back(std::move(name));
    return true;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::json::exception &e) override {
    error = e.what();
    return false;
  }

private:
  // A value where the text is; that of the document is there already.
  JsonValue &add(JsonValue::Kind kind) {
    JsonValue *value = open.back();
    if (started) {
      value->elements.emplace_back();
      value = &value->elements.back();
    }
    started = true;
    value->kind = kind;
    return *value;
  }
  bool enter(JsonValue::Kind kind) {
    bool isRoot = !started;
    JsonValue &value = add(kind);
    if (!isRoot)
      open.push_back(&value);
    return true;
  }
  bool leave() {
    if (open.size() > 1)
      open.pop_back();
    return true;
  }

  // Ancestors of what comes next: their vectors do not grow while they are open.
  std::vector<JsonValue *> open;
  bool started = false;
};

} // namespace

const JsonValue *JsonValue::find(std::string_view key) const {
  if (kind != Kind::Object)
    return nullptr;
  for (size_t i = keys.size(); i-- > 0;)
    if (keys[i] == key)
      return &elements[i];
  return nullptr;
}

Status parseJson(const std::string &what, std::string_view text,
                 JsonValue &result) {
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
  result = JsonValue();
  TreeBuilder builder(result);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return Status::ok();
  // "[json.exception.parse_error.101] parse error at …"
  const std::string &reason = builder.error;
  size_t close = reason.find("] ");
  return corruptArtifact(
      what + ": " +
      (close == std::string::npos ? reason : reason.substr(close + 2)));
}

Status JsonCursor::expected(const std::string &what) const {
  return corruptArtifact(path + ": expected " + what + "; found " +
                         preview(*value));
}

Status JsonCursor::error(const std::string &message) const {
  return corruptArtifact(path + ": " + message);
}

bool JsonCursor::has(const char *key) const { return value->find(key); }

JsonCursor JsonCursor::operator[](const char *key) const {
  const JsonValue *found = value->find(key);
  return JsonCursor(found ? *found : nullValue(),
                    path.empty() ? key : path + "." + key);
}

JsonCursor JsonCursor::operator[](size_t i) const {
  bool there = value->is(JsonValue::Kind::Array) && i < value->elements.size();
  return JsonCursor(there ? value->elements[i] : nullValue(),
                    path + "[" + std::to_string(i) + "]");
}

size_t JsonCursor::size() const {
  return value->is(JsonValue::Kind::Null) ? 0
         : value->is(JsonValue::Kind::Array) || value->is(JsonValue::Kind::Object)
             ? value->elements.size()
             : 1;
}

Status JsonCursor::object() const {
  return value->is(JsonValue::Kind::Object) ? Status::ok() : expected("an object");
}

Status JsonCursor::array(size_t limit) const {
  if (!value->is(JsonValue::Kind::Array))
    return expected("an array");
  if (size() > limit)
    return error("has " + std::to_string(size()) +
                 " elements; the limit is " + std::to_string(limit));
  return Status::ok();
}

Status JsonCursor::string(std::string &result) const {
  const std::string &text = value->text;
  if (!value->is(JsonValue::Kind::String) || text.empty() ||
      text.size() > 4096 || text.find('\0') != std::string::npos)
    return expected("a string of 1 to 4096 characters");
  result = text;
  return Status::ok();
}

Status JsonCursor::integer(int64_t low, int64_t high, int64_t &result) const {
  bool fits = value->is(JsonValue::Kind::Integer);
  int64_t number = value->integer;
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
  if (!value->is(JsonValue::Kind::Boolean))
    return expected("true or false");
  result = value->boolean;
  return Status::ok();
}

} // namespace tilewright::runtime
