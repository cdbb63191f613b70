# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inverses, solutions and Cholesky's factors of small matrices, by steps that are written out.

A step is a few ops of all elements, whatever stands in front of the two dims of a matrix; larger matrices than LARGEST are refused. What
PyTorch says of singular matrices is lost: their results have infinities and NaN.
"""

import torch

aten = torch.ops.aten
LARGEST = 32
DECOMPOSITIONS = {}


def _decomposes(*operators):
    """Of f32 and f64, where the number of rows is known and small. The first operand has them in the last dim but one."""
    def register(function):
        def decomposed(matrix, *arguments, **options):
            size = matrix.shape[-2]
            if not isinstance(size, int) or not 0 < size <= LARGEST or matrix.dtype not in (torch.float32, torch.float64):
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
    size = matrix.shape[-1]
    batch = torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
    both = torch.cat([matrix.expand(*batch, size, size), right.expand(*batch, *right.shape[-2:])], -1)
    rows = _rows(matrix)
    for step in range(size):
        if step < size - 1:
            largest = both[..., step:, step].abs().argmax(-1, keepdim=True) + step
            order = torch.where(rows == step, largest, torch.where(rows == largest, step, rows))
            both = both.gather(-2, order.unsqueeze(-1).expand(both.shape))
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
    left = matrix.mT if upper else matrix
    rows, columns = _rows(matrix), []
    for step in range(matrix.shape[-1]):
        column = left[..., step] / torch.sqrt(left[..., step:step + 1, step])
        column = torch.where(rows >= step, column, 0.0)
        columns.append(column)
        left = left - column.unsqueeze(-1) * column.unsqueeze(-2)
    factor = torch.stack(columns, -1)
    return factor.mT if upper else factor


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
