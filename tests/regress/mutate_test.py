# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Mutants in one build (scripts/regress/schema.py): what is guarded and how, and on a small cell that number 0 is the RTL as it was, that
each other number is its mutant, and that a guard which changes the RTL is noticed."""

import argparse
import dataclasses
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "regress"))
import designs  # noqa: E402
import equivalence  # noqa: E402
import mutants  # noqa: E402
import mutate  # noqa: E402
import plan  # noqa: E402
import schema  # noqa: E402
import variant  # noqa: E402

BUILD = ROOT / "build"
RUN = {"program": "small_cells_test", "models": "v_credit", "tests": "*Credit*"}
MODULE = """module m import p::*; (input logic [3:0] a, b, input logic clk, output logic [3:0] y, z);
  localparam int Size = f(3) + 1;
  function automatic int f(int x);
    return x + 1;
  endfunction
  function automatic int g(int x);
    return x - 1;
  endfunction
  for (genvar i = 0; i < 4; i++) begin : gen
    assign y[i ^ 0] = a[i] & !b;  // one bit
    sub u (.q(z[i + 1]), .d(a[0] | b[0]), .e(up[i - 1].x));
  end
  always_ff @(posedge clk) if (a == b) z <= (Size)'(a) ^ {1'b0, /* a & b
      */ b[2:0]};
endmodule
"""


INNER = """module inner (input logic clk_i, input logic rst_ni, input logic valid_i, input logic [15:0] a_i, input logic [15:0] b_i,
    output logic [15:0] y_o, output logic [15:0] spare_o);
  logic valid_q, hold;
  logic [15:0] a_q, b_q, spare_q;
  systole_prim_hold u_hold (.clk_i, .hold_o(hold));
  always_ff @(posedge clk_i) begin
    valid_q <= rst_ni && valid_i && !hold;
    if (valid_i && !hold) {a_q, b_q} <= {a_i, b_i};
    spare_q <= a_q + b_q;
  end
  assign y_o = valid_q ? a_q * b_q : '0;
  assign spare_o = spare_q;
endmodule
"""
OUTER = """module outer (input logic clk_i, input logic rst_ni, input logic [1:0] valid_i, input logic [15:0] a_i, input logic [15:0] b_i,
    output logic [15:0] y_o [2]);
  for (genvar i = 0; i < 2; i++) begin : gen_inner
    logic [15:0] spare;
    inner u_inner (.clk_i, .rst_ni, .valid_i(valid_i[i]), .a_i, .b_i, .y_o(y_o[i]), .spare_o(spare));
  end
endmodule
"""


def found(text):
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "rtl").mkdir()
        (pathlib.Path(name) / "rtl" / "m.sv").write_text(text)
        return mutants.find(pathlib.Path(name), "rtl/m.sv")


class Guards(unittest.TestCase):
    def test_constants_are_known(self):
        constant = {mutant.text for mutant in found(MODULE) if mutant.constant}
        free = {mutant.text for mutant in found(MODULE) if not mutant.constant}
        # A function of a parameter, a driver's index, an output's index, a piece of the hierarchy.
        self.assertEqual(constant, {"+ becomes - in x + 1", "^ becomes | in i ^ 0", "+ becomes - in i + 1", "- becomes + in i - 1"})
        self.assertIn("- becomes + in x - 1", free)
        self.assertIn("| becomes & in a[0] | b[0]", free)
        self.assertIn("without z <= (Size)'(a) ^ {1'b0, /* a & b */ b[2:0]};", free)

    def test_places_nest_and_lines_stay(self):
        numbered = dict(enumerate((mutant for mutant in found(MODULE) if not mutant.constant), 1))
        text = schema.guarded(MODULE.encode(), numbered)
        self.assertEqual(text.count("\n"), MODULE.count("\n"))
        for number in numbered:
            self.assertEqual(text.count(f"{schema.PACKAGE}::number == {number})"), 1, number)
        self.assertEqual(schema.guarded(MODULE.encode(), {}), MODULE)

    def test_what_is_not_negated_stays_a_bit(self):
        negated = [mutant.new for mutant in found(MODULE) if mutant.text.startswith("no !")]
        self.assertEqual(negated, ["(|(b))"])

    def test_what_only_lint_reads_is_left_alone(self):
        self.assertEqual([mutant.text for mutant in found("module m; assign unused = a | b; assign y = a + b; endmodule\n")],
                         ["+ becomes - in a + b"])

    def test_operands_stay_together(self):
        mutant, = [mutant for mutant in found("module m; assign y = a | b ^ c; endmodule\n") if "^ becomes" not in mutant.text]
        self.assertEqual(mutant.new, "((a) & (b ^ c))")

    def test_half_a_place_is_refused(self):
        numbered = {n: mutants.Mutant("rtl/m.sv", first, first + 4, "x", 1, 1, "", False, False) for n, first in ((1, 0), (2, 2))}
        with self.assertRaisesRegex(ValueError, "half"):
            schema.guarded(b"abcdefgh", numbered)


DESIGN = """module m (input logic clk_i, input logic rst_ni, input logic set_i, input logic clear_i, input logic pin_i, input logic [3:0] end_i,
    output logic busy_o, output logic late_o, output logic [3:0] sum_o);
  logic on_q, off_q, seen_q, pin;
  logic [3:0] count_q, left_q;
  systole_prim_sync u_sync (.clk_i, .d_i(pin_i), .q_o(pin));
  sub u_sub (.clk_i, .rst_ni(rst_ni && !clear_i));
  assign busy_o = count_q != '0;
  assign sum_o = clear_i ? count_q : count_q + 4'd1;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      on_q <= 1'b0;
    end else if (set_i) begin
      on_q <= 1'b1;
    end
    if (set_i) off_q <= 1'b1;
    else if (clear_i) off_q <= 1'b0;
    seen_q <= rst_ni && (set_i || (seen_q && !clear_i));
    late_o <= rst_ni && pin;
    if (set_i) left_q <= 4'(Most - 1);
    else if (left_q != '0) left_q <= left_q - 1'b1;
    count_q <= (clear_i ? '0 : count_q) + 4'(set_i);
    if (count_q == end_i) count_q <= '0;
  end
endmodule
"""


class Designs(unittest.TestCase):
    """Faults as designers make them."""

    def mutants(self, kind):
        return [mutant for mutant in found(DESIGN) if mutant.kind == kind]

    def changed(self, kind):
        """Texts of the mutants, and what each of them puts there."""
        return {mutant.text: " ".join(mutant.new.split()) for mutant in self.mutants(kind)}

    def test_either_of_two_events_wins_and_none_is_lost(self):
        swapped = self.changed("priority")
        self.assertEqual(swapped["clear_i before set_i"], "if (clear_i) begin off_q <= 1'b0; end else if (set_i) begin off_q <= 1'b1; end")
        self.assertEqual(swapped["!clear_i before set_i"], "(((set_i) || (seen_q)) && ((!clear_i)))")
        self.assertEqual(swapped["4'(set_i) is lost in a clear"], "((clear_i) ? ('0) : ((count_q) + (4'(set_i))))")
        self.assertFalse([text for text in swapped if "rst_ni" in text])  # a reset always wins

    def test_conditions_that_exclude_each_other_have_no_order(self):
        module = "module m (input logic clk_i); always_ff @(posedge clk_i) begin if (FIRST) q <= 1'b0; else if (SECOND) q <= 1'b1; end endmodule\n"
        for first, second, order in (("a", "b", True), ("a == 2'd1", "a == 2'd2", False), ("a == Idle && b", "c && a == Busy", False),
                                     ("a == 2'd1", "b == 2'd2", True), ("a == 12'h0bc", "(a >= 12'h0a0) && (a <= 12'h0a0 + 12'h1f)", True),
                                     ("a == 12'h0c0", "(a >= 12'h0a0) && (a <= 12'h0a0 + 12'h1f)", False),
                                     ("(a >= 8'd9) && (a <= 8'd12)", "(a >= 8'd13) && (a <= 8'd20)", False), ("a && !b", "b && !a", False),
                                     ("a && !b", "c && !a", False), ("!rst_ni", "b", False)):
            text = module.replace("FIRST", first).replace("SECOND", second)
            self.assertEqual(any(mutant.kind == "priority" for mutant in found(text)), order, f"{first}, {second}")

    def test_ends_of_counters_move_by_one(self):
        moved = self.changed("count")
        self.assertEqual(moved, {
            "count_q - 1 in count_q != '0": "((((count_q) - 2'sd1)) != ('0))",  # and not + 1, which is the other end
            "left_q - 1 in left_q != '0": "((((left_q) - 2'sd1)) != ('0))",
            "left_q is loaded with 4'(Most - 1) + 1": "((4'(Most - 1)) + 2'sd1)",
            "left_q is loaded with 4'(Most - 1) - 1": "((4'(Most - 1)) - 2'sd1)",
            "count_q + 1 in count_q == end_i": "((((count_q) + 2'sd1)) == (end_i))",
            "count_q - 1 in count_q == end_i": "((((count_q) - 2'sd1)) == (end_i))",
        })

    def test_what_is_cleared_lacks_a_term_or_a_register(self):
        lacking = self.changed("flush")
        self.assertEqual(lacking["without the term clear_i"], "((!rst_ni))")
        self.assertEqual(lacking["without the term !rst_ni"], "((clear_i))")
        self.assertEqual(lacking["without on_q <= 1'b0;"], ";")
        self.assertEqual(lacking["rst_ni without the term !clear_i"], "((rst_ni))")

    def test_status_bits_are_a_cycle_late(self):
        late = {mutant.text: mutant for mutant in self.mutants("late")}
        self.assertLessEqual({"busy_o falls a cycle late", "busy_o rises a cycle late", "late_o: a cycle late", "set_i: a cycle late"}, set(late))
        self.assertNotIn("sum_o falls a cycle late", late)  # no bit
        mutant = late["late_o: a cycle late"]
        self.assertEqual(mutant.beside, "logic systole_late_{number}; always_ff @(posedge clk_i) systole_late_{number} <= (rst_ni && pin); ")
        self.assertTrue(DESIGN[mutant.at:].startswith("always_ff @(posedge clk_i) begin\n    if (!rst_ni || clear_i)"))
        for text, numbered in (("7", {7: mutant}), ("0", {})):
            guarded = schema.guarded(DESIGN.encode(), numbered)
            self.assertEqual(f"logic systole_late_{text};" in guarded, bool(numbered))
            self.assertEqual(guarded.count("\n"), DESIGN.count("\n"))
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "rtl" / "m.sv"
            path.parent.mkdir()
            path.write_text(DESIGN)
            mutant.apply(pathlib.Path(name))
            self.assertIn("late_o <= systole_late_0;", path.read_text())
            self.assertIn("always_ff @(posedge clk_i) systole_late_0 <= (rst_ni && pin); always_ff @(posedge clk_i) begin", path.read_text())

    def test_pins_lose_their_synchroniser(self):
        mutant, = self.mutants("synchroniser")
        self.assertTrue(mutant.constant)  # what drives a signal is no matter of a switch
        self.assertEqual(mutant.new, "assign pin = pin_i;")

    def test_guards_of_all_kinds_have_a_place(self):
        numbered = dict(enumerate((mutant for mutant in found(DESIGN) if not mutant.constant), 1))
        text = schema.guarded(DESIGN.encode(), numbered)
        for number in numbered:
            self.assertEqual(text.count(f"{schema.PACKAGE}::number == {number})"), 1, number)

    def test_names_are_unique(self):
        for path in sorted((ROOT / "rtl").rglob("*.sv")):
            names = [mutant.name for mutant in mutants.find(ROOT, path.relative_to(ROOT).as_posix())]
            self.assertEqual(len(names), len(set(names)), path)


class Proofs(unittest.TestCase):
    unit = {"name": "credit", "top": "rtl/cells/systole_credit.sv", "parameters": [{"Credits": 5}]}

    def test_what_differs_is_not_proved_and_what_does_not_is(self):
        cell = mutants.find(ROOT, "rtl/cells/systole_credit.sv")
        left_out = next(mutant for mutant in cell if mutant.statement)
        never = next(mutant for mutant in cell if mutant.text.startswith("never"))
        text = (ROOT / never.file).read_bytes()[never.first:never.last].decode()
        twice = dataclasses.replace(never, new=f"!(!({text}))")
        with tempfile.TemporaryDirectory() as work:
            prover = equivalence.Prover(self.unit, pathlib.Path(work), mutate.copy_sources)
            self.assertFalse(prover.equivalent(left_out, 300), left_out.name)
            self.assertFalse(prover.equivalent(never, 300), never.name)
            self.assertTrue(prover.equivalent(twice, 300), twice.name)


    def test_modules_are_compared_alone(self):
        def copy(folder):
            (folder / "rtl" / "prim").mkdir(parents=True)
            for name, text in (("inner.sv", INNER), ("outer.sv", OUTER), ("systole.f", "inner.sv\nprim/systole_prim_hold.sv\n")):
                (folder / "rtl" / name).write_text(text)

        def change(old, new):
            self.assertEqual(INNER.count(old), 1)
            first = INNER.index(old)
            return mutants.Mutant("rtl/inner.sv", first, first + len(old), new, 1, 1, old, False, False)

        unit = {"name": "outer", "top": "rtl/outer.sv", "parameters": [{}]}
        expected = (
            ("if (valid_i && !hold)", "if (valid_i)", True, 2),  # each alone: what is taken without need shows nowhere
            ("? a_q * b_q :", "? a_q * a_q :", False, 2),  # the first alone, then the unit
            ("spare_q <= a_q + b_q", "spare_q <= a_q - b_q", True, 0),  # nobody looks: the unit has no such register
            ("valid_i && !hold;", "valid_i;", False, 2),
        )
        for old, new, proved, steps in expected:
            same = mock.patch.object(equivalence.Prover, "_same", autospec=True, side_effect=equivalence.Prover._same)
            with tempfile.TemporaryDirectory() as work, same as compared:
                self.assertEqual(equivalence.Prover(unit, pathlib.Path(work), copy).equivalent(change(old, new), 60), proved, new)
                self.assertEqual(compared.call_count, steps, new)

    def test_outputs_count_where_they_are_taken_and_writes_always(self):
        unit = {"name": "ram", "top": "rtl/prim/systole_prim_ram_1r1w.sv", "parameters": [{"Width": 8, "Depth": 4}]}
        taken = {"taken": {"rdata_o": [1, "re_i"]}}
        ram = mutants.find(ROOT, unit["top"])
        always = [mutant for mutant in ram if mutant.text == "always re_i"][-1]
        write = [mutant for mutant in ram if mutant.text == "always we_i[0]"][-1]
        for unit, mutant, same in ((unit, always, False), (unit | taken, always, True), (unit | taken, write, False)):
            with tempfile.TemporaryDirectory() as work:
                prover = equivalence.Prover(unit, pathlib.Path(work), mutate.copy_sources)
                self.assertEqual(prover.equivalent(mutant, 300), same, f"{mutant.name} {unit.get('taken')}")

    def test_a_unit_that_watches_itself_keeps_what_only_turned_bits_show(self):
        # The way back from the state that the enumeration has not.
        unit = {"name": "reset", "top": "rtl/host/systole_soft_reset.sv", "parameters": [{}]}
        lost = [mutant for mutant in mutants.find(ROOT, unit["top"]) if mutant.text == "without state_q <= Idle;"][-1]
        for upsets, same in ((False, True), (True, False)):
            with tempfile.TemporaryDirectory() as work:
                prover = equivalence.Prover(unit | {"upsets": upsets}, pathlib.Path(work), mutate.copy_sources)
                self.assertEqual(prover.equivalent(lost, 300), same, f"upsets {upsets}")

    def test_a_unit_that_does_not_elaborate_is_an_error(self):
        unit = {"name": "none", "top": "rtl/cells/systole_credit.sv", "sources": ["rtl/none*.sv", "rtl/lint.vlt"], "parameters": [{}]}
        mutant = mutants.find(ROOT, unit["top"])[0]
        with tempfile.TemporaryDirectory() as work, self.assertRaisesRegex(ValueError, "does not take the unit as it is"):
            equivalence.Prover(unit, pathlib.Path(work), mutate.copy_sources).equivalent(mutant, 300)


class SmallCell(unittest.TestCase):
    def setUp(self):
        self.mutants = dict(enumerate(mutants.find(ROOT, "rtl/cells/systole_credit.sv"), 1))
        folder = tempfile.TemporaryDirectory(prefix="systole_schema_")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def build(self, chosen):
        return schema.Schema(BUILD, ROOT, chosen, self.work).build(RUN)

    def test_each_number_is_its_mutant(self):
        program = self.build(self.mutants)
        mutate.base_run(program, RUN)
        alone = {}
        left_out = [number for number, mutant in self.mutants.items() if mutant.statement]
        for number in (left_out[0], left_out[-1]):
            with tempfile.TemporaryDirectory(prefix="systole_mutant_") as name:
                mutate.copy_sources(pathlib.Path(name))
                self.mutants[number].apply(pathlib.Path(name))
                built = variant.build(BUILD, RUN["program"], pathlib.Path(name), RUN["models"], schema.FLAGS)
                alone[number] = mutate.run_tests(built, RUN, 60)
        for number, mutant in self.mutants.items():
            outcome = mutate.run_tests(program, RUN, 60, number)
            self.assertNotEqual(outcome.status, "pass", mutant.name)
            if number in alone:
                self.assertEqual(mutate.what_saw(RUN, outcome), mutate.what_saw(RUN, alone[number]), mutant.name)

    def test_a_guard_that_changes_the_rtl_is_noticed(self):
        one = {1: next(mutant for mutant in self.mutants.values() if " becomes " in mutant.text)}
        real = schema.guarded
        with mock.patch.object(schema, "guarded", lambda data, numbered: real(data, numbered).replace("number == 1)", "number == 0)")):
            program = self.build(one)
        with self.assertRaisesRegex(plan.PlanError, "by the RTL or by the guards"):
            mutate.base_run(program, RUN)

    def test_what_verilator_refuses_is_left_out(self):
        good = next(mutant for mutant in self.mutants.values() if mutant.statement)
        bad = mutants.Mutant(good.file, good.first, good.last, "no_such_name = 1;", good.line, 1, "bad", True, False)
        other = next(mutant for mutant in self.mutants.values() if mutant.line > good.line + 1)
        built = schema.Schema(BUILD, ROOT, {1: bad, 2: other}, self.work)
        program = built.build(RUN)
        self.assertEqual(list(built.refused), [1])
        self.assertNotEqual(mutate.run_tests(program, RUN, 60, 2).status, "pass")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build
    unittest.main(argv=[sys.argv[0], *rest])
