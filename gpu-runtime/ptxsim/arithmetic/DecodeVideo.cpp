// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading video instructions (Video.h): modifiers, and the selectors behind operands.

#include "arithmetic/Families.h"
#include "arithmetic/Video.h"
#include "decode/Decoder.h"

namespace tilewright::ptxsim {

void videoScalar(ExecContext &context, const Inst &inst);
void videoMad(ExecContext &context, const Inst &inst);
void videoLanes(ExecContext &context, const Inst &inst);

namespace {

bool takeOp(InstDecoder &d, VideoCode &code, std::string_view name) {
  static constexpr std::string_view names[] = {"add", "sub", "absdiff", "avrg", "min", "max", "shl", "shr", "mad", "set"};
  for (uint8_t op = 0; op < std::size(names); ++op)
    if (names[op] == name) {
      code.op = static_cast<VideoOp>(op);
      return true;
    }
  return d.unsupported("this operation");
}

bool isWord(ScalarType type) { return type == ScalarType::U32 || type == ScalarType::S32; }

/// The types of the result (none for vset, whose result is 0 or 1), of a and of b.
bool takeTypes(InstDecoder &d, VideoCode &code, bool hasResultType) {
  d.inst.type = hasResultType ? d.takeType() : ScalarType::U32;
  code.aType = d.takeType();
  code.bType = d.takeType();
  return (isWord(d.inst.type) && isWord(code.aType) && isWord(code.bType)) || d.fail("the types are .u32 and .s32");
}

bool takeCompare(InstDecoder &d) {
  static constexpr std::string_view names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (uint8_t i = 0; i < std::size(names); ++i)
    if (d.take(names[i])) {
      d.inst.compare = static_cast<Compare>(i);
      return true;
    }
  return d.fail("the comparison is missing");
}

/// .b0 to .b3, .h0 and .h1; nothing for the whole register.
bool readPart(InstDecoder &d, const Operand &operand, VideoPart &part) {
  std::string_view selector = operand.selector;
  if (selector.empty())
    return true;
  bool isByte = selector[0] == 'b';
  unsigned number = selector.size() == 2 ? static_cast<unsigned>(selector[1] - '0') : 4u;
  if ((!isByte && selector[0] != 'h') || number > (isByte ? 3u : 1u))
    return d.fail("no selector ." + std::string(selector));
  part.bits = isByte ? 8 : 16;
  part.number = static_cast<uint8_t>(number);
  return true;
}

/// .h10 or .b7654: where the lanes come from, the last digit for lane 0.
bool readLanes(InstDecoder &d, const Operand &operand, unsigned lanes, uint8_t *from) {
  std::string_view selector = operand.selector;
  if (selector.empty())
    return true;
  if (selector.size() != lanes + 1 || selector[0] != (lanes == 2 ? 'h' : 'b'))
    return d.fail("no selector ." + std::string(selector));
  for (unsigned i = 0; i < lanes; ++i) {
    unsigned digit = static_cast<unsigned>(selector[lanes - i] - '0');
    if (digit >= 2 * lanes)
      return d.fail("no selector ." + std::string(selector));
    from[i] = static_cast<uint8_t>(digit);
  }
  return true;
}

/// .h0, .b310 and so on: the lanes that are computed, the highest first.
bool readMask(InstDecoder &d, const Operand &operand, unsigned lanes, uint8_t &mask) {
  std::string_view selector = operand.selector;
  if (selector.empty())
    return true;
  mask = 0;
  unsigned last = lanes;
  bool ok = selector.size() > 1 && selector[0] == (lanes == 2 ? 'h' : 'b');
  for (char digit : selector.substr(1)) {
    unsigned number = static_cast<unsigned>(digit - '0');
    ok &= number < last;
    last = number;
    mask |= static_cast<uint8_t>(1u << (number & 7));
  }
  return ok || d.fail("no mask ." + std::string(selector));
}

bool operands(InstDecoder &d, VideoCode code, Handler run, size_t count) {
  d.inst.run = run;
  d.inst.undef = UndefRule::All;
  d.allowSelectors();
  if (!d.expectOperands(count) || !d.destination(0, ScalarType::B32))
    return false;
  for (size_t i = 1; i < count; ++i) {
    if (d.operand(i).minus && run != videoMad)
      return d.fail("operands are not negated here");
    if (i == 3 && !d.operand(i).selector.empty())
      return d.fail("the third operand is whole");
    if (!d.source(i, ScalarType::B32))
      return false;
  }
  d.inst.offset = static_cast<int64_t>(d.decoder.program.videos.size());
  d.decoder.program.videos.push_back(code);
  return true;
}

bool takeMad(InstDecoder &d, VideoCode code) {
  code.plusOne = d.take("po");
  code.scale = d.take("shr7") ? 7 : d.take("shr15") ? 15 : 0;
  if (!d.expectOperands(4))
    return false;
  code.negateA = d.operand(1).minus;
  code.negateB = d.operand(2).minus;
  code.negateC = d.operand(3).minus;
  bool negates = code.negateA || code.negateB || code.negateC;
  if (code.negateC && code.negateA != code.negateB)
    return d.fail("either the product or the third operand can be negated");
  if (code.plusOne && negates)
    return d.fail(".po goes with positive operands");
  return operands(d, code, videoMad, 4);
}

} // namespace

bool decodeVideoScalar(InstDecoder &d) {
  VideoCode code;
  if (!takeOp(d, code, d.syntax.root.substr(1)) || !takeTypes(d, code, code.op != VideoOp::Set))
    return false;
  code.saturate = d.take("sat");
  if (d.operandCount() < 3 || !readPart(d, d.operand(0), code.d) || !readPart(d, d.operand(1), code.a) ||
      !readPart(d, d.operand(2), code.b))
    return d.fail("malformed video instruction");
  if (code.op == VideoOp::Mad)
    return takeMad(d, code);
  if (code.op == VideoOp::Set && !takeCompare(d))
    return false;
  if (code.op == VideoOp::ShiftLeft || code.op == VideoOp::ShiftRight) {
    code.wrap = d.take("wrap");
    if (!code.wrap && !d.take("clamp"))
      return d.fail("needs .clamp or .wrap");
    if (code.bType != ScalarType::U32)
      return d.fail("the amount is .u32");
  }
  code.second = d.take("add")   ? VideoSecond::Add
                : d.take("min") ? VideoSecond::Min
                : d.take("max") ? VideoSecond::Max
                                : VideoSecond::None;
  bool merges = code.d.bits != 32;
  if (merges && code.second != VideoSecond::None)
    return d.fail("either a part of the result or a second operation");
  return operands(d, code, videoScalar, merges || code.second != VideoSecond::None ? 4 : 3);
}

bool decodeVideoLanes(InstDecoder &d) {
  VideoCode code;
  std::string_view root = d.syntax.root;
  code.lanes = static_cast<uint8_t>(root.back() - '0');
  bool isSet = root.substr(1, root.size() - 2) == "set";
  if (!takeOp(d, code, root.substr(1, root.size() - 2)) || !takeTypes(d, code, !isSet) || (isSet && !takeCompare(d)))
    return false;
  code.saturate = d.take("sat");
  code.second = d.take("add") ? VideoSecond::Add : VideoSecond::None;
  if (code.saturate && code.second == VideoSecond::Add)
    return d.fail(".sat does not go with .add");
  // Without selectors a's lanes are those of a, b's those of b.
  for (uint8_t i = 0; i < code.lanes; ++i)
    code.bFrom[i] = static_cast<uint8_t>(code.lanes + i);
  return d.expectOperands(4) && readMask(d, d.operand(0), code.lanes, code.mask) &&
         readLanes(d, d.operand(1), code.lanes, code.aFrom) && readLanes(d, d.operand(2), code.lanes, code.bFrom) &&
         operands(d, code, videoLanes, 4);
}

} // namespace tilewright::ptxsim
