// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The page's own scripts on the data of a run, and on seeded faults: node data_test.js PAGE.html DATA.json
// --only-checks: that they add up, for a program without products. --cores: of several cores.
"use strict";

const assert = require("assert");
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const page = require(path.join(__dirname, "../../host/profile/page/data.js"));
const drawn = require(path.join(__dirname, "../../host/profile/page/timeline.js"));

const [html, json] = process.argv.slice(2, 4).map((name) => fs.readFileSync(name, "utf8"));
const base64 = html.match(/<script type="application\/octet-stream" id="data">([^<]*)<\/script>/)[1];
const data = JSON.parse(zlib.gunzipSync(Buffer.from(base64, "base64")));
assert.deepStrictEqual(data, JSON.parse(json), "the page holds what --json writes");
assert(!/<(script|link|img)[^>]*(src|href)=/.test(html), "the page loads nothing");
assert.deepStrictEqual(page.problems(data), []);
if (process.argv[4] === "--only-checks") process.exit(0);

// Each seeded fault is seen, if it makes something not add up.
function seed(faults) {
  for (const [name, fault] of Object.entries(faults)) {
    const wrong = JSON.parse(json);
    fault(wrong);
    assert.notStrictEqual(page.problems(wrong).length, 0, `not seen: ${name}`);
  }
  return Object.keys(faults).length;
}
if (process.argv[4] === "--cores") {
  const seeds = seed({
    "a core of another length": (d) => { ++d.programs[2].cycles; },
    "a round that begins late": (d) => { ++d.rounds.first[1]; },
    "a round that is cut short": (d) => { --d.rounds.cycles[d.rounds.cycles.length - 1]; },
    "a packet that a period lost": (d) => { const t = d.links.traffic[0]; --t.bytes[t.bytes.findIndex((n) => n > 0)]; },
    "a finding of all cores that lost a cycle": (d) => { --d.findings[0].cycles; },
    "a core's cycle of another cause": (d) => { const t = d.programs[3].totals[5]; const c = t.findIndex((n) => n > 0); --t[c]; ++t[(c + 1) % t.length]; },
  });
  data.programs.forEach((p) => page.prepare(p, data.causes.length));
  const times = page.coreTimes(data), all = data.programs[0].cycles, idle = data.causes.indexOf("no program");
  times.forEach((t, c) => {
    assert.strictEqual(t.kernels + t.collectives + t.idle, all, `core ${c}`);
    assert.strictEqual(t.idle, data.programs[c].totals[0][idle], `core ${c}: cycles without a program`);
    assert(t.collectives > 0 && t.waits > 0 && t.waits < all, `core ${c} waits for others in a collective`);
    // Cycle by cycle: what is at work, and who waits for another core.
    const p = data.programs[c], d = p.descriptors, exchanges = new Uint8Array(all), kernels = new Uint8Array(all);
    d.row.forEach((row, i) => { if (row >= 0) (p.layers[d.layer[i]].collective ? exchanges : kernels).fill(1, d.start[i], d.end[i] + 1); });
    p.spans.forEach((spans) => {
      for (let i = 0, at = 0; i < spans.length; at += spans[i], i += 2) if (data.causes[spans[i + 1]] === "flag of another core") exchanges.fill(1, at, at + spans[i]);
    });
    assert.strictEqual(t.under_way, exchanges.filter((e) => e).length, `core ${c}: cycles in collectives`);
    assert.strictEqual(t.collectives, exchanges.filter((e, cycle) => e && !kernels[cycle]).length, `core ${c}: cycles in collectives alone`);
  });
  const layers = page.layersByCore(data);
  data.programs.forEach((p, c) => assert.strictEqual(layers.reduce((sum, l) => sum + l.cycles[c], 0), p.layers.reduce((sum, l) => sum + l.cycles, 0)));
  const sums = data.programs.map((p) => p.layers.filter((l) => l.collective));
  sums.forEach((found) => assert(found.length === 1 && found[0].name.startsWith("spmd.all_reduce"), "the sum is a collective"));
  assert(/ --trace layer0.fst --trace-core 3 --trace-layer 0$/.test(page.commandFor(data, data.programs[3], 0)), page.commandFor(data, data.programs[3], 0));
  console.log(`page: ${data.programs.length} cores, ${seeds} seeded faults seen`);
  process.exit(0);
}

const copy = () => JSON.parse(json);
const seeds = seed({
  "a span that lost a cycle": (d) => { --d.programs[0].spans[2][0]; },
  "a cycle of another cause": (d) => { const t = d.programs[0].totals[2]; const c = t.findIndex((n) => n > 0); --t[c]; ++t[(c + 1) % t.length]; },
  "a total that lost a cycle": (d) => { const t = d.programs[0].totals[5]; --t[t.findIndex((n) => n > 0)]; },
  "a descriptor that ends before it starts": (d) => { const k = d.programs[0].descriptors; const i = k.row.findIndex((r) => r >= 0); k.end[i] = k.start[i]; },
  "a flag of another descriptor": (d) => { const k = d.programs[0].descriptors; const i = k.waits.findIndex((w) => w !== 0); k.waits[i][0][2] += 1; },
  "a finding that lost a cycle": (d) => { --d.programs[0].findings[0].cycles; },
});

// What the legend tells apart, an eye can: causes and the memory's clients, each with a colour of its own.
const colours = [...data.causes.map((name) => [name, drawn.COLOURS[name]]), ...drawn.CLIENT_COLOURS.map((colour, c) => [`client ${c}`, colour])];
const rgb = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
colours.forEach(([name, colour], i) => {
  assert(/^#[0-9a-f]{6}$/.test(colour), `${name} has no colour`);
  for (const [other, second] of colours.slice(0, i)) {
    assert(Math.hypot(...rgb(colour).map((v, k) => v - rgb(second)[k])) > 30, `${name} and ${other} look alike: ${colour}, ${second}`);
  }
});
// An axis has no more numbers than have room, in steps of 1, 2 or 5.
for (const [span, width, room, step] of [[30374, 312, 60, 10000], [30374, 1400, 60, 2000], [20, 312, 30, 2], [3, 312, 30, 1], [8e9, 312, 95, 5e9]]) {
  assert.strictEqual(drawn.axisStep(span, width, room), step, `${span} cycles on ${width} pixels`);
}
// Of an array that works, the layer's products fill the cells that they say.
for (const program of data.programs) {
  for (const layer of program.layers) {
    const cells = layer.vectors * data.rows * data.cols;
    assert(Math.abs(layer.filled - (layer.macs && cells ? Math.min(1, layer.macs / cells) : 1)) < 1e-9, `${layer.name}: filled ${layer.filled}`);
  }
}

// Sums of any stretch, against adding span by span.
const causes = data.causes.length;
for (const program of data.programs) {
  page.prepare(program, causes);
  for (let round = 0; round < 200; ++round) {
    const a = Math.floor((program.cycles * ((round * 7919) % 1009)) / 1009), b = Math.min(program.cycles, a + 1 + ((round * round * 31) % program.cycles));
    const unit = round % data.units.length, want = new Array(causes).fill(0);
    let at = 0;
    for (let i = 0; i < program.spans[unit].length; i += 2) {
      const length = program.spans[unit][i];
      want[program.spans[unit][i + 1]] += Math.max(0, Math.min(at + length, b) - Math.max(at, a));
      at += length;
    }
    page.causesBetween(program, unit, a, b, causes).forEach((got, c) => assert(Math.abs(got - want[c]) < 1e-3, `${data.units[unit]} from ${a} to ${b}, ${data.causes[c]}: ${got}, not ${want[c]}`));
  }
  const d = program.descriptors;
  const some = d.row.findIndex((r) => r >= 0);
  assert.deepStrictEqual(page.searchIn(program, String(some)), [some]);
  assert.strictEqual(page.searchIn(program, "matmul").length, d.text.filter((t) => t.startsWith("matmul")).length);
  assert.deepStrictEqual(page.searchIn(program, "no such words"), []);
}
// The floorplan: shares are those of the totals over the whole program, and the busiest descriptor is at work.
for (const program of data.programs) {
  const all = page.activityBetween(data, program, 0, program.cycles);
  const working = ["working", "read", "write", "read and write", "transposing"];
  all.units.forEach(({ share }, u) => {
    const told = program.totals[u].reduce((sum, n, c) => sum + (working.includes(data.causes[c]) ? n : 0), 0);
    assert(Math.abs(share - told / program.cycles) < 1e-9, `share of ${data.units[u]}`);
  });
  const d = program.descriptors, i = d.row.findIndex((r, k) => r >= 0 && d.queue[k] === 2);
  const there = page.activityBetween(data, program, d.start[i], d.start[i] + 1);
  assert(d.start[there.units[2].descriptor] <= d.start[i] && d.end[there.units[2].descriptor] >= d.start[i]);
  assert(there.used > 0 && there.used <= program.buffer_bytes);
  assert.strictEqual(page.activityBetween(data, program, program.cycles + 1, program.cycles + 2).buffers.length, 0);
}

// What records a layer, and a descriptor: of the second program too.
{
  const [program] = data.programs, other = copy().programs[0], both = { ...data, programs: [program, page.prepare(other, causes)] };
  assert.strictEqual(page.commandFor(data, program, 3), `${data.command} --trace layer3.fst --trace-layer 3`);
  assert.strictEqual(page.commandFor(both, other, 3), `${data.command} --trace layer3.fst --trace-run 1 --trace-layer 3`);
  const d = program.descriptors, last = d.row.findLastIndex((r) => r >= 0);
  for (const i of [d.row.findIndex((r) => r >= 0), last]) {
    const [, from, to] = page.commandOf(data, program, i).match(/--trace descriptor\d+\.fst --trace-window (\d+):(\d+)$/).map(Number);
    assert(from <= d.head[i] && d.end[i] < to && to <= program.cycles && to - from <= d.end[i] - d.head[i] + 100, `window ${from}:${to} of descriptor ${i}`);
  }
  assert(page.commandOf(both, other, last).includes(`--trace descriptor${last}.fst --trace-run 1 --trace-window `));
  assert(program.buffers.every((b) => b.address + b.bytes <= program.buffer_top) && program.buffer_top <= program.buffer_bytes);
}
console.log(`page: ${data.programs.length} program(s), ${data.programs[0].descriptors.text.length} descriptors, ${seeds} seeded faults seen`);
