# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit: where the tools are, and which optional ones this machine has.

import ctypes
import os
import shutil
import sys

import lit.formats

config.name = "tilewright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["perf", "unit", "Inputs", "lit.cfg.py", "lit.site.cfg.py", "e2e"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tilewright_build, "test")

tools = os.path.join(config.tilewright_build, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools, config.llvm_bin, os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
config.substitutions.append(("%tools", tools))
config.substitutions.append(("%build", config.tilewright_build))
config.substitutions.append(("%runtime", os.path.join(config.tilewright_source, "gpu-runtime")))
config.substitutions.append(("%cc", os.path.join(config.llvm_bin, "clang")))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%examples", os.path.join(config.tilewright_source, "examples")))

for variable in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "XDG_CACHE_HOME", "HOME",
                 "TILEWRIGHT_PTXAS", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

# ptxas assembles what we emit: PATH, CUDA_HOME, or the wheel that .ci/run
# installs and names in TILEWRIGHT_PTXAS.
ptxas = os.environ.get("TILEWRIGHT_PTXAS") or shutil.which(
    "ptxas", path=config.environment["PATH"])
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if not os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("no-cuda-toolkit")
# A library for --external-blas, by the name that the dynamic linker knows.
try:
    ctypes.CDLL("libopenblas.so.0").cblas_sgemm
    config.available_features.add("openblas")
except (OSError, AttributeError):
    pass
for tool, feature in (("spirv-val", "spirv-val"), ("spirv-dis", "spirv-dis")):
    if shutil.which(tool, path=config.environment["PATH"]):
        config.available_features.add(feature)
for tool in ("tilewright-compile", "tilewright-run", "tilewright-inspect", "tilewright-reduce"):
    if os.path.exists(os.path.join(tools, tool)):
        config.available_features.add(tool)
