// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of kernels; see kernel_argument.h.

#include "kernel_argument.h"

#include "core/dtype.h"
#include "files.h"
#include "input.h"

#include <cstring>

namespace tilewright::run {

namespace {

/// What a driver passes to a kernel at most.
constexpr size_t maxArgumentBytes = 32764;

[[noreturn]] void fail(size_t index, const std::string &message) {
  throw RunError("argument " + std::to_string(index) + ": " + message);
}

bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// Reads like --input, but says "argument" in messages.
HostTensor parseValue(const std::string &text, size_t index) {
  try {
    return parseInput(text, index, TW_F32);
  } catch (const RunError &e) {
    std::string message = e.what(), prefix = "input " + std::to_string(index);
    if (!startsWith(message, prefix))
      throw;
    throw RunError("argument " + std::to_string(index) +
                   message.substr(prefix.size()));
  }
}

KernelBuffer parseBuffer(std::string text, size_t index) {
  KernelBuffer buffer;
  constexpr const char *undefined = "=undefined";
  size_t length = std::strlen(undefined);
  if (text.size() > length &&
      text.compare(text.size() - length, length, undefined) == 0) {
    buffer.isUndefined = true;
    text.resize(text.size() - length);
  }
  buffer.value = parseValue(text, index);
  if (buffer.value.dims.empty() && text[0] != '@')
    fail(index, buffer.isUndefined ? "a scalar cannot be undefined"
                                   : "'" + text + "' has no dims: no buffer");
  if (buffer.value.bytes.empty())
    fail(index, "a buffer of no elements");
  return buffer;
}

/// Appends at a multiple of `align`, as C does.
void append(KernelArgument &argument, const uint8_t *bytes, size_t size,
            size_t align) {
  size_t at = (argument.bytes.size() + align - 1) / align * align;
  argument.bytes.resize(at + size);
  if (size)
    std::memcpy(argument.bytes.data() + at, bytes, size);
}

/// A buffer's place in the bytes, which its address takes later.
void appendBuffer(KernelArgument &argument, const std::string &text,
                  size_t index) {
  KernelBuffer buffer = parseBuffer(text, index);
  const uint8_t address[8] = {};
  append(argument, address, sizeof(address), alignof(uint64_t));
  buffer.offset = argument.bytes.size() - sizeof(address);
  argument.buffers.push_back(std::move(buffer));
}

/// The fields between braces, split at commas outside brackets.
std::vector<std::string> splitFields(const std::string &text, size_t index) {
  std::vector<std::string> fields(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '[';
    depth -= c == ']';
    if (depth < 0 || depth > 1)
      fail(index, "brackets do not match in '" + text + "'");
    if (c == ',' && depth == 0)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  if (depth != 0)
    fail(index, "brackets do not match in '" + text + "'");
  return fields;
}

void parseStruct(KernelArgument &argument, const std::string &text,
                 size_t index) {
  if (text.size() < 3 || text.front() != '{' || text.back() != '}')
    fail(index, "expected struct:{TYPE:VALUE,…}, found 'struct:" + text + "'");
  size_t widest = 1;
  for (std::string &field :
       splitFields(text.substr(1, text.size() - 2), index)) {
    if (field.size() > 2 && field.front() == '[' && field.back() == ']') {
      appendBuffer(argument, field.substr(1, field.size() - 2), index);
      widest = std::max<size_t>(widest, 8);
      continue;
    }
    size_t colon = field.find(':');
    if (colon == std::string::npos)
      fail(index, "the field '" + field +
                      "' is neither TYPE:VALUE nor [BUFFER]");
    field[colon] = '=';
    HostTensor value = parseValue(field, index);
    size_t size = runtime::dtypeBytes(value.dtype);
    append(argument, value.bytes.data(), value.bytes.size(), size);
    widest = std::max(widest, size);
  }
  append(argument, nullptr, 0, widest);
}

void parseBytes(KernelArgument &argument, const std::string &text,
                size_t index) {
  if (!text.empty() && text[0] == '@') {
    std::string bytes = readFile(text.substr(1), kParameter);
    argument.bytes.assign(bytes.begin(), bytes.end());
  } else {
    if (text.size() % 2 != 0 ||
        text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      fail(index, "expected pairs of hexadecimal digits or @file, found '" +
                      text + "'");
    for (size_t i = 0; i < text.size(); i += 2)
      argument.bytes.push_back(
          static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
}

/// The numbers of "box=64x32", a number per dim; corners may be negative.
std::vector<int32_t> parseDims(const std::string &option, size_t index) {
  size_t equals = option.find('=');
  std::string name = option.substr(0, equals), text = option.substr(equals + 1);
  bool isCorner = name == "lower" || name == "upper";
  std::vector<int32_t> dims;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('x', begin), text.size());
    std::string digits = text.substr(begin, end - begin);
    bool isNegative = isCorner && startsWith(digits, "-");
    if (isNegative)
      digits.erase(0, 1);
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      fail(index, "expected " + name + "=NxN, found '" + option + "'");
    int32_t value = static_cast<int32_t>(std::stoul(digits));
    dims.push_back(isNegative ? -value : value);
    begin = end + 1;
  }
  return dims;
}

/// Whether box, corners and steps are those of a buffer with `rank` dims.
void checkMap(MapOptions &map, size_t rank, size_t index) {
  if (map.lower.empty() && map.upper.empty() && map.steps.empty()) {
    if (map.box.size() != rank)
      fail(index, "the box of the tensor map has " + std::to_string(map.box.size()) +
                      " dims, the buffer " + std::to_string(rank));
    return;
  }
  if (rank < 3)
    fail(index, "images have a dim of their number, dims of space, and channels; the buffer has " +
                    std::to_string(rank) + " dims");
  size_t space = rank - 2;
  if (map.steps.empty())
    map.steps.assign(space, 1);
  for (auto [name, dims] : {std::pair("lower", &map.lower), {"upper", &map.upper}, {"steps", &map.steps}})
    if (dims->size() != space)
      fail(index, std::string(name) + "= of the tensor map has " + std::to_string(dims->size()) +
                      " numbers, the images " + std::to_string(space) + " dims of space");
  if (map.box.size() != 2)
    fail(index, "the box of images is pixels x channels, not " + std::to_string(map.box.size()) +
                    " numbers");
}

/// Leading KEY=VALUE: pairs, then the buffer.
void parseTensorMap(KernelArgument &argument, std::string text, size_t index) {
  MapOptions &map = argument.map.emplace();
  while (true) {
    size_t colon = text.find(':');
    std::string option = text.substr(0, colon);
    if (startsWith(option, "box="))
      map.box = parseDims(option, index);
    else if (startsWith(option, "lower="))
      map.lower = parseDims(option, index);
    else if (startsWith(option, "upper="))
      map.upper = parseDims(option, index);
    else if (startsWith(option, "steps="))
      map.steps = parseDims(option, index);
    else if (option == "swizzle=32" || option == "swizzle=64" ||
             option == "swizzle=128")
      map.swizzle = static_cast<unsigned>(std::stoul(option.substr(8)));
    else if (option == "fill=nan")
      map.fillsNaN = true;
    else if (option == "by=address")
      map.isByAddress = true;
    else
      break;
    if (colon == std::string::npos)
      fail(index, "a tensor map needs a buffer behind its options");
    text = text.substr(colon + 1);
  }
  appendBuffer(argument, text, index);
  checkMap(map, argument.buffers.front().value.dims.size(), index);
  argument.bytes.assign(map.isByAddress ? 8 : 128, 0);
}

} // namespace

KernelArgument parseKernelArgument(const std::string &text, size_t index) {
  KernelArgument argument;
  if (startsWith(text, "struct:")) {
    argument.kind = "struct";
    parseStruct(argument, text.substr(7), index);
  } else if (startsWith(text, "tensormap:")) {
    argument.kind = "tensormap";
    parseTensorMap(argument, text.substr(10), index);
  } else if (startsWith(text, "bytes:")) {
    argument.kind = "bytes";
    parseBytes(argument, text.substr(6), index);
  } else {
    std::string type = text.substr(0, text.find('='));
    bool hasDims = !type.empty() && type[0] >= '0' && type[0] <= '9';
    if (hasDims || (!text.empty() && text[0] == '@')) {
      argument.kind = "buffer";
      appendBuffer(argument, text, index);
    } else {
      if (text.find("=undefined") != std::string::npos)
        fail(index, "a scalar cannot be undefined");
      HostTensor value = parseValue(text, index);
      argument.kind = runtime::dtypeName(value.dtype);
      argument.bytes = value.bytes;
    }
  }
  if (argument.bytes.empty() || argument.bytes.size() > maxArgumentBytes)
    fail(index, "it has " + std::to_string(argument.bytes.size()) +
                    " bytes; a kernel takes 1 to " +
                    std::to_string(maxArgumentBytes));
  return argument;
}

} // namespace tilewright::run
