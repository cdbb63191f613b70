// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .npy files; see npy.h.
//
//   93 'NUMPY' | major minor | length (2 or 4 bytes) | header | data
//   header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }

#include "npy.h"

#include "core/dtype.h"

#include <algorithm>
#include <cstring>

namespace tilewright::run {

namespace {

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

// A reader for the one form of Python literal that headers have.
class HeaderParser {
public:
  HeaderParser(const std::string &what, const std::string &text)
      : what(what), text(text) {}

  Header parse() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        if (peek() == '[')
          fail("structured element types are not supported");
        header.descr = string();
        hasDescr = true;
      } else if (key == "fortran_order") {
        header.fortranOrder = boolean();
        hasOrder = true;
      } else if (key == "shape") {
        header.shape = tuple();
        hasShape = true;
      } else {
        fail("unknown key '" + key + "'");
      }
      if (!accept(',') && peek() != '}')
        fail("expected ',' or '}'");
    }
    if (!hasDescr || !hasOrder || !hasShape)
      fail("expected the keys descr, fortran_order and shape");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &message) {
    throw RunError(what + ": .npy header: " + message);
  }
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "' at byte " + std::to_string(at));
  }
  std::string string() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      fail("expected a string at byte " + std::to_string(at));
    size_t end = text.find(quote, at + 1);
    if (end == std::string::npos)
      fail("a string does not end");
    std::string result = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (bool value : {false, true}) {
      std::string word = value ? "True" : "False";
      if (text.compare(at, word.size(), word) == 0) {
        at += word.size();
        return value;
      }
    }
    fail("fortran_order: expected True or False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> result;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t value = 0;
      size_t begin = at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        if (value > (INT64_MAX - 9) / 10)
          fail("a dim is beyond 64 bits");
        value = value * 10 + (text[at++] - '0');
      }
      if (at == begin)
        fail("shape: expected a tuple of integers");
      result.push_back(value);
      if (!accept(',') && peek() != ')')
        fail("shape: expected ',' or ')'");
    }
    return result;
  }

  const std::string &what;
  const std::string &text;
  size_t at = 0;
};

constexpr const char *kAccepted =
    "f2, f4, f8, i1, i2, i4, i8, u1, u2, u4, u8, b1, V1, V2";

// The type that elements of kind and size become, if `wanted` agrees.
bool convert(char kind, int size, tw_dtype wanted, tw_dtype &result) {
  int wantedSize = static_cast<int>(runtime::dtypeBytes(wanted));
  bool sameSize = size == wantedSize;
  switch (kind) {
  case 'f':
    result = size == 2 ? TW_F16 : size == 4 ? TW_F32 : TW_F64;
    return size == 2 || size == 4 || size == 8;
  case 'b':
    result = TW_I1;
    return size == 1;
  case 'V':
  case 'u':
  case 'i': {
    bool words = kind == 'V' || kind == 'u';
    if (words && size <= 2 && runtime::isFloatDtype(wanted) && sameSize) {
      result = wanted;
      return true;
    }
    if (kind == 'V')
      return false;
    if (sameSize && !runtime::isFloatDtype(wanted) && wanted != TW_I1)
      result = wanted; // i4, i2 and index among them
    else
      result = size == 1   ? TW_I8
               : size == 2 ? TW_I16
               : size == 4 ? TW_I32
                           : TW_I64;
    return size == 1 || size == 2 || size == 4 || size == 8;
  }
  default:
    return false;
  }
}

// From column-major to row-major.
std::vector<uint8_t> toRowMajor(const std::vector<uint8_t> &from,
                                const std::vector<int64_t> &dims, int size) {
  std::vector<uint8_t> result(from.size());
  std::vector<int64_t> index(dims.size());
  int64_t count = static_cast<int64_t>(from.size()) / size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t d = dims.size(); d-- > 0;)
      source = source * dims[d] + index[d];
    std::memcpy(result.data() + i * size, from.data() + source * size, size);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

} // namespace

HostTensor parseNpy(const std::string &what, const std::string &bytes,
                    tw_dtype wanted) {
  auto fail = [&](const std::string &message) {
    throw RunError(what + ": " + message);
  };
  if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0)
    fail("not a .npy file: it does not start with 93 NUMPY");
  int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    fail(".npy version " + std::to_string(major) + "; expected 1 to 3");
  size_t lengthBytes = major == 1 ? 2 : 4;
  uint32_t length = 0;
  if (bytes.size() < 8 + lengthBytes)
    fail("truncated in its header");
  std::memcpy(&length, bytes.data() + 8, lengthBytes);
  size_t begin = 8 + lengthBytes;
  if (length > bytes.size() - begin)
    fail("truncated in its header");
  std::string text = bytes.substr(begin, length);
  Header header = HeaderParser(what, text).parse();

  // '<f4': byte order, kind, bytes per element.
  const std::string &descr = header.descr;
  int size = 0;
  bool good =
      descr.size() >= 3 && descr.size() <= 4 && std::strchr("<>|=", descr[0]);
  for (size_t i = 2; good && i < descr.size(); ++i) {
    good = descr[i] >= '0' && descr[i] <= '9';
    size = size * 10 + (descr[i] - '0');
  }
  HostTensor tensor;
  tw_dtype dtype = wanted;
  if (!good || !convert(descr[1], size, wanted, dtype))
    fail("element type '" + descr + "'" +
         (good ? std::string(" for ") + runtime::dtypeName(wanted) : "") +
         "; accepted are " + kAccepted +
         " (V and u for types that NumPy lacks)");
  try {
    // An array has a byte for each i4 and i2.
    tensor = makeTensor(runtime::elementsPerByte(dtype) > 1 ? TW_I8 : dtype, header.shape);
  } catch (const RunError &e) {
    fail(e.what());
  }
  size_t have = bytes.size() - begin - length;
  if (have != tensor.bytes.size())
    fail("has " + std::to_string(have) + " bytes of data; " + tensor.type() +
         " takes " + std::to_string(tensor.bytes.size()));
  if (have)
    std::memcpy(tensor.bytes.data(), bytes.data() + begin + length, have);
  if (descr[0] == '>' && size > 1)
    for (size_t i = 0; i + size <= tensor.bytes.size(); i += size)
      std::reverse(tensor.bytes.begin() + i, tensor.bytes.begin() + i + size);
  if (header.fortranOrder && tensor.dims.size() > 1)
    tensor.bytes = toRowMajor(tensor.bytes, tensor.dims, size);
  if (runtime::elementsPerByte(dtype) == 1)
    return tensor;
  HostTensor packed = makeTensor(dtype, tensor.dims);
  int64_t beyond = int64_t(1) << runtime::dtypeBits(dtype);
  for (int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    int64_t value = tensor.bits(i);
    if (value < -beyond / 2 || value >= beyond)
      fail("element " + std::to_string(i) + " is " + std::to_string(value) +
           ", which does not fit " + runtime::dtypeName(dtype) + ": " +
           std::to_string(-beyond / 2) + " to " + std::to_string(beyond - 1));
    packed.setBits(i, value);
  }
  return packed;
}

std::string formatNpy(const HostTensor &tensor) {
  if (runtime::elementsPerByte(tensor.dtype) > 1) {
    HostTensor wide = makeTensor(TW_I8, tensor.dims);
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i)
      wide.setBits(i, tensor.bits(i));
    return formatNpy(wide);
  }
  const char *descr = nullptr;
  switch (tensor.dtype) {
  case TW_F64:
    descr = "<f8";
    break;
  case TW_F32:
    descr = "<f4";
    break;
  case TW_F16:
    descr = "<f2";
    break;
  case TW_BF16:
    descr = "<u2";
    break;
  case TW_F8E4M3FN:
  case TW_F8E5M2:
  case TW_F8E4M3FNUZ:
  case TW_F8E5M2FNUZ:
    descr = "|u1";
    break;
  case TW_I64:
  case TW_INDEX:
    descr = "<i8";
    break;
  case TW_I32:
    descr = "<i4";
    break;
  case TW_I16:
    descr = "<i2";
    break;
  case TW_I8:
  case TW_I4:
  case TW_I2:
    descr = "|i1";
    break;
  case TW_I1:
    descr = "|b1";
    break;
  }
  std::string header = std::string("{'descr': '") + descr +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    header += std::to_string(tensor.dims[i]) +
              (i + 1 < tensor.dims.size() ? ", " : "");
  if (tensor.dims.size() == 1)
    header += ",";
  header += "), }";
  // Data starts at a multiple of 64.
  size_t total = (10 + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - 10 - 1, ' ');
  header += '\n';
  uint16_t length = static_cast<uint16_t>(header.size());
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.append(reinterpret_cast<const char *>(&length), 2);
  bytes += header;
  bytes.append(reinterpret_cast<const char *>(tensor.bytes.data()),
               tensor.bytes.size());
  return bytes;
}

} // namespace tilewright::run
