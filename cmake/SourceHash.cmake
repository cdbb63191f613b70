# Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A hash of the sources of the compiler and the runtime. A build records it in
# build/source-hash when it has linked them, so that pip can tell whether what is
# there belongs to the sources beside it.
#   cmake -DROOT=FOLDER -DOUTPUT=FILE -P SourceHash.cmake
function(tilewright_source_hash root result)
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/lib/* ${root}/include/*
    ${root}/gpu-runtime/* ${root}/tools/* ${root}/cmake/*)
  list(FILTER files EXCLUDE REGEX "/test/|__pycache__|[.]md$")
  list(APPEND files CMakeLists.txt)
  list(SORT files)
  set(text "")
  foreach(file ${files})
    file(SHA256 ${root}/${file} hash)
    string(APPEND text "${hash} ${file}\n")
  endforeach()
  string(SHA256 hash "${text}")
  set(${result} ${hash} PARENT_SCOPE)
endfunction()

if(OUTPUT)
  tilewright_source_hash(${ROOT} hash)
  file(WRITE ${OUTPUT} ${hash})
endif()
