// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Huge pages for Verilated models. A cycle touches most of a model's state,
// which is one object of up to 30 MB. With pages of 4 KiB, a tenth of the time
// goes into address translation.

#ifndef SYSTOLE_VERIF_TB_HUGE_PAGES_H_
#define SYSTOLE_VERIF_TB_HUGE_PAGES_H_

namespace systole::tb {

// While an object of this class exists, large objects that its thread allocates
// with new are in huge pages if the system supports them. They may outlive it.
class HugePages {
 public:
  HugePages();
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_HUGE_PAGES_H_
