# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX, one for each thing that programs in it are made of, with what they are called with; for test_jax.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_random = np.random.default_rng(7)
#: {name: (function, arguments)}
FUNCTIONS = {}


def floats(*shape):
    return _random.standard_normal(shape).astype(np.float32)


def integers(below, *shape):
    return _random.integers(0, below, shape).astype(np.int32)


def case(*arguments):
    def add(function):
        FUNCTIONS[function.__name__] = function, arguments
        return function
    return add


@case(floats(8, 16), floats(16, 32), floats(32), floats(32, 10), floats(10))
def mlp(x, w1, b1, w2, b2):
    return jax.nn.softmax(jax.nn.relu(x @ w1 + b1) @ w2 + b2, axis=-1)


@case(floats(4, 16, 64), floats(64), floats(64))
def layer_norm(x, scale, shift):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


@case(floats(2, 64, 4, 32), floats(2, 64, 4, 32), floats(2, 64, 4, 32))
def attention(q, k, v):
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


@case(*(floats(1, 32, 2, 16) for _ in range(3)), floats(2, 32, 32))
def attention_narrow(q, k, v, bias):
    q, k, v = (x.astype(jnp.bfloat16) for x in (q, k, v))
    return jax.nn.dot_product_attention(q, k, v, bias[None]).astype(jnp.float32)


@case(floats(2, 1, 4, 8), floats(2, 1, 2, 8), floats(2, 9, 2, 8), np.int32(5))
def rotary_at_a_position(q, k, cache, position):
    """A token of a decoder: turned by its position, and put into a cache there."""
    at = jnp.broadcast_to(position, (1, 1))

    def turned(x):
        angles = at[..., None].astype(jnp.float32) * 100.0 ** (-jnp.arange(0, 8, 2, dtype=jnp.float32) / 8)
        cos, sin = jnp.cos(angles)[..., None, :], jnp.sin(angles)[..., None, :]
        a, b = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    return turned(q), lax.dynamic_update_slice(cache, turned(k), (0, position, 0, 0))


@case(floats(2, 3, 16, 16), floats(8, 3, 3, 3))
def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME")


@case(floats(2, 16, 16, 3), floats(3, 3, 3, 8))
def convolution_channels_last(x, w):
    return lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@case(floats(2, 8, 8, 8), floats(3, 3, 1, 8))
def convolution_depthwise(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=8)


@case(floats(2, 8, 8, 8), floats(3, 3, 4, 8))
def convolution_grouped(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=2)


@case(floats(2, 8, 8, 8), floats(3, 3, 8, 4))
def convolution_transposed(x, w):
    return lax.conv_transpose(x, w, (2, 2), "SAME")


@case(floats(2, 8, 8, 3))
def pools(x):
    largest = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return largest, lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9


@case(floats(2, 7, 8, 3))
def gradients_of_pools(x):
    """Of windows that overlap, that are padded, and that have equal elements."""
    def pool(x, op, init, padding, size=3):
        return (lax.reduce_window(x, init, op, (1, size, size, 1), (1, 2, 2, 1), padding) ** 2).sum()

    return (jax.grad(pool)(x, lax.max, -jnp.inf, "SAME"), jax.grad(pool)(x, lax.min, jnp.inf, "VALID"),
            jax.grad(pool)(jnp.round(x), lax.max, -jnp.inf, ((0, 0), (1, 1), (1, 1), (0, 0))),
            jax.grad(pool)(jnp.round(x), lax.max, -jnp.inf, "VALID", 2))


@case(floats(100, 16), integers(100, 7))
def embedding(table, rows):
    return table[rows]


@case(floats(5, 9), integers(9, 5, 3))
def take_along_axis(x, places):
    return jnp.take_along_axis(x, places, 1)


@case(floats(20, 4), np.array([3, 7, 3, 25, -1, 3], np.int32), floats(6, 4))
def scatter_add(x, places, new):
    return x.at[places].add(new)


@case(floats(20, 4), integers(20, 5, 6), floats(5, 6, 4), integers(4, 5, 6))
def scatter_of_many_dims(x, places, new, columns):
    return x.at[places].add(new), x.at[places, columns].add(new[:, :, 0])


@case(floats(20, 4), floats(20), np.int32(7), np.int32(40))
def windows(x, new, inside, outside):
    return (x.at[:, 1].set(new), x.at[2:5].add(1.5), x.at[inside].multiply(new[:4]), x.at[outside, 1].set(0.0), x.at[-1].min(new[4:8]),
            x.at[outside].set(new[:4]), x.at[0, 0].set(7.0))


@case(floats(20, 4), np.array([3, 1, 7], np.int32), floats(3, 4))
def scatter_set(x, places, new):
    return x.at[places].set(new)


@case(floats(3, 2, 8, 4), floats(3, 2, 1, 4), np.array([0, 7, 9], np.int32), floats(6, 7), np.array([[0, 0], [5, 6], [2, 1], [-1, 2]], np.int32),
      floats(4, 2, 3))
def scatter_of_windows(cache, new, positions, x, places, tiles):
    """A row for each sequence of a batch, at a position of its own; and windows of which some are outside."""
    def put(cache, new, position):
        return lax.dynamic_update_slice_in_dim(cache, new, position, 1)

    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0, 1))
    return (jax.vmap(put)(cache, new, positions), lax.scatter_add(x, places, tiles, numbers), lax.scatter_max(x, places, tiles, numbers),
            jax.grad(lambda x: (jax.vmap(lambda i: lax.dynamic_slice_in_dim(x, i, 2))(positions) ** 2).sum())(x))


@case(floats(4, 3))
def rematerialized(x):
    return jax.grad(lambda x: lax.scan(jax.checkpoint(lambda c, row: (jnp.tanh(c * row), c)), x[0], x)[0].sum())(x)


@case(floats(30), integers(5, 30))
def segment_sum(x, segments):
    return jax.ops.segment_sum(x, segments, 5)


@case(np.array([[3, -0.0, np.nan, 0.0, -np.inf, 5, 0.0], [1, 2, 1, 2, np.inf, -7, np.nan]], np.float32))
def sorts(x):
    return jnp.sort(x, axis=-1), jnp.argsort(x, axis=-1)


@case(floats(6, 33))
def largest(x):
    return *lax.top_k(x, 5), jnp.argmax(x, -1), jnp.argmin(x, 0), jnp.median(x)


@case(floats(64), floats(7))
def search(x, keys):
    return jnp.searchsorted(jnp.sort(x), keys)


@case(floats(6, 300))
def running(x):
    return jnp.cumsum(x, -1), lax.cummax(x, 1), jnp.cumsum(x[:, :20], 1)[:, ::-1], lax.cumsum(x[:2], 1, reverse=True)


@case(floats(6, 33))
def activations(x):
    return jax.nn.logsumexp(x, -1), jax.nn.gelu(x, approximate=False), jax.nn.gelu(x), jax.nn.silu(x), jax.nn.softplus(x)


@case(floats(6, 33))
def mathematics(x):
    return (jnp.sin(x) + jnp.exp(x) * jnp.log1p(jnp.abs(x)) + jnp.expm1(x) + jnp.arctan2(x, x + 1),
            lax.erf_inv(jnp.tanh(x)) + jnp.cbrt(x) + jnp.sinh(x), jnp.power(jnp.abs(x), 1.7) + jnp.round(x) + jnp.sign(x))


@case(floats(3, 30), floats(4, 7, 8))
def fourier_real(x, y):
    forward = jnp.fft.rfft(x)
    return jnp.real(forward), jnp.imag(forward), jnp.fft.irfft(forward * forward, n=30), jnp.abs(jnp.fft.rfft2(y)), jnp.fft.irfft2(
        jnp.fft.rfft2(y), s=(7, 8))


@case(floats(3, 17), floats(3, 17))
def fourier_complex(x, y):
    z = jnp.fft.fft(lax.complex(x, y))
    back = jnp.fft.ifft(z * z / (z + 2j))
    return jnp.real(back), jnp.imag(back), jnp.abs(jnp.exp(lax.complex(x, y)))


@case(floats(4, 5, 6), floats(4, 5, 2))
def shapes(x, y):
    return (x.transpose(2, 0, 1).reshape(6, 20)[::2, 1:19:3], jnp.concatenate([x, y], 2), lax.pad(x, 0.0, ((1, 2, 0), (0, 1, 1), (-1, 0, 0))),
            jnp.roll(jnp.flip(x, 1), 2, 0), jnp.tril(x) + jnp.arange(6.0), jnp.repeat(y, 3, 2), jnp.tile(y, (1, 2, 2)))


@case(floats(5, 6))
def pads(x):
    return [jnp.pad(x, 2, mode=mode) for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum")]


@case(floats(10, 8), floats(2, 8), np.int32(3))
def dynamic_slices(x, new, at):
    return lax.dynamic_slice(x, (at, 0), (4, 8)), lax.dynamic_update_slice(x, new, (at + 20, 0))


@case(floats(8, 8), np.int32(5))
def loops(x, count):
    return (lax.fori_loop(0, count, lambda step, c: c @ x * 0.1 + step, x), lax.scan(lambda c, row: (c * 0.5 + row, c.sum()), x[0], x),
            lax.while_loop(lambda c: c.sum() < 100, lambda c: c * c + 1, x[0]), lax.cond(count > 3, lambda v: v * 2, lambda v: v - 1, x))


@case(floats(3, 4, 5), floats(5, 4, 6), floats(2, 3, 6, 4), floats(2, 3, 4, 5))
def products(a, b, c, d):
    return jnp.einsum("abc,cbd->ad", a, b), c @ d, jnp.einsum("bhqd,bhdk->bqhk", c, d), jnp.outer(a[0, 0], b[0, 0])


@case(integers(100, 8, 9) - 50, integers(100, 8, 9) + 1)
def whole_numbers(x, y):
    return x // y, x % y, x << 2, x ^ y, lax.population_count(x), lax.clz(y), x.astype(jnp.uint32) >> 3, x.astype(jnp.uint32) // 7


@case(floats(8, 9))
def conversions(x):
    return x.astype(jnp.bfloat16).astype(jnp.float32), x.astype(jnp.int8), x > 0, lax.bitcast_convert_type(x, jnp.int32)


@case(np.array([1.5, -2.5, 300, -300, 7e4, -7e4, 4e9, -4e9, np.inf, -np.inf, np.nan, 2147483520], np.float32))
def conversions_beyond_the_range(x):
    """What is beyond an integer's range becomes its end, and NaN 0."""
    narrow = x.astype(jnp.bfloat16), x.astype(jnp.float16), jnp.clip(x, -448, 448).astype(jnp.float8_e4m3fn)
    return [part.astype(kind) for part in (x, *narrow) for kind in (jnp.int8, jnp.uint8, jnp.int16, jnp.uint16, jnp.int32, jnp.uint32)]


@case(integers(256, 4, 6).astype(np.uint8), integers(256, 6, 3).astype(np.uint8), integers(256, 1, 4, 6, 6).astype(np.uint8),
      integers(256, 8, 4, 2, 3).astype(np.uint8))
def unsigned_numbers(x, y, image, filters):
    products = [jnp.matmul(x, y, preferred_element_type=kind) for kind in (jnp.int32, jnp.uint32, jnp.float32)]
    both = [lax.conv_general_dilated(image, filters[:, :4 // groups], (1, 1), "SAME", feature_group_count=groups,
                                     preferred_element_type=jnp.int32) for groups in (1, 2, 4)]
    along = [running(x, 1) for running in (jnp.cumsum, lax.cumprod, lax.cummax, lax.cummin)]
    return products, both, along, lax.cummin(x, 0, reverse=True), jnp.flip(x, 1), jnp.sort(x, descending=True), jnp.packbits(x > 99)


@case(floats(16, 32), integers(100, 16, 32).astype(np.int8), integers(100, 32, 8).astype(np.int8))
def narrow_products(x, a, b):
    half = x.astype(jnp.bfloat16)
    return jnp.matmul(half, half.T, preferred_element_type=jnp.float32), jnp.matmul(a, b, preferred_element_type=jnp.int32)


@case(integers(2, 4, 2000), integers(2, 2000, 8), integers(2, 1, 3, 3, 500))
def narrow_results(x, y, z):
    """Counts of more than 256, to which bf16 cannot add one."""
    x, y, z = (x.astype(jnp.bfloat16) for x in (x, y, z))
    filters = jnp.ones((3, 3, 500, 4), jnp.bfloat16)
    counts = lax.conv_general_dilated(z, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return x @ y, counts


@case(floats(4, 16), floats(16, 8), floats(4, 8))
def gradient(x, w, y):
    return jax.grad(lambda w, x: ((jax.nn.silu(x @ w) - y) ** 2).mean(), (0, 1))(w, x)


@case(np.array([0, 7], np.uint32))
def random_numbers(key):
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    return jax.random.normal(key, (4, 5)), jax.random.permutation(key, 9), jax.random.categorical(key, jnp.zeros((3, 4)))


@case(floats(2, 5, 5, 3))
def images(x):
    return jax.image.resize(x, (2, 10, 10, 3), "bilinear"), jax.image.resize(x, (2, 10, 15, 3), "nearest")


@case(floats(7, 9))
def reductions(x):
    return x.prod(0), (x > 0).any(1), (x > 0).all(1), x.min(1), x.std(), (x > 0).sum(), jnp.nonzero(x[0] > 0, size=9, fill_value=-1)[0]


@case(floats(3, 4), integers(4, 3))
def one_hot(x, places):
    return jax.nn.one_hot(places, 4) * x, jnp.where(x > 0, x, 2 * x), jnp.clip(x, -0.5, 0.5)


@case({"w": [floats(16, 16), floats(16, 4)], "b": floats(4)}, floats(3, 16))
def structures(params, x):
    for w in params["w"][:-1]:
        x = jnp.tanh(x @ w)
    return {"y": x @ params["w"][-1] + params["b"], "x": (x,)}
