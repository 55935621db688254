// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0
//
// What a training tells of its run: the table, and train.json.
#ifndef HOST_TOOLS_TRAIN_REPORT_H_
#define HOST_TOOLS_TRAIN_REPORT_H_

#include <string>

#include "host/tools/train_run.h"
#include "nlohmann/json.hpp"

namespace systole::tools {

// Null: there is none of that name.
const double* Find(const Metrics& metrics, const std::string& name);

// The run must have done a step.
nlohmann::ordered_json ToJson(const TrainRun& run);
void Print(const TrainRun& run);

}  // namespace systole::tools

#endif  // HOST_TOOLS_TRAIN_REPORT_H_
