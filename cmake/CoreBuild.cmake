# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors

# An object library that registers a build of a chip (verif/tb/modelled_core.h):
# systole_core_build(target ENGINE engine PRESET preset CLASS class LIB library... [CHECKED] [TRACED] [NODE node [PROBED] [COVERED]] [PINS header] [NETWORK class])
# CLASS: the model, whose header has its name, LIB: what compiles it, TRACED: it records waveforms, NODE: the (first) node's instance as
# Verilator writes it, with the overview of verif/waves bound into it, and with PROBED the probe of `systole profile`, COVERED: that of
# functional coverage, PINS: header with ForEachPin, for a build that records pins, NETWORK: the model of systole_network.
function(systole_core_build target)
  cmake_parse_arguments(ARG "CHECKED;TRACED;PROBED;COVERED" "ENGINE;PRESET;CLASS;NETWORK;NODE;PINS" "LIB" ${ARGN})
  set(includes "#include \"${ARG_CLASS}.h\"\n")
  foreach(flag IN ITEMS CHECKED TRACED PROBED COVERED)
    set(${flag} false)
    if(ARG_${flag})
      set(${flag} true)
    endif()
  endforeach()
  set(members "")
  if(ARG_TRACED)
    string(APPEND includes "#include \"verilated_fst_c.h\"\n")
    string(APPEND members "  using Wave = VerilatedFstC;\n")
  endif()
  if(ARG_NODE)
    string(APPEND includes "#include \"${ARG_CLASS}___024root.h\"\n")
    set(signal "m.rootp->${ARG_NODE}__DOT__")
    string(APPEND members "  static constexpr bool kOverview = true;\n"
      "  static auto& Recording(Model& m) { return ${signal}u_waves__DOT__recording; }\n")
    if(ARG_PROBED)
      string(APPEND members "  static auto& Sampling(Model& m) { return ${signal}u_profile__DOT__sampling; }\n"
        "  static auto Sample(const Model& m) { return ${signal}u_profile__DOT__sample_q; }\n"
        "  static auto SendSample(const Model& m) { return ${signal}u_profile__DOT__send_q; }\n")
    endif()
    if(ARG_COVERED)
      string(APPEND members "  static const auto& Hits(const Model& m) { return ${signal}u_coverage__DOT__hits_q.m_storage; }\n")
    endif()
  endif()
  if(ARG_NETWORK)
    string(APPEND includes "#include \"${ARG_NETWORK}.h\"\n")
    string(APPEND members "  using Network = ${ARG_NETWORK};\n")
    if(ARG_PROBED)
      set(signal "n.rootp->systole_network__DOT__u_profile__DOT__")
      string(APPEND includes "#include \"${ARG_NETWORK}___024root.h\"\n")
      string(APPEND members "  static auto& Counting(Network& n) { return ${signal}sampling; }\n"
        "  static const auto& Counts(const Network& n) { return ${signal}counts_q.m_storage; }\n")
    endif()
  endif()
  if(ARG_PINS)
    string(APPEND includes "#include \"${ARG_PINS}\"\n")
    string(APPEND members "  static constexpr bool kRecorded = true;\n"
      "  template <typename Visitor>\n  static void ForEachPin(const Model& m, Visitor visit) { ::ForEachPin(m, visit); }\n")
  endif()
  set(source ${CMAKE_BINARY_DIR}/builds/${target}.cc)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// A build of a chip. Written by systole_core_build.
#include \"verif/tb/modelled_core.h\"
${includes}
namespace systole::tb {
namespace {

struct Build : PlainBuild {
  using Model = ${ARG_CLASS};
  static constexpr char kEngine[] = \"${ARG_ENGINE}\", kPreset[] = \"${ARG_PRESET}\";
  static constexpr bool kChecked = ${CHECKED}, kTraced = ${TRACED}, kProbed = ${PROBED}, kCovered = ${COVERED};
${members}};

[[maybe_unused]] const bool registered = RegisterBuild<Build>();

}  // namespace
}  // namespace systole::tb
")
  add_library(${target} OBJECT ${source})
  target_compile_options(${target} PRIVATE -O2)
  target_link_libraries(${target} PUBLIC ${ARG_LIB} systole_verilated systole_coverage systole_hbm_model systole_dram_model systole_base)
endfunction()
