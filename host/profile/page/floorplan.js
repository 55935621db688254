// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// The core as a plan: each unit with what it does in a stretch of cycles, which moves.
"use strict";

// Blocks of the units: x, y, width, height.
const BLOCKS = { load: [160, 20, 150, 56], "weight loader": [160, 100, 150, 56], array: [560, 70, 190, 190], "vector unit": [790, 70, 150, 190],
  store: [160, 260, 150, 56], send: [560, 280, 190, 48], sequencer: [160, 180, 150, 56], memory: [10, 20, 110, 296] };
const BUFFER = [360, 20, 150, 296];
// Who gives data to whom: points of a line, and the unit that moves them.
const WIRES = [["M120 48H160", "load"], ["M310 48H360", "load"], ["M120 128H160", "weight loader"], ["M310 128H345V10H655V70", "weight loader"],
  ["M120 208H160", "sequencer"], ["M510 165H560", "array"], ["M750 165H790", "vector unit"], ["M865 260V270H510", "vector unit"], ["M360 288H310", "store"],
  ["M160 288H120", "store"], ["M510 304H560", "send"], ["M750 304H790", "send"]];

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Unpacked once: what is drawn, and the function that draws a stretch.
function planOf(data, program) {
  const root = svg("svg", { viewBox: "0 0 950 330", width: 950, height: 330, id: "plan", role: "img" });
  const wires = WIRES.filter(([, unit]) => data.units.includes(unit)).map(([d, unit]) => [svg("path", { d, fill: "none", "stroke-width": 3 }), data.units.indexOf(unit)]);
  root.append(...wires.map(([wire]) => wire));
  const box = ([x, y, width, height]) => svg("rect", { x, y, width, height, rx: 4, stroke: "#5c6878", fill: "#fff" });
  const words = (x, y, size = 12) => svg("text", { x, y, "font-size": size, fill: "#1c2430" });
  const units = data.units.map((unit) => {
    const [x, y, width, height] = BLOCKS[unit];
    const parts = { level: svg("rect", { x, width }), share: words(x + 6, y + 34, 11), what: words(x + 6, y + 49, 11), cause: words(x + 6, y + 64, 11), x, y, width, height };
    const name = words(x + 6, y + 18, 13);
    name.textContent = unit;
    root.append(box([x, y, width, height]), parts.level, name, parts.share, parts.what);
    if (height > 100) root.append(parts.cause);
    return parts;
  });
  const [bx, by, bw, bh] = BUFFER, inside = svg("g"), name = words(bx + 6, by + 18, 13), used = words(bx + 6, by + 34, 11);
  name.textContent = "unified buffer";
  root.append(box(BUFFER), inside, name, used);

  const show = (at, width) => {
    const to = Math.min(program.cycles, at + width);
    const activity = activityBetween(data, program, at, to);
    activity.units.forEach(({ share, cause, descriptor }, u) => {
      const k = units[u], height = k.height * share;
      k.level.setAttribute("y", k.y + k.height - height);
      k.level.setAttribute("height", height);
      k.level.setAttribute("fill", "#2f8f5b66");
      k.share.textContent = `${Math.round(100 * share)} % at work`;
      k.cause.textContent = share < 1 && cause ? cause : "";
      const layer = descriptor < 0 ? null : program.layers[program.descriptors.layer[descriptor]];
      k.what.textContent = descriptor < 0 ? "" : `#${descriptor} ${layer ? layer.name : ""}`.slice(0, 22);
    });
    wires.forEach(([wire, unit]) => wire.setAttribute("stroke", activity.units[unit].share > 0 ? "#2f8f5b" : "#cfd6dd"));
    inside.replaceChildren(...activity.buffers.map((b) => svg("rect", {
      x: bx + 1, width: bw - 2, fill: layerColour(program.buffers.indexOf(b)), opacity: 0.45,
      y: by + bh * (1 - (b.address + b.bytes) / program.buffer_bytes), height: Math.max(1, bh * b.bytes / program.buffer_bytes) }, svg("title", {}, b.name))));
    used.textContent = `${percent(activity.used, program.buffer_bytes)} in use`;
  };
  return { root, show };
}

VIEWS["floorplan"] = (root, data, program, timeline) => {
  const plan = planOf(data, program), width = Math.max(1, Math.round(program.cycles / 200));
  const slider = make("input", { type: "range", min: 0, max: Math.max(0, program.cycles - width), step: 1, value: 0, "aria-label": "cycle", style: "width:780px" });
  const where = make("span", {}), button = make("button", { id: "play" }, "play");
  const draw = () => {
    plan.show(+slider.value, width);
    where.textContent = `cycles ${thousands(+slider.value)} to ${thousands(Math.min(program.cycles, +slider.value + width))}`;
  };
  let running = false;
  const step = () => {
    if (!running || !slider.isConnected) return;
    const next = +slider.value + Math.max(1, Math.round(width / 4));
    slider.value = next;
    draw();
    if (next >= +slider.max) { running = false; button.textContent = "play"; return; }
    requestAnimationFrame(step);
  };
  button.addEventListener("click", () => {
    running = !running;
    if (running && +slider.value >= +slider.max) slider.value = 0;
    button.textContent = running ? "stop" : "play";
    requestAnimationFrame(step);
  });
  slider.addEventListener("input", draw);
  root.append(make("p", {}, button, " ", slider, " ", where, " ", make("a", { onclick: () => timeline.zoomTo(+slider.value, +slider.value + width) }, "in the timeline")), plan.root,
    make("p", { class: "note" }, "Green from below: the share of the cycles in which the unit worked; else its largest cause, and the descriptor that it was at. " +
      "The buffer: what layers keep in it, its addresses up."));
  draw();
};
