// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads and stores.
//
// Vulkan has no pointer casts, so how wide an access is must be in the type of
// the variable. Buffers get one variable per type (all of one binding):
//
//   elements        bytes   variable holds
//   1               1..8    T
//   2, 4            2..16   vec2<T>, vec4<T>         (at most 16 bytes)
//   8, 16           8..16   vec2<u32>, vec4<u32>     (T of 8 or 16 bits)
//
// and an access at element %i is one of chunk %i / elements. Shared memory has
// one variable per array, with the widest chunk (up to 4 elements) that it is
// accessed in; other accesses name a component:
//
//   %x = memref.load %s[%i] : memref<64xf32, #tilewright.shared>
// becomes, where %s is also accessed 16 bytes at a time,
//   %p = spirv.AccessChain %shared0[%i / 4, %i % 4]
//   %x = spirv.Load "Workgroup" %p : f32
//
// A vector whose `alignment` is less than its size (or absent: then that of its
// element) is accessed in pieces of that size. i1 is one byte per element,
// index 64 bits (docs/abi.md).

#include "KernelEmitter.h"
#include "tilewright/Dialect/SharedPlaces.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::spirv_target;

namespace {
/// What the four access ops have in common.
struct Access {
  Value memref;
  ValueRange indices;
  Type type;         // of the value moved
  int64_t alignment; // 0: none given
  Value stored;      // null for loads
};
} // namespace

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{load.getMemRef(), load.getIndices(), load.getType(), 0, {}};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{store.getMemRef(), store.getIndices(),
                  store.getValueToStore().getType(), 0,
                  store.getValueToStore()};
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return Access{load.getBase(),
                  load.getIndices(),
                  load.getType(),
                  static_cast<int64_t>(load.getAlignment().value_or(0)),
                  {}};
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return Access{store.getBase(), store.getIndices(),
                  store.getValueToStore().getType(),
                  static_cast<int64_t>(store.getAlignment().value_or(0)),
                  store.getValueToStore()};
  return std::nullopt;
}

Type KernelEmitter::storageType(Type element) const {
  if (element.isInteger(1))
    return IntegerType::get(target.getContext(), 8);
  if (element.isIndex())
    return IntegerType::get(target.getContext(), 64);
  return registerType(element);
}

FailureOr<AccessShape> KernelEmitter::accessShape(Operation *op,
                                                  const Memory &memory,
                                                  int64_t count,
                                                  int64_t alignment) {
  AccessShape shape;
  shape.storage = storageType(memory.element);
  if (!shape.storage)
    return op->emitOpError("accesses elements of type ")
           << memory.element << ", which SPIR-V kernels cannot hold";
  shape.pointee = shape.storage;
  int64_t bytes = shape.storage.getIntOrFloatBitWidth() / 8;
  int64_t widest = memory.shared ? std::min<int64_t>(4 * bytes, 16) : 16;
  int64_t fit = std::min(alignment, widest) / bytes;
  shape.elements = 1;
  while (shape.elements * 2 <= fit && count % (shape.elements * 2) == 0)
    shape.elements *= 2;
  // A chunked shared array is accessed in its chunks or one by one.
  if (memory.shared && memory.chunk > 1 && shape.elements != memory.chunk)
    shape.elements = 1;
  if (shape.elements > 4)
    shape.pointee = VectorType::get(shape.elements * bytes / 4, b.getI32Type());
  else if (shape.elements > 1)
    shape.pointee = VectorType::get(shape.elements, shape.storage);
  return shape;
}

/// Makes one array, the largest, of those that begin at one place and have elements of one
/// type.
static void shareArrays(func::FuncOp kernel) {
  auto allocs = llvm::to_vector(kernel.getOps<memref::AllocOp>());
  llvm::stable_sort(allocs, [](memref::AllocOp a, memref::AllocOp b) {
    return a.getType().getNumElements() > b.getType().getNumElements();
  });
  DenseMap<std::pair<Attribute, Type>, memref::AllocOp> arrays;
  for (memref::AllocOp alloc : allocs) {
    Attribute place = alloc->getAttr(kSharedPlaceAttr);
    if (!place)
      continue;
    auto [array, isNew] =
        arrays.try_emplace({place, alloc.getType().getElementType()}, alloc);
    if (isNew)
      continue;
    alloc.replaceAllUsesWith(array->second.getResult());
    alloc.erase();
  }
}

/// Finds the shared arrays, and for every memref the types it is accessed in.
LogicalResult KernelEmitter::collectAccesses() {
  shareArrays(kernel);
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      MemRefType type = alloc.getType();
      auto space = dyn_cast_if_present<SharedAttr>(type.getMemorySpace());
      if (!space || !space.getSwizzle().empty() || type.getRank() != 1 ||
          !type.hasStaticShape() || !type.getLayout().isIdentity() ||
          op->getParentOp() != kernel) {
        op->emitOpError("is not thread form: shared memory is one "
                        "memref<Nxf32, #tilewright.shared> at the top of the "
                        "kernel");
        return WalkResult::interrupt();
      }
      Memory &memory = memories[alloc.getResult()];
      memory.element = type.getElementType();
      memory.shared = true;
      memory.size = type.getNumElements();
      if (!storageType(memory.element)) {
        op->emitOpError("has elements of type ")
            << memory.element << ", which SPIR-V kernels cannot hold";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    }
    if (isa<LoadFragmentOp, StoreFragmentOp>(op)) {
      auto load = dyn_cast<LoadFragmentOp>(op);
      auto *found = memories.find(
          load ? load.getBase() : cast<StoreFragmentOp>(op).getBase());
      if (found == memories.end()) {
        op->emitOpError("accesses a memref that is neither an argument of rank 1 "
                        "nor shared memory");
        return WalkResult::interrupt();
      }
      // Shared memory in chunks, where other accesses ask for them.
      Memory &memory = found->second;
      (load ? memory.read : memory.written) = true;
      if (!memory.shared || memory.variables.empty())
        memory.variables.insert({storageType(memory.element), Value()});
      return WalkResult::advance();
    }
    std::optional<Access> access = getAccess(op);
    if (!access)
      return WalkResult::advance();
    auto *found = memories.find(access->memref);
    if (found == memories.end() || access->indices.size() != 1) {
      op->emitOpError(
          "is not thread form: it accesses a memref that is neither "
          "an argument of rank 1 nor shared memory");
      return WalkResult::interrupt();
    }
    Memory &memory = found->second;
    // The widest chunk of a shared array is not known before the end.
    int64_t chunk = std::exchange(memory.chunk, 1);
    FailureOr<AccessShape> shape =
        accessShape(op, memory, numElements(access->type), access->alignment);
    memory.chunk = chunk;
    if (failed(shape))
      return WalkResult::interrupt();
    (access->stored ? memory.written : memory.read) = true;
    if (memory.shared) {
      memory.chunk = std::max(memory.chunk, shape->elements);
      memory.variables.clear();
      memory.variables.insert(
          {memory.chunk > 1
               ? Type(VectorType::get(memory.chunk, shape->storage))
               : shape->storage,
           Value()});
    } else {
      memory.variables.insert({shape->pointee, Value()});
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The value of an integer constant.
static std::optional<int64_t> constantIndex(Value value) {
  auto op = value.getDefiningOp<spirv::ConstantOp>();
  auto number = op ? dyn_cast<IntegerAttr>(op.getValue()) : IntegerAttr();
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// The terms of a sum, in order; a few levels deep.
static void collectTerms(Value value, SmallVectorImpl<Value> &terms,
                         int depth = 4) {
  auto sum = value.getDefiningOp<spirv::IAddOp>();
  if (!sum || depth == 0) {
    terms.push_back(value);
    return;
  }
  collectTerms(sum.getOperand1(), terms, depth - 1);
  collectTerms(sum.getOperand2(), terms, depth - 1);
}

/// `term / by` where the text shows that nothing remains, else null.
Value KernelEmitter::exactQuotient(Value term, int64_t by) {
  Type type = term.getType();
  if (std::optional<int64_t> number = constantIndex(term))
    return *number % by ? Value() : constant(type, *number / by);
  auto product = term.getDefiningOp<spirv::IMulOp>();
  if (!product)
    return {};
  Value factor = product.getOperand1(), scale = product.getOperand2();
  if (constantIndex(factor))
    std::swap(factor, scale);
  std::optional<int64_t> number = constantIndex(scale);
  if (!number || *number % by)
    return {};
  return *number == by
             ? factor
             : make<spirv::IMulOp>(factor, constant(type, *number / by));
}

/// `index / by` of an index that is a multiple of `by`, a power of two.
/// Constant offsets stay constant, so that drivers can put them into the
/// instruction:
///
///   (%x + 64) / 4             ->  %x / 4 + 16      (%x is a multiple as well)
///   select(%c, %x + 64, 0)/4  ->  select(%c, %x / 4 + 16, 0)
Value KernelEmitter::divideIndex(Value index, int64_t by, int depth) {
  if (by == 1)
    return index;
  if (Value quotient = exactQuotient(index, by))
    return quotient;
  auto choice = index.getDefiningOp<spirv::SelectOp>();
  if (choice && depth > 0) // an edge's mask
    return select(choice.getCondition(),
                  divideIndex(choice.getTrueValue(), by, depth - 1),
                  divideIndex(choice.getFalseValue(), by, depth - 1));
  SmallVector<Value> terms;
  collectTerms(index, terms);
  Type type = index.getType();
  int64_t offset = 0; // comes last: what is before it is shared
  Value quotients, rest;
  auto add = [&](Value &sum, Value term) {
    sum = sum ? make<spirv::IAddOp>(sum, term) : term;
  };
  for (Value term : terms) {
    std::optional<int64_t> number = constantIndex(term);
    if (number && *number % by == 0)
      offset += *number / by;
    else if (Value quotient = exactQuotient(term, by))
      add(quotients, quotient);
    else
      add(rest, term);
  }
  if (rest) {
    if (!quotients && !offset)
      rest = index;
    // Of any sign, for what was taken away.
    add(quotients, make<spirv::ShiftRightArithmeticOp>(
                       rest, constant(type, llvm::Log2_64(by))));
  }
  if (offset)
    add(quotients, constant(type, offset));
  return quotients ? quotients : constant(type, 0);
}

/// Points at the element `index + offset`, or the chunk that begins there.
Value KernelEmitter::pointer(Memory &memory, const AccessShape &shape,
                             Value index, int64_t offset) {
  Type type = indexType();
  auto plus = [&](Value value, int64_t addend) {
    return addend ? make<spirv::IAddOp>(value, constant(type, addend)) : value;
  };
  if (!memory.shared) {
    Value chunk =
        plus(divideIndex(index, shape.elements), offset / shape.elements);
    Value address = memory.variables.lookup(shape.pointee);
    return make<spirv::AccessChainOp>(
        address, ValueRange{constant(b.getI32Type(), 0), chunk});
  }
  Value address = memory.variables.front().second;
  if (memory.chunk == 1 || shape.elements == memory.chunk)
    return make<spirv::AccessChainOp>(
        address, ValueRange(plus(divideIndex(index, shape.elements),
                                 offset / shape.elements)));
  Value element = plus(index, offset);
  Value component =
      make<spirv::BitwiseAndOp>(element, constant(type, memory.chunk - 1));
  Value chunk = make<spirv::ShiftRightLogicalOp>(
      element, constant(type, llvm::Log2_64(memory.chunk)));
  return make<spirv::AccessChainOp>(address, ValueRange{chunk, component});
}

Parts KernelEmitter::fromStorage(Value loaded, const AccessShape &shape,
                                 Type element) {
  Parts list;
  if (auto vector = dyn_cast<VectorType>(loaded.getType()))
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      list.push_back(extract(loaded, i));
  else
    list.push_back(loaded);
  if (list.front().getType() != shape.storage)
    list = fromWords(list, shape.storage);
  for (Value &value : list) {
    if (element.isInteger(1))
      value = make<spirv::INotEqualOp>(value, constant(shape.storage, 0));
    else if (element.isIndex())
      value = convertInteger(value, indexType(), /*isSigned=*/true);
  }
  return list;
}

Value KernelEmitter::toStorage(ArrayRef<Value> elements,
                               const AccessShape &shape, Type element) {
  Parts list(elements);
  for (Value &value : list) {
    if (element.isInteger(1))
      value =
          select(value, constant(shape.storage, 1), constant(shape.storage, 0));
    else if (element.isIndex())
      value = convertInteger(value, shape.storage, /*isSigned=*/true);
  }
  auto vector = dyn_cast<VectorType>(shape.pointee);
  if (!vector)
    return list.front();
  if (vector.getElementType() != shape.storage)
    list = toWords(list);
  return construct(vector, list);
}

Outcome KernelEmitter::emitMemory(Operation *op) {
  if (isa<memref::AllocOp>(op))
    return Outcome::Done; // seen by collectAccesses
  std::optional<Access> access = getAccess(op);
  if (!access)
    return Outcome::Unknown;
  Memory &memory = memories.find(access->memref)->second;
  int64_t count = numElements(access->type);
  FailureOr<AccessShape> shape =
      accessShape(op, memory, count, access->alignment);
  SmallVector<Type> types;
  if (failed(shape) || failed(appendPartTypes(op, access->type, types)))
    return Outcome::Failed;
  Value index = part(access->indices.front());
  Parts moved = access->stored ? parts(access->stored) : Parts();
  for (int64_t offset = 0; offset < count; offset += shape->elements) {
    Value place = pointer(memory, *shape, index, offset);
    if (access->stored) {
      Value value = toStorage(ArrayRef(moved).slice(offset, shape->elements),
                              *shape, memory.element);
      spirv::StoreOp::create(b, loc, place, value);
    } else {
      moved.append(
          fromStorage(make<spirv::LoadOp>(place), *shape, memory.element));
    }
  }
  if (!access->stored)
    setParts(op->getResult(0), moved);
  return Outcome::Done;
}
