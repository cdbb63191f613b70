// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .approx functions: sin, cos, ex2, lg2, tanh, rsqrt. They are evaluated in double and rounded once, which is
// inside every error bound of the ISA; results on a GPU differ in the last places.

#include "arithmetic/Families.h"
#include "arithmetic/FloatTypes.h"
#include "machine/LaneLoops.h"

namespace tilewright::ptxsim {
namespace {

using Real = double (*)(double);

double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double powerOfTwo(double x) { return std::exp2(x); }
double logarithm(double x) { return std::log2(x); }
double hyperbolicTangent(double x) { return std::tanh(x); }
double reciprocalRoot(double x) { return 1 / std::sqrt(x); }

template <Real Function> uint64_t evalF32(uint64_t a, const Inst &inst) {
  return F32::store(static_cast<float>(Function(F32::load(a, inst.ftz))), inst.ftz, Rounding::Nearest);
}
template <typename Format, Real Function> uint64_t evalSmall(uint64_t a, const Inst &inst) {
  return Format::store(Function(Format::load(a, inst.ftz)), inst.ftz, Rounding::Nearest);
}
template <typename Format, Real Function> uint64_t evalPair(uint64_t a, const Inst &inst) {
  return evalSmall<Format, Function>(a & 0xffff, inst) | evalSmall<Format, Function>(a >> 16 & 0xffff, inst) << 16;
}

uint64_t rsqrtF64(uint64_t a, const Inst &) { return F64::store(reciprocalRoot(bitCast<double>(a)), false, {}); }
/// rsqrt.approx.ftz.f64 reads and writes upper halves only.
uint64_t rsqrtHigh(uint64_t a, const Inst &) {
  double value = bitCast<double>(a & 0xffffffff00000000ull);
  if (std::fabs(value) < DBL_MIN)
    value = std::copysign(0.0, value);
  return F64::store(reciprocalRoot(value), false, {}) & 0xffffffff00000000ull;
}

bool operands(InstDecoder &d) {
  return d.expectOperands(2) && d.destination(0, d.inst.type) && d.source(1, d.inst.type);
}

bool takeApprox(InstDecoder &d) {
  if (!d.take("approx"))
    return d.fail("needs .approx");
  d.takeFtz();
  d.inst.type = d.takeType();
  return true;
}

template <Real Function> bool decodeF32Only(InstDecoder &d) {
  if (!takeApprox(d))
    return false;
  if (d.inst.type == ScalarType::F32)
    d.inst.run = unary<evalF32<Function>>;
  return operands(d);
}

template <Real Function> bool decodeWithHalves(InstDecoder &d) {
  if (!takeApprox(d))
    return false;
  switch (d.inst.type) {
  case ScalarType::F32:
    d.inst.run = unary<evalF32<Function>>;
    break;
  case ScalarType::F16:
    d.inst.run = unary<evalSmall<F16, Function>>;
    break;
  case ScalarType::BF16:
    d.inst.run = unary<evalSmall<BF16, Function>>;
    break;
  case ScalarType::F16x2:
    d.inst.run = unary<evalPair<F16, Function>>;
    break;
  case ScalarType::BF16x2:
    d.inst.run = unary<evalPair<BF16, Function>>;
    break;
  default:
    break;
  }
  return operands(d);
}

} // namespace

bool decodeSin(InstDecoder &d) { return decodeF32Only<sine>(d); }
bool decodeCos(InstDecoder &d) { return decodeF32Only<cosine>(d); }
bool decodeLg2(InstDecoder &d) { return decodeF32Only<logarithm>(d); }
bool decodeEx2(InstDecoder &d) { return decodeWithHalves<powerOfTwo>(d); }
bool decodeTanh(InstDecoder &d) { return decodeWithHalves<hyperbolicTangent>(d); }

bool decodeRsqrt(InstDecoder &d) {
  if (!takeApprox(d))
    return false;
  if (d.inst.type == ScalarType::F32)
    d.inst.run = unary<evalF32<reciprocalRoot>>;
  else if (d.inst.type == ScalarType::F64)
    d.inst.run = d.inst.ftz ? unary<rsqrtHigh> : unary<rsqrtF64>;
  return operands(d);
}

} // namespace tilewright::ptxsim
