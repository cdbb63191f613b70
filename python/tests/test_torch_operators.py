# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of PyTorch that _lowering/torch_operators.py or irregular.py brings to what torch-mlir has, beside PyTorch's results."""

import math

import numpy as np
import pytest
import tilewright

from test_torch import needs_torch_mlir


def operators():
    """{name: (function of tensors, tensors)}"""
    import torch
    from torch.nn import functional
    generator = torch.Generator().manual_seed(1)

    def random(*shape):
        return torch.randn(shape, generator=generator)

    x, square = random(10, 5), random(5, 5)
    places, ordered = torch.randint(0, 5, (5, 5), generator=generator), square.sort(-1)[0]
    special = x.clone()
    special[2, 1], special[3], special[:, 4] = math.nan, -0.0, special[:, 3]
    # Each with each.
    edges = torch.tensor([0.0, -0.0, 1.0, -2.5, 3.0, 1e30, -1e-30, math.inf, -math.inf, math.nan])
    one, other = edges.repeat_interleave(len(edges)), edges.repeat(len(edges))
    bags, weights = torch.tensor([0, 4, 10, 10, 25]), random(25)
    octets, of_octets = torch.tensor([[200, 7, 130], [1, 255, 128]], dtype=torch.uint8), torch.tensor([[0, 1, 1], [1, 0, 1]])
    return {
        "extrema": (lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.clamp(x, -1.0, 2.0), torch.clamp(x, min=y),
                                  functional.relu6(x), functional.hardsigmoid(x), functional.relu(x)), (one, other)),
        # PyTorch's own has NaN where the quotient is beyond f32.
        "fmod": (lambda x, y: (torch.fmod(x, y), torch.fmod(x, -2.5)), (one.where(one != 1e30, 1e5), other.where(other != -1e-30, -0.3))),
        "fmod of zeros": (lambda x: torch.signbit(torch.fmod(x, 3.0)), (torch.tensor([-0.0, 0.0, -3.0, 3.0]),)),
        "comparisons": (lambda x, y: (torch.isclose(x, y), torch.isfinite(x), torch.signbit(x.nan_to_num(1.0)), x == x, x != x), (one, other)),
        "logaddexp": (lambda x, y: (torch.logaddexp(x, y), torch.logaddexp2(x, y)), (one, other)),
        "hypot": (lambda x, y: torch.hypot(x.clamp(-9, 9), y), (one, other)),
        "dist": (lambda x, y: (torch.dist(x, y), torch.dist(x, y, 1.0)), (square, square.t().contiguous())),
        "max_pool2d with ceil_mode": (lambda x: (functional.max_pool2d(x, 3, 2, ceil_mode=True), functional.max_pool2d(x, 2, 2, 1, ceil_mode=True),
                                                 functional.max_pool2d(x, 3, (1, 2), ceil_mode=True)), (random(1, 2, 9, 8),)),
        "indices of max_pool2d with ceil_mode": (lambda x: (functional.max_pool2d(x, 3, 2, ceil_mode=True, return_indices=True),
                                                            functional.max_pool2d(x, 2, 3, 1, ceil_mode=True, return_indices=True)),
                                                 (random(1, 2, 9, 8),)),
        "avg_pool2d with ceil_mode": (lambda x: (functional.avg_pool2d(x, 3, 2, ceil_mode=True), functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                                                 functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
                                                 functional.avg_pool2d(x, 2, 3, 1, ceil_mode=True, divisor_override=3)), (random(1, 2, 9, 8),)),
        "pools of one dim with ceil_mode": (lambda x: (functional.max_pool1d(x, 3, 2, ceil_mode=True, return_indices=True),
                                                       functional.avg_pool1d(x, 3, 2, ceil_mode=True),
                                                       functional.avg_pool1d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
                                            (random(1, 2, 8),)),
        "indices of max_pool2d of nothing": (lambda x: functional.max_pool2d(x, 3, 2, ceil_mode=True, return_indices=True)[1] < 72,
                                             (torch.full((1, 1, 9, 8), -math.inf),)),
        "average pools without a pad": (lambda x: (functional.avg_pool2d(x, 2, 2), functional.avg_pool2d(x, (3, 2)), functional.avg_pool2d(x, 2, 1)),
                                        (random(1, 2, 9, 8),)),
        "average pools without a batch": (lambda x: (functional.avg_pool2d(x, 3, 2), functional.avg_pool2d(x, 3, 2, ceil_mode=True),
                                                     functional.avg_pool1d(x[0], 3, 2), functional.avg_pool1d(x[0], 3, 2, ceil_mode=True)),
                                          (random(2, 9, 8),)),
        "adaptive_max_pool2d": (lambda x: (functional.adaptive_max_pool2d(x, (4, 2), return_indices=True), functional.adaptive_max_pool2d(x, 1)),
                                (random(2, 8, 8),)),
        "topk in any order": (lambda x: torch.topk(x, 3, sorted=False)[0].sort(-1)[0], (x,)),
        "polygamma below zero": (lambda x: (torch.polygamma(1, x), torch.polygamma(2, x), torch.polygamma(4, x)),
                                 (torch.tensor([-2.3, -1.6, -0.75, 0.25, 0.5, 3.0]),)),
        "pads that shift": (lambda x: (functional.pad(x, (0, 0, 1, -1)), functional.pad(x, (-2, 2, -1, 0), value=3.0), functional.pad(x, (-1, -1))),
                            (random(2, 5, 8),)),
        "histc": (lambda x: (torch.histc(x, 7, -1.5, 1.5), torch.histc(x, 5), torch.histc(x.round(), 4, 0, 3)), (random(9, 20),)),
        "gelu by tanh": (lambda x: functional.gelu(x, approximate="tanh"), (x,)),
        "copysign": (lambda x, y: (torch.copysign(x, y), torch.copysign(x, -0.0)), (x, special.nan_to_num(1.0))),
        "fmax": (lambda x, y, z: (torch.fmax(x, y), torch.fmin(y, x), torch.fmax(y, z), torch.fmin(z, y)), (x, special, torch.tensor(0.5))),
        "addmv": (lambda v, m, w: (torch.addmv(v, m, w, beta=0.5, alpha=2), torch.addmv(v, m, w)), (random(10), x, random(5))),
        "cdist": (lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, 1.0), torch.cdist(x, y, math.inf)), (x, square)),
        "transposed convolution of channels": (
            lambda x, w: functional.conv_transpose2d(x, w, groups=4, stride=2, padding=1, output_padding=1), (random(2, 4, 4, 4), random(4, 1, 3, 3))),
        "transposed convolution in groups": (
            lambda x, w: functional.conv_transpose2d(x, w, groups=2, stride=(2, 3), dilation=2), (random(2, 4, 4, 5), random(4, 3, 3, 3))),
        "variances of nothing": (lambda x: (x.var(0), torch.var_mean(x), torch.std(x, (0, 1), keepdim=True)), (torch.empty(0, 5),)),
        "running sums of one": (lambda x: (x.cumsum(0), x.cumprod(0)), (torch.tensor(3.0),)),
        "logcumsumexp": (lambda x: (torch.logcumsumexp(x, 0), torch.logcumsumexp(x * 1000, 1)), (x,)),
        "cummax": (lambda x: (torch.cummax(x, 0), torch.cummin(x, -1)), (special,)),
        "cummax of nothing": (lambda x: torch.cummax(x, 0), (torch.empty(0, 3),)),
        "sorts of bytes": (lambda x: (torch.sort(x, stable=True), torch.sort(x, descending=True), torch.median(x, 0), torch.median(x),
                                      torch.nanmedian(x, 1)), (octets,)),
        "scatters of bytes": (lambda x, i, s: (x.scatter_reduce(0, i, s, "amax"), x.scatter_reduce(-2, i, s, "amin"), x.index_reduce(0, i[0, :2], s, "amax")),
                              (octets, of_octets, octets.flip(0))),
        "sorts": (lambda x: (torch.sort(x, dim=-1, descending=True, stable=True), torch.argsort(x, dim=0, stable=True),
                             torch.sort(x, dim=0, stable=False)[0]),
                  (special.round(),)),
        "medians": (lambda x: (torch.median(x, 0), torch.nanmedian(x, -1, keepdim=True), torch.median(x), torch.nanmedian(x)), (x.where(x < 1.5, math.nan),)),
        "searchsorted": (lambda a, v: (torch.searchsorted(a, v), torch.searchsorted(a, v, side="right", out_int32=True),
                                       torch.searchsorted(a[0], v), torch.searchsorted(a[0], 0.5)), (ordered, special[:5])),
        "searchsorted of one": (lambda a, v: (torch.searchsorted(a[0], v), torch.searchsorted(a[0], v, right=True)), (ordered, ordered[0, 2])),
        "scatters from the end": (lambda x, i, s: (x.scatter(-1, i, s), x.scatter(-2, i, 2.0), x.scatter_add(-1, i, s),
                                                   x.scatter_reduce(-1, i, s, "mean", include_self=False)),
                                  (x, places.argsort(-1), square)),
        "scatters that reduce": (lambda x, i, s: (x.scatter(0, i, s, reduce="add"), x.scatter(-1, i, 2.0, reduce="multiply")), (x, places, square)),
        "index_reduce": (lambda x, i, s: (x.index_reduce(0, i, s, "mean"), x.index_reduce(-2, i, s, "amax", include_self=False)),
                         (x, places[0], square)),
        "diagonal_scatter": (lambda x, v: (x.diagonal_scatter(v, 1), x.diagonal_scatter(v, -2)), (random(5, 4), random(3))),
        "block_diag": (lambda x, y, z: torch.block_diag(x, y, z), (x, square, torch.tensor([1, 2]))),
        "embedding_bag": (lambda i, w, o, p: (functional.embedding_bag(i, w, o, mode="sum", per_sample_weights=p),
                                              functional.embedding_bag(i, w, o, mode="mean", padding_idx=2),
                                              functional.embedding_bag(i, w, o, mode="max"),
                                              functional.embedding_bag(i, w, o, include_last_offset=True)), (places.flatten(), square, bags, weights)),
        "embedding_bag of no indices": (lambda i, w, o: tuple(functional.embedding_bag(i, w, o, mode=mode) for mode in ("sum", "mean", "max")),
                                        (torch.zeros(0, dtype=torch.int64), square, torch.tensor([0, 0]))),
        "embedding_bag up to the last offset": (
            lambda i, w, o: tuple(functional.embedding_bag(i, w, o, mode=mode, include_last_offset=True) for mode in ("sum", "mean", "max")),
            (places.flatten(), square, torch.tensor([0, 3, 3, 8, 10]))),
        "embedding_bag of rows": (lambda i, w: (functional.embedding_bag(i, w, mode="mean"), functional.embedding_bag(i, w, mode="max", padding_idx=-2)),
                                  (places, square)),
        "index_put of one row": (lambda x, i, v: (torch.index_put(x, (i,), v), torch.index_put(x, (i,), v, accumulate=True), x.index_add(0, i, v)),
                                 (x, torch.tensor([1]), random(1, 5))),
        "index_put of a mask": (lambda x, v, one, m, n: tuple(torch.index_put(x, (mask,), value, accumulate) for mask in (m, n, x > 0)
                                                              for value in ((v, one) if mask.dim() == 1 else (one,)) for accumulate in (False, True)),
                                (square, random(5), torch.tensor(2.0), torch.tensor([False] * 5), torch.tensor([True, False] * 2 + [True]))),
        "scatter of one": (lambda x, i, s: (x.scatter(0, i, s), x.scatter_add(-1, i, s)), (torch.tensor(3.0), torch.tensor(0), torch.tensor(2.0))),
        "constants beside numbers of another type": (
            lambda x: tuple(torch.where(of, x, 0.0) for c in (torch.full_like(x, 2.5),)
                            for of in (c < 1, c >= 3, c > 1, torch.full_like(x, 0.1) == 0.1, torch.full_like(x, 3, dtype=torch.int64) < 3.5)), (x,)),
        "comparisons with numbers": (lambda x: (x > math.inf, x != math.nan, x.long() < 1.5, x.half() <= 0.1, (x > 0) == True), (special.nan_to_num(0.0),)),
        "reductions of one": (lambda x: (x.argmax(), x.argmin(0), torch.max(x, 0), torch.min(x, -1), torch.softmax(x, 0), torch.log_softmax(x, 0), torch.logsumexp(x, 0),
                                         torch.aminmax(x)), (torch.tensor(3.0),)),
        "views of nothing": (lambda x: (functional.unfold(x, 2), x.transpose(1, 3).reshape(0, 5), torch.cat([x, x]).sum(), functional.pixel_shuffle(
            x.expand(0, 4, 5, 5), 2)), (torch.ones(0, 1, 5, 5),)),
        "norms": (lambda x: (torch.linalg.norm(x), torch.linalg.norm(x, 1), torch.linalg.norm(x, "fro", dim=(0, 1)), torch.linalg.norm(x[0], 3.0)), (x,)),
        "norms of f16": (lambda x: torch.linalg.vector_norm(x.half(), 6), (torch.tensor([8.477]),)),
        "sums of f16": (lambda x, w: (x.mean(-1), functional.rms_norm(x, (500,), w), functional.rms_norm(x / 1e4, (500,)), functional.avg_pool1d(x, 250),
                                      x[:, :9].cumsum(-1)), ((random(3, 500) * 30 + 300).half(), torch.ones(500).half())),
        "pools of integers": (lambda x: functional.max_pool2d(x, 2, return_indices=True), ((random(1, 2, 4, 6) * 100).to(torch.int32),)),
        "sums of bools": (lambda x, i, s: (x.index_add(0, i, s), x.scatter_add(0, i, s), x.index_put((i,), s, accumulate=True)), (torch.tensor([True, False]), torch.tensor([0, 1]), torch.tensor([True, True]))),
        "small systems": (lambda a, b, s: (torch.linalg.inv(a), torch.linalg.solve(a, b), torch.linalg.cholesky(s), torch.linalg.cholesky(s, upper=True),
                                           torch.linalg.solve_triangular(s, b, upper=True), torch.linalg.solve_triangular(s, b.mT, upper=False, left=False),
                                           torch.cholesky_solve(b, s)), (square + torch.eye(5), random(5, 3), square @ square.t() + torch.eye(5))),
        "determinants": (lambda a, b: (torch.linalg.det(a), torch.linalg.det(b), torch.linalg.slogdet(b), torch.logdet(b), torch.det(a[..., :0, :0])),
                         (torch.stack([square, torch.eye(5).roll(1, 0)]), torch.tensor([[0.0, 2.0], [-3.0, 1.0]]))),
        "lu": (lambda a, b, w: (torch.linalg.lu(a), torch.linalg.lu(w), torch.linalg.lu_factor(a), torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b),
                                torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b.mT, left=False), torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=True),
                                torch.lu_unpack(*torch.linalg.lu_factor(w))), (torch.stack([square, square + 1]), random(2, 5, 3), random(3, 5))),
        "householder_product": (lambda v, t, s: (torch.linalg.householder_product(v, t), torch.cholesky_inverse(s.tril()), torch.cholesky_inverse(s.triu(), upper=True)),
                                (random(2, 5, 3), random(2, 3), square + 3 * torch.eye(5))),
        "matrix_exp": (lambda a: torch.linalg.matrix_exp(a), (torch.stack([square, square * 0.01, -square * 2]),)),
        "segment_reduce": (lambda x, n: (torch.segment_reduce(x, "sum", lengths=n), torch.segment_reduce(x, "mean", lengths=n), torch.segment_reduce(x, "max", lengths=n, initial=0.5),
                                         torch.segment_reduce(x, "prod", offsets=torch.tensor([0, 4, 10])), torch.segment_reduce(
                                             x, "min", lengths=n[:3].expand(10, 3), axis=1, unsafe=True)), (x, torch.tensor([3, 0, 2, 5]))),
        "flash attention of PyTorch's CPU": (lambda q, k, m: (*torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, k), *torch.ops.aten.
                                                                 _scaled_dot_product_flash_attention_for_cpu(q, k, k, is_causal=True), *torch.ops.aten.
                                                                 _scaled_dot_product_flash_attention_for_cpu(q, k, k, attn_mask=m)),
                                             (random(2, 2, 3, 8), random(2, 2, 6, 8), random(2, 1, 3, 6))),
        "powers of integers": (lambda i, j: (i ** j, i.to(torch.int32) ** j.to(torch.int32)), (torch.tensor([2, -3, 7, 1, -1, -1, 5, 0]), torch.tensor([10, 3, 0, -2, -3, -2, -1, 3]))),
        "avg_pool2d with a divisor": (lambda x: (functional.avg_pool2d(x, (2, 2), divisor_override=-2), functional.avg_pool2d(x, 2, padding=(1,))), (random(1, 1, 4, 4),)),
        "mode": (lambda x: (torch.mode(x), torch.mode(x, 0, keepdim=True)), (random(6, 9).round(),)),
        "antialias": (lambda x: (functional.interpolate(x, (5, 7), mode="bilinear", antialias=True), functional.interpolate(x, (5, 30), mode="bicubic", antialias=True)),
                      (random(1, 2, 17, 23),)),
        "grids in three dims": (lambda x, g: (functional.grid_sample(x, g, align_corners=False), functional.grid_sample(
            x, g, "nearest", "reflection", align_corners=True)), (random(1, 2, 4, 5, 6), random(1, 2, 3, 4, 3))),
        "pdist": (lambda x: (torch.pdist(x), torch.angle(x), torch.cumprod(x, 0, dtype=torch.float64)), (square,)),
        "put": (lambda x, i, v: (x.put(i, v), x.put(i, v, accumulate=True)), (square, torch.tensor([[1, -2]]), random(1, 2))),
        "histc": (lambda x: (torch.histc(x, 4, -1.0, 1.0), torch.histc(x, 7)), (x,)),
        "gcd": (lambda i, j: (torch.gcd(i, j), torch.lcm(i, j), torch.gcd(i.to(torch.int32), j[:1].to(torch.int32))),
                (torch.tensor([12, -18, 0, 7, 1836311903, 0]), torch.tensor([18, 12, 5, 0, 1134903170, 0]))),
        "frexp": (lambda x: torch.frexp(x), (torch.tensor([0.0, 1.0, -0.5, 0.75, 3e38, -1e-38, 1e-44, 8.0, 7.9999995]),)),
        "addbmm": (lambda x, a, b: (torch.addbmm(x, a, b), torch.addbmm(x, a, b, beta=0.5, alpha=2.0), torch.addbmm(x, a, b, beta=0)),
                   (random(3, 5), random(2, 3, 4), random(2, 4, 5))),
        "fractional_max_pool": (lambda x, s, y, t: (torch.ops.aten.fractional_max_pool2d(x, [2, 3], [4, 3], s), torch.ops.aten.fractional_max_pool3d(
            y, [2, 2, 1], [3, 2, 4], t), torch.ops.aten.fractional_max_pool2d(x[0], [2, 2], [3, 4], s[:1])),
            (random(2, 3, 9, 8), random(2, 3, 2).sigmoid(), random(1, 2, 6, 5, 7), random(1, 2, 3).sigmoid())),
        "embedding with max_norm": (lambda i, w: functional.embedding(i, w.clone(), max_norm=1.0), (torch.tensor([1, 3, 3]), square)),
        "as_strided_scatter": (lambda x, v: torch.as_strided_scatter(x, v, (2, 3), (7, 2), 4), (square, random(2, 3))),
        "kthvalue of one": (lambda x: torch.kthvalue(x, 1), (torch.tensor(3.0),)),
        "views that copy": (lambda x: (torch.view_copy(x, (5, 10)), torch.permute_copy(x, (1, 0)), torch.narrow_copy(x, 1, 2, 3), torch.squeeze_copy(x)),
                            (x,)),
        "shifts": (lambda x: (torch.fft.fftshift(x), torch.fft.ifftshift(x, 0)), (x,)),
        "adaptive_max_pool1d": (lambda x: functional.adaptive_max_pool1d(x, 4), (random(2, 3, 7),)),
        "special functions": (lambda x: (torch.lgamma(x), torch.digamma(x.where(x > -3, 0.3)), torch.erfc(x), torch.special.erfcx(x.clamp(min=-3.0)),
                                         torch.special.log_ndtr(x), torch.i0(x.clamp(-5.0, 5.0)), torch.special.i0e(x), torch.special.i1e(x)),
                              (torch.cat([torch.linspace(-4.4, 30.0, 173), edges]).nan_to_num(),)),
        "functions of Bessel and Airy": (
            lambda x, y: (*(getattr(torch.special, f"bessel_j{order}")(x) for order in (0, 1)), *(getattr(torch.special, f"{name}{order}")(y) for order in (
                0, 1) for name in ("bessel_y", "modified_bessel_k", "scaled_modified_bessel_k")), torch.special.spherical_bessel_j0(x), torch.special.airy_ai(x)),
            (torch.linspace(-12.0, 25.0, 149), torch.cat([torch.linspace(0.05, 25.0, 99), torch.tensor([0.0, -1.0])]))),
        "inverses of erf": (lambda x: (torch.erfinv(x), torch.special.ndtri(x)), (torch.linspace(-1.0, 1.0, 101),)),
        "polygamma": (lambda x: (torch.polygamma(1, x), torch.polygamma(2, x), torch.special.zeta(x + 1, x)), (torch.linspace(0.1, 20.0, 50),)),
        "max_unpool": (lambda x: functional.max_unpool2d(*functional.max_pool2d(x, 2, return_indices=True), 2), (random(1, 2, 4, 4),)),
    }


@needs_torch_mlir
def test_experts():
    """Rows that are sorted by expert, each times the matrix of its expert: few, which read their own, and many."""
    import torch
    generator = torch.Generator().manual_seed(2)
    for rows, counts in ((6, [2, 0, 3]), (30, [11, 0, 19])):
        x, w = torch.randn((rows, 16), generator=generator), torch.randn((3, 16, 8), generator=generator)
        offsets = torch.tensor(counts, dtype=torch.int32).cumsum(0).to(torch.int32)

        class Experts(torch.nn.Module):
            def forward(self, x, w, offsets):
                return torch._grouped_mm(x, w, offs=offsets)

        got = tilewright.from_torch(Experts(), (x, w, offsets), target="cpu")(x, w, offsets)
        expected = torch.zeros(rows, 8)
        for expert, (first, last) in enumerate(zip([0, *offsets.tolist()], offsets.tolist())):
            expected[first:last] = x[first:last] @ w[expert]
        assert np.allclose(got, expected.numpy(), atol=1e-5)


@needs_torch_mlir
def test_constants_of_booleans_and_in_lists():
    """Of copies that torch-mlir's importer makes and drops, it took the next for the one before; it takes no constants in lists."""
    import torch

    class Masks(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for number in range(12):
                self.register_buffer(f"mask{number}", torch.arange(4) < number % 5)
            self.register_buffer("places", torch.tensor([3, 0, 2]), persistent=False)
            self.table = torch.nn.Parameter(torch.arange(8.0).reshape(4, 2))

        def forward(self, x):
            found = [torch.where(getattr(self, f"mask{number}"), x, -x) for number in range(12)]
            return torch.stack(found), self.table[self.places] + x[0]

    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    got = tilewright.from_torch(Masks().eval(), (x,), target="cpu")(x)
    for one, other in zip(got, Masks()(x)):
        assert np.array_equal(one, other.detach().numpy())


@needs_torch_mlir
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_operators():
    """All in one program, since each has a second of torch.export and torch-mlir."""
    import torch
    from torch.utils import _pytree
    cases = operators()

    class All(torch.nn.Module):
        def forward(self, *arguments):
            arguments = iter(arguments)
            return {name: function(*(next(arguments) for _ in tensors)) for name, (function, tensors) in cases.items()}

    tensors = tuple(tensor for _, tensors in cases.values() for tensor in tensors)
    wanted = All()(*tensors)
    program = tilewright.from_torch(All(), tensors, via="torch-mlir", target="cpu")
    results = iter(program(*tensors))
    for name, expected in wanted.items():
        for expected in _pytree.tree_leaves(expected):
            if expected.dtype == torch.uint8:  # element types have no sign, NumPy's has
                expected = expected.view(torch.int8)
            close = 1e-3 if expected.dtype == torch.float16 else 1e-5
            np.testing.assert_allclose(np.asarray(next(results)), expected.numpy(), rtol=close, atol=close, err_msg=name)


@needs_torch_mlir
def test_medians_of_dynamic_dims():
    import torch

    class Medians(torch.nn.Module):
        def forward(self, x):
            return x.median(0)[0], x.nanmedian(0)[0], x.median()

    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    exported = torch.export.export(Medians(), (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
    program = tilewright.from_torch(exported, via="torch-mlir", target="cpu")
    for given in (x, x[:4], x.where(x < 1, math.nan)):
        for result, expected in zip(program(given), Medians()(given)):
            np.testing.assert_array_equal(np.asarray(result), expected.numpy())


@needs_torch_mlir
def test_sizes_that_are_data_of_the_run():
    """Elements that a mask has, with results as long as they are many."""
    import torch
    from torch.utils import _pytree

    class Chosen(torch.nn.Module):
        def forward(self, x, mask, w):
            places = torch.where(x[:, 0] > 0)[0]
            of_experts = torch.zeros_like(x).index_add(0, places, x[places] @ w)
            return (torch.nonzero(x > 0), torch.argwhere(x[0] > 0), torch.unique(x.round(), return_inverse=True, return_counts=True),
                    torch.unique_consecutive(mask, return_inverse=True, return_counts=True), torch.masked_select(x, mask), x[mask] * 2, x[x[:, 0] > 0] @ w, of_experts,
                    x[:, mask[0]], x[mask].sum())

    generator = torch.Generator().manual_seed(3)
    x, mask, w = torch.randn(6, 5, generator=generator), torch.rand(6, 5, generator=generator) < 0.4, torch.randn(5, 5, generator=generator)
    module = Chosen()
    program = tilewright.from_torch(module, (x, mask, w), via="torch-mlir", target="cpu")
    for given in ((x, mask, w), (-x, torch.logical_not(mask), w), (x.abs(), torch.ones_like(mask), w), (-x.abs(), mask, w)):
        for number, (result, expected) in enumerate(zip(program(*given), _pytree.tree_leaves(module(*given)))):
            np.testing.assert_allclose(np.asarray(result), expected.numpy(), rtol=1e-5, atol=1e-5, err_msg=str(number))


@needs_torch_mlir
def test_ends_of_ranges():
    """Singular matrices, numbers beyond f32, exponents with all bits of their type."""
    import torch

    class Ends(torch.nn.Module):
        def forward(self, singular, far, base, exponent, large):
            return (torch.linalg.det(singular), *torch.linalg.slogdet(singular), *torch.frexp(far), base ** exponent, torch.linalg.matrix_exp(large))

    given = (torch.ones(2, 3, 3) * torch.tensor([1.0, 0.0])[:, None, None], torch.tensor([0.1, 1 / 3, 1e300, 1e-300, -5e-324, 0.0], dtype=torch.float64),
             torch.tensor([2, 2, 3, 4, 0], dtype=torch.uint8), torch.tensor([128, 130, 200, 131, 128], dtype=torch.uint8), torch.tensor([[-1e6]]))
    program = tilewright.from_torch(Ends(), given, via="torch-mlir", target="cpu")
    for number, (result, expected) in enumerate(zip(program(*given), Ends()(*given))):
        result = np.asarray(result)
        np.testing.assert_array_equal(result.view(np.uint8) if expected.dtype == torch.uint8 else result, expected.numpy(), err_msg=str(number))


@needs_torch_mlir
def test_complex_numbers():
    """Inside of a program: rotary embeddings, with a complex buffer, and Fourier transforms."""
    import torch
    from torch import fft

    class Complex(torch.nn.Module):
        def __init__(self):
            super().__init__()
            angles = torch.outer(torch.arange(16.0), 1 / 10000 ** (torch.arange(0, 8) / 8))
            self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

        def forward(self, x, wave, window):
            pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
            spectrum = torch.stft(wave[:, :80], 16, 4, window=window, return_complex=True)
            z, half = torch.complex(x, x + 1), fft.rfft(x)
            return (torch.view_as_real(pairs * self.turns).flatten(-2), half.abs(), fft.irfft(half), fft.irfft(half * 2, n=13), fft.rfftfreq(8), fft.fftfreq(7),
                    torch.view_as_real(fft.fft2(x)), fft.ifft2(fft.fft2(x)).real, fft.fftn(x, norm="ortho").imag, fft.hfft(fft.ihfft(x)), fft.rfft(wave).real,
                    fft.irfft(fft.rfft(wave)), spectrum.abs(), torch.istft(spectrum, 16, 4, window=window), z.angle(), (z / (z - 2)).imag, (half.conj() * half).real,
                    (z @ z.transpose(-1, -2)).real, torch.exp(1j * x).real, (1 / z).imag, z.sum(1).real, torch.cat([z, x.to(z.dtype)]).imag, z == z)

    generator = torch.Generator().manual_seed(1)
    tensors = torch.randn(2, 16, 16, generator=generator), torch.randn(2, 1000, generator=generator), torch.hann_window(16)
    module = Complex()
    program = tilewright.from_torch(module, tensors, via="torch-mlir", target="cpu")
    for number, (result, expected) in enumerate(zip(program(*tensors), module(*tensors))):
        np.testing.assert_allclose(np.asarray(result), expected.numpy(), rtol=1e-4, atol=1e-4, err_msg=str(number))
    with pytest.raises(tilewright.CompileError, match="max_pool of i64: torch-mlir does not lower it; "):
        tilewright.from_torch(torch.nn.MaxPool2d(2), (torch.ones(1, 1, 4, 4, dtype=torch.int64),), via="torch-mlir", target="cpu")
    with pytest.raises(tilewright.CompileError, match="its argument 'input' is complex: give its parts, by view_as_real"):
        tilewright.from_torch(torch.nn.Identity(), (torch.ones(2, dtype=torch.complex64),), via="torch-mlir", target="cpu")
