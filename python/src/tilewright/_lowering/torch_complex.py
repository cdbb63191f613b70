# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers inside of a program of PyTorch as pairs of real tensors: rotary embeddings, Fourier transforms.

    view_as_complex(x) * frequencies     (x[..., 0] * re - x[..., 1] * im, …), where torch-mlir would keep complex<f32>
    fft, rfft, irfft, stft, …            products with matrices of cosines and sines; of long ones in steps, by the factors of a length

The graph is traced once more, with a Pair in the place of each complex tensor. Complex buffers become real ones with a dim of 2 behind.
"""

import math

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree
from torch.utils._python_dispatch import TorchDispatchMode

import diagnostics

aten = torch.ops.aten
_COMPLEX = {torch.float16: torch.complex32, torch.float32: torch.complex64, torch.float64: torch.complex128}
_REAL = {kind: part for part, kind in _COMPLEX.items()}
RULES = {}


class Pair(torch.Tensor):
    """A complex tensor to PyTorch, whose operators are those of RULES."""

    @staticmethod
    def __new__(cls, real, imag):
        return torch.Tensor._make_wrapper_subclass(cls, real.shape, dtype=_COMPLEX[real.dtype], device=real.device)

    def __init__(self, real, imag):
        self.parts = real, imag

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return _call(function, args, kwargs or {})


class _Split(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return _call(function, args, kwargs or {})


def _call(function, args, kwargs):
    leaves = _pytree.tree_leaves((args, kwargs))
    has_pair = any(isinstance(leaf, (Pair, complex)) for leaf in leaves)
    makes_complex = function in _MAKING or any(isinstance(leaf, torch.dtype) and leaf in _REAL for leaf in leaves)
    if not has_pair and not makes_complex:
        return function(*args, **kwargs)
    if function in _BY_PARTS and has_pair:
        results = [function(*_part(args, number), **kwargs) for number in range(2)]
        return _pytree.tree_map(Pair, *results)
    if function not in RULES:
        raise diagnostics.Refused(f"PyTorch op {str(function).removesuffix('.default')} of complex numbers: it is not lowered")
    return RULES[function](*args, **kwargs)


def _part(args, number):
    """Arguments with the real or the imaginary parts. In lists of tensors that have some complex ones the others are complex, too."""
    def part(value):
        if isinstance(value, Pair):
            return value.parts[number]
        if isinstance(value, (list, tuple)) and any(isinstance(each, Pair) for each in value):
            return [part(each) if isinstance(each, Pair) or number == 0 else torch.zeros_like(each) for each in value]
        return value
    return tuple(part(value) for value in args)


_BY_PARTS = {getattr(getattr(aten, name), overload) for name, overload in (
    ("view", "default"), ("_unsafe_view", "default"), ("reshape", "default"), ("permute", "default"), ("transpose", "int"), ("t", "default"),
    ("expand", "default"), ("unsqueeze", "default"), ("squeeze", "default"), ("squeeze", "dim"), ("squeeze", "dims"), ("slice", "Tensor"),
    ("select", "int"), ("cat", "default"), ("stack", "default"), ("clone", "default"), ("alias", "default"), ("detach", "default"), ("neg", "default"),
    ("flip", "default"), ("roll", "default"), ("index_select", "default"), ("index", "Tensor"), ("constant_pad_nd", "default"), ("sum", "default"),
    ("sum", "dim_IntList"), ("mean", "default"), ("mean", "dim"), ("split", "Tensor"), ("split_with_sizes", "default"), ("unbind", "int"),
    ("where", "self"), ("gather", "default"), ("cumsum", "default"), ("unfold", "default"), ("repeat", "default"))}
_MAKING = {aten.complex.default, aten.view_as_complex.default, aten.polar.default, aten._fft_r2c.default}


def _rule(*operators):
    def register(function):
        RULES.update(dict.fromkeys(operators, function))
        return function
    return register


def _parts(x):
    """Of a Pair, a real tensor or a number."""
    if isinstance(x, Pair):
        return x.parts
    return (x.real, x.imag) if isinstance(x, complex) else (x, None)


def _times(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    if b is None:
        return (a * c, a * d)
    return (a * c, b * c) if d is None else (a * c - b * d, a * d + b * c)


RULES[aten.complex.default] = lambda real, imag: Pair(*torch.broadcast_tensors(real, imag))
RULES[aten.view_as_complex.default] = lambda x: Pair(x.select(-1, 0), x.select(-1, 1))
RULES[aten.view_as_real.default] = lambda x: torch.stack(x.parts, -1)
RULES[aten.polar.default] = lambda size, angle: Pair(size * torch.cos(angle), size * torch.sin(angle))
RULES[aten.abs.default] = lambda x: torch.hypot(*x.parts)
RULES[aten.angle.default] = lambda x: torch.atan2(x.parts[1], x.parts[0])
RULES[aten.exp.default] = lambda x: RULES[aten.polar.default](torch.exp(x.parts[0]), x.parts[1])
_rule(aten._conj.default, aten._conj_physical.default, aten.conj_physical.default)(lambda x: Pair(x.parts[0], -x.parts[1]))
_rule(aten._neg_view.default)(lambda x: Pair(-x.parts[0], -x.parts[1]))
_rule(aten.mul.Tensor, aten.mul.Scalar)(lambda x, y: Pair(*_times(x, y)))
_rule(aten.eq.Tensor, aten.eq.Scalar)(lambda x, y: _same(x, y))
_rule(aten.ne.Tensor, aten.ne.Scalar)(lambda x, y: torch.logical_not(_same(x, y)))


def _same(x, y):
    (a, b), (c, d) = ((a, 0 if b is None else b) for a, b in (_parts(x), _parts(y)))
    return (a == c) & (b == d)


def _sum(x, y, factor):
    (a, b), (c, d) = _parts(x), _parts(y)
    if factor != 1:
        c, d = c * factor, None if d is None else d * factor
    real = a + c
    imag = b if d is None else d if b is None else b + d
    return Pair(*torch.broadcast_tensors(real, imag if isinstance(imag, torch.Tensor) else torch.full_like(real, imag)))


_rule(aten.add.Tensor, aten.add.Scalar)(lambda x, y, *, alpha=1: _sum(x, y, alpha))
_rule(aten.sub.Tensor, aten.sub.Scalar)(lambda x, y, *, alpha=1: _sum(x, y, -alpha))


@_rule(aten.div.Tensor, aten.div.Scalar)
def divide(x, y):
    c, d = _parts(y)
    if d is None:
        return Pair(*(part / c for part in x.parts))
    real, imag = _times(x, Pair(c, -d) if isinstance(c, torch.Tensor) else complex(c, -d))
    square = c * c + d * d
    return Pair(real / square, imag / square)


@_rule(aten.reciprocal.default)
def reciprocal(x):
    return divide(torch.ones_like(x.parts[0]), x)


@_rule(aten.mm.default, aten.bmm.default)
def product(x, y):
    (a, b), (c, d) = _parts(x), _parts(y)
    if b is None or d is None:
        return Pair(a @ c, a @ d if b is None else b @ c)
    return Pair(a @ c - b @ d, a @ d + b @ c)


@_rule(aten._to_copy.default)
def convert(x, *, dtype=None, **_):
    real, imag = _parts(x)
    if dtype is not None and dtype not in _REAL:
        return real.to(dtype)
    kind = _REAL.get(dtype, real.dtype)
    return Pair(real.to(kind), torch.zeros_like(real, dtype=kind) if imag is None else imag.to(kind))


RULES[torch.ops.prims.convert_element_type.default] = lambda x, dtype: convert(x, dtype=dtype)


# Fourier transforms

_DENSE = 128  # the longest by one matrix, if its length has factors


def _turns(rows, columns, length, like, sign):
    """The cosines and sines of sign 2 pi (row column) / length."""
    row, column = (torch.arange(size, device=like.device) for size in (rows, columns))
    angle = (row.unsqueeze(1) * column % length).to(like.dtype) * (sign * 2 * math.pi / length)
    return torch.cos(angle), torch.sin(angle)


def _along_last(real, imag, sign, count=None):
    """The parts of the transform of the last dim, or its first `count` elements; imag is None for real numbers."""
    length = real.shape[-1]
    count = length if count is None else count
    factor = next((f for f in range(min(64, math.isqrt(length)), 1, -1) if length % f == 0), 1) if length > _DENSE else 1
    if factor == 1:
        cosine, sine = _turns(length, count, length, real, sign)
        if imag is None:
            return real @ cosine, real @ sine
        return real @ cosine - imag @ sine, real @ sine + imag @ cosine
    rest = length // factor
    parts = [None if part is None else part.unflatten(-1, (factor, rest)).transpose(-1, -2) for part in (real, imag)]
    real, imag = (part.transpose(-1, -2) for part in _along_last(*parts, sign))
    cosine, sine = _turns(factor, rest, length, real, sign)
    real, imag = _along_last(real * cosine - imag * sine, real * sine + imag * cosine, sign)
    return tuple(part.transpose(-1, -2).flatten(-2).narrow(-1, 0, count) for part in (real, imag))


def _transform(real, imag, dims, sign, count=None):
    """Of the dims, the last one first, of which `count` elements are wanted."""
    for number, dim in enumerate(reversed(dims)):
        moved = [None if part is None else part.movedim(dim, -1) for part in (real, imag)]
        real, imag = (part.movedim(-1, dim) for part in _along_last(*moved, sign, count if number == 0 else None))
    return real, imag


def _scaled(parts, sizes, norm):
    """norm: 0 as it is, 1 over the root of the number of elements, 2 over it."""
    scale = {0: 1.0, 1: math.prod(sizes) ** -0.5, 2: 1 / math.prod(sizes)}[norm]
    return parts if scale == 1 else tuple(part * scale for part in parts)


@_rule(aten._fft_r2c.default)
def real_to_complex(x, dim, normalization, onesided):
    count = x.shape[dim[-1]] // 2 + 1 if onesided else None
    return Pair(*_scaled(_transform(x, None, dim, -1, count), [x.shape[d] for d in dim], normalization))


@_rule(aten._fft_c2c.default)
def complex_to_complex(x, dim, normalization, forward):
    parts = _transform(*x.parts, dim, -1 if forward else 1) if dim else x.parts
    return Pair(*_scaled(parts, [x.shape[d] for d in dim], normalization))


@_rule(aten._fft_c2r.default)
def complex_to_real(x, dim, normalization, last_dim_size):
    last, others = dim[-1], dim[:-1]
    real, imag = _transform(*x.parts, others, 1) if others else x.parts
    # What one side leaves out: the conjugates, from the other end.
    kept = min(real.shape[last], last_dim_size // 2 + 1)
    real, imag = real.narrow(last, 0, kept), imag.narrow(last, 0, kept)
    rest = last_dim_size - kept
    if rest:
        real, imag = (torch.cat([part, part.narrow(last, 1, rest).flip(last) * sign], last) for part, sign in ((real, 1), (imag, -1)))
    result, _ = _transform(real, imag, [last], 1)
    return _scaled((result,), [result.shape[d] for d in dim], normalization)[0]


def short_time(x, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=None, return_complex=None, _aligned=None):
    """aten.stft, which PyTorch defines by operators that write in place."""
    frames = x.unfold(-1, n_fft, n_fft // 4 if hop_length is None else hop_length) * _window(x, n_fft, win_length, window)
    found = real_to_complex(frames, [frames.dim() - 1], int(normalized), onesided is not False).transpose(-1, -2)
    return found if return_complex else torch.view_as_real(found)


def inverse_short_time(x, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
                       return_complex=False):
    """aten.istft"""
    if return_complex or onesided is False:
        raise diagnostics.Refused("PyTorch op aten.istft of signals that are complex: it is not lowered")
    hop = n_fft // 4 if hop_length is None else hop_length
    count, window = x.shape[-1], _window(x.parts[0], n_fft, win_length, window)
    frames = complex_to_real(Pair(*(part.transpose(-1, -2) for part in x.parts)), [x.dim() - 1], 1 if normalized else 2, n_fft) * window

    def added(frames):
        return torch.nn.functional.fold(frames.reshape(-1, count, n_fft).transpose(1, 2), (1, n_fft + hop * (count - 1)), (1, n_fft), stride=(1, hop))
    signal = (added(frames) / added((window * window).expand(count, n_fft))).flatten(1)
    start = n_fft // 2 if center else 0
    end = signal.shape[1] - start if length is None else min(start + length, signal.shape[1])
    signal = signal[:, start:end]
    if length is not None and length > end - start:
        signal = torch.nn.functional.pad(signal, (0, length - (end - start)))
    return signal.reshape(*x.shape[:-2], -1)


def _window(like, size, length, window):
    length = size if length is None else length
    window = torch.ones(length, dtype=like.dtype, device=like.device) if window is None else window
    ahead = (size - length) // 2
    return torch.nn.functional.pad(window, (ahead, size - length - ahead))


# The graph


class _Interpreter(torch.fx.Interpreter):
    def __init__(self, module, pairs):
        super().__init__(module)
        self.pairs = pairs

    def placeholder(self, target, args, kwargs):
        value = super().placeholder(target, args, kwargs)
        return Pair(value.select(-1, 0), value.select(-1, 1)) if target in self.pairs else value

    def call_function(self, target, args, kwargs):
        if target is aten.stft.default and not isinstance(args[0], Pair):
            return short_time(*args, **kwargs)
        if target is aten.istft.default:
            return inverse_short_time(*args, **kwargs)
        return super().call_function(target, args, kwargs)


def _is_complex(node):
    return any(isinstance(value, torch.Tensor) and value.is_complex() for value in _pytree.tree_leaves(node.meta.get("val")))


def split(program, decompositions):
    """In place, of a decomposed program."""
    if not any(_is_complex(node) for node in program.graph.nodes):
        return
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    output, = (node for node in program.graph.nodes if node.op == "output")
    signature = program.graph_signature
    stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
    values, pairs = [], set()
    for node in placeholders:
        value = node.meta["val"]
        if _is_complex(node):
            if node.name not in stored:
                raise diagnostics.Refused(f"its argument '{node.name}' is complex: give its parts, by view_as_real")
            pairs.add(node.target)
            for table in (program.state_dict, program.constants):
                if (name := stored[node.name]) in table and table[name].is_complex():
                    table[name] = torch.view_as_real(table[name].detach()).contiguous()
            with value.fake_mode:
                value = torch.empty((*value.shape, 2), dtype=_REAL[value.dtype], device=value.device)
        values.append(value)
    if any(_is_complex(node) for node in output.all_input_nodes):
        raise diagnostics.Refused("a result is complex: return its parts, by view_as_real")

    def run(*arguments):
        with _Split():
            return _Interpreter(program.graph_module, pairs).run(*arguments)

    fake_mode = next(value.fake_mode for value in values if isinstance(value, torch.Tensor))
    with fake_mode, torch.no_grad():
        traced = make_fx(run, decomposition_table=decompositions)(*values)
    _adopt(program, traced, placeholders)


def _adopt(program, traced, placeholders):
    """Makes a traced graph that of the program, with the names that its signature has."""
    traced.graph.eliminate_dead_code()
    new = [node for node in traced.graph.nodes if node.op == "placeholder"]
    for number, node in enumerate(traced.graph.nodes):
        node._rename(f"{node.name}_split_{number}")
    for old, node in zip(placeholders, new):
        node._rename(old.name)
        node.target = old.target
        node.meta.setdefault("val", old.meta.get("val"))
    for name, value in [*traced.named_buffers(), *vars(traced).items()]:
        if isinstance(value, torch.Tensor):
            setattr(program.graph_module, name, value)
    output, = (node for node in traced.graph.nodes if node.op == "output")
    for spec, node in zip(program.graph_signature.output_specs, output.args[0]):
        if isinstance(node, torch.fx.Node):
            spec.arg.name = node.name
    program.graph_module.graph = traced.graph
