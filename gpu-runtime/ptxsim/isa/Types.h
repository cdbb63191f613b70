// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar types, state spaces and small enumerations of the PTX ISA that every folder of the simulator shares.

#ifndef TILEWRIGHT_PTXSIM_ISA_TYPES_H
#define TILEWRIGHT_PTXSIM_ISA_TYPES_H

#include <cstdint>
#include <string_view>

namespace tilewright::ptxsim {

inline constexpr unsigned warpSize = 32;

enum class ScalarType : uint8_t {
  None,
#define PTXSIM_TYPE(name, spelling, bits, kind) name,
#include "isa/Types.def"
};

enum class TypeKind : uint8_t { None, Pred, Bits, Unsigned, Signed, Float, Packed };

/// Width in bits of one register of this type; 0 for None.
inline constexpr uint8_t typeBits[] = {
    0,
#define PTXSIM_TYPE(name, spelling, bits, kind) bits,
#include "isa/Types.def"
};
inline constexpr TypeKind typeKinds[] = {
    TypeKind::None,
#define PTXSIM_TYPE(name, spelling, bits, kind) TypeKind::kind,
#include "isa/Types.def"
};

inline unsigned bitWidth(ScalarType type) { return typeBits[static_cast<unsigned>(type)]; }
inline TypeKind kindOf(ScalarType type) { return typeKinds[static_cast<unsigned>(type)]; }
/// Spelling without the leading dot.
std::string_view spelling(ScalarType type);
/// The type spelled `.name`, or None.
ScalarType parseType(std::string_view name);

inline unsigned byteWidth(ScalarType type) { return (bitWidth(type) + 7) / 8; }
inline bool isSigned(ScalarType type) { return kindOf(type) == TypeKind::Signed; }
inline bool isFloat(ScalarType type) { return kindOf(type) == TypeKind::Float; }
inline bool isInteger(ScalarType type) {
  TypeKind kind = kindOf(type);
  return kind == TypeKind::Unsigned || kind == TypeKind::Signed;
}

/// SharedCluster: addresses in the shared memory of any block of the cluster; Shared: of the own block.
enum class Space : uint8_t { Generic, Global, Const, Shared, SharedCluster, Local, Param, Reg };
std::string_view spelling(Space space);

enum class Rounding : uint8_t { Nearest, Zero, Down, Up, NearestAway };

enum class Compare : uint8_t {
  Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan
};

/// Scopes of the memory model, ordered by inclusion.
enum class Scope : uint8_t { None, Cta, Cluster, Gpu, Sys };

/// Ordering of a memory operation. Weak accesses may not race; the others are strong.
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel, SeqCst };

/// Low `bits` bits set; 64 and more give all ones.
inline uint64_t lowBits(unsigned bits) { return bits >= 64 ? ~0ull : (1ull << bits) - 1; }

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ISA_TYPES_H
