# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: NumPy's, those of ml_dtypes, and arrays of raw bits."""

import math

import numpy as np
import pytest
import tilewright
from tilewright import _dtypes

ml_dtypes = pytest.importorskip("ml_dtypes")


def test_sizes():
    for name, number in _dtypes.NUMBERS.items():
        assert tilewright._core.dtype_name(number) == name
        if name not in _dtypes.PER_BYTE:
            assert _dtypes.to_numpy(name).itemsize == _dtypes.SIZES[name]


def test_bf16(many, device):
    x = np.array([1, 2, 3, -4], ml_dtypes.bfloat16)
    result = many.halve(x, device=device)
    assert result.dtype == "bf16" and result.numpy().dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(result.numpy().astype("float32"), [0.5, 1, 1.5, -2])
    raw = many.halve(x.view("uint16"), device=device)
    np.testing.assert_array_equal(raw.numpy(), result.numpy())
    assert tilewright.asarray(x.view("uint16"), dtype="bf16").dtype == "bf16"


def test_bf16_without_ml_dtypes(many, monkeypatch):
    result = many.halve(np.zeros(4, "uint16"), device="cpu")
    monkeypatch.setattr(_dtypes, "ml_dtypes", None)
    with pytest.raises(TypeError, match="NumPy has no type for bf16; install ml_dtypes, which has bfloat16"):
        result.numpy()
    assert result.__dlpack__()


def test_bytes_and_bools(many, device):
    x = np.array([200, 3, 255], "uint8")
    for mask in (np.array([True, False, True]), np.array([1, 0, 1], "uint8")):
        result = many.choose(mask, x, device=device)
        np.testing.assert_array_equal(result.numpy().view("uint8"), [200, 0, 255])
    with pytest.raises(TypeError, match="expected elements i1, got an array of int32"):
        many.choose(np.array([1, 0, 1], "int32"), x, device=device)


def test_unknown():
    with pytest.raises(TypeError, match="no element type for arrays of complex64"):
        tilewright.asarray(np.zeros(3, "complex64"))
    with pytest.raises(TypeError, match="expected one of f64"):
        tilewright.empty((3,), "float32", "cpu")
    assert tilewright.empty((2, 3), "f8E4M3FN", "cpu").nbytes == 6
    assert tilewright.asarray(np.zeros(3, "uint32")).dtype == "i32"
    assert tilewright.asarray(np.float64(1.5) * np.ones(())).item() == 1.5


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "i32", "i1", "i4"])
def test_scalars_that_are_no_numbers(name):
    for given in ("1", "1.5", b"1", np.str_("1"), bytearray(b"1")):
        with pytest.raises(TypeError, match=f"expected a number for a scalar {name}, got "):
            _dtypes.scalar_bits(given, name)


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "i32", "i4"])
def test_scalars_that_do_not_fit(name):
    with pytest.raises(OverflowError):
        _dtypes.scalar_bits(10**400 if name == "f64" else 1e39 if name[0] in "bf" else 10**39, name)
    with pytest.raises(OverflowError):
        _dtypes.scalar_bits(10**400, name)
    if name[0] in "bf" and not name.startswith("f8"):
        for special in (math.inf, -math.inf, math.nan):
            got = _dtypes.scalar_value(_dtypes.scalar_bits(special, name), name)
            assert got == special or math.isnan(got) and math.isnan(special)
    if name[0] in "bf":
        assert _dtypes.scalar_value(_dtypes.scalar_bits(np.float32(1.5), name), name) == 1.5


def test_eight_bit_floats():
    program = tilewright.compile("""
#id = affine_map<(i) -> (i)>
func.func @widen(%x: tensor<3xf8E4M3FN>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
       ins(%x : tensor<3xf8E4M3FN>) outs(%e : tensor<3xf32>) {
    ^bb0(%a: f8E4M3FN, %o: f32):
      %s = arith.extf %a : f8E4M3FN to f32
      linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}
""", target="cpu")
    x = np.array([0.5, -2, 448], ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(program(x).numpy(), [0.5, -2, 448])
    np.testing.assert_array_equal(program(x.view("uint8")).numpy(), [0.5, -2, 448])


CONVERSIONS = """
#id = affine_map<(i) -> (i)>
func.func @widen(%x: tensor<256xT>) -> tensor<256xf32> {
  %e = tensor.empty() : tensor<256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
       ins(%x : tensor<256xT>) outs(%e : tensor<256xf32>) {
    ^bb0(%a: T, %o: f32):
      %s = arith.extf %a : T to f32
      linalg.yield %s : f32
  } -> tensor<256xf32>
  return %r : tensor<256xf32>
}
func.func @narrow(%x: tensor<?xf32>) -> tensor<?xT> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xT>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
       ins(%x : tensor<?xf32>) outs(%e : tensor<?xT>) {
    ^bb0(%a: f32, %o: T):
      %s = arith.truncf %a : f32 to T
      linalg.yield %s : T
  } -> tensor<?xT>
  return %r : tensor<?xT>
}
"""


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"])
def test_eight_bit_floats_as_ml_dtypes(name, device):
    program = tilewright.compile(CONVERSIONS.replace("T>", name + ">").replace(": T", ": " + name)
                                 .replace("to T", "to " + name), target=["cuda:sm_80", "vulkan", "cpu"])
    kind = np.dtype(getattr(ml_dtypes, name.replace("f8", "float8_").lower()))
    every = np.arange(256, dtype=np.uint8).view(kind)
    wide = every.astype(np.float32)
    np.testing.assert_array_equal(program.widen(every, device=device).numpy(), wide)
    # What lies between two neighbours, and around the largest.
    finite = np.sort(wide[np.isfinite(wide)])
    between = (finite[1:] + finite[:-1]) / 2
    numbers = np.concatenate([wide, between, np.nextafter(between, np.float32(np.inf)), np.nextafter(between, -np.float32(np.inf)),
                              wide * np.float32(1.03125), wide * np.float32(1.0625), wide * np.float32(1e-3)])
    narrow = program.narrow(numbers, device=device).numpy()
    expected = numbers.astype(kind)
    np.testing.assert_array_equal(narrow.astype(np.float32), expected.astype(np.float32))
    there = ~np.isnan(numbers)  # signs of zeros, too
    np.testing.assert_array_equal(np.signbit(narrow.astype(np.float32))[there & (numbers == 0)],
                                  np.signbit(expected.astype(np.float32))[there & (numbers == 0)])


def test_int4(device):
    x = np.array([[1, -2, 7], [-8, 3, 0]], ml_dtypes.int4)
    tensor = tilewright.asarray(x, device=device)
    assert (tensor.dtype, tensor.shape, tensor.nbytes) == ("i4", (2, 3), 3)
    np.testing.assert_array_equal(tensor.numpy().astype("int8"), x.astype("int8"))
    assert tilewright.asarray(np.zeros((2, 2), "int8"), dtype="i4").nbytes == 2
    with pytest.raises(ValueError, match="2 elements a byte"):
        tilewright.asarray(x, copy=False)


def test_int2(device):
    x = np.array([[1, -2, 0], [-1, 1, -2]], "int8")
    tensor = tilewright.asarray(x, dtype="i2", device=device)
    assert (tensor.dtype, tensor.shape, tensor.nbytes) == ("i2", (2, 3), 2)
    if hasattr(ml_dtypes, "int2"):
        np.testing.assert_array_equal(tensor.numpy().astype("int8"), x)
    np.testing.assert_array_equal(_dtypes.pack(x, "i2"), [0b11001001, 0b1001])
    np.testing.assert_array_equal(_dtypes.unpack(_dtypes.pack(x, "i2"), "i2", x.shape), x)
    with pytest.raises(ValueError, match="4 elements a byte"):
        tilewright.asarray(x, dtype="i2", copy=False)
