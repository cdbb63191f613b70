# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices and streams."""

from __future__ import annotations

import gc
import threading

import numpy

from . import _core, _dtypes, _errors
from ._errors import DeviceLostError, Error, InvalidArgumentError, argument_error


class Stream:
    """An in-order queue of a device: calls and copies on it happen one after the other.

    Made by `Device.stream`. A stream may be used from any thread. Its last
    reference waits for the work in flight.
    """

    _is_default = False  # of a thread, see Device._default

    def __init__(self, device, core):
        self.device, self._core = device, core

    def synchronize(self, timeout: float | None = None) -> None:
        """Waits until all work is done; reports what failed.

        timeout: seconds; None waits without end. A timeout that passes raises
        DeadlineExceededError and leaves the device lost.
        """
        self._core.synchronize(timeout)

    def wait(self, other: Stream) -> None:
        """Later work of this stream comes after what `other` has been given so far."""
        if other.device is not self.device:
            raise InvalidArgumentError(f"the streams belong to {self.device.name} and {other.device.name}, opened apart")
        self._core.wait(other._core, self.device._core)

    @property
    def native(self) -> int:
        """The CUstream behind it, an integer; UnsupportedError on other drivers."""
        return self._core.native

    def __repr__(self):
        return f"<tilewright.Stream on {self.device.name}>"


class Device:
    """An opened device: `tilewright.device("cuda:0")`.

    Tensors, streams and loaded programs belong to one device. Devices of one
    name are one object, except those made by `adopt_cuda`.
    """

    def __init__(self, core):
        self._core = core
        self.name = core.name
        #: (device_type, device_id) of DLPack
        self.dlpack = tuple(core.dlpack)
        # Of each thread that has called, by its number; one that is new has that of one that is gone. No threading.local: what
        # belongs to this device would hold the device as long as the thread lives.
        self._own = {}

    @classmethod
    def adopt_cuda(cls, context: int, driver: str = "cuda") -> Device:
        """A device over a CUcontext of yours (an integer), which must outlive it.

        PyTorch, CuPy and JAX use the primary context, as device("cuda:0") does:
        this is for programs with contexts of their own.
        """
        return cls(_core.adopt_cuda(driver, context))

    @property
    def description(self) -> str:
        """For people: the model, the driver, the memory."""
        return self._core.description

    def fact(self, key: str) -> int:
        """A number about the device ("subgroup_size", "memory", bytes); 0 if unknown."""
        return self._core.fact(key)

    def stream(self, native: int | None = None) -> Stream:
        """A new stream; with `native`, a CUstream of yours (an integer), which must outlive it.

        `device.stream(native=torch.cuda.current_stream().cuda_stream)` puts calls
        in order with PyTorch's.
        """
        if native is not None and not (isinstance(native, (int, numpy.integer)) and 0 <= native < 1 << 64):
            raise argument_error(TypeError(), "native: expected a CUstream as an integer of 64 bits without a sign, got "
                                 f"{native!r}")
        return Stream(self, self._core.stream(None if native is None else int(native)))

    def trim(self) -> None:
        """Gives cached memory that nothing uses back to the driver."""
        self._core.trim()

    def _default(self):
        """The stream of this thread's calls that name none; they wait for it before they return. Other threads have their own:
        what fails in a call is an error of whoever waits for its stream."""
        thread = threading.get_ident()
        if thread not in self._own:
            made = self.stream()
            made._is_default = True
            self._own[thread] = made
        return self._own[thread]

    def _is_lost(self):
        """Whether nothing can be done with it any more."""
        try:
            _core.allocate(self._core, _dtypes.NUMBERS["i8"], [0])
        except DeviceLostError:
            return True
        except Error:
            pass
        return False

    def __repr__(self):
        return f"<tilewright.Device {self.name}: {self.description}>"


_opened = {}
_known_losses = 0
_lock = threading.Lock()


def _forget_lost():
    """With the lock; whether any was lost."""
    global _known_losses
    if _errors.losses == _known_losses:
        return False
    _known_losses = _errors.losses
    lost = [known for known, made in _opened.items() if made._is_lost()]
    for known in lost:
        del _opened[known]
    return bool(lost)


def device(name: str | Device = "auto") -> Device:
    """Opens a device: "cpu", "cuda", "cuda:1", "vulkan:0", "ptxsim", or "auto".

    "auto" is the first of cuda, vulkan and cpu that opens; Vulkan drivers that
    compute on the CPU come last. A device that was lost is opened anew, as another object: what belonged to it stays lost.
    Raises NotFoundError, UnavailableError with the reason.
    """
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise argument_error(TypeError(), "device: expected a name, as 'cpu' or 'cuda:1', or a tilewright.Device, got "
                             f"{name!r}")
    with _lock:
        any_lost = _forget_lost()
    if any_lost:
        # A device and its streams hold each other, and a new ptxsim would have the lost one's context. Without the lock, as
        # finalizers may come here.
        gc.collect()
    with _lock:
        if name not in _opened:
            made = Device(_core.open_device(name))
            _opened[name] = _opened.setdefault(made.name, made)
        return _opened[name]


def devices() -> list[_core.DeviceInfo]:
    """What this machine has: a list with name, description, available, reason, target."""
    return _core.devices()
