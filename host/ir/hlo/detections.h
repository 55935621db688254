// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Calls of TensorFlow Lite's TFLite_Detection_PostProcess, which chooses boxes
// by their scores and suppresses those that overlap (docs/numerics.md,
// "Detections"). `config` holds the options as text: "name=number" for each,
// separated by spaces.
#ifndef SYSTOLE_HOST_IR_HLO_DETECTIONS_H_
#define SYSTOLE_HOST_IR_HLO_DETECTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "host/ir/hlo/rules.h"
#include "host/ir/op.h"

namespace systole::ir {

inline constexpr char kDetections[] = "TFLite_Detection_PostProcess";

// With the names of the operator's options.
struct DetectionOptions {
  int64_t max_detections = 0;
  int64_t max_classes_per_detection = 0;
  int64_t detections_per_class = 100;
  int64_t num_classes = 0;  // without the background
  bool use_regular_nms = false;
  float nms_score_threshold = 0, nms_iou_threshold = 0;
  float y_scale = 0, x_scale = 0, h_scale = 0, w_scale = 0;

  // Calls visit(name, value, whether the option may be left out).
  template <typename Self, typename Visitor>
  static void Fields(Self& self, Visitor&& visit) {
    visit("max_detections", self.max_detections, false);
    visit("max_classes_per_detection", self.max_classes_per_detection, false);
    visit("detections_per_class", self.detections_per_class, true);
    visit("num_classes", self.num_classes, false);
    visit("use_regular_nms", self.use_regular_nms, true);
    visit("nms_score_threshold", self.nms_score_threshold, false);
    visit("nms_iou_threshold", self.nms_iou_threshold, false);
    visit("y_scale", self.y_scale, false);
    visit("x_scale", self.x_scale, false);
    visit("h_scale", self.h_scale, false);
    visit("w_scale", self.w_scale, false);
  }
};

std::string DetectionText(const DetectionOptions& options);
// The options of a text that has all of them. Errors: InvalidArgument.
absl::StatusOr<DetectionOptions> ParseDetectionText(const std::string& text);
// Checks that each option has a value that makes sense.
absl::Status CheckDetectionOptions(const DetectionOptions& options);

// The types of the results: boxes, classes, scores, count.
Types InferDetections(const Node& node);
absl::StatusOr<Literals> EvaluateDetections(const Node& node,
                                            const Operands& operands);

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_HLO_DETECTIONS_H_
