// The palette: everything that can be found, set, opened and done, by typing a part of its name.
//
// A dialog with a combobox and its listbox, as the ARIA pattern has it: the focus stays in the box,
// arrow keys choose, Enter acts.

import * as page from "./page.js";
import { fit } from "./match.js";
import { actions, places } from "./places.js";
import { showDesigns } from "./designs.js";

/** The results shown, at most. */
const MAX_RESULTS = 40;

/** The values offered for a knob, at most. */
const MAX_VALUES = 24;

/** The names of all that can be found, and other words for it; fetched once. */
let registry;

/** The results shown, and the index of the selected one. */
let results = [];
let selected = 0;

/** The searches begun: an older one that ends later shows nothing. */
let searches = 0;

/** Names in both languages, where the page isn't in English. */
let searchNames = (names) => names;
const isChinese = document.documentElement.lang === "zh-CN";
if (isChinese) {
  const { translate } = await import("./translate.js");
  searchNames = (names) => [...names, ...names.filter(Boolean).map(translate)];
}

async function fetchRegistry() {
  registry ??= fetch(page.at("/palette.json")).then((answer) => {
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.json();
  });
  try {
    return await registry;
  } catch {
    registry = undefined;
    return NOTHING;
  }
}

/** What there is to find while the server can't be reached. */
const NOTHING = {
  ...{ knobs: [], values: [], metrics: [], presets: [], views: [], chapters: [], words: {} },
  missing: true,
};

/** The value of a knob, as its control shows it. */
function valueOf(id) {
  const control = page.control(id);
  if (!control) return undefined;
  if (control.type !== "checkbox") return control.value || "none";
  const row = control.closest("[data-knob]");
  if (control.classList.contains("tick-box")) return control.checked ? "on" : "off";
  const ticked = [...row.querySelectorAll(".chips input:checked")];
  return ticked.map((box) => box.parentElement.textContent.trim()).join(",") || "none";
}

/** Sets a knob through its control, which shows any mistake in the value. */
function setKnob({ id, label }, value) {
  const control = page.control(id);
  if (!control) return void (location.href = page.at(`/?${id}=${encodeURIComponent(value)}`));
  if (control.closest(".chips")) {
    const query = new URLSearchParams(page.design());
    query.set(id, value);
    return page.openDesign(query.toString(), label);
  }
  if (control.type === "checkbox") {
    const wanted = /^(on|true|yes|1)$/i.test(value);
    if (control.checked !== wanted) control.click();
  } else {
    // An empty box stands for none; a list has an entry of that name.
    control.value = value === "none" && !control.matches("select") ? "" : value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.dispatchEvent(new Event("change", { bubbles: true }));
  }
  setTimeout(() => {
    if (control.getAttribute("aria-invalid") === "true") page.goToKnob(id);
  });
}

function knobEntry(knob, words) {
  const value = valueOf(knob.id);
  const names = [knob.label, knob.id, knob.id.split(".")[1], ...knob.aliases, ...words];
  return {
    kind: "Knob",
    title: knob.label,
    detail: [value && `now ${value}`, knob.unit].filter(Boolean).join(", "),
    names,
    run: () => {
      if (page.control(knob.id)) page.goToKnob(knob.id);
      else location.href = page.at(`/#knob-${knob.id}`);
    },
  };
}

/** A value of a knob that takes one of several names: it is set at once. */
function valueEntry({ knob, label, value, title }, words) {
  return {
    kind: "Set",
    // Each part has its own translation.
    title: [page.make("span", {}, label), ": ", page.make("span", {}, title)],
    detail: value === valueOf(knob) ? "as it is" : "",
    names: [title, value, ...words],
    // What it is a value of finds it too, but not by itself.
    beside: [label],
    run: () => setKnob({ id: knob, label }, value),
  };
}

function chapterEntry({ address, title, part, chinese }, words) {
  const [shown, below] = isChinese ? chinese : [title, part];
  return {
    kind: "Guide",
    title: below || shown,
    detail: below ? shown : "",
    names: [part || title, chinese[1] || chinese[0], ...words],
    beside: ["guide", title, chinese[0]],
    weight: 0.4,
    run: () => void (location.href = page.at(address)),
  };
}

function metricEntry({ id, label, about }, words) {
  const names = [label, id, id.replaceAll("_", " "), "explain", ...words];
  const run = () => page.explain(id);
  return { kind: "Metric", title: `Explain ${label}`, detail: about, names, run };
}

function copyEntry({ id, label }) {
  const names = [`copy ${label}`, id, "exact digits precision"];
  const run = () => void page.copyExact(id);
  return { kind: "Action", title: `Copy ${label} at full precision`, names, run };
}

function presetEntry({ id, title, story, machine }, words) {
  const run = () => {
    const select = document.getElementById("preset");
    if (!page.isExplorer() || !select) {
      return void (location.href = page.at(`/?v=1&preset=${id}`));
    }
    select.value = id;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };
  return { kind: "Preset", title, detail: story, names: [title, id, machine, ...words], run };
}

/** Values of the knob that the first word names, where one does: `tp 16`, `tp=16`, `tp`. */
async function values(line, knobs) {
  const [, name, wanted = ""] = /^(\S+?)(?:[\s=:]+(.*))?$/.exec(line) ?? [];
  const called = name?.toLowerCase();
  const knob = knobs.find(({ id, aliases }) => {
    return id === called || id.split(".")[1] === called || aliases.includes(called);
  });
  if (!knob) return [];
  const legal = (await page.ask("values", knob.id))?.split("\n") ?? knob.values ?? [];
  const short = /\((.+)\)/.exec(knob.label)?.[1] ?? knob.label;
  const now = valueOf(knob.id);
  const entry = (value, detail) => ({
    kind: "Set",
    title: `Set ${short} to ${value}`,
    detail: value === now ? "as it is" : detail,
    names: [],
    run: () => setKnob(knob, value),
  });
  const fitting = legal.filter((value) => value.startsWith(wanted)).slice(0, MAX_VALUES);
  fitting.sort((one, other) => Number(other === wanted) - Number(one === wanted));
  const offered = fitting.map((value) => entry(value, page.isExplorer() ? "legal" : ""));
  if (wanted && !legal.includes(wanted)) {
    const detail = legal.length > 0 ? "not legal here; the page says why" : "";
    offered.unshift(entry(wanted, detail));
  }
  return offered;
}

/** The points of an entry for a line; zero where it doesn't fit. */
function points(line, { names, beside = [], weight = 1 }) {
  const own = searchNames(names);
  if (beside.length === 0) return fit(line, own) * weight;
  const isNamed = line.split(/\s+/).some((word) => fit(word, own) > 0);
  return isNamed ? fit(line, [...own, ...searchNames(beside)]) * weight : 0;
}

/** Everything that fits a line, best first. */
async function search(line) {
  const all = await fetchRegistry();
  const words = (target) => all.words[target] ?? [];
  const designs = {
    kind: "Action",
    title: "Designs saved in this browser",
    names: ["designs kept in this browser", ...words("action:designs")],
    key: "d",
    run: showDesigns,
  };
  const always = [...actions(all), designs, ...places(all)];
  if (!line) return { found: always, missing: all.missing };
  const first = await values(line, all.knobs);
  const named = [
    ...all.knobs.map((it) => knobEntry(it, words(`knob:${it.id}`))),
    ...always,
    ...all.values.map((it) => valueEntry(it, words(`value:${it.knob}=${it.value}`))),
    ...all.metrics.map((it) => metricEntry(it, words(`metric:${it.id}`))),
    ...all.presets.map((it) => presetEntry(it, words(`preset:${it.id}`))),
    ...(page.isExplorer() ? all.metrics.map(copyEntry) : []),
    ...all.chapters.map((it) => chapterEntry(it, it.part ? [] : words(`guide:${it.address}`))),
  ];
  const rated = named.map((entry) => [points(line, entry), entry]);
  const best = rated.filter(([points]) => points > 0).sort(([a], [b]) => b - a);
  const rest = best.map(([, entry]) => entry);
  // A knob that was called by its name stands in front of its values.
  const [knob] = first.length > 0 && !/[\s=:]/.test(line) ? rest.splice(0, 1) : [];
  return { found: [knob, ...first, ...rest].filter(Boolean), missing: all.missing };
}

function option(entry, index) {
  const { kind, title, detail, key } = entry;
  const parts = [page.make("span", { class: "palette-title" }, ...[title].flat())];
  if (detail) parts.push(page.make("span", { class: "palette-detail" }, detail));
  if (key) parts.push(page.make("kbd", {}, key));
  parts.push(page.make("span", { class: "palette-kind" }, kind));
  const attributes = { role: "option", id: `palette-${index}`, "aria-selected": "false" };
  const row = page.make("li", attributes, ...parts);
  row.addEventListener("click", () => act(index));
  return row;
}

function choose(index) {
  const rows = document.querySelectorAll("#palette-list > li");
  const input = document.getElementById("palette-input");
  selected = rows.length > 0 ? (index + rows.length) % rows.length : 0;
  rows.forEach((row, at) => row.setAttribute("aria-selected", String(at === selected)));
  const row = rows[selected];
  if (row) input.setAttribute("aria-activedescendant", row.id);
  else input.removeAttribute("aria-activedescendant");
  row?.scrollIntoView({ block: "nearest" });
}

/** Settles when the newest search is shown. */
let latest = Promise.resolve();

function update() {
  latest = show();
}

async function show() {
  searches += 1;
  const own = searches;
  const line = document.getElementById("palette-input").value.trim();
  const { found, missing } = await search(line);
  if (own !== searches) return;
  results = found.slice(0, MAX_RESULTS);
  const list = document.getElementById("palette-list");
  list.replaceChildren(...results.map(option));
  list.hidden = results.length === 0;
  document.getElementById("palette-input").setAttribute("aria-expanded", String(!list.hidden));
  const count = found.length === 1 ? "1 result" : `${found.length} results`;
  const lost = missing ? " Knobs, metrics and presets can't be loaded now." : "";
  const none = `No results for “${line}”.`;
  document.getElementById("palette-count").textContent = (found.length ? count : none) + lost;
  choose(0);
}

function act(index) {
  const entry = results[index];
  if (!entry) return;
  document.getElementById("palette").close();
  // The focus is back where it was; the entry may take it elsewhere.
  entry.run();
}

/** Acts on the selected result of the latest text: fast typing is ahead of the list. */
async function enter() {
  const current = searches;
  await latest;
  if (current === searches && document.getElementById("palette").open) act(selected);
}

function press(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  if (event.key in steps) {
    const by = steps[event.key];
    const far = Math.abs(by) > 1;
    const to = selected + by;
    choose(far ? Math.max(0, Math.min(results.length - 1, to)) : to);
  } else if (event.key === "Enter" && !event.isComposing) {
    void enter();
  } else {
    return;
  }
  event.preventDefault();
}

function fill(dialog) {
  dialog.setAttribute("aria-label", "Search and commands");
  const input = page.make("input", {
    id: "palette-input",
    type: "text",
    role: "combobox",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "Knob, metric, view, page, preset or action",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    placeholder: "Type a name, or tp 16 to set a knob",
  });
  input.addEventListener("input", () => update());
  input.addEventListener("keydown", press);
  const list = { id: "palette-list", role: "listbox", "aria-label": "Results" };
  const close = page.closeButton(() => dialog.close());
  dialog.append(
    page.make("div", { class: "palette-head" }, input, close),
    page.make("ul", list),
    page.make("p", { id: "palette-count", class: "palette-count", role: "status" }),
  );
}

/** Shows the palette, or closes it. */
export function togglePalette(typed = "") {
  const dialog = page.dialog("palette", fill);
  if (dialog.open) return dialog.close();
  document.getElementById("palette-input").value = typed;
  dialog.showModal();
  document.getElementById("palette-input").focus();
  update();
}
