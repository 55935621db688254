// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Passes over one kind of unit, and their manager. A kind of unit has a
// function `absl::Status Verify(const Unit&)` in its namespace. The graph
// (module.h) is one kind; plans and sequences of the compiler are others.
#ifndef SYSTOLE_HOST_IR_PASS_MANAGER_H_
#define SYSTOLE_HOST_IR_PASS_MANAGER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace systole::ir {

template <class Unit>
class PassOver {
 public:
  virtual ~PassOver() = default;
  virtual std::string name() const = 0;
  // Whether the unit was changed. After an error the unit is invalid.
  virtual absl::StatusOr<bool> Run(Unit& unit) = 0;
};

// Runs passes in order. The unit is verified before the first pass and after
// each one; an error names the pass after which it appeared.
template <class Unit>
class PassManagerOver {
 public:
  // Called with the name of a pass and the unit after it. Before the first pass
  // it is called with the manager's name for its input.
  using Observer =
      std::function<void(const std::string& pass, const Unit& unit)>;

  explicit PassManagerOver(std::string input = "input")
      : input_(std::move(input)) {}

  void Add(std::unique_ptr<PassOver<Unit>> pass) {
    passes_.push_back(std::move(pass));
  }
  void set_observer(Observer observer) { observer_ = std::move(observer); }

  absl::Status Run(Unit& unit) {
    absl::Status status = Verify(unit);
    if (!status.ok()) return status;
    if (observer_) observer_(input_, unit);
    for (const std::unique_ptr<PassOver<Unit>>& pass : passes_) {
      const absl::StatusOr<bool> changed = pass->Run(unit);
      status = changed.ok() ? Verify(unit) : changed.status();
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat("pass '", pass->name(), "': ", status.message()));
      }
      if (observer_) observer_(pass->name(), unit);
    }
    return absl::OkStatus();
  }

 private:
  std::string input_;
  std::vector<std::unique_ptr<PassOver<Unit>>> passes_;
  Observer observer_;
};

}  // namespace systole::ir

#endif  // SYSTOLE_HOST_IR_PASS_MANAGER_H_
