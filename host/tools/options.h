// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What the sub-commands' options have in common: what values they take, and
// what is said to those that there are none of.
#ifndef HOST_TOOLS_OPTIONS_H_
#define HOST_TOOLS_OPTIONS_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "CLI/CLI.hpp"
#include "host/tools/module_file.h"
#include "host/tools/waves.h"

namespace systole::tools {

constexpr int64_t kMostImages = std::numeric_limits<int32_t>::max();
// Most devices of a run.
constexpr int64_t kMostDevices = 256;

// Digits and perhaps a sign, from low to high.
CLI::Validator WholeNumber(int64_t low, int64_t high);
CLI::Validator Number(double low, double high);
CLI::Validator Seed();      // of 63 bits
CLI::Validator FileName();  // not empty

// Options of `sub` that only the backend rtl has an effect for.
// Throws CLI::ValidationError if one is given for another backend.
void CheckOnlyOnRtl(const CLI::App& sub, const std::string& backend,
                    std::initializer_list<const char*> options);

// --host-operators allow|error|alone: what a model's operators on the host are.
CLI::Option* AddHostOperatorsOption(CLI::App& sub, std::string& choice);

// --firmware FILE: what the scalar unit runs.
void AddFirmwareOption(CLI::App& sub, std::string& file);

// --processes N: that simulate the chips of several devices. After those of
// waveforms, some of which it excludes.
void AddProcessesOption(CLI::App& sub, int& processes);

// --trace, --trace-layer, --trace-window, --trace-run, --trace-core, --waves.
void AddModuleOptions(CLI::App& sub, ModuleArgs& args);
// --verbose: whether errors list everything that stands in the way.
void AddVerboseOption(CLI::App& sub);
bool Verbose();

// --signature NAME: which graph of a TensorFlow Lite model.
CLI::Option* AddSignatureOption(CLI::App& sub, std::string& signature);
// The same options, as a command line has them: " --precision highest".
std::string ModuleOptionsText(const ModuleArgs& args);
void AddWaveOptions(CLI::App& sub, WaveArgs& args);

// What to say to arguments that the parser refuses: of a command or an option
// that does not exist the most alike that does. Ends in a line break.
std::string AnswerTo(const CLI::App& app, const CLI::ParseError& error,
                     int argc, const char* const* argv);

}  // namespace systole::tools

#endif  // HOST_TOOLS_OPTIONS_H_
