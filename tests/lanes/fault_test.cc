// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The comparison of a kernel's results with the host's sees single wrong
// instructions of the kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/compiler/access.h"
#include "host/compiler/kernels/device_plan.h"
#include "host/ir/evaluate.h"
#include "host/ir/scalar.h"
#include "host/ir/text.h"
#include "host/program/vpu_asm.h"
#include "host/runtime/array_products.h"
#include "host/runtime/kernel_executor.h"
#include "systole/gen/vpu.h"
#include "tests/lanes/device_check.h"

namespace systole::lanes {
namespace {

constexpr char kModule[] = R"(module @m {
  %x = f32[300] parameter(), name="x"
  %y = f32[300] parameter(), name="y"
  %a = f32[300] hlo.divide(%x, %y)
  %b = f32[300] hlo.exponential(%a)
  %c = f32[300] hlo.sqrt(%x)
  %d = f32[300] hlo.maximum(%b, %c)
  %s = f32[] constant(), data=[0.5]
  %e = f32[] hlo.reduce(%y, %s), dimensions=[0] {
    %p = f32[] parameter()
    %q = f32[] parameter()
    %r = f32[] hlo.add(%p, %q)
    return %r
  }
  return %a as "a", %b as "b", %c as "c", %d as "d", %e as "e"
}
)";

// Functions of angles of every size, and addresses from data.
constexpr char kIndexed[] = R"(module @m {
  %x = f32[2000] parameter(), name="x"
  %n = i32[90,1] parameter(), name="n"
  %u = f32[90] parameter(), name="u"
  %i = f32[] parameter(), name="i"
  %f = f32[2000] hlo.sine(%x)
  %g = f32[90,3] hlo.gather(%x, %n), offset_dims=[1], collapsed_slice_dims=[],
    start_index_map=[0], index_vector_dim=1, slice_sizes=[3]
  %s = f32[2000] hlo.scatter(%x, %n, %u), update_window_dims=[],
    inserted_window_dims=[0], scatter_dims_to_operand_dims=[0],
    index_vector_dim=1 {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  %w = f32[90] hlo.select_and_scatter(%u, %u, %i), window=[3], stride=[1],
    base_dilation=[1], window_dilation=[1], low=[1], high=[1] {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = i1[] hlo.compare(%a, %b), direction=GE
    return %c
  } {
    %a = f32[] parameter()
    %b = f32[] parameter()
    %c = f32[] hlo.add(%a, %b)
    return %c
  }
  return %f as "f", %g as "g", %s as "s", %w as "w"
}
)";

// A network of exchanges, unknowns one after the other.
constexpr char kNetworks[] = R"(module @m {
  %x = f32[90] parameter(), name="x"
  %n = i8[90] parameter(), name="n"
  %a = f32[9,9] parameter(), name="a"
  %b = f32[9,10] parameter(), name="b"
  %s = (f32[90], i8[90]) hlo.sort(%x, %n), dimension=0, is_stable=true {
    %c = f32[] parameter()
    %d = f32[] parameter()
    %e = i8[] parameter()
    %f = i8[] parameter()
    %g = i1[] hlo.compare(%c, %d), direction=LT, type=TOTALORDER
    return %g
  }
  %t = f32[9,10] hlo.triangular_solve(%a, %b), left_side=true, lower=true,
    unit_diagonal=true, transpose_a=false
  return %s as "s", %s#1 as "n", %t as "t"
}
)";

// Elements of 16 bits, which are rounded, and stored as halves and as pairs.
constexpr char kHalves[] = R"(module @m {
  %x = f16[300] parameter(), name="x"
  %y = f16[300] parameter(), name="y"
  %n = i16[301] parameter(), name="n"
  %f = f32[300] parameter(), name="f"
  %a = f16[300] hlo.add(%x, %y)
  %b = i16[301] hlo.multiply(%n, %n)
  %c = f32[300] hlo.reduce_precision(%f), exponent_bits=4, mantissa_bits=3
  return %a as "a", %b as "b", %c as "c"
}
)";

// Depthwise convolutions, of one and of several passes, and a gradient of the
// kernel whose sums have two sections.
constexpr char kDepthwise[] = R"(module @m {
  %x = f32[8,9,21,3] parameter(), name="x"
  %k = f32[3,2,1,3] parameter(), name="k"
  %y = f32[8,11,24,3] parameter(), name="y"
  %c = f32[8,5,21,3] hlo.convolution(%x, %k), stride=[2, 1], low=[1, 0], high=[1, 1], lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 0], input_feature=3, input_spatial=[1, 2], kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0, 1], output_feature=3, output_spatial=[1, 2], feature_group_count=3, precision=HIGH
  %d = f32[8,9,22,3] hlo.convolution(%x, %k), stride=[1, 1], low=[1, 1], high=[1, 1], lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 0], input_feature=3, input_spatial=[1, 2], kernel_input_feature=2, kernel_output_feature=3, kernel_spatial=[0, 1], output_feature=3, output_spatial=[1, 2], feature_group_count=3
  %p = bf16[8,9,21,3] hlo.convert(%x)
  %q = bf16[8,11,24,3] hlo.convert(%y)
  %e = f32[3,2,1,3] hlo.convolution(%p, %q), stride=[1, 1], low=[2, 2], high=[2, 2], lhs_dilation=[1, 1], rhs_dilation=[1, 1], reversal=[0, 0], input_batch=3, input_feature=0, input_spatial=[1, 2], kernel_input_feature=0, kernel_output_feature=3, kernel_spatial=[1, 2], output_batch=2, output_feature=3, output_spatial=[0, 1], batch_group_count=3
  return %c as "c", %d as "d", %e as "e"
}
)";

// An instruction with the same operands whose result is far from the right one.
uint64_t Wrong(uint64_t word) {
  vpu::Instr x = vpu::Instr::Decode(word);
  bool three = false;
  switch (x.op) {
    case vpu::Op::kFma:
    case vpu::Op::kFnma:
      x.op = vpu::Op::kSel;
      three = true;
      break;
    case vpu::Op::kSel:
      x.op = vpu::Op::kFma;
      three = true;
      break;
    case vpu::Op::kExp2:
    case vpu::Op::kRcp:
    case vpu::Op::kRsqrt:
      x.op = vpu::Op::kTanh;
      break;
    case vpu::Op::kLds:  // the unified buffer's first bytes, which are code
      x.op = vpu::Op::kLi;
      x.a = x.am = 0;
      x.imm = 0;
      return x.Encode();
    case vpu::Op::kIlt:
      std::swap(x.a, x.b);
      std::swap(x.am, x.bm);
      return x.Encode();
    case vpu::Op::kIeq:
    case vpu::Op::kFeq:
    case vpu::Op::kFlt:
    case vpu::Op::kFle:
      x.op = vpu::Op::kIadd;
      break;
    default:
      x.op = vpu::Op::kIeq;
      break;
  }
  x.imm = three ? x.c | x.cm << 6 : 0;
  if (!three) x.c = x.cm = 0;
  return x.Encode();
}

// All but one of `share` faults, of which there are `least`. `prepare` changes
// the random inputs.
void ExpectSeen(const char* text, int least, int share,
                const std::function<void(ir::Literals&)>& prepare) {
  const auto module = ir::Parse(text);
  ASSERT_TRUE(module.ok()) << module.status();
  runtime::CoreOptions options;
  options.preset = "mini";
  runtime::Core core(options);
  runtime::ArrayProducts products(core, /*host_operators=*/true);
  runtime::KernelExecutor executor(core, products);
  std::mt19937_64 random(3);
  ir::Literals inputs;
  for (const ir::Node* input : (*module)->inputs())
    inputs.push_back(RandomValues(input->type, random));
  prepare(inputs);
  const auto expected = ir::EvaluateModule(**module, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  DevicePlan plan = PlanFor(**module, core.preset());
  const auto is_right = [&] {
    runtime::PlacedValues values, constants;
    for (const ir::Literal& input : inputs)
      values.push_back(runtime::OnHost(input));
    for (const auto& [slot, literal] : plan.constants)
      constants.push_back(runtime::OnHost(literal));
    const auto results = executor.Run(plan, values, constants);
    if (!results.ok()) return false;
    for (size_t i = 0; i < results->size(); ++i) {
      const auto literal =
          executor.ToHost(*(*results)[i], (*module)->outputs[i].node.type());
      if (!literal.ok() || !(*literal == (*expected)[i])) return false;
    }
    return true;
  };
  ASSERT_TRUE(is_right());
  int faults = 0, unseen = 0;
  for (PlanStep& step : plan.steps) {
    ASSERT_TRUE(step.kernel);
    const auto program = std::make_shared<KernelProgram>(*step.kernel);
    step.kernel = program;
    for (uint64_t& word : program->words) {
      const int cls = static_cast<int>(word & 0xFF) >> 4;
      const vpu::Instr x = vpu::Instr::Decode(word);
      if (cls < static_cast<int>(vpu::Class::kFloat) && x.op != vpu::Op::kLds)
        continue;
      if (static_cast<int>(x.op) >> 4 == static_cast<int>(vpu::Class::kCross))
        continue;
      const uint64_t kept = word;
      word = Wrong(word);
      if (is_right()) {
        std::printf("not seen: instruction %d, %s\n",
                    static_cast<int>(&word - program->words.data()),
                    vpu::Disassemble(kept).c_str());
        ++unseen;
      }
      word = kept;
      ++faults;
    }
  }
  EXPECT_GT(faults, least);
  // Some do not matter: a step of a root that was right before it, what the
  // first tap of a window is compared with, loops for other numbers of rows.
  EXPECT_LE(unseen, faults / share);
}

// Kernels are one program; a fault names the one whose descriptor it is.
TEST(FaultTest, NamesTheKernel) {
  const auto module = ir::Parse(kNetworks);
  ASSERT_TRUE(module.ok()) << module.status();
  runtime::CoreOptions options;
  options.preset = "mini";
  runtime::Core core(options);
  runtime::ArrayProducts products(core, /*host_operators=*/true);
  DevicePlan plan = PlanFor(**module, core.preset());
  ASSERT_EQ(plan.steps.size(), 1u);
  PlanStep& step = plan.steps[0];
  ASSERT_GT(step.kernels.size(), 1u);
  const auto program = std::make_shared<KernelProgram>(*step.kernel);
  step.kernel = program;
  std::vector<isa::Descriptor>& descriptors = program->descriptors;
  for (size_t k = 0; k < step.kernels.size(); ++k) {
    const std::vector<isa::Descriptor> kept = descriptors;
    const auto load = std::find_if(
        descriptors.begin(), descriptors.end(), [&](const isa::Descriptor& d) {
          return compiler::OpcodeOf(d) == isa::Opcode::kLoad &&
                 compiler::TagOf(d) == static_cast<int>(k);
        });
    ASSERT_NE(load, descriptors.end());
    isa::Load wrong = isa::Load::Decode(*load);
    wrong.len = 0;
    *load = wrong.Encode();
    runtime::KernelExecutor executor(core, products);
    runtime::PlacedValues values, constants;
    for (const ir::Node* input : (*module)->inputs())
      values.push_back(runtime::OnHost(
          ir::Literal::Zeros(input->type.element, input->type.elements())));
    for (const auto& [slot, literal] : plan.constants)
      constants.push_back(runtime::OnHost(literal));
    const absl::Status status = executor.Run(plan, values, constants).status();
    const std::string& name = step.kernels[k].back()->name;
    EXPECT_THAT(std::string(status.message()),
                testing::StartsWith(absl::StrCat("node '", name, "'")));
    descriptors = kept;
  }
}

TEST(FaultTest, WrongInstructionsAreSeen) {
  ExpectSeen(kModule, 80, 20, [](ir::Literals& inputs) {
    // No NaN in what is summed, or little shows.
    for (float& v : inputs[1].values<float>()) v = std::fmod(v, 100.0f);
    for (float& v : inputs[1].values<float>()) v = v == v ? v : 1.0f;
    // Arguments and quotients that are subnormal.
    for (int i = 0; i < 90; ++i) {
      float& x = inputs[0].values<float>()[i];
      x = std::ldexp(1.0f + static_cast<float>(i) / 97, -122 - i / 6);
      // Halves of the smallest number, to even.
      if (i % 3 == 1) x = ir::FromBits(2 * i + 1);
      if (i % 3 == 1) inputs[1].values<float>()[i] = 2;
      if (i % 3 == 0) inputs[1].values<float>()[i] = i % 2 ? 1e-40f : 3.7f;
    }
  });
}

TEST(FaultTest, WrongAddressesAndAnglesAreSeen) {
  ExpectSeen(kIndexed, 100, 15, [](ir::Literals& inputs) {
    std::mt19937_64 random(4);
    for (float& v : inputs[0].values<float>()) {
      v = std::ldexp(static_cast<float>(random() % 100000) / 30000 - 1,
                     static_cast<int>(random() % 140) - 20);
    }
    // Inside, at the ends and outside.
    for (int32_t& n : inputs[1].values<int32_t>())
      n = static_cast<int32_t>(random() % 3000) - 500;
    for (float& v : inputs[2].values<float>())
      v = static_cast<float>(random() % 20) - 10;
    inputs[3].values<float>()[0] = 0.5f;
  });
}

TEST(FaultTest, WrongExchangesAreSeen) {
  ExpectSeen(kNetworks, 20, 20, [](ir::Literals& inputs) {
    std::mt19937_64 random(5);
    const auto number = [&random](int exponents) {
      const float x = 1 + static_cast<float>(random() % (1 << 23)) / (1 << 23);
      return std::ldexp(x,
                        static_cast<int>(random() % exponents) - exponents / 2);
    };
    // Many equal keys.
    for (float& v : inputs[0].values<float>())
      v = static_cast<float>(random() % 9) - 4;
    for (float& v : inputs[2].values<float>()) v = number(2);
    for (float& v : inputs[3].values<float>()) v = number(9);
  });
}

TEST(FaultTest, WrongHalvesAreSeen) {
  ExpectSeen(kHalves, 40, 20, [](ir::Literals& inputs) {
    std::mt19937_64 random(6);
    for (const int i : {0, 1}) {
      for (ir::Float16& v : inputs[i].values<ir::Float16>())
        v.bits = static_cast<uint16_t>(random());
    }
    for (float& v : inputs[3].values<float>()) {
      v = std::ldexp(1 + static_cast<float>(random() % 64) / 64,
                     static_cast<int>(random() % 24) - 12);
      if (random() % 2 != 0) v = -v;
      if (random() % 16 == 0) v = std::nanf("");
    }
  });
}

TEST(FaultTest, WrongSumsOfTapsAreSeen) {
  ExpectSeen(kDepthwise, 200, 9, [](ir::Literals& inputs) {
    std::mt19937_64 random(7);
    for (ir::Literal& input : inputs) {
      for (float& v : input.values<float>()) {
        v = 1 + static_cast<float>(random() % (1 << 23)) / (1 << 23);
        v = std::ldexp(v, static_cast<int>(random() % 8));
        if (random() % 2 != 0) v = -v;
      }
    }
    inputs[0].values<float>()[7] = std::numeric_limits<float>::infinity();
  });
}

}  // namespace
}  // namespace systole::lanes
