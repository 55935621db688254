// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Huge pages for Verilated models. A model is one object of up to 30 MB, and a
// cycle touches most of it. With pages of 4 KiB, address translation takes a
// tenth of the time.

#ifndef SYSTOLE_VERIF_TB_HUGE_PAGES_H_
#define SYSTOLE_VERIF_TB_HUGE_PAGES_H_

namespace systole::tb {

// While an object of this class exists, large objects that its thread allocates
// with new are placed in huge pages, if the system supports them. The objects
// may outlive it.
class HugePages {
 public:
  HugePages();
  ~HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
};

}  // namespace systole::tb

#endif  // SYSTOLE_VERIF_TB_HUGE_PAGES_H_
