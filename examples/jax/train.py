# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small decoder, written in JAX, with a step that Tilewright compiles; README.md beside this file."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np

TOKENS, WIDTH, HEADS, INNER, LENGTH, BATCH = 32, 64, 4, 128, 24, 8
RATE = 0.05


def parameters(random):
    """Weights with a variance of 1 / rows, in a dictionary as JAX's programs have them."""
    def weights(rows, columns):
        return (random.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)

    products = {name: weights(WIDTH, WIDTH) for name in ("query", "key", "value", "out")}
    return {"embedding": weights(TOKENS, WIDTH), "norm1": np.ones(WIDTH, np.float32), "norm2": np.ones(WIDTH, np.float32), **products,
            "gate": weights(WIDTH, INNER), "up": weights(WIDTH, INNER), "down": weights(INNER, WIDTH)}


def norm(x, gain):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * gain


def scores(params, tokens):
    """Of each next token: (batch, length) -> (batch, length, tokens)."""
    x = params["embedding"][tokens]
    y = norm(x, params["norm1"])
    q, k, v = ((y @ params[name]).reshape(*tokens.shape, HEADS, WIDTH // HEADS) for name in ("query", "key", "value"))
    x = x + jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(x.shape) @ params["out"]
    y = norm(x, params["norm2"])
    x = x + (jax.nn.silu(y @ params["gate"]) * (y @ params["up"])) @ params["down"]
    return x @ params["embedding"].T


def loss(params, tokens):
    logs = jax.nn.log_softmax(scores(params, tokens[:, :-1]), -1)
    return -jnp.take_along_axis(logs, tokens[:, 1:, None], -1).mean()


def step(params, tokens):
    """(the loss, parameters a step down its gradient)"""
    value, gradient = jax.value_and_grad(loss)(params, tokens)
    return value, jax.tree.map(lambda p, g: p - RATE * g, params, gradient)


def texts(random):
    """Each token follows from the one before."""
    first = random.integers(0, TOKENS, (BATCH, 1))
    return ((first + 5 * np.arange(LENGTH)) % TOKENS).astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20, help="(%(default)s)")
    parser.add_argument("--target", default="cpu", help="what to compile for (%(default)s)")
    parser.add_argument("--device", default="cpu", help="what to run on (%(default)s)")
    options = parser.parse_args()
    import tilewright
    random = np.random.default_rng(1)
    params = ours = parameters(random)
    program = tilewright.from_jax(step, (params, texts(random)), target=options.target)
    structure = jax.tree.structure(params)
    theirs_step, worst = jax.jit(step), 0.0
    for number in range(options.steps):
        tokens = texts(random)
        value, *leaves = map(np.asarray, program(*jax.tree.leaves(ours), tokens, device=options.device))
        ours = jax.tree.unflatten(structure, leaves)
        expected, params = theirs_step(params, tokens)
        worst = max(worst, abs(float(value) - float(expected)) / float(expected))
        if number % 5 == 0 or number + 1 == options.steps:
            print(f"step {number}: loss {float(value):.4f}, JAX's {float(expected):.4f}")
    # Both train on their own results: rounding is carried along.
    assert worst < 1e-3, f"the losses differ by {worst:.1e}"
    print(f"losses agree with JAX's, to {worst:.0e}")


if __name__ == "__main__":
    main()
