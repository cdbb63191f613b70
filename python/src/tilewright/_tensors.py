# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a device, and how arrays of others become them."""

from __future__ import annotations

import math
import weakref
from typing import Any, Sequence

import numpy

from . import _core, _dtypes
from ._devices import Device, device as open_device
from ._errors import Error, UnsupportedError, argument_error

_CPU, _CUDA, _CUDA_HOST, _VULKAN, _EXTENSION, _MANAGED = 1, 2, 3, 7, 12, 13
#: Element 0 of a dense tensor that a kernel gets is aligned to this.
_ALIGNMENT = 16


def copy_choice(copy):
    """`copy` as None, True or False."""
    if copy is None or isinstance(copy, (bool, numpy.bool_)) or (isinstance(copy, int) and copy in (0, 1)):
        return None if copy is None else bool(copy)
    raise argument_error(TypeError(), f"copy: expected True, False or None, got {copy!r}")


def opened_apart(one, other):
    """What to say behind the names of two devices."""
    return "; these are two devices of one name, opened apart" if one.name == other.name else ""


class _HostView:
    """What NumPy needs to see a tensor of the host in place."""

    def __init__(self, view, typestr, size):
        self._view = view  # keeps the memory
        strides = view.strides
        self.__array_interface__ = {
            "version": 3, "shape": tuple(view.shape), "typestr": typestr, "data": (view.address, view.read_only),
            "strides": None if strides is None else tuple(size * s for s in strides)}


class _Uses:
    """Of memory: the stream whose work writes it last, and those whose work reads it since; None: all is done. A stream that is
    gone has done its work."""

    __slots__ = "writer", "readers"

    def __init__(self, writer):
        self.writer, self.readers = writer, None


class Tensor:
    """A tensor on a device: a result of a call, or made by `asarray` and `empty`.

    Its memory lives as long as the tensor, and as what was made of it by DLPack
    or, on the cpu, by `numpy`. Results of a call on a stream of yours are there
    when that stream gets there: `numpy`, `__dlpack__` and other calls see to the
    order, other readers synchronise the stream first.
    """

    def __init__(self, device, view, stream=None):
        self.device, self._view, self._uses = device, view, _Uses(stream)
        #: "f32", "bf16", ...
        self.dtype: str = _dtypes.NAMES[view.dtype]
        #: elements
        self.shape: tuple[int, ...] = tuple(view.shape)

    @property
    def _stream(self):
        """That of the work that writes it last; None where it is done."""
        return self._uses.writer

    @_stream.setter
    def _stream(self, stream):
        self._uses.writer = stream

    def _note_read(self, stream):
        """Work of `stream` reads it; None: it is done."""
        if stream is None:
            return
        if self._uses.readers is None:
            self._uses.readers = weakref.WeakSet()
        self._uses.readers.add(stream)

    def _wait_for_readers(self, stream):
        """Work of `stream` that writes it comes after all that reads it."""
        for reader in list(self._uses.readers or ()):
            if reader is not stream:
                stream.wait(reader)

    def _note_written(self, stream):
        """Work of `stream`, after all other, has written it; None: it is done."""
        self._uses.writer, self._uses.readers = stream, None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self._view.nbytes

    def _reading_stream(self):
        """The stream to read it on, behind the work that makes it. Of another thread's default stream only that thread waits:
        it hears of what failed there."""
        own, stream = self.device._default(), self._stream
        if stream is None or stream is own:
            return own
        if not stream._is_default:
            return stream
        own.wait(stream)
        return own

    def _settle(self):
        """Waits for the work that makes it."""
        if self._stream is not None:
            self._reading_stream().synchronize()
            self._stream = None

    def numpy(self, copy: bool | None = None) -> numpy.ndarray:
        """The elements as a NumPy array.

        On the cpu the array shows the tensor's own memory; of other devices it is
        a copy. copy=True always copies; copy=False raises ValueError where a copy
        is needed. bf16, 8-bit floats, i4 and i2 need ml_dtypes (TypeError without).
        """
        copy, dtype = copy_choice(copy), _dtypes.to_numpy(self.dtype)
        if self.dtype in _dtypes.PER_BYTE:
            if copy is False:
                raise ValueError(f"a tensor of {self.dtype} becomes a NumPy array by unpacking it; got copy=False")
            return _dtypes.unpack(self._bytes(), self.dtype, self.shape).astype(dtype)
        if self.device.dlpack[0] == _CPU:
            self._settle()
            array = self._host_array(dtype)
            return array.copy() if copy else array
        if copy is False:
            raise ValueError(f"a tensor of {self.device.name} becomes a NumPy array by a copy; got copy=False")
        array = numpy.empty(self.shape, dtype)
        stream = self._reading_stream()
        self._view.read(stream._core, array.ctypes.data, self.nbytes)
        stream.synchronize()
        return array

    def _bytes(self):
        array = numpy.empty(self.nbytes, numpy.uint8)
        stream = self._reading_stream()
        self._view.read(stream._core, array.ctypes.data, self.nbytes)
        stream.synchronize()
        return array

    def _host_array(self, dtype):
        if 0 in self.shape:
            return numpy.empty(self.shape, dtype)
        size = dtype.itemsize
        raw = numpy.asarray(_HostView(self._view, f"{'|' if size == 1 else '<'}u{size}", size))
        return raw.view(dtype)

    def __array__(self, dtype=None, copy=None):
        array = self.numpy(copy=copy)
        return array if dtype is None or dtype == array.dtype else array.astype(dtype)

    def to(self, device: str | Device) -> Tensor:
        """The tensor on another device: itself where it is there, else a copy."""
        device = open_device(device)
        if device is self.device:
            return self
        self._settle()
        return _upload(self, device)

    def item(self) -> Any:
        """The only element, as a Python number."""
        return self.numpy().item()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.dlpack

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """The tensor as a DLPack capsule, as the array API standard says.

        stream: the consumer's CUstream (an integer; -1: it orders itself): its
        later work comes after what makes the tensor. Without one the call waits.
        """
        copy = copy_choice(copy)
        if dl_device is not None and tuple(dl_device) != self.device.dlpack:
            if tuple(dl_device) != (_CPU, 0) or copy is False:
                raise BufferError(f"a tensor of {self.device.name} is not on DLPack device {tuple(dl_device)}"
                                  + ("; got copy=False" if copy is False else ""))
            return self.to("cpu").__dlpack__(max_version=max_version)
        if copy:
            duplicate = asarray(self, device=self.device, copy=True)
            return duplicate.__dlpack__(stream=stream, max_version=max_version)
        self._order_for(stream)
        try:
            return self._view.to_dlpack(max_version is not None and max_version[0] >= 1)
        except UnsupportedError as error:
            raise BufferError(str(error)) from None

    def _order_for(self, stream):
        if stream == -1 or self._stream is None:
            return
        if stream is None or self.device.dlpack[0] not in (_CUDA, _EXTENSION):
            return self._settle()
        self.device.stream(native=stream).wait(self._stream)

    def __bool__(self):
        if self.size != 1:
            raise ValueError(f"a tensor of {self.size} elements is neither true nor false; take numpy().any() or "
                             "numpy().all()")
        return bool(self.item())

    def __len__(self):
        if not self.shape:
            raise TypeError("a tensor of rank 0 has no length")
        return self.shape[0]

    def __repr__(self):
        shape = "".join(f"{dim}x" for dim in self.shape)
        return f"<tilewright.Tensor {shape}{self.dtype} on {self.device.name}>"


def empty(shape: Sequence[int], dtype: str, device: str | Device = "auto") -> Tensor:
    """A tensor with uninitialised memory of its own; dtype: "f32", "bf16", ..."""
    device = open_device(device)
    _dtypes.check_name(dtype)
    return Tensor(device, _core.allocate(device._core, _dtypes.NUMBERS[dtype], list(shape)))


def asarray(source: Any, device: str | Device | None = None, dtype: str | None = None,
            copy: bool | None = None) -> Tensor:
    """A tensor of a NumPy array, a Tensor, or anything with `__dlpack__`.

    device: where to; None: where the source is. dtype: an element type of the
    same size to see the elements as ("bf16" for uint16).
    copy: None shares the source's memory where the device can use it and copies
    otherwise; False raises ValueError where a copy is needed; True copies. A
    shared source must not be changed while calls that read it run, and is kept
    alive by the tensor.
    """
    if dtype is not None:
        _dtypes.check_name(dtype)
    return convert(source, None if device is None else open_device(device), dtype, copy_choice(copy))[0]


def convert(source, device, dtype=None, copy=None, stream=None, aligned=False):
    """`asarray` for the argument of a call, whether it had to be copied, and the tensor of the source's own memory (of a
    NumPy array that no tensor can show, of a copy).

    aligned: only a dense tensor with an aligned first element will do.
    """
    copied = False
    if isinstance(source, numpy.generic):
        source = numpy.asarray(source)
    if isinstance(source, Tensor):
        tensor = source
        if dtype not in (None, tensor.dtype):
            if _dtypes.SIZES[dtype] != _dtypes.SIZES[tensor.dtype]:
                raise TypeError(f"expected elements {dtype}, got a tensor of {tensor.dtype}")
            tensor = _retyped(tensor, dtype)
    elif isinstance(source, numpy.ndarray):
        tensor, copied = _of_numpy(source, dtype, copy)
    elif hasattr(source, "__dlpack__"):
        tensor = _of_dlpack(source, device, dtype, stream)
    else:
        raise TypeError(f"expected a NumPy array, a tilewright.Tensor or something with __dlpack__, got "
                        f"{type(source).__name__}")
    placed = _placed(tensor, device, copy, stream, aligned)
    return placed, copied or placed is not tensor, tensor


def _placed(tensor, device, copy, stream, aligned):
    reason = None
    view = tensor._view
    if device is not None and tensor.device is not device:
        reason = f"it is on {tensor.device.name}, not on {device.name}{opened_apart(tensor.device, device)}"
    elif aligned and view.strides is not None:
        reason = "it is not contiguous"
    elif aligned and view.address % _ALIGNMENT and view.nbytes:
        reason = f"its first element is not aligned to {_ALIGNMENT} bytes"
    if reason is not None and copy is False:
        raise ValueError(f"the tensor would have to be copied, since {reason}; got copy=False")
    if reason is not None or copy:
        tensor._settle()
        return _upload(tensor, device or tensor.device, stream)
    if stream is not None and tensor._stream is not None and tensor._stream is not stream:
        stream.wait(tensor._stream)
    return tensor


def is_same(one, other):
    """Whether two arguments are the same elements at the same place."""
    if not (isinstance(one, numpy.ndarray) and isinstance(other, numpy.ndarray)):
        return one is other
    return (one.ctypes.data, one.shape, one.strides, one.dtype) == (other.ctypes.data, other.shape, other.strides, other.dtype)


def share_memory(one, other):
    """Whether two arguments, each an array or a tensor of its memory, have an element in common, or may have."""
    if isinstance(one, numpy.ndarray) and isinstance(other, numpy.ndarray):
        try:
            return numpy.shares_memory(one, other, max_work=10000)
        except Exception:  # too hard to say: its kind has moved between versions of NumPy
            return True
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.device is other.device and one._view.overlaps([other._view])
    return False


def _upload(tensor, device, stream=None):
    """A dense copy on a device, by way of the host."""
    if tensor.device.dlpack[0] == _CPU and tensor._view.strides is None:
        keep, address = tensor, tensor._view.address
    else:
        keep = numpy.empty(max(tensor.nbytes, 1), numpy.uint8)
        address = keep.ctypes.data
        own = tensor.device._default()
        tensor._view.read(own._core, address, tensor.nbytes)
        own.synchronize()
    result = Tensor(device, _core.allocate(device._core, tensor._view.dtype, list(tensor.shape)))
    # The runtime has taken the bytes when this returns.
    on = stream or device._default()
    result._view.write(on._core, address, tensor.nbytes)
    if stream is None:
        # Other threads' streams would never learn that it is done, nor the memory be free for them.
        on.synchronize()
    result._stream = stream
    del keep
    return result


def _retyped(tensor, dtype):
    view = _core.from_dlpack(tensor.device._core, tensor._view.to_dlpack(True), _dtypes.NUMBERS[dtype])
    retyped = Tensor(tensor.device, view)
    retyped._uses = tensor._uses
    return retyped


def _of_numpy(array, dtype, copy):
    if dtype is None:
        dtype = _dtypes.of_numpy(array.dtype)
    elif not _dtypes.accepts(dtype, array.dtype):
        raise TypeError(f"expected elements {dtype}, got an array of {array.dtype}"
                        + ("" if array.dtype.isnative else " of the other byte order")
                        + "; convert it with astype")
    if dtype in _dtypes.PER_BYTE:
        if copy is False:
            raise ValueError(f"the array would have to be copied: tensors of {dtype} hold {_dtypes.PER_BYTE[dtype]} elements a byte; "
                             "got copy=False")
        return _of_packed(_dtypes.pack(array, dtype), dtype, array.shape), True
    size = array.dtype.itemsize
    reason = "" if all(s >= 0 and s % size == 0 for s in array.strides) else "it has negative or odd strides"
    if not reason and array.ctypes.data % size:
        reason = f"its first element is not aligned to {size} bytes"
    usable = not reason
    if reason and copy is False:
        raise ValueError(f"the array would have to be copied, since {reason}; got copy=False")
    if not usable:
        array = numpy.array(array, order="C", copy=True)
    cpu = open_device("cpu")
    view = _core.of_host_memory(cpu._core, array.ctypes.data, _dtypes.NUMBERS[dtype], list(array.shape),
                                [s // size for s in array.strides], not array.flags.writeable, array)
    return Tensor(cpu, view), not usable


def _of_packed(packed, dtype, shape):
    strides = [1] * len(shape)
    for d in range(len(shape) - 1, 0, -1):
        strides[d - 1] = strides[d] * max(shape[d], 1)
    cpu = open_device("cpu")
    view = _core.of_host_memory(cpu._core, packed.ctypes.data, _dtypes.NUMBERS[dtype], list(shape), strides, False, packed)
    return Tensor(cpu, view)


def _of_dlpack(source, device, dtype, stream):
    kind, number = (int(part) for part in source.__dlpack_device__())
    home = _device_of(kind, number, device)
    arguments, on = {}, None
    if home.dlpack[0] in (_CUDA, _EXTENSION) and kind != _CUDA_HOST:
        # The producer orders its work before ours on this stream; 0 is not to be
        # used for CUDA, 1 is the default stream.
        on = stream if stream is not None and stream.device is home else home._default()
        arguments["stream"] = on.native or 1
    try:
        capsule = source.__dlpack__(max_version=(1, 3), **arguments)
    except TypeError:
        capsule = source.__dlpack__(**arguments)
    number_of = _dtypes.NUMBERS[dtype] if dtype else 0
    try:
        view = _core.from_dlpack(home._core, capsule, number_of)
    except Error as error:
        text = f"{type(source).__name__}: {error}"
        # As of NumPy's arrays: that is another type.
        if "cannot be seen as" in str(error):
            raise TypeError(text) from None
        raise type(error)(text) from None
    return Tensor(home, view, on)


def _device_of(kind, number, device):
    """Our device over the memory of a DLPack device."""
    if kind in (_CPU, _CUDA_HOST):
        return open_device("cpu")
    if isinstance(device, Device):
        own = device.dlpack
        if (kind, number) == own or (own[0] in (_CUDA, _EXTENSION) and kind in (_CUDA, _MANAGED, _EXTENSION)
                                     and number == own[1]):
            return device
    names = {_CUDA: "cuda", _MANAGED: "cuda", _EXTENSION: "ptxsim", _VULKAN: "vulkan"}
    if kind not in names:
        raise BufferError(f"DLPack device ({kind}, {number}) is none that Tilewright uses: cpu, CUDA, Vulkan")
    return open_device(f"{names[kind]}:{number}")
