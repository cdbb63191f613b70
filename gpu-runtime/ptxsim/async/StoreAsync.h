// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// st.async and red.async, forms of st and red.

#ifndef TILEWRIGHT_PTXSIM_ASYNC_STOREASYNC_H
#define TILEWRIGHT_PTXSIM_ASYNC_STOREASYNC_H

namespace tilewright::ptxsim {

class InstDecoder;

bool decodeStAsync(InstDecoder &d);
bool decodeRedAsync(InstDecoder &d);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ASYNC_STOREASYNC_H
