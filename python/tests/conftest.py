# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that the tests share, compiled once, and the devices they run on."""

import ctypes
import os

import pytest
import tilewright

ADD = """
func.func @add(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %r = linalg.add ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
"""

MANY = """
#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @scale(%x: tensor<?xf32>, %by: f32, %count: i32) -> (tensor<?xf32>, f32, i32) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
       ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.mulf %a, %by : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  %one = arith.constant 1 : i32
  %next = arith.addi %count, %one : i32
  %twice = arith.addf %by, %by : f32
  return %r, %twice, %next : tensor<?xf32>, f32, i32
}
func.func @increment(%data: memref<?xi32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%data : memref<?xi32>) {
    ^bb0(%o: i32):
      %one = arith.constant 1 : i32
      %s = arith.addi %o, %one : i32
      linalg.yield %s : i32
  }
  return
}
func.func @halve(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<4xbf16>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
       ins(%x : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
    ^bb0(%a: bf16, %o: bf16):
      %half = arith.constant 0.5 : bf16
      %s = arith.mulf %a, %half : bf16
      linalg.yield %s : bf16
  } -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}
func.func @choose(%mask: tensor<?xi1>, %x: tensor<?xi8>) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xi8>
  %e = tensor.empty(%m) : tensor<?xi8>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
       ins(%mask, %x : tensor<?xi1>, tensor<?xi8>) outs(%e : tensor<?xi8>) {
    ^bb0(%b: i1, %a: i8, %o: i8):
      %zero = arith.constant 0 : i8
      %s = arith.select %b, %a, %zero : i8
      linalg.yield %s : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
}
"""

TARGETS = ["cuda:sm_80", "vulkan", "cpu"]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """What the compiler of this build makes, and no other."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture(scope="session")
def add(own_cache):
    return tilewright.compile(ADD, target=TARGETS)


@pytest.fixture(scope="session")
def many(own_cache):
    return tilewright.compile(MANY, target=TARGETS)


ROWS = """
func.func @rows(%i: tensor<?xi32>, %table: tensor<5x3xf32>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %five = arith.constant 5 : i32
  %zero = arith.constant 0 : i32
  %n = tensor.dim %i, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
       ins(%i : tensor<?xi32>) outs(%e : tensor<?x3xf32>) {
    ^bb0(%a: i32, %o: f32):
      %low = arith.cmpi sge, %a, %zero : i32
      cf.assert %low, "the row is negative"
      %high = arith.cmpi slt, %a, %five : i32
      cf.assert %high, "there is no such row"
      %at = arith.index_cast %a : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %table[%at, %j] : tensor<5x3xf32>
      linalg.yield %v : f32
  } -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
"""


@pytest.fixture(scope="session")
def rows(own_cache):
    return tilewright.compile(ROWS, target=TARGETS)


@pytest.fixture(params=["cpu", "vulkan", "ptxsim"])
def device(request):
    """Every kind of device; the three are on any machine that builds this."""
    return tilewright.device(request.param)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Versioned))
_Versioned._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                       ("deleter", DELETER), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


class Producer:
    """A DLPack producer by hand: any device, any address; counts what happens to it."""

    def __init__(self, address, shape, place, code=2, bits=32, strides=None, flags=0, lanes=1):
        self.place, self.deleted, self.streams = place, 0, []
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(shape))(*strides)
        self._deleter = DELETER(self._delete)
        self.managed = _Versioned(1, 0, None, self._deleter, flags, _Tensor(
            address, *place, len(shape), code, bits, lanes, self._shape, self._strides, 0))

    def _delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)
