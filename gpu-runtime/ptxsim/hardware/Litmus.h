// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One small kernel per rule between the generic and the asynchronous proxy, with the fence that the rule asks for. On a GPU
// each must give `expected` in every one of many launches; whether it also does without the fence tells how strict
// the rule is there. The simulator warns of each fence that is missing.

#ifndef TILEWRIGHT_PTXSIM_HARDWARE_LITMUS_H
#define TILEWRIGHT_PTXSIM_HARDWARE_LITMUS_H

#include <cstdint>
#include <string>

namespace tilewright::ptxsim::litmus {

constexpr uint32_t expected = 4711;

/// Two blocks of 64 threads run the body; [%data] is 256 bytes of zeros, and the first word at [%out] the answer.
struct Kernel {
  const char *name = "";
  unsigned cluster = 1;
  const char *body = "";

  std::string text() const {
    return std::string(".version 8.6\n.target sm_90\n.address_size 64\n") +
           ".visible .entry litmus(.param .u64 data, .param .u64 out) {\n"
           "  .shared .align 128 .b8 tile[128];\n  .shared .align 128 .b8 from[128];\n  .shared .align 8 .b8 bar[8];\n"
           "  .reg .b32 %r<8>, %thread, %block, %value;\n  .reg .b64 %data, %out;\n"
           "  .reg .pred %first, %last, %zero, %one, %done;\n"
           "  ld.param.u64 %data, [data]; ld.param.u64 %out, [out];\n"
           "  mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mov.u32 %value, 4711;\n"
           "  setp.eq.u32 %first, %thread, 0; setp.eq.u32 %last, %thread, 63;\n"
           "  setp.eq.and.u32 %zero, %block, 0, %first; setp.eq.and.u32 %one, %block, 1, %first;\n"
           "  @%first mbarrier.init.shared::cta.b64 [bar], 1;\n  @%first fence.mbarrier_init.release.cluster;\n" +
           (cluster == 1 ? "  bar.sync 0;\n"
                         : "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n") +
           body + "\nEND:\n" +
           (cluster == 1 ? "" : "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n") + "  ret;\n}\n";
  }
};

#define LITMUS_LOAD                                                                                                    \
  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"                                                         \
  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%data], 128, [bar];\n"
#define LITMUS_WAIT                                                                                                    \
  "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0;\n@!%done bra WAIT;\n"
#define LITMUS_ANSWER "ld.shared.b32 %r1, [tile]; st.global.b32 [%out], %r1;"

inline const Kernel kernels[] = {
    {"fence of the writer, shared memory", 1,
     "  mov.u32 %r2, from; mad.lo.u32 %r2, %thread, 4, %r2; setp.lt.u32 %done, %thread, 32;\n"
     "  @%done st.shared.b32 [%r2], %value;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @!%zero bra END;\n"
     "  cp.async.bulk.global.shared::cta.bulk_group [%data], [from], 128;\n  cp.async.bulk.commit_group;\n"
     "  cp.async.bulk.wait_group 0;\n  ld.global.b32 %r1, [%data+124]; st.global.b32 [%out], %r1;"},
    {"fence behind cp.async, shared memory", 1,
     "  .reg .b64 %source;\n  setp.ne.u32 %done, %block, 0; @%done bra END;\n"
     "  mad.wide.u32 %source, %thread, 4, %data; setp.lt.u32 %done, %thread, 32;\n"
     "  @%done st.global.b32 [%source], %value;\n  bar.sync 0;\n"
     "  mov.u32 %r2, from; mad.lo.u32 %r2, %thread, 4, %r2;\n"
     "  @%done cp.async.ca.shared.global [%r2], [%source], 4;\n  cp.async.wait_all;\n"
     "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @!%zero bra END;\n"
     "  cp.async.bulk.global.shared::cta.bulk_group [%data+128], [from], 128;\n  cp.async.bulk.commit_group;\n"
     "  cp.async.bulk.wait_group 0;\n  ld.global.b32 %r1, [%data+252]; st.global.b32 [%out], %r1;"},
    {"fence of the writer, global memory", 1,
     "  @!%zero bra END;\n  st.global.b32 [%data], %value;\n  fence.proxy.async.global;\n" LITMUS_LOAD LITMUS_WAIT
         LITMUS_ANSWER},
    {"fence of the issuer behind a barrier", 1,
     "  setp.eq.and.u32 %last, %block, 0, %last;\n  @%last st.global.b32 [%data], %value;\n  bar.sync 0;\n"
     "  @!%zero bra END;\n  fence.proxy.async.global;\n" LITMUS_LOAD LITMUS_WAIT LITMUS_ANSWER},
    {"fence of the issuer in another block", 1,
     "  @%zero st.global.b32 [%data], %value;\n  @%zero st.release.gpu.global.b32 [%out+8], %value;\n  @!%one bra END;\n"
     "SPIN: ld.acquire.gpu.global.b32 %r2, [%out+8]; setp.eq.u32 %done, %r2, 0; @%done bra SPIN;\n"
     "  fence.proxy.async.global;\n" LITMUS_LOAD LITMUS_WAIT LITMUS_ANSWER},
    {"fence of the writer across a cluster", 2,
     "  .reg .b32 %peer, %far;\n  mov.u32 %r2, from; mapa.shared::cluster.u32 %peer, %r2, 1;\n"
     "  mad.lo.u32 %peer, %thread, 4, %peer; setp.lt.u32 %done, %thread, 32; setp.eq.and.u32 %done, %block, 0, %done;\n"
     "  @%done st.shared::cluster.b32 [%peer], %value;\n  fence.proxy.async.shared::cta;\n"
     "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n  @!%one bra END;\n"
     "  cp.async.bulk.global.shared::cta.bulk_group [%data], [from], 128;\n  cp.async.bulk.commit_group;\n"
     "  cp.async.bulk.wait_group 0;\n  ld.global.b32 %r1, [%data]; st.global.b32 [%out], %r1;"},
    {"fence before overwriting", 1,
     "  @!%zero bra END;\n  st.global.b32 [%data], %value;\n  fence.proxy.async.global;\n"
     "  mov.u32 %r2, 5; st.shared.b32 [tile], %r2;\n  fence.proxy.async.shared::cta;\n" LITMUS_LOAD LITMUS_WAIT
         LITMUS_ANSWER},
    {"completion of a bulk store", 1,
     "  mov.u32 %r2, from; mad.lo.u32 %r2, %thread, 4, %r2; setp.lt.u32 %done, %thread, 32;\n"
     "  @%done st.shared.b32 [%r2], %value;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  @!%first bra END;\n"
     "  @%one bra READ;\n"
     "  cp.async.bulk.global.shared::cta.bulk_group [%data], [from], 128;\n  cp.async.bulk.commit_group;\n"
     "  cp.async.bulk.wait_group 0;\n  st.release.gpu.global.b32 [%out+8], %value;\n  bra END;\n"
     "READ: ld.acquire.gpu.global.b32 %r2, [%out+8]; setp.eq.u32 %done, %r2, 0; @%done bra READ;\n"
     "  ld.global.b32 %r1, [%data+64]; st.global.b32 [%out], %r1;"},
};

#undef LITMUS_LOAD
#undef LITMUS_WAIT
#undef LITMUS_ANSWER

} // namespace tilewright::ptxsim::litmus

#endif // TILEWRIGHT_PTXSIM_HARDWARE_LITMUS_H
