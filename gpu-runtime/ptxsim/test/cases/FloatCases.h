// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point instructions and conversions, at the edges: NaN, infinities, signed zeros, subnormal values, every
// rounding mode, saturation, and the small formats.

#ifndef TILEWRIGHT_PTXSIM_TEST_CASES_FLOATCASES_H
#define TILEWRIGHT_PTXSIM_TEST_CASES_FLOATCASES_H

#include "cases/InstructionCase.h"

namespace tilewright::ptxsim::cases::floating {

inline constexpr uint64_t one = 0x3f800000, two = 0x40000000, half = 0x3f000000, negOne = 0xbf800000;
inline constexpr uint64_t inf = 0x7f800000, negInf = 0xff800000, nan = 0x7fc00000, canonical = 0x7fffffff;
inline constexpr uint64_t negZero = 0x80000000, tiny = 1, negTiny = 0x80000001, largest = 0x7f7fffff;
inline constexpr uint64_t oneD = 0x3ff0000000000000, nanD = 0x7ff8000000000000, canonicalD = 0xfff8000000000000;

inline const InstructionCase single[] = {
    {"add.f32", "r=rr", {one, one}, two},
    {"add.rn.f32", "r=rr", {inf, negInf}, canonical},
    {"add.f32", "r=rr", {nan, one}, canonical},
    {"add.f32", "r=rr", {negZero, 0}, 0},
    {"add.rm.f32", "r=rr", {one, negOne}, negZero},
    {"add.f32", "r=rr", {tiny, tiny}, 2},
    {"add.ftz.f32", "r=rr", {tiny, tiny}, 0},
    {"add.ftz.f32", "r=rr", {negTiny, negTiny}, negZero},
    {"add.rn.f32", "r=rr", {one, 0x33800000}, one}, // 1 + 2^-24: a tie, to even
    {"add.rp.f32", "r=rr", {one, 0x33800000}, 0x3f800001},
    {"add.rz.f32", "r=rr", {one, 0x33ffffff}, one},
    {"add.rm.f32", "r=rr", {negOne, 0xb3800000}, 0xbf800001},
    {"add.rz.f32", "r=rr", {largest, largest}, largest},
    {"add.sat.f32", "r=rr", {one, one}, one},
    {"add.sat.f32", "r=rr", {negOne, 0}, 0},
    {"add.sat.f32", "r=rr", {nan, 0}, 0},
    {"sub.f32", "r=rr", {one, half}, half},
    {"mul.f32", "r=rr", {0, inf}, canonical},
    {"mul.rz.f32", "r=rr", {0x3f800001, 0x3f800001}, 0x3f800002},
    {"mul.rp.f32", "r=rr", {0x3f800001, 0x3f800001}, 0x3f800003},
    {"mul.ftz.f32", "r=rr", {0x00800000, half}, 0},
    {"mul.f32", "r=rr", {0x00800000, half}, 0x00400000},
    {"fma.rn.f32", "r=rrr", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000}, // 2^-46: one rounding only
    {"fma.rn.sat.f32", "r=rrr", {two, two, one}, one},
    {"fma.rm.f32", "r=rrr", {one, 0x33800000, one}, one},
    {"fma.rp.f32", "r=rrr", {one, 0x33800000, one}, 0x3f800001},
    {"mad.rn.f32", "r=rrr", {two, two, one}, 0x40a00000},
    {"div.rn.f32", "r=rr", {one, 0x40400000}, 0x3eaaaaab},
    {"div.rz.f32", "r=rr", {one, 0x40400000}, 0x3eaaaaaa},
    {"div.rn.f32", "r=rr", {one, 0}, inf},
    {"div.rn.f32", "r=rr", {0, 0}, canonical},
    {"div.full.f32", "r=rr", {0x40c00000, two}, 0x40400000},
    {"div.approx.f32", "r=rr", {one, 0x7f000000}, 0},
    {"rcp.rn.f32", "r=r", {two}, half},
    {"rcp.rn.f32", "r=r", {negZero}, negInf},
    {"rcp.approx.ftz.f32", "r=r", {tiny}, inf},
    {"sqrt.rn.f32", "r=r", {two}, 0x3fb504f3},
    {"sqrt.rp.f32", "r=r", {two}, 0x3fb504f4},
    {"sqrt.rn.f32", "r=r", {negOne}, canonical},
    {"sqrt.rn.f32", "r=r", {negZero}, negZero},
    {"rsqrt.approx.f32", "r=r", {0x40800000}, half},
    {"rsqrt.approx.f32", "r=r", {0}, inf},
    {"rsqrt.approx.f32", "r=r", {negOne}, canonical},
    {"min.f32", "r=rr", {nan, one}, one},
    {"min.NaN.f32", "r=rr", {nan, one}, canonical},
    {"min.f32", "r=rr", {nan, nan}, canonical},
    {"min.f32", "r=rr", {0, negZero}, negZero},
    {"max.f32", "r=rr", {negZero, 0}, 0},
    {"max.xorsign.abs.f32", "r=rr", {negOne, two}, 0xc0000000},
    {"min.ftz.f32", "r=rr", {tiny, one}, 0},
    {"abs.f32", "r=r", {negOne}, one},
    {"abs.ftz.f32", "r=r", {negTiny}, 0},
    {"neg.f32", "r=r", {0}, negZero},
    {"copysign.f32", "r=rr", {negOne, two}, 0xc0000000},
    {"ex2.approx.f32", "r=r", {two}, 0x40800000},
    {"ex2.approx.f32", "r=r", {negInf}, 0},
    {"lg2.approx.f32", "r=r", {0x41000000}, 0x40400000},
    {"lg2.approx.f32", "r=r", {0}, negInf},
    {"lg2.approx.f32", "r=r", {negOne}, canonical},
    {"sin.approx.f32", "r=r", {negZero}, negZero},
    {"cos.approx.f32", "r=r", {0}, one},
    {"cos.approx.f32", "r=r", {inf}, canonical},
    {"tanh.approx.f32", "r=r", {inf}, one},
    // The first old value goes to the register of the second addend.
    {"atom.global.add.v2.f32 {$2, $0}, [%address], {$1, $2}; ld.global.b32 $0, [%address+4]", "r=rr", {one, two}, two},
    {"testp.finite.f32", "p=r", {inf}, 0},
    {"testp.subnormal.f32", "p=r", {tiny}, 1},
    {"testp.notanumber.f32", "p=r", {nan}, 1},
    {"testp.normal.f64", "p=d", {oneD}, 1},
    {"testp.normal.f32", "p=r", {0}, 1},
    {"testp.normal.f32", "p=r", {negZero}, 1},
    {"testp.normal.f32", "p=r", {tiny}, 0},
    {"testp.normal.f32", "p=r", {inf}, 0},
    {"testp.subnormal.f32", "p=r", {0}, 0},
    {"setp.lt.f32", "p=rr", {nan, one}, 0},
    {"setp.ltu.f32", "p=rr", {nan, one}, 1},
    {"setp.ne.f32", "p=rr", {nan, nan}, 0},
    {"setp.neu.f32", "p=rr", {nan, nan}, 1},
    {"setp.eq.f32", "p=rr", {0, negZero}, 1},
    {"setp.num.f32", "p=rr", {nan, one}, 0},
    {"setp.nan.f32", "p=rr", {nan, one}, 1},
    {"setp.eq.ftz.f32", "p=rr", {tiny, 0}, 1},
    {"setp.gt.f64", "p=dd", {oneD, nanD}, 0},
};

inline const InstructionCase doubles[] = {
    {"add.f64", "d=dd", {oneD, oneD}, 0x4000000000000000},
    {"add.rp.f64", "d=dd", {oneD, 1}, oneD + 1},
    {"add.f64", "d=dd", {nanD, oneD}, canonicalD},
    {"mul.rz.f64", "d=dd", {oneD + 1, oneD + 1}, oneD + 2},
    {"fma.rn.f64", "d=ddd", {oneD + 1, oneD + 1, 0xbff0000000000002}, 0x3970000000000000}, // 2^-104
    {"div.rm.f64", "d=dd", {oneD, 0x4008000000000000}, 0x3fd5555555555555},
    {"div.rp.f64", "d=dd", {oneD, 0x4008000000000000}, 0x3fd5555555555556},
    {"rcp.rn.f64", "d=d", {0x4000000000000000}, 0x3fe0000000000000},
    {"sqrt.rn.f64", "d=d", {0x4000000000000000}, 0x3ff6a09e667f3bcd},
    {"rcp.approx.ftz.f64", "d=d", {0x40000000ffffffff}, 0x3fe0000000000000},
    {"rsqrt.approx.f64", "d=d", {0x4010000000000000}, 0x3fe0000000000000},
    {"min.f64", "d=dd", {nanD, oneD}, oneD},
    {"neg.f64", "d=d", {0}, 1ull << 63},
};

inline const InstructionCase halves[] = {
    {"add.f16", "h=hh", {0x3c00, 0x3c00}, 0x4000},
    {"add.f16", "h=hh", {0x7bff, 0x7bff}, 0x7c00},
    {"add.f16", "h=hh", {0x7c00, 0xfc00}, 0x7fff},
    {"add.f16", "h=hh", {0x0001, 0x0001}, 0x0002},
    {"add.ftz.f16", "h=hh", {0x0001, 0x0001}, 0},
    {"add.sat.f16", "h=hh", {0x3c00, 0x3c00}, 0x3c00},
    {"mul.f16", "h=hh", {0x3c01, 0x3c01}, 0x3c02},
    {"fma.rn.f16", "h=hhh", {0x3c01, 0x3c01, 0xbc02}, 0x0010}, // 2^-20, subnormal
    {"fma.rn.relu.f16", "h=hhh", {0x3c00, 0xbc00, 0}, 0},
    {"fma.rn.f16x2", "r=rrr", {0x3c004000, 0x40004000, 0x3c003c00}, 0x42004500},
    {"fma.rn.bf16", "h=hhh", {0x3f80, 0x3f80, 0x3f80}, 0x4000},
    {"fma.rn.bf16x2", "r=rrr", {0x3f803f80, 0x40003f80, 0}, 0x40003f80},
    {"add.bf16", "h=hh", {0x3f80, 0x3b80}, 0x3f80}, // 1 + 2^-8: a tie, to even
    {"add.bf16x2", "r=rr", {0x3f80bf80, 0x3f803f80}, 0x40000000},
    {"sub.f16x2", "r=rr", {0x40003c00, 0x3c003c00}, 0x3c000000},
    {"neg.f16x2", "r=r", {0x3c00bc00}, 0xbc003c00},
    {"abs.bf16", "h=h", {0xbf80}, 0x3f80},
    {"max.f16", "h=hh", {0x7e00, 0x3c00}, 0x3c00},
    {"max.NaN.f16", "h=hh", {0x7e00, 0x3c00}, 0x7fff},
    {"min.bf16x2", "r=rr", {0x3f804000, 0x40003f80}, 0x3f803f80},
    {"setp.lt.f16", "p=hh", {0x3c00, 0x4000}, 1},
    {"setp.gt.bf16", "p=hh", {0x3f80, 0x4000}, 0},
    {"set.lt.f16.f16", "h=hh", {0x3c00, 0x4000}, 0x3c00},
    {"set.eq.f16x2.f16x2", "r=rr", {0x3c004000, 0x3c003c00}, 0x3c000000},
    {"set.eq.and.f16x2.f16x2", "r=rrp", {0x3c004000, 0x3c003c00, 0}, 0},
    {"set.eq.and.f16x2.f16x2", "r=rrp", {0x3c004000, 0x3c003c00, 1}, 0x3c000000},
    {"set.eq.xor.bf16x2.bf16x2", "r=rrp", {0x3f804000, 0x3f803f80, 1}, 0x00003f80},
    {"ex2.approx.f16", "h=h", {0x4000}, 0x4400},
    {"tanh.approx.bf16", "h=h", {0x7f80}, 0x3f80},
};

inline const InstructionCase conversions[] = {
    {"cvt.rni.s32.f32", "r=r", {0x40200000}, 2}, // 2.5
    {"cvt.rzi.s32.f32", "r=r", {0xc0200000}, 0xfffffffe},
    {"cvt.rmi.s32.f32", "r=r", {0xc0200000}, 0xfffffffd},
    {"cvt.rpi.s32.f32", "r=r", {0x40200000}, 3},
    {"cvt.rzi.s32.f32", "r=r", {nan}, 0},
    {"cvt.rzi.s32.f32", "r=r", {0x4f800000}, 0x7fffffff},
    {"cvt.rzi.u32.f32", "r=r", {negOne}, 0},
    {"cvt.rzi.u32.f32", "r=r", {inf}, 0xffffffff},
    {"cvt.rzi.u64.f32", "d=r", {0x5f000000}, 1ull << 63},
    {"cvt.rzi.s64.f64", "d=d", {0xbff8000000000000}, ~0ull},
    {"cvt.rn.f32.s32", "r=r", {0x01000001}, 0x4b800000}, // 2^24 + 1: a tie
    {"cvt.rp.f32.s32", "r=r", {0x01000001}, 0x4b800001},
    {"cvt.rz.f32.u32", "r=r", {0xffffffff}, 0x4f7fffff},
    {"cvt.rn.f32.u32", "r=r", {0xffffffff}, 0x4f800000},
    {"cvt.rn.f32.s64", "r=d", {~0ull}, negOne},
    {"cvt.rn.f32.u64", "r=d", {0x8000008000000001}, 0x5f000001},
    {"cvt.rn.f64.u64", "d=d", {~0ull}, 0x43f0000000000000},
    {"cvt.rz.f64.u64", "d=d", {~0ull}, 0x43efffffffffffff},
    {"cvt.rn.f64.s32", "d=r", {0xffffffff}, 0xbff0000000000000},
    {"cvt.f64.f32", "d=r", {one}, oneD},
    {"cvt.rn.f32.f64", "r=d", {0x3ff0000010000000}, one}, // 1 + 2^-24
    {"cvt.rp.f32.f64", "r=d", {0x3ff0000010000000}, 0x3f800001},
    {"cvt.rn.f32.f64", "r=d", {0x7fe0000000000000}, inf},
    {"cvt.rz.f32.f64", "r=d", {0x7fe0000000000000}, largest},
    {"cvt.rn.f16.f32", "h=r", {one}, 0x3c00},
    {"cvt.rn.f16.f32", "h=r", {0x477ff000}, 0x7c00}, // 65520 rounds to infinity
    {"cvt.rz.f16.f32", "h=r", {0x477ff000}, 0x7bff},
    {"cvt.rn.f16.f32", "h=r", {0x33000000}, 0}, // half the least subnormal: to even
    {"cvt.rn.f16.f32", "h=r", {0x33000001}, 1},
    {"cvt.f32.f16", "r=h", {0x0001}, 0x33800000},
    {"cvt.f32.f16", "r=h", {0xfc00}, negInf},
    {"cvt.rn.bf16.f32", "h=r", {0x3f808000}, 0x3f80},
    {"cvt.rn.bf16.f32", "h=r", {0x3f818000}, 0x3f82},
    {"cvt.rz.bf16.f32", "h=r", {0x3f81ffff}, 0x3f81},
    {"cvt.rn.relu.bf16.f32", "h=r", {negOne}, 0},
    {"cvt.f32.bf16", "r=h", {0x3f80}, one},
    {"cvt.rn.f16x2.f32", "r=rr", {one, two}, 0x3c004000},
    {"cvt.rn.bf16x2.f32", "r=rr", {one, two}, 0x3f804000},
    {"cvt.rn.satfinite.e4m3x2.f32", "h=rr", {one, 0x44000000}, 0x387e}, // 512 becomes 448
    {"cvt.rn.satfinite.e5m2x2.f32", "h=rr", {one, two}, 0x3c40},
    {"cvt.rn.f16x2.e4m3x2", "r=h", {0x387e}, 0x3c005f00},
    {"cvt.rna.tf32.f32", "r=r", {0x3f801000}, 0x3f802000},
    {"cvt.rna.tf32.f32", "r=r", {nan}, canonical},
    {"cvt.rna.tf32.f32", "r=r", {negInf}, negInf},
    {"cvt.rni.f32.f32", "r=r", {0x3fc00000}, two},
    {"cvt.rmi.f32.f32", "r=r", {0xbe800000}, negOne},
    {"cvt.sat.f32.f32", "r=r", {two}, one},
    {"cvt.ftz.f32.f32", "r=r", {tiny}, 0},
    {"cvt.s32.s8", "r=r", {0x80}, 0xffffff80},
    {"cvt.u32.u8", "r=r", {0x180}, 0x80},
    {"cvt.s64.s32", "d=r", {0x80000000}, 0xffffffff80000000},
    {"cvt.u64.u32", "d=r", {0x80000000}, 0x80000000},
    {"cvt.u16.u32", "h=r", {0x12345678}, 0x5678},
    {"cvt.sat.s8.s32", "r=r", {1000}, 127},
    {"cvt.sat.u8.s32", "r=r", {0xffffffff}, 0},
    {"cvt.sat.u16.u32", "h=r", {0x12345678}, 0xffff},
    {"cvt.sat.s32.u32", "r=r", {0xffffffff}, 0x7fffffff},
    {"cvt.rn.f16.s32", "h=r", {2049}, 0x6800},
    {"cvt.rzi.s32.f16", "r=h", {0xc500}, 0xfffffffb},
    {"cvt.pack.sat.u8.s32.b32", "r=rrr", {300, 0xffffffff, 0x1234}, 0x1234ff00},
};

} // namespace tilewright::ptxsim::cases::floating

#endif // TILEWRIGHT_PTXSIM_TEST_CASES_FLOATCASES_H
