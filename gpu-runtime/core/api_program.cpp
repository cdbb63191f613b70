// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C API: programs, functions, calls, launches.

#include "core/api_handles.h"

#include <algorithm>

using namespace tilewright::runtime;

static_assert(int(ValueKind::Scalar) == TILEWRIGHT_SCALAR &&
                  int(ValueKind::Buffer) == TILEWRIGHT_BUFFER,
              "ValueKind and tilewright_kind are one list");

namespace {

std::vector<tilewright_type> toApiTypes(const std::vector<ValueType> &types) {
  std::vector<tilewright_type> result;
  for (const ValueType &type : types)
    result.push_back({static_cast<tilewright_kind>(type.kind), type.dtype,
                      static_cast<int32_t>(type.shape.size()),
                      type.shape.data(),
                      type.strides.empty() ? nullptr : type.strides.data()});
  return result;
}

Status toCallValues(size_t count, const tilewright_value *args,
                    std::vector<CallValue> &result) {
  if (count && !args)
    return nullArgument("args");
  result.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    CallValue value;
    value.kind = static_cast<ValueKind>(args[i].kind);
    value.bits = args[i].bits;
    if (args[i].kind == TILEWRIGHT_TENSOR ||
        args[i].kind == TILEWRIGHT_BUFFER) {
      if (!args[i].view)
        return nullArgument(("args[" + std::to_string(i) + "].view").c_str());
      value.view = *args[i].view->object;
    } else if (args[i].kind != TILEWRIGHT_SCALAR) {
      return invalidArgument("args[" + std::to_string(i) + "].kind is " +
                             std::to_string(int(args[i].kind)) +
                             "; expected tensor, buffer or scalar");
    }
    result.push_back(std::move(value));
  }
  return Status::ok();
}

TextSink toSink(tilewright_text_function function, void *user) {
  if (!function)
    return nullptr;
  return [function, user](std::string_view text) {
    function(user, text.data(), text.size());
  };
}

/// Kernel number `kernel` of all variants of all dispatches; false: there are not
/// as many.
bool findKernel(const ProgramDesc &program, size_t kernel, size_t &dispatch,
                size_t &variant) {
  variant = kernel;
  for (dispatch = 0; dispatch < program.dispatches.size(); ++dispatch) {
    size_t count = program.dispatches[dispatch].variants.size();
    if (variant < count)
      return true;
    variant -= count;
  }
  return false;
}

// Finds by name; the error lists what there is.
template <typename T>
Status findByName(const char *what, const std::vector<T> &list,
                  const std::string &name, size_t &result) {
  std::string names;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) {
      result = i;
      return Status::ok();
    }
    if (i < 16)
      names += (i ? ", " : "") + list[i].name;
    else if (i == 16)
      names += ", …";
  }
  return notFound(std::string("the program has no ") + what + " '" + name +
                  "'; it has " + (names.empty() ? "none" : names));
}

} // namespace

tilewright_program::tilewright_program(std::shared_ptr<Program> program)
    : TilewrightHandle(std::move(program)) {
  for (const FunctionDesc &function : object->desc().functions)
    signatures.push_back(
        {toApiTypes(function.inputs), toApiTypes(function.results)});
}

tilewright_status *
tilewright_program_load(tilewright_device *device, const void *data,
                        size_t size, const tilewright_program_options *options,
                        tilewright_program **program) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    TILEWRIGHT_REQUIRE(data);
    TILEWRIGHT_REQUIRE(program);
    ProgramOptions chosen;
    if (options) {
      chosen.target = options->target ? options->target : "";
      chosen.reference = options->reference != 0;
      TILEWRIGHT_REQUIRE_ARRAY(options->external_libraries,
                               options->num_external_libraries);
      for (size_t i = 0; i < options->num_external_libraries; ++i) {
        TILEWRIGHT_REQUIRE(options->external_libraries[i]);
        chosen.externalLibraries.push_back(options->external_libraries[i]);
      }
      chosen.parameters = options->parameters ? options->parameters : "";
      chosen.verifyParameters = options->verify_parameters != 0;
      chosen.withoutConstants = options->without_constants != 0;
    }
    std::shared_ptr<const Artifact> artifact;
    if (Status s = Artifact::parse(data, size, artifact))
      return s;
    std::shared_ptr<Program> loaded;
    if (Status s =
            Program::load(device->object, std::move(artifact), chosen, loaded))
      return s;
    *program = new tilewright_program(std::move(loaded));
    return Status::ok();
  });
}
void tilewright_program_retain(tilewright_program *program) {
  retainHandle(program);
}
void tilewright_program_release(tilewright_program *program) {
  releaseHandle(program);
}
const char *tilewright_program_target(tilewright_program *program) {
  return program ? program->object->desc().target.c_str() : "";
}
void tilewright_program_set_print(tilewright_program *program,
                                  tilewright_text_function function,
                                  void *user) {
  if (program)
    program->object->setPrintSink(toSink(function, user));
}
void tilewright_program_set_trace(tilewright_program *program,
                                  tilewright_text_function function,
                                  void *user) {
  if (program)
    program->object->setTraceSink(toSink(function, user));
}

size_t tilewright_program_function_count(tilewright_program *program) {
  return program ? program->object->desc().functions.size() : 0;
}
tilewright_status *tilewright_program_function_find(tilewright_program *program,
                                                    const char *name,
                                                    size_t *function) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(name);
    TILEWRIGHT_REQUIRE(function);
    return findByName("function", program->object->desc().functions, name,
                      *function);
  });
}
tilewright_status *
tilewright_program_function_signature(tilewright_program *program,
                                      size_t function,
                                      tilewright_signature *signature) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(signature);
    if (function >= program->signatures.size())
      return notFound("function " + std::to_string(function) + " of " +
                      std::to_string(program->signatures.size()));
    const tilewright_program::Signature &types = program->signatures[function];
    *signature = {program->object->desc().functions[function].name.c_str(),
                  types.inputs.size(), types.inputs.data(),
                  types.results.size(), types.results.data()};
    return Status::ok();
  });
}

tilewright_status *
tilewright_program_call(tilewright_program *program, size_t function,
                        tilewright_stream *stream, size_t num_args,
                        const tilewright_value *args, size_t num_results,
                        tilewright_value *results) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE_ARRAY(results, num_results);
    std::vector<CallValue> in, out(num_results);
    if (Status s = toCallValues(num_args, args, in))
      return s;
    auto callOn = [&](Stream &queue) {
      return program->object->call(function, queue, in.data(), num_args,
                                   out.data(), num_results);
    };
    if (stream) {
      if (Status s = callOn(*stream->object))
        return s;
    } else {
      std::shared_ptr<Stream> own;
      if (Status s = program->object->ownStream(own))
        return s;
      if (Status s = own->complete([&] { return callOn(*own); }))
        return s;
    }
    // Nothing is given to the caller until all of it can be.
    std::vector<std::unique_ptr<tilewright_view>> views(num_results);
    for (size_t i = 0; i < num_results; ++i)
      if (out[i].kind != ValueKind::Scalar)
        views[i] = std::make_unique<tilewright_view>(
            std::make_shared<const View>(std::move(out[i].view)));
    for (size_t i = 0; i < num_results; ++i)
      results[i] = {static_cast<tilewright_kind>(out[i].kind),
                    views[i].release(), out[i].bits};
    return Status::ok();
  });
}

tilewright_status *tilewright_program_estimate(tilewright_program *program,
                                               size_t function, size_t num_args,
                                               const tilewright_value *args,
                                               int64_t *reductions,
                                               tilewright_work *work) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(work);
    std::vector<CallValue> in;
    if (Status s = toCallValues(num_args, args, in))
      return s;
    WorkEstimate estimate;
    if (Status s =
            program->object->estimate(function, in.data(), in.size(), estimate))
      return s;
    if (reductions)
      std::copy(estimate.reductions.begin(), estimate.reductions.end(),
                reductions);
    *work = {estimate.flops, estimate.bytes};
    return Status::ok();
  });
}

tilewright_status *tilewright_program_dispatch_find(tilewright_program *program,
                                                    const char *name,
                                                    size_t *dispatch) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(name);
    TILEWRIGHT_REQUIRE(dispatch);
    return findByName("dispatch", program->object->desc().dispatches, name,
                      *dispatch);
  });
}

tilewright_status *
tilewright_program_launch(tilewright_program *program, size_t dispatch,
                          tilewright_stream *stream, size_t num_views,
                          tilewright_view *const *views, size_t num_scalars,
                          const uint64_t *scalars) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(stream);
    TILEWRIGHT_REQUIRE_ARRAY(views, num_views);
    TILEWRIGHT_REQUIRE_ARRAY(scalars, num_scalars);
    std::vector<const View *> operands;
    for (size_t i = 0; i < num_views; ++i)
      operands.push_back(views[i] ? views[i]->object.get() : nullptr);
    if (Status s =
            program->object->launch(dispatch, *stream->object, operands.data(),
                                    num_views, scalars, num_scalars))
      return s;
    return stream->object->flush();
  });
}

size_t tilewright_program_kernel_count(tilewright_program *program) {
  size_t count = 0;
  if (program)
    for (const DispatchDesc &dispatch : program->object->desc().dispatches)
      count += dispatch.variants.size();
  return count;
}

const char *tilewright_program_kernel_variant(tilewright_program *program,
                                              size_t kernel) {
  size_t dispatch = 0, variant = 0;
  if (!program ||
      !findKernel(program->object->desc(), kernel, dispatch, variant))
    return nullptr;
  return program->object->desc().dispatches[dispatch].variants[variant].name.c_str();
}

tilewright_status *tilewright_program_kernel_resources(
    tilewright_program *program, size_t kernel,
    tilewright_kernel_resources *resources) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(program);
    TILEWRIGHT_REQUIRE(resources);
    const auto &dispatches = program->object->desc().dispatches;
    size_t dispatch = 0, variant = 0;
    if (!findKernel(program->object->desc(), kernel, dispatch, variant))
      return notFound(
          "kernel " + std::to_string(kernel) + " of " +
          std::to_string(tilewright_program_kernel_count(program)));
    const VariantDesc &desc = dispatches[dispatch].variants[variant];
    *resources = {dispatches[dispatch].name.c_str(), desc.name.c_str(), -1, -1,
                  -1, -1, int64_t(desc.shared), -1, -1, 0, nullptr};
    std::lock_guard<std::mutex> lock(program->mutex);
    auto kept = program->resources.find(kernel);
    if (kept == program->resources.end()) {
      KernelResources found;
      if (Status s = program->object->resources(dispatch, variant, found))
        return s;
      kept = program->resources.emplace(kernel, tilewright_program::Resources())
                 .first;
      kept->second.found = std::move(found);
      for (const KernelStatistic &one : kept->second.found.statistics)
        kept->second.statistics.push_back(
            {one.name.c_str(), one.description.c_str(), one.value});
    }
    const KernelResources &found = kept->second.found;
    resources->registers = found.registers;
    resources->scalar_registers = found.scalarRegisters;
    resources->local_bytes = found.localBytes;
    resources->shared_bytes = found.sharedBytes;
    resources->max_threads = found.maxThreads;
    resources->code_bytes = found.codeBytes;
    resources->num_statistics = kept->second.statistics.size();
    resources->statistics = kept->second.statistics.data();
    return Status::ok();
  });
}
