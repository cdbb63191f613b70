// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps and verifies parameter files; see parameters.h.

#include "core/parameters.h"

#include "core/checked.h"
#include "core/dtype.h"
#include "core/json_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tilewright::runtime {

namespace {

constexpr uint64_t kLengthSize = 8;
constexpr uint64_t kMaxHeader = 100'000'000; // the format's own limit
constexpr size_t kMaxTensors = 1 << 20;

struct FormatType {
  const char *name;
  int64_t bits;
  std::vector<tw_dtype> serves;
};

const std::vector<FormatType> &formatTypes() {
  static const std::vector<FormatType> types = {
      {"F64", 64, {TW_F64}},         {"F32", 32, {TW_F32}},
      {"F16", 16, {TW_F16}},         {"BF16", 16, {TW_BF16}},
      {"F8_E4M3", 8, {TW_F8E4M3FN}}, {"F8_E5M2", 8, {TW_F8E5M2}},
      {"I64", 64, {TW_I64}},         {"U64", 64, {TW_I64}},
      {"I32", 32, {TW_I32}},         {"U32", 32, {TW_I32}},
      {"I16", 16, {TW_I16}},         {"U16", 16, {TW_I16}},
      {"I8", 8, {TW_I8}},            {"U8", 8, {TW_I8}},
      {"BOOL", 8, {TW_I1}}};
  return types;
}

const FormatType *findType(const std::string &name) {
  for (const FormatType &type : formatTypes())
    if (name == type.name)
      return &type;
  return nullptr;
}

std::string typeText(const std::string &dtype,
                     const std::vector<int64_t> &shape) {
  std::string text = dtype + "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// Of a damaged or foreign file.
Status wrong(std::string message) { return invalidArgument(std::move(message)); }

Status readTensor(const JsonCursor &json, uint64_t dataSize,
                  const uint8_t *data, ParameterFile::Tensor &result) {
  if (Status s = json.object())
    return s;
  if (Status s = json["dtype"].string(result.dtype))
    return s;
  JsonCursor shape = json["shape"], offsets = json["data_offsets"];
  if (Status s = shape.array(kMaxRank))
    return s;
  int64_t elements = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t dim = 0;
    if (Status s = shape[i].integer(0, INT64_MAX, dim))
      return s;
    if (!checkedMul(elements, dim, elements))
      return shape.error("has more elements than 64 bits count");
    result.shape.push_back(dim);
  }
  if (Status s = offsets.array(2))
    return s;
  if (offsets.size() != 2)
    return offsets.error("expected the two offsets of begin and end");
  int64_t begin = 0, end = 0;
  if (Status s = offsets[size_t(0)].integer(0, INT64_MAX, begin))
    return s;
  if (Status s = offsets[size_t(1)].integer(begin, INT64_MAX, end))
    return s;
  if (uint64_t(end) > dataSize)
    return offsets.error("ends at " + std::to_string(end) +
                         ", but the file has " + std::to_string(dataSize) +
                         " bytes of data (truncated?)");
  result.data = data + begin;
  result.size = uint64_t(end - begin);
  // Types of a newer format are passed over, as long as nobody asks for them.
  const FormatType *type = findType(result.dtype);
  int64_t bits = 0;
  if (type && (!checkedMul(elements, type->bits, bits) ||
               uint64_t(bits) / 8 != result.size))
    return json.error(typeText(result.dtype, result.shape) + " does not take " +
                      std::to_string(result.size) + " bytes");
  return Status::ok();
}

/// Which file it is, and which state of it.
std::string keyOf(const struct stat &info) {
  std::string key;
  for (int64_t part : {int64_t(info.st_dev), int64_t(info.st_ino), int64_t(info.st_size),
                       int64_t(info.st_mtim.tv_sec), int64_t(info.st_mtim.tv_nsec)})
    key += std::to_string(part) + ':';
  return key;
}

struct OpenFiles {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<const ParameterFile>> files;
};
OpenFiles &openFiles() {
  // Programs may be released when the process ends: never destroyed.
  static OpenFiles *files = new OpenFiles;
  return *files;
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
};

} // namespace

bool isParameterDtype(const std::string &name, tw_dtype dtype) {
  const FormatType *type = findType(name);
  return type && std::find(type->serves.begin(), type->serves.end(), dtype) !=
                     type->serves.end();
}

Status ParameterFile::open(const std::string &path,
                           std::shared_ptr<const ParameterFile> &result) {
  auto where = [&](Status s) {
    return std::move(s).in("parameter file '" + path + "'");
  };
  // Not to wait for a writer of a pipe.
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info;
  if (file.number < 0 || fstat(file.number, &info) != 0)
    return where(notFound(std::strerror(errno)));
  if (!S_ISREG(info.st_mode))
    return where(wrong("is not an ordinary file"));
  const std::string key = keyOf(info);
  OpenFiles &open = openFiles();
  std::lock_guard<std::mutex> lock(open.mutex);
  for (auto it = open.files.begin(); it != open.files.end();)
    it = it->second.expired() ? open.files.erase(it) : std::next(it);
  auto known = open.files.find(key);
  if (known != open.files.end() && (result = known->second.lock()))
    return Status::ok();
  std::shared_ptr<ParameterFile> made(new ParameterFile);
  if (Status s = made->map(file.number, uint64_t(info.st_size)))
    return where(std::move(s));
  if (Status s = made->readHeader())
    return where(std::move(s));
  made->key = key;
  open.files[key] = made;
  result = std::move(made);
  return Status::ok();
}

ParameterFile::~ParameterFile() {
  if (base)
    munmap(base, bytes);
}

Status ParameterFile::map(int file, uint64_t size) {
  if (size < kLengthSize + 2)
    return wrong("is " + std::to_string(size) +
                 " bytes long, and no file of the format safetensors");
  void *mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    return errno == ENOMEM
               ? outOfMemory("cannot be mapped: " +
                             std::string(std::strerror(errno)))
               : unavailable("cannot be mapped: " +
                             std::string(std::strerror(errno)));
  base = static_cast<uint8_t *>(mapped);
  bytes = size;
  return Status::ok();
}

Status ParameterFile::readHeader() {
  uint64_t length;
  std::memcpy(&length, base, sizeof(length)); // little-endian, like every host
  if (length > kMaxHeader || !rangeFits(kLengthSize, length, bytes))
    return wrong("says that its header has " + std::to_string(length) +
                 " bytes; the file has " + std::to_string(bytes) +
                 ", and a header at most " + std::to_string(kMaxHeader) +
                 " (truncated, or not of the format safetensors)");
  JsonValue json;
  if (Status s = parseJson(
          "header",
          std::string_view(reinterpret_cast<const char *>(base) + kLengthSize,
                           length),
          json))
    return wrong(s.message());
  JsonCursor root(json, "");
  if (!json.is(JsonValue::Kind::Object))
    return wrong("header: expected a JSON object");
  if (json.keys.size() > kMaxTensors)
    return wrong("has " + std::to_string(json.keys.size()) +
                 " tensors; at most " + std::to_string(kMaxTensors) +
                 " are read");
  const uint8_t *data = base + kLengthSize + length;
  uint64_t dataSize = bytes - kLengthSize - length;
  for (size_t i = 0; i < json.keys.size(); ++i) {
    const std::string &name = json.keys[i];
    if (name == "__metadata__")
      continue;
    Tensor tensor;
    if (Status s = readTensor(JsonCursor(json.elements[i], "'" + name + "'"),
                              dataSize, data, tensor))
      return wrong(s.message());
    if (!table.emplace(name, std::move(tensor)).second)
      return wrong("has two tensors '" + name + "'");
  }

  using Entry = std::pair<const std::string, Tensor>;
  std::vector<const Entry *> order;
  for (const Entry &entry : table)
    if (entry.second.size)
      order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry *a, const Entry *b) {
    return a->second.data < b->second.data;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const Tensor &before = order[i - 1]->second;
    if (before.data + before.size > order[i]->second.data)
      return wrong("tensors '" + order[i - 1]->first + "' and '" +
                   order[i]->first + "' overlap");
  }
  return Status::ok();
}

Status ParameterFile::find(const std::string &name, tw_dtype dtype,
                           const std::vector<int64_t> &shape,
                           const Tensor *&result) const {
  auto found = table.find(name);
  if (found == table.end()) {
    std::string names;
    size_t count = 0;
    for (const auto &[other, tensor] : table)
      if (count++ < 4)
        names += (names.empty() ? "" : ", ") + other;
    return notFound("it has no tensor '" + name + "'; it has " +
                    (names.empty() ? "none" : names) + (count > 4 ? ", …" : ""));
  }
  const Tensor &tensor = found->second;
  if (!isParameterDtype(tensor.dtype, dtype) || tensor.shape != shape)
    return invalidArgument("its tensor '" + name + "' is " +
                           typeText(tensor.dtype, tensor.shape) +
                           "; the program takes " + shapeText(shape, dtype));
  result = &tensor;
  return Status::ok();
}

} // namespace tilewright::runtime
