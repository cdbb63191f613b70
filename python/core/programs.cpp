// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs: loading, what their functions take, calls.
#include "core.h"

namespace tilewright::python {

namespace {

struct Type {
  std::string kind, dtype;
  std::vector<int64_t> shape;
  std::optional<std::vector<int64_t>> strides;
};
struct Signature {
  std::string name;
  std::vector<Type> inputs, results;
};

Type toType(const tilewright_type &type) {
  static const char *const kinds[] = {"tensor", "buffer", "scalar"};
  Type result;
  result.kind = kinds[type.kind];
  result.dtype = tilewright_dtype_name(type.dtype);
  if (type.rank)
    result.shape.assign(type.dims, type.dims + type.rank);
  if (type.strides)
    result.strides.emplace(type.strides, type.strides + type.rank);
  return result;
}

/// What a program prints goes where Python's print does.
void print(void *, const char *text, size_t length) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire acquire;
  try {
    nb::module_::import_("sys").attr("stdout").attr("write")(
        nb::steal(PyUnicode_DecodeUTF8(text, Py_ssize_t(length), "replace")));
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("printing of a Tilewright program");
  }
}

Program load(const Device &device, nb::bytes artifact,
             std::optional<std::string> target, bool reference,
             const std::vector<std::string> &libraries,
             std::optional<std::string> parameters, bool verifyParameters) {
  Program program;
  std::vector<const char *> paths;
  for (const std::string &path : libraries)
    paths.push_back(path.c_str());
  tilewright_program_options options = {target ? target->c_str() : nullptr,
                                        reference, paths.size(), paths.data(),
                                        parameters ? parameters->c_str() : nullptr,
                                        verifyParameters, 0};
  unlocked([&] {
    return tilewright_program_load(device.handle.get(), artifact.data(),
                                   artifact.size(), &options,
                                   program.handle.out());
  });
  tilewright_program_set_print(program.handle.get(), &print, nullptr);
  return program;
}

std::vector<Signature> signatures(const Program &program) {
  std::vector<Signature> result;
  size_t count = tilewright_program_function_count(program.handle.get());
  for (size_t i = 0; i < count; ++i) {
    tilewright_signature signature;
    check(tilewright_program_function_signature(program.handle.get(), i,
                                                &signature));
    Signature &made = result.emplace_back();
    made.name = signature.name;
    for (size_t k = 0; k < signature.num_inputs; ++k)
      made.inputs.push_back(toType(signature.inputs[k]));
    for (size_t k = 0; k < signature.num_results; ++k)
      made.results.push_back(toType(signature.results[k]));
  }
  return result;
}

/// `args` are views and, for scalars, integers with their bits; so are the
/// results.
nb::list call(const Program &program, size_t function, const Stream &stream,
              nb::list args) {
  tilewright_signature signature;
  check(tilewright_program_function_signature(program.handle.get(), function,
                                              &signature));
  std::vector<tilewright_value> values, results(signature.num_results);
  for (size_t i = 0; i < args.size(); ++i) {
    tilewright_value value = {TILEWRIGHT_SCALAR, nullptr, 0};
    if (nb::isinstance<View>(args[i])) {
      value.kind = TILEWRIGHT_TENSOR;
      value.view = nb::cast<const View &>(args[i]).handle.get();
    } else {
      value.bits = nb::cast<uint64_t>(args[i]);
    }
    values.push_back(value);
  }
  unlockedOn(stream, [&] {
    return tilewright_program_call(program.handle.get(), function,
                                   stream.handle.get(), values.size(),
                                   values.data(), results.size(),
                                   results.data());
  });
  nb::list list;
  for (const tilewright_value &result : results) {
    if (result.kind == TILEWRIGHT_SCALAR) {
      list.append(result.bits);
      continue;
    }
    View view;
    *view.handle.out() = result.view;
    list.append(nb::cast(std::move(view)));
  }
  return list;
}

/// A dict per kernel, with the members of tilewright-run's JSON.
nb::list resources(const Program &program) {
  tilewright_program *handle = program.handle.get();
  nb::list list;
  for (size_t i = 0; i < tilewright_program_kernel_count(handle); ++i) {
    tilewright_kernel_resources found = {};
    tilewright_status *status = nullptr;
    {
      nb::gil_scoped_release release;
      status = tilewright_program_kernel_resources(handle, i, &found);
    }
    nb::dict kernel;
    kernel["kernel"] = found.dispatch;
    kernel["variant"] = found.variant;
    if (status) {
      kernel["reason"] = tilewright_status_message(status);
      if (tilewright_status_code(status) == TILEWRIGHT_GUARD_FALSE)
        kernel["guard"] = false;
      tilewright_status_release(status);
      list.append(kernel);
      continue;
    }
    const std::pair<const char *, int64_t> numbers[] = {
        {"registers", found.registers},
        {"scalar_registers", found.scalar_registers},
        {"local_bytes", found.local_bytes},
        {"shared_bytes", found.shared_bytes},
        {"dynamic_shared_bytes", found.dynamic_shared_bytes},
        {"max_threads", found.max_threads},
        {"code_bytes", found.code_bytes}};
    for (const auto &[name, value] : numbers)
      if (value >= 0)
        kernel[name] = value;
    nb::dict own;
    for (size_t k = 0; k < found.num_statistics; ++k)
      own[found.statistics[k].name] = found.statistics[k].value;
    if (found.num_statistics)
      kernel["statistics"] = own;
    list.append(kernel);
  }
  return list;
}

} // namespace

void bindPrograms(nb::module_ &module) {
  nb::class_<Type>(module, "Type")
      .def_ro("kind", &Type::kind, "tensor, buffer (written in place), scalar")
      .def_ro("dtype", &Type::dtype)
      .def_ro("shape", &Type::shape, "-1: any size")
      .def_ro("strides", &Type::strides,
              "Elements, -1: any; None where tensors must be dense.");
  nb::class_<Signature>(module, "Signature")
      .def_ro("name", &Signature::name)
      .def_ro("inputs", &Signature::inputs)
      .def_ro("results", &Signature::results);
  nb::class_<Program>(module, "Program")
      .def_prop_ro("target",
                   [](const Program &program) {
                     return tilewright_program_target(program.handle.get());
                   })
      .def("signatures", &signatures)
      .def("resources", &resources)
      .def("call", &call, nb::arg("function"), nb::arg("stream"),
           nb::arg("args"));
  module.def("load_program", &load, nb::arg("device"), nb::arg("artifact"),
             nb::arg("target") = nb::none(), nb::arg("reference") = false,
             nb::arg("libraries") = std::vector<std::string>(),
             nb::arg("parameters") = nb::none(), nb::arg("verify_parameters") = false);
}

} // namespace tilewright::python
