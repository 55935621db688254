// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What a build for a newer processor says on an older one.
#include "host/capi/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace {

using ::testing::HasSubstr;

int HasAll(const char*) { return 1; }
int HasNone(const char*) { return 0; }
int HasNoAvx(const char* name) { return std::strncmp(name, "avx", 3) != 0; }

TEST(Processor, ThisOneHasWhatThisBuildUses) {
  EXPECT_EQ(systole_processor_lacks(), nullptr);
}

// A name that is not known would count as missing everywhere.
TEST(Processor, EveryFeatureIsKnownByItsName) {
  for (const char* const* name = systole_features_used; *name; ++name)
    EXPECT_EQ(systole_has_feature(*name), 1) << *name;
  EXPECT_EQ(systole_has_feature("avx9"), 0);
}

TEST(Processor, TheListIsThatOfTheArchitecture) {
  std::set<std::string> used;
  for (const char* const* name = systole_features_used; *name; ++name)
    used.insert(*name);
  if (std::string(systole_architecture) == "x86-64-v3") {
    EXPECT_EQ(used.count("avx2") + used.count("fma") + used.count("bmi2"), 3);
    EXPECT_EQ(used.count("avx512f"), 0);
  }
}

TEST(Processor, TheErrorNamesWhatIsMissing) {
  const char* const features[] = {"sse4.2", "avx", "avx2", nullptr};
  char text[200];
  EXPECT_EQ(systole_lacks(features, "x86-64-v3", HasAll, text, sizeof text),
            nullptr);
  EXPECT_STREQ(
      systole_lacks(features, "x86-64-v3", HasNoAvx, text, sizeof text),
      "this build of Systole is for processors of -march=x86-64-v3, and this "
      "one lacks avx, avx2: build it with -DSYSTOLE_ARCH= and an older one, "
      "such as x86-64-v2");
}

TEST(Processor, ManyNamesAreCutAtTheEndOfTheText) {
  const char* names[101] = {};
  for (int i = 0; i < 100; ++i) names[i] = "avx512vpopcntdq";
  char text[64];
  const std::string told =
      systole_lacks(names, "x", HasNone, text, sizeof text);
  EXPECT_EQ(told.size(), sizeof text - 1);
  char longer[2000];
  EXPECT_THAT(systole_lacks(names, "x", HasNone, longer, sizeof longer),
              HasSubstr("such as x86-64-v2"));
}

}  // namespace
