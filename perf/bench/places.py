# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a benchmark's tensors live, and what makes and compares them.

TorchPlace   on CUDA: PyTorch's memory and stream, which the runtime adopts, so that a peer works on the very same
             inputs in the same queue; on the CPU: its memory, to try out peers without a GPU
HostPlace    anywhere: memory of the runtime, NumPy on the host; no peers

Numbers are random normal. Checks are done in f64 on whatever device there is. A tensor of i4 is kept as its bytes.
"""

import math

import numpy
from tilewright_sweep import runtime
from tilewright_sweep.surroundings import name_of

#: Seconds that a call on a GPU may take before the device counts as lost.
PATIENCE = 20


def round_to_bf16(values):
    """The words of f32 values, rounded to nearest even."""
    words = numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32)
    return ((words + 0x7FFF + ((words >> 16) & 1)) >> 16).astype(numpy.uint16)


#: Exponent bits, significand bits and largest finite number of 8-bit floats.
FLOATS8 = {"f8E4M3FN": (4, 3, 448.0), "f8E5M2": (5, 2, 57344.0)}


def values_of(dtype):
    """What the words 0 to 127 of an 8-bit float stand for, in order; those beyond the largest are not finite."""
    exponents, bits, largest = FLOATS8[dtype]
    words = numpy.arange(128)
    exponent, fraction = words >> bits, (words & (1 << bits) - 1) / (1 << bits)
    bias = (1 << exponents - 1) - 1
    values = numpy.where(exponent, (1 + fraction) * 2.0 ** (exponent - bias), fraction * 2.0 ** (1 - bias))
    return numpy.where(values <= largest, values, numpy.nan)


def round_to_float8(values, dtype):
    """The words of values, rounded to the nearest, the largest beyond it."""
    known = values_of(dtype)
    known = known[numpy.isfinite(known)]
    words = numpy.searchsorted((known[1:] + known[:-1]) / 2, numpy.abs(values))
    return (words | (values < 0) * 128).astype(numpy.uint8)


def bytes_of_i4(dims):
    return (math.prod(dims) + 1) // 2


def ends_of_i4(spec):
    """The least of them, and what comes behind the largest."""
    return (spec.ends[0], spec.ends[1] + 1) if spec.ends else (-8, 8)


def pack4(values):
    """The bytes of i4 values, given as int8 in one dim: two to a byte, the first in its low half."""
    return (values[0::2] & 15) | (values[1::2] << 4)


def unpack4(words):
    """The values in bytes of i4, as int8: those in front of a byte, and those behind it."""
    return (words << 4) >> 4, words >> 4


class Place:
    """A device and the stream that everything is in."""

    def __init__(self, device, stream):
        self.device, self.stream = device, stream
        # A simulator runs a kernel inside the call, and takes its time.
        if device.name.startswith("cuda"):
            stream.set_timeout(PATIENCE)

    def answers(self):
        """Whether the device still works for this process."""
        try:
            self.device.buffer(16).fill(self.stream, 0)
            self.stream.synchronize()
        except RuntimeError:
            return False
        return True


class HostPlace(Place):
    """Tensors are pairs (NumPy array, view); bf16 arrays are words."""

    peers = False
    name = "numpy " + numpy.__version__
    types = {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "bf16": numpy.uint16, "i8": numpy.int8,
             "i4": numpy.int8, "i32": numpy.int32, **{dtype: numpy.uint8 for dtype in FLOATS8}}

    def __init__(self, device):
        super().__init__(device, device.stream())

    def random(self, spec):
        generator = numpy.random.default_rng(spec.seed)
        if spec.dtype == "i4":
            return pack4(generator.integers(*ends_of_i4(spec), bytes_of_i4(spec.dims) * 2, numpy.int8))
        if spec.ends:
            return generator.integers(spec.ends[0], spec.ends[1] + 1, spec.dims, self.types[spec.dtype])
        if spec.dtype == "i8":
            return generator.integers(-128, 128, spec.dims, numpy.int8)
        values = generator.standard_normal(spec.dims, numpy.float32)
        if spec.dtype in FLOATS8:
            return round_to_float8(values, spec.dtype)
        return round_to_bf16(values) if spec.dtype == "bf16" else values.astype(self.types[spec.dtype])

    def view(self, tensor, spec):
        view = self.device.view(spec.dtype, spec.dims)
        view.write(self.stream, tensor.tobytes())
        return view

    def wide(self, tensor, spec):
        """In f64; `spec` has a dtype and dims."""
        dtype = spec.dtype
        if dtype == "i4":
            tensor = numpy.stack(unpack4(tensor.reshape(-1)), -1).reshape(-1)[:math.prod(spec.dims)].reshape(spec.dims)
        if dtype == "bf16":
            tensor = (tensor.astype(numpy.uint32) << 16).view(numpy.float32)
        if dtype in FLOATS8:
            known = values_of(dtype)
            return numpy.concatenate([known, -known])[tensor]
        return tensor.astype(numpy.float64)

    def fetch(self, view):
        """A result, in f64."""
        words = numpy.frombuffer(view.read(self.stream), self.types[view.dtype])
        return self.wide(words, view).reshape(view.dims)

    def all_within(self, got, expected, bound):
        return bool((numpy.abs(got - expected) <= bound).all())

    def working_set(self):
        """Bytes that inputs should have together, so that no cache holds them."""
        return 0

    def clocks(self):
        return None


def _number_of(torch, uuid):
    """PyTorch's number of a GPU: CUDA_VISIBLE_DEVICES and the order of the numbers may be others for it."""
    count = torch.cuda.device_count()
    if count == 1:
        return 0
    # PyTorch before 2.5 has no UUIDs.
    known = [str(getattr(torch.cuda.get_device_properties(i), "uuid", "")).replace("-", "") for i in range(count)]
    if uuid in known:
        return known.index(uuid)
    name = name_of("GPU", uuid)
    raise runtime.Error(f"PyTorch {torch.__version__} does not say which of its {count} GPUs is {name}")


class TorchPlace(Place):
    """Tensors are PyTorch's, on the same GPU, or on the CPU."""

    peers = True

    def __init__(self, device):
        import torch

        self.torch, self.where = torch, "cuda" if device.name.startswith("cuda") else "cpu"
        self.name = f"torch {torch.__version__}"
        self.types = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
                      "i8": torch.int8, "i4": torch.int8, "i32": torch.int32, "f8E4M3FN": torch.float8_e4m3fn, "f8E5M2": torch.float8_e5m2}
        if self.where == "cpu":
            super().__init__(device, device.stream())
            return
        torch.cuda.init()
        torch.cuda.set_device(_number_of(torch, device.uuid))
        self.queue = torch.cuda.Stream()
        torch.cuda.set_stream(self.queue)
        super().__init__(device, device.stream(self.queue.cuda_stream))

    def random(self, spec):
        options = {"generator": self.torch.Generator(self.where).manual_seed(spec.seed), "device": self.where}
        if spec.dtype == "i4":
            first, beyond = ends_of_i4(spec)
            return pack4(self.torch.randint(first, beyond, (bytes_of_i4(spec.dims) * 2,), dtype=self.torch.int8, **options))
        if spec.ends:
            return self.torch.randint(spec.ends[0], spec.ends[1] + 1, spec.dims, dtype=self.types[spec.dtype], **options)
        if spec.dtype == "i8":
            return self.torch.randint(-128, 128, spec.dims, dtype=self.torch.int8, **options)
        return self.torch.randn(spec.dims, dtype=self.torch.float32, **options).to(self.types[spec.dtype])

    def view(self, tensor, spec):
        size = tensor.numel() * tensor.element_size()
        return self.device.view(spec.dtype, spec.dims, tensor.data_ptr(), size)

    def wide(self, tensor, spec=None):
        """In f64; `spec` has a dtype and dims, of a peer's result it is that of the tensor itself."""
        if spec and spec.dtype == "i4":
            values = self.torch.stack(unpack4(tensor.reshape(-1)), -1).reshape(-1)
            return values[:math.prod(spec.dims)].reshape(spec.dims).double()
        return (tensor.float() if tensor.element_size() == 1 and tensor.is_floating_point() else tensor).double()

    def fetch(self, view):
        """A result, in f64."""
        if self.where == "cpu":
            words = self.torch.frombuffer(bytearray(view.read(self.stream)), dtype=self.torch.uint8)
        else:
            words = self.torch.as_tensor(_CudaArray(view), device="cuda")
        return self.wide(words.view(self.types[view.dtype]), view).reshape(view.dims)

    def all_within(self, got, expected, bound):
        return bool(((got - expected).abs() <= bound).all().item())

    def roundoff(self, tensor):
        """Unit roundoff of a peer's result, where it is narrower than f32."""
        narrow = tensor.is_floating_point() and tensor.element_size() < 4
        return self.torch.finfo(tensor.dtype).eps / 2 if narrow else 0.0

    def working_set(self):
        if self.where == "cpu":
            return 0
        return 2 * self.torch.cuda.get_device_properties(self.torch.cuda.current_device()).L2_cache_size

    def clocks(self):
        """What the card says of itself right now; None where it does not."""
        if self.where == "cpu":
            return None
        try:
            import pynvml

            pynvml.nvmlInit()
            card = pynvml.nvmlDeviceGetHandleByUUID(name_of("GPU", self.device.uuid))
            return {"sm_mhz": pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_SM),
                    "memory_mhz": pynvml.nvmlDeviceGetClockInfo(card, pynvml.NVML_CLOCK_MEM),
                    "watts": pynvml.nvmlDeviceGetPowerUsage(card) / 1000,
                    "celsius": pynvml.nvmlDeviceGetTemperature(card, pynvml.NVML_TEMPERATURE_GPU)}
        except Exception:
            return None


class _CudaArray:
    """Memory of a view, as PyTorch adopts it: bytes."""

    def __init__(self, view):
        self.view = view
        self.__cuda_array_interface__ = {"shape": (view.size,), "typestr": "|u1", "data": (view.address, False),
                                         "version": 3}
