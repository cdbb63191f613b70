# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predictions of compiled candidates: each dispatch of an artifact is a launch, and the times of all are added."""

import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import tempfile

from tilewright_sweep import build
from tilewright_sweep import compiler as compilers
from tilewright_sweep.predict import bound, counts, predict, sass


class NotPredictable(Exception):
    """The message says why."""


def tool(name):
    """A command beside the compiler."""
    return str(pathlib.Path(compilers.find_compiler()).parent / name)


_OPERATIONS = {
    "mul": math.prod, "add": sum, "max": max, "min": min, "sub": lambda x: x[0] - x[1], "mod": lambda x: x[0] % x[1],
    "floordiv": lambda x: x[0] // x[1], "ceildiv": lambda x: -(-x[0] // x[1]),
}  # fmt: skip


#: Architectures with instructions of their own alone.
_OWN = ("sm_90", "sm_100", "sm_120")


def value_of(expression, chip, operands=()):
    """Of an expression of the manifest on a chip, with the dims of a dispatch's operands; None: it has others."""
    if isinstance(expression, int):
        return expression
    if expression == ["device", "multiprocessors"]:
        return chip.multiprocessors
    if not isinstance(expression, list):
        return None
    if expression[0] == "dim":
        shape = operands[expression[1]]["shape"] if expression[1] < len(operands) else []
        return shape[expression[2]] if expression[2] < len(shape) and shape[expression[2]] >= 0 else None
    if expression[0] == "offset":
        return 0
    if expression[0] not in _OPERATIONS:
        return None
    values = [value_of(x, chip, operands) for x in expression[1:]]
    return None if None in values else _OPERATIONS[expression[0]](values)


def with_size(dispatch, size):
    """A dispatch whose dims that are left open all have one size."""
    operands = [{**x, "shape": [size if extent < 0 else extent for extent in x["shape"]]} for x in dispatch["operands"]]
    return {**dispatch, "operands": operands}


def image_of(image, guard, chip, operands):
    """The dims of images at a launch, and strides that are no multiples of them. A size that a scalar tells is such that as
    many windows fit as the guard wants."""
    wanted = {}
    for each in guard:
        if each[0] == "eq" and each[1][0] == "ceildiv":
            (_, (_, inside, step), places) = each
            size, more = inside[1:] if inside[0] == "add" else (inside, 0)
            wanted[json.dumps(size)] = (places, step, more)

    def size_of(expression):
        value = value_of(expression, chip, operands)
        if value is None and json.dumps(expression) in wanted:
            places, step, more = wanted[json.dumps(expression)]
            return (value_of(places, chip, operands) - 1) * step + 1 - more
        return value

    dims = [size_of(x) for x in image["dims"]]
    if None in dims:
        return dims, []
    dense = [math.prod(dims[dim:]) for dim in range(1, len(dims))]
    return dims, [x for x, y in zip(image["strides"], dense) if isinstance(x, int) and x != y]


def tensor_map_of(name, param, operands, guard, chip):
    """As an argument of tilewright-run."""
    operand, merged = operands[param["tensor_map"]], param.get("merged", 1)
    shape = [math.prod(operand["shape"][:merged]), *operand["shape"][merged:]]
    options = f"swizzle={param['swizzle']}:" if param.get("swizzle") else ""
    if "image" in param:
        image = param["image"]
        shape, others = image_of(image, guard, chip, operands)
        if None in shape:
            raise NotPredictable(f"{name}: parameter {param}: sizes have to be known")
        if others:
            raise NotPredictable(
                f"{name}: parameter {param}: its images are not dense in memory, as the arguments of tilewright-run are;"
                " a config without tensor maps of images (strategy = tiled) can be predicted"
            )
        options += "".join(f"{key}={'x'.join(map(str, image[key]))}:" for key in ("lower", "upper", "steps"))
    box, dims = ("x".join(map(str, values)) for values in (param["box"], shape))
    return f"tensormap:box={box}:{options}{dims}x{operand['dtype']}=undefined"


def launch_of(dispatch, chip, variant=None):
    """(grid, arguments of tilewright-run) of a variant of a dispatch whose sizes are known; the first one, if none is named."""
    variant = variant or dispatch["variants"][0]
    operands = dispatch["operands"]
    grid = [value_of(extent, chip, operands) for extent in variant["grid"]]
    if None in grid or any(extent < 0 for operand in operands for extent in operand["shape"]):
        raise NotPredictable(f"{dispatch['name']}: a grid of known size is needed, not {variant['grid']}: compile with static shapes")
    shapes = ["x".join(map(str, (operand["shape"] or [1]) + [operand["dtype"]])) for operand in operands]
    arguments = []
    for param in variant["params"]:
        if "scalar" in param:
            value = value_of(param.get("value"), chip, operands)
            arguments.append(f"{param['scalar']}={1 if value is None else value}")
        elif "buffer" in param:
            arguments.append(f"{shapes[param['buffer']]}=undefined")
        elif "tensor_map" in param:
            guard = variant.get("guard")
            parts = guard[1:] if isinstance(guard, list) and guard[0] == "and" else []
            arguments.append(tensor_map_of(dispatch["name"], param, operands, parts, chip))
        else:
            raise NotPredictable(f"{dispatch['name']}: parameter {param}: sizes have to be known")
    return grid, arguments


def predict_artifact(path, chip, form="auto"):
    """{"chip", "seconds", "resource", "registers", "spills"} of an artifact, "instead" with the reason where the closed form
    stands for the simulation of a dispatch; {"chip", "error"} where it cannot be said."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _predict(path, chip, pathlib.Path(folder), form)
    except (NotPredictable, sass.ToolError, counts.CountError, bound.UnknownRate, subprocess.TimeoutExpired) as error:
        return {"chip": chip.key, "error": str(error).splitlines()[0]}


def _inspect(*arguments):
    return subprocess.run([tool("tilewright-inspect"), *map(str, arguments)], capture_output=True, check=True).stdout


def program_of(path):
    """The program for CUDA of an artifact, as tilewright-inspect describes it."""
    for program in json.loads(_inspect("--json", path))["programs"]:
        if program["driver"] == "cuda":
            return program
    raise NotPredictable("it has no program for CUDA")


def predict_dispatch(path, dispatch, chip, folder, form="auto", variant=None, ask=None):
    """A bound.Prediction of a launch of a dispatch. `ask`: what stands for counts.lines_of."""
    variant = variant or dispatch["variants"][0]
    grid, arguments = launch_of(dispatch, chip, variant)
    ptx = folder / f"{variant['name']}.ptx"
    _inspect(path, f"--kernel={variant['name']}", "--raw", "-o", ptx)
    return predict.of_ptx(
        chip, ptx, None, grid, variant["block"], arguments, tool("tilewright-run"), variant["shared"],
        cluster=variant.get("cluster", (1, 1, 1)), form=form, ask=ask,
    )  # fmt: skip


def describe_program(path, chip, form="auto"):
    """Lines for people: each dispatch of an artifact, or of a program that is compiled for the chip first, and all of them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if pathlib.Path(path).suffix == ".mlir":
            compiled, arch = folder / "program.tw", chip.arch + ("a" if chip.arch in _OWN else "")
            command = [compilers.find_compiler(), str(path), f"--target=cuda:{arch}", "-o", str(compiled)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise ValueError(done.stderr.strip())
            path = compiled
        all_seconds, dispatches = 0, program_of(path)["dispatches"]
        for dispatch in dispatches:
            made = predict_dispatch(path, dispatch, chip, folder, form)
            all_seconds += made.seconds
            yield f"{dispatch['name']}:"
            yield from (f"    {line}" for line in made.lines())
        if len(dispatches) > 1:
            yield f"predicted, all {len(dispatches)} kernels once: {all_seconds * 1e6:.1f} µs"


def _predict(path, chip, folder, form):
    made = [predict_dispatch(path, dispatch, chip, folder, form) for dispatch in program_of(path)["dispatches"]]
    if not made:
        raise NotPredictable("it launches nothing")
    instead = next((one.instead for one in made if getattr(one, "instead", None)), None)
    return {
        "chip": chip.key,
        "seconds": sum(one.seconds for one in made),
        "resource": max(made, key=lambda one: one.seconds).resource,
        "registers": max(one.registers for one in made),
        "spills": max(one.spills for one in made),
        **({"instead": instead} if instead else {}),
    }


def predict_all(folder, artifacts, chip, progress=None, form="auto"):
    """{artifact: what predict_artifact says}; FOLDER/cache/SHA.CHIP.FORM.predicted.json has what was said before, errors
    apart."""
    cache = pathlib.Path(folder) / "cache"

    def one(name):
        kept = cache / f"{name}.{chip.key}.{form}.predicted.json"
        said = json.loads(kept.read_text()) if kept.exists() else predict_artifact(cache / f"{name}.tw", chip, form)
        if "error" not in said and not kept.exists():
            build.write_whole(kept, json.dumps(said).encode())
        if progress:
            progress.step()
        return said

    names = sorted(set(artifacts))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(one, names)))
