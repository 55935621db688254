// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The timeline on a canvas: a row a line of bars or strip of causes, all with the same axis in cycles.
"use strict";

const COLOURS = {
  "working": "#2f8f5b", "read": "#27b3a7", "write": "#5b7fd1", "read and write": "#1d6b8f",
  "starts and ends of descriptors": "#b9c4d0", "transposing": "#7fbf9a",
  "no weights": "#d1495b", "array not free for the next tile": "#e07a5f", "sums on their way": "#c77dba",
  "unified buffer port": "#a0682c", "accumulator port": "#7a4f9e", "weight FIFO full": "#cfe0b0",
  "memory busy": "#8c2f39", "memory latency": "#e8a33d", "refresh": "#7d6b00", "opening rows": "#d9c24a",
  "flag of load": "#f2b7a0", "flag of weight loader": "#eda6c4", "flag of array": "#9fc3ea", "flag of vector unit": "#c3aee6",
  "flag of store": "#f3dc9b", "flag of send": "#8fd9c4", "flag of another core": "#ff5d3b", "network busy": "#5b1f8a", "dispatch behind a full queue": "#6f7c8b", "fetch of descriptors": "#4d5a68",
  "no work left": "#eef1f4", "no program": "#fbf3c8", "no request": "#d5e3d8",
};
const BAND_COLOURS = ["#3f72af", "#5a9367", "#b5793c", "#8a5fa3", "#b04a5a", "#3d8b97", "#7b7f2f", "#66758a"];
const CLIENTS = ["fetch", "weights", "loads", "stores"], CLIENT_COLOURS = ["#15202b", "#b5179e", "#2a4fd6", "#c75b00"];
const COLLECTIVE_COLOUR = "#c2410c";
const GUTTER = 128, AXIS = 22;

// 1, 2 or 5 times a power of ten: cycles between the numbers of an axis of so many, each of which has room.
function axisStep(span, width, room) {
  const least = Math.max(1, span * room / Math.max(width, 1)), ten = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= least);
}

const layerColour = (layer) => (layer < 0 ? "#8a94a0" : BAND_COLOURS[layer % BAND_COLOURS.length]);

class Timeline {
  constructor(canvas, tip, data) {
    Object.assign(this, { canvas, tip, data, program: null, from: 0, to: 1, selected: -1, found: new Set() });
    this.onSelect = this.onCore = () => {};
    canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    canvas.addEventListener("pointerdown", (e) => this.press(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.release(e));
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  // Another core of the same run has the same axis: the view stays.
  show(program) {
    const again = this.program !== null && Boolean(this.data.cores);
    this.program = program;
    this.selected = -1;
    this.rows = this.layout();
    if (again) this.draw(); else this.fit();
  }

  // Layers side by side that overlap; how many there are. Collectives have a lane of their own, -1.
  lanesOf(program) {
    const lanes = [];
    program.layers.forEach((layer) => {
      if (layer.last === 0) return;
      if (layer.collective) { layer.lane = -1; return; }
      let lane = lanes.findIndex((end) => end < layer.first);
      if (lane < 0) lane = lanes.push(0) - 1;
      lanes[lane] = layer.last;
      layer.lane = lane;
    });
    return lanes.length;
  }

  // Of several cores: layers and causes of each, and the links, chip by chip.
  layoutCores(add, skip) {
    const { data } = this;
    data.programs.forEach((program, core) => {
      this.lanesOf(program);
      const { chip } = data.cores[core];
      if (core === 0 || data.cores[core - 1].chip !== chip) skip(4);
      add(15, { kind: "layers", of: program, core, lane: 0, label: `core ${core}`, note: core === 0 || data.cores[core - 1].chip !== chip ? `chip ${chip}` : "" }, 1);
      if (program.layers.some((l) => l.collective)) add(13, { kind: "layers", of: program, core, lane: -1, label: "collectives", soft: true, fine: true }, 1);
      for (const unit of ["array", "vector unit", "send"].map((name) => data.units.indexOf(name)).filter((u) => u >= 0))
        add(9, { kind: "causes", of: program, core, unit, label: data.units[unit], soft: true, fine: true }, 1);
      skip(3);
      if (core + 1 < data.cores.length && data.cores[core + 1].chip === chip) return;
      data.links.traffic.filter((t) => t.chip === chip).forEach((t) => add(13, { kind: "link", traffic: t, label: `  link ${t.link}`, soft: true }, 1));
    });
    skip(12);
  }

  // Rows from the top: {y, height, label, kind, ...}; `of`: of another program than the one that is shown.
  layout() {
    const p = this.program, rows = [];
    let y = AXIS;
    const add = (height, row, gap = 2) => { rows.push({ y, height, ...row }); y += height + gap; };
    if (this.data.cores) this.layoutCores(add, (height) => { y += height; });
    const core = this.data.cores ? `core ${this.data.programs.indexOf(p)}: layers` : "layers";
    [...Array(Math.min(3, this.lanesOf(p))).keys()].forEach((lane) => add(18, { kind: "layers", lane, label: lane === 0 ? core : "" }));
    if (p.layers.some((l) => l.collective)) add(18, { kind: "layers", lane: -1, label: "  collectives", soft: true });
    this.data.units.forEach((unit, u) => {
      y += 5;
      const count = Math.min(4, [...p.rows.keys()].filter((k) => k.startsWith(u + "/")).length);
      for (let row = 0; row < count; ++row) add(13, { kind: "bars", unit: u, row, label: row === 0 ? unit : "" }, 1);
      add(18, { kind: "causes", unit: u, label: count === 0 ? unit : "", soft: count > 0 });
    });
    y += 5;
    add(40, { kind: "traffic", label: "memory, beats" });
    if (this.program.pages.length > 0) add(3 * this.program.banks, { kind: "banks", label: "HBM banks" });
    add(70, { kind: "buffers", label: "unified buffer", note: `0 to ${thousands(p.buffer_top)}` });
    this.height = y + 4;
    return rows;
  }

  fit() { this.zoomTo(0, this.program.cycles); }
  zoomTo(from, to) {
    const all = this.program.cycles, width = Math.min(all, Math.max(20, to - from));
    this.from = Math.max(0, Math.min(all - width, from));
    this.to = this.from + width;
    this.draw();
  }
  zoom(factor, centre = (this.from + this.to) / 2) { this.zoomTo(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor); }
  pan(part) { const by = (this.to - this.from) * part; this.zoomTo(this.from + by, this.to + by); }
  x(cycle) { return GUTTER + (cycle - this.from) * this.scale; }
  cycle(x) { return this.from + (x - GUTTER) / this.scale; }
  reveal(i) {
    const d = this.program.descriptors, length = Math.max(d.end[i] - d.head[i], 40);
    if (d.end[i] < this.from || d.start[i] > this.to || length * this.scale < 12) this.zoomTo(d.head[i] - 2 * length, d.end[i] + 2 * length);
  }
  select(i) { this.selected = i; if (i >= 0) this.reveal(i); this.draw(); this.onSelect(i); }

  draw() {
    if (!this.program) return;
    const width = this.canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = this.height + "px";
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.width = width;
    this.scale = (width - GUTTER) / (this.to - this.from);
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = "11px system-ui, sans-serif";
    g.textBaseline = "middle";
    this.axis(g);
    for (const row of this.rows) {
      g.fillStyle = "#f4f6f9";
      g.fillRect(GUTTER, row.y, width - GUTTER, row.height);
      g.fillStyle = row.soft ? "#5c6878" : "#1c2430";
      g.font = `${row.fine ? 9 : 11}px system-ui, sans-serif`;
      g.fillText(row.soft && !row.label ? "  causes" : row.fine ? `    ${row.label}` : row.label, 8, row.y + row.height / 2);
      g.font = "11px system-ui, sans-serif";
      g.fillStyle = "#5c6878";
      if (row.note) g.fillText(row.note, row.of ? 80 : 8, row.y + row.height / 2 + (row.of ? 0 : 14));
      g.save();
      g.beginPath();
      g.rect(GUTTER, row.y, width - GUTTER, row.height);
      g.clip();
      this[row.kind](g, row);
      g.restore();
    }
    this.arrows(g);
  }

  axis(g) {
    const span = this.to - this.from, by = axisStep(span, this.width - GUTTER, g.measureText(thousands(this.to)).width + 14);
    g.fillStyle = "#5c6878";
    g.fillText("cycle", 8, AXIS / 2);
    for (let c = Math.ceil(this.from / by) * by; c <= this.to; c += by) {
      g.fillRect(this.x(c), AXIS - 5, 1, this.height);
      g.fillStyle = "#5c6878";
      const number = thousands(c), left = this.x(c) + 3;
      if (left + g.measureText(number).width <= this.width) g.fillText(number, left, AXIS / 2);
      g.fillStyle = "#d6dce4";
    }
  }

  box(g, x0, x1, row, text, colour, inset = 0) {
    const left = Math.max(x0, GUTTER), width = Math.max(x1 - left, 1);
    g.fillStyle = colour;
    g.fillRect(left, row.y + inset, width, row.height - 2 * inset);
    if (width > 26 && text) {
      g.save();
      g.beginPath();
      g.rect(left, row.y, width - 2, row.height);
      g.clip();
      g.fillStyle = "#fff";
      g.fillText(text, left + 3, row.y + row.height / 2 + 0.5);
      g.restore();
    }
  }

  layers(g, row) {
    (row.of || this.program).layers.forEach((layer, l) => {
      if (layer.last && layer.lane === row.lane && layer.last >= this.from && layer.first <= this.to) {
        this.box(g, this.x(layer.first), this.x(layer.last + 1), row, layer.name, layer.collective ? COLLECTIVE_COLOUR : layerColour(l));
      }
    });
  }

  // Bars narrower than a pixel share it.
  bars(g, row) {
    const list = this.program.rows.get(row.unit + "/" + row.row), d = this.program.descriptors;
    let low = 0, high = list.length, drawn = -1;
    while (low < high) { const m = (low + high) >> 1; if (d.end[list[m]] < this.from) low = m + 1; else high = m; }
    for (; low < list.length && d.head[list[low]] <= this.to; ++low) {
      const i = list[low], x0 = this.x(d.start[i]), x1 = this.x(d.end[i] + 1);
      const marked = i === this.selected || this.found.has(i);
      if (x1 < drawn && !marked) continue;
      const head = this.x(Math.max(d.head[i], low > 0 ? d.end[list[low - 1]] + 1 : 0));
      if (x0 - head > 2) this.box(g, head, x0, row, "", "#d6dce4", 5);
      this.box(g, x0, Math.max(x1 - (x1 - x0 > 4 ? 1 : 0), x0 + 1), row, x1 - x0 > 26 ? this.nameOf(i) : "", layerColour(d.layer[i]));
      if (marked) {
        g.strokeStyle = i === this.selected ? "#000" : "#e0007a";
        g.lineWidth = 2;
        g.strokeRect(x0, row.y + 1, Math.max(x1 - x0, 3), row.height - 2);
      }
      drawn = Math.floor(x1) + (x1 - x0 < 1 ? 1 : 0);
    }
  }
  nameOf(i) {
    const d = this.program.descriptors, layer = this.program.layers[d.layer[i]];
    return (layer ? layer.name + " " : "") + d.text[i].split(" ", 1)[0];
  }

  // A column a pixel: its causes by their share of the cycles.
  causes(g, row) {
    const p = row.of || this.program, names = this.data.causes, { starts, kinds } = p.units[row.unit];
    if (this.scale >= 1) {
      for (let i = Math.max(0, lastAtMost(starts, this.from, kinds.length)); i < kinds.length && starts[i] < this.to; ++i) {
        g.fillStyle = COLOURS[names[kinds[i]]];
        g.fillRect(this.x(starts[i]), row.y, Math.max(1, this.x(starts[i + 1]) - this.x(starts[i])), row.height);
      }
      return;
    }
    for (let x = GUTTER; x < this.width; ++x) {
      const counts = causesBetween(p, row.unit, this.cycle(x), this.cycle(x + 1), names.length);
      let y = row.y + row.height;
      counts.forEach((cycles, c) => {
        const height = cycles * this.scale * row.height;
        if (height <= 0) return;
        y -= height;
        g.fillStyle = COLOURS[names[c]];
        g.fillRect(x, y, 1, height + 0.5);
      });
    }
  }

  traffic(g, row) {
    const { cycles, beats } = this.program.traffic, periods = beats[0].length;
    const step = Math.max(1, Math.floor(1 / (cycles * this.scale)));
    for (let t = Math.max(0, Math.floor(this.from / cycles)); t < periods && t * cycles < this.to; t += step) {
      let y = row.y + row.height;
      for (let c = 0; c < 4; ++c) {
        let sum = 0;
        for (let i = t; i < Math.min(t + step, periods); ++i) sum += beats[c][i];
        const height = row.height * sum / (step * cycles);
        y -= height;
        g.fillStyle = CLIENT_COLOURS[c];
        g.fillRect(this.x(t * cycles), y, Math.max(1, cycles * step * this.scale), height);
      }
    }
  }

  // Payload a cycle of a link; full height is what it carries with heads and all.
  link(g, row) {
    const { cycles, rate } = this.data.links, { bytes } = row.traffic;
    const step = Math.max(1, Math.floor(1 / (cycles * this.scale)));
    for (let t = Math.max(0, Math.floor(this.from / cycles)); t < bytes.length && t * cycles < this.to; t += step) {
      let sum = 0;
      for (let i = t; i < Math.min(t + step, bytes.length); ++i) sum += bytes[i];
      const height = row.height * Math.min(1, sum / (step * cycles * rate));
      g.fillStyle = COLLECTIVE_COLOUR;
      g.fillRect(this.x(t * cycles), row.y + row.height - height, Math.max(1, cycles * step * this.scale), height);
    }
  }

  // A line a bank, a colour a row of it that is open.
  banks(g, row) {
    const height = row.height / this.program.banks;
    this.program.open.forEach((pages, bank) => {
      let drawn = -1;
      for (const [page, first, last] of pages) {
        const x1 = this.x(last);
        if (last < this.from || x1 < drawn) continue;
        if (first > this.to) break;
        g.fillStyle = `hsl(${(page * 67) % 360} 55% 55%)`;
        g.fillRect(Math.max(GUTTER, this.x(first)), row.y + bank * height, Math.max(1, x1 - Math.max(GUTTER, this.x(first))), height - 0.5);
        drawn = x1 - this.x(first) < 1 ? Math.floor(x1) + 1 : x1;
      }
    });
  }

  buffers(g, row) {
    const all = this.program.buffer_top;
    this.program.buffers.forEach((b, i) => {
      const top = row.y + row.height * (1 - (b.address + b.bytes) / all), height = Math.max(1, row.height * b.bytes / all);
      this.box(g, this.x(b.first), this.x(b.last + 1), { y: top, height }, height > 9 ? b.name : "", layerColour(b.first_layer));
    });
  }

  // From those that posted what the chosen one waited for, and from it to those that waited.
  arrows(g) {
    if (this.selected < 0) return;
    const d = this.program.descriptors, line = (from, to, colour) => {
      const a = this.middleOf(from), b = this.middleOf(to);
      if (a === null || b === null) return;
      g.strokeStyle = colour;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(this.x(d.end[from]), a);
      g.lineTo(this.x(Math.max(d.head[to], d.end[from])), b);
      g.stroke();
    };
    for (const [, poster] of d.waits[this.selected] || []) line(poster, this.selected, "#b00020");
    for (const [, to] of this.program.posts.get(this.selected) || []) line(this.selected, to, "#1f5fbf");
  }
  middleOf(i) {
    const d = this.program.descriptors, row = this.rows.find((r) => r.kind === "bars" && !r.of && r.unit === d.queue[i] && r.row === d.row[i]);
    return row ? row.y + row.height / 2 : null;
  }

  // The descriptor, or text, at a place.
  at(x, y) {
    const row = this.rows.find((r) => y >= r.y && y < r.y + r.height);
    if (!row || x < GUTTER) return {};
    const c = this.cycle(x), p = row.of || this.program, d = p.descriptors, core = row.core;
    if (row.kind === "bars") {
      const slack = 2 / this.scale;
      const list = p.rows.get(row.unit + "/" + row.row), i = list.find((k) => d.start[k] - slack <= c && c <= d.end[k] + 1 + slack);
      if (i === undefined) return {};
      return { descriptor: i, text: `#${i} ${this.nameOf(i)}\n${thousands(d.start[i])} to ${thousands(d.end[i])}, ${thousands(d.end[i] + 1 - d.start[i])} cycles\nat the head for ${thousands(d.start[i] - d.head[i])} cycles` };
    }
    if (row.kind === "causes") {
      const counts = causesBetween(p, row.unit, c, c + Math.max(1, 1 / this.scale), this.data.causes.length), all = counts.reduce((a, b) => a + b, 0);
      const lines = [...counts].map((n, k) => [n, k]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 5);
      return { core, text: `${core === undefined ? "" : `core ${core}, `}${this.data.units[row.unit]} at ${thousands(c)}\n` + lines.map(([n, k]) => `${percent(n, all).padStart(8)}  ${this.data.causes[k]}`).join("\n") };
    }
    if (row.kind === "layers") {
      const layer = p.layers.find((l) => l.lane === row.lane && l.last && l.first <= c && c <= l.last);
      if (!layer) return { core };
      return { core, layer, text: `${core === undefined ? "" : `core ${core}: `}${layer.name}: ${layer.op} ${layer.shape}\n${thousands(layer.cycles)} cycles of the program` };
    }
    if (row.kind === "link") {
      const { cycles, rate } = this.data.links, t = Math.floor(c / cycles), bytes = row.traffic.bytes[t] || 0;
      return { text: `chip ${row.traffic.chip}, link ${row.traffic.link}\n${thousands(t * cycles)} on: ${(bytes / cycles).toFixed(2)} bytes of payload a cycle, of ${rate}` };
    }
    if (row.kind === "traffic") {
      const t = Math.floor(c / p.traffic.cycles);
      return { text: `${thousands(t * p.traffic.cycles)} on, beats in ${p.traffic.cycles} cycles\n` + CLIENTS.map((n, k) => `${n}: ${p.traffic.beats[k][t]}`).join("\n") };
    }
    if (row.kind === "banks") {
      const bank = Math.floor((y - row.y) / row.height * p.banks), page = p.open[bank].find(([, first, last]) => first <= c && c < last);
      return { text: `group ${Math.floor(bank / (p.banks / 2))}, bank ${bank % (p.banks / 2)}: ${page ? `row ${page[0]}, open from ${thousands(page[1])} to ${thousands(page[2])}` : "closed"}` };
    }
    const address = p.buffer_top * (1 - (y - row.y) / row.height);
    const b = p.buffers.find((k) => k.address <= address && address < k.address + k.bytes && k.first <= c && c <= k.last);
    return b ? { text: `${b.name}: ${thousands(b.bytes)} bytes at 0x${b.address.toString(16)}` } : {};
  }

  wheel(e) {
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan((e.deltaX || e.deltaY) / 800);
    else this.zoom(1.0015 ** e.deltaY, this.cycle(Math.max(GUTTER, e.offsetX)));
  }
  press(e) {
    this.drag = { x: e.offsetX, from: this.from, moved: false };
    this.canvas.setPointerCapture(e.pointerId);
  }
  move(e) {
    if (this.drag && Math.abs(e.offsetX - this.drag.x) > 3) {
      this.drag.moved = true;
      const by = (this.drag.x - e.offsetX) / this.scale, width = this.to - this.from;
      this.zoomTo(this.drag.from + by, this.drag.from + by + width);
      return;
    }
    const { text } = this.at(e.offsetX, e.offsetY);
    this.tip.hidden = !text;
    if (!text) return;
    this.tip.textContent = text;
    this.tip.style.left = Math.min(e.offsetX + 14, this.width - this.tip.offsetWidth - 6) + "px";
    this.tip.style.top = e.offsetY + 16 + "px";
  }
  release(e) {
    const moved = this.drag && this.drag.moved;
    this.drag = null;
    if (moved) return;
    const { descriptor, layer, core } = this.at(e.offsetX, e.offsetY);
    if (core !== undefined && this.data.programs[core] !== this.program) { this.onCore(core); return; }
    if (layer) this.zoomTo(layer.first - 0.05 * (layer.last - layer.first), layer.last + 0.05 * (layer.last - layer.first));
    this.select(descriptor === undefined ? -1 : descriptor);
  }
  key(e) {
    const keys = {
      w: () => this.zoom(0.7), "+": () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), "-": () => this.zoom(1 / 0.7),
      a: () => this.pan(-0.25), d: () => this.pan(0.25), 0: () => this.fit(), Escape: () => this.select(-1),
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      f: () => { const d = this.program.descriptors, i = this.selected; if (i >= 0) this.zoomTo(d.head[i] - 20, d.end[i] + 20); },
    };
    if (!keys[e.key] || e.ctrlKey || e.metaKey) return;
    keys[e.key]();
    e.preventDefault();
  }
  // To the next descriptor of the same queue; without a choice the view moves.
  step(by) {
    const d = this.program.descriptors, i = this.selected;
    if (i < 0) return this.pan(by / 4);
    for (let k = i + by; k >= 0 && k < d.queue.length; k += by) if (d.queue[k] === d.queue[i] && d.row[k] >= 0) return this.select(k);
  }
}

if (typeof module !== "undefined") module.exports = { COLOURS, CLIENT_COLOURS, COLLECTIVE_COLOUR, axisStep };
