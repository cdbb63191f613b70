// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs over the C API; see session.h.

#include "session.h"

#include "core/dtype.h"

namespace tilewright::run {

void check(tilewright_status *status, const std::string &where) {
  if (!status)
    return;
  std::string message = tilewright_status_message(status);
  tilewright_status_release(status);
  throw RunError(where.empty() ? message : where + ": " + message);
}

namespace {

// Calls `make(&raw)` and owns what it gives.
template <typename T, typename Make>
Handle<T> make(Make function, const std::string &where = "") {
  T *raw = nullptr;
  check(function(&raw), where);
  return Handle<T>(raw);
}

// Behind the name of a function of the oracle: the one with its error bounds.
const std::string boundsSuffix = ".bounds";

bool isBounds(const std::string &name) {
  return name.size() > boundsSuffix.size() &&
         name.compare(name.size() - boundsSuffix.size(), std::string::npos,
                      boundsSuffix) == 0;
}

} // namespace

Handle<tilewright_instance> createInstance() {
  return make<tilewright_instance>([](tilewright_instance **out) {
    return tilewright_instance_create(nullptr, out);
  });
}

std::string typeText(const tilewright_type &type) {
  auto dtype = static_cast<tw_dtype>(type.dtype);
  if (type.kind == TILEWRIGHT_SCALAR)
    return std::string("scalar ") + runtime::dtypeName(dtype);
  return (type.kind == TILEWRIGHT_BUFFER ? "buffer " : "") +
         runtime::shapeText(
             std::vector<int64_t>(type.dims, type.dims + type.rank), dtype);
}

Session::Session(tilewright_instance *instance, const std::string &path,
                 const std::string &artifact, const ProgramChoice &choice)
    : timeoutNs(choice.timeoutNs), listener(choice.trace) {
  device = make<tilewright_device>([&](tilewright_device **out) {
    return tilewright_device_open(instance, choice.device.c_str(), out);
  });
  if (choice.trace)
    choice.trace->attach(&*device);
  if (choice.runs) {
    stream = make<tilewright_stream>([&](tilewright_stream **out) {
      return tilewright_stream_create(&*device, out);
    });
    tilewright_stream_set_timeout(&*stream, timeoutNs);
  }
  std::vector<const char *> libraries;
  for (const std::string &path : choice.externalLibraries)
    libraries.push_back(path.c_str());
  tilewright_program_options options = {
      choice.target.empty() ? nullptr : choice.target.c_str(), choice.reference,
      libraries.size(), libraries.data(),
      choice.parameters.empty() ? nullptr : choice.parameters.c_str(),
      choice.verifyParameters, !choice.runs};
  program = make<tilewright_program>([&](tilewright_program **out) {
    return tilewright_program_load(&*device, artifact.data(), artifact.size(),
                                   &options, out);
  }, path);
}

size_t Session::findFunction(const std::string &name) {
  size_t function = 0;
  if (name.empty()) {
    size_t count = 0;
    for (size_t i = 0; i < tilewright_program_function_count(&*program); ++i)
      if (!isBounds(signature(i).name)) {
        function = i;
        ++count;
      }
    if (count == 1)
      return function;
  }
  check(tilewright_program_function_find(
      &*program, name.empty() ? "main" : name.c_str(), &function));
  return function;
}

tilewright_kernel_resources Session::resources(size_t kernel, std::string &reason,
                                               bool &isOther) {
  tilewright_kernel_resources result = {};
  reason.clear();
  isOther = false;
  if (tilewright_status *status = tilewright_program_kernel_resources(
          &*program, kernel, &result)) {
    reason = tilewright_status_message(status);
    isOther = tilewright_status_code(status) == TILEWRIGHT_GUARD_FALSE;
    tilewright_status_release(status);
  }
  return result;
}

tilewright_signature Session::signature(size_t function) {
  tilewright_signature result;
  check(tilewright_program_function_signature(&*program, function, &result));
  return result;
}

Handle<tilewright_view> Session::makeStrided(const tilewright_type &type,
                                             tw_dtype dtype,
                                             const std::vector<int64_t> &dims,
                                             bool aligned,
                                             const std::string &where) {
  // Dims from the innermost one outwards: every second element where the stride
  // is free, and rows with a gap behind them.
  size_t rank = dims.size();
  std::vector<int64_t> strides(rank);
  int64_t next = 2, last = 0;
  for (size_t d = rank; d-- > 0;) {
    bool isFree = size_t(type.rank) != rank || type.strides[d] < 0;
    strides[d] = isFree ? next : type.strides[d];
    int64_t reach = std::max<int64_t>(dims[d], 1) * strides[d];
    next = aligned ? (reach + 64) / 64 * 64 : reach + 3;
    last += std::max<int64_t>(dims[d] - 1, 0) * strides[d];
  }
  uint64_t size = tilewright_dtype_size(dtype);
  uint64_t offset = aligned ? 0 : 3 * size;
  auto buffer = make<tilewright_buffer>(
      [&](tilewright_buffer **out) {
        return tilewright_buffer_allocate(
            &*device, offset + uint64_t(last + 1) * size, out);
      },
      where);
  return make<tilewright_view>(
      [&](tilewright_view **out) {
        return tilewright_view_create_strided(&*buffer, offset, dtype,
                                              static_cast<int32_t>(rank),
                                              dims.data(), strides.data(), out);
      },
      where);
}

DeviceValues Session::upload(size_t function,
                             const std::vector<HostTensor> &inputs) {
  tilewright_signature types = signature(function);
  DeviceValues result;
  for (size_t i = 0; i < inputs.size() && i < types.num_inputs; ++i) {
    const HostTensor &tensor = inputs[i];
    const tilewright_type &type = types.inputs[i];
    std::string where = "input " + std::to_string(i);
    // i64 serves for index, which has no literal syntax of its own elsewhere.
    tw_dtype dtype = tensor.dtype;
    if (dtype == TW_I64 && type.dtype == TW_INDEX)
      dtype = TW_INDEX;
    if (type.kind == TILEWRIGHT_SCALAR) {
      if (!tensor.dims.empty() || dtype != type.dtype)
        throw RunError(where + ": expected " + typeText(type) + ", got " +
                       tensor.type());
      result.values.push_back(
          {TILEWRIGHT_SCALAR, nullptr, uint64_t(tensor.bits(0))});
      continue;
    }
    auto view = type.strides
                    ? makeStrided(type, dtype, tensor.dims, i % 2 == 0, where)
                    : make<tilewright_view>(
                          [&](tilewright_view **out) {
                            return tilewright_view_allocate(
                                &*device, dtype,
                                static_cast<int32_t>(tensor.dims.size()),
                                tensor.dims.data(), out);
                          },
                          where);
    check(tilewright_view_write(&*view, &*stream, tensor.bytes.data(),
                                tensor.bytes.size()),
          where);
    result.values.push_back({type.kind, view.get(), 0});
    result.views.push_back(std::move(view));
  }
  if (inputs.size() != types.num_inputs) {
    std::string text;
    for (size_t i = 0; i < types.num_inputs; ++i)
      text += (i ? ", " : "") + typeText(types.inputs[i]);
    throw RunError(std::string("function '") + types.name + "' takes " +
                   std::to_string(types.num_inputs) + " inputs (" + text +
                   "); got " + std::to_string(inputs.size()) +
                   "; give one --input each, like --input=4x4xf32=random");
  }
  return result;
}

DeviceValues Session::call(size_t function, const DeviceValues &arguments) {
  DeviceValues result;
  result.values.resize(signature(function).num_results);
  check(tilewright_program_call(
      &*program, function, &*stream, arguments.values.size(),
      arguments.values.data(), result.values.size(), result.values.data()));
  for (tilewright_value &value : result.values)
    if (value.view)
      result.views.emplace_back(value.view);
  return result;
}

void Session::synchronize() {
  check(tilewright_stream_synchronize(&*stream, timeoutNs));
}

HostTensor Session::downloadView(tilewright_view *view) {
  const int64_t *dims = tilewright_view_dims(view);
  HostTensor tensor =
      makeTensor(static_cast<tw_dtype>(tilewright_view_dtype(view)),
                 std::vector<int64_t>(dims, dims + tilewright_view_rank(view)));
  check(tilewright_view_read(view, &*stream, tensor.bytes.size(),
                             tensor.bytes.data()));
  synchronize();
  return tensor;
}

std::vector<HostTensor> Session::run(size_t function,
                                     const std::vector<HostTensor> &inputs) {
  tilewright_device_set_poison(&*device, 1);
  DeviceValues arguments = upload(function, inputs);
  DeviceValues results = call(function, arguments);
  tilewright_device_set_poison(&*device, 0);
  tilewright_signature types = signature(function);
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < types.num_results; ++i) {
    if (types.results[i].kind != TILEWRIGHT_SCALAR) {
      outputs.push_back(downloadView(results.values[i].view));
      continue;
    }
    HostTensor scalar =
        makeTensor(static_cast<tw_dtype>(types.results[i].dtype), {});
    scalar.setBits(0, static_cast<int64_t>(results.values[i].bits));
    outputs.push_back(std::move(scalar));
  }
  for (size_t i = 0; i < types.num_inputs; ++i)
    if (types.inputs[i].kind == TILEWRIGHT_BUFFER)
      outputs.push_back(downloadView(arguments.values[i].view));
  synchronize();
  return outputs;
}

OracleValues Session::runOracle(const std::string &function,
                                const std::vector<HostTensor> &inputs) {
  OracleValues values;
  size_t plain = findFunction(function), bounds = 0;
  tilewright_status *missing = tilewright_program_function_find(
      &*program, (function + boundsSuffix).c_str(), &bounds);
  if (missing) {
    tilewright_status_release(missing);
    values.outputs = run(plain, inputs);
    return values;
  }
  // Results, the bounds of all outputs, then what is written in place.
  values.outputs = run(bounds, inputs);
  size_t results = signature(plain).num_results;
  auto begin = values.outputs.begin() + results;
  auto end = values.outputs.begin() + signature(bounds).num_results;
  for (auto it = begin; it != end; ++it)
    values.bounds.push_back(std::make_shared<const HostTensor>(std::move(*it)));
  values.outputs.erase(begin, end);
  return values;
}

tilewright_work Session::estimate(size_t function,
                                  const DeviceValues &arguments,
                                  std::vector<int64_t> &reductions) {
  reductions.assign(signature(function).num_results, -1);
  tilewright_work work;
  check(tilewright_program_estimate(
      &*program, function, arguments.values.size(), arguments.values.data(),
      reductions.data(), &work));
  return work;
}

Handle<tilewright_event> Session::createEvent() {
  return make<tilewright_event>([&](tilewright_event **out) {
    return tilewright_event_create(&*device, 1, out);
  });
}

void Session::record(tilewright_event *event) {
  check(tilewright_event_record(event, &*stream));
}

void Session::listen(tilewright_trace_function function, void *user) {
  synchronize();
  if (!function && listener)
    return listener->attach(&*device);
  check(tilewright_device_set_trace(&*device, function, user));
}

Handle<tilewright_buffer> Session::allocate(uint64_t bytes) {
  return make<tilewright_buffer>([&](tilewright_buffer **out) {
    return tilewright_buffer_allocate(&*device, bytes, out);
  });
}

void Session::fill(tilewright_buffer *buffer, uint64_t bytes,
                   uint32_t pattern) {
  check(tilewright_buffer_fill(buffer, &*stream, 0, bytes, pattern, 4));
}

void Session::setTracing(bool on) {
  tilewright_program_set_trace(
      &*program,
      on ? [](void *user, const char *text, size_t length) {
        static_cast<std::vector<std::string> *>(user)->emplace_back(text,
                                                                    length);
      }
         : static_cast<tilewright_text_function>(nullptr),
      &trace);
}

std::vector<std::string> Session::takeTrace() { return std::move(trace); }

} // namespace tilewright::run
