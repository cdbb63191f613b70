# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX graphs of models that the package onnx does not bring, with seeded random weights."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Nodes and weights, in order; every method returns the name of its result."""

    def __init__(self, shape):
        self.shape, self.nodes, self.weights, self.random = shape, [], [], np.random.default_rng(0)

    def weight(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def normal(self, *shape, deviation=1.0):
        return self.weight((self.random.standard_normal(shape) * deviation).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self, result, shape):
        value = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        graph = helper.make_graph(self.nodes, "main", [value("x", self.shape)], [value(result, shape)], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def encoder(layers=2, tokens=128, width=768, heads=12, tanh=False):
    """Layers of an encoder as BERT-base has them: attention, then two products with a GELU between, each with a residual
    connection and a LayerNormalization behind it."""
    g = Graph([1, tokens, width])
    number = lambda value: g.weight(np.float32(value))
    linear = lambda x, m, n: g.op("Add", g.op("MatMul", x, g.normal(m, n, deviation=m**-0.5)), g.normal(n, deviation=0.02))
    norm = lambda x: g.op("LayerNormalization", x, g.weight(np.ones(width, np.float32)), g.normal(width, deviation=0.02))
    split, join = g.weight(np.int64([1, tokens, heads, width // heads])), g.weight(np.int64([1, tokens, width]))

    def heads_of(x, order):
        return g.op("Transpose", g.op("Reshape", linear(x, width, width), split), perm=order)

    def gelu(x):
        if tanh:
            cubed = g.op("Mul", g.op("Mul", g.op("Mul", x, x), x), number(0.044715))
            bent = g.op("Tanh", g.op("Mul", g.op("Add", x, cubed), number(0.7978845608)))
        else:
            bent = g.op("Erf", g.op("Div", x, number(2**0.5)))
        return g.op("Mul", g.op("Mul", x, g.op("Add", bent, number(1))), number(0.5))

    x = "x"
    for _ in range(layers):
        query, key, value = heads_of(x, [0, 2, 1, 3]), heads_of(x, [0, 2, 3, 1]), heads_of(x, [0, 2, 1, 3])
        scores = g.op("Softmax", g.op("Div", g.op("MatMul", query, key), number((width // heads)**0.5)), axis=-1)
        mixed = g.op("Reshape", g.op("Transpose", g.op("MatMul", scores, value), perm=[0, 2, 1, 3]), join)
        x = norm(g.op("Add", x, linear(mixed, width, width)))
        x = norm(g.op("Add", x, linear(gelu(linear(x, width, 4 * width)), 4 * width, width)))
    return g.model(x, [1, tokens, width])


def resnet18():
    """ResNet-18 without the normalisations, which runtimes fold into the weights."""
    g = Graph([1, 3, 224, 224])

    def conv(x, channels, filters, size, stride):
        return g.op("Conv", x, g.normal(filters, channels, size, size, deviation=(2 / (channels * size * size))**0.5),
                    g.normal(filters, deviation=0.02), strides=[stride] * 2, pads=[size // 2] * 4, kernel_shape=[size] * 2)

    x = g.op("MaxPool", g.op("Relu", conv("x", 3, 64, 7, 2)), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for filters in (64, 128, 256, 512):
        for stride in (1 if filters == 64 else 2, 1):
            inner = conv(g.op("Relu", conv(x, channels, filters, 3, stride)), filters, filters, 3, 1)
            if stride != 1:
                x = conv(x, channels, filters, 1, stride)
            x, channels = g.op("Relu", g.op("Add", inner, x)), filters
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    return g.model(g.op("Gemm", x, g.normal(512, 1000, deviation=0.04), g.normal(1000, deviation=0.02)), [1, 1000])


MADE = {"encoder": encoder, "encoder_tanh": lambda: encoder(tanh=True), "resnet18": resnet18}
