# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# SYSTOLE_ISA_LINK_OPTIONS: for what holds code of SYSTOLE_ARCH. They note in a program or library which level of x86-64 it needs, so that
# the system's loader refuses it with one line on an older processor, before any of its code runs.

include_guard(GLOBAL)
include(CheckLinkerFlag)

set(wanted ${SYSTOLE_ARCH})
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=${SYSTOLE_ARCH} -dM -E -x c++ /dev/null
  OUTPUT_VARIABLE SYSTOLE_MACROS ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  unset(SYSTOLE_ARCH CACHE)  # the next configuration has the default again
  message(FATAL_ERROR "SYSTOLE_ARCH=${wanted}: ${CMAKE_CXX_COMPILER} knows no such processor; x86-64-v3 or native, for example")
endif()

set(SYSTOLE_ISA_LINK_OPTIONS)
set(x86-64-v2 SSE3 SSSE3 SSE4_1 SSE4_2 POPCNT)
set(x86-64-v3 AVX AVX2 BMI BMI2 F16C FMA LZCNT MOVBE)
set(x86-64-v4 AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL)
foreach(level IN ITEMS x86-64-v2 x86-64-v3 x86-64-v4)
  # A level is needed when anything of it may be used.
  foreach(feature IN LISTS ${level})
    if(SYSTOLE_MACROS MATCHES "#define __${feature}__ ")
      set(SYSTOLE_ISA_LINK_OPTIONS -Wl,-z,${level})
    endif()
  endforeach()
  unset(${level})
endforeach()
if(SYSTOLE_ISA_LINK_OPTIONS)
  string(MAKE_C_IDENTIFIER "SYSTOLE_LINKER_HAS_${SYSTOLE_ISA_LINK_OPTIONS}" known)
  check_linker_flag(CXX ${SYSTOLE_ISA_LINK_OPTIONS} ${known})
  if(NOT ${known})
    set(SYSTOLE_ISA_LINK_OPTIONS)
  endif()
endif()
