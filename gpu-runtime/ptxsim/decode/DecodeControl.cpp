// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches, calls and the end of threads: bra, brx.idx, call, ret, exit, trap.

#include "arithmetic/Families.h"
#include "decode/Decoder.h"

namespace tilewright::ptxsim {

bool decodeBra(InstDecoder &d) {
  d.take("uni");
  d.inst.flow = Flow::Branch;
  d.inst.undef = UndefRule::Own;
  if (!d.expectOperands(1))
    return false;
  if (d.operand(0).kind != Operand::Label)
    return d.fail("unknown label '" + std::string(d.operand(0).text) + "'");
  return true;
}

bool decodeBrx(InstDecoder &d) {
  if (!d.take("idx"))
    return d.fail("needs .idx");
  d.take("uni");
  Inst &inst = d.inst;
  inst.flow = Flow::BranchIndexed;
  inst.undef = UndefRule::Own;
  if (!d.expectOperands(2) || !d.source(0, ScalarType::U32))
    return false;
  const Operand &list = d.operand(1);
  if (list.kind != Operand::Symbol || list.index == noIndex)
    return d.fail("unknown target list '" + std::string(list.text) + "'");
  std::vector<uint32_t> table;
  for (uint32_t label : d.function.targetLists[list.index].labels)
    table.push_back(d.code.entry + label);
  inst.offset = static_cast<int64_t>(d.decoder.program.branchTables.size());
  d.decoder.program.branchTables.push_back(std::move(table));
  return true;
}

namespace {

bool callSlots(InstDecoder &d, const Operand &list, std::vector<ParamSlot> &slots) {
  for (const Operand &element : list.elements) {
    if (element.kind != Operand::Variable || d.function.variables[element.index].space != Space::Param)
      return d.fail("call arguments must be .param variables");
    uint64_t offset;
    if (!d.decoder.variableOffset(d.function, element.index, offset))
      return false;
    slots.push_back({static_cast<uint32_t>(offset),
                     static_cast<uint32_t>(d.function.variables[element.index].size)});
  }
  return true;
}

/// What the name of a called function means: a builtin, a defined function, or an error.
bool resolveCallee(InstDecoder &d, std::string_view name, CallSite &site) {
  static constexpr struct {
    std::string_view name;
    Builtin builtin;
  } builtins[] = {{"vprintf", Builtin::Printf},
                  {"__assertfail", Builtin::AssertFail},
                  {"malloc", Builtin::Malloc},
                  {"free", Builtin::Free}};
  const Function *callee = d.decoder.module.findFunction(name);
  for (const auto &known : builtins)
    if (known.name == name && !(callee && callee->hasBody)) {
      site.builtin = known.builtin;
      return true;
    }
  if (!callee || !callee->hasBody)
    return d.fail("function '" + std::string(name) + "' is not defined in this module");
  if (callee->isEntry)
    return d.fail("a kernel cannot be called");
  if (callee->params.size() != site.arguments.size() || callee->returns.size() < site.results.size())
    return d.fail("the arguments do not match '" + callee->name + "'");
  for (size_t i = 0; i < site.arguments.size(); ++i)
    if (callee->variables[callee->params[i]].size != site.arguments[i].size)
      return d.fail("argument " + std::to_string(i + 1) + " has another size than in '" + callee->name + "'");
  site.callee = d.decoder.functionIndex(*callee);
  return true;
}

} // namespace

bool decodeCall(InstDecoder &d) {
  d.take("uni");
  Inst &inst = d.inst;
  inst.flow = Flow::Call;
  inst.undef = UndefRule::Own;
  CallSite site;
  size_t at = 0;
  if (at < d.operandCount() && d.operand(at).kind == Operand::List)
    if (!callSlots(d, d.operand(at++), site.results))
      return false;
  if (at >= d.operandCount())
    return d.fail("the function is missing");
  const Operand &callee = d.operand(at++);
  if (at < d.operandCount() && d.operand(at).kind == Operand::List)
    if (!callSlots(d, d.operand(at++), site.arguments))
      return false;
  // What follows is a prototype or a list of possible targets; neither changes the call.
  if (callee.kind == Operand::Register) {
    d.decoder.needIndirectTargets();
    if (!d.source(callee, ScalarType::U64))
      return false;
  } else if (callee.kind == Operand::Symbol) {
    if (!resolveCallee(d, callee.text, site))
      return false;
  } else {
    return d.fail("malformed call");
  }
  inst.offset = static_cast<int64_t>(d.decoder.program.calls.size());
  d.decoder.program.calls.push_back(std::move(site));
  return true;
}

bool decodeRet(InstDecoder &d) {
  d.take("uni");
  d.inst.flow = d.function.isEntry ? Flow::Exit : Flow::Return;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

bool decodeExit(InstDecoder &d) {
  d.inst.flow = Flow::Exit;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

bool decodeTrap(InstDecoder &d) {
  d.inst.flow = Flow::Trap;
  d.inst.undef = UndefRule::Own;
  return d.expectOperands(0);
}

} // namespace tilewright::ptxsim
