// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The data, without the page: what is asked of them, and whether they add up. Runs in node too (tests/profile).
"use strict";

// A program's spans become arrays of starts and causes, with sums of each cause at `bins` + 1 evenly spaced cycles, so that any
// stretch is summed quickly.
function prepare(program, causes) {
  const bins = Math.max(1, Math.min(8192, program.cycles));
  program.bin = program.cycles / bins;
  program.units = program.spans.map((flat) => {
    const count = flat.length / 2;
    const starts = new Float64Array(count + 1), kinds = new Uint8Array(count);
    const sums = new Float64Array((bins + 1) * causes);
    const running = new Float64Array(causes);
    let at = 0, bin = 1;
    for (let i = 0; i < count; ++i) {
      const length = flat[2 * i], cause = flat[2 * i + 1];
      starts[i] = at;
      kinds[i] = cause;
      for (; bin <= bins && bin * program.bin <= at + length; ++bin) {
        sums.set(running, bin * causes);
        sums[bin * causes + cause] += bin * program.bin - at;
      }
      running[cause] += length;
      at += length;
    }
    for (; bin <= bins; ++bin) sums.set(running, bin * causes);
    starts[count] = at;
    return { starts, kinds, sums, bins };
  });
  program.open = Array.from({ length: program.banks }, () => []);  // pages of a bank: [row, first, last]
  for (let i = 0; i < program.pages.length; i += 4) program.open[program.pages[i]].push(program.pages.slice(i + 1, i + 4));
  program.buffer_top = Math.max(0, ...program.buffers.map((b) => b.address + b.bytes)) || program.buffer_bytes;
  const d = program.descriptors;
  program.posts = new Map();  // by poster: descriptors that waited for it
  d.waits.forEach((waits, i) => (waits || []).forEach(([flag, poster]) => {
    if (!program.posts.has(poster)) program.posts.set(poster, []);
    program.posts.get(poster).push([flag, i]);
  }));
  program.rows = new Map();  // "queue/row": descriptors in order
  d.queue.forEach((queue, i) => {
    if (d.row[i] < 0) return;
    const key = queue + "/" + d.row[i];
    if (!program.rows.has(key)) program.rows.set(key, []);
    program.rows.get(key).push(i);
  });
  return program;
}

// The last index whose value is at most x; -1: none.
function lastAtMost(values, x, count = values.length) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// Cycles of each cause of a unit from cycle a to before b.
function causesBetween(program, unit, a, b, causes) {
  const { starts, kinds, sums, bins } = program.units[unit];
  const out = new Float64Array(causes);
  const add = (from, to) => {
    for (let i = Math.max(0, lastAtMost(starts, from, kinds.length)); i < kinds.length && starts[i] < to; ++i) {
      const cycles = Math.min(starts[i + 1], to) - Math.max(starts[i], from);
      if (cycles > 0) out[kinds[i]] += cycles;
    }
  };
  const first = Math.ceil(a / program.bin), last = Math.min(bins, Math.floor(b / program.bin));
  if (last <= first) {
    add(a, b);
    return out;
  }
  for (let c = 0; c < causes; ++c) out[c] = sums[last * causes + c] - sums[first * causes + c];
  add(a, first * program.bin);
  add(last * program.bin, b);
  return out;
}

// Of several cores: they have one axis, which the rounds divide, and what chips sent is what their periods have.
function problemsOfCores(data) {
  const found = [], { first, cycles } = data.rounds, all = data.programs[0].cycles;
  data.programs.forEach((program, c) => { if (program.cycles !== all) found.push(`core ${c}: ${program.cycles} cycles, core 0 has ${all}`); });
  let at = 0;
  first.forEach((begin, r) => {
    if (begin !== at) found.push(`round ${r} begins in cycle ${begin}, the one before ends in ${at}`);
    at = begin + cycles[r];
  });
  if (at !== all) found.push(`the rounds have ${at} of ${all} cycles`);
  for (const { chip, link, bytes, sent } of data.links.traffic) {
    const sum = bytes.reduce((a, b) => a + b, 0);
    if (sum !== sent) found.push(`chip ${chip}, link ${link}: its periods have ${sum} of ${sent} bytes`);
  }
  const explained = data.findings.reduce((a, f) => a + f.cycles, 0);
  if (explained !== all * data.programs.length) found.push(`what all cores were spent on adds up to ${explained} of ${all * data.programs.length} cycles`);
  return found;
}

// What does not add up, in words; nothing is well.
function problems(data) {
  const found = data.cores ? problemsOfCores(data) : [];
  data.programs.forEach((program, p) => {
    data.units.forEach((unit, u) => {
      const sums = new Array(data.causes.length).fill(0);
      for (let i = 0; i < program.spans[u].length; i += 2) sums[program.spans[u][i + 1]] += program.spans[u][i];
      const all = sums.reduce((a, b) => a + b, 0);
      const told = program.totals[u].reduce((a, b) => a + b, 0);
      if (all !== program.cycles || told !== program.cycles) {
        found.push(`program ${p}, ${unit}: causes add up to ${all} (${told}) of ${program.cycles} cycles`);
      } else if (program.resolution[u] === 1 && sums.some((s, c) => s !== program.totals[u][c])) {
        found.push(`program ${p}, ${unit}: spans and totals of a cause differ`);
      }
    });
    const d = program.descriptors;
    d.queue.forEach((queue, i) => {
      if (d.row[i] < 0) return;
      if (!(d.head[i] <= d.start[i] && d.start[i] < d.end[i] && d.end[i] < program.cycles)) found.push(`descriptor ${i}: head, start and end are not in order`);
      for (const [flag, poster, posted] of d.waits[i] || []) {
        if (d.end[poster] !== posted || posted > d.start[i]) found.push(`descriptor ${i}: flag ${flag} was not posted by ${poster} before the start`);
      }
    });
    const explained = program.findings.reduce((a, f) => a + f.cycles, 0);
    if (explained !== program.cycles) found.push(`program ${p}: what it was spent on adds up to ${explained} of ${program.cycles} cycles`);
  });
  return found;
}

// Descriptors whose number, layer or text has all the words.
function searchIn(program, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const d = program.descriptors;
  const found = [];
  if (words.length === 0) return found;
  d.text.forEach((line, i) => {
    const layer = program.layers[d.layer[i]];
    const all = `#${i} ${layer ? layer.name : ""} ${line}`.toLowerCase();
    if (d.row[i] >= 0 && words.every((w) => (/^\d+$/.test(w) ? i === +w : all.includes(w)))) found.push(i);
  });
  return found;
}

// Cycles that a layer takes at least, as it was compiled: vectors of the array, beats of its weights and of its loads and stores,
// cycles in which the vector unit works.
function ceilingsOf(layer) {
  return { array: layer.vectors, weights: layer.weights, activations: layer.activations, "vector unit": layer.vector };
}

const WORKING = new Set(["working", "read", "write", "read and write", "transposing"]);

// From cycle a to before b: of each unit the share of cycles at work, the largest cause of the others and its last descriptor (-1: none),
// and what is kept in the unified buffer.
function activityBetween(data, program, a, b) {
  const d = program.descriptors;
  const units = data.units.map((_, u) => {
    const counts = causesBetween(program, u, a, b, data.causes.length);
    let at_work = 0, cause = "", most = 0;
    counts.forEach((cycles, c) => {
      if (WORKING.has(data.causes[c])) at_work += cycles;
      else if (cycles > most) [most, cause] = [cycles, data.causes[c]];
    });
    return { share: b > a ? at_work / (b - a) : 0, cause, descriptor: -1 };
  });
  d.queue.forEach((queue, i) => {
    const u = units[queue];
    if (d.row[i] < 0 || d.start[i] >= b || d.end[i] < a) return;
    if (u.descriptor < 0 || d.start[i] > d.start[u.descriptor]) u.descriptor = i;
  });
  const buffers = program.buffers.filter((k) => k.first < b && a <= k.last);
  return { units, buffers, used: Math.min(program.buffer_bytes, buffers.reduce((sum, k) => sum + k.bytes, 0)) };
}

// What records the waveform of a layer of a program, or of a descriptor's stretch from the head of its queue to its end.
// Programs that were joined have some of the layers each, and their cycles are counted from where they start.
const runOf = (program, layer) => lastAtMost(program.starts, program.layers[layer].first, program.starts.length);
function traceCommand(data, program, file, layer, what) {
  const run = program.starts ? runOf(program, layer) : data.programs.indexOf(program);
  const core = data.cores ? ` --trace-core ${data.programs.indexOf(program)}` : "";
  return `${data.command} --trace ${file}.fst${core}${run > 0 ? ` --trace-run ${run}` : ""}${what && ` ${what}`}`;
}
// Of each core: cycles in collectives alone, without a program and all others (kernels); those that wait for other cores; all in
// collectives (under_way), along with kernels or not.
function coreTimes(data) {
  const none = data.causes.indexOf("no program"), flag = data.causes.indexOf("flag of another core");
  return data.programs.map(({ cycles, findings, totals }, c) => {
    const idle = totals[0][none], { cycles: under_way, alone } = data.cores[c].exchanges;
    const waits = findings.reduce((all, f) => all + (f.root_cause === flag ? f.cycles : 0), 0);
    return { kernels: cycles - idle - alone, collectives: alone, idle, waits, under_way };
  });
}

// Cycles of each layer on each core, by name: {name, op, shape, cycles: [by core]}, in the order of the first core that has it.
function layersByCore(data) {
  const rows = new Map();
  data.programs.forEach((program, c) => program.layers.forEach((layer) => {
    const key = JSON.stringify([layer.name, layer.op, layer.shape]);
    if (!rows.has(key)) rows.set(key, { name: layer.name, op: layer.op, shape: layer.shape, collective: layer.collective, first: layer.first, last: layer.last, cycles: data.programs.map(() => 0) });
    rows.get(key).cycles[c] += layer.cycles;
  }));
  return [...rows.values()];
}

const AROUND = 32;  // cycles
const commandFor = (data, program, layer) => {
  const own = program.layers.map((_, l) => l).filter((l) => !program.starts || runOf(program, l) === runOf(program, layer));
  return traceCommand(data, program, `layer${layer}`, layer, program.starts && own.length === 1 ? "" : `--trace-layer ${own.indexOf(layer)}`);
};
const commandOf = (data, program, i) => {
  const d = program.descriptors, layer = d.layer[i], run = program.starts ? runOf(program, layer) : 0;
  const first = program.starts ? program.starts[run] : 0;
  const last = program.starts && run + 1 < program.starts.length ? program.starts[run + 1] : program.cycles;
  const from = Math.max(first, d.head[i] - AROUND), to = Math.min(last, d.end[i] + 1 + AROUND);
  return traceCommand(data, program, `descriptor${i}`, layer, `--trace-window ${from - first}:${to - first}`);
};

const thousands = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (a, b) => (b > 0 ? (100 * a / b).toFixed(1) : "0.0") + " %";

if (typeof module !== "undefined") module.exports = { prepare, coreTimes, layersByCore, activityBetween, causesBetween, problems, searchIn, ceilingsOf, lastAtMost, commandFor, commandOf };
