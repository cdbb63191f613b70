// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of wmma.
//
//   wmma.load.a|b|c.sync.aligned.layout.shape{.space}.type r, [p] {, stride}
//   wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r {, stride}
//   wmma.mma{.xor|.and .popc}.sync.aligned.layoutA.layoutB.shape{.rnd}.types{.satfinite} d, a, b, c
//       types: D and C where A and B are f16, else D, A, B, C

#include "arithmetic/Families.h"
#include "decode/Decoder.h"
#include "matrix/DecodeMatrix.h"

#include <algorithm>

namespace tilewright::ptxsim {
namespace {

using E = MatrixElement;

struct Form {
  E inputs;
  unsigned m, n, k, ptxVersion, computeCapability;
};

constexpr Form forms[] = {
    {E::F16, 16, 16, 16, 60, 70},  {E::F16, 32, 8, 16, 61, 70},  {E::F16, 8, 32, 16, 61, 70},
    {E::BF16, 16, 16, 16, 70, 80}, {E::BF16, 32, 8, 16, 70, 80}, {E::BF16, 8, 32, 16, 70, 80},
    {E::S8, 16, 16, 16, 63, 72},   {E::S8, 32, 8, 16, 63, 72},   {E::S8, 8, 32, 16, 63, 72},
    {E::TF32, 16, 16, 8, 70, 80},  {E::F64, 8, 8, 4, 70, 80},    {E::S4, 8, 8, 32, 63, 75},
    {E::B1, 8, 8, 128, 63, 75},
};

E signedOf(E type) { return type == E::U8 ? E::S8 : type == E::U4 ? E::S4 : type; }

/// The first form of this shape and these inputs, or of any inputs for the accumulators.
const Form *findForm(const MatrixCode &code, E inputs) {
  for (const Form &form : forms)
    if (form.m == code.m && form.n == code.n && form.k == code.k && (inputs == E::None || form.inputs == signedOf(inputs)))
      return &form;
  return nullptr;
}

bool accumulates(E inputs, E type) {
  switch (signedOf(inputs)) {
  case E::F16:
    return type == E::F16 || type == E::F32;
  case E::BF16:
  case E::TF32:
    return type == E::F32;
  case E::F64:
    return type == E::F64;
  default:
    return type == E::S32;
  }
}

size_t registersOf(const MatrixCode &code, char matrix, E type) {
  // Elements of f16 inputs are held twice or four times.
  if ((matrix == 'a' || matrix == 'b') && type == E::F16)
    return 8;
  unsigned rows = matrix == 'b' ? code.k : code.m, columns = matrix == 'a' ? code.k : code.n;
  return size_t(rows) * columns * elementBits(type) / (type == E::F64 ? 64 : 32) / warpSize;
}

/// .row (false) or .col (true).
bool takeLayout(InstDecoder &d, bool &isColumn) {
  const std::vector<std::string_view> &left = d.remaining();
  auto found = std::find_if(left.begin(), left.end(), [](std::string_view one) { return one == "row" || one == "col"; });
  if (found == left.end())
    return d.fail("needs .row or .col");
  isColumn = *found == "col";
  return d.take(*found);
}

bool takeElement(InstDecoder &d, E &type) {
  for (std::string_view modifier : d.remaining())
    if ((type = parseMatrixElement(modifier)) != E::None)
      return d.take(modifier);
  return d.fail("a type is missing");
}

/// A of less than 8 bits has dense rows, B dense columns.
bool checkNarrow(InstDecoder &d, E type, bool columnA, bool columnB) {
  return elementBits(type) >= 8 || (!columnA && columnB) || d.fail("elements this narrow need .row for A, .col for B");
}

bool decodeMove(InstDecoder &d, bool isLoad) {
  MatrixCode code;
  code.kind = isLoad ? MatrixCode::FragmentLoad : MatrixCode::FragmentStore;
  for (std::string_view matrix : {"a", "b", "c", "d"})
    if ((isLoad ? matrix != "d" : matrix == "d") && d.take(matrix))
      code.fragment = matrix[0];
  if (code.fragment == 0)
    return d.fail(isLoad ? "needs .a, .b or .c" : "needs .d");
  if (!needSyncAligned(d) || !takeLayout(d, code.transposed) || !takeShape(d, code))
    return false;
  takeMemorySpace(d);
  if (d.inst.space != Space::Generic && d.inst.space != Space::Global && d.inst.space != Space::Shared)
    return d.fail("the matrix must be in global or shared memory");
  if (!takeElement(d, code.dType))
    return false;
  bool isInput = code.fragment == 'a' || code.fragment == 'b';
  const Form *form = nullptr;
  for (const Form &known : forms)
    if (known.m == code.m && known.n == code.n && known.k == code.k && !form &&
        (isInput ? known.inputs == signedOf(code.dType) : accumulates(known.inputs, code.dType)))
      form = &known;
  if (!form)
    return d.unsupported("this shape with this type");
  if (!d.needs(form->ptxVersion, form->computeCapability) ||
      (isInput && !checkNarrow(d, code.dType, code.fragment == 'a' && code.transposed,
                               code.fragment == 'a' || code.transposed)))
    return false;
  size_t registers = isLoad ? 0 : 1, address = isLoad ? 1 : 0;
  d.constant(0xffffffff);
  if (!d.expectOperands(2, 3) ||
      !takeRegisters(d, d.operand(registers), registersOf(code, code.fragment, code.dType), registerType(code.dType),
                     isLoad, code.d) ||
      !d.address(address))
    return false;
  code.hasStride = d.operandCount() == 3;
  if (code.hasStride && !d.source(2, ScalarType::U32))
    return false;
  becomeMatrix(d, std::move(code));
  return true;
}

bool decodeMultiply(InstDecoder &d) {
  MatrixCode code;
  code.kind = MatrixCode::FragmentMultiply;
  bool isXor = d.take("xor");
  code.usesAnd = !isXor && d.take("and");
  bool popc = d.take("popc");
  if (!needSyncAligned(d) || !takeLayout(d, code.mMajor) || !takeLayout(d, code.nMajor) || !takeShape(d, code))
    return false;
  d.takeRounding();
  code.saturate = d.take("satfinite");
  if (!takeElement(d, code.dType) || !takeElement(d, code.aType))
    return false;
  if (d.remaining().empty()) {
    // D and C: the others are f16.
    code.cType = code.aType;
    code.aType = code.bType = E::F16;
  } else if (!takeElement(d, code.bType) || !takeElement(d, code.cType)) {
    return false;
  }
  const Form *form = findForm(code, code.aType);
  if (!form || code.aType != code.bType || !accumulates(code.aType, code.cType) || !accumulates(code.aType, code.dType))
    return d.unsupported("this shape with these types");
  bool isBit = code.aType == E::B1;
  if (isBit ? !popc || isXor == code.usesAnd : popc || isXor || code.usesAnd)
    return d.fail(".xor.popc and .and.popc are for .b1");
  if (code.saturate && (isBit || (!isIntegerElement(code.aType) && code.aType != E::F16)))
    return d.fail(".satfinite is for integers");
  // The rounding of other types is given.
  if (d.inst.rounding != Rounding::Nearest && code.aType != E::F64)
    return d.fail("a rounding is for .f64");
  unsigned version = code.usesAnd ? 71 : form->ptxVersion, capability = code.usesAnd ? 80 : form->computeCapability;
  if (!d.needs(version, capability) || !checkNarrow(d, code.aType, code.mMajor, code.nMajor) || !d.expectOperands(4))
    return false;
  auto fragment = [&](size_t index, char matrix, E type, std::vector<Row> &rows) {
    return takeRegisters(d, d.operand(index), registersOf(code, matrix, type), registerType(type), index == 0, rows);
  };
  if (!fragment(0, 'd', code.dType, code.d) || !fragment(1, 'a', code.aType, code.a) ||
      !fragment(2, 'b', code.bType, code.b) || !fragment(3, 'c', code.cType, code.c))
    return false;
  d.constant(0xffffffff);
  becomeMatrix(d, std::move(code));
  return true;
}

} // namespace

bool decodeWmma(InstDecoder &d) {
  if (d.take("load"))
    return decodeMove(d, true);
  if (d.take("store"))
    return decodeMove(d, false);
  return d.take("mma") ? decodeMultiply(d) : d.fail("needs .load, .store or .mma");
}

} // namespace tilewright::ptxsim
