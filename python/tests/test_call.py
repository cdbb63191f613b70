# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: arguments of every kind, on every kind of device."""

import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import tilewright
from tilewright import _core

A = np.arange(32, dtype="float32").reshape(4, 8)


def test_arrays_in_tensor_out(add, device):
    result = add(A, A + 1, device=device)
    assert isinstance(result, tilewright.Tensor)
    assert (result.shape, result.ndim, result.dtype, result.nbytes) == ((4, 8), 2, "f32", 128)
    assert result.device is device and len(result) == 4
    np.testing.assert_array_equal(result.numpy(), 2 * A + 1)
    np.testing.assert_array_equal(np.asarray(result), 2 * A + 1)
    # Results are arguments, where they are.
    again = add(result, result)
    assert again.device is device
    assert result._view.overlaps([again._view, result._view]) and not again._view.overlaps([result._view])
    np.testing.assert_array_equal(again.numpy(), 4 * A + 2)
    np.testing.assert_array_equal(again.to("cpu").numpy(), 4 * A + 2)
    assert again.to(device) is again


def test_by_name(add, device):
    np.testing.assert_array_equal(add(y=A, x=A, device=device).numpy(), 2 * A)
    np.testing.assert_array_equal(add.add(A, y=A, device=device).numpy(), 2 * A)
    for args, names, text in (((A,), {}, "lacks y"), ((A, A, A), {}, "takes 2 arguments; got 3"),
                              ((A, A), {"z": A}, "no argument 'z'"), ((A, A), {"x": A}, "two values for 'x'")):
        with pytest.raises(TypeError, match=text):
            add(*args, device=device, **names)


def test_the_best_device_is_taken(add):
    # In the order cuda, vulkan, cpu; Vulkan on the CPU comes last.
    order = sorted((info.automatic, info.name) for info in tilewright.devices() if info.automatic)
    assert add.on().name == order[0][1] == tilewright.device().name
    for info in tilewright.devices():
        if "llvmpipe" in info.description:
            assert [name for _, name in order].index(info.name) > [name for _, name in order].index("cpu")
    assert add(A, A).device is add.on()
    on_cpu = tilewright.asarray(A)
    assert add(on_cpu, A).device.name == "cpu"


def test_what_is_wrong_with_arguments_is_one_kind_of_error(add, many, device):
    narrow, wide = np.ones((2, 7), "float32"), A.astype("float64")
    for call in (lambda: add(wide, A, device=device), lambda: add(A[0], A, device=device),
                 lambda: add(narrow, A, device=device), lambda: add(A, "text", device=device), lambda: add(A, device=device),
                 lambda: add(A, A, z=A, device=device), lambda: many.scale(A[0], 1.0, 1 << 40, device=device),
                 lambda: many.scale(A[0], 1.0, 1.5, device=device)):
        with pytest.raises(tilewright.InvalidArgumentError):
            call()
    with pytest.raises(TypeError, match="argument 'x': expected elements f32"):
        add(wide, A, device=device)


def test_scalars_and_several_results(many, device):
    x = np.array([1, 2, 3], "float32")
    scaled, twice, count = many.scale(x, 2.5, 41, device=device)
    np.testing.assert_array_equal(scaled.numpy(), x * 2.5)
    assert (twice, count) == (5.0, 42)
    assert many.scale(x, np.float64(-1), np.int8(-2), device=device)[1:] == (-2.0, -1)
    with pytest.raises(TypeError, match="argument 'count': expected an integer"):
        many.scale(x, 1.0, 1.5, device=device)
    with pytest.raises(OverflowError, match="does not fit i32"):
        many.scale(x, 1.0, 1 << 40, device=device)


def test_memrefs_are_written_in_place(many, device):
    data = np.arange(100, dtype="int32")
    assert many.increment(data, device=device) is None
    np.testing.assert_array_equal(data, np.arange(1, 101))
    # Through a copy as well: not contiguous.
    wide = np.zeros((10, 2), "int32")
    many.increment(wide[:, 1], device=device)
    np.testing.assert_array_equal(wide, [[0, 1]] * 10)
    tensor = tilewright.asarray(data, device=device, copy=True)
    many.increment(tensor)
    np.testing.assert_array_equal(tensor.numpy(), np.arange(2, 102))
    data.flags.writeable = False
    with pytest.raises((ValueError, tilewright.InvalidArgumentError), match="read-only|written in place"):
        many.increment(data, device=device)
    np.testing.assert_array_equal(data, np.arange(1, 101))


def test_copy_none_false_true(add, device):
    on_host = device.name == "cpu"
    if on_host:
        add(A, A, device=device, copy=False)
    else:
        with pytest.raises(ValueError, match="argument 'x': the tensor would have to be copied, since it is on cpu"):
            add(A, A, device=device, copy=False)
    add(A, A, device=device, copy=True)
    there = tilewright.asarray(A, device=device)
    np.testing.assert_array_equal(add(there, there, copy=False).numpy(), 2 * A)
    strided = np.zeros((4, 16), "float32")[:, ::2]
    with pytest.raises(ValueError, match="copied"):
        add(strided, A, device=device, copy=False)
    np.testing.assert_array_equal(add(strided, A, device=device).numpy(), A)
    raw = np.zeros(4 * 32 + 4, "uint8")
    start = (4 - raw.ctypes.data) % 16
    unaligned = raw[start:start + 128].view("float32").reshape(4, 8) if start + 128 <= raw.size else None
    if unaligned is not None:
        np.testing.assert_array_equal(add(unaligned, A, device=device).numpy(), A)
    backwards = A[::-1]
    np.testing.assert_array_equal(add(backwards, A, device=device).numpy(), backwards + A)


def test_misaligned_arrays_are_copied(add, device):
    raw = np.zeros(129, "uint8")
    odd = raw[1:].view("float32").reshape(4, 8)
    odd[...] = A
    np.testing.assert_array_equal(tilewright.asarray(odd).numpy(), A)
    np.testing.assert_array_equal(add(odd, odd, device=device).numpy(), 2 * A)
    with pytest.raises(ValueError, match="first element is not aligned to 4 bytes; got copy=False"):
        tilewright.asarray(odd, copy=False)
    point = raw[1:5].view("float32").reshape(())
    assert tilewright.asarray(point).shape == ()


def test_misaligned_arrays_are_written_back(many, device):
    raw = np.zeros(41, "uint8")
    many.increment(raw[1:].view("int32"), device=device)
    np.testing.assert_array_equal(raw[1:].view("int32"), [1] * 10)


def test_copy_is_a_truth(add):
    strided = np.zeros((4, 16), "float32")[:, ::2]
    for no in (np.False_, 0):
        with pytest.raises(ValueError, match="copied"):
            add(strided, A, device="cpu", copy=no)
        assert np.shares_memory(tilewright.asarray(A, copy=no).numpy(copy=no), A)
    for yes in (np.True_, 1):
        assert not np.shares_memory(tilewright.asarray(A, copy=yes).numpy(), A)
        assert not np.shares_memory(tilewright.asarray(A).numpy(copy=yes), A)
    for call in (lambda c: add(A, A, device="cpu", copy=c), lambda c: tilewright.asarray(A, copy=c),
                 lambda c: tilewright.asarray(A).numpy(copy=c), lambda c: tilewright.asarray(A).__dlpack__(copy=c)):
        for neither in ("no", 2, []):
            with pytest.raises(TypeError, match="copy: expected True, False or None, got "):
                call(neither)


def test_arguments_of_another_kind_are_named(add):
    with pytest.raises(TypeError, match="stream: expected a tilewright.Stream, got int"):
        add(A, A, stream=3)
    with pytest.raises(TypeError, match="device: expected a name, .* got 3"):
        add(A, A, device=3)
    with pytest.raises(TypeError, match="device: expected a name, .* got 0"):
        tilewright.device(0)
    for native in (-1, 1 << 64, "7", 1.5):
        with pytest.raises(TypeError, match="native: expected a CUstream as an integer"):
            tilewright.device("cpu").stream(native=native)


def test_two_devices_of_one_name_are_told_apart(add):
    device = tilewright.device("ptxsim")
    tensor = tilewright.asarray(A, device=device, copy=True)
    other = tilewright.Device(tilewright._core.open_device("ptxsim"))
    with pytest.raises(ValueError, match="two devices of one name, opened apart; got copy=False"):
        add(tensor, tensor, device=other, copy=False)
    with pytest.raises(tilewright.InvalidArgumentError, match="ptxsim:0, not to ptxsim:0; these are two devices of one"):
        add(A, A, stream=device.stream(), device=other)
    with pytest.raises(tilewright.InvalidArgumentError, match="two devices of one name, opened apart"):
        add._load(other)[0].call(0, device.stream()._core, [tensor._view, tensor._view])


def test_a_tensor_of_one_element_is_its_truth():
    assert tilewright.asarray(np.ones((1, 1), "int32")) and not tilewright.asarray(np.zeros((), "float32"))
    for count in (0, 2):
        with pytest.raises(ValueError, match=f"a tensor of {count} elements is neither true nor false"):
            bool(tilewright.asarray(np.ones(count, "int32")))
    assert tilewright.asarray(A).size == 32


def test_memory_of_arrays_is_shared_on_the_cpu():
    array = np.zeros((4, 4), "float32")
    tensor = tilewright.asarray(array)
    view = tensor.numpy()
    array[1, 2] = 7
    assert view[1, 2] == 7 and np.shares_memory(view, array)
    assert not np.shares_memory(tensor.numpy(copy=True), array)
    assert not np.shares_memory(tilewright.asarray(array, copy=True).numpy(), array)
    array.flags.writeable = False
    assert not tilewright.asarray(array).numpy().flags.writeable


def test_what_does_not_fit_is_refused(add, device):
    with pytest.raises(TypeError, match="argument 'x': expected elements f32, got an array of float64"):
        add(A.astype("float64"), A, device=device)
    with pytest.raises(TypeError, match="other byte order"):
        add(A.astype(">f4"), A, device=device)
    with pytest.raises(TypeError, match="other byte order"):
        tilewright.asarray(A.astype(">f4"), device=device)
    with pytest.raises(TypeError, match="other byte order"):
        tilewright.asarray(A.astype(">u2"), device=device)
    with pytest.raises(TypeError, match="got list"):
        add([[1.0] * 8], A, device=device)
    with pytest.raises(tilewright.InvalidArgumentError, match="input 1: expected .x8xf32, got 4x7xf32"):
        add(A, np.zeros((4, 7), "float32"), device=device)
    with pytest.raises(tilewright.ProgramError, match="4 vs 3"):
        add(A, A[:3], device=device)
    with pytest.raises(tilewright.NotFoundError, match="expected one of auto, cuda, vulkan, cpu"):
        add(A, A, device="tpu")


def test_empty(add, device):
    result = add(A[:0], A[:0], device=device)
    assert result.shape == (0, 8) and result.numpy().shape == (0, 8)


def test_streams(add, device):
    stream, other = device.stream(), device.stream()
    x = tilewright.asarray(A, device=device)
    for _ in range(5):
        x = add(x, x, stream=stream)
    y = add(x, x, stream=other)  # after the other stream's work
    np.testing.assert_array_equal(y.numpy(), 64 * A)
    other.wait(stream)
    stream.synchronize(timeout=60)
    with pytest.raises(ValueError, match="the stream belongs to"):
        add(A, A, stream=stream, device="cpu" if device.name != "cpu" else "vulkan")
    if device.name.startswith("ptxsim"):
        assert device.stream(native=stream.native).native == stream.native
    else:
        with pytest.raises(tilewright.UnsupportedError):
            device.stream(native=1)


def test_asserts_of_elements(rows, device):
    table = np.arange(15, dtype="float32").reshape(5, 3)
    good, low, high = (np.array(places, "int32") for places in ([4, 0, 2], [1, -1, 9], [1, 5, 2]))
    np.testing.assert_array_equal(rows(good, table, device=device).numpy(), table[good])
    with pytest.raises(tilewright.ProgramError, match="'rows': the row is negative"):
        rows(low, table, device=device)
    with pytest.raises(tilewright.ProgramError, match="'rows': there is no such row"):
        rows(high, table, device=device)
    # On a stream, the synchronisation says so, once, and the first one alone.
    stream = device.stream()
    for places in (good, high, low, good):
        result = rows(places, table, stream=stream)
    with pytest.raises(tilewright.ProgramError, match="there is no such row"):
        stream.synchronize()
    stream.synchronize()
    np.testing.assert_array_equal(result.numpy(), table[good])
    with pytest.raises(tilewright.ProgramError, match="the row is negative"):
        rows(low, table, stream=stream).numpy()


def test_threads_and_the_interpreter_runs_on(add, device):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    x = np.ones((20000, 8), "float32")
    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.perf_counter()
    results = []
    callers = [threading.Thread(target=lambda: results.append(add(x, x, device=device).numpy().sum()))
               for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    end = time.perf_counter()
    done.set()
    ticker.join()
    assert results == [320000.0] * 4
    if end - begin > 0.1:
        assert sum(begin < t < end for t in ticks) >= 5


def test_devices():
    names = {info.name: info for info in tilewright.devices()}
    assert names["cpu"].available and names["ptxsim:0"].available
    assert tilewright.device("cpu") is tilewright.device("cpu")
    assert tilewright.device("vulkan") is tilewright.device("vulkan:0")
    assert tilewright.device("cpu").fact("multiprocessors") >= 1
    with pytest.raises(tilewright.InvalidArgumentError, match="expected a number"):
        tilewright.device("cuda:x")


def test_program_output_goes_to_stdout(capsys, device):
    program = tilewright.compile("""
func.func @say(%n: i64) {
  vector.print %n : i64
  return
}
""", target=["cuda:sm_80", "vulkan", "cpu"])
    program(42, device=device)
    assert capsys.readouterr().out.strip() == "42"


def test_results_are_memory_of_their_own(device):
    program = tilewright.compile("""
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @part(%x: tensor<8xf32>) -> tensor<4xf32> {
  %r = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @constant() -> tensor<4xf32> {
  %r = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @double(%x: memref<4xf32>) {
  linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%x : memref<4xf32>)
  return
}
""", target=["cuda:sm_80", "vulkan", "cpu"])
    x = np.arange(8, dtype="float32")
    tensor = tilewright.asarray(x[:4], device=device, copy=True)
    same = program.same(tensor)
    program.double(tensor)
    np.testing.assert_array_equal(tensor.numpy(), [0, 2, 4, 6])
    np.testing.assert_array_equal(same.numpy(), [0, 1, 2, 3])
    for result, expected in ((program.same(x[:4], device=device), [0, 1, 2, 3]),
                             (program.part(x, device=device), [4, 5, 6, 7])):
        x += 100
        np.testing.assert_array_equal(result.numpy(), expected)
        x -= 100
    core, numbers = program._load(device)
    own = core.call(numbers["constant"][0], device._default()._core, [])[0]
    assert own.read_only, "callers of the C API cannot change it either"
    first = program.constant(device=device).numpy()
    first[:] = -1
    np.testing.assert_array_equal(program.constant(device=device).numpy(), [1, 2, 3, 4])


def test_arguments_written_in_place_do_not_overlap(device):
    """Of two memrefs the compiler takes for granted that they are apart: the call refuses others."""
    program = tilewright.compile("""
func.func @both(%a: memref<4xi32>, %b: memref<4xi32>) {
  linalg.add ins(%a, %b : memref<4xi32>, memref<4xi32>) outs(%b : memref<4xi32>)
  linalg.add ins(%a, %b : memref<4xi32>, memref<4xi32>) outs(%a : memref<4xi32>)
  return
}
""", target=["cuda:sm_80", "vulkan", "cpu"])
    x = tilewright.asarray(np.ones(4, dtype="int32"), device=device)
    with pytest.raises(tilewright.InvalidArgumentError, match="which is written in place, overlaps input"):
        program(x, x)
    array = np.ones(6, dtype="int32")
    for one, other in [(array[:4], array[:4]), (array[:4], array[2:])]:
        with pytest.raises(tilewright.InvalidArgumentError, match="overlaps"):
            program(one, other, device=device)
    np.testing.assert_array_equal(array, 1)


def test_what_kernels_take(add, device):
    kernels = add.resources(device)
    assert kernels and all(kernel["kernel"].startswith("add") for kernel in kernels)
    if device.name == "cpu" or device.name.startswith("vulkan"):
        # lavapipe lacks the extension; other drivers of Vulkan have it.
        said = [kernel for kernel in kernels if "reason" not in kernel]
        assert all(kernel["shared_bytes"] >= 0 for kernel in said)
        # Of variants that it cannot run it says that.
        assert said or any("this device does not say what its kernels take" in kernel["reason"] for kernel in kernels)
    else:
        assert any(kernel.get("max_threads", 0) >= 32 for kernel in kernels)
        assert {"shared_bytes", "dynamic_shared_bytes"} <= max(kernels, key=len).keys()


def test_what_fails_is_an_error_of_the_thread_that_called(rows, device):
    table, wrong = np.arange(15, dtype="float32").reshape(5, 3), []

    def call(places, fails):
        for _ in range(100 if device.name.startswith("cpu") else 10):
            try:
                result = rows(np.array(places, "int32"), table, device=device)
                np.testing.assert_array_equal(result.numpy(), table[places])
                wrong.extend([places] * fails)
            except tilewright.ProgramError:
                wrong.extend([places] * (not fails))

    threads = [threading.Thread(target=call, args=arguments) for arguments in (([4, 0], False), ([1, 9], True), ([2], False))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_tensors_of_other_threads_and_streams_come_after_their_work(add, device):
    made = []
    thread = threading.Thread(target=lambda: made.append(tilewright.asarray(A, device=device, copy=True)))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(made[0].numpy(), A)
    np.testing.assert_array_equal(add(made[0], made[0]).numpy(), 2 * A)
    # A call without a stream comes after the stream that makes its argument.
    stream, x = device.stream(), np.ones((20000, 8), "float32")
    y = tilewright.asarray(x, device=device)
    for _ in range(6):
        y = add(y, y, stream=stream)
    np.testing.assert_array_equal(add(y, y).numpy(), 128 * x)


def test_what_a_stream_writes_in_place_is_read_behind_it(many, add, device):
    count, size = 10, 1 << 15 if device.name.startswith("ptxsim") else 1 << 21
    stream, other = device.stream(), device.stream()
    zeros = np.zeros(size, "int32")

    def written():
        data = tilewright.asarray(zeros, device=device, copy=True)
        for _ in range(count):
            many.increment(data, stream=stream)
        return data

    assert (written().numpy() == count).all()
    assert (tilewright.asarray(written(), copy=True).numpy() == count).all()
    assert (written().to("cpu").numpy() == count).all()
    data = written()
    many.increment(data, stream=other)
    assert (data.numpy() == count + 1).all()
    data = written()
    many.increment(data)
    assert (data.numpy() == count + 1).all()
    # What is read on one stream is not written on another before that.
    x = tilewright.asarray(np.ones(size, "float32"), device=device, copy=True)
    scale = tilewright.compile("""
func.func @double(%data: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%data : memref<?xf32>) {
    ^bb0(%o: f32):
      %s = arith.addf %o, %o : f32
      linalg.yield %s : f32
  }
  return
}
""", target=["cpu", "vulkan", "cuda:sm_80"])
    results = [many.scale(x, 3.0, 0, stream=stream)[0] for _ in range(count)]
    scale(x, stream=other)
    assert all((result.numpy() == 3).all() for result in results)
    assert (x.numpy() == 2).all()


def test_tensors_keep_no_streams(add, device):
    x, streams = tilewright.asarray(A, device=device, copy=True), []
    for _ in range(5):
        stream = device.stream()
        add(x, x, stream=stream).numpy()
        streams.append(weakref.ref(stream))
        del stream
    gc.collect()
    assert not any(stream() for stream in streams)


def test_a_device_that_was_lost_is_opened_anew():
    program = tilewright.compile("""
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
""", target="cpu")
    x, before = np.ones((1024, 1024), "float32"), tilewright.device("cpu")
    stream = before.stream()
    results = [program(x, x, x, stream=stream) for _ in range(20)]
    with pytest.raises(tilewright.DeadlineExceededError):
        stream.synchronize(timeout=0.001)
    np.testing.assert_array_equal(program(x[:2, :2], x[:2, :2], x[:2, :2], device="cpu").numpy(), np.full((2, 2), 3))
    assert tilewright.device("cpu") is not before and tilewright.device("cpu") is tilewright.device("cpu:0")
    with pytest.raises(tilewright.DeviceLostError):
        results[0].numpy()
    assert before not in program._loaded


def test_a_device_goes_with_those_who_have_it():
    """Though a thread that goes on has called on it."""
    opened = tilewright.Device(_core.open_device("cpu"))
    result = tilewright.asarray(A, device=opened)
    np.testing.assert_array_equal(result.numpy(), A)
    assert opened._own
    gone = weakref.ref(opened)
    del opened, result
    gc.collect()
    assert gone() is None


def test_errors_go_by_names_that_people_find(add):
    for call, kind in ((lambda: add(A.astype("float64"), A), TypeError), (lambda: add(A), TypeError)):
        with pytest.raises(kind) as caught:
            call()
        error = caught.value
        assert isinstance(error, tilewright.InvalidArgumentError)
        assert f"{type(error).__module__}.{type(error).__qualname__}" == "tilewright.InvalidArgumentError"
        again = pickle.loads(pickle.dumps(error))
        assert isinstance(again, kind) and isinstance(again, tilewright.InvalidArgumentError) and str(again) == str(error)


def run_python(text, *arguments):
    """What a program says, on its two outputs."""
    done = subprocess.run([sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, done.stderr


def test_forked_children_open_the_cpu_anew(add, tmp_path):
    """The threads of the parent's are not theirs; what had them says so."""
    add.save(tmp_path / "add.tw")
    said, _ = run_python("""
import os, sys
import numpy as np, tilewright
add, x = tilewright.load(sys.argv[1]), np.ones((2, 8), "float32")
before = add(x, x, device="cpu")
held = before.device
child = os.fork()
if child == 0:
    try:
        add(x, x, device=held)
    except tilewright.DeviceLostError as error:
        print(error)
    print(add(x, x, device="cpu").numpy().sum(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(add(before, x).numpy().sum())
""", tmp_path / "add.tw")
    lost, child, parent = said.strip().split("\n")
    assert "the device is lost: this process is a fork of the one that opened it, which has its threads" in lost
    assert (child, parent) == ("32.0", "48.0")


def test_forked_children_lose_vulkan_and_have_the_cpu(add, tmp_path):
    """At their end nothing waits for threads of the parent."""
    add.save(tmp_path / "add.tw")
    said, _ = run_python("""
import multiprocessing, sys
import numpy as np, tilewright
add, x = tilewright.load(sys.argv[1]), np.ones((2, 8), "float32")
before = add(x, x, device="vulkan")
stream = before.device.stream()
def work():
    try:
        add(before, x)
    except tilewright.DeviceLostError as error:
        print(error, flush=True)
    try:
        tilewright.device("vulkan")
    except tilewright.UnavailableError as error:
        print(error, flush=True)
    print(add(x, x, device="cpu").numpy().sum(), flush=True)
child = multiprocessing.get_context("fork").Process(target=work)
child.start()
child.join(60)
print(child.exitcode, add(before, x).numpy().sum())
""", tmp_path / "add.tw")
    lost, refused, child, parent = said.strip().split("\n")
    assert "the Vulkan device is lost: this process is a fork" in lost
    assert "both sides of a fork" in refused
    assert (child, parent) == ("32.0", "0 48.0")


LONG = {
    # Some minutes on the simulator.
    "ptxsim": """
func.func @f(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %r = linalg.matmul ins(%x, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
      outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}
""",
    "cpu": """
func.func @f(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000 : index
  %r = scf.for %i = %c0 to %many step %c1 iter_args(%a = %x) -> tensor<1024x1024xf32> {
    %e = tensor.empty() : tensor<1024x1024xf32>
    %m = linalg.matmul ins(%x, %a : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
      outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    scf.yield %m : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}
"""}


@pytest.mark.parametrize("name", ["cpu", "ptxsim"])
@pytest.mark.parametrize("handler", ["", "signal.signal(signal.SIGINT, lambda *_: print('heard', flush=True))"])
def test_interrupts_end_long_calls(name, handler, add, tmp_path):
    """Where they raise; else the call goes on."""
    program = tilewright.compile(LONG[name], target="cuda:sm_80" if name == "ptxsim" else "cpu")
    program.save(tmp_path / "long.tw")
    add.save(tmp_path / "add.tw")
    process = subprocess.Popen([sys.executable, "-c", f"""
import signal, sys
import numpy as np, tilewright
long, add, device = tilewright.load(sys.argv[1]), tilewright.load(sys.argv[2]), tilewright.device("{name}")
x = np.zeros((1024, 1024), "float32")
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what runs beside them without
{handler}
print("ready", flush=True)
try:
    long(x, device=device)
except KeyboardInterrupt:
    print("interrupted")
del long, device  # ptxsim is lost as long as anybody has the one that was lost
y = np.ones((4, 8), "float32")
print(add(y, y, device="{name}").numpy().sum())
""", str(tmp_path / "long.tw"), str(tmp_path / "add.tw")], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        if handler:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)
        else:
            assert process.communicate(timeout=60)[0] == "interrupted\n64.0\n"
            assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_children_forked_in_a_call_are_interrupted(tmp_path):
    """The handler of the call that the parent is in is not theirs."""
    tilewright.compile(LONG["cpu"].replace("1000000", "20"), target="cpu").save(tmp_path / "long.tw")
    said, _ = run_python("""
import os, signal, sys, threading, time
import numpy as np, tilewright
signal.signal(signal.SIGINT, signal.default_int_handler)
long, x = tilewright.load(sys.argv[1]), np.zeros((1024, 1024), "float32")
long(x, device="cpu")
def fork():
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        try:
            long(x, device="cpu")
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            os._exit(7)
        os._exit(8)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread = threading.Thread(target=fork)
thread.start()
long(x, device="cpu")
thread.join()
""", tmp_path / "long.tw")
    assert said == "7\n"


def test_finalizers_may_ask_for_a_device():
    """Those of what is collected because a device was lost."""
    said, _ = run_python("""
import faulthandler
import tilewright
faulthandler.dump_traceback_later(60, exit=True)
class Cycle:
    def __init__(self):
        self.cycle = self
    def __del__(self):
        print(tilewright.device("cpu").name)
first = tilewright.device("cpu")
first._is_lost = lambda: True
tilewright._errors.losses += 1
Cycle()
print(tilewright.device("cpu") is first)
""")
    assert said == "cpu\nFalse\n"


def test_threads_that_hold_tensors_at_the_end_are_no_leak(add, tmp_path):
    add.save(tmp_path / "add.tw")
    _, complaints = run_python("""
import sys, threading, time
import numpy as np, tilewright
held = threading.Event()
def hold():
    tensor = tilewright.load(sys.argv[1])(np.ones((2, 8), "float32"), np.ones((2, 8), "float32"), device="cpu")
    held.set()
    time.sleep(60)
threading.Thread(target=hold, daemon=True).start()
held.wait()
""", tmp_path / "add.tw")
    assert complaints == ""
