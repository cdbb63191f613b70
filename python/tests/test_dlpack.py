# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack both ways: NumPy, producers by hand, PyTorch where it is."""

import ctypes
import gc

import numpy as np
import pytest
import tilewright
from conftest import Producer

A = np.arange(32, dtype="float32").reshape(4, 8)
CPU = (1, 0)


def test_numpy_takes_results_without_a_copy(add):
    result = add(A, A, device="cpu")
    array = np.from_dlpack(result)
    assert array.ctypes.data == result.numpy().ctypes.data
    del result
    gc.collect()
    np.testing.assert_array_equal(array, 2 * A)  # the memory is alive


def test_producers_are_shared_and_let_go_once(add):
    memory = np.arange(32, dtype="float32")
    producer = Producer(memory.ctypes.data, (4, 8), CPU)
    tensor = tilewright.asarray(producer)
    memory[0] = 100
    assert tensor.numpy()[0, 0] == 100
    np.testing.assert_array_equal(add(producer, tensor, device="cpu", copy=False).numpy(), 2 * memory.reshape(4, 8))
    deleted = producer.deleted  # the call's own view of it
    assert deleted == 1
    array = tensor.numpy()
    del tensor
    gc.collect()
    assert producer.deleted == deleted, "an array still shows it"
    del array
    gc.collect()
    assert producer.deleted == deleted + 1


def test_on_devices(add, device):
    memory = np.arange(32, dtype="float32")
    producer = Producer(memory.ctypes.data, (4, 8), CPU, strides=(8, 1))
    np.testing.assert_array_equal(add(producer, producer, device=device).numpy(), 2 * memory.reshape(4, 8))
    result = add(A, A, device=device)
    kind, number = result.__dlpack_device__()
    assert (kind, number) == {"cpu": (1, 0), "vulkan:0": (7, 0), "ptxsim:0": (12, 0)}[device.name]
    # Back in without a copy; and to the host for who asks for it.
    np.testing.assert_array_equal(add(result, result, copy=False).numpy(), 4 * A)
    capsule = result.__dlpack__(dl_device=CPU, max_version=(1, 0))
    assert "dltensor_versioned" in repr(capsule)
    if device.name != "cpu":
        with pytest.raises(BufferError, match="copy=False"):
            result.__dlpack__(dl_device=CPU, copy=False)
        with pytest.raises(BufferError):
            result.__dlpack__(dl_device=(10, 0))


def test_capsules_that_nobody_takes_leak_nothing(add):
    memory = np.arange(32, dtype="float32")
    producer = Producer(memory.ctypes.data, (4, 8), CPU)
    tensor = tilewright.asarray(producer)
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0)), tensor.__dlpack__(copy=True)]
    del tensor
    gc.collect()
    assert producer.deleted == 0
    del capsules
    gc.collect()
    assert producer.deleted == 1


def test_read_only(many):
    memory = np.arange(8, dtype="int32")
    producer = Producer(memory.ctypes.data, (8,), CPU, code=0, flags=1)
    tensor = tilewright.asarray(producer)
    assert not tensor.numpy().flags.writeable
    with pytest.raises(tilewright.InvalidArgumentError, match="written in place; its memory is read-only"):
        many.increment(tensor)
    with pytest.raises(BufferError, match="read-only"):
        tensor.__dlpack__()  # the old form cannot say it
    assert tensor.__dlpack__(max_version=(1, 0))


def test_what_must_be_copied_is_written_back(many, device):
    """Of a producer as of a NumPy array: strides, and a first element that is not aligned."""
    memory = np.zeros(20, dtype="int32")
    place = memory.ctypes.data
    many.increment(Producer(place, (10,), CPU, code=0, strides=(2,)), device=device)
    np.testing.assert_array_equal(memory, [1, 0] * 10)
    many.increment(Producer(place + 4, (19,), CPU, code=0), device=device)
    np.testing.assert_array_equal(memory, [1, 1] + [2, 1] * 9)
    with pytest.raises(tilewright.InvalidArgumentError, match="argument 'data' is written in place, and what was given is read-only"):
        many.increment(Producer(place, (10,), CPU, code=0, strides=(2,), flags=1), device=device)


def test_another_type_is_a_type_error(add):
    memory = np.arange(32, dtype="float64")
    with pytest.raises(TypeError, match="argument 'x': Producer: .* cannot be seen as f32"):
        add(Producer(memory.ctypes.data, (4, 8), CPU, bits=64), A, device="cpu")
    with pytest.raises(TypeError, match="there is no element type 'nope'; expected one of f64"):
        tilewright.asarray(A, dtype="nope")


def test_refused(add):
    memory = np.arange(64, dtype="float32")
    good = {"address": memory.ctypes.data, "shape": (4, 8), "place": CPU}
    for changes, error, text in (
            ({"place": (10, 0)}, BufferError, "none that Tilewright uses"),
            ({"lanes": 4}, tilewright.UnsupportedError, "expected 1 lane"),
            ({"code": 5, "bits": 64}, tilewright.UnsupportedError, "expected one of f64"),
            ({"strides": (-8, 1)}, tilewright.UnsupportedError, "expected none negative"),
            ({"address": memory.ctypes.data + 2}, tilewright.UnsupportedError, "not aligned"),
            ({"code": 2, "bits": 64}, tilewright.InvalidArgumentError, "cannot be seen as f32")):
        producer = Producer(**{**good, **changes})
        with pytest.raises(error, match=text):
            add(producer, A, device="cpu")
        assert producer.deleted == 0, "what was refused stays the producer's"
    with pytest.raises(ValueError, match="capsule"):
        tilewright._core.from_dlpack(tilewright.device("cpu")._core, object())


def test_cuda_memory_of_others(add):
    """On the simulator, whose driver other programs call as they call NVIDIA's."""
    device = tilewright.device("ptxsim")
    driver = ctypes.CDLL("libtilewright_ptxsim.so.1")  # which that has loaded
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxPushCurrent_v2(context) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(128)) == 0
    assert driver.cuMemcpyHtoD_v2(address, ctypes.c_void_p(A.ctypes.data), ctypes.c_size_t(128)) == 0
    producer = Producer(address.value, (4, 8), (2, 0))
    stream = device.stream()
    result = add(producer, producer, stream=stream, copy=False)
    assert producer.streams == [stream.native] * 2, "the producer orders its work before this stream"
    np.testing.assert_array_equal(result.numpy(), 2 * A)
    wild = Producer(64, (4, 8), (2, 0))
    with pytest.raises(tilewright.InvalidArgumentError, match="does not know"):
        add(wild, A, device=device)
    # A consumer's stream waits for ours.
    consumer = device.stream()
    assert add(A, A, stream=stream).__dlpack__(stream=consumer.native, max_version=(1, 0))
    # A context of the caller's.
    mine = ctypes.c_void_p()
    assert driver.cuCtxCreate_v2(ctypes.byref(mine), 0, 0) == 0
    adopted = tilewright.Device.adopt_cuda(mine.value, "ptxsim")
    assert adopted is not device and adopted.name == device.name
    np.testing.assert_array_equal(add(A, A, device=adopted).numpy(), 2 * A)
    with pytest.raises(tilewright.InvalidArgumentError, match="null"):
        tilewright.Device.adopt_cuda(0, "ptxsim")


def test_torch(add):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = torch.arange(32, dtype=torch.float32).reshape(4, 8)
    result = torch.from_dlpack(add(x, x, device="cpu", copy=False))
    assert torch.equal(result, 2 * x)
