// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
#include "tests/partition/programs.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "host/ir/text.h"
#include "host/ir/verifier.h"

namespace systole::partition {
namespace {

constexpr char kX[] = "%x = f32[16,8] parameter(), name=\"x\"\n";
constexpr char kImage[] = "%x = f32[8,6,6,4] parameter(), name=\"x\"\n";
constexpr char kZero[] = "%z = f32[] constant(), data=[0]\n";

std::string Conv(const char* kernel, const char* result, const char* groups) {
  return absl::StrCat(
      kImage, "%k = f32", kernel, " parameter(), name=\"k\"\n%y = f32", result,
      " hlo.convolution(%x, %k), stride=[1, 2], low=[1, 0], high=[1, 1], "
      "lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 1], "
      "input_batch=0, input_feature=3, input_spatial=[1, 2], "
      "kernel_input_feature=2, kernel_output_feature=3, "
      "kernel_spatial=[0, 1], output_batch=0, output_feature=3, "
      "output_spatial=[1, 2]",
      groups);
}

std::vector<TestProgram> Make() {
  const std::string x = kX, image = kImage, zero = kZero;
  return {
      {"elementwise",
       x + "%m = f32[16,8] parameter(), name=\"m\"\n"
           "%a = f32[16,8] hlo.add(%x, %m)\n%t = i1[16,8] hlo.compare(%x, %m), "
           "direction=LT\n%y = f32[16,8] hlo.select(%t, %a, %m)"},
      {"clamp", x + zero +
                    "%o = f32[] constant(), data=[2]\n"
                    "%y = f32[16,8] hlo.clamp(%z, %x, %o)"},
      {"scalar_choice", x + "%p = i1[] parameter(), name=\"p\"\n"
                            "%n = f32[16,8] hlo.negate(%x)\n"
                            "%y = f32[16,8] hlo.select(%p, %x, %n)"},
      {"product",
       x + "%w = f32[8,12] parameter(), name=\"w\"\n"
           "%y = f32[16,12] hlo.dot_general(%x, %w), lhs_contracting=[1], "
           "rhs_contracting=[0]"},
      {"product_batch",
       "%a = f32[4,8,6] parameter(), name=\"a\"\n"
       "%b = f32[6,4,8] parameter(), name=\"b\"\n"
       "%y = f32[4,8,8] hlo.dot_general(%a, %b), lhs_batching=[0], "
       "rhs_batching=[1], lhs_contracting=[2], rhs_contracting=[0]"},
      {"product_two",
       "%a = f32[4,8,6] parameter(), name=\"a\"\n"
       "%b = f32[8,4] parameter(), name=\"b\"\n"
       "%y = f32[6] hlo.dot_general(%a, %b), lhs_contracting=[1, 0], "
       "rhs_contracting=[0, 1]"},
      {"convolution", Conv("[3,2,4,8]", "[8,6,3,8]", "")},
      {"convolution_groups",
       Conv("[3,2,2,8]", "[8,6,3,8]", ", feature_group_count=2")},
      {"convolution_batches",
       Conv("[3,2,4,8]", "[4,6,3,8]", ", batch_group_count=2")},
      {"reduce",
       x + zero + "%y = f32[8] hlo.reduce(%x, %z), dimensions=[0] REGION(add)"},
      {"reduce_all",
       x + zero +
           "%y = f32[] hlo.reduce(%x, %z), dimensions=[0, 1] REGION(add)"},
      {"reduce_from_five",
       x + "%z = f32[] constant(), data=[5]\n"
           "%y = f32[8] hlo.reduce(%x, %z), dimensions=[0] REGION(add)"},
      {"reduce_from_parameter",
       x + "%z = f32[] parameter(), name=\"z\"\n"
           "%y = f32[8] hlo.reduce(%x, %z), dimensions=[0] REGION(add)"},
      {"maximum",
       x + "%z = f32[] constant(), data=[-inf]\n"
           "%y = f32[16] hlo.reduce(%x, %z), dimensions=[1] REGION(maximum)"},
      {"maximum_from_one",
       x + "%z = f32[] constant(), data=[1]\n"
           "%y = f32[16] hlo.reduce(%x, %z), dimensions=[1] REGION(maximum)"},
      {"argmax",
       x + "%i = i32[16,8] hlo.iota(), dimension=0\n"
           "%z = f32[] constant(), data=[-inf]\n%n = i32[] constant(), "
           "data=[0]\n%r = (f32[8], i32[8]) hlo.reduce(%x, %i, %z, %n), "
           "dimensions=[0] { %a = f32[] parameter()\n%b = i32[] parameter()\n"
           "%c = f32[] parameter()\n%d = i32[] parameter()\n"
           "%t = i1[] hlo.compare(%c, %a), direction=GT\n"
           "%v = f32[] hlo.select(%t, %c, %a)\n"
           "%k = i32[] hlo.select(%t, %d, %b)\nreturn %v, %k }\n"
           "%y = i32[8] hlo.negate(%r#1)"},
      {"window",
       image + zero +
           "%y = f32[8,3,5,4] hlo.reduce_window(%x, %z), window=[1,2,2,1], "
           "stride=[1,2,1,1], base_dilation=[1,1,1,1], "
           "window_dilation=[1,1,1,1], low=[0,0,0,0], high=[0,0,0,0] "
           "REGION(add)"},
      {"cumulative",
       x + zero +
           "%y = f32[16,8] hlo.reduce_window(%x, %z), window=[16,1], "
           "stride=[1,1], base_dilation=[1,1], window_dilation=[1,1], "
           "low=[15,0], high=[0,0] REGION(add)"},
      {"select_and_scatter",
       image + "%s = f32[8,3,3,4] parameter(), name=\"s\"\n" + zero +
           "%y = f32[8,6,6,4] hlo.select_and_scatter(%x, %s, %z), "
           "window=[1,2,2,1], stride=[1,2,2,1], base_dilation=[1,1,1,1], "
           "window_dilation=[1,1,1,1], low=[0,0,0,0], high=[0,0,0,0] "
           "{ %p = f32[] parameter()\n%q = f32[] parameter()\n"
           "%r = i1[] hlo.compare(%p, %q), direction=GE\nreturn %r } "
           "REGION(add)"},
      {"sort", x + "%y = f32[16,8] hlo.sort(%x), dimension=0, is_stable=true "
                   "{ %p = f32[] parameter()\n%q = f32[] parameter()\n"
                   "%r = i1[] hlo.compare(%p, %q), direction=LT\nreturn %r }"},
      {"iota",
       x + "%i = f32[16,8] hlo.iota(), dimension=0\n"
           "%j = bf16[16,8] hlo.iota(), dimension=1\n"
           "%k = f32[16,8] hlo.convert(%j)\n%a = f32[16,8] hlo.add(%x, %i)\n"
           "%y = f32[16,8] hlo.add(%a, %k)"},
      {"iota_halves",
       "%x = f32[2048] parameter(), name=\"x\"\n"
       "%j = bf16[2048] hlo.iota(), dimension=0\n"
       "%k = f32[2048] hlo.convert(%j)\n%y = f32[2048] hlo.add(%x, %k)"},
      {"broadcast",
       "%v = f32[8,1] parameter(), name=\"v\"\n"
       "%y = f32[4,8,16] hlo.broadcast_in_dim(%v), dimensions=[1, 2]"},
      {"reshape", x + "%y = f32[128] hlo.reshape(%x)"},
      {"reshape_split", x + "%y = f32[4,4,1,8] hlo.reshape(%x)"},
      {"reshape_mixed", x + "%y = f32[1,8,4,4] hlo.reshape(%x)"},
      {"reshape_uneven",
       "%v = f32[6,8] parameter(), name=\"v\"\n%y = f32[4,12] hlo.reshape(%v)"},
      {"transpose",
       "%v = f32[4,6,8] parameter(), name=\"v\"\n"
       "%y = f32[8,4,6] hlo.transpose(%v), permutation=[2, 0, 1]"},
      {"slice", x + "%y = f32[6,8] hlo.slice(%x), start=[3, 0], limit=[9, 8], "
                    "strides=[1, 1]"},
      {"slice_steps",
       x + "%y = f32[8,4] hlo.slice(%x), start=[0, 1], limit=[16, 8], "
           "strides=[2, 2]"},
      {"dynamic_slice",
       x + "%i = i32[] parameter(), name=\"i\"\n"
           "%y = f32[4,8] hlo.dynamic_slice(%x, %i, %i), sizes=[4, 8]"},
      {"dynamic_update_slice",
       x + "%i = i32[] parameter(), name=\"i\"\n"
           "%u = f32[4,8] parameter(), name=\"u\"\n"
           "%y = f32[16,8] hlo.dynamic_update_slice(%x, %u, %i, %i)"},
      {"concatenate",
       x + "%w = f32[16,4] parameter(), name=\"w\"\n"
           "%y = f32[16,12] hlo.concatenate(%x, %w), dimension=1"},
      {"pad", x + zero +
                  "%y = f32[16,12] hlo.pad(%x, %z), low=[0, 3], high=[0, 1], "
                  "interior=[0, 0]"},
      {"pad_within",
       x + zero +
           "%y = f32[31,6] hlo.pad(%x, %z), low=[0, -1], high=[0, -1], "
           "interior=[1, 0]"},
      {"reverse", x + "%y = f32[16,8] hlo.reverse(%x), dimensions=[0]"},
      {"bitcast", x + "%y = u16[16,8,2] hlo.bitcast_convert(%x)"},
      {"gather", x + "%i = i32[8,1] parameter(), name=\"i\"\n"
                     "%y = f32[8,8] hlo.gather(%x, %i), offset_dims=[1], "
                     "collapsed_slice_dims=[0], start_index_map=[0], "
                     "index_vector_dim=1, slice_sizes=[1, 8]"},
      {"gather_part",
       x + "%i = i32[8,2] parameter(), name=\"i\"\n"
           "%y = f32[8,2,3] hlo.gather(%x, %i), offset_dims=[1, 2], "
           "start_index_map=[0, 1], index_vector_dim=1, slice_sizes=[2, 3]"},
      {"gather_batched",
       x + "%i = i32[16,4,1] parameter(), name=\"i\"\n"
           "%y = f32[16,4] hlo.gather(%x, %i), collapsed_slice_dims=[1], "
           "operand_batching_dims=[0], start_indices_batching_dims=[0], "
           "start_index_map=[1], index_vector_dim=2, slice_sizes=[1, 1]"},
      // Indices outside, and -0.
      {"gather_outside",
       "%x = f32[4,8] parameter(), name=\"x\"\n%n = f32[4,8] hlo.negate(%x)\n"
       "%i = i32[8] parameter(), name=\"i\"\n"
       "%c = i32[] constant(), data=[2]\n"
       "%b = i32[8] hlo.broadcast_in_dim(%c)\n%k = i32[8] hlo.subtract(%i, "
       "%b)\n%y = f32[8,8] hlo.gather(%n, %k), offset_dims=[1], "
       "collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1, "
       "slice_sizes=[1, 8]"},
      {"gather_two",
       "%x = bf16[4,8] parameter(), name=\"x\"\n"
       "%i = u8[2,8] parameter(), name=\"i\"\n"
       "%n = bf16[4,8] hlo.negate(%x)\n"
       "%y = bf16[8] hlo.gather(%n, %i), collapsed_slice_dims=[0, 1], "
       "start_index_map=[1, 0], index_vector_dim=0, slice_sizes=[1, 1]"},
      {"gather_truth",
       "%x = i1[16,8] parameter(), name=\"x\"\n"
       "%i = i64[8,2] parameter(), name=\"i\"\n"
       "%y = i1[8,3] hlo.gather(%x, %i), offset_dims=[1], "
       "collapsed_slice_dims=[0], start_index_map=[0, 1], index_vector_dim=1, "
       "slice_sizes=[1, 3]"},
      {"scatter_outside",
       "%x = f32[4,8] parameter(), name=\"x\"\n"
       "%i = i32[8,2] parameter(), name=\"i\"\n"
       "%u = f32[8] parameter(), name=\"u\"\n"
       "%c = i32[] constant(), data=[2]\n"
       "%b = i32[8,2] hlo.broadcast_in_dim(%c)\n%k = i32[8,2] "
       "hlo.subtract(%i, %b)\n%y = f32[4,8] hlo.scatter(%x, %k, %u), "
       "inserted_window_dims=[0, 1], scatter_dims_to_operand_dims=[0, 1], "
       "index_vector_dim=1 REGION(add)"},
      {"scatter",
       x + "%i = i32[8,1] parameter(), name=\"i\"\n"
           "%u = f32[8,8] parameter(), name=\"u\"\n"
           "%y = f32[16,8] hlo.scatter(%x, %i, %u), update_window_dims=[1], "
           "inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], "
           "index_vector_dim=1 REGION(add)"},
      {"scatter_add",
       zero + "%x = f32[16,8] hlo.broadcast_in_dim(%z)\n"
              "%v = f32[8,8] parameter(), name=\"v\"\n"
              "%i = i32[8,1] parameter(), name=\"i\"\n"
              "%u = f32[8,8] parameter(), name=\"u\"\n"
              "%y = f32[16,8] hlo.scatter(%x, %i, %u), update_window_dims=[1], "
              "inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], "
              "index_vector_dim=1 REGION(add)"},
      {"scatter_set",
       zero + "%x = f32[16,8] hlo.broadcast_in_dim(%z)\n"
              "%i = i32[8,1] parameter(), name=\"i\"\n"
              "%u = f32[8,8] parameter(), name=\"u\"\n"
              "%y = f32[16,8] hlo.scatter(%x, %i, %u), update_window_dims=[1], "
              "inserted_window_dims=[0], scatter_dims_to_operand_dims=[0], "
              "index_vector_dim=1 { %p = f32[] parameter()\n"
              "%q = f32[] parameter()\nreturn %q }"},
      {"loop",
       x + "%n = i32[] constant(), data=[0]\n%l = (i32[], f32[16,8]) "
           "hlo.while(%n, %x, %x) { %i = i32[] parameter()\n"
           "%v = f32[16,8] parameter()\n%c = f32[16,8] parameter()\n"
           "%three = i32[] constant(), data=[3]\n"
           "%r = i1[] hlo.compare(%i, %three), direction=LT\nreturn %r } "
           "{ %i = i32[] parameter()\n%v = f32[16,8] parameter()\n"
           "%c = f32[16,8] parameter()\n%one = i32[] constant(), data=[1]\n"
           "%j = i32[] hlo.add(%i, %one)\n%w = f32[16,8] hlo.add(%v, %c)\n"
           "return %j, %w }\n%y = f32[16,8] hlo.negate(%l#1)"},
      {"loop_turns",
       "%x = f32[8,8] parameter(), name=\"x\"\n"
       "%n = i32[] constant(), data=[0]\n%l = (i32[], f32[8,8]) "
       "hlo.while(%n, %x) { %i = i32[] parameter()\n"
       "%v = f32[8,8] parameter()\n%three = i32[] constant(), data=[3]\n"
       "%z = f32[] constant(), data=[0]\n"
       "%s = f32[] hlo.reduce(%v, %z), dimensions=[0, 1] REGION(add)\n"
       "%big = f32[] constant(), data=[1000]\n"
       "%a = i1[] hlo.compare(%i, %three), direction=LT\n"
       "%b = i1[] hlo.compare(%s, %big), direction=LT\n"
       "%r = i1[] hlo.and(%a, %b)\nreturn %r } "
       "{ %i = i32[] parameter()\n%v = f32[8,8] parameter()\n"
       "%one = i32[] constant(), data=[1]\n%j = i32[] hlo.add(%i, %one)\n"
       "%w = f32[8,8] hlo.transpose(%v), permutation=[1, 0]\n"
       "%t = f32[8,8] hlo.add(%w, %v)\nreturn %j, %t }\n"
       "%y = f32[8,8] hlo.negate(%l#1)"},
      {"branch",
       x + "%p = i1[] parameter(), name=\"p\"\n"
           "%y = f32[16,8] hlo.if(%p, %x) { %v = f32[16,8] parameter()\n"
           "%r = f32[16,8] hlo.reverse(%v), dimensions=[1]\nreturn %r } "
           "{ %v = f32[16,8] parameter()\n%r = f32[16,8] hlo.add(%v, %v)\n"
           "return %r }"},
      {"random",
       "%s = u64[2] parameter(), name=\"s\"\n" + x +
           "%r = (u64[2], u32[16,8]) hlo.rng_bit_generator(%s), "
           "algorithm=THREE_FRY\n%f = f32[16,8] hlo.bitcast_convert(%r#1)\n"
           "%b = u32[16,8] hlo.bitcast_convert(%x)\n"
           "%y = u32[16,8] hlo.xor(%r#1, %b)"},
      {"triangle",
       "%a = f32[8,4,4] parameter(), name=\"a\"\n"
       "%b = f32[8,4,2] parameter(), name=\"b\"\n"
       "%y = f32[8,4,2] hlo.triangular_solve(%a, %b), left_side=true, "
       "lower=true, unit_diagonal=true, transpose_a=false"},
      {"barrier",
       x + "%w = f32[8] parameter(), name=\"w\"\n"
           "%o = (f32[16,8], f32[8]) hlo.optimization_barrier(%x, %w)\n"
           "%y = f32[8] hlo.negate(%o#1)"},
      {"constant",
       x + "%c = f32[2,8] constant(), data=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "
           "11, 12, 13, 14, 15]\n"
           "%b = f32[2,8,8] hlo.broadcast_in_dim(%c), dimensions=[0, 1]\n"
           "%w = f32[2,8,8] hlo.reshape(%x)\n"
           "%y = f32[2,8,8] hlo.add(%w, %b)"},
  };
}

}  // namespace

const std::vector<TestProgram>& TestPrograms() {
  static const auto& programs = *new std::vector<TestProgram>(Make());
  return programs;
}

std::string TextOf(const TestProgram& program) {
  std::string text = program.text;
  for (const char* op : {"add", "maximum"}) {
    text = absl::StrReplaceAll(
        text, {{absl::StrCat("REGION(", op, ")"),
                absl::StrCat("{ %p = f32[] parameter()\n%q = f32[] "
                             "parameter()\n%r = f32[] hlo.",
                             op, "(%p, %q)\nreturn %r }")}});
  }
  return absl::StrCat("module @", program.name, " {\n", text,
                      "\nreturn %y as \"y\"\n}\n");
}

std::unique_ptr<ir::Module> ModuleOf(const std::string& text) {
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::Parse(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  if (!module.ok()) return nullptr;
  EXPECT_EQ(ir::Verify(**module), absl::OkStatus()) << text;
  return *std::move(module);
}

GlobalProgram ProgramOf(const std::string& text, int devices) {
  GlobalProgram program;
  program.module = ModuleOf(text);
  program.devices = devices;
  program.inputs.resize(program.module->inputs().size());
  program.outputs.resize(program.module->outputs.size());
  return program;
}

}  // namespace systole::partition
