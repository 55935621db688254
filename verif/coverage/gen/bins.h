// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
// Generated from docs/spec/coverage.yaml by scripts/generate.py: edit the source.
#ifndef SYSTOLE_COVERAGE_GEN_BINS_H_
#define SYSTOLE_COVERAGE_GEN_BINS_H_

namespace systole::coverage {

// Counts of the probe, and what says which bins they are.
inline constexpr int kNumBins = 914;
inline constexpr char kVersion[] = "1cf762f45e1a220d";

}  // namespace systole::coverage

#endif  // SYSTOLE_COVERAGE_GEN_BINS_H_
