// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Artifacts as modules of the operations of hlo/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/files/jax_export.h"
#include "host/import/stablehlo/stablehlo_importer.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"
#include "tests/stablehlo/artifacts.h"

namespace systole::import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

std::string TextOf(const std::string& name) {
  const auto program = ImportStableHlo(Artifact(name));
  return program.ok() ? ir::Print(*program->module)
                      : program.status().ToString();
}

ir::Node* Find(const StableHloProgram& program, ir::Op op) {
  for (const auto& node : program.module->nodes()) {
    if (node->op == op) return node.get();
  }
  return nullptr;
}

TEST(StableHloImporterTest, ImportsOrRefusesEveryArtifact) {
  for (const std::string& name : ArtifactNames()) {
    SCOPED_TRACE(name);
    const auto program = ImportStableHlo(Artifact(name));
    const bool refused =
        name == "generic" || name == "recursive" || name == "unsupported";
    ASSERT_EQ(program.ok(), !refused) << program.status();
    if (!program.ok()) continue;
    EXPECT_TRUE(ir::Verify(*program->module).ok());
    EXPECT_EQ(program->arguments.size(), program->module->inputs().size());
    EXPECT_EQ(program->results.size(), program->module->outputs.size());
    const auto parsed = ir::Parse(ir::Print(*program->module));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(ir::Equal(*program->module, **parsed));
  }
}

// Versions 1.0.0 and the current one of a program are the same module.
TEST(StableHloImporterTest, ReadsOldVersions) {
  const auto old = ImportStableHlo(Artifact("exp-1.0.0"));
  ASSERT_TRUE(old.ok()) << old.status();
  EXPECT_EQ(old->version, "1.0.0");
  EXPECT_EQ(ir::Print(*old->module), TextOf("exp"));
  EXPECT_THAT(TextOf("exp"), HasSubstr("hlo.exponential(%arg0)"));
}

TEST(StableHloImporterTest, ReadsWhatJaxExportSerialises) {
  for (const std::string& bytes : JaxExports()) {
    EXPECT_TRUE(IsJaxExport(bytes));
    const auto program = ImportStableHlo(bytes);
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_EQ(ir::Print(*program->module), R"(module @jit_exp {
  %arg0 = f32[4,8] parameter(), name="x"
  %exponential.0 = f32[4,8] hlo.exponential(%arg0)
  return %exponential.0 as "result"
}
)");
  }
  for (const std::string& name : ArtifactNames())
    EXPECT_FALSE(IsJaxExport(Artifact(name))) << name;
}

TEST(StableHloImporterTest, RefusesOtherJaxExports) {
  for (std::string bytes : JaxExports()) {
    for (size_t size = 512; size < bytes.size(); ++size) {
      const auto cut = ImportStableHlo(bytes.substr(0, size));
      if (cut.ok()) continue;  // without what lies behind the module
      EXPECT_EQ(cut.status().code(), absl::StatusCode::kDataLoss);
    }
    EXPECT_THAT(ImportStableHlo(bytes.substr(0, 600)).status().message(),
                HasSubstr("truncated: a JAX export of more than 600 bytes"));
    // The version is the only 3 in the table's last words.
    const size_t version = bytes.find(std::string("\3\0\1\0\0\0", 6));
    ASSERT_NE(version, std::string::npos);
    for (const char other : {1, 12}) {
      bytes[version] = other;
      const absl::Status status = ImportStableHlo(bytes).status();
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
      EXPECT_EQ(status.message(),
                absl::StrCat("a JAX export of serialization version ", +other,
                             "; 2 to 11 are supported: write the export's "
                             "mlir_module_serialized instead"));
    }
  }
}

TEST(StableHloImporterTest, KeepsNamesOfTheSource) {
  const auto program = ImportStableHlo(Artifact("mlp_sgd"));
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<ir::Node*> inputs = program->module->inputs();
  EXPECT_EQ(program->module->name, "jit_step");
  EXPECT_EQ(inputs[0]->attr<ir::ParameterAttributes>().name,
            "parameters[0][0]");
  EXPECT_EQ(program->module->outputs[0].name, "result[0][0][0]");
  EXPECT_THAT(Find(*program, ir::Op::kHloDotGeneral)->location,
              HasSubstr("programs.py:"));
}

TEST(StableHloImporterTest, KnowsWhatIsDonatedAndSharded) {
  const auto program = ImportStableHlo(Artifact("attributes"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->num_replicas, 2);
  EXPECT_EQ(program->num_partitions, 3);
  EXPECT_TRUE(program->arguments[0].donated);
  EXPECT_EQ(program->arguments[0].aliased_output, std::nullopt);
  EXPECT_EQ(program->arguments[0].sharding, "{replicated}");
  EXPECT_FALSE(program->arguments[1].donated);
  EXPECT_EQ(program->arguments[1].aliased_output, 0);
  EXPECT_EQ(program->results[0].sharding, "{devices=[3,1]<=[3]}");
  EXPECT_EQ(program->results[1].sharding, "");
  EXPECT_EQ(program->module->outputs[0].name, "out['a']");
}

TEST(StableHloImporterTest, KnowsMeshes) {
  const auto program = ImportStableHlo(Artifact("sharded_mlp"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->num_partitions, 4);
  EXPECT_THAT(program->meshes,
              ElementsAre(Pair("mesh", "#sdy.mesh<[\"batch\"=4]>")));
  EXPECT_EQ(program->arguments[4].sharding,
            "#sdy.sharding<@mesh, [{\"batch\"}, {}]>");
  const partition::Sharding rows{{{{1, 4}}, {}}, {}};
  EXPECT_EQ(program->arguments[4].tiles, rows);
  EXPECT_EQ(program->arguments[0].tiles, partition::Sharding::Replicated(2));
}

// A constraint is a mark, and so is where tiles are computed with.
TEST(StableHloImporterTest, MarksWhereArraysAreDivided) {
  const auto marks = [](const std::string& name) {
    const auto program = ImportStableHlo(Artifact(name));
    EXPECT_TRUE(program.ok()) << program.status();
    std::vector<std::string> found;
    for (const auto& node : program->module->nodes()) {
      const auto mark = program->shardings.marks.find(node.get());
      if (mark == program->shardings.marks.end()) continue;
      found.push_back(node->attr<ir::HloCustomCallAttributes>().target + " " +
                      ir::TypeText(node->type) + " " +
                      partition::HloText(mark->second, 4));
    }
    return found;
  };
  EXPECT_THAT(marks("sharded_constraint"),
              ElementsAre("Sharding f32[8,16] {devices=[1,4]<=[4]}"));
  EXPECT_THAT(marks("sharded_map"),
              ElementsAre("SPMDFullToShardShape f32[2,16] {devices=[4,1]<=[4]}",
                          "SPMDShardToFullShape f32[2,16] {replicated}"));
}

TEST(StableHloImporterTest, KnowsPartsOfAxesAndOtherOrders) {
  const auto program = ImportStableHlo(Artifact("sharded_parts"));
  ASSERT_TRUE(program.ok()) << program.status();
  // The second half of "a" and "b", next to each other; the first half of "a".
  EXPECT_EQ(program->arguments[0].tiles,
            (partition::Sharding{{{{2, 4}}, {{1, 2}}}, {}}));
  EXPECT_EQ(program->arguments[1].tiles,
            (partition::Sharding{{{{1, 8}}, {}}, {7, 6, 5, 4, 3, 2, 1, 0}}));
}

TEST(StableHloImporterTest, DividesAProgram) {
  auto program = ImportStableHlo(Artifact("sharded_mlp"));
  ASSERT_TRUE(program.ok()) << program.status();
  const auto global = GlobalProgramOf(*program);
  ASSERT_TRUE(global.ok()) << global.status();
  const auto local = partition::Partition(*global);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_EQ(partition::HloText(local->inputs[4], 4), "{devices=[4,1]<=[4]}");
  // Four gradients, and the loss.
  int sums = 0;
  for (const auto& node : local->module->nodes())
    sums += node->op == ir::Op::kHloAllReduce ? 1 : 0;
  EXPECT_EQ(sums, 5);
  EXPECT_TRUE(local->whole.empty());
  // XLA's notation, of jax without Shardy.
  program = ImportStableHlo(Artifact("attributes"));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(GlobalProgramOf(*program).status().message(),
              HasSubstr("argument 0: the sharding '{replicated}' is not of "
                        "Shardy"));
}

TEST(StableHloImporterTest, RegionsReadParametersAlone) {
  EXPECT_EQ(TextOf("captured"), R"(module @main {
  %arg0 = i1[] parameter(), name="argument"
  %arg1 = f32[3] parameter(), name="argument.1"
  %arg2 = f32[3] parameter(), name="argument.2"
  %if.1 = (f32[3], f32[3]) hlo.if(%arg0, %arg1, %arg2, %arg0) {
    %arg0 = f32[3] parameter()
    %arg1 = f32[3] parameter()
    %arg2 = i1[] parameter()
    %constant.0 = f32[3] constant(), data=[1, 2, 3]
    %add.1 = f32[3] hlo.add(%arg0, %constant.0)
    return %add.1, %arg1
  } {
    %arg0 = f32[3] parameter()
    %arg1 = f32[3] parameter()
    %arg2 = i1[] parameter()
    %constant.0 = f32[3] constant(), data=[1, 2, 3]
    %if.1 = f32[3] hlo.if(%arg2, %arg1, %arg0) {
      %arg0 = f32[3] parameter()
      %arg1 = f32[3] parameter()
      return %arg0
    } {
      %arg0 = f32[3] parameter()
      %arg1 = f32[3] parameter()
      %multiply.0 = f32[3] hlo.multiply(%arg1, %arg0)
      return %multiply.0
    }
    return %if.1, %constant.0
  }
  return %if.1 as "result", %if.1#1 as "result.1"
}
)");
}

TEST(StableHloImporterTest, InlinesCallsAndComposites) {
  EXPECT_THAT(TextOf("composite_pair"),
              AllOf(HasSubstr("hlo.sort"), Not(HasSubstr("composite"))));
  EXPECT_THAT(TextOf("scan"),
              AllOf(HasSubstr("hlo.while"), HasSubstr("hlo.tanh"),
                    Not(HasSubstr("call"))));
}

TEST(StableHloImporterTest, KeepsCustomCalls) {
  const auto program = ImportStableHlo(Artifact("cholesky"));
  ASSERT_TRUE(program.ok()) << program.status();
  const ir::Node* call = Find(*program, ir::Op::kHloCustomCall);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->attr<ir::HloCustomCallAttributes>().target,
            "lapack_spotrf_ffi");
  EXPECT_EQ(call->results(), 2);
}

TEST(StableHloImporterTest, ReadsConstants) {
  // Ten bits that are packed, and one value for twenty.
  EXPECT_THAT(TextOf("constant_bits"),
              HasSubstr("data=[1, 0, 1, 1, 0, 1, 0, 1, 1, 0]"));
  EXPECT_THAT(TextOf("constant_true"),
              AllOf(HasSubstr("i1[] constant(), data=[1]"),
                    HasSubstr("i1[20] hlo.broadcast_in_dim")));
  const auto program = ImportStableHlo(Artifact("constant_special"));
  ASSERT_TRUE(program.ok()) << program.status();
  const ir::Node* constant = Find(*program, ir::Op::kConstant);
  EXPECT_THAT(constant->literal().Bytes(),
              ElementsAre(0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0x7f, 0, 0, 0x80, 0xff,
                          0, 0, 0, 0x80, 1, 0, 0, 0));
}

TEST(StableHloImporterTest, ReadsPrecision) {
  EXPECT_THAT(TextOf("matmul_BF16_BF16_F32_X3"), HasSubstr("precision=HIGH\n"));
  EXPECT_THAT(TextOf("matmul_highest"), HasSubstr("precision=HIGHEST"));
}

TEST(StableHloImporterTest, ReadsOrderedFields) {
  EXPECT_THAT(
      TextOf("conv_NHWC_2_1_gradient"),
      AllOf(HasSubstr("lhs_dilation=[2, 2]"),
            HasSubstr("kernel_input_feature=3"), HasSubstr("reversal=[0, 0]")));
  EXPECT_THAT(
      TextOf("pool_max_gradient"),
      AllOf(HasSubstr("window=[1, 2, 2, 1]"), HasSubstr("direction=GE")));
  EXPECT_THAT(TextOf("scatter_add"),
              AllOf(HasSubstr("update_window_dims=[1]"),
                    HasSubstr("scatter_dims_to_operand_dims=[0]")));
}

TEST(StableHloImporterTest, NamesAllThatIsNotSupported) {
  EXPECT_EQ(TextOf("unsupported"),
            "UNIMPLEMENTED: 5 operations stand in the way:\n"
            "  an argument at (x): a dynamic shape\n"
            "  an argument at (y): type f64\n"
            "  stablehlo.add at model.py:5:2 (sum): a dynamic shape\n"
            "  stablehlo.complex at model.py:6:3: type complex<f64>\n"
            "  stablehlo.custom_call at -:6:11: no result");
}

TEST(StableHloImporterTest, RefusesRecursion) {
  EXPECT_EQ(TextOf("recursive"),
            "UNIMPLEMENTED: stablehlo.call at model.py:7:8 (again): a function "
            "that calls itself");
}

TEST(StableHloImporterTest, RefusesOtherFiles) {
  EXPECT_THAT(TextOf("generic"),
              HasSubstr("not a portable StableHLO artifact"));
  EXPECT_EQ(ImportStableHlo("").status().code(), absl::StatusCode::kDataLoss);
  const std::string newer = absl::StrReplaceAll(
      Artifact("exp-1.0.0"), {{"StableHLO_v1.0.0", "StableHLO_v2.0.0"}});
  EXPECT_EQ(ImportStableHlo(newer).status().ToString(),
            "UNIMPLEMENTED: StableHLO version 2.0.0; versions 0.9 to 1.x are "
            "supported");
}

}  // namespace
}  // namespace systole::import
