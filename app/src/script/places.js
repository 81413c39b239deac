// The places to go to with `g` and a letter, and the actions of a page: the palette lists both, the
// keys act on them. Neither has any that the page at hand lacks.

import * as page from "./page.js";

/** Letters of views and the headings of these on the explorer, which name them. */
const VIEWS = [
  ["n", ".cards h2"],
  ["m", "[data-study=memory] h2"],
  ["v", "[data-study=communication] h2"],
  ["i", "[data-study=step] h2"],
  ["b", "[data-study=bubble] h2"],
  ["t", ".timeline h2"],
  ["a", "[data-study=balance] h2"],
  ["s", "[data-study=sensitivity] h2"],
  ["x", "[data-study=map] h2"],
  ["u", "[data-study=loads] h2"],
];

/** Letters of pages, their names and their addresses. */
const PAGES = [
  ["e", "Explore", "/"],
  ["f", "Find", "/find"],
  ["p", "Presets", "/presets"],
  ["o", "Tour", "/tour"],
  ["w", "Sweep", "/sweep"],
  ["c", "Compare", "/compare"],
  ["h", "Schedules", "/schedule"],
  ["l", "Ladder", "/ladder"],
  ["r", "Trust", "/trust"],
];

/** The knobs, and the first number: places that no heading names. */
const OTHERS = [
  ["k", "Knobs", "#knobs [data-knob] .number-box"],
];

function openPage(address) {
  // The page's own link knows the design that goes along.
  const links = [...document.querySelectorAll("nav.pages a")];
  const link = links.find((it) => new URL(it.href).pathname === address);
  location.href = link?.href ?? address;
}

function view(letter, title, element) {
  const key = letter && `g ${letter}`;
  // A study is written anew as the design changes; its place stays.
  const run = () => page.goTo(element.closest(".study") ?? element);
  return { kind: "View", title, names: [title, "go to"], key, run };
}

/** Every place that there is from here. */
export function places() {
  const lettered = new Map(VIEWS.map(([letter, selector]) => [page.visible(selector), letter]));
  const headings = [...document.querySelectorAll("main h2")].filter(page.isReachable);
  const others = OTHERS.map(([letter, title, selector]) => {
    const element = page.visible(selector);
    return element && view(letter, title, element);
  });
  const pages = PAGES.map(([letter, title, address]) => ({
    kind: "Page",
    title,
    names: [title, "page go to"],
    key: `g ${letter}`,
    run: () => openPage(address),
  }));
  const views = headings.map((it) => view(lettered.get(it), it.textContent.trim(), it));
  return [...views, ...others.filter(Boolean), ...pages];
}

/** Goes to the place of a letter; false where there is none. */
export function goByLetter(letter) {
  const place = places().find(({ key }) => key === `g ${letter}`);
  place?.run();
  return place !== undefined;
}

/** Buttons and links of the page: a name, other words for it, a key, and where it is. */
const BUTTONS = [
  ["Undo", "back", "Ctrl Z", "button[data-act=undo]"],
  ["Redo", "again", "Ctrl Shift Z", "button[data-act=redo]"],
  ["Steps: what was done so far", "history", "h", "button[data-key=h]"],
  ["Pin this design", "compare tray", "p", "button[data-act=pin]"],
  ["Compare the pinned designs", "pins", "c", ".tray a.button"],
  ["Copy link", "address url", "", ".actions button.primary"],
  ["Share: short link, code, panel, call", "qr embed api", "", "a[data-sheet^=Share]"],
  ["Export: launch script, file, numbers", "megatron mindspeed", "", "a[data-sheet^=Export]"],
  ["Import a model or a launch script", "config.json", "", "a[href^='/import']"],
  ["Start a review", "session team", "", "a[href^='/r/new']"],
  ["Reset all knobs to the preset", "", "", ".presets .text-button"],
  ["Keys", "help shortcuts", "?", "button[data-act=keys]"],
];

/** The title of a way out or of a piece of advice. */
function titleOf(way) {
  const text = way.textContent.replace(/\s+/g, " ").trim();
  if (way.closest(".verdict")) return `Mend: ${text}`;
  if (way.closest(".advice")) return `Would help: ${text}`;
  // The step's name is the same in every language.
  return way.dataset.step === "making it fit" ? text : `Make it fit: ${text}`;
}

/** The actions of this page. */
export function actions() {
  const found = BUTTONS.map(([title, words, key, selector]) => {
    const element = document.querySelector(selector);
    const works = element && !element.disabled && !element.closest("[hidden]");
    const run = () => element.click();
    return works && { kind: "Action", title, names: [title, words], key, run };
  });
  const ways = [...document.querySelectorAll("[data-study=advice] a[data-step], .verdict .way")];
  const fitting = ways.filter((way) => way.checkVisibility()).map((way) => ({
    kind: "Action",
    title: titleOf(way),
    names: [titleOf(way), "make it fit mend advice"],
    run: () => way.click(),
  }));
  const action = (title, words, key, run) => {
    return { kind: "Action", title, names: [title, words], key, run };
  };
  return [
    ...found.filter(Boolean),
    ...fitting,
    action("Find layouts", FIND_WORDS, "", findLayouts),
    action("Switch between dark and light", "theme colours", "t", page.switchTheme),
    action("Settings: language, units, theme", "chinese 中文 gb gib", "", openSettings),
    action("Print this page", "pdf paper", "", () => print()),
    action(
      `Turn single-letter keys ${page.cookie("keys") === "off" ? "on" : "off"}`,
      "shortcuts accessibility",
      "",
      switchKeys,
    ),
  ];
}

/** Words for a search for layouts. */
const FIND_WORDS =
  "find best layout fastest safest simplest search optimize optimise optimizer auto tune solver " +
  "plan parallelism strategy fewest devices largest batch longest sequence";

/** The search for layouts, of the design at hand where there is one. */
function findLayouts() {
  const query = page.design();
  location.href = query === undefined ? "/find" : `/find?${query}`;
}

/** The settings, which lead back to here. */
function openSettings() {
  const query = page.design();
  const here = page.isExplorer() && query !== undefined ? `/?${query}` : undefined;
  const back = here ?? `${location.pathname}${location.search}`;
  location.href = `/settings?back=${encodeURIComponent(back)}`;
}

function switchKeys() {
  const now = page.cookie("keys") === "off" ? "on" : "off";
  page.keep("keys", now);
  page.announce(`Single-letter keys are ${now}`);
}
