# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled programs, kept by content: $XDG_CACHE_HOME/tilewright, else ~/.cache/tilewright, as for tilewright-run.

An entry's name is the SHA-256 of the compiler (path, size, time), its arguments, the program's text and its parameter file; KEY.tw is the
artifact, KEY.log what the compiler said. Entries can be deleted at any time.
"""

import hashlib
import os
import pathlib
import stat
import tempfile
import warnings

#: A program that is longer is left to the compiler, which refuses it.
_MAX_TEXT = 1 << 30


def text_of(path):
    """The bytes of a regular file; None for what can be read but once, or what the compiler has to refuse."""
    try:
        info = os.stat(path)
        if not stat.S_ISREG(info.st_mode) or info.st_size > _MAX_TEXT:
            return None
        return pathlib.Path(path).read_bytes()
    except OSError:
        return None


def _digest(path):
    """Of a parameter file, with its name: where it is does not matter. Of one that is missing the compiler tells."""
    hashed = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                hashed.update(part)
    except OSError:
        pass
    return f"{os.path.basename(path)}:{hashed.hexdigest()}"


def _is_ours_alone(folder):
    info = os.lstat(folder)
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _folder():
    """None, with a warning, where no folder can be written."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    home = os.environ.get("HOME", "")
    base = xdg if xdg.startswith("/") else os.path.join(home, ".cache") if home else ""
    shared = os.path.join(tempfile.gettempdir(), f"tilewright-{os.getuid()}")
    reason = None
    for folder in ([os.path.join(base, "tilewright")] if base else []) + [shared]:
        try:
            os.makedirs(folder, mode=0o700 if folder == shared else 0o777, exist_ok=True)
            # In a folder of everybody's, somebody else's is not to be trusted: artifacts are code.
            if os.access(folder, os.W_OK) and (folder != shared or _is_ours_alone(folder)):
                return pathlib.Path(folder)
            reason = "not writable by this user alone"
        except OSError as error:
            reason = error.strerror
    not_kept(f"no folder for it: {shared}: {reason}")
    return None


def not_kept(reason):
    """What was compiled serves though it cannot be kept."""
    warnings.warn(f"the compiled program is not kept: {reason}; set XDG_CACHE_HOME, or compile with cache=False", RuntimeWarning,
                  stacklevel=2)


class Entry:
    """Where the result of one command is kept; `path`: of the program, None where `text` is all of it."""

    def __init__(self, folder, compiler, arguments, path, text, parameters):
        info = os.stat(compiler)
        parts = [compiler, str(info.st_size), str(info.st_mtime_ns), *arguments, os.fspath(path) if path else ""]
        if parameters:
            parts.append(_digest(parameters))
        hashed = hashlib.sha256()
        for part in [*(os.fsencode(part) for part in parts), text]:
            hashed.update(b"%d:" % len(part))  # lengths keep the parts apart
            hashed.update(part)
        self._path = folder / hashed.hexdigest()

    @staticmethod
    def make(compiler, arguments, path, text, parameters=None):
        """The entry of a command; None where there can be none."""
        if path is not None:
            text = text_of(path)
        if text is None or not os.path.isfile(compiler):
            return None
        folder = _folder()
        return folder and Entry(folder, compiler, arguments, path, text, parameters)

    def read(self):
        """(artifact, what the compiler said), or None."""
        try:
            artifact = self._path.with_suffix(".tw").read_bytes()
            return artifact, self._path.with_suffix(".log").read_text(encoding="utf-8")
        except OSError:  # it is not there, or not for us
            return None

    def write(self, artifact, said):
        """Each file is there as a whole or not at all."""
        for suffix, data in ((".log", said.encode()), (".tw", artifact)):
            made, name = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
            try:
                with os.fdopen(made, "wb") as file:
                    file.write(data)
                os.replace(name, self._path.with_suffix(suffix))
            except BaseException:
                os.unlink(name)
                raise
