// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Verilated models in huge pages. A cycle touches most of a model's state,
// which is one object of up to 30 MB: in pages of 4 KiB a tenth of the time
// goes into address translation.

#ifndef SYSTOLE_VERIF_TB_HUGE_PAGES_H_
#define SYSTOLE_VERIF_TB_HUGE_PAGES_H_

namespace systole::tb {

// While one lives, large objects that its thread makes with new lie in huge
// pages if the system has them. They may live longer.
class HugePages {
 public:
  HugePages();
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_HUGE_PAGES_H_
