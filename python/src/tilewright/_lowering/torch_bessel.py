# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bessel's functions of the first two orders, and Airy's, by polynomials as in torch_special.py.

Near zero they are series of x^2, beside a logarithm times another; from 8 on waves, of which the amplitudes are polynomials of 1 / x^2:

    J(x) = sqrt(2 / (pi x)) (P cos a - Q / x sin a), Y(x) = sqrt(2 / (pi x)) (P sin a + Q / x cos a), a = x - order pi / 2 - pi / 4
"""

import math

import torch

from torch_special import DECOMPOSITIONS, of_floats, polynomial

aten = torch.ops.aten

# J, Y less the logarithm's part, by the order over x, of x^2 / 32 - 1, x <= 8; P and Q of 2 (8 / x)^2 - 1.
_J0 = (-7.95883862e-09, 1.60741275e-07, -2.71768939e-06, 3.84715738e-05, -0.000443545963, 0.0040580801, -0.0284727186, 0.145988848,
       -0.507468046, 1.03837946, -0.808088808, -0.648469283, 0.930301247, 0.0458296649)
_J1 = (6.46908184e-09, -1.20629901e-07, 1.86840524e-06, -2.40445487e-05, 0.00024949461, -0.00202904021, 0.0124568144, -0.054745818,
       0.158583764, -0.259594865, 0.151516651, 0.0810586604, -0.058143828)
_Y0 = (1.64851193e-08, -3.24353021e-07, 5.32118922e-06, -7.27919753e-05, 0.000806158694, -0.00702574341, 0.0463670477, -0.21895747,
       0.672177078, -1.07754773, 0.144126324, 1.64709648, -0.82843589, -0.382250654)
_Y1 = (-1.32343821e-08, 2.40060147e-07, -3.60089848e-06, 4.46718143e-05, -0.000443817404, 0.00342249225, -0.0196287568, 0.0785478688,
       -0.196398399, 0.235072092, 0.0233675717, -0.243377431, 0.0707598588)
_P0 = (1.30038256e-08, -2.0682206e-07, 6.13736566e-06, -0.00053636693, 0.999457276)
_Q0 = (-4.63350301e-08, 5.75109012e-07, -1.18168619e-05, 0.000546650264, -0.124440911)
_P1 = (-1.49294871e-08, 2.47103479e-07, -7.95963902e-06, 0.000898804505, 1.00090703)
_Q1 = (5.24418633e-08, -6.70702558e-07, 1.4569342e-05, -0.000769714857, 0.374214992)
# Likewise K and I of x^2 / 2 - 1, x <= 2, and exp(x) sqrt(x) K of 4 / x - 1.
_K0 = (8.33780605e-08, 5.69021202e-06, 0.000265858923, 0.00777646569, 0.12278562, 0.781243085, 0.781905194)
_K1 = (-6.06260957e-09, -4.84272663e-07, -2.72805081e-05, -0.00100468809, -0.0214238644, -0.210681841, -0.49820162)
_I0N = (2.35807e-06, 0.000119869234, 0.00392856492, 0.0735898502, 0.635861728, 1.56608293)
_I1N = (1.9420412e-07, 1.17913321e-05, 0.000479282732, 0.011785694, 0.147179737, 0.635861728)
_K0T = (1.05168567e-06, -2.97762074e-06, 6.7498384e-06, -2.40971798e-05, 9.96332931e-05, -0.00047995238, 0.00303288628, -0.0310714479,
        1.21859534)
_K1T = (-1.27062105e-06, 3.66839412e-06, -8.66435023e-06, 3.20839872e-05, -0.000139675715, 0.000735942321, -0.00556672338, 0.103349721,
        1.36315189)


def _waves(x, order):
    """(P, Q / x, a, the factor) of x >= 8."""
    p, q = (_P0, _Q0) if order == 0 else (_P1, _Q1)
    square = 128 / (x * x) - 1
    return polynomial(square, p), polynomial(square, q) / x, x - (order / 2 + 0.25) * math.pi, torch.sqrt(2 / (math.pi * x))


def _first(x, order):
    """J of x >= 0."""
    small, large = torch.clamp(x, max=8.0), torch.clamp(x, min=8.0)
    near = polynomial(small * small / 32 - 1, _J1 if order else _J0) * (small if order else 1.0)
    p, q, angle, factor = _waves(large, order)
    return torch.where(x < 8, near, factor * (p * torch.cos(angle) - q * torch.sin(angle)))


def _second(x, order):
    """Y"""
    small, large = torch.clamp(x, 1e-37, 8.0), torch.clamp(x, min=8.0)
    square, turns = small * small / 32 - 1, 2 / math.pi * torch.log(small)
    if order:
        near = polynomial(square, _Y1) * small + turns * _first(small, 1) - 2 / math.pi / small
    else:
        near = polynomial(square, _Y0) + turns * _first(small, 0)
    p, q, angle, factor = _waves(large, order)
    result = torch.where(x < 8, near, factor * (p * torch.sin(angle) + q * torch.cos(angle)))
    return torch.where(x > 0, result, torch.where(x == 0, -math.inf, math.nan))


def _modified(x, order, scaled):
    """K, times exp(x) where it is scaled"""
    small, large = torch.clamp(x, 1e-37, 2.0), torch.clamp(x, min=2.0)
    square = small * small / 2 - 1
    if order:
        near = (polynomial(square, _K1) + torch.log(small) * polynomial(square, _I1N)) * small + 1 / small
    else:
        near = polynomial(square, _K0) - torch.log(small) * polynomial(square, _I0N)
    far = polynomial(4 / large - 1, _K1T if order else _K0T) / torch.sqrt(large)
    near, far = (near * torch.exp(small), far) if scaled else (near, far * torch.exp(-large))
    result = torch.where(x < 2, near, far)
    return torch.where(x > 0, result, torch.where(x == 0, math.inf, math.nan))


for _order in (0, 1):
    of_floats(getattr(aten, f"special_bessel_j{_order}").default)(
        lambda x, order=_order: torch.where(x < 0, -1.0, 1.0) * _first(x.abs(), 1) if order else _first(x.abs(), 0))
    of_floats(getattr(aten, f"special_bessel_y{_order}").default)(lambda x, order=_order: _second(x, order))
    of_floats(getattr(aten, f"special_modified_bessel_k{_order}").default)(lambda x, order=_order: _modified(x, order, False))
    of_floats(getattr(aten, f"special_scaled_modified_bessel_k{_order}").default)(lambda x, order=_order: _modified(x, order, True))


@of_floats(aten.special_spherical_bessel_j0.default)
def spherical(x):
    square = x * x
    near = 1 - square / 6 * (1 - square / 20 * (1 - square / 42))
    far = torch.where(x.abs() == math.inf, 0.0, torch.sin(x) / x)
    return torch.where(x.abs() < 0.5, near, far)


# Ai of x / 2; exp(z) x^(1/4) Ai of 2 (2 / x)^1.5 - 1, x >= 2, z = 2/3 x^1.5; P and Q of 2 (2 / |x|)^3 - 1, x <= -2.
_AI = (0.000793828498, -0.000766401004, -0.00575142083, 0.014900478, -6.05953642e-05, -0.0662331858, 0.126250751, 0.000142513324,
       -0.345094916, 0.473353171, 8.57297564e-08, -0.517638184, 0.355028054)
_AIT = (1.62570908e-07, -4.48568119e-07, 9.71241255e-07, -3.38423207e-06, 1.36830547e-05, -6.43049554e-05, 0.000398655877, -0.00412237839,
        0.277490802)
_AIP = (7.41143199e-06, -1.55774126e-05, 2.44271552e-05, -8.29114645e-05, 0.000403619508, -0.00393811536, 0.995527785)
_AIQ = (2.16875119e-05, -4.14444365e-05, 4.98766996e-05, -0.000144551932, 0.000556159804, -0.00323284707, 0.0653973474)


@of_floats(aten.special_airy_ai.default)
def airy(x):
    size = torch.clamp(x.abs(), min=2.0)
    ratio, z = 2 / size, size * torch.sqrt(size) * (2 / 3)
    fourth = torch.sqrt(torch.sqrt(size))
    above = polynomial(2 * ratio * torch.sqrt(ratio) - 1, _AIT) * torch.exp(-z) / fourth
    cube, angle = 2 * ratio * ratio * ratio - 1, z - math.pi / 4
    below = (polynomial(cube, _AIP) * torch.cos(angle) + polynomial(cube, _AIQ) / z * torch.sin(angle)) / (math.sqrt(math.pi) * fourth)
    return torch.where(x.abs() < 2, polynomial(torch.clamp(x, -2.0, 2.0) / 2, _AI), torch.where(x > 0, above, below))
