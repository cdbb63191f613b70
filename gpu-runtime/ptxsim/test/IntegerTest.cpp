// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bit instructions; expected values worked out from the definitions of the PTX ISA.

#include "InstructionHarness.h"

using namespace tilewright::ptxsim;

namespace {

const uint64_t m1 = 0xffffffff;    // -1 in 32 bits
const uint64_t m1d = ~0ull;        // -1 in 64 bits
const uint64_t least = 0x80000000; // the least 32-bit integer
const uint64_t most = 0x7fffffff;  // the greatest
const uint64_t leastd = 1ull << 63;

const InstructionCase arithmetic[] = {
    {"add.s32", "r=rr", {m1, 1}, 0},
    {"add.s32", "r=rr", {most, 1}, least},
    {"add.sat.s32", "r=rr", {most, 1}, most},
    {"add.sat.s32", "r=rr", {least, m1}, least},
    {"add.s16", "h=hh", {0x7fff, 1}, 0x8000},
    {"add.u64", "d=dd", {m1d, 2}, 1},
    {"sub.s32", "r=rr", {0, 1}, m1},
    {"sub.sat.s32", "r=rr", {least, 1}, least},
    {"sub.u16", "h=hh", {0, 1}, 0xffff},
    {"mul.lo.s32", "r=rr", {0x10000, 0x10000}, 0},
    {"mul.hi.s32", "r=rr", {m1, m1}, 0},
    {"mul.hi.u32", "r=rr", {m1, m1}, 0xfffffffe},
    {"mul.hi.s64", "d=dd", {m1d, 5}, m1d},
    {"mul.hi.u64", "d=dd", {m1d, m1d}, m1d - 1},
    {"mul.wide.s32", "d=rr", {m1, 3}, m1d - 2},
    {"mul.wide.u32", "d=rr", {m1, 3}, 0x2fffffffdull},
    {"mul.wide.s16", "r=hh", {0xffff, 2}, 0xfffffffe},
    {"mul.wide.u16", "r=hh", {0xffff, 2}, 0x1fffe},
    {"mul.hi.s16", "h=hh", {0x8000, 0x8000}, 0x4000},
    {"mul24.lo.s32", "r=rr", {0x800000, 2}, 0xff000000},
    {"mul24.lo.u32", "r=rr", {0x1800000, 2}, 0x1000000},
    {"mul24.hi.u32", "r=rr", {0xffffff, 0xffffff}, 0xfffffe00},
    {"mad24.lo.u32", "r=rrr", {3, 4, 5}, 17},
    {"mad.lo.s32", "r=rrr", {m1, 5, 7}, 2},
    {"mad.hi.u32", "r=rrr", {m1, m1, 3}, 1},
    {"mad.wide.s32", "d=rrd", {m1, 4, 1}, m1d - 2},
    {"mad.hi.sat.s32", "r=rrr", {most, most, most}, most},
    {"sad.s32", "r=rrr", {m1, 1, 10}, 12},
    {"sad.u32", "r=rrr", {m1, 1, 10}, 8},
    {"div.s32", "r=rr", {m1 - 6, 2}, m1 - 2},
    {"div.s32", "r=rr", {least, m1}, least},
    {"div.s32", "r=rr", {5, 0}, m1},
    {"div.u32", "r=rr", {5, 0}, m1},
    {"div.u32", "r=rr", {m1, 2}, most},
    {"div.u64", "d=dd", {m1d, 10}, 1844674407370955161ull},
    {"rem.s32", "r=rr", {m1 - 6, 3}, m1},
    {"rem.s32", "r=rr", {least, m1}, 0},
    {"rem.u32", "r=rr", {7, 0}, 7},
    {"abs.s32", "r=r", {m1}, 1},
    {"abs.s32", "r=r", {least}, least},
    {"neg.s32", "r=r", {least}, least},
    {"neg.s16", "h=h", {1}, 0xffff},
    {"min.s32", "r=rr", {m1, 1}, m1},
    {"min.u32", "r=rr", {m1, 1}, 1},
    {"max.s64", "d=dd", {m1d, 1}, 1},
    {"max.u64", "d=dd", {m1d, 1}, m1d},
    {"max.s16x2", "r=rr", {0x7fff8000, 0x80007fff}, 0x7fff7fff},
    {"min.u16x2", "r=rr", {0x7fff8000, 0x80007fff}, 0x7fff7fff},
    {"max.s16x2.relu", "r=rr", {0xffff0001, 0xfffe0000}, 0x00000001},
    {"add.u16x2", "r=rr", {0xffff0001, 0x0001ffff}, 0},
    {"dp4a.u32.u32", "r=rrr", {0x01020304, 0x05060708, 10}, 80},
    {"dp4a.s32.s32", "r=rrr", {0xff010000, 0x02000000, 0}, m1 - 1},
    {"dp4a.u32.s32", "r=rrr", {0x000000ff, 0x000000ff, 0}, m1 - 254},
    {"dp2a.lo.s32.s32", "r=rrr", {0xffff0002, 0x00000103, 0}, 5},
    {"dp2a.hi.u32.u32", "r=rrr", {0x00010002, 0x03040000, 1}, 12},
};

const InstructionCase bits[] = {
    {"and.b32", "r=rr", {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
    {"or.b16", "h=hh", {0xf000, 0x000f}, 0xf00f},
    {"xor.b64", "d=dd", {m1d, 1}, m1d - 1},
    {"not.b16", "h=h", {0x00ff}, 0xff00},
    {"not.b32", "r=r", {0}, m1},
    {"cnot.b32", "r=r", {0}, 1},
    {"cnot.b32", "r=r", {5}, 0},
    {"and.pred", "p=pp", {1, 0}, 0},
    {"xor.pred", "p=pp", {1, 0}, 1},
    {"not.pred", "p=p", {0}, 1},
    {"shl.b32", "r=rr", {1, 31}, least},
    {"shl.b32", "r=rr", {1, 32}, 0},
    {"shl.b32", "r=rr", {m1, 0xffffffff}, 0},
    {"shl.b64", "d=dr", {1, 63}, leastd},
    {"shl.b64", "d=dr", {1, 64}, 0},
    {"shl.b16", "h=hr", {0xffff, 8}, 0xff00},
    {"shr.u32", "r=rr", {least, 31}, 1},
    {"shr.u32", "r=rr", {m1, 32}, 0},
    {"shr.s32", "r=rr", {least, 4}, 0xf8000000},
    {"shr.s32", "r=rr", {least, 100}, m1},
    {"shr.s16", "h=hr", {0x8000, 15}, 0xffff},
    {"shr.s64", "d=dr", {leastd, 64}, m1d},
    {"shf.l.clamp.b32", "r=rrr", {0x80000000, 1, 1}, 3},
    {"shf.l.clamp.b32", "r=rrr", {0x12345678, 0x9abcdef0, 40}, 0x12345678},
    {"shf.l.wrap.b32", "r=rrr", {0x12345678, 0x9abcdef0, 36}, 0xabcdef01},
    {"shf.r.wrap.b32", "r=rrr", {0x12345678, 0x9abcdef0, 4}, 0x01234567},
    {"shf.r.clamp.b32", "r=rrr", {0x12345678, 0x9abcdef0, 32}, 0x9abcdef0},
    {"bfe.u32", "r=rrr", {0x12345678, 8, 8}, 0x56},
    {"bfe.s32", "r=rrr", {0x0000f000, 12, 4}, m1},
    {"bfe.u32", "r=rrr", {m1, 28, 8}, 0xf},
    {"bfe.s32", "r=rrr", {least, 28, 8}, 0xfffffff8},
    {"bfe.u32", "r=rrr", {m1, 40, 4}, 0},
    {"bfe.s32", "r=rrr", {least, 40, 4}, m1},
    {"bfe.u32", "r=rrr", {m1, 3, 0}, 0},
    {"bfe.u64", "d=drr", {m1d, 60, 8}, 0xf},
    {"bfi.b32", "r=rrrr", {0xab, 0, 8, 8}, 0xab00},
    {"bfi.b32", "r=rrrr", {m1, 0, 28, 8}, 0xf0000000},
    {"bfi.b32", "r=rrrr", {m1, 5, 32, 8}, 5},
    {"bfi.b32", "r=rrrr", {m1, 5, 0, 0}, 5},
    {"bfi.b64", "d=ddrr", {m1d, 0, 32, 4}, 0xf00000000ull},
    {"bmsk.clamp.b32", "r=rr", {4, 8}, 0xff0},
    {"bmsk.clamp.b32", "r=rr", {28, 40}, 0xf0000000},
    {"bmsk.wrap.b32", "r=rr", {36, 33}, 0x10},
    {"szext.clamp.s32", "r=rr", {0x80, 8}, 0xffffff80},
    {"szext.wrap.u32", "r=rr", {0x1ff, 40}, 0xff},
    {"popc.b32", "r=r", {0xf0f0f0f0}, 16},
    {"popc.b64", "r=d", {m1d}, 64},
    {"clz.b32", "r=r", {1}, 31},
    {"clz.b32", "r=r", {0}, 32},
    {"clz.b64", "r=d", {0}, 64},
    {"clz.b64", "r=d", {1}, 63},
    {"brev.b32", "r=r", {1}, least},
    {"brev.b64", "d=d", {2}, 1ull << 62},
    {"bfind.u32", "r=r", {0x10}, 4},
    {"bfind.u32", "r=r", {0}, m1},
    {"bfind.s32", "r=r", {0xfffffff0}, 3},
    {"bfind.s32", "r=r", {m1}, m1},
    {"bfind.shiftamt.u32", "r=r", {0x10}, 27},
    {"bfind.u64", "r=d", {1ull << 40}, 40},
    {"fns.b32", "r=rrr", {0x000000a0, 0, 1}, 5},
    {"fns.b32", "r=rrr", {0x000000a0, 0, 3}, m1},
    {"fns.b32", "r=rrr", {0x000000a1, 6, m1}, 5},
    {"fns.b32", "r=rrr", {0x000000a0, 5, 0}, 5},
    {"lop3.b32", "r=rrri", {0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0x96}, 0xff00ff00 ^ 0xf0f0f0f0 ^ 0xcccccccc},
    {"lop3.b32",
     "r=rrri",
     {0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xca},
     ((0xff00ff00ull & 0xf0f0f0f0) | (~0xff00ff00ull & 0xcccccccc)) & 0xffffffff},
    {"prmt.b32", "r=rrr", {0x33221100, 0x77665544, 0x3210}, 0x33221100},
    {"prmt.b32", "r=rrr", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32", "r=rrr", {0x80000000, 0, 0xbbb3}, 0xffffff80},
    {"prmt.b32.f4e", "r=rrr", {0x33221100, 0x77665544, 1}, 0x44332211},
    {"prmt.b32.b4e", "r=rrr", {0x33221100, 0x77665544, 1}, 0x66770011},
    {"prmt.b32.rc8", "r=rrr", {0x33221100, 0, 2}, 0x22222222},
    {"prmt.b32.rc16", "r=rrr", {0x33221100, 0, 1}, 0x33223322},
};

const InstructionCase comparisons[] = {
    {"setp.lt.s32", "p=rr", {m1, 0}, 1},
    {"setp.lt.u32", "p=rr", {m1, 0}, 0},
    {"setp.lo.u32", "p=rr", {0, m1}, 1},
    {"setp.hs.u32", "p=rr", {5, 5}, 1},
    {"setp.ge.s16", "p=hh", {0xffff, 0}, 0},
    {"setp.eq.b64", "p=dd", {m1d, m1d}, 1},
    {"setp.ne.b16", "p=hh", {1, 1}, 0},
    {"setp.gt.s64", "p=dd", {1, m1d}, 1},
    {"setp.eq.and.s32", "p=rrp", {1, 1, 0}, 0},
    {"setp.eq.or.s32", "p=rrp", {1, 2, 1}, 1},
    {"setp.eq.xor.s32", "p=rrp", {1, 1, 1}, 0},
    {"set.lt.u32.s32", "r=rr", {m1, 0}, m1},
    {"set.lt.f32.s32", "r=rr", {m1, 0}, 0x3f800000},
    {"set.gt.u32.f32", "r=rr", {0x3f800000, 0x40000000}, 0},
    {"selp.b32", "r=rrp", {5, 6, 1}, 5},
    {"selp.b64", "d=ddp", {5, 6, 0}, 6},
    {"slct.u32.s32", "r=rrr", {5, 6, m1}, 6},
    {"slct.u32.s32", "r=rrr", {5, 6, 0}, 5},
    {"slct.b64.f32", "d=ddr", {5, 6, 0x80000000}, 5},
    {"slct.b64.f32", "d=ddr", {5, 6, 0xbf800000}, 6},
};

TEST(Integer, Arithmetic) {
  for (const InstructionCase &test : arithmetic)
    checkInstruction(test);
}
TEST(Integer, Bits) {
  for (const InstructionCase &test : bits)
    checkInstruction(test);
}
TEST(Integer, Comparisons) {
  for (const InstructionCase &test : comparisons)
    checkInstruction(test);
}

TEST(Integer, CarryChain) {
  // (2^64 - 1) + 1 in 32-bit halves, and 0 - 1.
  const char *text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 out) {
  .reg .b32 %r<8>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  mov.u32 %r1, -1;
  add.cc.u32 %r2, %r1, 1;
  addc.cc.u32 %r3, %r1, 0;
  addc.u32 %r4, 0, 0;
  sub.cc.u32 %r5, 0, 1;
  subc.u32 %r6, 0, 0;
  mad.lo.cc.u32 %r7, %r1, %r1, %r1;
  madc.hi.u32 %r7, %r1, %r1, 0;
  st.global.v4.u32 [%rd], {%r2, %r3, %r4, %r5};
  st.global.v2.u32 [%rd+16], {%r6, %r7};
  ret;
})";
  TestDevice device;
  ASSERT_TRUE(device.load(text)) << device.message;
  uint64_t out = device.allocate(24);
  ASSERT_TRUE(device.launch("chain", {1}, {1}, out)) << device.report();
  EXPECT_EQ(device.download<uint32_t>(out, 6), (std::vector<uint32_t>{0, 0, 1, 0xffffffff, 0xffffffff, 0xffffffff}));
}

} // namespace
