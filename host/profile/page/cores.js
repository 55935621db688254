// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// What several cores did, side by side: their times, their links, their layers, and what to do about them.
"use strict";

VIEWS["cores"] = (root, data, program, timeline) => {
  const all = program.cycles, { first, cycles, exchanges } = data.rounds;
  const exchanging = cycles.reduce((sum, n, r) => sum + (exchanges[r] ? n : 0), 0), every = coreTimes(data);
  const under_way = every.reduce((sum, t) => sum + t.under_way, 0), alone = every.reduce((sum, t) => sum + t.collectives, 0);
  const chips = data.torus[0] * data.torus[1];
  root.append(make("p", {}, `${data.cores.length} cores of ${chips} chip${chips === 1 ? "" : "s"} (${data.torus.join(" x ")}): ${thousands(all)} cycles from begin to end, ` +
    `${thousands(under_way / every.length)} of them (${percent(under_way, all * every.length)}), the mean of the cores, in collectives, ` +
    `${percent(under_way - alone, under_way)} of these along with kernels; ${exchanges.filter(Boolean).length} of ${first.length} sets of programs exchange values.`));
  const names = { kernels: "working", collectives: "flag of another core", idle: "no program" };
  const cores = every.map((times, c) => {
    const bar = make("div", { class: "bar" });
    for (const [name, cause] of Object.entries(names)) {
      const colour = name === "collectives" ? COLLECTIVE_COLOUR : COLOURS[cause];
      bar.append(make("i", { style: `width:${100 * times[name] / all}%;background:${colour}`, title: `${name}: ${thousands(times[name])} cycles` }));
    }
    return { class: "go", onclick: () => timeline.onCore(c), cells: [`core ${c}`, data.cores[c].chip, thousands(times.kernels), thousands(times.collectives), thousands(times.idle), thousands(times.waits),
      thousands(times.under_way), percent(times.under_way - times.collectives, times.under_way), make("td", {}, bar)] };
  });
  root.append(table(["core", "chip", "in kernels", "in collectives alone", "no program", "waits for other cores", "in collectives", "along with kernels", text("", "th")], cores));
  root.append(make("p", { class: "note" }, "Programs start in sets, and time goes on when each core has one: of a set, the longest counts. In collectives: a descriptor of one is at work, or a unit waits for another core; alone: no descriptor of a kernel is at work. Waits for other cores: cycles that end at a flag of another core. Click a row for its core."));

  if (data.links.traffic.some(({ sent }) => sent > 0)) {
    const rows = data.links.traffic.map(({ chip, link, sent, busiest, replays, credit_stalls }) => ({
      cells: [`chip ${chip}, ${link}`, thousands(sent), (sent / Math.max(1, exchanging)).toFixed(2), percent(sent, exchanging * data.links.rate),
        percent(busiest, data.links.busy_cycles * data.links.rate), thousands(replays), thousands(credit_stalls)],
    }));
    root.append(make("h2", {}, "Links"), table(["link", "bytes sent", "a cycle, while programs exchange", "of its rate", `busiest ${thousands(data.links.busy_cycles)} cycles`, "sent again", "stalls"], rows));
  }

  const layers = layersByCore(data).filter((l) => l.cycles.some((n) => n > 0));
  root.append(make("h2", {}, "Layers"), table(["layer", text("what", "th"), "longest", "shortest", ...data.cores.map((_, c) => `core ${c}`)], layers.map((l) => {
    const some = l.cycles.filter((n) => n > 0);
    return { class: "go", onclick: () => timeline.zoomTo(l.first, l.last),
      cells: [l.name, text(`${l.op} ${l.shape}`), thousands(Math.max(...some)), thousands(Math.min(...some)), ...l.cycles.map((n) => (n > 0 ? thousands(n) : "-"))] };
  })));

  root.append(make("h2", {}, "What to do"), make("p", { class: "note" }, "Over all cores: each cycle of each of them, once."), table(["of all cores", "cycles", text("what", "th"), text("what may help", "th")],
    data.findings.slice(0, 60).map((f) => ({ cells: [percent(f.cycles, all * data.cores.length), thousands(f.cycles), text(f.text), text(f.advice)] }))));
};
