# Every flag of ours comes through this interface target; the programs land in build/bin.
add_library(bench_flags INTERFACE)
target_compile_features(bench_flags INTERFACE cxx_std_20)
# Warnings are the C++ compiler's; nvcc would take them for options of its own.
function(bench_cxx_options)
  target_compile_options(bench_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()
bench_cxx_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 sees overlapping and overlong copies inside std::string where there are none (its bug 105651).
  bench_cxx_options(-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds -Wno-maybe-uninitialized)
  # Collect garbage from 512 MiB on instead of from 128: 5 to 15 % less time to compile, for some hundred MB more.
  bench_cxx_options(--param=ggc-min-heapsize=524288)
endif()
if(BENCH_WERROR)
  bench_cxx_options(-Werror)
endif()
if(BENCH_SANITIZE)
  bench_cxx_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  # Builds by g++ leave misuse of pointers to the address sanitizer: these checks take a fifth to a third of the time to compile.
  # Builds by clang have them (scripts/evidence fuzz). Kernels (BENCH_KERNELS) keep them unless tests would take too long
  # (BENCH_POINTERS_BY_ASAN).
  set(bench_pointers_by_asan "$<OR:$<BOOL:$<TARGET_PROPERTY:BENCH_TESTS_OWN_CODE>>,$<BOOL:$<TARGET_PROPERTY:BENCH_POINTERS_BY_ASAN>>>")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    bench_cxx_options(-fno-sanitize=null)
    set(bench_pointers_by_asan "$<OR:$<NOT:$<BOOL:$<TARGET_PROPERTY:BENCH_KERNELS>>>,${bench_pointers_by_asan}>")
  endif()
  bench_cxx_options("$<${bench_pointers_by_asan}:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow>")
  # The preset's -Og makes kernels slow; those with BENCH_POINTERS_BY_ASAN set a level of their own.
  bench_cxx_options("$<$<AND:$<BOOL:$<TARGET_PROPERTY:BENCH_KERNELS>>,$<NOT:$<BOOL:$<TARGET_PROPERTY:BENCH_POINTERS_BY_ASAN>>>>:-O1>")
  target_link_options(bench_flags INTERFACE -fsanitize=address,undefined)
endif()
# Optimised code is hardened (docs/security.md). Bounds of standard containers are checked everywhere but in targets with BENCH_KERNELS,
# where they would be measured. Debug builds have sanitizers instead.
set(bench_hardened "$<AND:$<NOT:$<CONFIG:Debug>>,$<NOT:$<BOOL:${BENCH_SANITIZE}>>,$<NOT:$<BOOL:$<TARGET_PROPERTY:BENCH_TESTS_OWN_CODE>>>>")
target_compile_options(bench_flags INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,${bench_hardened}>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>"
  "$<$<AND:$<COMPILE_LANGUAGE:CXX>,${bench_hardened},$<NOT:$<BOOL:$<TARGET_PROPERTY:BENCH_KERNELS>>>>:-D_GLIBCXX_ASSERTIONS>")
target_link_options(bench_flags INTERFACE LINKER:-z,relro LINKER:-z,now)

# Tests' own code does little, and compiling it takes longer than compiling what it tests: it is not optimised. The code under test is
# built as users run it.
target_compile_options(bench_flags INTERFACE "$<$<BOOL:$<TARGET_PROPERTY:BENCH_TESTS_OWN_CODE>>:-O0>")
target_include_directories(bench_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)

# In a bundle lib/ is next to bin/. The old kind of tag also serves what the libraries themselves need.
target_link_options(bench_flags INTERFACE LINKER:--disable-new-dtags)
set(CMAKE_BUILD_RPATH "$ORIGIN/../lib" "$ORIGIN")

# What is measured are kernels written out by hand; for the rest -O3 only costs compile time.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
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

# The JSON library is most of what a file of ours costs to compile; it is compiled once. A target whose flags differ
# (OpenMP) cannot share it.
option(BENCH_PCH "Share one precompiled header" ON)
set(BENCH_SHARED_HEADERS <algorithm> <cstdint> <filesystem> <functional> <map> <memory>
  <nlohmann/json.hpp> <optional> <span> <string> <string_view> <variant> <vector>)
# The files of a folder are compiled together, which halves a full build; -DBENCH_UNITY=OFF compiles each alone, which is quicker
# after small edits and shows a missing #include. Sources with flags of their own are always compiled alone.
option(BENCH_UNITY "Compile the files of a folder together" ON)
function(bench_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${BENCH_UNITY} UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
function(bench_share_headers target)
  bench_compile_together(${target})
  if(BENCH_PCH)
    target_precompile_headers(${target} REUSE_FROM bench_core)
  endif()
endfunction()
