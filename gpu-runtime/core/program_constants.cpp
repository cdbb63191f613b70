// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of a program: sections of the artifact, which are uploaded, tensors of
// the parameter file, and what functions of the program compute from these at load. A
// device that computes on host memory uses tensors of the file in place; others get a
// copy from the mapping. What one program of a device has so, the next one of the same file
// shares (constant_cache.h).

#include "core/program.h"

#include "core/constant_cache.h"
#include "core/parameters.h"
#include "core/sha256.h"

#include <sys/stat.h>

namespace tilewright::runtime {

namespace {

/// What every kernel may expect of element 0.
constexpr uint64_t kAlignment = 16;

bool isFolder(const std::string &path) {
  struct stat info;
  return path.back() == '/' ||
         (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode));
}

std::string pathOf(const ProgramOptions &options, const ProgramDesc &program) {
  const std::string &chosen = options.parameters;
  if (chosen.empty())
    return program.parameterFile;
  if (!isFolder(chosen))
    return chosen;
  return chosen + (chosen.back() == '/' ? "" : "/") + program.parameterFile;
}

/// What the device's programs know it by; empty: it is this program's alone.
std::string sharedKey(const ConstantDesc &constant, const std::string &target,
                      const ParameterFile *file) {
  if (constant.parameter.empty() && constant.identity.empty())
    return "";
  return (constant.identity.empty() ? "tensor " + constant.parameter
                                    : target + ' ' + constant.identity) +
         ' ' + shapeText(constant.shape, constant.dtype) + ' ' +
         (file ? file->identity() : "");
}

} // namespace

Status Program::openParameters(const ProgramOptions &options,
                               std::shared_ptr<const ParameterFile> &file) const {
  size_t count = 0;
  for (const ConstantDesc &constant : program.constants)
    count += !constant.parameter.empty();
  if (!count)
    return Status::ok();
  Status s = ParameterFile::open(pathOf(options, program), file);
  if (s.code() != StatusCode::NotFound)
    return s;
  return notFound(s.message() + "; the program takes " + std::to_string(count) +
                  " tensors from there (--parameters of tilewright-run, or the "
                  "program option 'parameters', names the file)");
}

Status Program::verifyParameters(const ParameterFile &file) const {
  for (const ConstantDesc &constant : program.constants) {
    if (constant.parameter.empty())
      continue;
    const ParameterFile::Tensor *tensor = nullptr;
    if (Status s = file.find(constant.parameter, constant.dtype, constant.shape, tensor))
      return s;
    std::string hash = toHex(sha256(tensor->data, tensor->size));
    if (hash != constant.sha256)
      return invalidArgument("its tensor '" + constant.parameter +
                             "' has other values than the one that the "
                             "program was compiled with: its SHA-256 is " +
                             hash + ", not " + constant.sha256);
  }
  return Status::ok();
}

Status Program::placeParameter(const ConstantDesc &constant,
                               const std::shared_ptr<const ParameterFile> &file,
                               Stream &upload, View &view) {
  const ParameterFile::Tensor *tensor = nullptr;
  if (Status s = file->find(constant.parameter, constant.dtype, constant.shape,
                            tensor))
    return s;
  uint64_t address = reinterpret_cast<uintptr_t>(tensor->data);
  if (program.driver == "cpu" && tensor->size && address % kAlignment == 0) {
    std::shared_ptr<Buffer> buffer;
    if (Status s = owner->importBuffer(address, tensor->size,
                                       /*readOnly=*/true, buffer))
      return s;
    buffer->keepAlive(std::const_pointer_cast<ParameterFile>(file));
    return makeView(std::move(buffer), 0, constant.dtype, constant.shape, view);
  }
  if (Status s = allocateView(*owner, &upload, constant.dtype, constant.shape, view))
    return s;
  if (Status s = upload.write(*view.buffer, 0, tensor->data, tensor->size))
    return s;
  view.buffer->protect();
  return Status::ok();
}

Status Program::placeSection(const ConstantDesc &constant, Stream &upload,
                             View &view) {
  if (Status s = allocateView(*owner, &upload, constant.dtype, constant.shape, view))
    return s;
  const Artifact::Section *section = artifact->find(constant.section);
  if (Status s = upload.write(*view.buffer, 0, section->data, section->size))
    return s;
  // A function may return a constant: the caller must not change it.
  view.buffer->protect();
  return Status::ok();
}

Status Program::placeConstants(const ProgramOptions &options) {
  if (program.constants.empty())
    return Status::ok();
  std::shared_ptr<const ParameterFile> file;
  if (Status s = openParameters(options, file))
    return s;
  auto inFile = [&](Status s) {
    return std::move(s).in("parameter file '" + pathOf(options, program) + "'");
  };
  if (file && options.verifyParameters)
    if (Status s = verifyParameters(*file))
      return inFile(std::move(s));
  std::shared_ptr<Stream> upload;
  if (Status s = ownStream(upload))
    return s;
  constantViews.resize(program.constants.size());
  bool computes = takeShared(file.get());
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantDesc &constant = program.constants[i];
    if (constant.loadFunction >= 0 || (constant.onlyAtLoad && !computes) ||
        constantViews[i].buffer)
      continue;
    if (!constant.parameter.empty()) {
      if (Status s = placeParameter(constant, file, *upload, constantViews[i]))
        return inFile(std::move(s));
    } else if (Status s = placeSection(constant, *upload, constantViews[i])) {
      return std::move(s).in("constant");
    }
  }
  // Copies read the mapping until then.
  if (Status s = upload->synchronize())
    return s;
  if (computes)
    if (Status s = computeConstants(*upload))
      return s;
  shareConstants(file.get());
  return Status::ok();
}

bool Program::takeShared(const ParameterFile *file) {
  bool isComplete = true;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantDesc &constant = program.constants[i];
    std::string key = sharedKey(constant, program.target, file);
    bool isThere = !key.empty() && owner->constants().find(key, constantViews[i]);
    isComplete &= isThere || constant.loadFunction < 0;
  }
  return !isComplete;
}

void Program::shareConstants(const ParameterFile *file) {
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantDesc &constant = program.constants[i];
    std::string key = sharedKey(constant, program.target, file);
    if (constant.onlyAtLoad)
      constantViews[i] = View();
    else if (!key.empty())
      owner->constants().share(key, constantViews[i]);
  }
}

Status Program::computeConstants(Stream &stream) {
  for (size_t number = 0; number < program.loadFunctions.size(); ++number) {
    const LoadFunctionDesc &function = program.loadFunctions[number];
    bool isComplete = true;
    for (size_t i = 0; i < program.constants.size(); ++i)
      isComplete &= program.constants[i].loadFunction != int64_t(number) ||
                    constantViews[i].buffer;
    if (isComplete)
      continue;
    TraceSlice slice(*owner, "load", function.name);
    std::vector<CallValue> values(function.results.size());
    const std::string where =
        "function '" + function.name + "', which runs at load";
    if (Status s = invoke(program.functions.size() + number, where, stream, {},
                          nullptr, function.results, values.data()))
      return std::move(s).in(where);
    if (Status s = stream.wait())
      return std::move(s).in(where);
    if (Status s = stream.takeFailedCheck())
      return s;
    for (size_t i = 0; i < program.constants.size(); ++i) {
      const ConstantDesc &constant = program.constants[i];
      if (constant.loadFunction != int64_t(number) || constantViews[i].buffer)
        continue;
      constantViews[i] = values[constant.result].view;
      constantViews[i].buffer->protect();
    }
  }
  return Status::ok();
}

} // namespace tilewright::runtime
