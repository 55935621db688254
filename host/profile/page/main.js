// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Systole contributors
//
// Unpacks the data and joins the parts of the page.
"use strict";

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function main() {
  const by = (id) => document.getElementById(id), status = by("status");
  const data = await unpack(by("data").textContent.trim());
  const wrong = problems(data);
  data.programs.forEach((p) => prepare(p, data.causes.length));
  const timeline = new Timeline(by("timeline"), by("tip"), data);
  let program = data.programs[0], found = [], at = -1, view = data.cores ? "cores" : "what to do";
  const views = [...(data.cores ? ["cores"] : []), ...Object.keys(VIEWS).filter((name) => name !== "cores")];

  const showView = () => {
    by("tabs").replaceChildren(...views.map((name) =>
      make("button", { role: "tab", "aria-selected": name === view, onclick: () => { view = name; showView(); } }, name)));
    by("panel").replaceChildren();
    VIEWS[view](by("panel"), data, program, timeline);
  };
  const show = (index) => {
    program = data.programs[index];
    const count = program.descriptors.row.filter((r) => r >= 0).length;
    by("title").textContent = `${data.model} on ${data.preset}`;
    document.title = `${data.model} on ${data.preset}: Systole profile`;
    const units = `${data.units.length} units${data.cores ? ` of ${data.cores.length} cores` : ""}`;
    status.textContent = wrong.length ? `does not add up: ${wrong[0]}` : `${thousands(program.cycles)} cycles, ${thousands(count)} descriptors, every cycle of ${units} accounted for`;
    status.className = wrong.length ? "bad" : "";
    timeline.show(program);
    drawDetails(by("details"), data, program, timeline, -1);
    showView();
  };
  timeline.onCore = (core) => { by("program").value = core; show(core); };
  timeline.onSelect = (i) => drawDetails(by("details"), data, program, timeline, i);

  data.programs.forEach((p, i) => by("program").append(make("option", { value: i }, data.cores ? `${i}, chip ${data.cores[i].chip}` : `${i + 1} of ${data.programs.length}`)));
  if (data.cores) by("which").firstChild.textContent = "core ";
  by("which").hidden = data.programs.length < 2;
  by("program").addEventListener("change", (e) => show(+e.target.value));
  by("search").addEventListener("input", (e) => {
    found = searchIn(program, e.target.value);
    at = -1;
    timeline.found = new Set(found);
    by("found").textContent = e.target.value ? `${thousands(found.length)} found` : "";
    timeline.draw();
  });
  by("search").addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || found.length === 0) return;
    at = (at + (e.shiftKey ? found.length - 1 : 1)) % found.length;
    timeline.select(found[at]);
  });
  document.addEventListener("keydown", (e) => {
    if (e.target.tagName === "INPUT") return;
    if (e.key === "/") { by("search").focus(); e.preventDefault(); } else if (e.target === document.body) timeline.key(e);
  });
  const shown = new Set(data.programs.flatMap((p) => p.totals.flatMap((t) => t.map((n, c) => (n > 0 ? c : -1)))));
  by("legend").append(...data.causes.filter((_, c) => shown.has(c)).map((name) => key(name, COLOURS[name])),
    ...(data.cores ? [key("collective, link", COLLECTIVE_COLOUR)] : []), ...CLIENTS.map((name, c) => key(`memory: ${name}`, CLIENT_COLOURS[c])));
  const wanted = new URLSearchParams(location.hash.slice(1));  // #core=3&view=layers&descriptor=12&from=0&to=4000
  const core = data.cores && +wanted.get("core") in data.programs ? +wanted.get("core") : 0;
  by("program").value = core;
  show(core);
  if (wanted.has("view") && VIEWS[wanted.get("view")]) { view = wanted.get("view"); showView(); }
  if (wanted.has("from") && wanted.has("to")) timeline.zoomTo(+wanted.get("from"), +wanted.get("to"));
  if (wanted.has("descriptor")) timeline.select(+wanted.get("descriptor"));
  document.body.dataset.ready = wrong.length ? "no" : "yes";
}

main().catch((error) => {
  document.getElementById("status").textContent = `the page's data cannot be read: ${error.message}`;
  document.getElementById("status").className = "bad";
});
