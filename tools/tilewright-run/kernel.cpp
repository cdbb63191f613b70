// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of PTX files; see kernel.h.

#include "kernel.h"

#include "core/dtype.h"
#include "core/registry.h"
#include "files.h"
#include "input.h"

#include <cstring>

namespace tilewright::run {

using namespace runtime;

namespace {

void check(Status status) {
  if (status)
    throw RunError(status.message());
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

/// Names behind `.entry`.
std::vector<std::string> entries(const std::string &ptx) {
  constexpr const char *space = " \t\r\n";
  std::vector<std::string> names;
  for (size_t at = 0; (at = ptx.find(".entry", at)) != std::string::npos;) {
    at += 6;
    size_t begin = ptx.find_first_not_of(space, at);
    if (begin == at || begin == std::string::npos)
      continue;
    names.push_back(ptx.substr(begin, ptx.find_first_of(" \t\r\n({;", begin) -
                                          begin));
  }
  return names;
}

std::string chooseEntry(const Options &options, const std::string &ptx) {
  if (!options.entry.empty())
    return options.entry;
  std::vector<std::string> names = entries(ptx);
  if (names.size() == 1)
    return names[0];
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? " " : ", ") + name;
  throw RunError(options.program + " has " + std::to_string(names.size()) +
                 " kernels; choose one with --entry:" + list);
}

struct Argument {
  HostTensor value;
  bool isBuffer = false;
  bool isUndefined = false;
  std::shared_ptr<Buffer> memory;
};

Argument parseArgument(const std::string &text, size_t index) {
  Argument argument;
  std::string shape = text;
  if (endsWith(shape, "=undefined")) {
    argument.isUndefined = true;
    shape.resize(shape.size() - std::strlen("=undefined"));
  }
  argument.value = parseInput(shape, index, TW_F32);
  argument.isBuffer = text[0] == '@' || !argument.value.dims.empty();
  if (argument.isUndefined && !argument.isBuffer)
    throw RunError("argument " + std::to_string(index) +
                   ": a scalar cannot be undefined");
  return argument;
}

/// The scalar's bits, in a slot of 64.
uint64_t slot(const HostTensor &value) {
  uint64_t bits = 0;
  std::memcpy(&bits, value.bytes.data(),
              std::min<size_t>(value.bytes.size(), 8));
  return bits;
}

/// A kernel that knows nothing of tensors: addresses are scalars like others.
KernelDesc describe(const Options &options, const std::string &entry,
                    const std::vector<Argument> &arguments) {
  KernelDesc kernel;
  kernel.entry = entry;
  kernel.block = parseExtent(options.block, "--block");
  kernel.cluster = parseExtent(options.cluster, "--cluster");
  kernel.shared = options.shared;
  for (const Argument &argument : arguments)
    kernel.params.push_back(
        {false, argument.isBuffer ? TW_I64 : argument.value.dtype});
  return kernel;
}

} // namespace

bool isKernelFile(const std::string &path) { return endsWith(path, ".ptx"); }

std::array<uint32_t, 3> parseExtent(const std::string &text,
                                    const std::string &option) {
  std::array<uint32_t, 3> extent = {1, 1, 1};
  size_t begin = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    size_t end = text.find_first_of(",x", begin);
    std::string digits = text.substr(begin, end - begin);
    if (digits.empty() || digits.size() > 10 ||
        digits.find_first_not_of("0123456789") != std::string::npos ||
        std::stoull(digits) > UINT32_MAX || std::stoull(digits) == 0)
      break;
    extent[axis] = static_cast<uint32_t>(std::stoull(digits));
    if (end == std::string::npos)
      return extent;
    begin = end + 1;
  }
  throw RunError(option + "=" + text +
                 ": expected one to three positive numbers, X or X,Y or X,Y,Z");
}

KernelRun runKernel(const Options &options) {
  std::string ptx = readFile(options.program);
  while (!ptx.empty() && ptx.back() == '\0')
    ptx.pop_back();
  std::string entry = chooseEntry(options, ptx);
  std::vector<Argument> arguments;
  for (size_t i = 0; i < options.kernelArguments.size(); ++i)
    arguments.push_back(parseArgument(options.kernelArguments[i], i));

  auto instance = std::make_shared<Instance>(InstanceOptions());
  std::shared_ptr<Device> device;
  check(instance->open(options.device == "auto" ? "cuda" : options.device,
                       device));
  if (device->driverName() != "cuda")
    throw RunError("device " + device->info().name +
                   " does not run PTX; --device=cuda or ptxsim does");
  ModuleDesc desc;
  desc.kind = ModuleKind::Ptx;
  desc.name = options.program;
  desc.bytes = reinterpret_cast<const uint8_t *>(ptx.data());
  desc.size = ptx.size();
  desc.kernels.push_back(describe(options, entry, arguments));
  std::unique_ptr<DriverModule> module;
  check(device->driver().loadModule(desc, module));

  std::shared_ptr<Stream> stream;
  check(device->createStream(stream));
  std::vector<uint64_t> slots;
  for (Argument &argument : arguments) {
    if (!argument.isBuffer) {
      slots.push_back(slot(argument.value));
      continue;
    }
    uint64_t size = argument.value.bytes.size();
    check(device->allocate(size, stream.get(), argument.memory));
    if (!argument.isUndefined)
      check(stream->write(*argument.memory, 0, argument.value.bytes.data(),
                          size));
    slots.push_back(argument.memory->address());
  }
  LaunchArgs launch;
  launch.grid = parseExtent(options.grid, "--grid");
  launch.scalars = slots.data();
  launch.numScalars = slots.size();
  // The buffers outlive the launch, which is waited for.
  check(stream->launch(*module, 0, launch, nullptr, 0));
  auto timeout = static_cast<uint64_t>(
      std::min(options.timeoutSeconds, 1e9) * 1e9);
  check(stream->synchronize(timeout));

  KernelRun result;
  result.device = device->info().name;
  result.description = device->info().description;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isBuffer)
      continue;
    HostTensor &value = arguments[i].value;
    check(stream->read(value.bytes.data(), *arguments[i].memory, 0,
                       value.bytes.size()));
    check(stream->synchronize(timeout));
    result.argument.push_back(i);
    result.buffers.push_back(std::move(value));
  }
  return result;
}

} // namespace tilewright::run
