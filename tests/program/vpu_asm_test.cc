// SPDX-FileCopyrightText: Systole contributors
// SPDX-License-Identifier: Apache-2.0

#include "host/program/vpu_asm.h"

#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace systole::vpu {
namespace {

using ::testing::HasSubstr;

Code MustAssemble(const std::string& text,
                  const std::map<std::string, int64_t>& constants = {},
                  int base = 0) {
  absl::StatusOr<Code> code = Assemble(text, "p.vs", constants, base);
  EXPECT_TRUE(code.ok()) << code.status();
  return code.ok() ? *code : Code{};
}

std::string ErrorOf(const std::string& text) {
  absl::StatusOr<Code> r = Assemble(text, "p.vs");
  EXPECT_EQ(r.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(r.status().message());
}

TEST(VpuAssembler, ALimitMayBeLeftOut) {
  const Code code = MustAssemble("vl s3\nvl s3, 8\nvl s3, 0\n");
  EXPECT_EQ(Instr::Decode(code.words[0]).imm, 0);
  EXPECT_EQ(Instr::Decode(code.words[1]).imm, 8);
  EXPECT_EQ(code.words[0], code.words[2]);
  EXPECT_EQ(ErrorOf("vl s3, 64"), "p.vs:1: 64 is outside 0..63");
  EXPECT_EQ(ErrorOf("vl"), "p.vs:1: vl wants 1 or 2 operands, not 0");
}

TEST(VpuAssembler, Fields) {
  const Code code = MustAssemble(
      "# comment\n"
      ".arg src\n"
      ".arg dst   # second\n"
      ".reg acc v17\n"
      ".reg step s13\n"
      ".const size 4*L\n"
      "top: li step, 2*(size-4)+1\r\n"
      "  ld16 v9, src, step, -size\n"
      "\tfma acc, v9, s4, v33.0\n"
      "end:\n"
      "  bne dst, s0, top # back\n"
      "  st8 acc, dst, s0\n",
      {{"L", 8}});
  ASSERT_EQ(code.words.size(), 5u);
  EXPECT_EQ(code.args, (std::map<std::string, int>{{"src", 0}, {"dst", 1}}));
  EXPECT_EQ(code.labels, (std::map<std::string, int>{{"end", 3}, {"top", 0}}));
  EXPECT_EQ(code.words[0], 0x01u | 13u << 8 | uint64_t{57} << 32);
  const Instr load = Instr::Decode(code.words[1]);
  EXPECT_EQ(load.op, vpu::Op::kLd16);
  EXPECT_EQ(load.d, 9);
  EXPECT_EQ(load.a, 1);
  EXPECT_EQ(load.am, 2);
  EXPECT_EQ(load.b, 13);
  EXPECT_EQ(load.bm, 2);
  EXPECT_EQ(load.imm, -32);
  // op d a am b bm c cm, bit by bit.
  EXPECT_EQ(code.words[2], 0x43u | 17u << 8 | 9u << 14 | 0u << 20 | 4u << 22 |
                               2u << 28 | uint64_t{33} << 32 |
                               uint64_t{1} << 38);
  EXPECT_EQ(code.words[3], 0x11u | 2u << 14);
  EXPECT_EQ(code.words[4], 0x32u | 17u << 8 | 2u << 14 | 2u << 20 | 2u << 28);
}

TEST(VpuAssembler, Numbers) {
  const auto imm = [](const std::string& number) {
    return static_cast<uint32_t>(MustAssemble("li s1, " + number).words.at(0) >>
                                 32);
  };
  EXPECT_EQ(imm("0xFFFFFFFF"), 0xFFFFFFFFu);
  EXPECT_EQ(imm("4294967295"), 0xFFFFFFFFu);
  EXPECT_EQ(imm("-2147483648"), 0x80000000u);
  EXPECT_EQ(imm("1.0"), 0x3F800000u);
  EXPECT_EQ(imm("-1.5"), 0xBFC00000u);
  EXPECT_EQ(imm("1e-3"), 0x3A83126Fu);
  EXPECT_EQ(imm("2.5E+1"), 0x41C80000u);
  EXPECT_EQ(imm("0xe"), 14u);
  EXPECT_EQ(imm("0x1e+1"), 31u);
  EXPECT_EQ(imm("3 - -4 * (2 + 1)"), 15u);
  EXPECT_EQ(imm("-(7 - 14/2/3)"), static_cast<uint32_t>(-5));
  EXPECT_EQ(imm("17 % 5 * 2"), 4u);
  EXPECT_EQ(imm("-17 % 5"), static_cast<uint32_t>(-2));
  EXPECT_EQ(imm("min(7, 3 - 5) + max(-(1), min(4, 6))"), 2u);
  EXPECT_EQ(imm("-min(2, 3) * max (1, 0x10)"), static_cast<uint32_t>(-32));
  EXPECT_EQ(imm(std::string(50, '(') + "1" + std::string(50, ')')), 1u);
}

// An operand may have commas of its own; names may be those of functions.
TEST(VpuAssembler, OperandsWithFunctions) {
  const Code code = MustAssemble(
      ".arg a\n"
      ".const most max(3, 2) % 2\n"
      ".const min 7\n"
      "max: ld16 v9, a, s4, min(64, L*max(2, 1))\n"
      "  beq s1, a, max\n"
      "  li s1, min\n"
      "  li s2, min(min, max + most)\n",
      {{"L", 8}});
  ASSERT_EQ(code.words.size(), 4u);
  EXPECT_EQ(Instr::Decode(code.words[0]).imm, 16);
  EXPECT_EQ(Instr::Decode(code.words[1]).imm, 0);
  EXPECT_EQ(Instr::Decode(code.words[2]).imm, 7);
  EXPECT_EQ(Instr::Decode(code.words[3]).imm, 1);
}

// A random expression with its value; none where it has none.
class RandomExpression {
 public:
  explicit RandomExpression(uint64_t seed) : random_(seed) {}

  std::string Make(int depth, std::optional<int64_t>* value) {
    if (depth == 0 || random_() % 6 == 0) {
      *value = random_() % 3 ? static_cast<int64_t>(random_() % 9)
                             : static_cast<int64_t>(random_() % 100000);
      return Space(std::to_string(**value));
    }
    if (random_() % 7 == 0) {
      const std::string inner = Make(depth - 1, value);
      if (value->has_value()) *value = -**value;
      return Space("-(" + inner + ")");
    }
    std::optional<int64_t> a, b;
    const std::string left = Make(depth - 1, &a), right = Make(depth - 1, &b);
    const size_t op = random_() % 7;
    *value = std::nullopt;
    if (a && b) *value = Apply(op, *a, *b);
    if (op >= 5)
      return Space(op == 5 ? "min" : "max") + "(" + left + "," + right + ")";
    return "(" + left + ")" + Space(std::string(1, "+-*/%"[op])) + "(" + right +
           ")";
  }

 private:
  std::string Space(const std::string& text) {
    return random_() % 3 ? text : " " + text + " ";
  }
  static std::optional<int64_t> Apply(size_t op, int64_t a, int64_t b) {
    if ((op == 3 || op == 4) && b == 0) return std::nullopt;
    const int64_t v = op == 0   ? a + b
                      : op == 1 ? a - b
                      : op == 2 ? a * b
                      : op == 3 ? a / b
                      : op == 4 ? a % b
                      : op == 5 ? (a < b ? a : b)
                                : (a > b ? a : b);
    if (v > int64_t{UINT32_MAX} || v < -int64_t{UINT32_MAX})
      return std::nullopt;
    return v;
  }

  std::mt19937_64 random_;
};

TEST(VpuAssembler, RandomExpressions) {
  int values = 0, errors = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    std::optional<int64_t> wanted;
    const std::string text = RandomExpression(seed).Make(5, &wanted);
    absl::StatusOr<Code> code = Assemble(".const x " + text, "p.vs");
    ASSERT_EQ(code.ok(), wanted.has_value()) << text << ": " << code.status();
    if (wanted) EXPECT_EQ(code->constants.at("x"), *wanted) << text;
    ++(wanted ? values : errors);
  }
  EXPECT_GT(values, 2000);
  EXPECT_GT(errors, 300);
}

// Texts of the grammar's pieces in any order: an error or a value.
TEST(VpuAssembler, RandomPieces) {
  static const char* const kPieces[] = {
      "1",    "0",   "4294967295", "0x", "1e", "1.5", ".",   "(", ")",
      "min(", "max", "min",        ",",  "+",  "-",   "*",   "/", "%",
      " ",    "x",   "L",          "s1", "#",  ":",   "max("};
  std::mt19937_64 random(5);
  int good = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text = random() % 2 ? "li s1, " : ".const y ";
    for (size_t n = random() % 8 + 1; n > 0; --n)
      text += kPieces[random() % std::size(kPieces)];
    absl::StatusOr<Code> code = Assemble(text, "p.vs", {{"L", 8}});
    good += code.ok();
    if (!code.ok())
      EXPECT_THAT(std::string(code.status().message()), HasSubstr("p.vs:1: "));
  }
  EXPECT_GT(good, 1000);
  EXPECT_LT(good, 29000);
}

TEST(VpuAssembler, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("halt\n# x\n  jump s1\n"),
            "p.vs:3: unknown instruction 'jump'");
  EXPECT_THAT(ErrorOf("\nfadd v16, v1"),
              HasSubstr("p.vs:2: fadd wants 3 operands, not 2"));
  EXPECT_THAT(ErrorOf("ld32 v0, s1"),
              HasSubstr("ld32 wants 3 or 4 operands, not 2"));
  EXPECT_THAT(ErrorOf("halt s1"), HasSubstr("halt wants 0 operands, not 1"));
  EXPECT_THAT(ErrorOf("fadd v0, v1, v2"), HasSubstr("fadd cannot write v0"));
  EXPECT_THAT(ErrorOf("ld32 v16, s1, s2"), HasSubstr("ld32 cannot write v16"));
  EXPECT_THAT(ErrorOf("mov v16, v0"), HasSubstr("mov cannot write v16"));
  EXPECT_THAT(ErrorOf("fadd v16, v16.0, v0"),
              HasSubstr("row 0 of v16, which is the destination"));
  EXPECT_THAT(ErrorOf("rotrow v32, v32, s0, 1"),
              HasSubstr("source v32 is the destination"));
  EXPECT_THAT(ErrorOf("rotrow v32, v0.0, s0, 1"),
              HasSubstr("'v0.0': only a vector source has a row 0"));
  EXPECT_THAT(ErrorOf("fadd v16, v40, v0"),
              HasSubstr("'v40' is not a register"));
  EXPECT_THAT(ErrorOf("add s16, s0, s0"), HasSubstr("'s16' is not a register"));
  EXPECT_THAT(ErrorOf("add s1, v0, s0"),
              HasSubstr("'v0' is not a scalar register"));
  EXPECT_THAT(ErrorOf("st32 s1, s0, s0"),
              HasSubstr("'s1' is not a vector register"));
  EXPECT_THAT(ErrorOf("fadd v16, s1.0, v0"),
              HasSubstr("'s1.0': only a vector source has a row 0"));
  EXPECT_THAT(ErrorOf("slli s1, s1, 32"), HasSubstr("32 is outside 0..31"));
  EXPECT_THAT(ErrorOf("beq s1, s1, 2048"),
              HasSubstr("2048 is outside 0..2047"));
  EXPECT_THAT(ErrorOf("beq s1, s1, there"),
              HasSubstr("'there' is not a number"));
  EXPECT_THAT(ErrorOf("li s1, 4294967296"),
              HasSubstr("'4294967296' is not a number"));
  EXPECT_THAT(ErrorOf("li s1, 65536*65536"),
              HasSubstr("does not fit in 32 bits"));
  EXPECT_THAT(ErrorOf("li s1, -2147483649"),
              HasSubstr("-2147483649 is outside"));
  EXPECT_THAT(ErrorOf("li s1, (1"), HasSubstr("')' is missing"));
  EXPECT_THAT(ErrorOf("li s1, " + std::string(100000, '(')),
              HasSubstr("too many parentheses"));
  EXPECT_THAT(ErrorOf("li s1, 1/(2-2)"), HasSubstr("division by 0"));
  EXPECT_EQ(ErrorOf("halt\nli s1, 1 % (2-2)"), "p.vs:2: division by 0");
  EXPECT_THAT(ErrorOf("li s1, 1 2"), HasSubstr("unexpected '2'"));
  EXPECT_EQ(ErrorOf("\nli s1, 3 % * 2"), "p.vs:2: '* 2' is not a number");
  EXPECT_EQ(ErrorOf("li s1, min(1)"), "p.vs:1: ',' is missing");
  EXPECT_EQ(ErrorOf("li s1, max(1, 2, 3)"), "p.vs:1: ')' is missing");
  EXPECT_EQ(ErrorOf("li s1, min"), "p.vs:1: 'min' is not a number");
  EXPECT_EQ(ErrorOf("li s1, max(65536*65536, 1)"),
            "p.vs:1: a value does not fit in 32 bits");
  std::string nested = "li s1, ";
  for (int i = 0; i < 51; ++i) nested += "min(1, ";
  EXPECT_EQ(ErrorOf(nested), "p.vs:1: too many parentheses");
  EXPECT_THAT(ErrorOf("fadd (v16, v1, v2"),
              HasSubstr("fadd wants 3 operands, not 1"));
  EXPECT_THAT(ErrorOf("li s1, "), HasSubstr("p.vs:1: "));
  EXPECT_THAT(ErrorOf("a: halt\na: halt"),
              HasSubstr("p.vs:2: 'a' is defined already"));
  EXPECT_THAT(ErrorOf("v3: halt"), HasSubstr("'v3' cannot be a name"));
  EXPECT_THAT(ErrorOf(".arg 3x"), HasSubstr("'3x' cannot be a name"));
  EXPECT_THAT(ErrorOf(".reg x y"), HasSubstr("'y' is not a register"));
  EXPECT_THAT(ErrorOf(".data 3"), HasSubstr("unknown directive '.data'"));
  EXPECT_THAT(ErrorOf(".word x"),
              HasSubstr(".word wants one hexadecimal number"));
  std::string many;
  for (int i = 0; i < 13; ++i) many += ".arg a" + std::to_string(i) + "\n";
  EXPECT_THAT(ErrorOf(many), HasSubstr("p.vs:13: more than 12 arguments"));
  many.clear();
  for (int i = 0; i < kImemWords + 1; ++i) many += "halt\n";
  EXPECT_THAT(ErrorOf(many),
              HasSubstr("p.vs:2049: the instruction memory ends at 2048"));
}

// Any 64 bits, legal or not, one at a time and as a program with labels.
TEST(VpuAssembler, RoundTripOfRandomWords) {
  std::mt19937_64 random(4);
  int legal = 0;
  std::set<std::string_view> seen;
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> words;
    const int base = static_cast<int>(random() % 500);
    while (words.size() < 50) {
      uint64_t word = random();
      const OpInfo& op = kOps[random() % kOps.size()];
      word = (word & ~uint64_t{0xFF}) | static_cast<uint64_t>(op.op);
      if (random() % 16 != 0) word &= ~op.unused;
      if (random() % 2) {  // registers and modes that often fit
        Instr x = Instr::Decode(word);
        x.d = op.d == Kind::kVdst || op.d == Kind::kVfrom ? random() % 40
              : op.d == Kind::kNone                       ? 0
                                                          : random() % 16;
        const bool scalars = op.cls <= Class::kControl;
        for (auto [kind, r, m] :
             {std::tuple(op.a, &x.a, &x.am), std::tuple(op.b, &x.b, &x.bm)}) {
          if (kind == Kind::kNone) continue;
          *m = kind == Kind::kSsrc ? (scalars ? 0 : 2) : random() % 3;
          *r = *m == 2 || scalars ? random() % 16 : random() % 40;
        }
        if (op.c != Kind::kNone) {
          x.cm = random() % 3;
          x.c = x.cm == 2 ? random() % 16 : random() % 40;
          x.imm = x.c | x.cm << 6;
        }
        if (op.imm == ImmKind::kShift || op.imm == ImmKind::kTarget)
          x.imm = random() % (op.imm == ImmKind::kShift ? 40 : 700);
        if (op.imm == ImmKind::kLimit) x.imm = random() % 70;
        word = x.Encode();
      }
      words.push_back(word);
    }
    for (uint64_t word : words) {
      const std::string text = Disassemble(word);
      EXPECT_EQ(MustAssemble(text).words, std::vector<uint64_t>{word}) << text;
      if (text[0] == '.') continue;
      ++legal;
      EXPECT_EQ(WhyIllegal(word), "") << text;
      seen.insert(FindOp(static_cast<uint8_t>(word & 0xFF))->name);
    }
    const std::string text = DisassembleCode(words, base);
    ASSERT_EQ(MustAssemble(text, {}, base).words, words) << text;
  }
  EXPECT_GT(legal, 20000);
  EXPECT_EQ(seen.size(), kOps.size());
}

TEST(VpuCode, GoesThroughAProgramFile) {
  const Code code = MustAssemble("li s1, 3\nhalt\n");
  const DataSegment segment = Segment("copy", 0x400, code.words);
  EXPECT_EQ(segment.data.size(), 16u);
  EXPECT_EQ(segment.data[0], 0x01);
  EXPECT_EQ(segment.data[4], 3);
  EXPECT_EQ(WordsOf(segment), code.words);
  Program p;
  p.preset = "mini";
  p.prog_addr = 0x800;
  p.hbm_bytes = 4096;
  p.segments = {segment};
  CodeLoad in = LoadCode(0x400, 0x2000, 2, 7);
  in.load.header.post_mask = in.vload.header.wait_mask = 1;
  p.descriptors = {in.load.Encode(), in.vload.Encode(), isa::Halt{}.Encode()};
  const std::string text = DisassembleProgram(p);
  EXPECT_THAT(text,
              HasSubstr("load hbm_addr=0x400 ub_addr=0x2000 len=16 n1=1 "
                        "n2=1 post=0  # 0\n"
                        "vload ub_addr=0x2000 addr=7 count=2 wait=0  # 1\n"));
  EXPECT_THAT(text, HasSubstr("vector code: copy"));
  EXPECT_THAT(text, HasSubstr("#         li s1, 3\n#         halt\n"));
}

}  // namespace
}  // namespace systole::vpu
