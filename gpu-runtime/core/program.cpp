// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selecting, loading and calling programs; launch.cpp has the dispatches.

#include "core/program.h"

#include "core/few.h"
#include "core/host_api.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tilewright::runtime {

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {

// Why this program does not run on that device; ok if it does.
Status suits(const ProgramDesc &program, const Device &device,
             const DriverDevice &driver) {
  if (program.driver != device.driverName())
    return unsupported("it is for driver " + program.driver);
  for (const auto &[key, value] : program.requirements)
    if (Status s = driver.checkRequirement(key, value))
      return s;
  return Status::ok();
}

/// How much of a device a program is made for: compute capability, whether for this one
/// (or its family) alone, level of x86-64, what else has to be there, vectors, version.
std::array<int64_t, 6> demandsOf(const ProgramDesc &program) {
  std::array<int64_t, 6> demands{};
  auto &[sm, only, level, features, vectors, version] = demands;
  for (const auto &[key, value] : program.requirements) {
    if (key == "sm")
      sm = value;
    else if (key == "sm_exact" || key == "sm_family")
      only = std::max<int64_t>(only, key == "sm_exact" ? 2 : 1);
    else if (key.compare(0, 8, "x86-64-v") == 0)
      level = std::max<int64_t>(level, key.back() - '0');
    else if (key == "sve_bits")
      vectors = value;
    else if (key == "vulkan")
      version = value;
    else if (value == 1)
      ++features;
  }
  return demands;
}

// Of the programs that the device runs, the first of those that demand most of it.
Status select(const Manifest &manifest, Device &device,
              const ProgramOptions &options, size_t &index) {
  std::string reasons;
  size_t none = manifest.programs.size();
  index = none;
  for (size_t i = 0; i < manifest.programs.size(); ++i) {
    const ProgramDesc &program = manifest.programs[i];
    Status status;
    if (!options.target.empty() && options.target != program.target)
      status = unsupported("target " + options.target + " was asked for");
    else if (program.reference != options.reference)
      status =
          unsupported(program.reference ? "it is the reference program"
                                        : "it is not the reference program");
    else
      status = suits(program, device, device.driver());
    if (status.isOk()) {
      if (index == none ||
          demandsOf(program) > demandsOf(manifest.programs[index]))
        index = i;
      continue;
    }
    reasons += "; '" + program.target + "': " + status.message();
  }
  if (index != none)
    return Status::ok();
  std::string what = options.reference
                         ? "the artifact has no reference program for "
                         : "the artifact has no program for ";
  std::string advice =
      options.reference ? " (compile with the additional target cpu-reference)"
                        : "";
  return unsupported(what + device.info().name + advice + reasons);
}

KernelDesc kernelDesc(const VariantDesc &variant) {
  KernelDesc desc;
  desc.entry = variant.name;
  for (const ParamDesc &param : variant.params)
    desc.params.push_back({param.isBuffer, param.scalarType,
                           param.tensorMap ? kTensorMapSlots : size_t(1)});
  desc.block = variant.block;
  desc.cluster = variant.cluster;
  desc.shared = variant.shared;
  desc.subgroup = variant.subgroup;
  desc.scalarsInUniform = variant.scalarsInUniform;
  desc.dependentLaunch = variant.dependentLaunch;
  return desc;
}

bool endsWith(const std::string &text, const char *suffix) {
  std::string_view tail(suffix);
  return text.size() >= tail.size() &&
         text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

} // namespace

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Program::load(std::shared_ptr<Device> device,
                     std::shared_ptr<const Artifact> artifact,
                     const ProgramOptions &options,
                     std::shared_ptr<Program> &result) {
  if (Status s = device->lost())
    return s;
  TraceSlice slice(*device, "load", "load program");
  Manifest manifest;
  if (Status s = parseManifest(*artifact, manifest))
    return s;
  size_t index = 0;
  if (Status s = select(manifest, *device, options, index))
    return s;
  std::shared_ptr<Program> program(new Program);
  program->owner = std::move(device);
  program->artifact = std::move(artifact);
  program->program = std::move(manifest.programs[index]);
  slice.add("target", program->program.target);
  auto where = [&](Status s) {
    return std::move(s).in("program '" + program->program.target + "'");
  };

  const Device &target = *program->owner;
  const char *gridKeys[3] = {"max_grid_x", "max_grid_y", "max_grid_z"};
  for (int d = 0; d < 3; ++d) {
    int64_t limit = target.fact(gridKeys[d]);
    program->limits.grid[d] =
        limit > 0 && limit < INT32_MAX ? limit : INT32_MAX;
  }
  program->limits.binding = target.fact("max_binding");

  const ProgramDesc &desc = program->program;
  if (!desc.hostSection.empty())
    if (Status s = HostModule::load(*program->artifact->find(desc.hostSection),
                                    desc, hostApi(), options.externalLibraries,
                                    program->host))
      return where(std::move(s));
  if (Status s = program->bindVariants())
    return where(std::move(s));
  program->withoutConstants = options.withoutConstants;
  if (!options.withoutConstants)
    if (Status s = program->placeConstants(options))
      return where(std::move(s));
  result = std::move(program);
  return Status::ok();
}

Program::~Program() {
  // Kernels in flight still need their modules and host code.
  for (const std::weak_ptr<Stream> &weak : usedOn)
    if (std::shared_ptr<Stream> used = weak.lock())
      ignoringErrors([&] { return used->wait(); }); // the device remembers
}

Status Program::checkLimits(const VariantDesc &variant) const {
  auto beyond = [&](const char *what, int64_t value, const char *key) {
    int64_t limit = owner->fact(key);
    if (limit <= 0 || value <= limit)
      return Status::ok();
    return unsupported(std::string(what) + " is " + std::to_string(value) +
                       "; " + owner->info().name + " allows " +
                       std::to_string(limit));
  };
  int64_t threads = int64_t(variant.block[0]) * variant.block[1];
  threads = threads > INT32_MAX ? threads : threads * variant.block[2];
  if (Status s = beyond("threads per block", threads, "max_threads"))
    return s;
  if (Status s = beyond("block x", variant.block[0], "max_block_x"))
    return s;
  if (Status s = beyond("block y", variant.block[1], "max_block_y"))
    return s;
  if (Status s = beyond("block z", variant.block[2], "max_block_z"))
    return s;
  return beyond("shared memory in bytes", variant.shared, "shared_memory");
}

Status Program::bindVariants() {
  auto fact = [this](const std::string &key) { return owner->fact(key); };
  for (FunctionDesc &function : program.functions) {
    for (ValueType &type : function.results)
      if (type.reduction)
        type.reduction->bind(fact);
    if (function.flops)
      function.flops->bind(fact);
    if (function.bytes)
      function.bytes->bind(fact);
  }
  for (DispatchDesc &dispatch : program.dispatches) {
    places.emplace_back(dispatch.variants.size());
    for (CheckDesc &check : dispatch.checks) {
      check.left.bind(fact);
      check.right.bind(fact);
    }
    for (size_t i = 0; i < dispatch.variants.size(); ++i) {
      VariantDesc &variant = dispatch.variants[i];
      variant.guard.bind(fact);
      for (Expression &extent : variant.grid)
        extent.bind(fact);
      for (ParamDesc &param : variant.params) {
        param.value.bind(fact);
        for (Expression &size : param.imageSizes)
          size.bind(fact);
      }
      if (variant.guard.isConstant() && variant.guard.constantValue() == 0)
        continue;
      std::string where =
          "dispatch '" + dispatch.name + "', variant '" + variant.name + "'";
      if (Status s = checkLimits(variant))
        return std::move(s).in(where);
      if (variant.section.empty() && (!host || !host->kernel(variant.name)))
        return corruptArtifact(where +
                               ": the host program exports no such kernel");
      size_t slot = 0;
      while (slot < slots.size() && slots[slot]->section != variant.section)
        ++slot;
      if (slot == slots.size()) {
        slots.push_back(std::make_unique<ModuleSlot>());
        slots[slot]->section = variant.section;
      }
      places.back()[i] = {static_cast<int>(slot),
                          static_cast<uint32_t>(slots[slot]->kernels.size())};
      slots[slot]->kernels.push_back(kernelDesc(variant));
    }
  }
  return Status::ok();
}

Status Program::requireModule(ModuleSlot &slot) {
  std::lock_guard<std::mutex> lock(slot.mutex);
  if (slot.tried)
    return slot.status;
  TraceSlice slice(*owner, "load", "load kernel");
  ModuleDesc desc;
  desc.name = slot.section.empty() ? program.hostSection : slot.section;
  slice.add("section", desc.name);
  desc.kernels = slot.kernels;
  if (slot.section.empty()) {
    for (const KernelDesc &kernel : slot.kernels)
      desc.nativeKernels.push_back(host->kernel(kernel.entry));
    desc.nativeCode = host;
  } else {
    const Artifact::Section *section = artifact->find(slot.section);
    desc.bytes = section->data;
    desc.size = section->size;
    desc.kind = program.driver == "vulkan"         ? ModuleKind::Spirv
                : endsWith(slot.section, ".cubin") ? ModuleKind::Cubin
                                                   : ModuleKind::Ptx;
  }
  slot.status = std::move(owner->driver().loadModule(desc, slot.module))
                    .in("loading '" + desc.name + "'");
  // There may be memory the next time.
  slot.tried = slot.status.code() != StatusCode::OutOfMemory;
  return slot.status;
}

Status Program::resources(size_t dispatch, size_t variant,
                          KernelResources &result) {
  const DispatchDesc &desc = program.dispatches[dispatch];
  const std::string where = "dispatch '" + desc.name + "', variant '" +
                            desc.variants[variant].name + "'";
  if (Status s = owner->lost())
    return s;
  const VariantPlace &place = places[dispatch][variant];
  if (place.slot < 0)
    return guardFalse(where + ": its guard is false on " + owner->info().name);
  ModuleSlot &slot = *slots[size_t(place.slot)];
  if (Status s = requireModule(slot))
    return std::move(s).in(where);
  return slot.module->resources(place.kernel, result).in(where);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether rows of a tensor whose elements share bytes do not end where bytes do;
/// compiled code has all of it as one row.
static bool isOneRow(const ValueType &type) {
  return type.shape.empty() || (type.shape.back() > 0 &&
                                  type.shape.back() % elementsPerByte(type.dtype));
}

Status Program::checkArguments(const FunctionDesc &function,
                               const CallValue *args, size_t numArgs) const {
  if (numArgs != function.inputs.size())
    return invalidArgument("takes " + std::to_string(function.inputs.size()) +
                           " inputs; got " + std::to_string(numArgs));
  for (size_t i = 0; i < numArgs; ++i) {
    const ValueType &type = function.inputs[i];
    std::string where = "input " + std::to_string(i);
    bool wantsScalar = type.kind == ValueKind::Scalar;
    if (wantsScalar != (args[i].kind == ValueKind::Scalar))
      return invalidArgument(
          where + ": expected " +
          (wantsScalar ? std::string("a scalar ") + dtypeName(type.dtype)
                       : "a tensor " + shapeText(type.shape, type.dtype)) +
          (wantsScalar ? ", got a tensor" : ", got a scalar"));
    if (wantsScalar)
      continue;
    const View &view = args[i].view;
    if (!view.buffer)
      return invalidArgument(where + " is null");
    if (view.buffer->device() != owner)
      return ofTwoDevices(where, *view.buffer->device(), "the program", *owner);
    if (Status s =
            checkViewType(view, type.dtype, type.shape, type.strides, where))
      return s;
    if (type.kind == ValueKind::Buffer && view.buffer->isReadOnly())
      return invalidArgument(where + " is written in place; its memory is "
                                     "read-only");
    View bytes;
    if (elementsPerByte(type.dtype) > 1)
      if (Status s = viewSharedBytes(view, isOneRow(type), bytes))
        return std::move(s).in(where);
  }
  for (size_t i = 0; i < numArgs; ++i)
    for (size_t j = 0; j < numArgs; ++j)
      if (i != j && function.inputs[i].kind == ValueKind::Buffer &&
          function.inputs[j].kind != ValueKind::Scalar &&
          args[i].view.overlaps(args[j].view))
        return invalidArgument("input " + std::to_string(i) +
                               ", which is written in place, overlaps input " +
                               std::to_string(j));
  return Status::ok();
}

/// An argument as compiled code has it; what checkArguments accepts.
static View asCompiled(const View &view, const ValueType &type) {
  View bytes;
  return elementsPerByte(view.dtype) > 1 && !viewSharedBytes(view, isOneRow(type), bytes)
             ? bytes
             : view;
}

Status Program::call(size_t function, Stream &stream, const CallValue *args,
                     size_t numArgs, CallValue *results, size_t numResults) {
  if (function >= program.functions.size())
    return notFound("function " + std::to_string(function) + " of " +
                    std::to_string(program.functions.size()));
  const FunctionDesc &desc = program.functions[function];
  TraceSlice slice(*owner, "call", desc.name);
  const std::string where = "function '" + desc.name + "'";
  auto failed = [&](Status s) { return std::move(s).in(where); };
  if (withoutConstants)
    return failed(invalidArgument("the program was loaded without its constants"));
  if (stream.device() != owner)
    return failed(ofTwoDevices("the stream", *stream.device(), "the program", *owner));
  if (numResults != desc.results.size())
    return failed(invalidArgument(
        "gives " + std::to_string(desc.results.size()) +
        " results; the caller has room for " + std::to_string(numResults)));
  if (Status s = checkArguments(desc, args, numArgs))
    return failed(std::move(s));

  std::vector<CallValue> values(numResults);
  if (Status s = invoke(function, where, stream, desc.inputs, args, desc.results,
                        values.data()))
    return failed(std::move(s));
  std::move(values.begin(), values.end(), results);
  return Status::ok();
}

Status Program::invoke(size_t number, const std::string &where, Stream &stream,
                       const std::vector<ValueType> &inputs, const CallValue *args,
                       const std::vector<ValueType> &results, CallValue *values) {
  if (Status s = owner->lost())
    return s;
  std::lock_guard<std::recursive_timed_mutex> lock(stream.mutex);
  tw_context context(*this, stream, where);
  Few<uint64_t> argSlots(inputs.size()), resultSlots(results.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    argSlots[i] =
        args[i].kind == ValueKind::Scalar
            ? uint64_t(normaliseScalar(inputs[i].dtype, args[i].bits))
            : reinterpret_cast<uintptr_t>(context.own(asCompiled(args[i].view, inputs[i])));
  host->function(number)(&context, argSlots.data(), resultSlots.data());

  for (size_t i = 0; i < results.size() && context.ok(); ++i) {
    const ValueType &type = results[i];
    std::string result = "result " + std::to_string(i);
    values[i].kind = type.kind;
    if (type.kind == ValueKind::Scalar) {
      values[i].bits = uint64_t(normaliseScalar(type.dtype, resultSlots[i]));
      continue;
    }
    auto *view = reinterpret_cast<tw_view *>(resultSlots[i]);
    if (!context.isLive(view, result.c_str()))
      break;
    context.record(
        checkViewType(view->view, type.dtype, type.shape, type.strides, result));
    values[i].view = view->view;
  }
  if (context.ok())
    return stream.flush();
  stream.forgetChecks(&context);
  return std::move(context.error);
}

Status Program::estimate(size_t function, const CallValue *args, size_t numArgs,
                         WorkEstimate &result) const {
  if (function >= program.functions.size())
    return notFound("function " + std::to_string(function) + " of " +
                    std::to_string(program.functions.size()));
  const FunctionDesc &desc = program.functions[function];
  if (Status s = checkArguments(desc, args, numArgs))
    return std::move(s).in("function '" + desc.name + "'");
  std::vector<View> views(numArgs);
  std::vector<ExpressionOperand> operands(numArgs);
  std::vector<int64_t> scalars;
  for (size_t i = 0; i < numArgs; ++i) {
    if (args[i].kind == ValueKind::Scalar)
      scalars.push_back(normaliseScalar(desc.inputs[i].dtype, args[i].bits));
    else
      operands[i] = describe(views[i] = asCompiled(args[i].view, desc.inputs[i]), 0);
  }
  ExpressionValues values{operands.data(), scalars.data()};
  // An estimate that cannot be computed is unknown, not an error.
  auto evaluate = [&](const std::optional<Expression> &expression) {
    int64_t value = -1;
    if (!expression || expression->evaluate(values, value) || value < 0)
      return int64_t(-1);
    return value;
  };
  result.flops = evaluate(desc.flops);
  result.bytes = evaluate(desc.bytes);
  result.reductions.clear();
  for (const ValueType &type : desc.results)
    result.reductions.push_back(evaluate(type.reduction));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Streams and sinks
//===----------------------------------------------------------------------===//

Status Program::ownStream(std::shared_ptr<Stream> &result) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!stream)
    if (Status s = owner->createStream(stream))
      return s;
  result = stream;
  return Status::ok();
}

void Program::noteStream(Stream &used) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const std::weak_ptr<Stream> &weak : usedOn)
    if (weak.lock().get() == &used)
      return;
  usedOn.erase(std::remove_if(usedOn.begin(), usedOn.end(),
                              [](const auto &weak) { return weak.expired(); }),
               usedOn.end());
  usedOn.push_back(used.weak_from_this());
}

void Program::setPrintSink(TextSink sink) {
  std::lock_guard<std::mutex> lock(mutex);
  printSink = std::move(sink);
}

void Program::setTraceSink(TextSink sink) {
  std::lock_guard<std::mutex> lock(mutex);
  traceSink = std::move(sink);
}

void Program::print(std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex);
  if (printSink)
    printSink(text);
  else
    std::fwrite(text.data(), 1, text.size(), stdout);
}

} // namespace tilewright::runtime
