// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes ld, st, and the hints that change nothing (prefetch, discard, applypriority).

#include "arithmetic/Families.h"
#include "async/StoreAsync.h"
#include "machine/LoadStore.h"

namespace tilewright::ptxsim {
namespace {

void nothing(ExecContext &, const Inst &) {}

/// .b128 is two elements of .b64.
bool takeWide(Inst &inst) {
  if (inst.type != ScalarType::B128 || inst.elements != 1)
    return false;
  inst.type = ScalarType::B64;
  inst.elements = 2;
  return true;
}

bool isKernelParam(const InstDecoder &d) {
  return d.inst.space == Space::Param && d.function.isEntry && !d.inst.frameParam && d.inst.src[0] >= constantBank &&
         d.inst.src[0] < specialBank;
}

bool takeOrder(InstDecoder &d, bool isLoad) {
  Inst &inst = d.inst;
  bool isVolatile = d.take("volatile");
  if (d.take("relaxed"))
    inst.order = Order::Relaxed;
  else if (isLoad ? d.take("acquire") : d.take("release"))
    inst.order = isLoad ? Order::Acquire : Order::Release;
  else
    d.take("weak");
  takeScope(d);
  if (isVolatile) {
    inst.order = Order::Relaxed;
    inst.scope = Scope::Sys;
  }
  if (inst.order != Order::Weak && inst.scope == Scope::None)
    return d.fail("a strong access needs a scope");
  return true;
}

void takeCacheHints(InstDecoder &d) {
  for (std::string_view hint : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "unified"})
    d.take(hint);
  d.inst.readOnly = d.take("nc");
  while (!d.takePrefix("L1").empty() || !d.takePrefix("L2").empty()) {
  }
}

/// What ld and st have in common: all behind the name, and how many operands there are. `isWide`: of .b128.
bool takeAccess(InstDecoder &d, bool isLoad, bool &isWide) {
  Inst &inst = d.inst;
  if (!takeOrder(d, isLoad) || !takeMemorySpace(d))
    return false;
  takeCacheHints(d);
  inst.elements = static_cast<uint8_t>(d.takeVector());
  inst.type = d.takeType();
  inst.undef = UndefRule::Own;
  isWide = takeWide(inst);
  if (inst.elements > 4 || bitWidth(inst.type) > 64 || bitWidth(inst.type) * inst.elements > 256)
    return d.unsupported("this vector");
  // A third operand is a cache policy, which changes no result.
  return d.expectOperands(2, 3);
}

bool memoryOperand(InstDecoder &d, size_t index) {
  Inst &inst = d.inst;
  if (!d.address(index))
    return false;
  const Operand &where = d.operand(index);
  if (where.elements.empty() || where.elements.front().kind != Operand::Variable)
    return true;
  // A name instead of a register: it must live in the space that the instruction names.
  const Variable &variable = d.function.variables[where.elements.front().index];
  bool isOwnShared = variable.space == Space::Shared && inst.space == Space::SharedCluster;
  if (variable.space != inst.space && inst.space != Space::Generic && !isOwnShared)
    return d.fail("'" + variable.name + "' is in ." + std::string(spelling(variable.space)) + " memory");
  if (inst.space == Space::Generic && variable.space == Space::Shared)
    inst.space = Space::Shared;
  bool isKernelParam = d.function.isEntry && where.elements.front().index <
                                                 d.function.params.size() + d.function.returns.size();
  if (variable.space == Space::Param && inst.frameLocal)
    inst.space = Space::Local;
  inst.frameParam = variable.space == Space::Param && !isKernelParam && !inst.frameLocal;
  return true;
}

} // namespace

void takeScope(InstDecoder &d) {
  static constexpr struct {
    std::string_view name;
    Scope scope;
  } scopes[] = {{"cta", Scope::Cta}, {"cluster", Scope::Cluster}, {"gpu", Scope::Gpu}, {"sys", Scope::Sys}};
  for (const auto &entry : scopes)
    if (d.take(entry.name))
      d.inst.scope = entry.scope;
}

bool takeMemorySpace(InstDecoder &d) {
  static constexpr struct {
    std::string_view name;
    Space space;
  } spaces[] = {{"global", Space::Global},      {"shared", Space::Shared},
                {"shared::cta", Space::Shared}, {"shared::cluster", Space::SharedCluster},
                {"local", Space::Local},        {"const", Space::Const},
                {"param", Space::Param},        {"param::entry", Space::Param},
                {"param::func", Space::Param}};
  for (const auto &entry : spaces)
    if (d.take(entry.name)) {
      d.inst.space = entry.space;
      return true;
    }
  return true;
}

bool decodeLd(InstDecoder &d) {
  Inst &inst = d.inst;
  bool isWide = false;
  if (!takeAccess(d, /*isLoad=*/true, isWide))
    return false;
  const Operand &result = d.operand(0);
  if (isWide) {
    if (!d.wideDestination(result))
      return false;
  } else if (inst.elements > 1) {
    if (result.kind != Operand::Vector || result.elements.size() != inst.elements)
      return d.fail("the result must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : result.elements)
      if (!d.destination(element, inst.type))
        return false;
  } else if (!d.destination(result.kind == Operand::Vector && result.elements.size() == 1 ? result.elements[0] : result,
                            inst.type)) {
    return false;
  }
  if (inst.dstBits == 0)
    inst.dstBits = static_cast<uint8_t>(bitWidth(inst.type));
  if (!memoryOperand(d, 1))
    return false;
  setLoad(inst, isWide && inst.order != Order::Weak, isKernelParam(d));
  return true;
}

bool decodeSt(InstDecoder &d) {
  Inst &inst = d.inst;
  if (d.take("async"))
    return decodeStAsync(d);
  bool isWide = false;
  if (!takeAccess(d, /*isLoad=*/false, isWide) || !memoryOperand(d, 0))
    return false;
  const Operand &value = d.operand(1);
  if (isWide) {
    if (!d.wideSource(value))
      return false;
  } else if (inst.elements == 1) {
    if (!d.source(value.kind == Operand::Vector && value.elements.size() == 1 ? value.elements[0] : value, inst.type))
      return false;
  } else {
    if (value.kind != Operand::Vector || value.elements.size() != inst.elements)
      return d.fail("the value must be a vector of " + std::to_string(inst.elements));
    for (const Operand &element : value.elements)
      if (!d.source(element, inst.type))
        return false;
  }
  setStore(inst, isWide && inst.order != Order::Weak);
  return true;
}

bool decodeHint(InstDecoder &d) {
  takeMemorySpace(d);
  d.take("mask");
  d.take("tensormap");
  takeCacheHints(d);
  d.inst.run = nothing;
  d.inst.undef = UndefRule::Own;
  return true;
}

bool decodeNanosleep(InstDecoder &d) {
  d.inst.type = d.takeType();
  d.inst.run = nothing;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(1) && d.source(0, ScalarType::U32);
}

} // namespace tilewright::ptxsim
