# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inverses, solutions, determinants, LU and Cholesky's factors of small matrices, by steps that are written out.

A step is a few ops of all elements, whatever stands in front of the two dims of a matrix; larger matrices than LARGEST are refused. What
PyTorch says of singular matrices is lost: their results have infinities and NaN.
"""

import math

import torch

aten = torch.ops.aten
LARGEST = 32
DECOMPOSITIONS = {}


def _decomposes(*operators):
    """Of f32 and f64, where the number of rows is known and small. The first operand has them in the last dim but one."""
    def register(function):
        def decomposed(matrix, *arguments, **options):
            size = matrix.shape[-2]
            if not isinstance(size, int) or size > LARGEST or matrix.dtype not in (torch.float32, torch.float64):
                return NotImplemented
            return function(matrix, *arguments, **options)
        DECOMPOSITIONS.update(dict.fromkeys(operators, decomposed))
        return function
    return register


def _rows(matrix):
    return torch.arange(matrix.shape[-2], device=matrix.device)


def _info(matrix):
    return torch.zeros(matrix.shape[:-2], dtype=torch.int32, device=matrix.device)


def _solved(matrix, right):
    """By Gauss and Jordan, with the largest pivot of a column."""
    size, batch = matrix.shape[-1], torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    if not size:
        return right.expand(*batch, *right.shape[-2:]).clone()
    both = torch.cat([matrix.expand(*batch, size, size), right.expand(*batch, *right.shape[-2:])], -1)
    rows = _rows(matrix)
    for step in range(size):
        if step < size - 1:
            both = _swapped(both, step, both[..., step:, step].abs().argmax(-1, keepdim=True) + step)
        pivot = both[..., step:step + 1, :] / both[..., step:step + 1, step:step + 1]
        both = torch.where((rows == step).unsqueeze(-1), pivot, both - both[..., step:step + 1] * pivot)
    return both[..., size:]


@_decomposes(aten.linalg_inv.default)
def inverse(matrix):
    return _solved(matrix, torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device))


@_decomposes(aten.linalg_inv_ex.default)
def inverse_and_info(matrix, *, check_errors=False):
    return inverse(matrix), _info(matrix)


@_decomposes(aten.linalg_solve.default)
def solve(matrix, right, *, left=True):
    is_vector = right.dim() == 1 or (right.dim() == matrix.dim() - 1 and right.shape == matrix.shape[:-1])
    if is_vector:
        return _solved(matrix, right.unsqueeze(-1)).squeeze(-1)
    return _solved(matrix, right) if left else _solved(matrix.mT, right.mT).mT


@_decomposes(aten.linalg_solve_ex.default)
def solve_and_info(matrix, right, *, left=True, check_errors=False):
    return solve(matrix, right, left=left), _info(matrix)


def _factor(matrix, upper):
    """Of a matrix of which one half is read."""
    if not matrix.shape[-1]:
        return matrix.clone()
    left = matrix.mT if upper else matrix
    rows, columns = _rows(matrix), []
    for step in range(matrix.shape[-1]):
        column = left[..., step] / torch.sqrt(left[..., step:step + 1, step])
        column = torch.where(rows >= step, column, 0.0)
        columns.append(column)
        left = left - column.unsqueeze(-1) * column.unsqueeze(-2)
    factor = torch.stack(columns, -1)
    return factor.mT if upper else factor


def _swapped(matrix, step, other):
    """With two rows in each other's place, of which the second is another one in each matrix."""
    rows = _rows(matrix)
    order = torch.where(rows == step, other, torch.where(rows == other, step, rows))
    return matrix.gather(-2, order.unsqueeze(-1).expand(matrix.shape))


def _lu(matrix, pivot=True):
    """(both factors in one matrix, rows that were swapped, from 1 on)"""
    rows, columns = _rows(matrix), torch.arange(matrix.shape[-1], device=matrix.device)
    pivots = []
    for step in range(min(matrix.shape[-2:])):
        if pivot:
            largest = matrix[..., step:, step].abs().argmax(-1, keepdim=True) + step
            matrix = _swapped(matrix, step, largest)
            pivots.append(largest)
        else:
            pivots.append(torch.full((*matrix.shape[:-2], 1), step, dtype=torch.int64, device=matrix.device))
        below, diagonal = (rows > step).unsqueeze(-1), matrix[..., step:step + 1, step:step + 1]
        # Below a pivot of zero there are zeros: nothing is eliminated.
        factor = matrix[..., step:step + 1] / (torch.where(diagonal == 0, 1, diagonal) if pivot else diagonal)
        rest = matrix - factor * matrix[..., step:step + 1, :]
        matrix = torch.where(below & (columns > step), rest, torch.where(below & (columns == step), factor, matrix))
    if not pivots:
        return matrix.clone(), torch.zeros((*matrix.shape[:-2], 0), dtype=torch.int32, device=matrix.device)
    return matrix, (torch.cat(pivots, -1) + 1).to(torch.int32)


def _permutation(pivots, size, inverse=False):
    """The matrix that undoes the swaps, or does them."""
    matrix = torch.eye(size, device=pivots.device).expand(*pivots.shape[:-1], size, size)
    for step in range(pivots.shape[-1]):
        matrix = _swapped(matrix, step, pivots[..., step:step + 1].to(torch.int64) - 1)
    return matrix if inverse else matrix.mT


@_decomposes(aten.lu_unpack.default)
def unpack(factors, pivots, unpack_data=True, unpack_pivots=True):
    size, least = factors.shape[-2], min(factors.shape[-2:])
    lower, upper = (factors[..., :least].tril(-1) + torch.eye(size, least, dtype=factors.dtype, device=factors.device),
                    factors[..., :least, :].triu()) if unpack_data else (factors.new_empty(0), factors.new_empty(0))
    return _permutation(pivots, size).to(factors.dtype) if unpack_pivots else factors.new_empty(0), lower, upper


@_decomposes(aten.linalg_lu_factor_ex.default)
def lu_and_info(matrix, *, pivot=True, check_errors=False):
    return *_lu(matrix, pivot), _info(matrix)


@_decomposes(aten.linalg_lu.default)
def lu(matrix, *, pivot=True):
    found, lower, upper = unpack(*_lu(matrix, pivot), True, pivot)
    return found, lower, upper


@_decomposes(aten.linalg_lu_solve.default)
def lu_solve(factors, pivots, right, *, left=True, adjoint=False):
    if not left:
        return lu_solve(factors, pivots, right.mT, adjoint=not adjoint).mT
    if not factors.shape[-1]:
        return right.clone()
    if adjoint:
        found = solve_triangular(factors.mT, solve_triangular(factors.mT, right, upper=False), upper=True, unitriangular=True)
        return _permutation(pivots, factors.shape[-1]).to(found.dtype) @ found
    right = _permutation(pivots, factors.shape[-1], inverse=True).to(right.dtype) @ right
    return solve_triangular(factors, solve_triangular(factors, right, upper=False, unitriangular=True), upper=True)


def _swaps(matrix, pivots):
    """1 or -1, of an even or an odd number of swaps."""
    steps = torch.arange(1, matrix.shape[-1] + 1, device=matrix.device)
    return 1 - 2 * torch.remainder((pivots != steps).sum(-1), 2).to(matrix.dtype)


@_decomposes(aten._linalg_det.default)
def determinant(matrix):
    """torch-mlir's own takes no pivots."""
    factors, pivots = _lu(matrix)
    return factors.diagonal(dim1=-2, dim2=-1).prod(-1) * _swaps(matrix, pivots), factors, pivots


@_decomposes(aten._linalg_slogdet.default)
def logarithm_of_determinant(matrix):
    factors, pivots = _lu(matrix)
    diagonal = factors.diagonal(dim1=-2, dim2=-1)
    return torch.sign(diagonal).prod(-1) * _swaps(matrix, pivots), torch.log(diagonal.abs()).sum(-1), factors, pivots


@_decomposes(aten.linalg_det.default)
def only_determinant(matrix):
    return determinant(matrix)[0]


@_decomposes(aten.linalg_slogdet.default)
def only_logarithm_of_determinant(matrix):
    return logarithm_of_determinant(matrix)[:2]


@_decomposes(aten.linalg_cholesky.default)
def cholesky(matrix, *, upper=False):
    return _factor(matrix, upper)


@_decomposes(aten.linalg_cholesky_ex.default)
def cholesky_and_info(matrix, *, upper=False, check_errors=False):
    return _factor(matrix, upper), _info(matrix)


@_decomposes(aten.linalg_solve_triangular.default)
def solve_triangular(matrix, right, *, upper, left=True, unitriangular=False):
    if not left:
        return solve_triangular(matrix.mT, right.mT, upper=not upper, unitriangular=unitriangular).mT
    size = matrix.shape[-1]
    if not size:
        return right.clone()
    found = [None] * size
    for step in reversed(range(size)) if upper else range(size):
        row = right[..., step, :]
        found[step] = row if unitriangular else row / matrix[..., step, step].unsqueeze(-1)
        right = right - matrix[..., step].unsqueeze(-1) * found[step].unsqueeze(-2)
    return torch.stack(torch.broadcast_tensors(*found), -2)


@_decomposes(aten.triangular_solve.default)
def older_solve_triangular(right, matrix, upper=True, transpose=False, unitriangular=False):
    given = matrix.mT if transpose else matrix
    return solve_triangular(given, right, upper=upper != transpose, unitriangular=unitriangular), matrix.clone()


@_decomposes(aten.cholesky_solve.default)
def cholesky_solve(right, factor, upper=False):
    lower = factor.mT if upper else factor
    return solve_triangular(lower.mT, solve_triangular(lower, right, upper=False), upper=True)


@_decomposes(aten.cholesky_inverse.default)
def cholesky_inverse(factor, upper=False):
    return cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device), factor, upper)


@_decomposes(aten.linalg_householder_product.default)
def householder_product(reflectors, scales):
    """The product of 1 - scale v v^T, of which v begins with zeros and a one that is not stored; the first columns of it."""
    rows, count = _rows(reflectors), scales.shape[-1]
    result = torch.eye(reflectors.shape[-2], reflectors.shape[-1], dtype=reflectors.dtype, device=reflectors.device).expand(reflectors.shape)
    for step in reversed(range(count)):
        column = torch.where(rows == step, 1.0, torch.where(rows > step, reflectors[..., step], 0.0)).unsqueeze(-1)
        result = result - scales[..., step, None, None] * column * (column * result).sum(-2, keepdim=True)
    return result


@_decomposes(aten.linalg_matrix_exp.default)
def exponential(matrix):
    """A series of the matrix over a power of two, and as many squares, of 32 at most, NaN beyond; in f64, since each square doubles the
    error."""
    size, terms = matrix.shape[-1], 18 if matrix.dtype == torch.float64 else 10
    if not size:
        return matrix.clone()
    wide = matrix.to(torch.float64)
    count = torch.ceil(torch.log2(wide.abs().sum(-2).amax(-1).clamp(min=0.5) * 2))
    small = torch.where(count[..., None, None] <= 32, wide * torch.exp2(-count)[..., None, None], math.nan)
    one = torch.eye(size, dtype=torch.float64, device=matrix.device)
    result = one.expand(matrix.shape)
    for power in range(terms, 0, -1):
        result = one + small @ result / power
    for step in range(32):
        result = torch.where((step < count)[..., None, None], result @ result, result)
    return result.to(matrix.dtype)
