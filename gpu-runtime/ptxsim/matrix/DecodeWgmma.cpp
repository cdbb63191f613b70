// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of wgmma.
//
//   wgmma.mma_async.sync.aligned.m64nNkK.dtype.atype.btype{.satfinite}{.and.popc}
//       d, a-desc | {a}, b-desc, scale-d {, scale-a, scale-b {, trans-a}, trans-b}
//   wgmma.mma_async.sp...: metadata, selector before scale-d

#include "arithmetic/Families.h"
#include "decode/Decoder.h"
#include "matrix/DecodeMatrix.h"

namespace tilewright::ptxsim {

namespace {

using E = MatrixElement;

bool isByte(E type) { return type == E::S8 || type == E::U8; }

/// Whether the types go together and the shape has them.
bool isForm(const MatrixCode &code) {
  bool toF32 = code.dType == E::F32, toF16 = code.dType == E::F16, same = code.aType == code.bType;
  bool types = (code.aType == E::F16 && same && (toF32 || toF16)) ||
               ((code.aType == E::BF16 || code.aType == E::TF32) && same && toF32) ||
               (isFloat8(code.aType) && isFloat8(code.bType) && (toF32 || toF16)) ||
               (((isByte(code.aType) && isByte(code.bType)) || (code.aType == E::B1 && same && !code.isSparse)) &&
          code.dType == E::S32);
  // One multiplication covers 32 bytes of k.
  bool depth = code.storedK() * elementBits(code.aType) == 256;
  bool isInteger = code.dType == E::S32;
  bool columns = code.n >= 8 && code.n <= 256 && code.n % (isInteger && code.n > 32 ? 16 : 8) == 0;
  return types && depth && code.m == 64 && columns;
}

bool rows(InstDecoder &d, const Operand &operand, size_t count, ScalarType type, bool isResult, std::vector<Row> &to) {
  if (operand.kind != Operand::Vector || operand.elements.size() != count)
    return d.fail("expected a vector of " + std::to_string(count) + " registers");
  for (const Operand &element : operand.elements)
    if (!(isResult ? d.destinationRow(element, type, to) : d.sourceRow(element, type, to)))
      return false;
  return true;
}

/// An immediate that is one of two.
bool choice(InstDecoder &d, size_t index, int64_t no, int64_t yes, bool &result) {
  uint64_t value;
  if (!d.immediate(index, value))
    return false;
  if (static_cast<int64_t>(value) != no && static_cast<int64_t>(value) != yes)
    return d.fail("operand " + std::to_string(index + 1) + " must be " + std::to_string(no) + " or " +
                  std::to_string(yes));
  result = static_cast<int64_t>(value) == yes;
  return true;
}

bool decodeMultiply(InstDecoder &d, MatrixCode &code) {
  if (!takeShape(d, code))
    return false;
  E *types[] = {&code.dType, &code.aType, &code.bType};
  for (E *type : types) {
    if (d.remaining().empty() || (*type = parseMatrixElement(d.remaining().front())) == E::None)
      return d.fail("expected the types of D, A and B");
    d.take(d.remaining().front());
  }
  code.cType = code.dType;
  if (!isForm(code))
    return d.unsupported("this shape with these types");
  bool mixesBytes = isByte(code.aType) && code.aType != code.bType;
  if (mixesBytes && !d.needs(84, 90))
    return false;
  if (isByte(code.aType))
    code.saturate = d.take("satfinite");
  code.usesAnd = code.aType == E::B1;
  if (code.usesAnd && (!d.take("and") || !d.take("popc")))
    return d.fail("needs .and.popc");
  bool isInteger = code.dType == E::S32, transposes = code.aType == E::F16 || code.aType == E::BF16;
  if (d.operandCount() < 4)
    return d.expectOperands(4);
  bool aInRegisters = d.operand(1).kind == Operand::Vector;
  // The metadata and the selector of a sparse A come before scale-d.
  size_t scale = code.isSparse ? 5 : 3;
  size_t expected = scale + (isInteger ? 1 : !transposes ? 3 : aInRegisters ? 4 : 5);
  if (!d.expectOperands(expected))
    return false;
  ScalarType typeD = isInteger ? ScalarType::S32 : code.dType == E::F32 ? ScalarType::F32 : ScalarType::B32;
  size_t countD = code.n / (code.dType == E::F16 ? 4 : 2);
  d.constant(0xffffffff);
  if (!rows(d, d.operand(0), countD, typeD, true, code.d) ||
      !(aInRegisters ? rows(d, d.operand(1), 4, ScalarType::B32, false, code.a) : d.source(1, ScalarType::U64)) ||
      !d.source(2, ScalarType::U64) || (code.isSparse && !takeMetadata(d, code, 3)))
    return false;
  if (d.operand(scale).kind == Operand::Integer) {
    code.accumulates = d.operand(scale).value != 0;
  } else {
    d.inst.wantsPredicate = true;
    d.inst.negateSource = d.operand(scale).negated;
    if (!d.predicate(scale))
      return false;
  }
  if (isInteger)
    return true;
  bool negateA, negateB;
  if (!choice(d, scale + 1, 1, -1, negateA) || !choice(d, scale + 2, 1, -1, negateB))
    return false;
  code.negative = negateA != negateB;
  if (!transposes)
    return true;
  return (aInRegisters || choice(d, scale + 3, 0, 1, code.mMajor)) && choice(d, expected - 1, 0, 1, code.nMajor);
}

} // namespace

bool decodeWgmma(InstDecoder &d) {
  if (d.decoder.module.targetSuffix != 'a' || d.decoder.module.target != 90)
    return d.fail("needs .target sm_90a");
  MatrixCode code;
  code.kind = d.take("mma_async")      ? MatrixCode::AsyncMultiply
              : d.take("fence")        ? MatrixCode::AsyncFence
              : d.take("commit_group") ? MatrixCode::AsyncCommit
              : d.take("wait_group")   ? MatrixCode::AsyncWait
                                       : MatrixCode::Multiply;
  if (code.kind == MatrixCode::Multiply)
    return d.unsupported("this form");
  code.isSparse = code.kind == MatrixCode::AsyncMultiply && d.take("sp");
  if (code.isSparse && !d.needs(82, 90))
    return false;
  if (!d.take("sync") || !d.take("aligned"))
    return d.fail("needs .sync.aligned");
  if (code.kind == MatrixCode::AsyncMultiply) {
    if (!decodeMultiply(d, code))
      return false;
  } else {
    bool isWait = code.kind == MatrixCode::AsyncWait;
    d.constant(0xffffffff);
    if (!d.expectOperands(isWait ? 1 : 0) || (isWait && !d.immediate(0, code.left)))
      return false;
  }
  becomeMatrix(d, std::move(code));
  d.decoder.program.usesAgents = true;
  return true;
}

} // namespace tilewright::ptxsim
