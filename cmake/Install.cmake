# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# What `make install` puts below a prefix (docs/install.md), and the target systole_install that builds it.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(share ${CMAKE_INSTALL_DATADIR}/systole)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Systole)

# Tool and library.
set_target_properties(systole_c PROPERTIES EXPORT_NAME systole)
set_target_properties(systole PROPERTIES EXPORT_NAME tool)
target_include_directories(systole_c INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS systole_c systole EXPORT SystoleTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# RTL models, which both load when they are asked for one.
get_property(models GLOBAL PROPERTY SYSTOLE_MODELS)
install(TARGETS ${models} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/systole)

if(TARGET systole_chips)
  install(TARGETS systole_chips RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/systole)
endif()

# The C API, and the constants of descriptors, registers and presets for drivers of one's own.
install(FILES ${PROJECT_SOURCE_DIR}/host/include/systole.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/host/include/systole/gen DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/systole)
add_library(systole_headers INTERFACE)
set_target_properties(systole_headers PROPERTIES EXPORT_NAME headers)
target_include_directories(systole_headers INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(systole_headers INTERFACE cxx_std_17)
install(TARGETS systole_headers EXPORT SystoleTargets)

# find_package(Systole) and pkg-config, both relative to where they lie.
install(EXPORT SystoleTargets NAMESPACE Systole:: DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SystoleConfig.cmake.in ${CMAKE_BINARY_DIR}/package/SystoleConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS share)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/SystoleConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/SystoleConfig.cmake ${CMAKE_BINARY_DIR}/package/SystoleConfigVersion.cmake
  DESTINATION ${package})
file(RELATIVE_PATH SYSTOLE_PREFIX_FROM_PKGCONFIG /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SYSTOLE_PREFIX_FROM_PKGCONFIG "${SYSTOLE_PREFIX_FROM_PKGCONFIG}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/systole.pc.in ${CMAKE_BINARY_DIR}/package/systole.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/systole.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The manual page, and completions where the shells look for them.
install(FILES ${PROJECT_SOURCE_DIR}/share/man/systole.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/share/completions/systole.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME systole)
install(FILES ${PROJECT_SOURCE_DIR}/share/completions/_systole DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/share/completions/systole.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# RTL with its file lists and FuseSoC cores, registers as IP-XACT.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/rtl DESTINATION ${share})
install(FILES ${PROJECT_SOURCE_DIR}/docs/reference/csr.xml DESTINATION ${share}/ip-xact RENAME systole_csr.xml)

# What a firmware of one's own is built from (docs/firmware.md): linker script, start-up code, registers, and the parts of the built-in one.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/firmware/scalar/ DESTINATION ${share}/firmware)

# A model, the digits that it was tested with, examples, pages.
set(digits ${CMAKE_BINARY_DIR}/share/digits)
find_program(GZIP gzip REQUIRED)
foreach(name test-images-idx3-ubyte test-labels-idx1-ubyte)
  set(packed ${PROJECT_SOURCE_DIR}/tests/data/mnist/${name}.gz)
  add_custom_command(OUTPUT ${digits}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${digits}
    COMMAND ${GZIP} -dc ${packed} > ${digits}/${name}
    DEPENDS ${packed} COMMENT "Unpacking ${name}")
  list(APPEND unpacked ${digits}/${name})
endforeach()
install(FILES ${unpacked} DESTINATION ${share}/digits)
# As MNIST comes, which the examples in JAX and Keras read.
foreach(name test-images-idx3-ubyte test-labels-idx1-ubyte)
  install(FILES ${PROJECT_SOURCE_DIR}/tests/data/mnist/${name}.gz DESTINATION ${share}/digits)
endforeach()
# A build has the same folder beside its programs.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/systole)
file(CREATE_LINK ${digits} ${CMAKE_BINARY_DIR}/share/systole/digits SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/models ${CMAKE_BINARY_DIR}/share/systole/models SYMBOLIC)
install(FILES ${PROJECT_SOURCE_DIR}/models/mnist_cnn.tflite ${PROJECT_SOURCE_DIR}/models/mnist_cnn.safetensors DESTINATION ${share}/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models/digits_training DESTINATION ${share}/models)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${share} PATTERN __pycache__ EXCLUDE)
# The licence, and the notice of a source tree that has one.
set(licences ${PROJECT_SOURCE_DIR}/LICENSE)
file(GLOB notice CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/NOTICE)
list(APPEND licences ${notice})
install(FILES ${licences} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The Python packages as in the built tree, with a link to the library: `pip install` copies what it leads to.
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/systole DESTINATION ${share}/python
  FILES_MATCHING PATTERN *.py PATTERN py.typed PATTERN __pycache__ EXCLUDE)
foreach(name pyproject.toml README.md systole_build.py VERSION)
  install(FILES ${CMAKE_BINARY_DIR}/python/${name} DESTINATION ${share}/python)
endforeach()
install(FILES ${licences} DESTINATION ${share}/python)
set(name libsystole.so.${SYSTOLE_ABI_VERSION})
file(RELATIVE_PATH link /${share}/python/systole /${CMAKE_INSTALL_LIBDIR}/${name})
file(RELATIVE_PATH link_models /${share}/python/systole /${CMAKE_INSTALL_LIBDIR}/systole)
foreach(pair IN ITEMS "${name}|${link}" "models|${link_models}")
  string(REPLACE "|" ";" pair ${pair})
  list(GET pair 0 file)
  list(GET pair 1 target)
  install(CODE "
    set(link \"\${CMAKE_INSTALL_PREFIX}/${share}/python/systole/${file}\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${link}\")
    file(CREATE_LINK \"${target}\" \"\$ENV{DESTDIR}\${link}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${link}\")")
endforeach()
if(TARGET systole_pjrt)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/python/systole_jax ${CMAKE_BINARY_DIR}/python/systole_torch
    ${CMAKE_BINARY_DIR}/python/systole_tpu-${PROJECT_VERSION}.dist-info
    DESTINATION ${share}/python PATTERN __pycache__ EXCLUDE)
endif()

add_custom_target(systole_digits ALL DEPENDS ${unpacked})  # the examples of the built tree read them too
add_custom_target(systole_install)
add_dependencies(systole_install systole_digits)
add_dependencies(systole_install systole systole_c ${models})
foreach(target IN ITEMS systole_pjrt systole_chips)
  if(TARGET ${target})
    add_dependencies(systole_install ${target})
  endif()
endforeach()
