# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs a small classifier in ONNX's format; README.md beside this file."""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def model():
    """Two convolutions, a mean over the image, ten scores."""
    random = np.random.default_rng(1)

    def weights(name, *shape):
        return numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32), name)

    nodes = [helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("MaxPool", ["r1"], ["p1"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c2"], ["r2"]),
             helper.make_node("GlobalAveragePool", ["r2"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
             helper.make_node("Gemm", ["f", "w3", "b3"], ["s"]), helper.make_node("Softmax", ["s"], ["scores"], axis=1)]
    held = [weights("w1", 8, 3, 3, 3), weights("b1", 8), weights("w2", 16, 8, 3, 3), weights("b2", 16), weights("w3", 16, 10), weights("b3", 10)]
    graph = helper.make_graph(nodes, "classifier", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 16])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", metavar="FILE", help="write the model to a file, and stop")
    parser.add_argument("--target", default="cpu", help="what to compile for (%(default)s)")
    options = parser.parse_args()
    if options.save:
        onnx.save(model(), options.save)
        return
    import tilewright
    program = tilewright.from_onnx(model(), target=options.target)
    image = np.random.default_rng(2).standard_normal((1, 3, 16, 16)).astype(np.float32)
    scores = np.asarray(program(image))
    expected, = ReferenceEvaluator(model()).run(None, {"image": image})
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)
    print(f"class {int(scores.argmax())} with {scores.max():.3f}; scores agree with ONNX's evaluator")


if __name__ == "__main__":
    main()
