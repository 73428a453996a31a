# "0.1.0+1a2b3c4", with ".dirty" behind it for a changed tree; plain "0.1.0" outside git.
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty=.dirty --abbrev=7
                          --match=none
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(commit)
  set(VERSION "${VERSION}+${commit}")
endif()
set(text "#pragma once\n#define BENCH_VERSION \"${VERSION}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
