// The places to go to with `g` and a letter, and the actions of a page: the palette lists both, the
// keys act on them. Neither has any that the page at hand lacks.

import * as page from "./page.js";

/** Letters of views, their names in the table of words, and where they are on the explorer. */
const VIEWS = [
  ["n", "", ".cards h2"],
  ["m", "memory"],
  ["v", "communication"],
  ["i", "step"],
  ["b", "bubble"],
  ["t", "timeline"],
  ["a", "balance"],
  ["s", "sensitivity"],
  ["x", "map"],
  ["u", "loads"],
];

/** Letters of pages, their names and their addresses. */
const PAGES = [
  ["e", "Explore", "/"],
  ["f", "Find layouts", "/find"],
  ["w", "Sweeps", "/sweep"],
  ["c", "Compare", "/compare"],
  ["", "Start a review", "/r/new"],
  ["o", "Tour", "/tour"],
  ["l", "Ladder", "/ladder"],
  ["r", "Trust", "/trust"],
  ["h", "Schedules", "/schedule"],
  ["p", "Presets", "/presets"],
  ["", "Guide", "/guide"],
  ["", "About the numbers", "/about"],
];

/** Pages that the current design goes along to. */
const TAKES_DESIGN = ["/find", "/sweep", "/r/new"];

/** The knobs, and the first number: places that no heading names. */
const OTHERS = [
  ["k", "Knobs", "#knobs [data-knob] .number-box"],
];

/** No table: names alone find things. */
const NO_TABLE = { views: [], words: {} };

function openPage(address) {
  const query = page.isExplorer() ? page.design() : undefined;
  const goesAlong = query !== undefined && TAKES_DESIGN.includes(address);
  location.href = page.at(goesAlong ? `${address}?${query}` : address);
}

function place(kind, title, words, letter, run) {
  return { kind, title, names: [title, ...words], key: letter && `g ${letter}`, run };
}

/** The views by their names in the table, here or on the explorer. */
function named({ views, words }) {
  const isExplorer = document.querySelector(".page") !== null;
  return views.map(({ id, title }) => {
    const element = page.viewOf(id);
    if (isExplorer && !element) return undefined;
    const heading = element?.querySelector("h2")?.textContent.trim();
    const letter = VIEWS.find(([, known]) => known === id)?.[0];
    const own = [title, ...(words[`view:${id}`] ?? [])];
    // A study is written anew as the design changes; its place stays.
    const run = () => element ? page.goToView(element) : (location.href = page.at(`/#view-${id}`));
    return place("View", heading || title, own, letter, run);
  });
}

/** The headings of this page that no view of the table has, and what no heading names. */
function unnamed({ views }) {
  const known = views.map(({ id }) => page.viewOf(id)).filter(Boolean);
  const headings = [...document.querySelectorAll("main h2")].filter((it) => {
    return page.isReachable(it) && !known.some((view) => view.contains(it));
  });
  const rows = headings.map((it) => {
    const letter = VIEWS.find(([, , selector]) => selector && it === page.visible(selector))?.[0];
    return place("View", it.textContent.trim(), ["go to"], letter, () => page.goToView(it));
  });
  const others = OTHERS.map(([letter, title, selector]) => {
    const element = page.visible(selector);
    return element && place("View", title, ["go to"], letter, () => page.goTo(element));
  });
  return [...rows, ...others];
}

/** Every place that there is from here, by the table of views and words. */
export function places(table = NO_TABLE) {
  const pages = PAGES.map(([letter, title, address]) => {
    const words = ["page go to", ...(table.words[`page:${address}`] ?? [])];
    return place("Page", title, words, letter, () => openPage(address));
  });
  return [...named(table), ...unnamed(table), ...pages].filter(Boolean);
}

/** Goes to the place of a letter; false where there is none. */
export function goByLetter(letter) {
  const view = VIEWS.find(([own]) => own === letter);
  const element = view && (view[1] ? page.viewOf(view[1]) : page.visible(view[2]));
  if (element) page.goToView(element);
  const found = element ?? places().find(({ key }) => key === `g ${letter}`);
  if (!element) found?.run();
  return found !== undefined;
}

/** Buttons and links of the page: a name in the table of words, a title, a key, and where it is. */
const BUTTONS = [
  ["undo", "Undo", "Ctrl Z", "button[data-act=undo]"],
  ["redo", "Redo", "Ctrl Shift Z", "button[data-act=redo]"],
  ["steps", "History of changes", "h", "button[data-key=h]"],
  ["pin", "Pin this design", "p", "button[data-act=pin]"],
  ["compare", "Compare the pinned designs", "c", ".tray a.button"],
  ["copy-link", "Copy link", "", "button[data-act=copy-link]"],
  ["share", "Share: short link, QR code, embed", "", "a[data-sheet^=Share]"],
  ["export", "Export: launch script, file, numbers", "", "a[data-sheet^=Export]"],
  ["import", "Import a model or a launch script", "", "a[href^='/import']"],
  ["review", "Review this design together", "", ".menu a[href^='/r/new']"],
  ["reset", "Reset all knobs to the preset", "", ".presets .text-button"],
  ["keys", "Keyboard shortcuts", "?", "[data-act=keys], .menu a[href$='#keys']"],
];

/** The title of a way out or of a piece of advice. */
function titleOf(way) {
  const text = way.textContent.replace(/\s+/g, " ").trim();
  if (way.closest(".verdict")) return `Fix: ${text}`;
  if (way.closest(".advice")) return `Try next: ${text}`;
  return `Make it fit: ${text}`;
}

/** The actions of this page, by the table of words. */
export function actions({ words } = NO_TABLE) {
  const action = (name, title, key, run) => {
    return { kind: "Action", title, names: [title, ...(words[`action:${name}`] ?? [])], key, run };
  };
  const found = BUTTONS.map(([name, title, key, selector]) => {
    const element = document.querySelector(selector);
    const works = element && !element.disabled && !element.closest("[hidden]");
    return works && action(name, title, key, () => element.click());
  });
  const ways = [...document.querySelectorAll("[data-study=advice] a[data-step], .verdict .way")];
  const fitting = ways.filter((way) => way.checkVisibility()).map((way) => ({
    kind: "Action",
    title: titleOf(way),
    names: [titleOf(way), "make it fit mend advice"],
    run: () => way.click(),
  }));
  const letters = `Turn single-letter keys ${page.cookie("keys") === "off" ? "on" : "off"}`;
  return [
    ...found.filter(Boolean),
    ...fitting,
    page.isExplorer() && action("sweep", "Sweep this design", "", () => openPage("/sweep")),
    action("theme", "Switch between dark and light", "t", page.switchTheme),
    action("language", "中文 / English", "", page.switchLanguage),
    action("settings", "Settings: language, units, theme", "", openSettings),
    action("print", "Print this page", "", () => print()),
    action("letters", letters, "", switchKeys),
  ].filter(Boolean);
}

/** The settings, which lead back to here. */
function openSettings() {
  const query = page.design();
  const here = page.isExplorer() && query !== undefined ? `/?${query}` : undefined;
  const back = here ?? `${location.pathname}${location.search}`;
  location.href = page.at(`/settings?back=${encodeURIComponent(back)}`);
}

function switchKeys() {
  const now = page.cookie("keys") === "off" ? "on" : "off";
  page.keep("keys", now);
  page.announce(`Single-letter keys are ${now}`);
}
