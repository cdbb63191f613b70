# tilewright_standard_headers(TARGET...): the standard library's headers are read once per target, not once per file.
# Files name what they use all the same: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
function(tilewright_standard_headers)
  foreach(target ${ARGN})
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <atomic> <chrono> <cstring> <fstream> <functional> <map> <memory> <mutex> <optional> <sstream>
      <string> <string_view> <thread> <unordered_map> <vector>)
  endforeach()
endfunction()
