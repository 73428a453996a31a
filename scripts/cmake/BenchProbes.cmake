# bench_declare_probes(<target> <schemas...>): compiles into the target what the schemas declare; written again when one changes.
function(bench_declare_probes target)
  set(declarations ${CMAKE_BINARY_DIR}/generated/${target}_declarations.cpp)
  add_custom_command(OUTPUT ${declarations}
    COMMAND ${CMAKE_COMMAND} "-DSCHEMAS=${ARGN}" -DOUTPUT=${declarations} -P ${CMAKE_SOURCE_DIR}/scripts/cmake/write_declarations.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/scripts/cmake/write_declarations.cmake VERBATIM)
  target_sources(${target} PRIVATE ${declarations})
endfunction()
