# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir's importer (20261001) needs help with.

It knows the constants that it has imported by Python's id(), also of copies that it makes and drops, as of each tensor of booleans: the
next copy may have the same id, and was taken for the same constant. It takes no tensors in lists of arguments, and what torch.export
orders by tokens for more arguments and results.
"""

import torch
from torch.export.graph_signature import InputKind, OutputKind
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


def drop_checks(program):
    """Ops without a result, in an order by tokens that are arguments and results: checks of what an op was given, as whether a matrix was
    singular. In place."""
    graph, signature = program.graph_module.graph, program.graph_signature
    for node in list(graph.nodes):
        if node.target is not torch.ops.higher_order.with_effects:
            continue
        token, operator = node.args[:2]
        if operator._schema.returns:
            continue
        for user in list(node.users):
            user.replace_all_uses_with(token)
            graph.erase_node(user)
        graph.erase_node(node)
    output, = (node for node in graph.nodes if node.op == "output")
    specs = signature.output_specs
    output.args = (tuple(value for value, spec in zip(output.args[0], specs) if spec.kind != OutputKind.TOKEN),)
    tokens = {spec.arg.name for spec in signature.input_specs if spec.kind == InputKind.TOKEN}
    signature.input_specs[:] = [spec for spec in signature.input_specs if spec.kind != InputKind.TOKEN]
    specs[:] = [spec for spec in specs if spec.kind != OutputKind.TOKEN]
    for node in list(graph.nodes):
        if node.op == "placeholder" and node.name in tokens:
            graph.erase_node(node)
