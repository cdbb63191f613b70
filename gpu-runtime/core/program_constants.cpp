// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of a program: sections of the artifact, which are uploaded, tensors of
// the parameter file, and what functions of the program compute from these at load. A
// device that computes on host memory uses tensors of the file in place; others get a
// copy from the mapping.

#include "core/program.h"

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

Status verifyHash(const ConstantDesc &constant,
                  const ParameterFile::Tensor &tensor) {
  std::string hash = toHex(sha256(tensor.data, tensor.size));
  return hash == constant.sha256
             ? Status::ok()
             : invalidArgument("its tensor '" + constant.parameter +
                               "' has other values than the one that the "
                               "program was compiled with: its SHA-256 is " +
                               hash + ", not " + constant.sha256);
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

Status Program::placeParameter(const ConstantDesc &constant,
                               const std::shared_ptr<const ParameterFile> &file,
                               bool verify, Stream &upload, View &view) {
  const ParameterFile::Tensor *tensor = nullptr;
  if (Status s = file->find(constant.parameter, constant.dtype, constant.shape,
                            tensor))
    return s;
  if (verify)
    if (Status s = verifyHash(constant, *tensor))
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
  std::shared_ptr<Stream> upload;
  if (Status s = ownStream(upload))
    return s;
  constantViews.resize(program.constants.size());
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const ConstantDesc &constant = program.constants[i];
    if (constant.loadFunction >= 0)
      continue;
    bool isParameter = !constant.parameter.empty();
    if (Status s = isParameter ? placeParameter(constant, file,
                                                options.verifyParameters,
                                                *upload, constantViews[i])
                               : placeSection(constant, *upload, constantViews[i]))
      return std::move(s).in(isParameter ? "parameter file '" +
                                               pathOf(options, program) + "'"
                                         : "constant");
  }
  // Copies read the mapping until then.
  if (Status s = upload->synchronize())
    return s;
  return computeConstants(*upload);
}

Status Program::computeConstants(Stream &stream) {
  for (size_t number = 0; number < program.loadFunctions.size(); ++number) {
    const LoadFunctionDesc &function = program.loadFunctions[number];
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
      if (constant.loadFunction != int64_t(number))
        continue;
      constantViews[i] = values[constant.result].view;
      constantViews[i].buffer->protect();
    }
  }
  for (size_t i = 0; i < program.constants.size(); ++i)
    if (program.constants[i].onlyAtLoad)
      constantViews[i] = View();
  return Status::ok();
}

} // namespace tilewright::runtime
