// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Video instructions; expected values worked out from the definitions of the PTX ISA.

#ifndef TILEWRIGHT_PTXSIM_TEST_CASES_VIDEOCASES_H
#define TILEWRIGHT_PTXSIM_TEST_CASES_VIDEOCASES_H

#include "cases/InstructionCase.h"

namespace tilewright::ptxsim::cases::video {

inline constexpr uint64_t m1 = 0xffffffff;
inline constexpr uint64_t least = 0x80000000, most = 0x7fffffff;

inline const InstructionCase scalar[] = {
    {"vadd.s32.s32.s32", "r=rr", {most, 1}, least},
    {"vadd.s32.s32.s32.sat", "r=rr", {most, 1}, most},
    {"vadd.s32.u32.u32.sat", "r=rr", {m1, m1}, most},
    {"vadd.u32.s32.s32.sat", "r=rr", {m1, 0}, 0},
    {"vadd.s32.u32.s32 $0, $1.b3, $2.h1", "r=rr", {0x80000000, 0xffff0000}, 127},
    {"vadd.s32.s32.s32 $0, $1.b3, $2.b0", "r=rr", {0x80000000, 0xff}, m1 - 128},
    {"vadd.s32.s32.s32.add", "r=rrr", {5, 6, m1}, 10},
    {"vadd.s32.s32.s32.min", "r=rrr", {5, 6, m1}, m1},
    {"vadd.u32.s32.s32.max", "r=rrr", {5, 6, m1}, m1},
    {"vadd.s32.s32.s32.max", "r=rrr", {5, 6, m1}, 11},
    {"vadd.u32.u32.u32.sat $0.b1, $1, $2, $3", "r=rrr", {200, 100, 0x11223344}, 0x1122ff44},
    {"vadd.s32.u32.u32.sat $0.b1, $1, $2, $3", "r=rrr", {200, 100, 0x11223344}, 0x11227f44},
    {"vadd.u32.u32.u32 $0.h1, $1, $2, $3", "r=rrr", {0xffff, 3, 0x11223344}, 0x00023344},
    {"vsub.s32.u32.u32", "r=rr", {1, 3}, m1 - 1},
    {"vsub.u32.u32.u32.sat", "r=rr", {1, 3}, 0},
    {"vabsdiff.u32.s32.s32", "r=rr", {least, most}, m1},
    {"vabsdiff.u32.u32.u32.add", "r=rrr", {7, 10, 100}, 103},
    {"vmin.s32.s32.u32", "r=rr", {m1, m1}, m1},
    {"vmax.u32.s32.u32", "r=rr", {m1, 3}, 3},
    {"vset.u32.s32.lt", "r=rr", {3, m1}, 0},
    {"vset.s32.u32.lt", "r=rr", {m1, 0}, 1},
    {"vset.u32.u32.ge.add", "r=rrr", {3, 3, 41}, 42},
    {"vset.u32.u32.ne $0.b2, $1, $2, $3", "r=rrr", {3, 4, m1}, 0xff01ffff},
    {"vshl.u32.u32.u32.clamp", "r=rr", {1, 33}, 0},
    {"vshl.u32.u32.u32.wrap", "r=rr", {1, 33}, 2},
    {"vshl.s32.u32.u32.sat.clamp", "r=rr", {1, 31}, most},
    {"vshr.s32.s32.u32.clamp", "r=rr", {least, 40}, m1},
    {"vshr.u32.u32.u32.wrap.add", "r=rrr", {0x100, 36, 5}, 21},
    {"vmad.s32.s32.s32", "r=rrr", {m1, 5, 7}, 2},
    {"vmad.u32.u32.u32.po", "r=rrr", {3, 4, 5}, 18},
    {"vmad.s32.s32.s32 $0, -$1, $2, $3", "r=rrr", {3, 4, 5}, m1 - 6},
    {"vmad.s32.s32.s32 $0, $1, $2, -$3", "r=rrr", {3, 4, 5}, 7},
    {"vmad.s32.s32.s32 $0, -$1, -$2, $3", "r=rrr", {3, 4, 5}, 17},
    {"vmad.s32.s32.s32.shr7", "r=rrr", {0x1000, 0x1000, 0}, 0x20000},
    {"vmad.s32.s32.s32.shr15", "r=rrr", {m1, 1, 0}, m1},
    {"vmad.s32.s32.s32.sat", "r=rrr", {most, 2, 0}, most},
    {"vmad.u32.u32.u32.sat", "r=rrr", {m1, m1, 0}, m1},
    {"vmad.s32.s32.u32.sat $0, $1.h1, $2.b0, $3", "r=rrr", {0xfffe0000, 0xff, 0}, m1 - 509},
};

inline const InstructionCase lanes[] = {
    {"vadd2.s32.s32.s32", "r=rrr", {0x7fff0001, 0x00010002, 0}, 0x80000003},
    {"vadd2.s32.s32.s32.sat", "r=rrr", {0x7fff0001, 0x00010002, 0}, 0x7fff0003},
    {"vadd2.u32.s32.s32.sat", "r=rrr", {0xffff0001, 0x00000002, 0}, 0x00000003},
    {"vadd2.s32.s32.s32.add", "r=rrr", {0xffff0001, 0x00000002, 10}, 12},
    {"vadd2.u32.u32.u32 $0.h1, $1, $2, $3", "r=rrr", {0x00030001, 0x00040002, 0x55556666}, 0x00076666},
    // Halves of {b, a}: 1, 2, 3, 4 from the lowest. The lanes are 1 + 2 and 4 + 3.
    {"vadd2.u32.u32.u32 $0, $1.h30, $2.h21, $3", "r=rrr", {0x00020001, 0x00040003, 0}, 0x00070003},
    {"vsub2.s32.u32.u32.sat", "r=rrr", {0x00010005, 0x00020003, 0}, 0xffff0002},
    {"vavrg2.s32.s32.s32", "r=rrr", {0xfffd0001, 0x00000002, 0}, 0xfffe0002},
    {"vabsdiff2.u32.s32.s32", "r=rrr", {0x80000003, 0x7fff0005, 0}, 0xffff0002},
    {"vmin2.s32.s32.s32", "r=rrr", {0xffff0005, 0x00010002, 0}, 0xffff0002},
    {"vmax2.u32.u32.u32", "r=rrr", {0xffff0005, 0x00010002, 0}, 0xffff0005},
    {"vset2.s32.s32.lt", "r=rrr", {0xffff0005, 0x00010002, 0}, 0x00010000},
    {"vset2.u32.u32.eq.add", "r=rrr", {0x00010002, 0x00010002, 40}, 42},
    {"vadd4.u32.u32.u32", "r=rrr", {0xff010203, 0x01010101, 0}, 0x00020304},
    {"vadd4.u32.u32.u32.sat", "r=rrr", {0xff010203, 0x01010101, 0}, 0xff020304},
    {"vadd4.s32.s32.s32.sat", "r=rrr", {0x80017f03, 0xff010101, 0}, 0x80027f04},
    {"vsub4.u32.u32.u32.sat", "r=rrr", {0x05000302, 0x01010101, 0}, 0x04000201},
    {"vabsdiff4.u32.u32.u32.add", "r=rrr", {0x01ff0010, 0x03000010, 1000}, 1257},
    {"vabsdiff4.u32.u32.u32", "r=rrr", {0x01ff0010, 0x03000010, 0}, 0x02ff0000},
    {"vavrg4.u32.u32.u32", "r=rrr", {0x01ff0003, 0x02ff0004, 0}, 0x02ff0004},
    {"vmin4.s32.s32.s32", "r=rrr", {0x80017f05, 0x00ff0102, 0}, 0x80ff0102},
    {"vmax4.u32.u32.u32 $0.b310, $1, $2, $3", "r=rrr", {0x01020304, 0x04030201, 0x99999999}, 0x04990304},
    {"vadd4.u32.u32.u32 $0, $1.b7654, $2.b0000, $3", "r=rrr", {0x00000001, 0x10203040, 0}, 0x11213141},
    {"vset4.u32.u32.ne", "r=rrr", {0x01020304, 0x01000300, 0}, 0x00010001},
};

} // namespace tilewright::ptxsim::cases::video

#endif // TILEWRIGHT_PTXSIM_TEST_CASES_VIDEOCASES_H
