# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A residual network like ResNet-18, an encoder like BERT and a decoder like Llama, in ONNX's format, with made-up weights.

Each is made with the package onnx, compiled, run, and held against ONNX Runtime where that is installed, else against ONNX's own
evaluator, which is NumPy; README.md beside this file.
"""

import argparse
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """A graph that is written node by node; values are names."""

    def __init__(self, name):
        self.name, self.nodes, self.held, self.inputs = name, [], {}, []
        self.random = np.random.default_rng(1)

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return name

    def constant(self, name, value, dtype=np.float32):
        self.held.setdefault(name, np.asarray(value, dtype))
        return name

    def weight(self, name, *shape, terms):
        """Random, such that sums of so many terms keep their size."""
        return self.constant(name, self.random.standard_normal(shape) / np.sqrt(terms))

    def numbers(self, *values):
        return self.constant("i_" + "_".join(map(str, values)), values, np.int64)

    def add(self, op, *inputs, **attributes):
        return self.split(op, 1, *inputs, **attributes)[0]

    def split(self, op, results, *inputs, **attributes):
        names = [f"{op.lower()}_{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
        return names

    def model(self, *outputs):
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        held = [numpy_helper.from_array(value, name) for name, value in self.held.items()]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, results, held)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)

    # What several models have.

    def linear(self, name, x, terms, size, bias=True):
        y = self.add("MatMul", x, self.weight(name + ".weight", terms, size, terms=terms))
        return self.add("Add", y, self.weight(name + ".bias", size, terms=4)) if bias else y

    def heads(self, x, length, count, depth):
        """1 x length x (count · depth) to 1 x count x length x depth."""
        x = self.add("Reshape", x, self.numbers(1, length, count, depth))
        return self.add("Transpose", x, perm=[0, 2, 1, 3])

    def attention(self, q, k, v, mask, length, width, depth):
        """The weighted values of heads, side by side again."""
        scores = self.add("MatMul", q, self.add("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.add("Mul", scores, self.constant("attention_scale", 1 / np.sqrt(depth)))
        weights = self.add("Softmax", self.add("Add", scores, mask), axis=-1)
        out = self.add("Transpose", self.add("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.add("Reshape", out, self.numbers(1, length, width))


def resnet(side=32, widths=(16, 32, 64, 128), classes=10):
    """17 convolutions with batch norms in residual blocks, two for each width, and a classifier."""
    g = Graph("resnet")

    def conv(name, x, channels, out, size, stride=1):
        w = g.weight(name + ".conv.weight", out, channels, size, size, terms=channels * size * size)
        x = g.add("Conv", x, w, strides=[stride, stride], pads=[size // 2] * 4, kernel_shape=[size, size])
        norm = [g.constant(f"{name}.norm.{part}", value) for part, value in
                (("scale", g.random.uniform(0.5, 1, out)), ("bias", 0.1 * g.random.standard_normal(out)),
                 ("mean", 0.1 * g.random.standard_normal(out)), ("variance", g.random.uniform(0.5, 1.5, out)))]
        return g.add("BatchNormalization", x, *norm)

    x = g.input("image", np.float32, [1, 3, side, side])
    x = g.add("Relu", conv("stem", x, 3, widths[0], 7, 2))
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = widths[0]
    for stage, width in enumerate(widths):
        for block in range(2):
            name, stride = f"layer{stage}.{block}", 2 if stage and not block else 1
            y = g.add("Relu", conv(name + ".0", x, channels, width, 3, stride))
            y = conv(name + ".1", y, width, width, 3)
            if stride != 1 or channels != width:
                x = conv(name + ".shortcut", x, channels, width, 1, stride)
            x, channels = g.add("Relu", g.add("Add", x, y)), width
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    image = np.random.default_rng(2).standard_normal((1, 3, side, side)).astype(np.float32)
    return g.model(g.linear("classifier", x, channels, classes)), {"image": image}


def bert(layers=2, length=16, hidden=64, heads=4, vocabulary=128):
    """Embeddings of tokens and positions, then layers of attention and a gelu network, with layer norms behind each."""
    g = Graph("bert")

    def norm(name, x):
        mean = g.add("ReduceMean", x, axes=[-1])
        x = g.add("Sub", x, mean)
        variance = g.add("ReduceMean", g.add("Mul", x, x), axes=[-1])
        x = g.add("Div", x, g.add("Sqrt", g.add("Add", variance, g.constant("epsilon", 1e-5))))
        x = g.add("Mul", x, g.constant(name + ".scale", g.random.uniform(0.5, 1.5, hidden)))
        return g.add("Add", x, g.constant(name + ".bias", 0.1 * g.random.standard_normal(hidden)))

    tokens = g.input("tokens", np.int64, [1, length])
    seen = g.input("seen", np.float32, [1, length])
    # 0 where a token is seen, a large negative number where not.
    mask = g.add("Mul", g.add("Sub", g.constant("one", 1), seen), g.constant("hidden", -10000))
    mask = g.add("Reshape", mask, g.numbers(1, 1, 1, length))
    x = g.add("Gather", g.weight("tokens.weight", vocabulary, hidden, terms=1), tokens)
    x = norm("embedding", g.add("Add", x, g.weight("positions.weight", 1, length, hidden, terms=1)))
    depth = hidden // heads
    for layer in range(layers):
        name = f"layer{layer}"
        q, k, v = (g.heads(g.linear(f"{name}.{part}", x, hidden, hidden), length, heads, depth) for part in "qkv")
        y = g.attention(q, k, v, mask, length, hidden, depth)
        x = norm(name + ".norm1", g.add("Add", x, g.linear(name + ".out", y, hidden, hidden)))
        y = g.linear(name + ".up", x, hidden, 4 * hidden)
        half = g.add("Mul", y, g.constant("half", 0.5))
        bell = g.add("Add", g.add("Erf", g.add("Div", y, g.constant("sqrt2", np.sqrt(2)))), g.constant("one", 1))
        y = g.linear(name + ".down", g.add("Mul", half, bell), 4 * hidden, hidden)
        x = norm(name + ".norm2", g.add("Add", x, y))
    random = np.random.default_rng(2)
    visible = (np.arange(length) < length - 3).astype(np.float32)[None]
    return g.model(x), {"tokens": random.integers(0, vocabulary, (1, length)), "seen": visible}


def llama(layers=2, length=16, hidden=64, heads=4, shared=2, inner=160):
    """Causal attention with rotated positions, in which several heads share keys and values, and a gated network; root mean
    square norms in front of each."""
    g = Graph("llama")

    def norm(name, x):
        square = g.add("ReduceMean", g.add("Mul", x, x), axes=[-1])
        x = g.add("Div", x, g.add("Sqrt", g.add("Add", square, g.constant("epsilon", 1e-5))))
        return g.add("Mul", x, g.constant(name + ".scale", g.random.uniform(0.5, 1.5, hidden)))

    depth = hidden // heads
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(depth // 2) * 2 / depth))
    cos = g.constant("rotation.cos", np.cos(np.concatenate([angles, angles], axis=1)))
    sin = g.constant("rotation.sin", np.sin(np.concatenate([angles, angles], axis=1)))
    mask = g.constant("causal", np.triu(np.full((length, length), -10000.0), 1))

    def rotated(x):
        first, second = g.split("Split", 2, x, axis=-1)
        turned = g.add("Concat", g.add("Neg", second), first, axis=-1)
        return g.add("Add", g.add("Mul", x, cos), g.add("Mul", turned, sin))

    def repeated(x):
        """1 x shared x length x depth to 1 x heads x length x depth."""
        x = g.add("Reshape", x, g.numbers(1, shared, 1, length, depth))
        x = g.add("Expand", x, g.numbers(1, shared, heads // shared, length, depth))
        return g.add("Reshape", x, g.numbers(1, heads, length, depth))

    x = g.input("x", np.float32, [1, length, hidden])
    for layer in range(layers):
        name = f"layer{layer}"
        y = norm(name + ".norm1", x)
        q = rotated(g.heads(g.linear(name + ".q", y, hidden, hidden, bias=False), length, heads, depth))
        k, v = (g.heads(g.linear(f"{name}.{part}", y, hidden, shared * depth, bias=False), length, shared, depth) for part in "kv")
        y = g.attention(q, repeated(rotated(k)), repeated(v), mask, length, hidden, depth)
        x = g.add("Add", x, g.linear(name + ".out", y, hidden, hidden, bias=False))
        y = norm(name + ".norm2", x)
        gate = g.linear(name + ".gate", y, hidden, inner, bias=False)
        y = g.add("Mul", g.add("Mul", gate, g.add("Sigmoid", gate)), g.linear(name + ".up", y, hidden, inner, bias=False))
        x = g.add("Add", x, g.linear(name + ".down", y, inner, hidden, bias=False))
    return g.model(x), {"x": np.random.default_rng(2).standard_normal((1, length, hidden)).astype(np.float32)}


MODELS = {"resnet": resnet, "bert": bert, "llama": llama}
#: Sizes of the models that they are like.
FULL = {"resnet": dict(side=224, widths=(64, 128, 256, 512), classes=1000),
        "bert": dict(layers=12, length=128, hidden=768, heads=12, vocabulary=30522),
        "llama": dict(layers=1, length=128, hidden=2048, heads=32, shared=8, inner=5632)}


def expected(model, inputs):
    """(who says so, results)"""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator
        return "ONNX's evaluator", ReferenceEvaluator(model).run(None, inputs)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return "ONNX Runtime", session.run(None, inputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)} (all)")
    parser.add_argument("--full", action="store_true", help="in the sizes of ResNet-18, BERT-base and a block of a Llama of 1B")
    parser.add_argument("--target", default="cpu", help="what to compile for (%(default)s)")
    parser.add_argument("--device", help="where to run, for example ptxsim; without it the best device that the target is for")
    parser.add_argument("--save", metavar="FILE", help="write the one model to a file, and stop")
    options = parser.parse_args()
    names = options.models or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown or options.save and len(names) != 1:
        parser.error(f"no model '{unknown[0]}'; there are {', '.join(MODELS)}" if unknown else "--save takes one model")
    for name in names:
        model, inputs = MODELS[name](**(FULL[name] if options.full else {}))
        if options.save:
            onnx.save(model, options.save)
            return 0
        import tilewright
        begin = time.perf_counter()
        program = tilewright.from_onnx(model, target=options.target)
        compiled = time.perf_counter()
        result = np.asarray(program(**inputs, device=options.device))
        ran = time.perf_counter()
        judge, (wanted,) = expected(model, inputs)
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())
        print(f"{name}: {'x'.join(map(str, result.shape))} agrees with {judge}, largest difference {np.abs(result - wanted).max():.1e} of "
              f"{np.abs(wanted).max():.2f}; lowered and compiled in {compiled - begin:.1f} s, first call {1000 * (ran - compiled):.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
