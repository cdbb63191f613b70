# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From PyTorch to linalg on tensors, by torch-mlir.

    python lower_torch.py program.pt2 model.mlir model.safetensors [state]

A process of its own for the reasons that lower_onnx.py has; program.pt2 is what torch.export.save wrote; with `state`, buffers that the
module writes become arguments. Exit codes are those of lower_onnx.py.

    program.pt2 ─ torch_complex.py, torch_shapes.py, torch_mlir.fx ─▶ torch dialect ─ pipelines ─▶ linalg ─ spelling.py, parameters.py ─▶ model.mlir, model.safetensors
"""

import sys
import warnings

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch_mlir import fx
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.passmanager import PassManager

import argument_sizes
import diagnostics
import donations
import parameters
import spelling
import torch_attention
import torch_bessel
import torch_complex
import torch_data_sizes
import torch_experts
import torch_importer
import torch_linalg
import torch_operators
import torch_pooling
import torch_random
import torch_reductions
import torch_sampling
import torch_scatters
import torch_shapes
import torch_special
from finish import finish

PIPELINE = ("builtin.module(func.func(torch-match-quantized-custom-ops),torchdynamo-export-to-torch-backend-pipeline,"
            "torch-backend-to-linalg-on-tensors-backend-pipeline,canonicalize,cse)")

DECOMPOSITIONS = {**get_decomposition_table(), **torch_operators.DECOMPOSITIONS, **torch_reductions.DECOMPOSITIONS,
                  **torch_scatters.DECOMPOSITIONS, **torch_pooling.DECOMPOSITIONS, **torch_attention.DECOMPOSITIONS,
                  **torch_experts.DECOMPOSITIONS, **torch_special.DECOMPOSITIONS, **torch_bessel.DECOMPOSITIONS,
                  **torch_linalg.DECOMPOSITIONS, **torch_sampling.DECOMPOSITIONS, **torch_random.DECOMPOSITIONS,
                  **torch_data_sizes.DECOMPOSITIONS}

torch_importer.keep_constants()


def lower(program, takes_state=False):
    """The text of a function `main` for a torch.export.ExportedProgram. takes_state: the buffers that it writes are arguments."""
    argument_sizes.forget_ranges_of_sums(program)
    try:
        program = program.run_decompositions(DECOMPOSITIONS)
        torch_importer.drop_checks(program)
        torch_complex.split(program, DECOMPOSITIONS)
        torch_shapes.simplify(program.graph)
        if takes_state:
            take_written_buffers(program)
        inputs = prepare(program)
        sizes = argument_sizes.relations(program, inputs)
        written = return_what_is_written(program)
        torch_importer.name_literals(program)
        module = fx.export_and_import(program, output_type="raw", func_name="main", decomposition_table={}).operation
    except diagnostics.Refused as refusal:  # less where in the graph, which PyTorch adds
        raise diagnostics.Refused(diagnostics.first_line(refusal)) from None
    except Exception as error:  # whatever the importer runs into
        raise diagnostics.Refused(f"it cannot be imported: {diagnostics.first_line(error)}") from None
    # Diagnostics are in the exception then.
    module.context.emit_error_diagnostics = False
    try:
        PassManager.parse(PIPELINE, module.context).run(module)
        text = module.get_asm()
    except Exception as error:
        raise diagnostics.Refused(diagnostics.reason(str(error), module)) from None
    try:
        text = argument_sizes.assert_them(spelling.to_mlir_22(text, inputs), sizes)
        return donations.mark(text, written)[0]
    except ValueError as error:
        raise diagnostics.Refused(str(error)) from None


def prepare(program):
    """Brings a decomposed program to what torch-mlir's importer takes; the names of its inputs. The importer makes arguments of what
    is constant among them, and finds buffers in the state only, where those are not that a module does not save."""
    signature = program.graph_signature
    diagnostics.refuse_changes(signature.buffers_to_mutate.values())
    program.state_dict.update((name, program.constants[name]) for name in signature.buffers if name in program.constants)
    inputs = []
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in signature.input_specs:
        if spec.kind != InputKind.USER_INPUT:
            continue
        if isinstance(spec.arg, ConstantArgument) and not placeholders[spec.arg.name].users:
            program.graph.erase_node(placeholders[spec.arg.name])
        else:
            inputs.append(spec.arg.name)
    return inputs


def take_written_buffers(program):
    """Makes the buffers that a module writes arguments behind its own, by their names, which it writes in place."""
    signature = program.graph_signature
    names, specs = set(signature.buffers_to_mutate.values()), signature.input_specs
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    last = list(placeholders.values())[-1]
    taken = [spec for spec in specs if spec.kind == InputKind.BUFFER and spec.target in names]
    arguments = {}
    for spec in taken:
        node = placeholders[spec.arg.name]
        if node is not last:
            last.append(node)
        last = node
        node._rename(spec.target.replace(".", "_"))
        node.target = spec.arg.name = arguments[spec.target] = node.name
        spec.kind, spec.target, spec.persistent = InputKind.USER_INPUT, None, None
    specs[:] = [spec for spec in specs if spec not in taken] + taken
    for spec in signature.output_specs:
        if spec.kind == OutputKind.BUFFER_MUTATION:
            spec.kind, spec.target = OutputKind.USER_INPUT_MUTATION, arguments[spec.target]


def return_what_is_written(program):
    """Makes the new values of arguments that a module writes in place results behind its own; {argument: number of the result}."""
    output = next(node for node in program.graph.nodes if node.op == "output")
    specs = program.graph_signature.output_specs
    order = sorted(range(len(specs)), key=lambda number: specs[number].kind == OutputKind.USER_INPUT_MUTATION)
    output.args = (tuple(output.args[0][number] for number in order),)
    specs[:] = [specs[number] for number in order]
    written = {}
    for number, spec in enumerate(specs):
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            written[spec.target] = number
            spec.kind, spec.target = OutputKind.USER_OUTPUT, None
    return written


def names_of_constants(program):
    """{bytes: name} of the tensors that may be large, as the module has them."""
    tensors = {**program.constants, **program.state_dict}
    return {tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes(): name
            for name, tensor in reversed(tensors.items())
            if isinstance(tensor, torch.Tensor) and tensor.numel() * tensor.element_size() >= parameters.LARGE}


def main(source, target, parameter_file, *options):
    warnings.filterwarnings("ignore")
    program = torch.export.load(source)
    return finish(lambda: lower(program, "state" in options), target, parameter_file, lambda: names_of_constants(program))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
