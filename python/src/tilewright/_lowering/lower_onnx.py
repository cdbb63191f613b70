# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From ONNX to linalg on tensors, by torch-mlir.

    python lower_onnx.py model.onnx model.mlir [model.safetensors]

A process of its own: torch-mlir brings another LLVM than ours and ends the process where it meets what it did not expect.
Needs the packages onnx and torch-mlir, and nothing of Tilewright but the files beside it. Exit code 0: model.mlir is
written, and the parameter file where one is named and there are large constants (parameters.py); 3: the model is refused, with the reason on stdout; anything else is a fault of torch-mlir.

    model.onnx ─ shapes are inferred ─ importer ─▶ torch dialect ─ pipelines ─▶ linalg ─ spelling.py ─▶ model.mlir
"""

import sys
import warnings

import onnx
import onnx.version_converter
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras import onnx_importer
from torch_mlir.ir import Context
from torch_mlir.passmanager import PassManager

import float8
import parameters
import spelling
from diagnostics import Refused, first_line, reason
from finish import finish

PIPELINE = ("builtin.module(torch-onnx-to-torch-backend-pipeline,"
            "torch-backend-to-linalg-on-tensors-backend-pipeline,canonicalize,cse)")
# A version of ONNX's operators that torch-mlir knows all of.
NEWER = 17


def lower(model):
    """The text of a function `main` for an onnx.ModelProto. An op that torch-mlir lacks is lowered by the function that
    defines it in ONNX, where it has one; a model of an old version of the operators is brought to a newer one, where
    torch-mlir knows that alone."""
    try:
        return _lower_or_expand(prepared(model))
    except Refused as refusal:
        try:
            return _lower_or_expand(prepared(newer(model)))
        except Refused:
            raise refusal from None  # of the op that the model has


def _lower_or_expand(model):
    config = onnx_importer.Config()
    if any(node.op_type == "Gelu" and any(attribute.s == b"tanh" for attribute in node.attribute) for node in model.graph.node):
        # torch-mlir's own has a wrong factor, as torch_operators.py says.
        config = onnx_importer.Config(function_expansion_allowlists_by_domain={
            "": config.function_expansion_allowlists_by_domain[""] | {"Gelu"}})
    try:
        return _lower(model, config)
    except Refused as refusal:
        try:
            return _lower(model, onnx_importer.Config(function_expansion_allowlists_by_domain=None))
        except Refused:
            raise refusal from None


def newer(model):
    """The model in version NEWER of ONNX's operators."""
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if not versions or versions[0] >= NEWER:
        raise Refused("it is of a new version")
    try:
        return onnx.version_converter.convert_version(model, NEWER)
    except Exception as error:
        raise Refused(f"it cannot be brought to version {NEWER} of the operators: {first_line(error)}") from None


def prepared(model):
    """The model with the shapes and versions that the importer asks for."""
    prepared = onnx.ModelProto()
    prepared.CopyFrom(model)
    prepared.graph.name = "main"
    if not any(entry.domain in ("", "ai.onnx") for entry in prepared.opset_import):
        prepared.opset_import.add(domain="", version=onnx.defs.onnx_opset_version())
    try:
        inferred = onnx.shape_inference.infer_shapes(prepared, data_prop=True)
        if float8.explicit_saturation(inferred):
            inferred = onnx.shape_inference.infer_shapes(inferred, data_prop=True)
        return inferred
    except Exception as error:
        raise Refused(f"its shapes cannot be inferred: {first_line(error)}") from None


def _lower(model, config):
    context = Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(model, config=config)
    module = info.create_module(context=context).operation
    try:
        onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    except Exception as error:  # whatever the importer runs into
        raise Refused(f"it cannot be imported: {first_line(error)}") from None
    context.emit_error_diagnostics = False
    try:
        PassManager.parse(PIPELINE, context).run(module)
    except Exception as error:
        raise Refused(reason(str(error), module)) from None
    try:
        return spelling.to_mlir_22(module.get_asm(), list(info.main_graph.input_map))
    except ValueError as error:
        raise Refused(str(error)) from None


def names_of_constants(model):
    """{bytes: name} of the constants that may be large: torch-mlir forgets names, not contents."""
    tensors = [(tensor.name, tensor) for tensor in model.graph.initializer]
    tensors += [(node.output[0], attribute.t) for node in model.graph.node if node.op_type == "Constant"
                for attribute in node.attribute if attribute.name == "value"]
    return {onnx.numpy_helper.to_array(tensor).tobytes(): name for name, tensor in reversed(tensors)
            if tensor.ByteSize() >= parameters.LARGE}


def main(source, target, parameter_file=None):
    warnings.filterwarnings("ignore")
    model = onnx.load(source)
    return finish(lambda: lower(model), target, parameter_file, lambda: names_of_constants(model))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
