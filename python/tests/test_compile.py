# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling, saving, loading, and what goes wrong there."""

import errno
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import time

import pytest
import tilewright
from conftest import ADD
from tilewright import _compiler


def test_text_path_and_targets(tmp_path, add):
    assert add.targets == ["cuda:sm_80", "vulkan", "cpu"]
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    for source in (path, str(path)):
        program = tilewright.compile(source, target="cpu")
        assert program.targets == ["cpu"]
        assert list(program.functions) == ["add"]
    # The same input and options give the same bytes.
    assert program.artifact == tilewright.compile(ADD, target="cpu").artifact


def test_names_and_types_are_told(many):
    assert many.scale.signature == "scale(x: tensor<?xf32>, by: f32, count: i32) -> tensor<?xf32>, f32, i32"
    assert many.increment.signature == "increment(data: memref<?xi32>)"
    assert many.scale.signature in many.scale.__doc__
    assert "halve" in dir(many)
    with pytest.raises(AttributeError, match="has no function 'nothing'; it has scale, increment"):
        many.nothing
    with pytest.raises(tilewright.NotFoundError, match="no function 'main'"):
        many()


def test_errors_are_the_diagnostics(tmp_path):
    with pytest.raises(tilewright.CompileError) as error:
        tilewright.compile("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}")
    assert "<stdin>:2:10: error: use of undeclared SSA value name" in str(error.value)
    path = tmp_path / "bad.mlir"
    path.write_text("func.func @f(\n")
    with pytest.raises(tilewright.CompileError, match="bad.mlir:"):
        tilewright.compile(path)
    with pytest.raises(tilewright.CompileError, match="cannot read"):
        tilewright.compile(tmp_path / "missing.mlir")
    with pytest.raises(tilewright.CompileError, match="--fp does not know 'fast'"):
        tilewright.compile(ADD, fp="fast")
    with pytest.raises(tilewright.CompileError, match="nothing"):
        tilewright.compile(ADD, target="nothing")
    for empty in ("", ["cpu", ""]):
        with pytest.raises(tilewright.InvalidArgumentError, match="target: a name is empty"):
            tilewright.compile(ADD, target=empty)
    assert issubclass(tilewright.CompileError, tilewright.Error) and issubclass(tilewright.Error, RuntimeError)


def test_options(tmp_path):
    program = tilewright.compile(ADD, target="cpu", fp=["contract"], explain=True)
    assert "add_elementwise_0" in program.diagnostics
    product = """
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
    with pytest.raises(tilewright.CompileError, match="matrix"):
        tilewright.compile(product, target="cuda:sm_80", require="matrix-unit")


def test_save_and_load(tmp_path, add):
    path = tmp_path / "add.tw"
    add.save(path)
    for source in (path, str(path), add.artifact, bytearray(add.artifact)):
        loaded = tilewright.load(source)
        assert loaded.add.signature == add.add.signature and loaded.targets == add.targets
    with pytest.raises(FileNotFoundError):
        tilewright.load(tmp_path / "missing.tw")


def test_bad_artifacts(add):
    for bytes_ in (b"", b"TILEWRT\x01", b"\0" * 4096, add.artifact[:100]):
        with pytest.raises(tilewright.CorruptArtifactError):
            tilewright.load(bytes_)
    for key in (b'"name"', b'"kind"', b'"dtype"', b'"inputs"', b'"results"'):
        with pytest.raises(tilewright.CorruptArtifactError, match="no artifact: .* is missing"):
            tilewright.load(add.artifact.replace(key, b'"' + b"x" * (len(key) - 2) + b'"'))
    damaged = bytearray(add.artifact)
    damaged[-70] ^= 1
    program = tilewright.load(damaged)
    with pytest.raises(tilewright.CorruptArtifactError):
        program.on("cpu")


def test_programs_are_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    calls = tmp_path / "calls"
    counting = tmp_path / "counting"
    counting.write_text(f'#!/bin/sh\necho >>{calls}\necho "a remark" >&2\nexec "{_compiler.find_compiler()}" "$@"\n')
    os.chmod(counting, stat.S_IRWXU)
    monkeypatch.setenv("TILEWRIGHT_COMPILE", str(counting))

    def compiled(source=ADD, **options):
        program = tilewright.compile(source, **{"target": "cpu", **options})
        assert program.diagnostics.startswith("a remark")
        return program.artifact, len(calls.read_text())

    first, _ = compiled()
    assert compiled() == (first, 1)
    assert compiled(cache=False) == (first, 2)
    assert compiled(fp="ftz")[1] == 3
    assert compiled(ADD + "\n")[1] == 4
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    assert [compiled(path)[1] for _ in range(2)] == [5, 5]
    path.write_text(ADD + "\n")
    assert compiled(path)[1] == 6
    os.utime(counting, (1, 1))
    assert compiled()[1] == 7
    # What fails is tried again.
    for _ in range(2):
        with pytest.raises(tilewright.CompileError):
            tilewright.compile("func.func @f(", target="cpu")
    assert len(calls.read_text()) == 9
    assert not [name for name in os.listdir(tmp_path / "cache/tilewright") if not name.endswith((".tw", ".log"))]


def test_what_cannot_be_kept_serves(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    (cache / "tilewright").mkdir(parents=True)
    with monkeypatch.context() as full:
        full.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
        with pytest.warns(RuntimeWarning, match="is not kept: .*No space left"):
            program = tilewright.compile(ADD, target="cpu")
    assert program.targets == ["cpu"] and not os.listdir(cache / "tilewright")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/proc")
    with pytest.warns(RuntimeWarning, match="is not kept: no folder"):
        assert tilewright.compile(ADD, target="cpu").artifact == program.artifact


def test_what_is_no_program_is_a_path():
    for name in ("typo", "models/typo.mlirbc"):
        with pytest.raises(tilewright.CompileError, match=f"cannot read '{name}'|{name}: No such file"):
            tilewright.compile(name, target="cpu")
    with pytest.raises(tilewright.CompileError, match="<stdin>"):
        tilewright.compile("func.func @f(", target="cpu")


def test_a_file_is_saved_as_a_whole_or_not_at_all(tmp_path, add, monkeypatch):
    path, link = tmp_path / "add.tw", tmp_path / "link.tw"
    path.write_bytes(b"before")
    link.symlink_to(path)
    with monkeypatch.context() as full:
        full.setattr(pathlib.Path, "write_bytes", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        with pytest.raises(OSError, match="full"):
            add.save(path)
    assert path.read_bytes() == b"before"
    add.save(link)
    assert link.is_symlink() and path.read_bytes() == add.artifact
    assert sorted(os.listdir(tmp_path)) == ["add.tw", "link.tw"]


def test_errors_of_artifacts_name_the_path(tmp_path, add):
    path = tmp_path / "bad.tw"
    path.write_bytes(b"text")
    with pytest.raises(tilewright.CorruptArtifactError, match=f"{path} is no artifact"):
        tilewright.load(path)
    for key in (b'"name"', b'"kind"', b'"dtype"', b'"inputs"', b'"results"'):
        with pytest.raises(tilewright.CorruptArtifactError, match="no artifact: .* is missing"):
            tilewright.load(add.artifact.replace(key, b'"' + b"x" * (len(key) - 2) + b'"'))
    damaged = bytearray(add.artifact)
    damaged[-70] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(tilewright.CorruptArtifactError, match=f"{path}: "):
        tilewright.load(path).on("cpu")


def test_front_ends_end_with_a_parent_that_is_killed(tmp_path):
    script, pid = tmp_path / "sleep.py", tmp_path / "pid"
    script.write_text("import os, sys, time\nopen(sys.argv[1] + '.part', 'w').write(str(os.getpid()))\n"
                      "os.replace(sys.argv[1] + '.part', sys.argv[1])\ntime.sleep(60)\n")
    parent = subprocess.Popen([sys.executable, "-c", "import sys\nfrom tilewright import _lowering\n"
                               "_lowering.FrontEnd(sys.argv[1], '', '', '', '').run([sys.argv[2]], None)", script, pid])
    end = time.monotonic() + 60
    while not pid.exists() and time.monotonic() < end:
        time.sleep(0.01)
    child = int(pid.read_text())
    parent.kill()
    parent.wait()
    while os.path.exists(f"/proc/{child}") and time.monotonic() < end:
        if pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            break
        time.sleep(0.01)
    else:
        assert not os.path.exists(f"/proc/{child}")


def test_endless_and_huge_files(tmp_path, add):
    with pytest.raises(tilewright.CorruptArtifactError, match="no artifact"):
        tilewright.load("/dev/zero")
    huge = tmp_path / "huge.tw"
    huge.write_bytes(add.artifact)
    os.truncate(huge, 1 << 40)
    with pytest.raises(tilewright.CorruptArtifactError, match="longer than 4096 MiB"):
        tilewright.load(huge)


def test_a_compiler_that_is_not_there_or_dies(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_COMPILE", str(tmp_path / "nothing"))
    with pytest.raises(tilewright.UnavailableError, match="cannot run"):
        tilewright.compile(ADD)
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -SEGV $$\n")
    os.chmod(dying, stat.S_IRWXU)
    monkeypatch.setenv("TILEWRIGHT_COMPILE", str(dying))
    with pytest.raises(tilewright.CompileError, match="ended by signal 11"):
        tilewright.compile(ADD)


def _is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _wait(condition):
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_the_compiler_ends_with_a_killed_process(tmp_path):
    # Nobody writes to the pipe, so that the compiler waits for ever.
    path = tmp_path / "pipe.mlir"
    os.mkfifo(path)
    code = f"import tilewright; tilewright.compile({str(path)!r})"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        children = f"/proc/{process.pid}/task/{process.pid}/children"

        def compilers():
            with open(children, encoding="ascii") as file:
                pids = file.read().split()
            return [pid for pid in pids if os.readlink(f"/proc/{pid}/exe").endswith("tilewright-compile")]

        assert _wait(compilers)
        compiler = compilers()[0]
        process.kill()
        process.wait()
        assert _wait(lambda: not _is_running(compiler))


def test_a_program_for_other_devices():
    program = tilewright.compile(ADD, target="cuda:sm_80")
    with pytest.raises(tilewright.UnsupportedError):
        program.on("cpu")


def test_bytes_are_no_program():
    with pytest.raises(TypeError, match="compile takes the text of a program or its path; got bytes"):
        tilewright.compile(ADD.encode())


def test_names_of_files_are_any_bytes(tmp_path):
    path = os.path.join(tmp_path, os.fsdecode(b"\xff\xe4.mlir"))
    pathlib.Path(path).write_text(ADD)
    for _ in range(2):
        assert tilewright.compile(path, target="cpu").targets == ["cpu"]


def test_errors_of_saving_name_the_file(tmp_path, add):
    path = tmp_path / "missing" / "add.tw"
    with pytest.raises(FileNotFoundError) as raised:
        add.save(path)
    assert raised.value.filename == str(path)
