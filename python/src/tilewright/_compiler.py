# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler, as the executable tilewright-compile.

A process of its own, and not a library in this one: PyTorch, Triton and JAX
each bring an LLVM of their own into the process, whose symbols and global
options would meet ours; an import stays fast and needs no LLVM on machines that
only run artifacts; an interrupt stops it at once. It ends with this process, even
if that is killed: --parent-pid asks the kernel for it.
"""

import os
import pathlib
import re
import shutil
import subprocess

from ._cache import Entry, not_kept, text_of
from ._errors import CompileError, UnavailableError, argument_error


def find_compiler():
    """TILEWRIGHT_COMPILE, the wheel's own, or the one on PATH."""
    set_path = os.environ.get("TILEWRIGHT_COMPILE")
    if set_path:
        return set_path
    own = pathlib.Path(__file__).parent / "bin" / "tilewright-compile"
    if os.access(own, os.X_OK):
        return str(own)
    found = shutil.which("tilewright-compile")
    if found:
        return found
    raise UnavailableError("there is no tilewright-compile: not in this wheel, not on PATH, and TILEWRIGHT_COMPILE "
                           "does not name it; artifacts compiled elsewhere run by tilewright.load")


def _is_path(source):
    if isinstance(source, os.PathLike):
        return True
    return "\n" not in source and (source.endswith(".mlir") or bool(source) and not re.search(r"[(){}]", source))


def _list(value):
    return [value] if isinstance(value, str) else list(value)


def parameter_file(source, parameters):
    """The parameter file of a program: `parameters`, or the one that the text names, beside it; None without."""
    if parameters is not None:
        return os.fspath(parameters)
    text = text_of(source) if _is_path(source) else source.encode()
    name = _named_file(text or b"")
    return name and os.path.join(os.path.dirname(os.fspath(source)) if _is_path(source) else "", os.fsdecode(name))


#: Comments and strings are read over.
_PARAMETERS = re.compile(rb'//[^\n]*|(?:"tilewright\.parameters"|\btilewright\.parameters)\s*=\s*"((?:[^"\\\n]|\\.)*)"'
                         rb'|"(?:[^"\\\n]|\\.)*"')
_ESCAPE = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|(.))')


def _named_file(text):
    """What `tilewright.parameters` of a text says, without MLIR's escapes; None: nothing, or the name of no file beside it."""
    found = next((found[1] for found in _PARAMETERS.finditer(text) if found[1] is not None), None)
    if found is None:
        return None
    name = _ESCAPE.sub(lambda e: bytes([int(e[1], 16)]) if e[1] else {b"n": b"\n", b"t": b"\t"}.get(e[2], e[2]), found)
    return name if name and b"/" not in name and b"\0" not in name else None


def run_compiler(source, target, fp, require, explain, debug_info, cache, parameters=None):
    """(artifact, what the compiler said): bytes and text."""
    target = None if target is None else _list(target)
    if target is not None and not all(target):
        raise argument_error(ValueError(), f"target: a name is empty; got {target!r}")
    compiler, path = find_compiler(), os.fspath(source) if _is_path(source) else None
    text = None if path else source.encode()
    arguments = []
    if target is not None:
        arguments.append("--target=" + ",".join(target))
    if fp:
        arguments.append("--fp=" + ",".join(_list(fp)))
    if require:
        arguments.append("--require=" + ",".join(_list(require)))
    if explain:
        arguments.append("--explain")
    if debug_info:
        arguments.append("-g")
    entry = Entry.make(compiler, arguments, path, text, parameters) if cache else None
    if parameters:
        arguments.append("--parameters=" + parameters)
    known = entry.read() if entry else None
    if known:
        return known
    command = [compiler, path or "-", "-o", "-", f"--parent-pid={os.getpid()}", *arguments]
    try:
        result = subprocess.run(command, input=text, stdin=subprocess.DEVNULL if text is None else None,
                                capture_output=True, check=False)
    except OSError as error:
        raise UnavailableError(f"cannot run {command[0]}: {error.strerror}") from error
    said = result.stderr.decode(errors="replace").strip()
    if result.returncode < 0:
        said += f"\ntilewright-compile ended by signal {-result.returncode}"
    if result.returncode:
        raise CompileError(said.strip() or f"tilewright-compile ended with status {result.returncode}")
    if entry:
        try:
            entry.write(result.stdout, said)
        except OSError as error:
            not_kept(error)
    return result.stdout, said
