// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module, its errors, devices and streams.
#include "core.h"

namespace tilewright::python {

void check(tilewright_status *status) {
  if (!status)
    return;
  int code = tilewright_status_code(status);
  std::string message = tilewright_status_message(status);
  tilewright_status_release(status);
  // A device is given up by a wait of no time.
  const std::string ending = "within 0 s";
  if (code == TILEWRIGHT_DEVICE_LOST && anyGivenUp() && message.size() > ending.size() &&
      message.compare(message.size() - ending.size(), ending.size(), ending) == 0)
    message += ", where Ctrl-C (KeyboardInterrupt) ended a call";
  nb::object type =
      nb::module_::import_("tilewright._errors").attr("BY_CODE")[nb::int_(code)];
  nb::object error = type(message);
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

namespace {

/// The one instance of this process; drivers are opened when first asked for.
/// Never released: devices may outlive the module.
tilewright_instance *instance() {
  static tilewright_instance *made = [] {
    tilewright_instance *result = nullptr;
    check(tilewright_instance_create(nullptr, &result));
    return result;
  }();
  return made;
}

struct DeviceInfo {
  std::string name, description, reason, target;
  bool available;
  int32_t automatic;
};

std::vector<DeviceInfo> devices() {
  tilewright_instance *all = instance();
  size_t count = 0;
  unlocked([&] { return tilewright_instance_devices(all, 0, nullptr, &count); });
  std::vector<tilewright_device_info> infos(count);
  check(tilewright_instance_devices(all, count, infos.data(), &count));
  std::vector<DeviceInfo> result;
  for (const tilewright_device_info &info : infos)
    result.push_back({info.name, info.description, info.reason, info.target,
                      info.available != 0, info.automatic});
  return result;
}

Device openDevice(const std::string &name) {
  Device device;
  tilewright_instance *all = instance();
  unlocked([&] {
    return tilewright_device_open(all, name.c_str(), device.handle.out());
  });
  return device;
}

Device adoptContext(const std::string &driver, uintptr_t context) {
  Device device;
  tilewright_instance *all = instance();
  unlocked([&] {
    return tilewright_device_adopt_cuda(all, driver.c_str(),
                                        reinterpret_cast<void *>(context),
                                        device.handle.out());
  });
  return device;
}

Stream openStream(const Device &device, std::optional<uint64_t> native) {
  Stream stream;
  std::string name = tilewright_device_name(device.handle.get());
  stream.stops = name == "cpu" || name.rfind("ptxsim", 0) == 0;
  unlocked([&] {
    return native ? tilewright_stream_import(device.handle.get(), *native,
                                             stream.handle.out())
                  : tilewright_stream_create(device.handle.get(),
                                             stream.handle.out());
  });
  return stream;
}

void synchronize(const Stream &stream, std::optional<double> seconds) {
  if (seconds && !(*seconds >= 0))
    throw nb::value_error("a timeout is 0 seconds or more");
  uint64_t timeout = seconds && *seconds < 1e9
                         ? static_cast<uint64_t>(*seconds * 1e9)
                         : TILEWRIGHT_FOREVER;
  unlockedOn(stream, [&] {
    return tilewright_stream_synchronize(stream.handle.get(), timeout);
  });
}

/// Later work of `stream` comes after what `other` has been given so far.
void waitFor(const Stream &stream, const Stream &other, const Device &device) {
  Handle<tilewright_event, tilewright_event_release> event;
  unlocked([&] {
    tilewright_status *status =
        tilewright_event_create(device.handle.get(), 0, event.out());
    if (!status)
      status = tilewright_event_record(event.get(), other.handle.get());
    if (!status)
      status = tilewright_stream_wait_event(stream.handle.get(), event.get());
    return status;
  });
}

} // namespace

void bindDevices(nb::module_ &module) {
  nb::class_<DeviceInfo>(module, "DeviceInfo",
                         "A device of this machine, or a driver without any.")
      .def_ro("name", &DeviceInfo::name)
      .def_ro("description", &DeviceInfo::description)
      .def_ro("available", &DeviceInfo::available)
      .def_ro("reason", &DeviceInfo::reason, "Why not, when not available.")
      .def_ro("automatic", &DeviceInfo::automatic,
              "Place in the order in which \"auto\" tries devices, from 1; 0: "
              "it does not try this one.")
      .def_ro("target", &DeviceInfo::target,
              "Text for compile(target=...) that names the device's matrix "
              "units; often empty.")
      .def("__repr__", [](const DeviceInfo &info) {
        return "<" + info.name + ": " +
               (info.available ? info.description : info.reason) + ">";
      });
  nb::class_<Stream>(module, "Stream")
      .def("synchronize", &synchronize, nb::arg("timeout") = nb::none())
      .def("wait", &waitFor, nb::arg("other"), nb::arg("device"))
      .def("flush",
           [](const Stream &stream) {
             unlocked(
                 [&] { return tilewright_stream_flush(stream.handle.get()); });
           })
      .def_prop_ro("native", [](const Stream &stream) {
        uint64_t native = 0;
        check(tilewright_stream_native(stream.handle.get(), &native));
        return native;
      });
  nb::class_<Device>(module, "Device")
      .def_prop_ro("name",
                   [](const Device &device) {
                     return tilewright_device_name(device.handle.get());
                   })
      .def_prop_ro("description",
                   [](const Device &device) {
                     return tilewright_device_description(device.handle.get());
                   })
      .def("fact",
           [](const Device &device, const std::string &key) {
             return tilewright_device_fact(device.handle.get(), key.c_str());
           })
      .def("trim",
           [](const Device &device) {
             nb::gil_scoped_release release;
             tilewright_device_trim(device.handle.get());
           })
      .def_prop_ro("dlpack",
                   [](const Device &device) {
                     int32_t type = 0, number = 0;
                     check(tilewright_device_dlpack(device.handle.get(), &type,
                                                    &number));
                     return std::make_pair(type, number);
                   })
      .def("stream", &openStream, nb::arg("native") = nb::none());
  module.def("devices", &devices);
  module.def("open_device", &openDevice, nb::arg("name"));
  module.def("adopt_cuda", &adoptContext, nb::arg("driver"),
             nb::arg("context"));
  module.def("version", &tilewright_version);
}

} // namespace tilewright::python

NB_MODULE(_core, module) {
  // Of objects that a thread still holds when the interpreter ends: nothing that a
  // user could mend.
  nanobind::set_leak_warnings(false);
  module.doc() = "The runtime's C API; use the package tilewright instead.";
  tilewright::python::bindDevices(module);
  tilewright::python::bindViews(module);
  tilewright::python::bindPrograms(module);
}
