// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One dispatch from operands to the driver: everything the manifest promises to
// the kernel is checked here, before anything is enqueued.
//
//   operands   count, element type, rank, static dims, alignment, overlap
//   checks     pairs of expressions that must be equal
//   guards     the first variant whose guard is non-zero
//   grid       three expressions; zero anywhere launches nothing
//   params     buffers, then scalars that must fit their type, tensor maps of operands

#include "core/program.h"

#include "core/checked.h"
#include "core/few.h"

#include <algorithm>
#include <cstring>

namespace tilewright::runtime {

namespace {

constexpr uint64_t kBufferAlignment = 16;
/// The most that Vulkan lets a device ask for.
constexpr uint64_t kBindingAlignment = 256;

std::string number(int64_t value) { return std::to_string(value); }

Status checkOperands(const DispatchDesc &dispatch, const View *const *views,
                     size_t numViews, size_t numScalars) {
  if (numViews != dispatch.operands.size())
    return invalidArgument("takes " + number(dispatch.operands.size()) +
                           " tensors; got " + number(numViews));
  if (numScalars != dispatch.scalars.size())
    return invalidArgument("takes " + number(dispatch.scalars.size()) +
                           " scalars; got " + number(numScalars));
  for (size_t i = 0; i < numViews; ++i) {
    const OperandDesc &operand = dispatch.operands[i];
    if (!views[i] || !views[i]->buffer)
      return invalidArgument("operand " + number(i) + " is null");
    const View &view = *views[i];
    if (view.dtype != operand.dtype || view.dims != operand.shape ||
        !view.isDense() || operand.isView)
      if (Status s = checkViewType(view, operand.dtype, operand.shape,
                                   operand.strides, "operand " + number(i)))
        return s;
    if (!operand.isView && view.bytes && view.address() % kBufferAlignment)
      return invalidArgument(
          "operand " + number(i) + " starts " +
          number(view.address() % kBufferAlignment) +
          " bytes behind a multiple of 16; expected 16-byte alignment");
    if (!operand.written)
      continue;
    for (size_t j = 0; j < numViews; ++j)
      if (j != i && views[j] && views[j]->buffer && view.overlaps(*views[j]))
        return invalidArgument("operand " + number(i) +
                               ", which is written, overlaps operand " +
                               number(j) + "; expected memory of its own");
  }
  return Status::ok();
}

// True if a parameter of this type can hold the value.
bool scalarFits(tw_dtype dtype, int64_t value) {
  if (isFloatDtype(dtype))
    return true; // bits
  if (dtype == TW_I1)
    return value == 0 || value == 1;
  uint32_t bits = dtypeBits(dtype);
  if (bits == 64)
    return true;
  int64_t bound = int64_t(1) << (bits - 1);
  return value >= -bound && value < bound;
}

// Scalars as slots and packed at natural alignment.
struct ScalarBlock {
  std::vector<uint64_t> slots;
  std::vector<uint8_t> packed;

  void add(tw_dtype dtype, int64_t value) {
    slots.push_back(static_cast<uint64_t>(value));
    size_t size = dtypeBytes(dtype);
    size_t at = (packed.size() + size - 1) / size * size;
    packed.resize(at + size);
    std::memcpy(packed.data() + at, &value, size); // little-endian
  }
};

/// A tensor map of images, of which all is known at a launch.
Status tellSizes(const ParamDesc &param, const ExpressionValues &values,
                 TensorMapParam &result) {
  result = *param.tensorMap;
  size_t next = 0;
  for (std::vector<int64_t> *sizes : {&result.image->dims, &result.image->strides})
    for (int64_t &size : *sizes)
      if (size == kOpen)
        if (Status s = param.imageSizes[next++].evaluate(values, size))
          return s;
  return Status::ok();
}

/// The tensor map of an operand as one structure; zeros for one without elements, of
/// which nothing is copied.
Status addTensorMap(const View &view, const ParamDesc &param, const ExpressionValues &values,
                    Device &device, ScalarBlock &scalars) {
  TensorMapBytes bytes = {};
  TensorMapDesc desc;
  if (view.elements) {
    TensorMapParam told;
    if (!param.imageSizes.empty())
      if (Status s = tellSizes(param, values, told))
        return s;
    if (Status s = describeTensorMap(
            view, param.imageSizes.empty() ? *param.tensorMap : told, desc))
      return s;
    if (Status s = device.tensorMaps().get(
            desc,
            [&](const TensorMapDesc &wanted, TensorMapBytes &encoded) {
              return device.driver().encodeTensorMap(wanted, encoded);
            },
            bytes))
      return s;
  }
  for (size_t slot = 0; slot < kTensorMapSlots; ++slot) {
    int64_t word;
    std::memcpy(&word, bytes.data() + 8 * slot, 8);
    scalars.add(TW_I64, word);
  }
  return Status::ok();
}

/// Elements from what the kernel gets to element 0. Devices want bindings that
/// begin at multiples of 256 bytes; a dense operand begins where it begins.
int64_t leadingElements(const View &view, const OperandDesc &operand) {
  if (!operand.isView || !view.bytes)
    return 0;
  uint64_t behind = view.address() % kBindingAlignment;
  return int64_t(std::min(behind, view.offset) / dtypeBytes(view.dtype));
}

BufferBinding bind(const View &view, bool written, int64_t leading) {
  Buffer &buffer = *view.buffer;
  BufferBinding binding;
  binding.buffer = &buffer.driver();
  binding.written = written;
  // An empty tensor may stand at the very end of its buffer; no kernel touches
  // it, but drivers want a range.
  uint64_t skipped = uint64_t(leading) * dtypeBytes(view.dtype);
  binding.offset = view.bytes ? view.offset - skipped : 0;
  uint64_t rounded = (uint64_t(view.bytes) + skipped + 15) / 16 * 16;
  binding.size = std::min<uint64_t>(std::max<uint64_t>(rounded, 16),
                                    buffer.capacity() - binding.offset);
  return binding;
}

Status evaluateChecks(const DispatchDesc &desc, const ExpressionValues &values) {
  for (const CheckDesc &check : desc.checks) {
    int64_t left, right;
    if (Status s = check.left.evaluate(values, left))
      return std::move(s).in(check.message);
    if (Status s = check.right.evaluate(values, right))
      return std::move(s).in(check.message);
    if (left != right)
      return programError(check.message + " (" + number(left) + " vs " +
                          number(right) + ")");
  }
  return Status::ok();
}

/// `empty`: there are no blocks, so nothing to launch.
Status evaluateGrid(const VariantDesc &variant, const ExpressionValues &values,
                    const LaunchLimits &limits, const std::string &device,
                    Extent3 &grid, bool &empty) {
  int64_t blocks = 1;
  empty = false;
  for (int d = 0; d < 3; ++d) {
    int64_t extent;
    std::string where = std::string("grid ") + "xyz"[d];
    if (Status s = variant.grid[d].evaluate(values, extent))
      return std::move(s).in(where);
    if (extent < 0 || extent > limits.grid[d])
      return unsupported(where + " is " + number(extent) + "; " + device +
                         " launches 0 to " + number(limits.grid[d]));
    empty |= extent == 0;
    if (extent % variant.cluster[d])
      return internalError(where + " is " + number(extent) +
                           ", no multiple of the cluster's " +
                           number(variant.cluster[d]));
    grid[d] = static_cast<uint32_t>(extent);
    if (!empty && !checkedMul(blocks, extent, blocks))
      return unsupported("the grid has more than 2^63 blocks");
  }
  return Status::ok();
}

/// What a kernel is given, in the order of its parameters.
struct Arguments {
  /// Of at most so many parameters.
  explicit Arguments(size_t params) : bindings(params), touched(params) {}
  Few<BufferBinding> bindings;
  Few<Buffer *> touched;
  size_t numBuffers = 0;
  ScalarBlock scalars;

  Status bindParameters(const DispatchDesc &desc, const VariantDesc &variant,
                        const View *const *views,
                        const ExpressionValues &values,
                        const LaunchLimits &limits, Device &device);
  /// Pointers into this.
  void setIn(LaunchArgs &args) const {
    args.buffers = bindings.data();
    args.numBuffers = numBuffers;
    args.scalars = scalars.slots.data();
    args.numScalars = scalars.slots.size();
    args.packedScalars = scalars.packed.data();
    args.packedSize = scalars.packed.size();
  }
};

Status Arguments::bindParameters(const DispatchDesc &desc,
                                 const VariantDesc &variant,
                                 const View *const *views,
                                 const ExpressionValues &values,
                                 const LaunchLimits &limits,
                                 Device &device) {
  for (size_t i = 0; i < variant.params.size(); ++i) {
    const ParamDesc &param = variant.params[i];
    if (param.isBuffer) {
      const View &view = *views[param.operand];
      BufferBinding &binding = bindings[numBuffers];
      binding = bind(view, desc.operands[param.operand].written,
                     values.operands[param.operand].offset);
      touched[numBuffers++] = view.buffer.get();
      if (limits.binding && binding.size > uint64_t(limits.binding))
        return unsupported("operand " + number(param.operand) + " has " +
                           number(binding.size) + " bytes; " +
                           device.info().name + " binds up to " + number(limits.binding));
      continue;
    }
    std::string where = "parameter " + number(i);
    if (param.tensorMap) {
      if (Status s = addTensorMap(*views[param.operand], param, values, device, scalars))
        return std::move(s).in(where + ", the tensor map of operand " +
                               number(param.operand));
      continue;
    }
    int64_t value;
    if (Status s = param.value.evaluate(values, value))
      return std::move(s).in(where);
    if (!scalarFits(param.scalarType, value))
      return unsupported(where + " is " + number(value) +
                         ", which does not fit " + dtypeName(param.scalarType));
    scalars.add(param.scalarType, value);
  }
  return Status::ok();
}

} // namespace

int64_t normaliseScalar(tw_dtype dtype, uint64_t bits) {
  if (dtype == TW_I1)
    return bits & 1;
  uint32_t width = dtypeBits(dtype);
  if (width == 64)
    return static_cast<int64_t>(bits);
  uint64_t shifted = bits << (64 - width);
  if (isFloatDtype(dtype))
    return static_cast<int64_t>(shifted >> (64 - width));
  return static_cast<int64_t>(shifted) >> (64 - width);
}

Status Program::chooseVariant(size_t dispatch, const ExpressionValues &values,
                              size_t &variant) const {
  const DispatchDesc &desc = program.dispatches[dispatch];
  for (size_t i = 0; i < desc.variants.size(); ++i) {
    if (places[dispatch][i].slot < 0)
      continue;
    int64_t guard;
    if (Status s = desc.variants[i].guard.evaluate(values, guard))
      return std::move(s).in("guard of variant '" + desc.variants[i].name +
                             "'");
    if (guard) {
      variant = i;
      return Status::ok();
    }
  }
  std::string message = "no variant serves these operands:";
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    const ExpressionOperand &operand = values.operands[i];
    message += (i ? ", " : " ") +
               shapeText(std::vector<int64_t>(operand.dims,
                                              operand.dims + operand.rank),
                         desc.operands[i].dtype);
  }
  for (size_t i = 0; i < desc.variants.size(); ++i)
    message += "; '" + desc.variants[i].name + "' wants " +
               desc.variants[i].guard.text();
  return unsupported(message);
}

Status Program::launch(size_t dispatch, Stream &stream,
                       const View *const *views, size_t numViews,
                       const uint64_t *scalars, size_t numScalars) {
  if (dispatch >= program.dispatches.size())
    return notFound("dispatch " + number(dispatch) + " of " +
                    number(program.dispatches.size()));
  const DispatchDesc &desc = program.dispatches[dispatch];
  TraceSlice slice(*owner, "launch", desc.name);
  auto failed = [&](Status s) {
    return std::move(s).in("dispatch '" + desc.name + "'");
  };
  if (stream.device() != owner)
    return failed(ofTwoDevices("the stream", *stream.device(), "the program", *owner));
  if (Status s = checkOperands(desc, views, numViews, numScalars))
    return failed(std::move(s));
  if (Status s = owner->lost())
    return failed(std::move(s));

  Few<ExpressionOperand> operands(numViews);
  for (size_t i = 0; i < numViews; ++i)
    operands[i] = describe(*views[i],
                           leadingElements(*views[i], desc.operands[i]));
  Few<int64_t> scalarValues(numScalars);
  for (size_t i = 0; i < numScalars; ++i)
    scalarValues[i] = normaliseScalar(desc.scalars[i], scalars[i]);
  ExpressionValues values{operands.data(), scalarValues.data()};

  if (Status s = evaluateChecks(desc, values))
    return failed(std::move(s));
  size_t chosen;
  if (Status s = chooseVariant(dispatch, values, chosen))
    return failed(std::move(s));
  const VariantDesc &variant = desc.variants[chosen];
  VariantPlace place = places[dispatch][chosen];
  auto failedVariant = [&](Status s) {
    return failed(std::move(s).in("variant '" + variant.name + "'"));
  };

  LaunchArgs args;
  bool empty;
  const std::string &device = owner->info().name;
  if (Status s = evaluateGrid(variant, values, limits, device, args.grid, empty))
    return failedVariant(std::move(s));
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (traceSink)
      traceSink(desc.name + " variant " + variant.name + " grid " +
                number(args.grid[0]) + "x" + number(args.grid[1]) + "x" +
                number(args.grid[2]));
  }
  TraceArguments traced;
  if (slice) {
    uint32_t grid[3] = {args.grid[0], args.grid[1], args.grid[2]};
    traced.add("variant", variant.name);
    traced.add("grid", grid);
    slice.add("variant", variant.name);
    slice.add("grid", grid);
  }
  if (empty)
    return Status::ok();

  Arguments arguments(variant.params.size());
  if (Status s = arguments.bindParameters(desc, variant, views, values, limits, *owner))
    return failedVariant(std::move(s));
  arguments.setIn(args);
  ModuleSlot &slot = *slots[place.slot];
  if (Status s = requireModule(slot))
    return failedVariant(std::move(s));
  noteStream(stream);
  if (Status s = stream.launch(*slot.module, place.kernel, args,
                               arguments.touched.data(), arguments.numBuffers,
                               desc.name, &traced))
    return failedVariant(std::move(s));
  return Status::ok();
}

} // namespace tilewright::runtime
