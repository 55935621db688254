// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "host/ir/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ir/pass.h"
#include "host/ir/text.h"

namespace systole::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<Module> Sample() {
  return Parse(R"(module @m {
    %x = i8[4]{scale=1} parameter(), name="x"
    %a = i8[4]{scale=1} relu(%x), clamp=[0, 127]
    %dead = i8[4]{scale=1} relu(%a)
    %deader = i8[4]{scale=1} relu(%dead)
    %y = i8[4]{scale=1} add(%a, %a)
    return %y as "y"
  })")
      .value();
}

TEST(ModuleTest, FindsNodesAndUsers) {
  const auto m = Sample();
  Node* a = m->Find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(m->Find("b"), nullptr);
  EXPECT_THAT(m->inputs(), ElementsAre(m->Find("x")));
  EXPECT_THAT(m->Users(a), ElementsAre(m->Find("dead"), m->Find("y")));
  EXPECT_TRUE(m->IsOutput(m->Find("y")));
  EXPECT_FALSE(m->IsOutput(a));
  EXPECT_EQ(m->UniqueName("a"), "a.1");
  EXPECT_EQ(m->UniqueName("b"), "b");
}

// The first number that is free; other names that begin alike do not count.
TEST(ModuleTest, UniqueNamesFillGaps) {
  const auto m = Sample();
  const auto take = [&](const char* name) {
    Node copy = *m->Find("a");
    copy.name = name;
    m->InsertBefore(m->Find("y"), copy);
  };
  for (const char* name : {"a.1", "a.3", "a.02", "a.", "a.4.1", "ab", "a.+2"}) {
    take(name);
  }
  EXPECT_EQ(m->UniqueName("a"), "a.2");
  take("a.2");
  EXPECT_EQ(m->UniqueName("a"), "a.4");
  EXPECT_EQ(m->UniqueName("a.4"), "a.4");
  EXPECT_EQ(m->UniqueName("a.4.1"), "a.4.1.1");
}

TEST(ModuleTest, RemovesWhatNobodyNeeds) {
  const auto m = Sample();
  EXPECT_EQ(m->RemoveUnused(), 2);
  EXPECT_EQ(m->nodes().size(), 3u);
  EXPECT_EQ(m->RemoveUnused(), 0);
  m->ReplaceUses(m->Find("y"), m->Find("x"));
  EXPECT_EQ(m->RemoveUnused(), 2);  // the parameter stays
  EXPECT_EQ(m->outputs[0].node, m->Find("x"));
}

TEST(ModuleTest, InsertsInOrder) {
  const auto m = Sample();
  Node* y = m->Find("y");
  Node copy = *m->Find("a");
  copy.name = "b";
  Node* b = m->InsertBefore(y, copy);
  EXPECT_EQ(m->nodes()[4].get(), b);
  EXPECT_EQ(m->nodes()[5].get(), y);
}

TEST(ModuleTest, CloneSharesNothingButConstants) {
  const auto m = Sample();
  const auto copy = m->Clone();
  EXPECT_TRUE(Equal(*m, *copy));
  copy->Find("a")->attr<ClampAttributes>().clamp = {1, 2};
  EXPECT_EQ(m->Find("a")->attr<ClampAttributes>().clamp, (Ints{0, 127}));
  EXPECT_FALSE(Equal(*m, *copy));
}

// Breaks the module in a way that the test chooses.
class Breaker : public Pass {
 public:
  explicit Breaker(std::function<absl::Status(Module&)> run)
      : run_(std::move(run)) {}
  std::string name() const override { return "breaker"; }
  absl::StatusOr<bool> Run(Module& module) override {
    const absl::Status status = run_(module);
    if (!status.ok()) return status;
    return true;
  }

 private:
  std::function<absl::Status(Module&)> run_;
};

absl::Status RunBreaker(Module& module,
                        std::function<absl::Status(Module&)> run) {
  PassManager passes;
  passes.Add(std::make_unique<Breaker>(std::move(run)));
  return passes.Run(module);
}

TEST(PassManagerTest, VerifiesBehindEachPass) {
  auto m = Sample();
  m->RemoveUnused();
  EXPECT_EQ(RunBreaker(*m, [](Module&) { return absl::OkStatus(); }),
            absl::OkStatus());
  const absl::Status broken = RunBreaker(*m, [](Module& module) {
    module.Find("a")->type.shape = {5};
    return absl::OkStatus();
  });
  EXPECT_THAT(std::string(broken.message()),
              HasSubstr("pass 'breaker': node 'a' (relu):"));
  m = Sample();
  m->RemoveUnused();
  const absl::Status failed =
      RunBreaker(*m, [](Module&) { return absl::InternalError("no idea"); });
  EXPECT_THAT(std::string(failed.message()),
              HasSubstr("pass 'breaker': no idea"));
}

TEST(PassManagerTest, VerifiesTheInputAndTellsTheObserver) {
  auto m = Sample();  // with results that nothing uses
  std::vector<std::string> seen;
  PassManager passes;
  passes.Add(
      std::make_unique<Breaker>([](Module&) { return absl::OkStatus(); }));
  passes.set_observer([&](const std::string& pass, const Module& module) {
    seen.push_back(pass + " " + module.name);
  });
  EXPECT_THAT(std::string(passes.Run(*m).message()),
              HasSubstr("'deader' (relu): nothing uses the result"));
  EXPECT_TRUE(seen.empty());
  m->RemoveUnused();
  EXPECT_EQ(passes.Run(*m), absl::OkStatus());
  EXPECT_THAT(seen, ElementsAre("input m", "breaker m"));
}

}  // namespace
}  // namespace systole::ir
