# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir's importer (20261001) needs help with.

It knows the constants that it has imported by Python's id(), also of copies that it makes and drops, as of each tensor of booleans: the
next copy may have the same id, and was taken for the same constant. And it takes no tensors in lists of arguments.
"""

import torch
from torch.fx.node import map_aggregate
from torch_mlir.extras.fx_importer import RefTracker


def keep_constants():
    """Tensors that the importer has seen live as long as it does."""
    track = RefTracker.track

    def track_and_keep(self, referrent):
        self.__dict__.setdefault("kept", []).append(referrent)
        return track(self, referrent)

    RefTracker.track = track_and_keep


def name_literals(program):
    """Constants of a torch.export.ExportedProgram that stand in lists, as those that index a table, become attributes of its module, read
    in front of the node; so do tensors that stand there themselves."""
    module, signature = program.graph_module, program.graph_signature
    tensors = {**program.state_dict, **program.constants}
    constants = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
    named = {}

    def read(value, node):
        if isinstance(value, torch.fx.Node) and value.op == "placeholder":
            value = tensors.get(constants.get(value.name), value)
        if not isinstance(value, torch.Tensor):
            return value
        name = named.setdefault(id(value), f"_literal_{len(named)}")
        if not hasattr(module, name):
            module.register_buffer(name, value)
        with module.graph.inserting_before(node):
            return module.graph.get_attr(name)

    for node in list(module.graph.nodes):
        if node.op == "call_function":
            node.args = tuple(map_aggregate(part, lambda value: read(value, node)) if isinstance(part, (list, tuple)) else part
                              for part in node.args)
