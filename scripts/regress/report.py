# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
"""Reports of a run: HTML that needs no other file, JUnit, JSON, and coverage as lcov info."""

import json
import pathlib
import shutil
import subprocess

import jinja2
import junitparser

import coverage_data
import history

HERE = pathlib.Path(__file__).resolve().parent


def _suites(results):
    """A row a suite."""
    rows = {}
    for result in results:
        row = rows.setdefault(result["suite"], {"name": result["suite"], "kind": result["kind"], "preset": result["preset"], "jobs": 0,
                                                "cases": 0, "failed": 0, "seconds": 0.0, "cycles": 0})
        row["jobs"] += 1
        row["cases"] += result["cases"]
        row["failed"] += result["status"] != "pass"
        row["seconds"] += result["seconds"]
        row["cycles"] += sum(core["cycles"] for core in result["cores"])
    return list(rows.values())


def _speeds(results):
    """{preset: cycles a second of its jobs} and that of all."""
    cycles, seconds = {}, {}
    for result in results:
        for core in result["cores"]:
            key = core["preset"]
            cycles[key] = cycles.get(key, 0) + core["cycles"]
        presets = {core["preset"] for core in result["cores"]}
        for key in presets:
            seconds[key] = seconds.get(key, 0) + result["seconds"] / len(presets)
    speeds = {key: cycles[key] / seconds[key] for key in cycles if seconds[key] > 0}
    return speeds, sum(cycles.values()) / sum(seconds.values()) if sum(seconds.values()) > 0 else 0


def junit(results, path):
    """A test case a job."""
    report = junitparser.JUnitXml("systole regression")
    for row in _suites(results):
        suite = junitparser.TestSuite(row["name"])
        for result in results:
            if result["suite"] != row["name"]:
                continue
            case = junitparser.TestCase(result["job"], classname=f"{row['kind']}.{row['name']}", time=round(result["seconds"], 3))
            if result["status"] != "pass":
                failure = result["failure"]
                wrong = junitparser.Failure(failure["message"][:500], failure["key"])
                wrong.text = _printable(f"{result['command']}\n\n{result['output'][-20000:]}")
                case.result = [wrong]
            suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()
    report.write(str(path), pretty=True)


def _printable(text):
    """Without characters that XML cannot hold."""
    return "".join(c if c in "\n\t" or 32 <= ord(c) < 0xD800 or 0xE000 <= ord(c) < 0xFFFE or ord(c) > 0xFFFF else "?" for c in text)


def write(output, run, results, causes, merge=()):
    """run: {id, commit, dirty, first_seed, engine, workers, complete, folder}. merge: folders of earlier runs whose coverage is added.
    Returns the summary."""
    folder = pathlib.Path(run["folder"])
    functional = coverage_data.Functional()
    for result in results:
        for core in result["cores"]:
            functional.add(result["version"], core["preset"], core["hits"])
    own = functional.to_json()
    for other in merge:
        path = pathlib.Path(other) / "functional.json"
        functional.add_json(json.loads(path.read_text()))
    (folder / "functional.json").write_text(json.dumps(own) + "\n")
    (folder / "functional.info").write_text(functional.lcov())
    points = functional.points()
    bins, covered = sum(p["bins"] for p in points), sum(p["covered"] for p in points)
    holes = [f"{p['name']}: {hole}" for p in points for hole in p["holes"]]
    (folder / "holes.txt").write_text("\n".join(holes) + ("\n" if holes else ""))

    code = _code(folder, merge)
    suites = _suites(results)
    speeds, speed = _speeds(results)
    seconds = sum(row["seconds"] for row in suites)
    totals = {"jobs": len(results), "failed": sum(row["failed"] for row in suites), "cases": sum(row["cases"] for row in suites),
              "cycles": sum(row["cycles"] for row in suites), "time": f"{seconds / 60:.1f} min"}
    summary = {"id": run["id"], "commit": run["commit"], "jobs": totals["jobs"], "failed": totals["failed"], "causes": len(causes),
               "cases": totals["cases"], "functional": 100 * covered / bins, "line": code and code["line"],
               "toggle": code and code["toggle"], "speed": speed, "speeds": speeds, "cycles": history.recorded_cycles(),
               "complete": run["complete"]}
    history.write(output / "history", summary)
    rows = history.read(output / "history")

    (folder / "report.json").write_text(json.dumps(
        {**summary, "run": run, "suites": suites, "failures": causes, "holes": holes}, indent=1) + "\n")
    junit(results, folder / "junit.xml")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    page = environment.get_template("report.html.j2").render(
        run=run, totals=totals, causes=causes, suites=suites, code=code, history=rows, charts=history.charts(rows),
        functional={"points": points, "bins": bins, "percent": 100 * covered / bins, "runs": 1 + len(merge),
                    "presets": sorted(functional.counts), "other": functional.other_version})
    (folder / "report.html").write_text(page)
    return summary


def _code(folder, merge):
    """Line and toggle coverage of the run and those before it; None if nothing was counted. Writes code.info, and as HTML with
    genhtml if it is there."""
    info = folder / "code.info"
    earlier = {}
    for other in merge:
        for key, count in coverage_data.read_info(pathlib.Path(other) / "code.info").items():
            earlier[key] = earlier.get(key, 0) + count
    data = folder / "verilator"
    points = coverage_data.code(data)[0] if data.exists() else {}
    if not points and not earlier:
        return None
    info.write_text(coverage_data.code_info(points, earlier))
    units = {}
    for (source, kind, _, _), count in coverage_data.read_info(info).items():
        for name in (source.split("/")[1], "total"):
            row = units.setdefault(name, {"line": [0, 0], "toggle": [0, 0]})["line" if kind == "DA" else "toggle"]
            row[0] += count > 0
            row[1] += 1
    units = dict(sorted(units.items(), key=lambda item: (item[0] == "total", item[0])))
    shutil.rmtree(data, ignore_errors=True)  # it is in code.info
    if shutil.which("genhtml"):
        subprocess.run(["genhtml", "--quiet", "--branch-coverage", "--output-directory", str(folder / "code"), str(info)],
                       check=False, stdout=subprocess.DEVNULL)
    total = units["total"]
    return {"units": units, **{kind: 100 * total[kind][0] / max(1, total[kind][1]) for kind in ("line", "toggle")}}
