// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What stands beside and below the timeline: the chosen descriptor, what to do, layers, roofline, units.
"use strict";

// make("td", {class: "text"}, "words", node): text is never read as markup.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") node.style.cssText = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.map((c) => (c instanceof Node ? c : String(c))));
  return node;
}

function table(heads, rows) {
  const cell = (tag, value) => (value instanceof Node && /^T[DH]$/.test(value.tagName) ? value : make(tag, {}, value));
  return make("table", {},
    make("thead", {}, make("tr", {}, ...heads.map((h) => cell("th", h)))),
    make("tbody", {}, ...rows.map(({ cells, ...attributes }) => make("tr", attributes, ...cells.map((c) => cell("td", c))))));
}
const text = (value, tag = "td") => make(tag, { class: "text" }, value);
const key = (name, colour) => make("span", { class: "key", style: `--c:${colour}` }, name);

function causeBar(counts, names, all) {
  const bar = make("div", { class: "bar" });
  counts.forEach((cycles, c) => {
    if (cycles > 0) bar.append(make("i", { style: `width:${100 * cycles / all}%;background:${COLOURS[names[c]]}`, title: `${names[c]}: ${thousands(cycles)} cycles, ${percent(cycles, all)}` }));
  });
  return bar;
}

function drawDetails(root, data, program, timeline, i) {
  root.replaceChildren();
  if (i < 0) {
    root.append(make("h2", {}, "Timeline"), make("p", { class: "note" }, "Wheel or w, s: zoom. Drag or a, d: move. 0: all. Click a bar: its descriptor, what it waited for, how to record it. " +
      "Left, right: the next of its queue. f: zoom to it. /: search, Enter: the next one found. A thin grey bar before a bar: the descriptor was at the head of its queue and waited." +
      (data.cores ? " At the top: the layers of all cores, the causes of three units of each, and the payload of the links, all on the same cycles. Click a core's row: its units, below." : "")));
    return;
  }
  const d = program.descriptors, layer = program.layers[d.layer[i]];
  const link = (k) => make("a", { onclick: () => timeline.select(k) }, `#${k} ${timeline.nameOf(k)}`);
  const facts = [["unit", data.units[d.queue[i]]], ["layer", layer ? `${d.layer[i]}: ${layer.name}, ${layer.op} ${layer.shape}` : "-"],
    ["head of queue", thousands(d.head[i])], ["start", thousands(d.start[i])], ["end", thousands(d.end[i])],
    ["cycles", `${thousands(d.end[i] + 1 - d.start[i])}, after ${thousands(d.start[i] - d.head[i])} at the head`]];
  root.append(make("h2", {}, `#${i} ${timeline.nameOf(i)}`), make("dl", {}, ...facts.flatMap(([a, b]) => [make("dt", {}, a), make("dd", {}, b)])));
  for (const [flag, poster, posted] of d.waits[i] || []) {
    const late = posted - d.head[i];
    root.append(make("p", {}, `waited for flag ${flag} of `, link(poster), late > 0 ? `, ${thousands(late)} cycles` : ", there already"));
  }
  const after = program.posts.get(i) || [];
  if (after.length > 0) root.append(make("p", {}, "posts to ", ...after.slice(0, 8).flatMap(([, k]) => [link(k), " "])));
  const counts = causesBetween(program, d.queue[i], d.head[i], d.end[i] + 1, data.causes.length), all = d.end[i] + 1 - d.head[i];
  root.append(causeBar([...counts], data.causes, all));
  const list = [...counts].map((n, c) => [n, c]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]);
  root.append(make("p", {}, ...list.flatMap(([n, c]) => [key(`${data.causes[c]} ${thousands(n)}`, COLOURS[data.causes[c]]), make("br")])));
  root.append(make("code", {}, d.text[i]));
  root.append(make("p", {}, "its waveform:"), make("code", {}, commandOf(data, program, i)));
  if (layer) root.append(make("p", {}, "that of its layer:"), make("code", {}, commandFor(data, program, d.layer[i])));
}

// Where a name may stand beside its point, the first that is free; a name without room is left out, the table of layers has it.
const LABEL_PLACES = [4, 17, -9, 30, -22, 43, -35, 56, -48].flatMap((dy) => [[1, dy], [-1, dy]]);

const VIEWS = {
  "what to do"(root, data, program, timeline) {
    root.append(make("p", { class: "note" }, "Every cycle of the program, once: seen from the array (then vector unit, then store), and along what it waits for to the unit that something can be done about. Click a row for its layer."));
    const rows = program.findings.slice(0, 60).map((f) => {
      const layer = program.layers[f.layer];
      return { class: layer ? "go" : "", ...(layer ? { onclick: () => timeline.zoomTo(layer.first, layer.last) } : {}),
        cells: [percent(f.cycles, program.cycles), thousands(f.cycles), text(f.text), text(f.advice)] };
    });
    root.append(table(["of the program", "cycles", text("what", "th"), text("what may help", "th")], rows));
  },

  "layers"(root, data, program, timeline) {
    const rows = program.layers.map((l, i) => {
      const least = ceilingsOf(l), [bound, cycles] = Object.entries(least).sort((a, b) => b[1] - a[1])[0];
      const unit = l.macs > 0 ? 2 : 3, counts = l.units[unit], all = counts.reduce((a, b) => a + b, 0);
      return { class: "go", onclick: () => timeline.zoomTo(l.first, l.last), title: l.tiling,
        cells: [`${i} ${l.name}`, text(`${l.op} ${l.shape}`), thousands(l.cycles), l.macs ? percent(l.macs / (data.rows * data.cols), l.cycles) : "-", l.macs ? percent(l.filled, 1) : "-",
          thousands(least.array), thousands(least.weights), thousands(least.activations), thousands(least["vector unit"]), `${bound}, ${percent(cycles, l.cycles)}`,
          make("td", {}, causeBar(counts, data.causes, all))] };
    });
    root.append(make("p", { class: "note" }, "Least cycles, as the layer was compiled: vectors that go through the array, beats of its weights, beats of its loads and stores, cycles in which the vector unit works. " +
      "The largest is the ceiling; beside it, its part of the layer's cycles. Filled: the part of the array's rows and columns with weights while it works; the rest is empty, as the layer has fewer inputs a product or fewer output channels than the array. " +
      "Causes: of the array, for layers without products of the vector unit. Of peak, above 100 %: work of the layer overlaps cycles that count for another layer, or kernel rows that lie wholly in the padding are not computed."));
    root.append(table(["layer", text("what", "th"), "cycles", "of peak", "filled", "array", "weights", "activations", "vector unit", "ceiling", text("causes", "th")], rows));
  },

  "roofline"(root, data, program) {
    const canvas = make("canvas", { width: 1800, height: 800, style: "width:900px;max-width:100%;height:auto" });
    root.append(canvas, make("p", { class: "note" }, "A layer a point: multiplications a cycle over multiplications a byte of the memory. The line of a kind of traffic is its slope: what that alone allows. " +
      "Hollow, above it: the rates that the layer's weights (square), its activations (triangle) and the vector unit (circle) would each allow alone."));
    const g = canvas.getContext("2d");
    g.scale(2, 2);
    g.font = "12px system-ui, sans-serif";
    const peak = data.rows * data.cols, left = 60, right = 880, top = 16, bottom = 360;
    const points = program.layers.filter((l) => l.macs > 0 && l.cycles > 0).map((l, i) => ({
      name: l.name, at: l.macs / Math.max(1, (l.weights + l.activations) * data.beat), rate: l.macs / l.cycles, ceilings: ["weights", "activations", "vector unit"].map((kind) => l.macs / ceilingsOf(l)[kind]), colour: layerColour(program.layers.indexOf(l)) }));
    if (points.length === 0) { root.append("No layer multiplies."); return; }
    const lowX = Math.min(0.1, ...points.map((p) => p.at)) / 2, highX = Math.max(100, ...points.map((p) => p.at)) * 2;
    const lowY = Math.min(peak / 100, ...points.map((p) => p.rate)) / 2, highY = peak * 2;
    const x = (v) => left + (right - left) * Math.log(v / lowX) / Math.log(highX / lowX), y = (v) => bottom - (bottom - top) * Math.log(v / lowY) / Math.log(highY / lowY);
    g.fillStyle = "#5c6878";
    for (let v = 10 ** Math.ceil(Math.log10(lowX)); v < highX; v *= 10) { g.fillRect(x(v), top, 0.5, bottom - top); g.fillText(String(+v.toPrecision(1)), x(v) - 6, bottom + 16); }
    for (let v = 10 ** Math.ceil(Math.log10(lowY)); v < highY; v *= 10) { g.fillRect(left, y(v), right - left, 0.5); g.fillText(String(+v.toPrecision(1)), 14, y(v) + 4); }
    g.fillText("MACs a byte", right - 70, bottom + 32);
    g.fillText("MACs a cycle", 6, top - 4);
    g.strokeStyle = "#1c2430";
    g.lineWidth = 2;
    g.beginPath();
    g.moveTo(x(lowX), y(Math.max(lowY, lowX * data.beat)));
    g.lineTo(x(peak / data.beat), y(peak));
    g.lineTo(right, y(peak));
    g.stroke();
    g.fillText(`array: ${peak} a cycle`, left + 10, y(peak) - 6);
    // Boxes of what is drawn: [x0, y0, x1, y1]. A text goes where none of them is.
    const reachOf = (p) => Math.max(...p.ceilings.filter((rate) => rate < highY), p.rate);
    const taken = points.map((p) => [x(p.at) - 6, y(reachOf(p)) - 6, x(p.at) + 6, y(p.rate) + 6]);
    taken.push([x(peak / data.beat), y(peak) - 2, right, y(peak) + 2]);
    const place = (words, places) => {
      const width = g.measureText(words).width;
      for (const [x0, y0] of places(width)) {
        const box = [x0, y0 - 10, x0 + width, y0 + 3];
        if (box[0] < left || box[2] > 898 || box[1] < top - 14 || box[3] > bottom + 4 || taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
        taken.push(box);
        g.fillText(words, x0, y0);
        return;
      }
    };
    place(`memory: ${data.beat} bytes a cycle`, () => [3, 2, 5, 8, 14, 24, 40, 70, 120].map((k) => [x(k * lowX) + 10, y(k * lowX * data.beat) + 8]));
    points.forEach((p) => {
      g.fillStyle = g.strokeStyle = p.colour;
      g.beginPath();
      g.arc(x(p.at), y(p.rate), 5, 0, 7);
      g.fill();
      g.lineWidth = 1.5;
      p.ceilings.forEach((rate, kind) => {  // a kind of which there is nothing allows any rate
        if (!(rate < highY)) return;
        const cx = x(p.at), cy = y(rate);
        g.beginPath();
        if (kind === 0) g.rect(cx - 4.5, cy - 4.5, 9, 9);
        else if (kind === 1) { g.moveTo(cx - 5, cy + 4); g.lineTo(cx + 5, cy + 4); g.lineTo(cx, cy - 5); g.closePath(); }
        else g.arc(cx, cy, 5, 0, 7);
        g.stroke();
      });
      g.beginPath(); g.moveTo(x(p.at), y(p.rate)); g.lineTo(x(p.at), y(reachOf(p))); g.stroke();
      place(p.name, (width) => LABEL_PLACES.map(([side, dy]) => [x(p.at) + (side < 0 ? -width - 8 : 8), y(p.rate) + dy]));
    });
  },

  "units"(root, data, program) {
    const rows = data.units.map((unit, u) => {
      const counts = program.totals[u], order = counts.map((n, c) => [n, c]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]);
      return { cells: [unit, make("td", {}, causeBar(counts, data.causes, program.cycles)), text(order.map(([n, c]) => `${data.causes[c]} ${thousands(n)} (${percent(n, program.cycles)})`).join(", ")), thousands(counts.reduce((a, b) => a + b, 0))] };
    });
    root.append(table(["unit", text("cycles by cause", "th"), text("", "th"), "sum"], rows));
  },
};
