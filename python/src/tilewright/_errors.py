# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions: one for the compiler, one per status code of the runtime."""

import os


class Error(RuntimeError):
    """What every error of Tilewright is."""


class CompileError(Error):
    """The compiler refused a program; the text is its diagnostics."""


class InvalidArgumentError(Error, ValueError):
    """Something was passed that cannot be used: an element type, a rank, a size, a device, a stream."""


def _also(kind, text):
    """An InvalidArgumentError that is an error of Python's, too. It goes by the name of the former, by which people catch it."""
    return type("InvalidArgumentError", (InvalidArgumentError, kind),
                {"__module__": "tilewright", "__doc__": text, "__reduce__": lambda self: (argument_error, (kind(), str(self)))})


_ALSO = {
    TypeError: _also(TypeError, "An argument of another type than the function takes, or one too many."),
    OverflowError: _also(OverflowError, "A number that its type does not hold."),
    BufferError: _also(BufferError, "A producer whose tensor cannot be exported."),
}


def argument_error(error, text):
    """What is wrong with an argument is an InvalidArgumentError, as in the C API, and what Python calls it, too."""
    if isinstance(error, Error):
        return type(error)(text)
    return next((made for kind, made in _ALSO.items() if isinstance(error, kind)), InvalidArgumentError)(text)


class NotFoundError(Error, LookupError):
    """There is no such device, function or file."""


class UnavailableError(Error):
    """This machine lacks a driver, a device or the compiler."""


class UnsupportedError(Error):
    """This device or build cannot do it."""


class OutOfMemoryError(Error, MemoryError):
    """Host or device memory is exhausted."""


class CorruptArtifactError(Error, ValueError):
    """The bytes are no valid artifact."""


#: How often a device was found, or is bound, to be lost: where it has not changed, none need be looked at again.
losses = 0


def _note_fork():
    """Threads of the cpu stay with the parent."""
    global losses
    losses += 1


os.register_at_fork(after_in_child=_note_fork)


class _Loss(Error):
    def __init__(self, *args):
        global losses
        losses += 1
        super().__init__(*args)


class DeadlineExceededError(_Loss, TimeoutError):
    """A wait passed its timeout; the device is lost from then on."""


class DeviceLostError(_Loss):
    """The device failed, and says so ever after."""


class ProgramError(Error):
    """A check of the program failed: sizes that do not fit each other, an index out of range."""


class InternalError(Error):
    """A driver answered the unexpected."""


#: tilewright_status_code_t
BY_CODE = {
    1: InvalidArgumentError,
    2: NotFoundError,
    3: UnavailableError,
    4: UnsupportedError,
    5: OutOfMemoryError,
    6: CorruptArtifactError,
    7: DeadlineExceededError,
    8: DeviceLostError,
    9: ProgramError,
    10: InternalError,
    11: UnsupportedError,
}

for _error in (Error, CompileError, *BY_CODE.values()):
    _error.__module__ = "tilewright"  # where people find it
