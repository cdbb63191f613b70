// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma.sync, ldmatrix, stmatrix, movmatrix. Every form of mma that exists is a line of a table with the first PTX version
// and compute capability that have it.

#include "arithmetic/Families.h"
#include "decode/Decoder.h"
#include "matrix/DecodeMatrix.h"
#include "matrix/Sparse.h"

#include <algorithm>
#include <cstdio>

namespace tilewright::ptxsim {
namespace {

using E = MatrixElement;

enum class Inputs : uint8_t { Half, Bfloat, Tf32, Double, Byte, Nibble, Bit, Float8 };

struct Form {
  unsigned m, n, k;
  Inputs inputs;
  unsigned ptxVersion, computeCapability;
};

constexpr Form forms[] = {
    {8, 8, 4, Inputs::Half, 64, 70},     {16, 8, 8, Inputs::Half, 65, 75},    {16, 8, 16, Inputs::Half, 70, 80},   {16, 8, 8, Inputs::Bfloat, 70, 80},
    {16, 8, 16, Inputs::Bfloat, 70, 80}, {16, 8, 4, Inputs::Tf32, 70, 80},    {16, 8, 8, Inputs::Tf32, 70, 80},
    {8, 8, 4, Inputs::Double, 70, 80},   {16, 8, 4, Inputs::Double, 78, 90},  {16, 8, 8, Inputs::Double, 78, 90},
    {16, 8, 16, Inputs::Double, 78, 90}, {8, 8, 16, Inputs::Byte, 65, 75},    {16, 8, 16, Inputs::Byte, 70, 80},
    {16, 8, 32, Inputs::Byte, 70, 80},   {8, 8, 32, Inputs::Nibble, 65, 75},  {16, 8, 32, Inputs::Nibble, 70, 80},
    {16, 8, 64, Inputs::Nibble, 70, 80}, {8, 8, 128, Inputs::Bit, 70, 75},    {16, 8, 128, Inputs::Bit, 70, 80},
    {16, 8, 256, Inputs::Bit, 70, 80},   {16, 8, 16, Inputs::Float8, 87, 89}, {16, 8, 32, Inputs::Float8, 84, 89},
};

constexpr Form sparseForms[] = {
    {16, 8, 16, Inputs::Half, 71, 80},  {16, 8, 32, Inputs::Half, 71, 80},   {16, 8, 16, Inputs::Bfloat, 71, 80},
    {16, 8, 32, Inputs::Bfloat, 71, 80}, {16, 8, 8, Inputs::Tf32, 71, 80},   {16, 8, 16, Inputs::Tf32, 71, 80},
    {16, 8, 32, Inputs::Byte, 71, 80},  {16, 8, 64, Inputs::Byte, 71, 80},   {16, 8, 64, Inputs::Nibble, 71, 80},
    {16, 8, 128, Inputs::Nibble, 71, 80}, {16, 8, 64, Inputs::Float8, 84, 89},
};

bool inputsOf(E type, Inputs &inputs) {
  switch (type) {
  case E::F16:
    inputs = Inputs::Half;
    return true;
  case E::BF16:
    inputs = Inputs::Bfloat;
    return true;
  case E::TF32:
    inputs = Inputs::Tf32;
    return true;
  case E::F64:
    inputs = Inputs::Double;
    return true;
  case E::S8:
  case E::U8:
    inputs = Inputs::Byte;
    return true;
  case E::S4:
  case E::U4:
    inputs = Inputs::Nibble;
    return true;
  case E::B1:
    inputs = Inputs::Bit;
    return true;
  case E::E4M3:
  case E::E5M2:
    inputs = Inputs::Float8;
    return true;
  default:
    return false;
  }
}

/// Types of C and D that go with the inputs.
bool accumulatesIn(Inputs inputs, E c, E d) {
  switch (inputs) {
  case Inputs::Half:
    return (c == E::F16 || c == E::F32) && c == d;
  case Inputs::Float8:
    return (c == E::F16 || c == E::F32) && c == d;
  case Inputs::Bfloat:
  case Inputs::Tf32:
    return c == E::F32 && d == E::F32;
  case Inputs::Double:
    return c == E::F64 && d == E::F64;
  default:
    return c == E::S32 && d == E::S32;
  }
}

} // namespace

bool takeShape(InstDecoder &d, MatrixCode &code) {
  for (std::string_view modifier : d.syntax.modifiers) {
    char rest = 0;
    if (std::sscanf(std::string(modifier).c_str(), "m%un%uk%u%c", &code.m, &code.n, &code.k, &rest) == 3)
      return d.take(modifier);
  }
  return d.fail("the shape is missing");
}

bool takeRegisters(InstDecoder &d, const Operand &operand, size_t count, ScalarType type, bool isResult,
                   std::vector<Row> &rows) {
  const Operand *elements = operand.kind == Operand::Vector ? operand.elements.data() : &operand;
  size_t found = operand.kind == Operand::Vector ? operand.elements.size() : 1;
  if (found != count)
    return d.fail("expected " + std::to_string(count) + " registers, found " + std::to_string(found));
  for (size_t i = 0; i < count; ++i)
    if (!(isResult ? d.destinationRow(elements[i], type, rows) : d.sourceRow(elements[i], type, rows)))
      return false;
  return true;
}

ScalarType registerType(E element) {
  return element == E::F64 ? ScalarType::F64
         : element == E::F32 ? ScalarType::F32
         : element == E::S32 ? ScalarType::S32
                             : ScalarType::B32;
}

namespace {

/// Registers of `rows` x `columns` elements spread over a warp.
size_t registerCount(E element, unsigned rows, unsigned columns) {
  unsigned registerBits = element == E::F64 ? 64 : 32;
  return size_t(rows) * columns * elementBits(element) / registerBits / warpSize;
}

} // namespace

void becomeMatrix(InstDecoder &d, MatrixCode code) {
  Inst &inst = d.inst;
  inst.flow = Flow::Collective;
  inst.undef = UndefRule::Own;
  inst.op = static_cast<uint8_t>(CollectiveOp::Matrix);
  inst.matrix = static_cast<uint32_t>(d.decoder.program.matrices.size());
  d.decoder.program.matrices.push_back(std::move(code));
}

bool takeQuadLayouts(InstDecoder &d, MatrixCode &code);

bool needSyncAligned(InstDecoder &d) {
  return (d.take("sync") || d.fail("needs .sync")) && (d.take("aligned") || d.fail("needs .aligned"));
}

bool takeMetadata(InstDecoder &d, MatrixCode &code, size_t index) {
  std::vector<Row> row;
  uint64_t selector;
  if (!d.sourceRow(d.operand(index), ScalarType::B32, row) || !d.immediate(index + 1, selector))
    return false;
  unsigned choices = 4 / metadataLanes(code);
  if (selector >= choices)
    return d.fail("the selector must be " + std::string(choices == 1 ? "0" : "0 to " + std::to_string(choices - 1)));
  code.metadata = row.front();
  code.selector = static_cast<unsigned>(selector);
  return true;
}

static const Form *findForm(const MatrixCode &code, Inputs inputs) {
  auto among = [&](const auto &table) -> const Form * {
    for (const Form &known : table)
      if (known.m == code.m && known.n == code.n && known.k == code.k && known.inputs == inputs)
        return &known;
    return nullptr;
  };
  return code.isSparse ? among(sparseForms) : among(forms);
}

bool decodeMma(InstDecoder &d) {
  if (!needSyncAligned(d))
    return false;
  MatrixCode code;
  code.isOrdered = d.take("sp::ordered_metadata");
  code.isSparse = code.isOrdered || d.take("sp");
  if (code.isOrdered && !d.needs(85, 80))
    return false;
  if (!takeShape(d, code))
    return false;
  if (!takeQuadLayouts(d, code))
    return false;
  code.saturate = d.take("satfinite");
  bool isXor = d.take("xor");
  code.usesAnd = d.take("and");
  bool popc = d.take("popc");
  E *types[] = {&code.dType, &code.aType, &code.bType, &code.cType};
  for (E *type : types) {
    std::vector<std::string_view> left = d.remaining();
    if (left.empty() || (*type = parseMatrixElement(left.front())) == E::None)
      return d.fail("expected the types of D, A, B and C");
    d.take(left.front());
  }
  Inputs inputs, second;
  bool isQuad = code.isQuad() && code.k == 4;
  if (!isQuad && (code.mMajor || code.nMajor))
    return d.unsupported("this layout of A or B");
  // m8n8k4 alone may widen: C of f16 and D of f32.
  bool widens = isQuad && code.cType == E::F16 && code.dType == E::F32;
  if (!inputsOf(code.aType, inputs) || !inputsOf(code.bType, second) || inputs != second ||
      !accumulatesIn(inputs, widens ? E::F32 : code.cType, code.dType))
    return d.unsupported("this combination of types");
  bool isBit = inputs == Inputs::Bit;
  if (isBit ? !popc || isXor == code.usesAnd : popc || isXor || code.usesAnd)
    return d.fail(".xor.popc and .and.popc are for .b1");
  if (code.saturate && (!isIntegerElement(code.aType) || isBit))
    return d.fail(".satfinite is for integers");
  if (inputs == Inputs::Double)
    d.takeRounding();
  const Form *form = findForm(code, inputs);
  if (!form)
    return d.unsupported("this shape with these types");
  unsigned version = form->ptxVersion, capability = form->computeCapability;
  if (isBit && code.usesAnd) {
    version = std::max(version, 71u);
    capability = std::max(capability, 80u);
  }
  if (inputs == Inputs::Float8 && !code.isSparse && code.dType == E::F16)
    version = std::max(version, 87u);
  if (!d.needs(version, capability) || !d.expectOperands(code.isSparse ? 6 : 4))
    return false;
  // Of four products.
  unsigned products = isQuad ? 4 : 1;
  auto matrix = [&](size_t operand, E type, unsigned height, unsigned width, std::vector<Row> &rows) {
    return takeRegisters(d, d.operand(operand), registerCount(type, products * height, width), registerType(type),
                     operand == 0, rows);
  };
  if (!matrix(0, code.dType, code.m, code.n, code.d) || !matrix(1, code.aType, code.m, code.storedK(), code.a) ||
      !matrix(2, code.bType, code.k, code.n, code.b) || !matrix(3, code.cType, code.m, code.n, code.c))
    return false;
  d.constant(0xffffffff);
  if (code.isSparse && !takeMetadata(d, code, 4))
    return false;
  becomeMatrix(d, std::move(code));
  return true;
}

namespace {

bool decodeMove(InstDecoder &d, MatrixCode::Kind kind) {
  if (!needSyncAligned(d))
    return false;
  MatrixCode code;
  code.kind = kind;
  if (!d.take("m8n8"))
    return d.unsupported("this shape");
  size_t count = d.take("x1") ? 1 : d.take("x2") ? 2 : d.take("x4") ? 4 : 0;
  if (count == 0)
    return d.fail("needs .x1, .x2 or .x4");
  code.transposed = d.take("trans");
  takeMemorySpace(d);
  if (d.inst.space != Space::Shared && d.inst.space != Space::Generic)
    return d.fail("the matrices must be in shared memory");
  if (!d.take("b16"))
    return d.unsupported("this type");
  bool isLoad = kind == MatrixCode::Load;
  d.constant(0xffffffff);
  d.inst.type = ScalarType::B16;
  if (!d.expectOperands(2) ||
      !takeRegisters(d, d.operand(isLoad ? 0 : 1), count, ScalarType::B32, isLoad, code.d) || !d.address(isLoad ? 1 : 0))
    return false;
  becomeMatrix(d, std::move(code));
  return true;
}

} // namespace

bool decodeLdmatrix(InstDecoder &d) { return decodeMove(d, MatrixCode::Load); }
bool decodeStmatrix(InstDecoder &d) { return decodeMove(d, MatrixCode::Store); }

bool decodeMovmatrix(InstDecoder &d) {
  if (!needSyncAligned(d))
    return false;
  MatrixCode code;
  code.kind = MatrixCode::Transpose;
  if (!d.take("m8n8") || !d.take("trans") || !d.take("b16"))
    return d.unsupported("this form");
  d.constant(0xffffffff);
  if (!d.expectOperands(2) || !d.destinationRow(d.operand(0), ScalarType::B32, code.d) ||
      !d.sourceRow(d.operand(1), ScalarType::B32, code.a))
    return false;
  becomeMatrix(d, std::move(code));
  return true;
}

} // namespace tilewright::ptxsim
