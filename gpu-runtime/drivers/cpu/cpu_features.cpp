// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads CPUID (Intel SDM vol. 2A, AMD APM vol. 3). A vector feature counts only
// if the system saves its registers: XCR0 bits 1-2 for AVX, 5-7 for AVX-512,
// 17-18 for AMX, 19 for APX. Of AMX, Linux gives a process the registers when it asks for
// them (arch_prctl, Documentation/arch/x86/xstate.rst). On AArch64 the kernel
// says what there is.

#include "cpu_features.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace tilewright::runtime {

#if defined(__x86_64__)

namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };
enum State : uint8_t { None, Avx, Avx512, Amx, Apx };

struct Feature {
  const char *name;
  uint32_t leaf;
  uint8_t subleaf;
  Register reg;
  uint8_t bit;
  State state;
};

// LLVM's names (X86TargetParser.def) and where CPUID has them.
constexpr Feature kFeatures[] = {
    {"x87", 1, 0, EDX, 0, None},
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"crc32", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"xsave", 1, 0, ECX, 27, None},
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"sgx", 7, 0, EBX, 2, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8, None},
    {"invpcid", 7, 0, EBX, 10, None},
    {"rtm", 7, 0, EBX, 11, None},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"evex512", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"prefetchwt1", 7, 0, ECX, 0, None},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"pku", 7, 0, ECX, 4, None},
    {"waitpkg", 7, 0, ECX, 5, None},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"shstk", 7, 0, ECX, 7, None},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"rdpid", 7, 0, ECX, 22, None},
    {"kl", 7, 0, ECX, 23, None},
    {"cldemote", 7, 0, ECX, 25, None},
    {"movdiri", 7, 0, ECX, 27, None},
    {"movdir64b", 7, 0, ECX, 28, None},
    {"enqcmd", 7, 0, ECX, 29, None},
    {"uintr", 7, 0, EDX, 5, None},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"serialize", 7, 0, EDX, 14, None},
    {"tsxldtrk", 7, 0, EDX, 16, None},
    {"pconfig", 7, 0, EDX, 18, None},
    {"amx-bf16", 7, 0, EDX, 22, Amx},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Amx},
    {"amx-int8", 7, 0, EDX, 25, Amx},
    {"sha512", 7, 1, EAX, 0, Avx},
    {"sm3", 7, 1, EAX, 1, Avx},
    {"sm4", 7, 1, EAX, 2, Avx},
    {"raoint", 7, 1, EAX, 3, None},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"cmpccxadd", 7, 1, EAX, 7, None},
    {"amx-fp16", 7, 1, EAX, 21, Amx},
    {"hreset", 7, 1, EAX, 22, None},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"movrs", 7, 1, EAX, 31, None},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"amx-complex", 7, 1, EDX, 8, Amx},
    {"avxvnniint16", 7, 1, EDX, 10, Avx},
    {"prefetchi", 7, 1, EDX, 14, None},
    {"usermsr", 7, 1, EDX, 15, None},
    {"xsaveopt", 0xd, 1, EAX, 0, None},
    {"xsavec", 0xd, 1, EAX, 1, None},
    {"xsaves", 0xd, 1, EAX, 3, None},
    {"egpr", 7, 1, EDX, 21, Apx},
    {"push2pop2", 7, 1, EDX, 21, Apx},
    {"ppx", 7, 1, EDX, 21, Apx},
    {"ndd", 7, 1, EDX, 21, Apx},
    {"ccmp", 7, 1, EDX, 21, Apx},
    {"nf", 7, 1, EDX, 21, Apx},
    {"cf", 7, 1, EDX, 21, Apx},
    {"zu", 7, 1, EDX, 21, Apx},
    {"amx-fp8", 0x1e, 1, EAX, 4, Amx},
    {"amx-tf32", 0x1e, 1, EAX, 6, Amx},
    {"amx-avx512", 0x1e, 1, EAX, 7, Amx},
    {"amx-movrs", 0x1e, 1, EAX, 8, Amx},
    {"ptwrite", 0x14, 0, EBX, 4, None},
    {"widekl", 0x19, 0, EBX, 2, None},
    {"sahf", 0x80000001, 0, ECX, 0, None},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
    {"sse4a", 0x80000001, 0, ECX, 6, None},
    {"prfchw", 0x80000001, 0, ECX, 8, None},
    {"xop", 0x80000001, 0, ECX, 11, Avx},
    {"lwp", 0x80000001, 0, ECX, 15, None},
    {"fma4", 0x80000001, 0, ECX, 16, Avx},
    {"tbm", 0x80000001, 0, ECX, 21, None},
    {"mwaitx", 0x80000001, 0, ECX, 29, None},
    {"64bit", 0x80000001, 0, EDX, 29, None},
    {"clzero", 0x80000008, 0, EBX, 0, None},
    {"rdpru", 0x80000008, 0, EBX, 4, None},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, None},
};

uint64_t enabledStates() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool stateEnabled(State state) {
  static const uint64_t enabled = enabledStates();
  uint64_t wanted = state == None     ? 0
                    : state == Avx    ? 0x6
                    : state == Avx512 ? 0xe6
                    : state == Amx    ? 0x60006
                                      : 0x80000;
  return (enabled & wanted) == wanted;
}

/// Asks for the tile registers: for all threads of the process, once.
bool tilesPermitted() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  static const bool permitted =
      syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return permitted;
#else
  return true;
#endif
}

bool detect(const Feature &feature) {
  uint32_t values[4] = {};
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &values[EAX],
                         &values[EBX], &values[ECX], &values[EDX]))
    return false;
  if (feature.leaf == 7 && feature.subleaf == 1) {
    uint32_t most = 0, b, c, d; // leaf 7 says how many subleaves there are
    __get_cpuid_count(7, 0, &most, &b, &c, &d);
    if (most < 1)
      return false;
  }
  return (values[feature.reg] >> feature.bit & 1) &&
         stateEnabled(feature.state) && (feature.state != Amx || tilesPermitted());
}

/// AVX10 has one bit, and a version in a leaf of its own.
bool hasAvx10(uint32_t version) {
  uint32_t a, known = 0, c, d;
  return detect({"avx10", 7, 1, EDX, 19, Avx512}) &&
         __get_cpuid_count(0x24, 0, &a, &known, &c, &d) && (known & 0xff) >= version;
}

bool hasAll(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (!hasCpuFeature(name))
      return false;
  return true;
}

} // namespace

bool hasCpuFeature(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (name == feature.name)
      return detect(feature);
  return (name == "avx10.1" && hasAvx10(1)) || (name == "avx10.2" && hasAvx10(2));
}

// The levels of the x86-64 psABI, section 3.1.1.
int cpuLevel() {
  if (!hasAll({"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}))
    return 1;
  if (!hasAll({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe",
               "xsave"}))
    return 2;
  if (!hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return 3;
  return 4;
}

std::string cpuName() {
  char text[49] = {};
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t values[4] = {};
    if (!__get_cpuid(0x80000002 + i, &values[0], &values[1], &values[2],
                     &values[3]))
      return "x86-64 processor";
    std::memcpy(text + 16 * i, values, 16);
  }
  std::string name(text);
  size_t begin = name.find_first_not_of(' ');
  size_t end = name.find_last_not_of(' ');
  return begin == std::string::npos ? "x86-64 processor"
                                    : name.substr(begin, end - begin + 1);
}

int64_t sveBits() { return 0; }

#elif defined(__aarch64__)

namespace {

struct Feature {
  const char *name;
  unsigned long first, second; // bits of AT_HWCAP, AT_HWCAP2
};

// LLVM's names (AArch64Features.td) and the kernel's bits (Documentation/arch/arm64/elf_hwcaps.rst).
constexpr Feature kFeatures[] = {
    {"fp-armv8", HWCAP_FP, 0},
    {"neon", HWCAP_ASIMD, 0},
    {"aes", HWCAP_AES | HWCAP_PMULL, 0},
    {"sha2", HWCAP_SHA1 | HWCAP_SHA2, 0},
    {"crc", HWCAP_CRC32, 0},
    {"lse", HWCAP_ATOMICS, 0},
    {"fullfp16", HWCAP_FPHP | HWCAP_ASIMDHP, 0},
    {"rdm", HWCAP_ASIMDRDM, 0},
    {"jsconv", HWCAP_JSCVT, 0},
    {"complxnum", HWCAP_FCMA, 0},
    {"rcpc", HWCAP_LRCPC, 0},
    {"sha3", HWCAP_SHA3 | HWCAP_SHA512, 0},
    {"sm4", HWCAP_SM3 | HWCAP_SM4, 0},
    {"dotprod", HWCAP_ASIMDDP, 0},
    {"fp16fml", HWCAP_ASIMDFHM, 0},
    {"sve", HWCAP_SVE, 0},
    {"sve2", HWCAP_SVE, HWCAP2_SVE2},
    {"f32mm", HWCAP_SVE, HWCAP2_SVEF32MM},
    {"f64mm", HWCAP_SVE, HWCAP2_SVEF64MM},
    {"fptoint", 0, HWCAP2_FRINT},
    {"i8mm", 0, HWCAP2_I8MM},
    {"bf16", 0, HWCAP2_BF16},
};

} // namespace

bool hasCpuFeature(std::string_view name) {
  for (const Feature &feature : kFeatures)
    if (name == feature.name)
      return (getauxval(AT_HWCAP) & feature.first) == feature.first &&
             (getauxval(AT_HWCAP2) & feature.second) == feature.second;
  return false;
}

int cpuLevel() { return 0; }

int64_t sveBits() {
  if (!hasCpuFeature("sve"))
    return 0;
  int length = prctl(PR_SVE_GET_VL);
  return length < 0 ? 0 : 8 * (length & PR_SVE_VL_LEN_MASK);
}

std::string cpuName() { return "AArch64 processor"; }

#else

bool hasCpuFeature(std::string_view) { return false; }
int cpuLevel() { return 0; }
int64_t sveBits() { return 0; }
std::string cpuName() { return "processor"; }

#endif

} // namespace tilewright::runtime
