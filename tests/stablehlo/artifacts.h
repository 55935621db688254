// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The artifacts of tests/data/stablehlo, which scripts/stablehlo/test_data.py
// writes.
#ifndef SYSTOLE_TESTS_STABLEHLO_ARTIFACTS_H_
#define SYSTOLE_TESTS_STABLEHLO_ARTIFACTS_H_

#include <string>
#include <vector>

namespace systole::import {

// Names without suffix, in order.
std::vector<std::string> ArtifactNames();
// NAME.mlirbc, and what jaxlib sees in it, NAME.txt.
std::string Artifact(const std::string& name);
std::string ExpectedDump(const std::string& name);

// What jax.export's serialize() gives of the artifact "exp": alone, and with
// its first two derivatives.
std::vector<std::string> JaxExports();

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_STABLEHLO_ARTIFACTS_H_
