// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// The test digits, in place of the training digits.
#ifndef SYSTOLE_TESTS_TRAINING_TEST_DIGITS_H_
#define SYSTOLE_TESTS_TRAINING_TEST_DIGITS_H_

#include <filesystem>
#include <string>

namespace systole::training {

inline void WriteTestDigitsAsTraining(const std::string& folder) {
  for (const char* name : {"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz"})
    std::filesystem::copy_file(
        SYSTOLE_SOURCE_DIR "/tests/data/mnist/test" + std::string(name),
        folder + "/train" + name,
        std::filesystem::copy_options::overwrite_existing);
}

}  // namespace systole::training

#endif  // SYSTOLE_TESTS_TRAINING_TEST_DIGITS_H_
