# `cmake --install` and packages (scripts/package): programs in bin, what they read in share/benchctl, where data_root() looks for it
# next to bin. Components are packages: benchctl for a login node, rank and cuda for the nodes that measure.
include(GNUInstallDirs)
set(BENCH_ZSH_FOLDER ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING "Where zsh looks for completions, below the prefix")
set(BENCH_MAINTAINER "benchctl <root@localhost>" CACHE STRING "NAME <MAIL> in packages")
mark_as_advanced(BENCH_ZSH_FOLDER BENCH_MAINTAINER)

install(TARGETS benchctl COMPONENT benchctl)
install(TARGETS bench-rank COMPONENT rank)
if(TARGET bench-rank-cuda)
  install(TARGETS bench-rank-cuda COMPONENT cuda)
endif()
set(data ${CMAKE_INSTALL_DATADIR}/benchctl)
install(DIRECTORY schemas suites rulesets hosts bands DESTINATION ${data} COMPONENT benchctl)
install(DIRECTORY python DESTINATION ${data} COMPONENT benchctl PATTERN __pycache__ EXCLUDE)
install(FILES scripts/torch_loader.py DESTINATION ${data}/scripts COMPONENT benchctl)
install(FILES README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT benchctl)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT benchctl
        PATTERN evidence EXCLUDE PATTERN measurements EXCLUDE)
foreach(component benchctl rank cuda)
  string(REPLACE "benchctl-benchctl" benchctl package benchctl-${component})
  if(NOT component STREQUAL cuda OR TARGET bench-rank-cuda)
    install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} RENAME copyright COMPONENT ${component})
  endif()
endforeach()

# Manual pages and completions come from the program itself, which a cross build cannot run.
if(NOT CMAKE_CROSSCOMPILING)
  find_program(BENCH_GZIP gzip)
  set(generated ${CMAKE_BINARY_DIR}/manual)
  set(compress "")
  if(BENCH_GZIP)
    set(compress COMMAND sh -c "${BENCH_GZIP} -9nf ${generated}/man1/*.1")
  endif()
  add_custom_command(OUTPUT ${generated}/done
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${generated}
    COMMAND benchctl manual ${generated}/man1 > /dev/null
    ${compress}
    COMMAND benchctl completion bash > ${generated}/benchctl
    COMMAND benchctl completion zsh > ${generated}/_benchctl
    COMMAND benchctl completion fish > ${generated}/benchctl.fish
    COMMAND ${CMAKE_COMMAND} -E touch ${generated}/done
    DEPENDS benchctl COMMENT "Writing manual pages and completions")
  add_custom_target(manual ALL DEPENDS ${generated}/done)
  install(DIRECTORY ${generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT benchctl)
  install(FILES ${generated}/benchctl DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT benchctl)
  install(FILES ${generated}/_benchctl DESTINATION ${BENCH_ZSH_FOLDER} COMPONENT benchctl)
  install(FILES ${generated}/benchctl.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT benchctl)
endif()

set(CPACK_PACKAGE_NAME benchctl)
set(CPACK_PACKAGE_VENDOR benchctl)
set(CPACK_PACKAGE_CONTACT "${BENCH_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cluster benchmarks with physical limits and honest verdicts")
set(CPACK_PACKAGE_DESCRIPTION "benchctl runs benchmark suites on a GPU cluster, stores the results, and reports\nacceptance of new nodes, nightly regressions, scaling and comparisons. It reads,\nchecks and scores MLPerf Training logs.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
# /opt, not the default, belongs to packages that bring a folder of their own.
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_BENCHCTL_PACKAGE_NAME benchctl)
set(CPACK_DEBIAN_BENCHCTL_PACKAGE_RECOMMENDS benchctl-rank)
set(CPACK_DEBIAN_BENCHCTL_PACKAGE_SUGGESTS "openssh-client, slurm-client")
set(CPACK_DEBIAN_RANK_PACKAGE_NAME benchctl-rank)
set(CPACK_DEBIAN_RANK_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_RANK_PACKAGE_SUGGESTS libcurl4)  # opened at run time
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME benchctl-cuda)
# The toolkit and the driver may come from NVIDIA's installer, which is no package.
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Applications/System)
set(CPACK_RPM_MAIN_COMPONENT benchctl)
set(CPACK_RPM_RANK_PACKAGE_REQUIRES "benchctl = ${PROJECT_VERSION}")
set(CPACK_RPM_CUDA_PACKAGE_REQUIRES "benchctl-rank = ${PROJECT_VERSION}")
set(CPACK_RPM_CUDA_PACKAGE_AUTOREQ OFF)
foreach(folder /usr/share/man /usr/share/man/man1 /usr/share/zsh /usr/share/zsh/site-functions /usr/share/bash-completion
        /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d)
  list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION ${folder})
endforeach()

include(CPack)
cpack_add_component(benchctl DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
cpack_add_component(rank DEPENDS benchctl DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}\n\nThis package has bench-rank, which measures CPUs, memory and MPI on each node.")
if(TARGET bench-rank-cuda)
  cpack_add_component(cuda DEPENDS rank DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}\n\nThis package has bench-rank-cuda, which measures GPUs. It needs NVIDIA's driver, cuBLAS and NCCL.")
endif()
