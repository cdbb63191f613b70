// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libtilewright.so is the static runtime with only the C API visible
// (exports.map); a shared library needs one source file of its own.
