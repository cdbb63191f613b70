// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DLPack tensors; see dlpack.h.

#include "core/dlpack.h"

#include "core/checked.h"

#include <cstdlib>

namespace tilewright::runtime {

namespace {

struct DtypeRow {
  tw_dtype dtype;
  DLDataTypeCode code;
  uint8_t bits;
};
// The first row of a tw_dtype is what it is exported as.
constexpr DtypeRow kDtypes[] = {
    {TW_F64, kDLFloat, 64},
    {TW_F32, kDLFloat, 32},
    {TW_F16, kDLFloat, 16},
    {TW_BF16, kDLBfloat, 16},
    {TW_F8E4M3FN, kDLFloat8_e4m3fn, 8},
    {TW_F8E5M2, kDLFloat8_e5m2, 8},
    {TW_F8E4M3FNUZ, kDLFloat8_e4m3fnuz, 8},
    {TW_F8E5M2FNUZ, kDLFloat8_e5m2fnuz, 8},
    {TW_I64, kDLInt, 64},
    {TW_I32, kDLInt, 32},
    {TW_I16, kDLInt, 16},
    {TW_I8, kDLInt, 8},
    {TW_I4, kDLInt, 4},
    {TW_I2, kDLInt, 2},
    {TW_I1, kDLBool, 8},
    {TW_I64, kDLUInt, 64},
    {TW_I32, kDLUInt, 32},
    {TW_I16, kDLUInt, 16},
    {TW_I8, kDLUInt, 8},
    {TW_I4, kDLUInt, 4},
    {TW_I2, kDLUInt, 2},
    {TW_INDEX, kDLInt, 64},
};

Status elementType(const DLDataType &type, uint64_t flags, int32_t wanted,
                   tw_dtype &result) {
  std::string text = "elements of DLPack type (" + std::to_string(type.code) +
                     ", " + std::to_string(type.bits) + " bits, " +
                     std::to_string(type.lanes) + " lanes)";
  if (type.lanes != 1)
    return unsupported(text + "; expected 1 lane");
  const DtypeRow *found = nullptr;
  for (const DtypeRow &row : kDtypes)
    if (!found && row.code == type.code && row.bits == type.bits)
      found = &row;
  if (!found)
    return unsupported(text + "; expected one of " + dtypeList());
  if (type.bits % 8 && (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED))
    return unsupported(text + ", a byte for each; expected two in a byte");
  result = found->dtype;
  if (wanted == 0 || wanted == result)
    return Status::ok();
  if (!isValidDtype(wanted))
    return invalidArgument("element type " + std::to_string(wanted) +
                           " is unknown; expected one of " + dtypeList());
  if (dtypeBits(static_cast<tw_dtype>(wanted)) != dtypeBits(result))
    return invalidArgument(text + " cannot be seen as " + dtypeName(wanted) +
                           ", which has another size");
  result = static_cast<tw_dtype>(wanted);
  return Status::ok();
}

const char *deviceTypeName(int32_t type) {
  switch (type) {
  case kDLCPU:
    return "kDLCPU";
  case kDLCUDA:
    return "kDLCUDA";
  case kDLCUDAHost:
    return "kDLCUDAHost";
  case kDLVulkan:
    return "kDLVulkan";
  case kDLExtDev:
    return "kDLExtDev";
  case kDLCUDAManaged:
    return "kDLCUDAManaged";
  case kDLROCM:
    return "kDLROCM";
  case kDLMetal:
    return "kDLMetal";
  default:
    return "device type";
  }
}

Status checkDevice(const Device &device, const DLDevice &theirs) {
  DLDevice own = dlpackDevice(device);
  bool fits = theirs.device_type == own.device_type &&
              theirs.device_id == own.device_id;
  if (own.device_type == kDLCPU)
    fits |= theirs.device_type == kDLCUDAHost;
  if (own.device_type == kDLCUDA || own.device_type == kDLExtDev)
    fits |= theirs.device_type == kDLCUDAHost ||
            theirs.device_type == kDLCUDAManaged;
  // The simulator's memory is asked about: the driver knows it, or does not.
  if (own.device_type == kDLExtDev)
    fits |= theirs.device_type == kDLCUDA && theirs.device_id == 0;
  if (fits)
    return Status::ok();
  auto text = [](const DLDevice &d) {
    return std::string(deviceTypeName(d.device_type)) + " " +
           (deviceTypeName(d.device_type)[0] == 'k'
                ? ""
                : std::to_string(d.device_type) + ", number ") +
           std::to_string(d.device_id);
  };
  return invalidArgument("the tensor is on " + text(theirs) + "; " +
                         device.info().name + " takes " + text(own));
}

/// Dims and strides as ours; `span` becomes the bytes from element 0 to the end
/// of the last one.
Status layoutOf(const DLTensor &tensor, tw_dtype dtype,
                std::vector<int64_t> &dims, std::vector<int64_t> &strides,
                int64_t &span) {
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank)
    return invalidArgument("rank " + std::to_string(tensor.ndim) +
                           " is out of range; expected 0 to " +
                           std::to_string(kMaxRank));
  if (tensor.ndim && !tensor.shape)
    return invalidArgument("the tensor has no shape");
  dims.assign(tensor.shape, tensor.shape + tensor.ndim);
  int64_t elements, bytes;
  if (Status s = denseSize(dims, dtype, elements, bytes))
    return s;
  strides.resize(dims.size());
  int64_t row = 1, last = 0;
  for (size_t d = dims.size(); d-- > 0;) {
    // Strides of dims of one element say nothing, and are anything.
    bool given = tensor.strides && dims[d] > 1;
    strides[d] = given ? tensor.strides[d] : row;
    row *= dims[d] ? dims[d] : 1;
    if (strides[d] < 0 && elements)
      return unsupported("stride " + std::to_string(d) + " is " +
                         std::to_string(strides[d]) +
                         "; expected none negative: copy the tensor first");
    int64_t reach;
    if (elements && (!checkedMul(dims[d] - 1, strides[d], reach) ||
                     !checkedAdd(last, reach, last)))
      return invalidArgument("its strides reach beyond 2^63 elements");
  }
  if (!elements) {
    span = 0;
    strides.assign(strides.size(), 0);
  } else if (!checkedAdd(last, 1, last) ||
             !checkedMul(last, dtypeBytes(dtype), span)) {
    return invalidArgument("its strides reach beyond 2^63 bytes");
  }
  if (elements && elementsPerByte(dtype) > 1)
    span = tensorBytes(last, dtype);
  return Status::ok();
}

} // namespace

DLDevice dlpackDevice(const Device &device) {
  const std::string &name = device.info().name;
  size_t colon = name.find(':');
  int32_t number =
      colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
  if (device.driverName() == "cpu")
    return {kDLCPU, 0};
  if (device.driverName() == "vulkan")
    return {kDLVulkan, number};
  // Simulated memory must not be taken for a GPU's, which may be here as well.
  if (device.fact("simulator"))
    return {kDLExtDev, number};
  return {kDLCUDA, number};
}

Status viewOfDlpack(Device &device, const DLTensor &tensor, uint64_t flags,
                    int32_t dtype, View &result) {
  if (Status s = checkDevice(device, tensor.device))
    return s;
  tw_dtype type;
  if (Status s = elementType(tensor.dtype, flags, dtype, type))
    return s;
  std::vector<int64_t> dims, strides;
  int64_t span;
  if (Status s = layoutOf(tensor, type, dims, strides, span))
    return s;
  bool readOnly = flags & DLPACK_FLAG_BITMASK_READ_ONLY;
  std::shared_ptr<Buffer> buffer;
  if (span == 0) {
    // Empty tensors may lie at null; they get memory of ours.
    if (Status s = device.allocate(0, nullptr, buffer))
      return s;
    return makeView(std::move(buffer), 0, type, std::move(dims), result);
  }
  auto data = reinterpret_cast<uintptr_t>(tensor.data);
  if (!data)
    return invalidArgument("the tensor's data is null");
  uint64_t begin = tensor.byte_offset;
  if (begin + uint64_t(span) < begin)
    return invalidArgument("its byte offset reaches beyond the last address");
  bool hasAddress = tensor.device.device_type != kDLVulkan;
  uint64_t first = hasAddress ? data + begin : begin;
  if (first % dtypeBytes(type))
    return unsupported("element 0 is not aligned to the " +
                       std::to_string(dtypeBytes(type)) +
                       " bytes of an element: copy the tensor first");
  if (Status s = device.importBuffer(
          hasAddress ? first : data,
          hasAddress ? uint64_t(span) : begin + uint64_t(span), readOnly,
          buffer))
    return s;
  return makeStridedView(std::move(buffer), hasAddress ? 0 : begin, type,
                         std::move(dims), std::move(strides), result);
}

Status describeAsDlpack(const View &view, std::vector<int64_t> &dims,
                        std::vector<int64_t> &strides, DLTensor &tensor,
                        uint64_t &flags) {
  const DtypeRow *row = kDtypes;
  while (row->dtype != view.dtype)
    ++row; // every dtype has one
  dims = view.dims;
  strides.resize(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    strides[d] = view.stride(d);
  DriverBuffer &memory = view.buffer->driver();
  bool hasAddress = memory.address() != 0;
  uint64_t place = memory.native() + (hasAddress ? view.offset : 0);
  tensor = {};
  tensor.data = view.elements ? reinterpret_cast<void *>(place) : nullptr;
  tensor.byte_offset =
      hasAddress || !view.elements ? 0 : memory.nativeOffset() + view.offset;
  tensor.device = dlpackDevice(*view.buffer->device());
  tensor.dtype = {static_cast<uint8_t>(row->code), row->bits, 1};
  tensor.ndim = static_cast<int32_t>(dims.size());
  tensor.shape = dims.data();
  tensor.strides = strides.data();
  flags = view.buffer->isReadOnly() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return Status::ok();
}

} // namespace tilewright::runtime
