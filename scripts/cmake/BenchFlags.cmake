# Every flag of ours comes through this interface target; the programs land in build/bin.
add_library(bench_flags INTERFACE)
target_compile_features(bench_flags INTERFACE cxx_std_20)
target_compile_options(bench_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 reports overlapping copies inside std::string's operator+ that do not exist (its bug 105651).
  target_compile_options(bench_flags INTERFACE -Wno-restrict)
endif()
if(BENCH_WERROR)
  target_compile_options(bench_flags INTERFACE -Werror)
endif()
if(BENCH_SANITIZE)
  target_compile_options(bench_flags INTERFACE -fsanitize=address,undefined
                                               -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(bench_flags INTERFACE -fsanitize=address,undefined)
endif()
target_include_directories(bench_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Sources of one folder; a new file there needs no edit here.
function(bench_sources variable)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
