// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of PTX files; see kernel.h.

#include "kernel.h"

#include "core/dtype.h"
#include "core/registry.h"
#include "files.h"
#include "kernel_argument.h"
#include "ptx_entry.h"

#include <cstring>

namespace tilewright::run {

using namespace runtime;

namespace {

void check(Status status) {
  if (status)
    throw RunError(status.message());
}

PtxEntry chooseEntry(const Options &options, const std::string &ptx) {
  std::vector<PtxEntry> entries = ptxEntries(ptx);
  std::string list;
  for (PtxEntry &entry : entries) {
    if (options.entry.empty() ? entries.size() == 1
                              : options.entry == entry.name)
      return entry;
    list += (list.empty() ? " " : ", ") + entry.name;
  }
  if (!options.entry.empty() && !entries.empty())
    throw RunError(options.program + " has no kernel '" + options.entry +
                   "'; it has" + list);
  throw RunError(options.program + " has " + std::to_string(entries.size()) +
                 " kernels" + (list.empty() ? "" : "; choose one with --entry:") +
                 list);
}

/// A driver reads past the arguments, and past their ends, where these do not
/// fit the parameters.
void checkArguments(const PtxEntry &entry,
                    const std::vector<KernelArgument> &arguments) {
  if (entry.params.size() != arguments.size())
    throw RunError("kernel " + entry.name + " has " +
                   std::to_string(entry.params.size()) + " parameters, --arg " +
                   "gives " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const PtxParam &param = entry.params[i];
    const KernelArgument &argument = arguments[i];
    if (param.bytes != argument.bytes.size())
      throw RunError("argument " + std::to_string(i) + " (" + argument.kind +
                     ") has " + std::to_string(argument.bytes.size()) +
                     " bytes; parameter " + param.name + " of kernel " +
                     entry.name + " has " + std::to_string(param.bytes) + " (." +
                     param.type + (param.isStruct ? "[])" : ")"));
  }
}

/// What belongs to programs of ours.
void checkOptions(const Options &options) {
  const std::pair<bool, const char *> foreign[] = {
      {!options.inputs.empty(), "--input"},
      {!options.function.empty(), "--function"},
      {!options.check.empty(), "--check"},
      {options.benchCount != 0, "--bench"},
      {options.resources, "--resources"},
      {!options.target.empty(), "--target"},
      {!options.compileArguments.empty(), "--compile-arg"},
      {!options.oracle.empty(), "--oracle"},
      {!options.parameters.empty(), "--parameters"},
      {options.verifyParameters, "--verify-parameters"},
      {!options.externalLibraries.empty(), "--external-lib"}};
  for (const auto &[given, name] : foreign)
    if (given)
      throw RunError(std::string(name) + " is not for kernels in .ptx");
}

size_t slotsOf(const KernelArgument &argument) {
  return (argument.bytes.size() + 7) / 8;
}

/// A kernel that knows nothing of tensors: addresses are scalars like others.
KernelDesc describe(const Options &options, const PtxEntry &entry,
                    const std::vector<KernelArgument> &arguments) {
  KernelDesc kernel;
  kernel.entry = entry.name;
  kernel.block = parseExtent(options.block, "--block");
  kernel.cluster = parseExtent(options.cluster, "--cluster");
  kernel.shared = options.shared;
  for (const KernelArgument &argument : arguments)
    kernel.params.push_back({false, TW_I64, slotsOf(argument)});
  return kernel;
}

/// The tensor map of a buffer, row-major and dense; `memory` keeps one that
/// lies in device memory.
void encodeMap(Device &device, Stream &stream, KernelArgument &argument,
               uint64_t address, std::shared_ptr<Buffer> &memory) {
  const HostTensor &value = argument.buffers.front().value;
  const MapOptions &map = *argument.map;
  TensorMapDesc desc;
  desc.dtype = value.dtype;
  desc.address = address;
  desc.swizzle = map.swizzle;
  desc.fillsNaN = map.fillsNaN;
  uint64_t stride = dtypeBytes(value.dtype);
  for (size_t i = value.dims.size(); i-- > 0;) {
    desc.dims.push_back(static_cast<uint64_t>(value.dims[i]));
    if (map.lower.empty())
      desc.box.push_back(static_cast<uint32_t>(map.box[i]));
    stride *= desc.dims.back();
    if (i != 0)
      desc.strides.push_back(stride);
  }
  if (!map.lower.empty()) {
    // The driver's order is the innermost dim first; steps are of channels and images, too.
    TensorMapDesc::Image &image = desc.image.emplace();
    image.lower.assign(map.lower.rbegin(), map.lower.rend());
    image.upper.assign(map.upper.rbegin(), map.upper.rend());
    image.steps.assign(1, 1);
    image.steps.insert(image.steps.end(), map.steps.rbegin(), map.steps.rend());
    image.steps.push_back(1);
    image.pixels = static_cast<uint32_t>(map.box[0]);
    image.channels = static_cast<uint32_t>(map.box[1]);
  }
  std::array<uint8_t, 128> bytes;
  check(device.driver().encodeTensorMap(desc, bytes));
  if (!map.isByAddress) {
    std::copy(bytes.begin(), bytes.end(), argument.bytes.begin());
    return;
  }
  check(device.allocate(bytes.size(), &stream, memory));
  check(stream.write(*memory, 0, bytes.data(), bytes.size()));
  check(stream.synchronize());
  uint64_t where = memory->address();
  std::memcpy(argument.bytes.data(), &where, 8);
}

/// A buffer of an argument on the device.
struct Upload {
  size_t argument = 0;
  KernelBuffer *buffer = nullptr;
  std::shared_ptr<Buffer> memory;
  /// Of its tensor map, where the kernel gets an address.
  std::shared_ptr<Buffer> mapMemory;
};

std::vector<Upload> upload(Device &device, Stream &stream,
                           std::vector<KernelArgument> &arguments) {
  std::vector<Upload> uploads;
  for (size_t i = 0; i < arguments.size(); ++i)
    for (KernelBuffer &buffer : arguments[i].buffers) {
      Upload &entry = uploads.emplace_back();
      entry.argument = i;
      entry.buffer = &buffer;
      uint64_t size = buffer.value.bytes.size();
      check(device.allocate(size, &stream, entry.memory));
      if (!buffer.isUndefined)
        check(stream.write(*entry.memory, 0, buffer.value.bytes.data(), size));
      uint64_t address = entry.memory->address();
      if (arguments[i].map)
        encodeMap(device, stream, arguments[i], address, entry.mapMemory);
      else
        std::memcpy(arguments[i].bytes.data() + buffer.offset, &address, 8);
    }
  return uploads;
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

KernelRun runKernel(const Options &options, Trace &trace) {
  std::string ptx = readFile(options.program, kProgramText);
  while (!ptx.empty() && ptx.back() == '\0')
    ptx.pop_back();
  checkOptions(options);
  PtxEntry entry = chooseEntry(options, ptx);
  std::vector<KernelArgument> arguments;
  for (size_t i = 0; i < options.kernelArguments.size(); ++i)
    arguments.push_back(parseKernelArgument(options.kernelArguments[i], i));
  checkArguments(entry, arguments);

  auto instance = std::make_shared<Instance>(InstanceOptions());
  std::shared_ptr<Device> device;
  check(instance->open(options.device == "auto" ? "cuda" : options.device,
                       device));
  if (device->driverName() != "cuda")
    throw RunError("device " + device->info().name +
                   " does not run PTX; --device=cuda or ptxsim does");
  if (!options.tracePath.empty())
    device->setTracer(Trace::hear, trace.listener(device->info().name));
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
  // The simulator runs a kernel inside its launch.
  stream->setTimeout(static_cast<uint64_t>(
      std::min(options.timeoutSeconds, 1e9) * 1e9));
  std::vector<Upload> uploads = upload(*device, *stream, arguments);
  std::vector<uint64_t> slots;
  for (const KernelArgument &argument : arguments) {
    size_t first = slots.size();
    slots.resize(first + slotsOf(argument));
    std::memcpy(&slots[first], argument.bytes.data(), argument.bytes.size());
  }
  LaunchArgs launch;
  launch.grid = parseExtent(options.grid, "--grid");
  launch.scalars = slots.data();
  launch.numScalars = slots.size();
  // The buffers outlive the launch, which is waited for.
  TraceArguments traced;
  uint32_t grid[3] = {launch.grid[0], launch.grid[1], launch.grid[2]};
  traced.add("grid", grid);
  check(stream->launch(*module, 0, launch, nullptr, 0, entry.name, &traced));
  check(stream->synchronize());

  KernelRun result;
  result.device = device->info().name;
  result.description = device->info().description;
  for (Upload &entry : uploads) {
    HostTensor &value = entry.buffer->value;
    check(stream->read(value.bytes.data(), *entry.memory, 0,
                       value.bytes.size()));
    check(stream->synchronize());
    result.argument.push_back(entry.argument);
    result.buffers.push_back(std::move(value));
  }
  return result;
}

} // namespace tilewright::run
