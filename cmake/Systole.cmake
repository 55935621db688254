# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# Build functions of the project:
#
#   systole_add_test(name SOURCES a.cc ... [LIBS lib ...] [LABELS label ...] [TIMEOUT seconds]
#                    [ARGS argument ...] [NO_MAIN] [LONG] [LONG_ARGS argument ...])
#     One GoogleTest suite: a program build/bin/<name> and a ctest test of the same name.
#     NO_MAIN: the sources bring their own main, with tests/testing/options.h. All have --seed and --cases (tests/testing/seeds.h).
#     Programs of the same sources that have it are compiled once: they differ in the libraries that they link.
#     The sources may be objects of other tests. A test labelled `wide` is the same on larger presets: `make test UNIT=` leaves it out.
#     LONG: a second ctest test <name>_long with SYSTOLE_LONG=1 (tests/testing/long.h), with LONG_ARGS if there are any, else ARGS.
#
#   systole_add_check(name COMMAND ... [LABELS label ...] [TIMEOUT seconds] [NEEDS thing ...])
#     A ctest test that runs a command in the source folder. NEEDS: programs, environments that scripts/setup.sh makes (venv,
#     venv-jax), and `mount`: a folder may be mounted in a namespace. Where one is not there the test is left out, and configuring says so.
#
#   systole_needs(what thing ...)
#     Leaves the rest of a CMakeLists.txt out where a thing, as above, is not there; what: a word for it in the list of what is left out.
#
#   systole_cases(name test ...)
#     A library of the cases of tests, to be linked with a changed unit.
#
#   systole_add_mutants(name SCRIPT mutants.py EVERY n SAMPLE number CASES library ... [LIBRARIES library ...] [ABSL])
#     Tests that a unit's bench sees faults (tests/rtl/mutation.py): <name>, long, with every n-th mutant, and <name>_sample with one.
#
#   What is labelled `long` is not for `make test` but for `make test-long`. A time that is not given follows from tests/costs.txt.
#
#   systole_verilate(target TOP module PREFIX Vname [SOURCES extra.sv ...] [PARAMS Name=Value ...]
#                    [FLAGS verilator-option ...] [SPEED] [BRIEF] [TRACE] [COUNTED|UNCOUNTED] [IBEX]
#                    [INSIDE])
#     A static library with the Verilated model of <module>; the header is "<Vname>.h". Modules of the
#     design are found through rtl/systole.f, so SOURCES lists only what is not in there (wrappers of a
#     test bench). Without SPEED all X are randomised (set the context's randReset(2) and randSeed). BRIEF: it runs for seconds, so
#     that its compiler's time counts more.
#     Assertions are always on. TRACE compiles FST tracing in. With -DSYSTOLE_COVERAGE=ON lines and toggles are
#     counted in all without SPEED, but for the large presets, whose source the small ones run too, and what is UNCOUNTED: as
#     large, or wrong on purpose. Of a fast one that is COUNTED too: what no other has.
#     IBEX: with the processor of a chip's scalar unit; only where SYSTOLE_IBEX says that set-up has brought it.
#     INSIDE: its users also include the headers of what is inside (<Vname>___024root.h), and are compiled whenever anything changes.

include(CMakeParseArguments)

set(SYSTOLE_RTL_LIST ${PROJECT_SOURCE_DIR}/rtl/systole.f)
set(SYSTOLE_IBEX_LIST ${PROJECT_SOURCE_DIR}/rtl/ibex/ibex.f)
set(SYSTOLE_VIEWS ${PROJECT_SOURCE_DIR}/verif/views)  # of primitives, for simulation: found first
set(SYSTOLE_PYTHON ${PROJECT_SOURCE_DIR}/scripts/python)

# Notes what is left out of this build, and the things that it would need.
function(systole_leave_out what)
  set_property(GLOBAL APPEND PROPERTY SYSTOLE_LEFT_OUT ${what})
  set_property(GLOBAL APPEND PROPERTY SYSTOLE_MISSING ${ARGN})
endfunction()

# What chips with a scalar unit need, of scripts/setup.sh: the processor's source and the compiler of its firmware.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SYSTOLE_IBEX_LIST})
find_program(RISCV_CC riscv64-unknown-elf-gcc)
find_program(RISCV_OBJCOPY riscv64-unknown-elf-objcopy)
set(SYSTOLE_IBEX OFF)
if(RISCV_CC AND EXISTS ${PROJECT_SOURCE_DIR}/.ibex/rtl/ibex_core.sv)
  set(SYSTOLE_IBEX ON)
else()
  systole_leave_out("presets with a scalar unit" ".ibex and riscv64-unknown-elf-gcc")
endif()

find_program(VERILATOR verilator REQUIRED)
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT
                OUTPUT_VARIABLE SYSTOLE_VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
set(SYSTOLE_VERILATOR_INCLUDE ${SYSTOLE_VERILATOR_ROOT}/include)
if(NOT EXISTS ${SYSTOLE_VERILATOR_INCLUDE}/verilated.cpp)
  message(FATAL_ERROR "verilator: no run-time library in ${SYSTOLE_VERILATOR_INCLUDE}")
endif()

# Options of the hot loops: generated C++ and the Verilator run-time library.
set(SYSTOLE_HOT_OPTIONS -O3 -g0 -march=${SYSTOLE_ARCH} -w)
file(STRINGS /proc/cpuinfo SYSTOLE_AVX512 REGEX "avx512f" LIMIT_COUNT 1)
if(SYSTOLE_AVX512 AND SYSTOLE_ARCH STREQUAL "native")
  list(APPEND SYSTOLE_HOT_OPTIONS -mprefer-vector-width=512)
endif()

# The run-time library of all Verilated models, compiled once.
add_library(systole_verilated STATIC
  ${SYSTOLE_VERILATOR_INCLUDE}/verilated.cpp
  ${SYSTOLE_VERILATOR_INCLUDE}/verilated_cov.cpp
  ${SYSTOLE_VERILATOR_INCLUDE}/verilated_threads.cpp
  ${SYSTOLE_VIEWS}/fst.cc
  ${SYSTOLE_VIEWS}/hold.cc
  ${SYSTOLE_VIEWS}/print.cc)
set_source_files_properties(${SYSTOLE_VERILATOR_INCLUDE}/verilated.cpp PROPERTIES
  COMPILE_OPTIONS "-include;${SYSTOLE_VIEWS}/print.h" COMPILE_DEFINITIONS VL_PRINTF=systole_print)
target_include_directories(systole_verilated PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(systole_verilated SYSTEM PUBLIC
  ${SYSTOLE_VERILATOR_INCLUDE} ${SYSTOLE_VERILATOR_INCLUDE}/vltstd)
target_compile_options(systole_verilated PRIVATE ${SYSTOLE_HOT_OPTIONS})
target_compile_options(systole_verilated PUBLIC -faligned-new)
set_target_properties(systole_verilated PROPERTIES POSITION_INDEPENDENT_CODE ON)  # its thread-local data, for a shared library
target_link_libraries(systole_verilated PUBLIC Threads::Threads ZLIB::ZLIB atomic)  # atomic: clang leaves it out
# Newer releases write waveforms with a writer of their own, which wants LZ4, and bring nothing that reads them.
if(EXISTS ${SYSTOLE_VERILATOR_INCLUDE}/fstcpp)
  find_path(LZ4_INCLUDE lz4.h)
  find_library(LZ4 lz4)
  if(NOT LZ4_INCLUDE OR NOT LZ4)
    message(FATAL_ERROR "${VERILATOR}: this release writes waveforms with LZ4, which is not there: install liblz4-dev")
  endif()
  target_include_directories(systole_verilated PRIVATE ${LZ4_INCLUDE})
  target_link_libraries(systole_verilated PUBLIC ${LZ4})
endif()

# Those of some needs that are not there.
function(systole_missing result)
  set(missing)
  foreach(need IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "SYSTOLE_HAS_${need}" found)
    if(need MATCHES "^venv")
      if(NOT EXISTS ${PROJECT_SOURCE_DIR}/.${need}/requirements.txt)
        list(APPEND missing .${need})
      endif()
    elseif(need STREQUAL "mount")
      # As root, or as root of a namespace.
      execute_process(COMMAND sh -c "unshare -m true || unshare -m --map-root-user true" RESULT_VARIABLE failed ERROR_QUIET)
      if(failed)
        list(APPEND missing "unshare that may mount")
      endif()
    else()
      find_program(${found} ${need})
      if(NOT ${found})
        list(APPEND missing ${need})
      endif()
    endif()
  endforeach()
  set(${result} ${missing} PARENT_SCOPE)
endfunction()

macro(systole_needs what)
  systole_missing(systole_missing_here ${ARGN})
  if(systole_missing_here)
    systole_leave_out(${what} ${systole_missing_here})
    return()
  endif()
endmacro()

# At the end: a line of what is left out and why; each by its name with --log-level=STATUS, which is CMake's default.
function(systole_say_what_is_left_out)
  get_property(left_out GLOBAL PROPERTY SYSTOLE_LEFT_OUT)
  string(REPLACE ";" "\n" lines "${left_out}\n")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/left_out.txt CONTENT "${lines}" @ONLY)  # for scripts/run_tests.py
  if(left_out)
    get_property(missing GLOBAL PROPERTY SYSTOLE_MISSING)
    list(REMOVE_DUPLICATES missing)
    list(LENGTH left_out number)
    # What no package brings.
    set(mount "unshare that may mount")
    if(NOT mount IN_LIST missing)
      set(mount)
    endif()
    list(REMOVE_ITEM missing ${mount})
    list(JOIN missing ", " missing)
    if(missing)
      string(APPEND missing " (scripts/setup.sh installs them)")
    endif()
    list(APPEND missing ${mount})
    list(JOIN missing "; " missing)
    list(JOIN left_out ", " left_out)
    message(STATUS "Left out: ${left_out}")
    message(NOTICE "-- Left out: ${number} parts, for want of ${missing}")
  endif()
endfunction()

function(systole_verilate target)
  cmake_parse_arguments(ARG "BRIEF;SPEED;TRACE;COUNTED;UNCOUNTED;IBEX;INSIDE" "TOP;PREFIX" "SOURCES;PARAMS;FLAGS" ${ARGN})
  if(NOT ARG_TOP OR NOT ARG_PREFIX OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "systole_verilate(${target}): TOP and PREFIX needed; unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()

  set(flags --cc --assert -O3 --unroll-count 15 --top-module ${ARG_TOP} --prefix ${ARG_PREFIX} ${ARG_FLAGS})
  set(coverage FALSE)
  if(SYSTOLE_COVERAGE AND (ARG_COUNTED OR NOT (ARG_SPEED OR ARG_UNCOUNTED OR target MATCHES "edge|v1|v2")))
    set(coverage TRUE)
  endif()
  if(coverage)
    list(APPEND flags --x-assign 0 --x-initial 0)  # leaving a random value would count as a toggle
  elseif(ARG_SPEED)
    list(APPEND flags --x-assign fast --x-initial fast)
  else()
    list(APPEND flags --x-assign unique --x-initial unique)
  endif()
  if(ARG_TRACE)
    list(APPEND flags --trace-fst --trace-structs)
  endif()
  if(coverage)
    # Split and reordered, a counter's condition would be looked at behind the statements that change it. What is not split may look
    # like a loop, which settles.
    list(APPEND flags --coverage-line --coverage-toggle -fno-split -fno-reorder -Wno-UNOPTFLAT ${PROJECT_SOURCE_DIR}/rtl/coverage.vlt)
  endif()
  set(lists ${SYSTOLE_RTL_LIST})
  if(ARG_IBEX)
    list(APPEND flags ${PROJECT_SOURCE_DIR}/rtl/ibex/ibex.vlt -F ${SYSTOLE_IBEX_LIST} -Wno-UNOPTFLAT)  # loops of whole variables in Ibex, which settle
    list(APPEND flags -UINC_ASSERT)  # Verilator compiles no assertion of Ibex, so the model does without their registers
    list(APPEND lists ${SYSTOLE_IBEX_LIST})
  endif()
  foreach(param IN LISTS ARG_PARAMS)
    list(APPEND flags -G${param})
  endforeach()
  set(sources)
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()

  set(inputs ${sources})
  if(NOT inputs)
    set(inputs ${ARG_TOP}.sv)  # found in the folders of the list
  endif()

  set(dir ${CMAKE_BINARY_DIR}/verilated/${target})
  set(fast ${dir}/${ARG_PREFIX}_fast.cpp)
  set(slow ${dir}/${ARG_PREFIX}_slow.cpp)
  set(trace ${dir}/${ARG_PREFIX}_trace.cpp)
  add_custom_command(
    OUTPUT ${fast} ${slow} ${trace}
    BYPRODUCTS ${dir}/${ARG_PREFIX}.h
    COMMAND ${SYSTOLE_PYTHON} ${PROJECT_SOURCE_DIR}/cmake/verilate.py
            --verilator ${VERILATOR} --dir ${dir} --prefix ${ARG_PREFIX} --depfile ${dir}.d --target ${fast}
            $<$<BOOL:${ARG_INSIDE}>:--inside> -- ${flags} -y ${SYSTOLE_VIEWS} -F ${SYSTOLE_RTL_LIST} ${inputs}
    DEPENDS ${lists} ${sources} ${PROJECT_SOURCE_DIR}/cmake/verilate.py
    DEPFILE ${dir}.d
    COMMENT "Verilating ${ARG_TOP} as ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)

  add_library(${target} STATIC ${fast} ${slow} ${trace})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${target} SYSTEM PUBLIC ${dir})
  target_compile_options(${target} PRIVATE ${SYSTOLE_HOT_OPTIONS})
  target_compile_definitions(${target} PRIVATE SYSTOLE_MODEL_INSIDE)
  set_source_files_properties(${slow} PROPERTIES COMPILE_OPTIONS -O0)
  set_source_files_properties(${trace} PROPERTIES COMPILE_OPTIONS -O1)
  if(ARG_BRIEF OR NOT ARG_SPEED)
    set_source_files_properties(${fast} PROPERTIES COMPILE_OPTIONS -O1)
    set_source_files_properties(${trace} PROPERTIES COMPILE_OPTIONS -O0)  # seconds for a module, and seldom run
  endif()
  target_link_libraries(${target} PUBLIC systole_verilated)
endfunction()

# Of precompiled headers, for the compiler cache: g++ writes no time stamp into them.
set(SYSTOLE_PCH_OPTIONS $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)

if(SYSTOLE_GTEST)
  # Headers that most tests include, compiled once.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cc CONTENT "// Empty.\n")
  add_library(systole_test_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/test_headers.cc)
  target_link_libraries(systole_test_headers PRIVATE systole_base GTest::gmock)
  target_compile_options(systole_test_headers PUBLIC ${SYSTOLE_PCH_OPTIONS})
  target_precompile_headers(systole_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <absl/status/statusor.h> <absl/strings/str_format.h> <functional> <random>)
endif()

# Headers that most libraries of the host include, compiled once.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/host_headers.cc CONTENT "// Empty.\n")
add_library(systole_host_headers OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/host_headers.cc)
target_link_libraries(systole_host_headers PRIVATE systole_base Eigen3::Eigen nlohmann_json::nlohmann_json)
target_compile_options(systole_host_headers PUBLIC ${SYSTOLE_PCH_OPTIONS})
set(SYSTOLE_HOST_HEADERS <absl/status/statusor.h> <absl/strings/str_format.h> <absl/strings/str_cat.h> <absl/strings/str_join.h>
  <algorithm> <array> <cmath> <functional> <map> <memory> <optional> <string> <vector>)
target_precompile_headers(systole_host_headers PRIVATE ${SYSTOLE_HOST_HEADERS} <Eigen/Core> <nlohmann/json.hpp>)
# A compiler cache may read the headers once more: their folders are the target's, too.
function(systole_use_host_headers target)
  target_link_libraries(${target} PRIVATE Eigen3::Eigen nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} REUSE_FROM systole_host_headers)
endfunction()

# Options, main and waveforms of test programs.
if(SYSTOLE_GTEST)
  add_library(systole_test_options STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/testing/options.cc)
  target_link_libraries(systole_test_options PRIVATE systole_base CLI11::CLI11 GTest::gtest)
  add_library(systole_test_main STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/testing/main.cc)
  target_link_libraries(systole_test_main PRIVATE systole_base systole_test_options)
  # Waveforms of tests that fail.
  add_library(systole_test_waves OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/testing/waves.cc)
  target_link_libraries(systole_test_waves PRIVATE systole_base GTest::gtest)
endif()

# What only long tests need.
add_custom_target(long_tests)

# Seconds that tests take on a new machine: those that take longest start first, and none may take two minutes and ten times as long.
set(SYSTOLE_COSTS ${PROJECT_SOURCE_DIR}/tests/costs.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SYSTOLE_COSTS})
file(STRINGS ${SYSTOLE_COSTS} costs REGEX "^[a-z]")
foreach(cost IN LISTS costs)
  separate_arguments(cost)
  list(POP_FRONT cost name)
  set(SYSTOLE_COST_${name} ${cost})
endforeach()

# Failures name a test's file as it is called in the project, whether the compiler is given the whole path or, by ccache, a relative one.
file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
string(REGEX REPLACE "/$" "" up "${up}")
set(SYSTOLE_FILE_NAMES -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${up}/=)

# Properties of a ctest test. timeout: seconds, or empty.
function(systole_test_properties name timeout labels)
  set(cost 0)  # what ctest has measured counts then
  if(DEFINED SYSTOLE_COST_${name})
    set(cost ${SYSTOLE_COST_${name}})
  endif()
  if(NOT timeout)
    math(EXPR timeout "120 + 10 * ${cost}")
  endif()
  if(SYSTOLE_COVERAGE)
    set(timeout 7200)  # counting takes its time
  endif()
  set_tests_properties(${name} PROPERTIES COST ${cost} TIMEOUT ${timeout} LABELS "${labels}")
endfunction()

function(systole_add_test name)
  cmake_parse_arguments(ARG "LONG;NO_MAIN" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS;LONG_ARGS" ${ARGN})
  if(NOT ARG_SOURCES OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "systole_add_test(${name}): SOURCES needed; unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(sources ${ARG_SOURCES})
  if(ARG_NO_MAIN)
    string(MAKE_C_IDENTIFIER "SYSTOLE_OBJECTS_${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCES}" key)
    get_property(first GLOBAL PROPERTY ${key})
    if(first)
      set(sources $<TARGET_OBJECTS:${first}>)
    else()
      set_property(GLOBAL PROPERTY ${key} ${name})
    endif()
  endif()
  add_executable(${name} ${sources} $<TARGET_OBJECTS:systole_test_waves>)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # suites give helpers the same names
  target_compile_definitions(${name} PRIVATE SYSTOLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             SYSTOLE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${SYSTOLE_FILE_NAMES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} systole_base systole_files GTest::gmock)
  if(sources STREQUAL ARG_SOURCES AND NOT sources MATCHES "^.<TARGET_OBJECTS:")
    target_precompile_headers(${name} REUSE_FROM systole_test_headers)
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(ARG_NO_MAIN)
    target_link_libraries(${name} PRIVATE systole_test_options)
  else()
    target_link_libraries(${name} PRIVATE systole_test_main)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  systole_test_properties(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}")
  if("long" IN_LIST ARG_LABELS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(long_tests ${name})
  endif()
  if(ARG_LONG_ARGS)
    set(ARG_ARGS ${ARG_LONG_ARGS})
  endif()
  if(ARG_LONG OR ARG_LONG_ARGS)
    systole_add_check(${name}_long COMMAND ${CMAKE_COMMAND} -E env SYSTOLE_LONG=1 $<TARGET_FILE:${name}> ${ARG_ARGS} LABELS ${ARG_LABELS} long)
  endif()
endfunction()

function(systole_add_check name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND;LABELS;NEEDS" ${ARGN})
  if(NOT ARG_COMMAND OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "systole_add_check(${name}): COMMAND needed; unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  systole_missing(missing ${ARG_NEEDS})
  if(missing)
    systole_leave_out(${name} ${missing})
    return()
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  systole_test_properties(${name} "${ARG_TIMEOUT}" "${ARG_LABELS}")
endfunction()

function(systole_cases name)
  set(objects)
  foreach(test IN LISTS ARGN)
    list(APPEND objects $<TARGET_OBJECTS:${test}>)
  endforeach()
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD OFF)
endfunction()

function(systole_add_mutants name)
  cmake_parse_arguments(ARG "ABSL" "SCRIPT;EVERY;SAMPLE" "CASES;LIBRARIES" ${ARGN})
  if(NOT ARG_SCRIPT OR NOT ARG_EVERY OR NOT ARG_CASES OR NOT DEFINED ARG_SAMPLE OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "systole_add_mutants(${name}): SCRIPT, EVERY, SAMPLE and CASES needed; unknown: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(options --verilator ${VERILATOR} --compiler ${CMAKE_CXX_COMPILER} --include ${SYSTOLE_VERILATOR_INCLUDE}
    --include ${SYSTOLE_VERILATOR_INCLUDE}/vltstd --include ${PROJECT_SOURCE_DIR})
  foreach(library IN LISTS ARG_CASES)
    list(APPEND options --cases $<TARGET_FILE:${library}>)
  endforeach()
  if(ARG_ABSL)
    list(APPEND options --absl $<TARGET_FILE:absl::status>)
  endif()
  foreach(library IN LISTS ARG_LIBRARIES ITEMS systole_verilated)
    list(APPEND options $<TARGET_FILE:${library}>)
  endforeach()
  if(LZ4)
    list(APPEND options ${LZ4})  # systole_verilated uses it where Verilator has the writer that does
  endif()
  set(command ${SYSTOLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SCRIPT})
  systole_add_check(${name} COMMAND ${command} --every ${ARG_EVERY} ${options} LABELS mutants long)
  systole_add_check(${name}_sample COMMAND ${command} --sample ${ARG_SAMPLE} ${options} LABELS mutants)
endfunction()
