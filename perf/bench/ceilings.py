# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device can do at most, measured in the same run.

bytes_per_s        a copy of 2 GiB, bytes read and bytes written
flops_per_s        the fastest product of 8192 x 8192 halves of the framework's library
i8_flops_per_s, f32_flops_per_s, f64_flops_per_s
                   its product of bytes with i32 sums, of f32 without tf32, of f64 (4096 x 4096); absent where it has none
mma_flops_per_s    nothing but mma.sync m16n8k16 in registers, on every multiprocessor: what kernels for sm_80
                   can reach on this chip
"""

import ctypes

PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 out, .param .u32 count) {{
  .reg .pred %p; .reg .b32 %a<4>, %b<2>, %n; .reg .f32 %c<{registers}>; .reg .b64 %o;
  ld.param.u64 %o, [out]; ld.param.u32 %n, [count];
  mov.b32 %a0, %tid.x; mov.b32 %a1, %tid.x; mov.b32 %a2, %tid.x; mov.b32 %a3, %tid.x;
  mov.b32 %b0, %tid.x; mov.b32 %b1, %tid.x;
{zero}
loop:
{body}
  sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra loop;
{sum}
  st.global.f32 [%o], %c0;
  ret;
}}
"""
CHAINS, COUNT, WARPS = 16, 4096, 8


def mma_kernel():
    """A loop of CHAINS independent products per warp."""
    registers = [[f"%c{4 * i + j}" for j in range(4)] for i in range(CHAINS)]
    body = "\n".join(
        "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%s}, {%%a0, %%a1, %%a2, %%a3}, {%%b0, %%b1}, {%s};" %
        (", ".join(c), ", ".join(c)) for c in registers)
    zero = "\n".join(f"  mov.f32 %c{i}, 0f00000000;" for i in range(4 * CHAINS))
    total = "\n".join(f"  add.f32 %c0, %c0, %c{i};" for i in range(1, 4 * CHAINS))
    return PTX.format(registers=4 * CHAINS, zero=zero, body=body, sum=total)


def measure_mma(torch):
    """FLOP per second of mma.sync alone."""
    driver = ctypes.CDLL("libcuda.so.1")

    def check(code):
        if code:
            raise RuntimeError(f"the CUDA driver answered {code}")

    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(driver.cuModuleLoadData(ctypes.byref(module), mma_kernel().encode() + b"\0"))
    check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"spin"))
    blocks = 2 * torch.cuda.get_device_properties(0).multi_processor_count
    out = torch.empty(1, device="cuda")
    address, count = ctypes.c_uint64(out.data_ptr()), ctypes.c_uint32(COUNT)
    arguments = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(count))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch():
        check(driver.cuLaunchKernel(function, blocks, 1, 1, 32 * WARPS, 1, 1, 0, stream, arguments, None))

    return blocks * WARPS * COUNT * CHAINS * 2 * 16 * 8 * 16 / fastest(torch, launch)


def fastest(torch, call, count=20):
    """Median seconds of a call between two events."""
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
    for _ in range(3):
        call()
    for start, end in events:
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return sorted(start.elapsed_time(end) for start, end in events)[count // 2] * 1e-3


def measure(torch):
    source = torch.randn(1 << 29, device="cuda")
    target = torch.empty_like(source)
    copied = 2 * source.numel() * 4 / fastest(torch, lambda: target.copy_(source))
    del source, target
    products = {}
    for dtype in (torch.float16, torch.bfloat16):
        a, b = (torch.randn(8192, 8192, device="cuda").to(dtype) for _ in range(2))
        products[str(dtype)] = 2 * 8192**3 / fastest(torch, lambda: a @ b)
    a, b = (torch.randint(-128, 128, (8192, 8192), device="cuda", dtype=torch.int8) for _ in range(2))
    others = {}
    try:
        others["i8_flops_per_s"] = 2 * 8192**3 / fastest(torch, lambda: torch._int_mm(a, b))
    except RuntimeError:  # this card or version has no such product
        pass
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, dtype, size in (("f32", torch.float32, 8192), ("f64", torch.float64, 4096)):
        a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
        others[name + "_flops_per_s"] = 2 * size**3 / fastest(torch, lambda: a @ b, count=5)
    return {**others, "bytes_per_s": copied, "flops_per_s": max(products.values()), "mma_flops_per_s": measure_mma(torch)}
