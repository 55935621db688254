# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""The traces of systole profile, and waveforms, read by what they are for: XProf's own conversion, Perfetto's schema, Surfer's reader."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pywellen
from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from xprof.convert import raw_to_tool_data

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def rows(table):
    """A table of XProf as a dictionary a row."""
    names = [column["id"] for column in table["cols"]]
    return [dict(zip(names, (cell["v"] for cell in row["c"]))) for row in table["rows"]]


class Profiled(unittest.TestCase):
    WORDS = []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        run = pathlib.Path(cls.folder.name) / "plugins/profile/run"  # where TensorBoard looks
        run.mkdir(parents=True)
        cls.xspace, cls.perfetto, data = run / "host.xplane.pb", run / "run.pftrace", run / "data.json"
        subprocess.run([BUILD / "bin/systole", "profile", *cls.WORDS, "--quiet", "-o", run / "page.html", "--xspace", cls.xspace, "--perfetto", cls.perfetto,
                        "--json", data], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        cls.data = json.loads(data.read_text())
        cls.program = cls.data["programs"][0]

    def tool(self, name):
        return json.loads(raw_to_tool_data.xspace_to_tool_data([str(self.xspace)], name, {})[0])

    def perfetto_events(self):
        """The events and tracks by Perfetto's schema, which knows every field."""
        trace = perfetto_trace_pb2.Trace.FromString(self.perfetto.read_bytes())
        events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
        tracks = {packet.track_descriptor.uuid: packet.track_descriptor for packet in trace.packet if packet.HasField("track_descriptor")}
        self.assertLessEqual({event.track_uuid for event in events}, set(tracks))
        messages = [trace, *trace.packet, *events]
        self.assertEqual(sum(len(unknown_fields.UnknownFieldSet(message)) for message in messages), 0)
        kinds = perfetto_trace_pb2.TrackEvent.Type
        begins = [event for event in events if event.type == kinds.TYPE_SLICE_BEGIN]
        self.assertEqual(len(begins), sum(event.type == kinds.TYPE_SLICE_END for event in events))
        return events, tracks, begins


class CoresTest(Profiled):
    """Four cores on two chips."""

    WORDS = ["tests/data/stablehlo/sharded_mlp.mlirbc", "--devices", "4", "--preset", "minichip"]

    def test_trace_viewer(self):
        everything = self.tool("trace_viewer")["traceEvents"]
        cores = {event["pid"]: event["args"]["name"] for event in everything if event.get("name") == "process_name"}
        self.assertEqual(sorted(cores.values()), [f"/device:TPU:{core}" for core in range(4)])
        lines = {(event["pid"], event["tid"]): event["args"]["name"] for event in everything if event.get("name") == "thread_name"}
        events = [event for event in everything if event.get("ph") == "X"]
        for process, name in cores.items():
            units = sum(lines[process, event["tid"]].rstrip(" 0123456789") in self.data["units"] for event in events if event["pid"] == process)
            self.assertEqual(units, sum(row >= 0 for row in self.data["programs"][int(name[-1])]["descriptors"]["row"]), name)

    def test_operations(self):
        found = {row["hlo_op_name"]: row for row in rows(self.tool("hlo_stats"))}
        self.assertEqual(set(found), {layer["name"] for layer in self.program["layers"]})
        (total,) = [row for name, row in found.items() if name.startswith("spmd.all_reduce")]
        self.assertEqual(total["occurrences"], 4)

    def test_perfetto(self):
        events, tracks, begins = self.perfetto_events()
        cores = {uuid: track.name for uuid, track in tracks.items() if ", core " in track.name}
        self.assertEqual(len(cores), 4)
        for uuid, name in cores.items():
            layers = {event.name for event in begins if tracks[event.track_uuid].parent_uuid == uuid and tracks[event.track_uuid].name == "collectives"}
            self.assertTrue(any("all_reduce" in layer for layer in layers), name)
        counters = {uuid for uuid, track in tracks.items() if tracks.get(track.parent_uuid) and tracks[track.parent_uuid].name.startswith("links of chip")}
        self.assertEqual(len(counters), 4)
        self.assertTrue(all(tracks[uuid].HasField("counter") for uuid in counters))
        self.assertEqual({event.track_uuid for event in events if event.counter_value > 0} & counters, counters)


class ViewersTest(Profiled):
    def test_trace_viewer(self):
        """All descriptors and layers, with their times in microseconds."""
        everything = self.tool("trace_viewer")["traceEvents"]
        lines = {event["tid"]: event["args"]["name"] for event in everything if event.get("name") == "thread_name"}
        events = [event for event in everything if event.get("ph") == "X"]
        units = sum(lines[event["tid"]].rstrip(" 0123456789") in self.data["units"] for event in events)
        self.assertEqual(units, sum(row >= 0 for row in self.program["descriptors"]["row"]))
        conv2 = next(event for event in events if event["name"] == "conv2")
        layer = self.program["layers"][1]
        self.assertAlmostEqual(conv2["dur"], (layer["last"] + 1 - layer["first"]) / 1000, places=3)

    def test_operations(self):
        """Each layer is an operation; its share of the peak is what the profile says."""
        found = {row["hlo_op_name"]: row for row in rows(self.tool("hlo_stats"))}
        self.assertEqual(set(found), {layer["name"] for layer in self.program["layers"]})
        for layer in self.program["layers"]:
            self.assertEqual(found[layer["name"]]["category"], layer["op"])
        profile = self.tool("op_profile")["byProgram"]["metrics"]
        self.assertEqual(profile["rawFlops"], sum(2 * layer["macs"] for layer in self.program["layers"]))
        self.assertGreater(profile["flops"], 0.5)
        self.assertLess(profile["flops"], 1.0)
        self.assertGreater(profile["bandwidthUtils"][0], 0.01)

    def test_roofline(self):
        table = self.tool("roofline_model")[0]
        self.assertEqual(float(table["p"]["peak_flop_rate"]), 2 * self.data["rows"] * self.data["cols"])
        self.assertEqual(table["p"]["device_type"], f"Systole {self.data['preset']}")
        self.assertLessEqual({layer["name"] for layer in self.program["layers"]}, {row["operation"] for row in rows(table)})

    def test_overview(self):
        busy = self.tool("overview_page")[0]["p"]["device_duty_cycle_percent"]
        self.assertGreater(float(busy.rstrip("%")), 90)

    def test_perfetto(self):
        _, _, begins = self.perfetto_events()
        self.assertLessEqual({layer["name"] for layer in self.program["layers"]}, {event.name for event in begins})

    def test_surfer(self):
        """All signals of the view are in the waveform, by the names that Surfer's reader gives them; formats go to the item just added."""
        folder = pathlib.Path(self.folder.name)
        (folder / "program.txt").write_text("load len=64 n1=1 n2=1 post=0\nstore hbm_addr=0x1000 len=64 n1=1 n2=1 wait=0\nhalt\n")
        for preset in ("nano", "v1", "board8", "mini", "v2", "minichip"):
            with self.subTest(preset):
                wave = folder / f"{preset}.fst"
                for words in (["asm", folder / "program.txt", "-o", folder / "program.tpu", "--preset", preset],
                              ["run", folder / "program.tpu", "--quiet", "--trace", wave]):
                    subprocess.run([BUILD / "bin/systole", *words], check=True, stdout=subprocess.DEVNULL)
                names = [variable.full_name for variable in pywellen.Waveform(str(wave)).all_vars()]
                lines = [line.split() for line in (folder / f"{preset}.view/view.sucl").read_text().splitlines()]
                self.assertEqual(lines[0], ["load_file", str(wave)])
                wanted = [words[1] for words in lines if words[0] == "variable_add"]
                self.assertGreater(len(wanted), 50)
                self.assertEqual(set(wanted) - set(names), set())
                items = 0
                for words in lines:
                    if words[0] in ("divider_add", "variable_add"):
                        items += 1
                    elif words[0] == "item_focus":
                        self.assertEqual(int("".join("0123456789abcdef"["abcdefghijklmnop".index(letter)] for letter in words[1]), 16), items - 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    args, rest = parser.parse_known_args()
    BUILD = args.build.resolve()
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # XProf tells every step there
    unittest.main(argv=[sys.argv[0], *rest], testRunner=runner)
