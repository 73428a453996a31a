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
endif()
if(BENCH_WERROR)
  bench_cxx_options(-Werror)
endif()
if(BENCH_SANITIZE)
  bench_cxx_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A fifth of the time to compile; the address sanitizer reports the access through the null pointer.
    bench_cxx_options(-fno-sanitize=null)
  endif()
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
# built as users run it. Under sanitizers the same goes for rooms of text and verdicts (BENCH_TEXT), which touch no raw memory: they
# were a third of the time to compile. Misuse of pointers is left to the address sanitizer there, as in the loops of training, which the
# other checks slow down by a quarter (BENCH_POINTERS_BY_ASAN). A target's own options come first: they could not take a check back.
set(bench_quick_to_compile
  "$<OR:$<BOOL:$<TARGET_PROPERTY:BENCH_TESTS_OWN_CODE>>,$<AND:$<BOOL:${BENCH_SANITIZE}>,$<BOOL:$<TARGET_PROPERTY:BENCH_TEXT>>>>")
target_compile_options(bench_flags INTERFACE "$<${bench_quick_to_compile}:-O0>")
if(BENCH_SANITIZE)
  target_compile_options(bench_flags INTERFACE
    "$<$<OR:${bench_quick_to_compile},$<BOOL:$<TARGET_PROPERTY:BENCH_POINTERS_BY_ASAN>>>:-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow>")
endif()
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
# For a room of text and verdicts (BENCH_TEXT), whose flags under sanitizers are its own.
function(bench_share_text_headers target)
  set_target_properties(${target} PROPERTIES BENCH_TEXT ON)
  if(NOT BENCH_SANITIZE OR NOT BENCH_PCH)
    bench_share_headers(${target})
    return()
  endif()
  if(NOT TARGET bench_text_headers)
    file(CONFIGURE OUTPUT text_headers.cpp CONTENT "")
    add_library(bench_text_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/text_headers.cpp)
    set_target_properties(bench_text_headers PROPERTIES BENCH_TEXT ON)
    target_link_libraries(bench_text_headers PRIVATE bench_flags nlohmann_json::nlohmann_json)
    target_precompile_headers(bench_text_headers PRIVATE ${BENCH_SHARED_HEADERS})
  endif()
  bench_compile_together(${target})
  target_precompile_headers(${target} REUSE_FROM bench_text_headers)
endfunction()
