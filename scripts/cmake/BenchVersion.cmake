# build/generated/version.generated.h, rewritten by each build so that its commit is correct.
add_custom_target(bench_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
          -DOUTPUT=${CMAKE_BINARY_DIR}/generated/version.generated.h
          -P ${CMAKE_SOURCE_DIR}/scripts/cmake/write_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/generated/version.generated.h)
