# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Casts to floats of 8 bits as torch-mlir lowers them: by CastLike alone, and without saturation.

    y = Cast(x, to=FLOAT8E4M3FN)                    # saturate=1: what is beyond 448 becomes 448
becomes
    z = Max(Min(x, 448), -448)                      # of NaN a limit, as torch-mlir lowers it
    y = CastLike(Where(IsNaN(x), x, z), like)       # `like`: no elements, of the type
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

#: The largest number of each type.
LARGEST = {TensorProto.FLOAT8E4M3FN: 448, TensorProto.FLOAT8E4M3FNUZ: 240, TensorProto.FLOAT8E5M2: 57344,
           TensorProto.FLOAT8E5M2FNUZ: 57344}
FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


def explicit_saturation(model):
    """Changes the main graph of a model whose types are inferred; whether there was anything to change."""
    graph = model.graph
    types = {value.name: value.type.tensor_type.elem_type for value in (*graph.input, *graph.value_info, *graph.output)}
    types.update({tensor.name: tensor.data_type for tensor in graph.initializer})
    nodes, changed = [], False
    for number, node in enumerate(graph.node):
        attributes = {attribute.name: attribute.i for attribute in node.attribute}
        target = attributes.get("to") if node.op_type == "Cast" else \
            types.get(node.input[1]) if node.op_type == "CastLike" else None
        source = types.get(node.input[0]) if node.input else None
        if target not in LARGEST or source not in FLOATS:
            nodes.append(node)
            continue
        changed = True
        stem, name = f"tilewright_float8_{number}", node.input[0]
        if attributes.get("saturate", 1):
            for op, limit in (("Min", LARGEST[target]), ("Max", -LARGEST[target])):
                limit = np.array(limit, helper.tensor_dtype_to_np_dtype(source))
                graph.initializer.append(numpy_helper.from_array(limit, f"{stem}_{op}_limit"))
                nodes.append(helper.make_node(op, [name, f"{stem}_{op}_limit"], [f"{stem}_{op}"]))
                name = f"{stem}_{op}"
            nodes.append(helper.make_node("IsNaN", [node.input[0]], [f"{stem}_nan"]))
            nodes.append(helper.make_node("Where", [f"{stem}_nan", node.input[0], name], [f"{stem}_input"]))
            name = f"{stem}_input"
        if node.op_type == "Cast":
            like = f"{stem}_like"
            graph.initializer.append(helper.make_tensor(like, target, [0], b"", raw=True))
        else:
            like = node.input[1]
        nodes.append(helper.make_node("CastLike", [name, like], list(node.output), saturate=0))
    if changed:
        del graph.node[:]
        graph.node.extend(nodes)
    return changed
