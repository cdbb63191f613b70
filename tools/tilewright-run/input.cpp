// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads inputs; see input.h.

#include "input.h"

#include "core/dtype.h"
#include "core/split_mix64.h"
#include "files.h"
#include "npy.h"
#include "number_formats.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tilewright::run {

namespace {

class RandomSource : public SplitMix64 {
public:
  using SplitMix64::SplitMix64;
  /// In (0, 1).
  double uniform() { return (double(next() >> 12) + 0.5) * 0x1p-52; }
  /// From 0 to count - 1; count 0 means 2^64. The bias is below 2^-40 for
  /// every range that fits a small type.
  uint64_t below(uint64_t count) {
    return count ? uint64_t((unsigned __int128)(next()) * count >> 64) : next();
  }
};

int64_t parseInteger(const std::string &text, const std::string &what) {
  errno = 0;
  char *end = nullptr;
  int64_t value = std::strtoll(text.c_str(), &end, 0);
  if (errno == ERANGE) {
    // The upper half of unsigned 64-bit words.
    errno = 0;
    value = static_cast<int64_t>(std::strtoull(text.c_str(), &end, 0));
    if (text[0] == '-')
      errno = ERANGE;
  }
  if (text.empty() || *end || errno)
    throw RunError(what + ": '" + text + "' is no integer");
  return value;
}

std::vector<std::string> splitColons(const std::string &text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    size_t end = text.find(':', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos)
      return parts;
    begin = end + 1;
  }
}

// The range of integers that a type can hold, both signed and unsigned.
void integerRange(tw_dtype dtype, int64_t &low, int64_t &high) {
  int bits = dtype == TW_I1 ? 1 : static_cast<int>(runtime::dtypeBits(dtype));
  low = bits == 64 ? INT64_MIN : bits == 1 ? 0 : -(int64_t(1) << (bits - 1));
  high = bits == 64 ? INT64_MAX : (int64_t(1) << bits) - 1;
}

int64_t encodeElement(tw_dtype dtype, const std::string &token,
                      const std::string &what) {
  if (runtime::isFloatDtype(dtype)) {
    char *end = nullptr;
    double value = std::strtod(token.c_str(), &end);
    if (token.empty() || *end)
      throw RunError(what + ": '" + token + "' is no number");
    uint64_t bits = encodeFloat(dtype, value);
    double stored = decodeFloat(dtype, bits);
    if (std::isfinite(value) && !std::isfinite(stored))
      throw RunError(what + ": " + token + " is beyond the range of " +
                     runtime::dtypeName(dtype));
    return static_cast<int64_t>(bits);
  }
  if (dtype == TW_I1 && (token == "true" || token == "false"))
    return token == "true";
  int64_t value = parseInteger(token, what), low, high;
  integerRange(dtype, low, high);
  if (value < low || value > high)
    throw RunError(what + ": " + token + " does not fit " +
                   runtime::dtypeName(dtype) + ", which holds " +
                   std::to_string(low) + " to " + std::to_string(high));
  return value;
}

void fillRandom(HostTensor &tensor, const std::vector<std::string> &parts,
                size_t index, const std::string &what) {
  if (!tensor.isFloat())
    throw RunError(what + ": random is for float types; for " +
                   runtime::dtypeName(tensor.dtype) + " say int:LO:HI");
  if (parts.size() > 3)
    throw RunError(what + ": expected random, random:SEED or random:SEED:DEVIATION");
  uint64_t seed = parts.size() > 1
                      ? static_cast<uint64_t>(parseInteger(parts[1], what))
                      : index;
  double deviation = 1;
  if (parts.size() == 3) {
    char *end = nullptr;
    deviation = std::strtod(parts[2].c_str(), &end);
    if (parts[2].empty() || *end || !(deviation >= 0) || !std::isfinite(deviation))
      throw RunError(what + ": '" + parts[2] +
                     "' is no standard deviation, a number from 0");
  }
  RandomSource source(seed);
  int64_t count = tensor.elements();
  for (int64_t i = 0; i < count; i += 2) {
    // Box-Muller: two normal values from two uniform ones.
    double radius = deviation * std::sqrt(-2 * std::log(source.uniform()));
    double angle = 6.283185307179586 * source.uniform();
    tensor.setBits(i, static_cast<int64_t>(
                          encodeFloat(tensor.dtype, radius * std::cos(angle))));
    if (i + 1 < count)
      tensor.setBits(i + 1, static_cast<int64_t>(encodeFloat(
                                tensor.dtype, radius * std::sin(angle))));
  }
}

void fillIntegers(HostTensor &tensor, const std::vector<std::string> &parts,
                  size_t index, const std::string &what) {
  if (parts.size() != 3 && parts.size() != 4)
    throw RunError(what + ": expected int:LO:HI or int:LO:HI:SEED");
  int64_t low = parseInteger(parts[1], what);
  int64_t high = parseInteger(parts[2], what);
  if (low > high)
    throw RunError(what + ": the range " + parts[1] + " to " + parts[2] +
                   " is empty");
  encodeElement(tensor.dtype, parts[1], what);
  encodeElement(tensor.dtype, parts[2], what);
  uint64_t seed = parts.size() == 4
                      ? static_cast<uint64_t>(parseInteger(parts[3], what))
                      : index;
  RandomSource source(seed);
  uint64_t count = uint64_t(high) - uint64_t(low) + 1;
  for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    int64_t value = static_cast<int64_t>(uint64_t(low) + source.below(count));
    tensor.setBits(i, tensor.isFloat() ? static_cast<int64_t>(encodeFloat(
                                             tensor.dtype, double(value)))
                                       : value);
  }
}

void fillElements(HostTensor &tensor, const std::string &text,
                  const std::string &what) {
  int64_t count = tensor.elements(), at = 0;
  int64_t first = 0;
  constexpr const char *separators = " ,[]\t\r\n";
  size_t begin = text.find_first_not_of(separators);
  while (begin != std::string::npos) {
    size_t end = text.find_first_of(separators, begin);
    int64_t bits =
        encodeElement(tensor.dtype, text.substr(begin, end - begin), what);
    if (at == 0)
      first = bits;
    if (at < count)
      tensor.setBits(at, bits);
    ++at;
    begin = text.find_first_not_of(separators, end);
  }
  if (at == 1) {
    for (int64_t i = 0; i < count; ++i)
      tensor.setBits(i, first);
  } else if (at != count) {
    throw RunError(what + ": " + tensor.type() + " has " +
                   std::to_string(count) + " elements; found " +
                   std::to_string(at) +
                   " values; expected all of them, or one "
                   "for all");
  }
}

} // namespace

void parseType(const std::string &text, std::vector<int64_t> &dims,
               tw_dtype &dtype) {
  size_t begin = 0;
  dims.clear();
  while (begin < text.size() && text[begin] >= '0' && text[begin] <= '9') {
    size_t end = text.find('x', begin);
    std::string digits = text.substr(begin, end - begin);
    if (end == std::string::npos ||
        digits.find_first_not_of("0123456789") != std::string::npos ||
        digits.size() > 18)
      throw RunError("'" + text +
                     "' is no type; expected something like 4x4xf32");
    dims.push_back(std::stoll(digits));
    begin = end + 1;
  }
  std::string name = text.substr(begin);
  if (!runtime::parseDtype(name, dtype))
    throw RunError("'" + text + "' is no type: " +
                   (name.empty() ? "it has no element type"
                                 : "element type '" + name + "' is unknown") +
                   "; expected something like 4x4xf32, with one of " +
                   runtime::dtypeList());
}

HostTensor parseInput(const std::string &text, size_t index, tw_dtype wanted) {
  std::string what = "input " + std::to_string(index);
  if (!text.empty() && text[0] == '@') {
    std::string path = text.substr(1);
    return parseNpy(path, readFile(path, kArray), wanted);
  }
  size_t equals = text.find('=');
  std::vector<int64_t> dims;
  tw_dtype dtype;
  try {
    parseType(text.substr(0, equals), dims, dtype);
    HostTensor tensor = makeTensor(dtype, std::move(dims));
    if (equals == std::string::npos)
      return tensor;
    std::string value = text.substr(equals + 1);
    std::vector<std::string> parts = splitColons(value);
    what += " (" + tensor.type() + ")";
    if (parts[0] == "random")
      fillRandom(tensor, parts, index, what);
    else if (parts[0] == "int")
      fillIntegers(tensor, parts, index, what);
    else
      fillElements(tensor, value, what);
    return tensor;
  } catch (const RunError &e) {
    std::string message = e.what();
    if (message.compare(0, 6, "input ") == 0)
      throw;
    throw RunError(what + ": " + message);
  }
}

} // namespace tilewright::run
