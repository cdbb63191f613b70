# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C API for Python, by ctypes: what benchmarks need of it and no more.

    library = Library("build/lib/libtilewright.so")
    device = library.open("cuda")
    program = device.load("gemm.tw")
    stream = device.stream(torch_stream.cuda_stream)      # adopts the caller's queue
    results = program.call("f16_64x4096x4096", stream, [view, view])

It needs no package, so that it works wherever Python is. Every status becomes an Error. Objects release their handle
when they are collected; an object keeps alive what it was made of.
"""

import ctypes
import ctypes.util

FOREVER = 2**64 - 1
TENSOR, BUFFER, SCALAR = 0, 1, 2


class Error(RuntimeError):
    """A status of the runtime, with its message."""


class _Type(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


class _Signature(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("num_inputs", ctypes.c_size_t), ("inputs", ctypes.POINTER(_Type)),
                ("num_results", ctypes.c_size_t), ("results", ctypes.POINTER(_Type))]


class _Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("view", ctypes.c_void_p), ("bits", ctypes.c_uint64)]


class _DeviceInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("description", ctypes.c_char_p), ("available", ctypes.c_int32),
                ("reason", ctypes.c_char_p), ("target", ctypes.c_char_p), ("automatic", ctypes.c_int32),
                ("uuid", ctypes.c_char_p)]


class _Work(ctypes.Structure):
    _fields_ = [("flops", ctypes.c_int64), ("bytes", ctypes.c_int64)]


class _Statistic(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("description", ctypes.c_char_p), ("value", ctypes.c_double)]


#: Members of a kernel's resources that are numbers, -1 where the driver does not say.
_NUMBERS = ("registers", "scalar_registers", "local_bytes", "shared_bytes", "dynamic_shared_bytes", "max_threads",
            "code_bytes")


class _Resources(ctypes.Structure):
    _fields_ = [("dispatch", ctypes.c_char_p), ("variant", ctypes.c_char_p),
                *((name, ctypes.c_int64) for name in _NUMBERS),
                ("num_statistics", ctypes.c_size_t), ("statistics", ctypes.POINTER(_Statistic))]


class _ProgramOptions(ctypes.Structure):
    _fields_ = [("target", ctypes.c_char_p), ("reference", ctypes.c_int32), ("num_external_libraries", ctypes.c_size_t),
                ("external_libraries", ctypes.POINTER(ctypes.c_char_p)), ("parameters", ctypes.c_char_p),
                ("verify_parameters", ctypes.c_int32), ("without_constants", ctypes.c_int32)]


_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class Library:
    """An instance of the runtime in a shared library; `path` as for dlopen."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("version", "status_message", "device_name", "device_description", "dtype_name",
                     "program_target", "program_kernel_variant"):
            getattr(self.c, "tilewright_" + name).restype = ctypes.c_char_p
        for name in ("device_fact", "view_address"):
            getattr(self.c, "tilewright_" + name).restype = ctypes.c_int64
        self.c.tilewright_view_dims.restype = ctypes.POINTER(ctypes.c_int64)
        self.c.tilewright_view_size.restype = ctypes.c_uint64
        self.handle = self.make("instance_create", None)

    @property
    def version(self):
        return self.c.tilewright_version().decode()

    def do(self, name, *arguments):
        """Calls a function that returns a status."""
        function = getattr(self.c, "tilewright_" + name)
        function.restype = ctypes.c_void_p
        status = function(*arguments)
        if status:
            status = ctypes.c_void_p(status)
            message = self.c.tilewright_status_message(status).decode()
            self.c.tilewright_status_release(status)
            raise Error(message)

    def make(self, name, *arguments):
        """Calls a function whose last parameter gives a handle."""
        handle = ctypes.c_void_p()
        self.do(name, *arguments, ctypes.byref(handle))
        return handle

    def uuids(self):
        """Device names and what tells their devices apart; "" where a driver does not say."""
        count = ctypes.c_size_t()
        self.do("instance_devices", self.handle, ctypes.c_size_t(0), None, ctypes.byref(count))
        infos = (_DeviceInfo * count.value)()
        self.do("instance_devices", self.handle, count, infos, ctypes.byref(count))
        return {info.name.decode(): info.uuid.decode() for info in infos}

    def open(self, name):
        return Device(self, self.make("device_open", self.handle, name.encode()))


class _Object:
    kind = ""

    def __init__(self, library, handle, *alive):
        self.library, self.handle, self.alive = library, handle, alive

    def __del__(self):
        if self.handle:
            getattr(self.library.c, f"tilewright_{self.kind}_release")(self.handle)


class Device(_Object):
    kind = "device"

    @property
    def name(self):
        return self.library.c.tilewright_device_name(self.handle).decode()

    @property
    def description(self):
        return self.library.c.tilewright_device_description(self.handle).decode()

    @property
    def uuid(self):
        return self.library.uuids().get(self.name, "")

    def fact(self, key):
        return self.library.c.tilewright_device_fact(self.handle, key.encode())

    def set_poison(self, on):
        """While on, what programs allocate starts as NaN."""
        self.library.c.tilewright_device_set_poison(self.handle, int(on))

    def stream(self, native=None):
        """A queue of its own, or the caller's (cuda: a CUstream)."""
        if native is None:
            handle = self.library.make("stream_create", self.handle)
        else:
            handle = self.library.make("stream_import", self.handle, ctypes.c_uint64(native))
        return Stream(self.library, handle, self)

    def event(self):
        return Event(self.library, self.library.make("event_create", self.handle, 1), self)

    def buffer(self, size):
        return Buffer(self.library, self.library.make("buffer_allocate", self.handle, ctypes.c_uint64(size)), self, size)

    def view(self, dtype, dims, address=None, size=0):
        """A tensor: memory of its own, or `size` bytes of the caller's at `address`."""
        shape = (ctypes.c_int64 * len(dims))(*dims)
        number = self.dtype(dtype)
        if address is None:
            handle = self.library.make("view_allocate", self.handle, number, len(dims), shape)
        else:
            buffer = self.library.make("buffer_import", self.handle, ctypes.c_uint64(address), ctypes.c_uint64(size))
            try:
                handle = self.library.make("view_create", buffer, ctypes.c_uint64(0), number, len(dims), shape)
            finally:
                self.library.c.tilewright_buffer_release(buffer)
        return View(self.library, handle, self)

    def dtype(self, name):
        for number in range(1, 64):
            if self.library.c.tilewright_dtype_name(number).decode() == name:
                return number
        raise Error(f"the runtime has no element type '{name}'")

    def load(self, path, target=None, reference=False):
        with open(path, "rb") as file:
            data = file.read()
        options = _ProgramOptions(target.encode() if target else None, int(reference))
        handle = self.library.make("program_load", self.handle, data, ctypes.c_size_t(len(data)),
                                   ctypes.byref(options))
        return Program(self.library, handle, self)


class Stream(_Object):
    kind = "stream"
    timeout = FOREVER

    def set_timeout(self, seconds):
        """What waits for the stream raises Error after `seconds`, and leaves the device lost."""
        self.timeout = int(seconds * 1e9)
        self.library.c.tilewright_stream_set_timeout(self.handle, ctypes.c_uint64(self.timeout))

    def synchronize(self):
        """Waits."""
        self.library.do("stream_synchronize", self.handle, ctypes.c_uint64(self.timeout))


class Event(_Object):
    kind = "event"

    def record(self, stream):
        self.library.do("event_record", self.handle, stream.handle)

    def seconds_until(self, end):
        nanoseconds = ctypes.c_uint64()
        self.library.do("event_elapsed", self.handle, end.handle, ctypes.byref(nanoseconds))
        return nanoseconds.value * 1e-9


class Buffer(_Object):
    kind = "buffer"

    def __init__(self, library, handle, device, size):
        super().__init__(library, handle, device)
        self.size = size

    def fill(self, stream, word):
        self.library.do("buffer_fill", self.handle, stream.handle, ctypes.c_uint64(0), ctypes.c_uint64(self.size),
                        ctypes.c_uint32(word), ctypes.c_int32(4))


class View(_Object):
    kind = "view"

    @property
    def dims(self):
        rank = self.library.c.tilewright_view_rank(self.handle)
        return tuple(self.library.c.tilewright_view_dims(self.handle)[:rank])

    @property
    def size(self):
        return self.library.c.tilewright_view_size(self.handle)

    @property
    def address(self):
        """Device address of element 0."""
        return self.library.c.tilewright_view_address(self.handle) % 2**64

    @property
    def dtype(self):
        number = self.library.c.tilewright_view_dtype(self.handle)
        return self.library.c.tilewright_dtype_name(number).decode()

    def write(self, stream, data):
        """`data`: bytes of all elements, row-major."""
        self.library.do("view_write", self.handle, stream.handle, bytes(data), ctypes.c_uint64(self.size))

    def read(self, stream):
        """The bytes of all elements; waits for the stream."""
        data = ctypes.create_string_buffer(self.size)
        self.library.do("view_read", self.handle, stream.handle, ctypes.c_uint64(self.size), data)
        stream.synchronize()
        return data.raw


class Program(_Object):
    kind = "program"

    @property
    def target(self):
        return self.library.c.tilewright_program_target(self.handle).decode()

    def function(self, name):
        """Its number, with the number of its results."""
        number = ctypes.c_size_t()
        self.library.do("program_function_find", self.handle, name.encode(), ctypes.byref(number))
        signature = _Signature()
        self.library.do("program_function_signature", self.handle, number, ctypes.byref(signature))
        return number.value, signature.num_results

    def bind(self, name, views):
        """`call(stream)` enqueues the function on these arguments and gives its results as views."""
        function, count = self.function(name)
        arguments = (_Value * len(views))(*[_Value(TENSOR, view.handle, 0) for view in views])
        number, arity = ctypes.c_size_t(function), ctypes.c_size_t(len(views))

        def call(stream):
            results = (_Value * count)()
            self.library.do("program_call", self.handle, number, stream.handle, arity, arguments, ctypes.c_size_t(count),
                            results)
            return [View(self.library, ctypes.c_void_p(result.view), self) for result in results]

        call.views = views
        return call

    def work(self, name, views):
        """(flops, bytes) of one call as the artifact states them; None where it does not."""
        function, _ = self.function(name)
        arguments = (_Value * len(views))(*[_Value(TENSOR, view.handle, 0) for view in views])
        work = _Work()
        self.library.do("program_estimate", self.handle, ctypes.c_size_t(function), ctypes.c_size_t(len(views)), arguments,
                        None, ctypes.byref(work))
        return tuple(None if x < 0 else x for x in (work.flops, work.bytes))

    def resources(self, variants):
        """What the kernels of these names take of the device, as its driver says: a dict each, with the members of
        `tilewright-run --resources --json`."""
        self.library.c.tilewright_program_kernel_count.restype = ctypes.c_size_t
        kernels = []
        for number in range(self.library.c.tilewright_program_kernel_count(self.handle)):
            # Others are not even loaded: a driver may have to compile them.
            name = self.library.c.tilewright_program_kernel_variant(self.handle, ctypes.c_size_t(number))
            if name.decode() not in variants:
                continue
            found = _Resources()
            reason = None
            try:
                self.library.do("program_kernel_resources", self.handle, ctypes.c_size_t(number), ctypes.byref(found))
            except Error as error:
                reason = str(error)
            kernel = {"kernel": found.dispatch.decode(), "variant": found.variant.decode()}
            kernels.append(kernel)
            if reason is not None:
                kernel["reason"] = reason
                continue
            kernel.update((name, getattr(found, name)) for name in _NUMBERS if getattr(found, name) >= 0)
            if found.num_statistics:
                kernel["statistics"] = {one.name.decode(): one.value
                                        for one in found.statistics[:found.num_statistics]}
        return kernels

    def launches(self, call, stream):
        """One line per kernel launch of a call: dispatch, variant, grid."""
        lines = []

        def note(_, text, length):
            lines.append(ctypes.string_at(text, length).decode())

        self.callback = _TEXT(note)
        self.library.c.tilewright_program_set_trace(self.handle, self.callback, None)
        try:
            call(stream)
            stream.synchronize()
        finally:
            self.library.c.tilewright_program_set_trace(self.handle, ctypes.cast(None, _TEXT), None)
        return lines
