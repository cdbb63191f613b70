// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The binary interface of DLPack 1.3 (https://dmlc.github.io/dlpack): the
// layout of its structures and the numbers that the runtime uses. The names are
// DLPack's, because the C API mentions them; a file includes this or dlpack.h,
// not both.
#ifndef TILEWRIGHT_CORE_DLPACK_ABI_H
#define TILEWRIGHT_CORE_DLPACK_ABI_H

#include <cstddef>
#include <cstdint>

constexpr uint32_t DLPACK_MAJOR_VERSION = 1;
constexpr uint32_t DLPACK_MINOR_VERSION = 3;

/// Bits of DLManagedTensorVersioned::flags.
constexpr uint64_t DLPACK_FLAG_BITMASK_READ_ONLY = 1;
constexpr uint64_t DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED = 4;

enum DLDeviceType : int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLROCM = 10,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
};

/// What DLDataType::code holds.
enum DLDataTypeCode : unsigned {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLComplex = 5,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e4m3fnuz = 11,
  kDLFloat8_e5m2 = 12,
  kDLFloat8_e5m2fnuz = 13,
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/// Sizes and strides are in elements; the first element is `byte_offset` bytes
/// behind `data`.
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
};

/// Before version 1.0. Whoever takes it calls `deleter`, unless that is null.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *);
};

/// Since version 1.0. All before `dl_tensor` stays as it is in every version.
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(void *) != 8 ||
                  (sizeof(DLTensor) == 48 && offsetof(DLTensor, dtype) == 20 &&
                   offsetof(DLTensor, byte_offset) == 40 &&
                   sizeof(DLManagedTensor) == 64 &&
                   offsetof(DLManagedTensorVersioned, dl_tensor) == 32),
              "the layout of DLPack");

#endif // TILEWRIGHT_CORE_DLPACK_ABI_H
