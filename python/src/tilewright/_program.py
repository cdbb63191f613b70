# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: artifacts, their functions, calls."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import struct
import threading
from typing import Any, Iterable, Mapping

import numpy

from . import _core, _dtypes
from ._compiler import parameter_file, run_compiler
from ._devices import Device, Stream, device as open_device, devices
from ._errors import (CorruptArtifactError, Error, InvalidArgumentError, NotFoundError, UnavailableError, UnsupportedError,
                      argument_error)
from ._tensors import Tensor, convert, copy_choice, is_same, opened_apart, share_memory


def compile(source: str | os.PathLike, *, target: str | Iterable[str] | None = None, fp: str | Iterable[str] = (),
            require: str | Iterable[str] = (), explain: bool = False, debug_info: bool = False,
            cache: bool = True, parameters: str | os.PathLike | None = None) -> Program:
    """Compiles a program and returns it.

    source: MLIR text, or a path (a pathlib.Path; a str that ends in .mlir, or that has neither a newline nor a bracket
    and so is no program).
    target: what to compile for, "cpu" or ["cuda:sm_90a", "vulkan"]; None: the
    compiler's default, which runs on most GPUs and here. Fewer targets compile
    faster. fp: allowed liberties of "contract", "ftz", "tf32",
    "fast-f8-sums", "winograd". require: "matrix-unit" makes it an error where a product does not run on one.
    explain: keep what was decided about each kernel, and why, in
    `program.diagnostics`. cache: take the program from ~/.cache/tilewright where it
    was compiled before, by the same compiler with the same options, and keep it
    there. parameters: the parameter file (safetensors), with the constants that the
    text has by name only; None: the file that the text names, beside it.

    Raises CompileError with the diagnostics, UnavailableError without a compiler.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise argument_error(TypeError(), f"compile takes the text of a program or its path; got {type(source).__name__}")
    parameters = parameter_file(source, parameters)
    artifact, said = run_compiler(source, target, fp, require, explain, debug_info, cache, parameters)
    return Program(artifact, said, parameters)


def load(source: str | os.PathLike | bytes | bytearray | memoryview, *, parameters: str | os.PathLike | None = None,
         verify_parameters: bool = False) -> Program:
    """A program from an artifact (.tw): a path, or its bytes.

    parameters: the parameter file (safetensors), or a folder with the file that the artifact
    names; None: the artifact's folder, the current one for bytes. Its tensors may have other
    values than those that were compiled with; verify_parameters refuses them, by SHA-256.

    An artifact is native code: load only what you trust. Raises
    CorruptArtifactError.
    """
    chosen = None if parameters is None else os.fspath(parameters)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Program(bytes(source), "", chosen, verify_parameters)
    path = os.fspath(source)
    return Program(_read_artifact(path), "", chosen or os.path.dirname(path) or None, verify_parameters, path)


_MAGIC = b"TILEWRT\x01"
#: What an artifact may have at most, as for tilewright-run: an endless file is refused there.
_MAX_ARTIFACT = 4 << 30


def _read_artifact(path):
    with open(path, "rb") as file:
        parts, size = [file.read(1 << 16)], 0
        # Something else is read no further: `_manifest` says what it is not.
        while parts[-1] and parts[0].startswith(_MAGIC):
            size += len(parts[-1])
            if max(size, os.fstat(file.fileno()).st_size) > _MAX_ARTIFACT:
                raise CorruptArtifactError(f"{path}: longer than {_MAX_ARTIFACT >> 20} MiB, the limit for an artifact")
            parts.append(file.read(1 << 24))
    return b"".join(parts)


def _write_whole(path, write):
    """The file of that path is what `write` writes to the one that it is given, or what it was."""
    path = os.path.realpath(os.fspath(path))  # a link keeps pointing to where it points
    if os.path.exists(path) and not os.path.isfile(path):
        write(path)  # a device, a pipe
        return
    part = f"{path}.{os.getpid()}.{threading.get_ident()}"
    try:
        write(part)
        os.replace(part, path)
    except OSError as error:
        if error.filename != part:
            raise
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _manifest(artifact, path):
    """The manifest (docs/abi.md), without trust: the runtime verifies all of it when it loads. `path`: None of bytes."""
    try:
        magic, version, count = struct.unpack_from("<8sII", artifact)
        if magic != _MAGIC or version != 1 or count > 1 << 20:
            raise ValueError("no artifact of version 1")
        for i in range(count):
            name, offset, size = struct.unpack_from("<48sQQ", artifact, 56 + 64 * i)
            if name.rstrip(b"\0") == b"manifest":
                manifest = json.loads(artifact[offset:offset + size])
                return ([(p["target"], p["driver"], p["functions"]) for p in manifest["programs"]],
                        manifest.get("parameters", {}).get("file"))
        raise ValueError("it has no manifest")
    except _DAMAGED as error:
        raise _corrupt(error, path) from None


#: What reading a manifest raises that is none.
_DAMAGED = (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def _corrupt(error, path):
    what = f"{path} is" if path else "these bytes are"
    return CorruptArtifactError(f"{what} no artifact: {f'{error} is missing' if isinstance(error, KeyError) else error}")


class Program:
    """A compiled program. `program(a, b)` calls its only function (or `main`),
    `program.name(a, b)` the one called `name`; see `Function` for arguments.

    Loaded for a device when it is first called there; may be called from any
    thread.
    """

    def __init__(self, artifact: bytes, diagnostics: str = "", parameters: str | None = None,
                 verify_parameters: bool = False, path: str | None = None):
        self._artifact, self._path = artifact, path
        self._programs, self._parameter_name = _manifest(artifact, path)
        self._parameters, self._verify_parameters = parameters, verify_parameters
        #: What the compiler said: warnings, remarks, and explanations where asked for.
        self.diagnostics = diagnostics
        self._loaded = {}
        #: What owns the parameter file, if that goes with its last program.
        self._folder = None
        self._lock = threading.Lock()
        if not self._programs:
            raise CorruptArtifactError("the artifact has no program")
        try:
            self._functions = {entry["name"]: Function(self, entry) for entry in self._programs[0][2]}
        except _DAMAGED as error:
            raise _corrupt(error, path) from None

    @property
    def targets(self) -> list[str]:
        """What it was compiled for: ["cuda:sm_90a", "cpu"]."""
        return [target for target, _, _ in self._programs]

    @property
    def functions(self) -> Mapping[str, Function]:
        """Its functions by name."""
        return dict(self._functions)

    def function(self, name: str) -> Function:
        """The function of that name, for names that are no Python attribute."""
        if name not in self._functions:
            raise NotFoundError(f"the program has no function '{name}'; it has {', '.join(self._functions) or 'none'}")
        return self._functions[name]

    def __getattr__(self, name: str) -> Function:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"the program has no function '{name}'; it has {', '.join(functions) or 'none'}")

    def __dir__(self):
        return [*super().__dir__(), *self._functions]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if len(self._functions) == 1:
            return next(iter(self._functions.values()))(*args, **keywords)
        return self.function("main")(*args, **keywords)

    @property
    def artifact(self) -> bytes:
        """The artifact's bytes, as a file .tw has them."""
        return self._artifact

    def save(self, path: str | os.PathLike) -> None:
        """Writes the artifact: for `load`, tilewright-run and the C API. Its parameter file, where there is one, is copied
        to the same folder under the name that the artifact has for it. Each file is there as a whole or as it was."""
        if self.parameters:
            beside = os.path.join(os.path.dirname(os.fspath(path)), self._parameter_name)
            if not (os.path.exists(beside) and os.path.samefile(beside, self.parameters)):
                _write_whole(beside, lambda part: shutil.copyfile(self.parameters, part))
        _write_whole(path, lambda part: pathlib.Path(part).write_bytes(self._artifact))

    @property
    def parameters(self) -> str | None:
        """Path of the parameter file; None for programs that have all constants themselves."""
        if not self._parameter_name:
            return None
        if self._parameters and not os.path.isdir(self._parameters):
            return self._parameters
        return os.path.join(self._parameters or "", self._parameter_name)

    def on(self, device: str | Device = "auto") -> Device:
        """The device that a call would run on; loads the program for it.

        "auto" is the first of cuda, vulkan and cpu that opens and that the
        program was compiled for; Vulkan drivers that compute on the CPU come last.
        """
        if device != "auto":
            opened = open_device(device)
            self._load(opened)
            return opened
        reasons = []
        drivers = {driver for _, driver, _ in self._programs}
        for name in _automatic(drivers):
            try:
                opened = open_device(name)
                self._load(opened)
                return opened
            except (UnavailableError, UnsupportedError, NotFoundError) as error:
                reasons.append(f"{name}: {error}")
        raise UnavailableError(f"no device here runs this program, compiled for {', '.join(self.targets)}"
                               + "".join(f"; {reason}" for reason in reasons))

    def resources(self, device: str | Device = "auto") -> list[dict[str, Any]]:
        """What each kernel takes of a device, as its driver compiled it; nothing runs.

        A dict per variant of each kernel: "kernel", "variant", and of "registers" (32 bits, per thread),
        "scalar_registers" (per subgroup), "local_bytes" (per thread: spills, arrays), "shared_bytes" and
        "dynamic_shared_bytes" (per block), "max_threads" and "code_bytes" those that the driver says;
        "statistics" has all that a Vulkan driver names itself. Where it says nothing, "reason" has why, and "guard" is
        False of a kernel that is for other devices.
        """
        return self._load(self.on(device))[0].resources()

    def _load(self, device):
        with self._lock:
            if device not in self._loaded:
                try:
                    core = _core.load_program(device._core, self._artifact, parameters=self.parameters,
                                              verify_parameters=self._verify_parameters)
                except Error as error:
                    if self._path is None:
                        raise
                    raise type(error)(f"{self._path}: {error}") from None
                for known in [known for known in self._loaded if known._is_lost()]:
                    del self._loaded[known]
                numbers = {s.name: (i, s) for i, s in enumerate(core.signatures())}
                self._loaded[device] = core, numbers
            return self._loaded[device]

    def __repr__(self):
        return f"<tilewright.Program {', '.join(self._functions)} for {', '.join(self.targets)}>"


class Function:
    """A function of a program.

    Call it with a NumPy array, a `Tensor`, or anything with `__dlpack__` for each
    tensor, numbers for scalars, by position or by name. Names are those of the
    source. Element types must agree (no silent conversion); integers have no
    sign, so uint8 serves for i8.

    device: where to run, a name or a `Device`; None: where the tensors are, or,
    if they are all on the host, the first of cuda, vulkan and cpu that runs it.
    stream: a `Stream` of that device; the call then returns at once and results
    are there when the stream gets there. Without one the call waits.
    copy: None copies an argument where it must (it is on another device, is not
    contiguous or not aligned to 16 bytes), False raises ValueError instead, True
    always copies. Arguments that are only read are shared otherwise, and must
    not be changed before the call is done.

    A memref argument is written in place: a copy of it is written back to the
    source when the call is done, and the call waits for that; a read-only source
    is an error.

    Returns a `Tensor` or number, a tuple of several, None for none.
    """

    def __init__(self, program, entry):
        self._program, self.__name__ = program, entry["name"]
        self.input_names = [given.get("name") or f"arg{i}" for i, given in enumerate(entry["inputs"])]
        self._kinds = [given["kind"] for given in entry["inputs"]]
        inputs = ", ".join(f"{name}: {_text(given)}" for name, given in zip(self.input_names, entry["inputs"]))
        results = ", ".join(_text(given) for given in entry["results"])
        self.signature = f"{self.__name__}({inputs})" + (f" -> {results}" if results else "")
        self.__doc__ = f"{self.signature}\n\n{Function.__doc__}"

    def __repr__(self):
        return f"<tilewright.Function {self.signature}>"

    def __call__(self, *args: Any, device: str | Device | None = None, stream: Stream | None = None,
                 copy: bool | None = None, **keywords: Any) -> Any:
        args, copy = self._bind(args, keywords), copy_choice(copy)
        where = self._device(args, device, stream)
        core, numbers = self._program._load(where)
        number, signature = numbers[self.__name__]
        on = stream or where._default()
        values, back, written, shared = [], [], [], []
        for name, given, wanted in zip(self.input_names, args, signature.inputs):
            values.append(self._argument(name, given, wanted, where, on, copy, back, written, shared))
        for _, tensor, _, _ in written:
            tensor._wait_for_readers(on)
        raw = core.call(number, on._core, [v._view if isinstance(v, Tensor) else v for v in values])
        for value in values:
            if isinstance(value, Tensor):
                value._note_read(stream)
        for _, tensor, _, _ in written:
            tensor._note_written(stream)
        results = []
        for value, wanted in zip(raw, signature.results):
            if isinstance(value, _core.View):
                result = Tensor(where, value, stream)
                # A program may return a constant of its own, or an argument, or a part of one: what lies in
                # memory of the program or of the caller is no result.
                borrowed = value.read_only or value.overlaps(shared)
                results.append(convert(result, where, copy=True)[0] if borrowed else result)
            else:
                results.append(_dtypes.scalar_value(value, wanted.dtype))
        if stream is None or back:
            on.synchronize()
        for source, tensor in back:
            _write_back(source, tensor)
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    def _bind(self, args, keywords):
        if len(args) > len(self.input_names):
            raise argument_error(TypeError(), f"{self.signature} takes {len(self.input_names)} arguments; got {len(args)}")
        bound = dict(zip(self.input_names, args))
        for name, value in keywords.items():
            if name not in self.input_names:
                raise argument_error(TypeError(), f"{self.signature} has no argument '{name}'")
            if name in bound:
                raise argument_error(TypeError(), f"{self.signature} got two values for '{name}'")
            bound[name] = value
        missing = [name for name in self.input_names if name not in bound]
        if missing:
            raise argument_error(TypeError(), f"{self.signature} lacks {', '.join(missing)}")
        return [bound[name] for name in self.input_names]

    def _device(self, args, device, stream):
        if stream is not None:
            if not isinstance(stream, Stream):
                raise argument_error(TypeError(), f"stream: expected a tilewright.Stream, got {type(stream).__name__}")
            if device is not None and open_device(device) is not stream.device:
                other = open_device(device)
                raise InvalidArgumentError(f"the stream belongs to {stream.device.name}, not to {other.name}"
                                           + opened_apart(stream.device, other))
            return stream.device
        if device is not None:
            return self._program.on(device)
        for given, kind in zip(args, self._kinds):
            if kind == "scalar":
                continue
            if isinstance(given, Tensor) and given.device.name != "cpu":
                return given.device
            if not isinstance(given, Tensor) and hasattr(given, "__dlpack_device__"):
                place = tuple(int(part) for part in given.__dlpack_device__())
                if place[0] in (2, 13):
                    return open_device(f"cuda:{place[1]}")
        # Tensors that were made on the cpu stay there; arrays go where it is best.
        if any(isinstance(given, Tensor) for given in args):
            return open_device("cpu")
        return self._program.on("auto")

    def _argument(self, name, given, wanted, device, stream, copy, back, written, shared):
        where = f"{self.__name__}: argument '{name}'"
        try:
            if wanted.kind == "scalar":
                return _dtypes.scalar_bits(given, wanted.dtype)
            # What is given twice is one buffer on the device, too.
            same = next((twin for source, twin, *_ in written if is_same(source, given)), None)
            if wanted.kind == "buffer" and same is not None:
                return same
            tensor, copied, home = convert(given, device, wanted.dtype, copy, stream, aligned=wanted.strides is None)
        except (TypeError, ValueError, OverflowError, BufferError, Error) as error:
            raise argument_error(error, f"{where}: {error}") from None
        # What it is written back to.
        place = given if isinstance(given, numpy.ndarray) else home
        if wanted.kind == "buffer" and copied:
            _require_writable(place, where)
            back.append((place, tensor))
        if wanted.kind == "buffer":
            if any(share_memory(place, other) for _, _, other, was_copied in written if copied or was_copied):
                raise InvalidArgumentError(f"{where} overlaps another argument that is written in place, and a copy on "
                                           f"{device.name} would not; pass memory of its own")
            written.append((given, tensor, place, copied))
        if not copied:
            shared.append(tensor._view)
        return tensor


def _automatic(drivers):
    """The devices of these drivers in the order of "auto"."""
    if drivers <= {"cpu", ""}:  # no other driver need be looked for
        return ["cpu"]
    order = sorted((info.automatic, info.name) for info in devices() if info.automatic)
    return [name for _, name in order if name.split(":")[0] in drivers]


def _text(given):
    if given["kind"] == "scalar":
        return given["dtype"]
    shape = "".join("?x" if dim < 0 else f"{dim}x" for dim in given.get("shape", []))
    return f"{'memref' if given['kind'] == 'buffer' else 'tensor'}<{shape}{given['dtype']}>"


def _require_writable(place, where):
    if not (place.flags.writeable if isinstance(place, numpy.ndarray) else not place._view.read_only):
        raise InvalidArgumentError(f"{where} is written in place, and what was given is read-only: pass a writable NumPy array or a "
                                   "tilewright.Tensor")


def _write_back(source, tensor):
    if isinstance(source, numpy.ndarray):
        source[...] = tensor.numpy().view(source.dtype)
        return
    data = tensor._bytes()
    stream = source.device._default()
    source._wait_for_readers(stream)
    source._view.write(stream._core, data.ctypes.data, source.nbytes)
    stream.synchronize()
