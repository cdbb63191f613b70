# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions of PyTorch that torch-mlir lacks, by elementary ones.

All of them are computed in f32, of which they have 5 digits and more; of f64 they are refused. Polynomials are Chebyshev's of the
functions that stand beside them, on the ranges that stand there; coefficients begin with the highest power.
"""

import math

import torch

aten = torch.ops.aten
DECOMPOSITIONS = {}


def of_floats(*operators):
    """Registers a function of f32: other floats and integers are converted, f64 is left as it is."""
    def register(function):
        def decomposed(*operands):
            tensors = [operand for operand in operands if isinstance(operand, torch.Tensor)]
            if any(tensor.dtype == torch.float64 for tensor in tensors):
                return NotImplemented
            kind = torch.result_type(*tensors) if len(tensors) == 2 else tensors[0].dtype
            kind = kind if kind.is_floating_point else torch.float32
            given = [operand.to(torch.float32) if isinstance(operand, torch.Tensor) else operand for operand in operands]
            return function(*given).to(kind)
        DECOMPOSITIONS.update(dict.fromkeys(operators, decomposed))
        return function
    return register


def polynomial(x, coefficients):
    result = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def _is_whole(x):
    return x == torch.floor(x)


def _turned(x):
    """x - round(x): the sine and the tangent of pi times this are those of pi x, but for the sine's sign."""
    return x - torch.floor(x + 0.5)


# lgamma(z) / ((z - 1) (z - 2)) of z - 2, 1 <= z <= 3.
_LGAMMA = (-3.63155219e-05, 7.78713189e-05, -5.90323996e-05, 0.000131388344, -0.000419005835, 0.000943640607, -0.00210490778,
           0.00499179268, -0.012384473, 0.0329655972, -0.100317298, 0.422784327)


@of_floats(aten.lgamma.default)
def lgamma(x):
    size = x.abs()
    small = torch.where(size < 1, size + 1, torch.clamp(size, 1.0, 3.0))
    near = (small - 1) * (small - 2) * polynomial(small - 2, _LGAMMA)
    near = torch.where(size < 1, near - torch.log(size), near)
    large = torch.clamp(size, min=3.0)
    square = 1 / (large * large)
    stirling = (large - 0.5) * (torch.log(large) - 1) + (0.5 * math.log(2 * math.pi) - 0.5)
    far = stirling + polynomial(square, (-1 / 1680, 1 / 1260, -1 / 360, 1 / 12)) / large
    of_size = torch.where(size < 3, near, torch.where(size == math.inf, math.inf, far))
    # Of negative numbers by the reflection formula.
    sine = torch.sin(math.pi * _turned(x)).abs()
    reflected = math.log(math.pi) - torch.log(size) - torch.log(sine) - of_size
    return torch.where(x < 0, torch.where(_is_whole(x), math.inf, reflected), of_size)


@of_floats(aten.digamma.default, aten.special_digamma.default)
def digamma(x):
    reflects = x < 0
    z = torch.where(reflects, 1 - x, x)
    shifted, steps = z, torch.zeros_like(z)
    for _ in range(6):
        moves = shifted < 6
        steps = torch.where(moves, steps + 1 / shifted, steps)
        shifted = torch.where(moves, shifted + 1, shifted)
    square = 1 / (shifted * shifted)
    result = torch.log(shifted) - 0.5 / shifted - square * polynomial(square, (1 / 252, -1 / 120, 1 / 12)) - steps
    turned = math.pi * _turned(x)
    result = torch.where(reflects, result - math.pi * torch.cos(turned) / torch.sin(turned), result)
    result = torch.where(reflects & _is_whole(x), math.nan, result)
    return torch.where(x == 0, -1 / x, torch.where(x == math.inf, math.inf, result))


# B(2 j) / (2 j)!
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)


def hurwitz(s, q):
    """The sum of (q + k)^-s over k >= 0, q > 0 and s > 1: nine of its terms, and by Euler and Maclaurin the rest."""
    total = torch.zeros_like(q)
    for k in range(9):
        total = total + torch.pow(q + k, -s)
    a = q + 9
    term = torch.pow(a, -s)
    total = total + term * (a / (s - 1) + 0.5)
    term = term * s / a
    for number, factor in enumerate(_BERNOULLI):
        total = total + factor * term
        term = term * (s + 2 * number + 1) * (s + 2 * number + 2) / (a * a)
    return total


@of_floats(aten.special_zeta.default)
def zeta(s, q):
    # What is negative goes up to 1 at most as long as a few steps suffice.
    result = hurwitz(s, q)
    result = torch.where(s < 1, math.nan, torch.where(s == 1, math.inf, result))
    outside = torch.where(_is_whole(q), math.inf, math.nan)
    return torch.where(q <= 0, torch.where(s > 1, outside, result), result)


@of_floats(aten.polygamma.default)
def polygamma_by_number(n, x):
    if n == 0:
        return digamma(x)
    sign = 1.0 if n % 2 else -1.0
    order, scale = torch.full_like(x, n + 1.0), math.gamma(n + 1.0)
    # Below 1/2 by reflection: the derivatives of cot are polynomials of it, p' = -(1 + c^2) dp/dc.
    slopes = [0.0, 1.0]
    for _ in range(n):
        slope = [power * factor for power, factor in enumerate(slopes)][1:]
        slopes = [-(low + high) for low, high in zip(slope + [0.0, 0.0], [0.0, 0.0] + slope)]
    turned = math.pi * _turned(x)
    cotangent, derivative = torch.cos(turned) / torch.sin(turned), torch.zeros_like(x)
    for factor in reversed(slopes):
        derivative = derivative * cotangent + factor
    above = scale * hurwitz(order, torch.where(x < 0.5, 1 - x, x))
    below = -above - math.pi ** (n + 1) * derivative
    pole = (x <= 0) & _is_whole(x)
    return torch.where(x < 0.5, torch.where(pole, sign * math.inf, below), sign * above)


# erfinv(x) / x of w - 2.5 and of sqrt(w) - 6, w = -log(1 - x^2) below and from 5 on.
_ERFINV = (2.26059777e-08, 3.42224709e-07, -3.45477951e-06, -4.38034671e-06, 0.00021831298, -0.00125375888, -0.00417734652, 0.246640766,
           1.50140935)
_ERFINV_TAIL = (-1.08142985e-08, 4.32541105e-08, 2.31680454e-07, -8.73827477e-07, -2.30437168e-06, 8.43407864e-06, 3.04259269e-06,
                -3.34271672e-06, -5.67668772e-05, -0.000442642781, 1.00961127, 5.85990729)


def _erfinv(x, w):
    w_tail = torch.sqrt(torch.clamp(w, min=5.0)) - 6
    factor = torch.where(w < 5, polynomial(torch.clamp(w, max=5.0) - 2.5, _ERFINV), polynomial(w_tail, _ERFINV_TAIL))
    return x * factor


@of_floats(aten.erfinv.default)
def erfinv(x):
    result = _erfinv(x, -torch.log((1 - x) * (1 + x)))
    return torch.where(x.abs() == 1, x * math.inf, result)


@of_floats(aten.special_ndtri.default)
def ndtri(p):
    x = 2 * p - 1
    result = math.sqrt(2) * _erfinv(x, -torch.log(4 * p * (1 - p)))
    return torch.where((p == 0) | (p == 1), x * math.inf, result)


# (1 + 2 x) erfcx(x) of (x - 4) / (x + 4), x >= 0.
_ERFCX = (-0.000246280773, -0.000365908605, 0.00507629166, -0.0166173456, 0.0371464983, -0.0661178643, 0.0937375281, -0.101088255,
          0.0680966615, 0.0153838429, -0.139621111, 1.23299506)


def _erfcx_of_size(size):
    bounded = torch.clamp(size, max=1e30)
    result = polynomial((bounded - 4) / (bounded + 4), _ERFCX) / (1 + 2 * bounded)
    return torch.where(size == math.inf, 0.0, result)


def _exp_of_square(x):
    """Of -x^2; the square in two parts, since one of f32 is off by a part in 10^7 of itself."""
    high = torch.floor(x * 128) / 128
    return torch.exp(-high * high) * torch.exp((high - x) * (high + x))


@of_floats(aten.erfc.default)
def erfc(x):
    size = torch.clamp(x.abs(), max=11.0)
    tail = _exp_of_square(size) * _erfcx_of_size(size)
    return torch.where(size < 0.5, 1 - torch.erf(x), torch.where(x < 0, 2 - tail, tail))


@of_floats(aten.special_erfcx.default)
def erfcx(x):
    size = x.abs()
    result = _erfcx_of_size(size)
    bounded = torch.clamp(size, max=10.0)
    return torch.where(x < 0, torch.where(size > 10, math.inf, 2 / _exp_of_square(bounded) - result), result)


@of_floats(aten.special_log_ndtr.default)
def log_ndtr(x):
    t = x * math.sqrt(0.5)
    below = torch.log(_erfcx_of_size(t.abs()) / 2) - t * t
    return torch.where(x < -1, below, torch.log1p(-erfc(t) / 2))


# exp(-x) I(x) of x / 4 - 1, x <= 8 (the first order over x), and sqrt(x) exp(-x) I(x) of 16 / x - 1 from there on.
_I0 = (0.000335946139, -0.000850852698, 0.000469624873, -0.000759696728, 0.00406265365, -0.00800984961, 0.0116616341, -0.018865126,
       0.0302974085, -0.0433137937, 0.0567491108, -0.0694645149, 0.0792787442, -0.0849730496, 0.0873432153, -0.0890428892, 0.0945156319,
       -0.113004336, 0.207001921)
_I0_TAIL = (1.08298983e-07, 3.63171031e-07, 1.47679211e-06, 1.11115255e-05, 0.000136216843, 0.00336055585, 0.402176509)
_I1 = (-0.000119315815, 0.000307029646, -0.000221153768, 0.000412977838, -0.00166623656, 0.00335892989, -0.00545739864, 0.00936950284,
       -0.0155984901, 0.0237616592, -0.0336660111, 0.0446596864, -0.0552805634, 0.0637688645, -0.0684825865, 0.0680575449, -0.0611243382,
       0.0446877102)
_I1_TAIL = (-1.22124985e-07, -4.21555437e-07, -1.8267145e-06, -1.50033231e-05, -0.000219236669, -0.00974958153, 0.389398459)


def _bessel(x, order, scaled):
    size = x.abs()
    near, far = (_I0, _I0_TAIL) if order == 0 else (_I1, _I1_TAIL)
    small, large = torch.clamp(size, max=8.0), torch.clamp(size, min=8.0)
    result = torch.where(size < 8, polynomial(small / 4 - 1, near) * (1.0 if order == 0 else small), polynomial(16 / large - 1, far) / torch.sqrt(large))
    if not scaled:  # in two steps, since the exponential alone overflows first
        half = torch.exp(size / 2)
        result = result * half * half
    return torch.where(x < 0, -result, result) if order else result


for _order, _scaled, _operators in ((0, False, (aten.i0.default, aten.special_i0.default, aten.special_modified_bessel_i0.default)),
                                    (0, True, (aten.special_i0e.default,)),
                                    (1, False, (aten.special_i1.default, aten.special_modified_bessel_i1.default)),
                                    (1, True, (aten.special_i1e.default,))):
    of_floats(*_operators)(lambda x, order=_order, scaled=_scaled: _bessel(x, order, scaled))
