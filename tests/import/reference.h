// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What the tests of models have in common: where models lie, and the seeded
// inputs and digests of tests/data/tflite.
#ifndef SYSTOLE_TESTS_IMPORT_REFERENCE_H_
#define SYSTOLE_TESTS_IMPORT_REFERENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace systole::import {

// `size` int8 values that the seed chooses, as scripts/vectors/tflite_inputs.py
// makes them.
std::vector<int8_t> SeededValues(uint64_t seed, int64_t size);

// 8 hexadecimal digits.
std::string CrcText(uint32_t crc);
uint32_t Crc32(const std::vector<uint8_t>& bytes, uint32_t crc = 0);

std::string ReadBytes(const std::string& path);

// The path of NAME.tflite: the project's own, or one of MLPerf Tiny, which
// are in the folder that the variable SYSTOLE_MLPERF_TINY names. Empty when
// that model is not there.
std::string ModelPath(const std::string& name);

// tests/data/tflite/NAME.json.
nlohmann::json Reference(const std::string& name);

}  // namespace systole::import

#endif  // SYSTOLE_TESTS_IMPORT_REFERENCE_H_
