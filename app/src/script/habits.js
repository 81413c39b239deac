// Keys and menus on every page, numbers to be copied, the palette, the designs that the browser
// keeps, printing, and use without the server. Scripts that aren't needed at once are loaded on
// demand.

import * as page from "./page.js";
import { startChoosing } from "./choose.js";
import { startGlossary } from "./gloss.js";
import { pressMenu, startMenus } from "./menu.js";
import { start as startOffline } from "./offline.js";

/** The timer of the wait for the letter after `g`. */
let goTimer;

/** The rest of the knobs after which a design is noted as a recent one. */
const REST_MS = 4000;

/** The keys typed while the palette loads; undefined at any other time. */
let pendingKeys;

async function palette() {
  pendingKeys ??= "";
  try {
    const { togglePalette } = await import("./palette.js");
    togglePalette(pendingKeys);
  } finally {
    pendingKeys = undefined;
  }
}

const designs = () => import("./designs.js");

/** Whether a key types or chooses something where the focus is. */
function isTyping(key) {
  const focused = document.activeElement;
  // The focus stays in a dialog until the next frame after that has closed.
  if (!focused || focused.closest("dialog:not([open])")) return false;
  if (focused.isContentEditable || focused.matches("textarea, select")) return true;
  if (!focused.matches("input")) return false;
  if (["checkbox", "radio", "range", "button", "submit"].includes(focused.type)) return false;
  // No number has a bracket, so that one can go from knob to knob.
  return !(focused.type === "number" && (key === "[" || key === "]"));
}

/** Goes to the view or page of a letter. */
async function go(letter) {
  const { goByLetter } = await import("./places.js");
  if (!goByLetter(letter)) page.announce(`There is no shortcut g ${letter}`);
}

function explainMetric() {
  const knob = document.activeElement?.closest("[data-knob]");
  if (knob) return knob.querySelector(".info")?.click();
  page.explain(page.metricAtHand() ?? "mfu");
}

/** The keys of the explorer that no other page has. */
const EXPLORER = {
  "[": () => page.nextKnob(-1),
  "]": () => page.nextKnob(1),
  x: explainMetric,
  y: () => void page.copyExact(page.metricAtHand() ?? "mfu"),
  h: () => document.querySelector("[data-key=h]")?.click(),
};

/** The keys of all other pages; the explorer's module has these itself. */
const ELSEWHERE = {
  "?": () => void palette(),
  "[": () => page.visible("a[rel=prev]")?.click(),
  "]": () => page.visible("a[rel=next]")?.click(),
};

/** Acts on a single letter; false where it has no meaning. */
function letter(key) {
  const isReview = document.querySelector(".page.reviewing") !== null;
  if (key === "g") {
    clearTimeout(goTimer);
    goTimer = setTimeout(() => (goTimer = undefined), 2000);
    return true;
  }
  if (key === "d" && !document.activeElement?.closest("figure.timeline")) {
    void designs().then(({ showDesigns }) => showDesigns());
    return true;
  }
  if (key === "t") {
    page.switchTheme();
    return true;
  }
  const keys = isReview ? {} : document.querySelector(".page") ? EXPLORER : ELSEWHERE;
  if (!(key in keys)) return false;
  keys[key]();
  return true;
}

/** Keeps a key for the palette while that loads; false for keys that it has no use for. */
function keepKey(key) {
  if (key === "Backspace") pendingKeys = pendingKeys.slice(0, -1);
  else if (key.length === 1) pendingKeys += key;
  else return false;
  return true;
}

function press(event) {
  const control = event.ctrlKey || event.metaKey;
  if (pendingKeys !== undefined && !control && !event.altKey && keepKey(event.key)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (control && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    event.stopImmediatePropagation();
    void palette();
    return;
  }
  if (control || event.altKey || isTyping(event.key)) return;
  if (document.querySelector("dialog:modal")) return;
  if (pressMenu(event)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (page.cookie("keys") === "off") return;
  if (goTimer !== undefined) {
    clearTimeout(goTimer);
    goTimer = undefined;
    if (/^[a-z]$/.test(event.key)) void go(event.key);
  } else if (!letter(event.key)) {
    return;
  }
  // Keeps the event from the explorer's own keys.
  event.preventDefault();
  event.stopImmediatePropagation();
}

function click(event) {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest("[data-palette]")) return void palette();
  if (event.target.closest("[data-switch-theme]")) return page.switchTheme();
  if (event.target.closest("[data-switch-language]")) return page.switchLanguage();
  if (event.target.closest("[data-act=copy-link]")) return void page.copyLink();
  if (event.target.closest("[data-act=print]")) return print();
  if (event.target.closest(".skip[href='#knobs']")) {
    // To the first of them; on a phone the sheet is raised.
    event.preventDefault();
    return page.nextKnob(1);
  }
  const number = event.target.closest(".card-value, .explained-value");
  if (!number || !page.isExplorer() || String(getSelection()) !== "") return;
  const place = number.closest("[data-explained], [data-metric]");
  void page.copyExact(place.dataset.explained ?? place.dataset.metric);
}

/** Writes the page's address and the model's version below what is printed. */
function beforePrint() {
  document.getElementById("printed")?.remove();
  const query = page.design();
  const address = page.addressOf(query);
  const version = document.querySelector("meta[name=model-version]")?.content;
  const model = version ? ` · model ${version}` : "";
  const day = new Date().toISOString().slice(0, 10);
  const words = `Moescape${model} · printed ${day} · `;
  document.body.append(page.make("p", { id: "printed" }, words, page.make("span", {}, address)));
  // Canvases don't follow the style sheet for paper.
  if (!page.isDark()) return;
  const root = document.documentElement;
  const own = root.getAttribute("data-theme");
  root.dataset.theme = "light";
  const back = () =>
    own === null ? root.removeAttribute("data-theme") : root.setAttribute("data-theme", own);
  addEventListener("afterprint", back, { once: true });
}

/** Notes designs as recent ones when their knobs rest. */
function noteDesigns() {
  const link = document.querySelector("a[data-sheet]");
  if (!link) return;
  let waiting;
  const note = () => void designs().then(({ remember }) => remember(page.design()));
  new MutationObserver(() => {
    clearTimeout(waiting);
    waiting = setTimeout(note, REST_MS);
  }).observe(link, { attributeFilter: ["href"] });
}

/** Goes to the knob, explanation or view that the address names. */
function followHash() {
  const [, kind, id] = /^#(knob|explain|view)-(.+)$/.exec(location.hash) ?? [];
  const view = kind === "view" ? page.viewOf(decodeURIComponent(id)) : undefined;
  if (view) page.goToView(view);
  if (kind === "knob") page.goToKnob(decodeURIComponent(id));
  if (kind === "explain") page.explain(decodeURIComponent(id));
}

if (document.documentElement.lang === "zh-CN") void import("./translate.js");
// Capturing: in front of the module's own keys.
addEventListener("keydown", press, true);
document.addEventListener("click", click);
addEventListener("beforeprint", beforePrint);
page.whenHydrated(() => {
  startMenus();
  startChoosing();
  startGlossary();
  followHash();
  if (page.isExplorer()) noteDesigns();
  if (document.getElementById("timeline") !== null) void import("./timeline.js");
});
const ofPage = [];
if (document.querySelector("[data-tour]")) ofPage.push(import("./tour.js"));
if (document.querySelector("[data-gallery]")) ofPage.push(import("./gallery.js"));
// Until the page's own script is there, its keys lead to a page instead of turning this one.
void Promise.allSettled(ofPage).then(() => (document.documentElement.dataset.habits = "true"));
startOffline();
