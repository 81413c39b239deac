// Keys on every page, numbers to be copied, the palette, the designs that the browser keeps, what
// goes on paper, and a life without the server. What isn't needed at once is loaded when it is.

import * as page from "./page.js";
import { start as startOffline } from "./offline.js";

/** Waiting for the letter after `g`; ends by itself. */
let going;

/** A design is noted as a recent one when its knobs have rested for this long. */
const REST_MS = 4000;

/** What is typed while the palette is on its way; undefined at any other time. */
let typed;

async function palette() {
  typed ??= "";
  try {
    const { togglePalette } = await import("./palette.js");
    togglePalette(typed);
  } finally {
    typed = undefined;
  }
}

const designs = () => import("./designs.js");

/** Does a key type or choose something where the focus is? */
function types(key) {
  const focused = document.activeElement;
  // What was focused in a dialog stays so until the next frame after that has closed.
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
  if (!goByLetter(letter)) page.say(`There is no place at g ${letter}`);
}

function explainAtHand() {
  const knob = document.activeElement?.closest("[data-knob]");
  if (knob) return knob.querySelector(".info")?.click();
  page.explain(page.metricAtHand() ?? "mfu");
}

/** The keys of the explorer that no other page has. */
const EXPLORER = {
  "[": () => page.nextKnob(-1),
  "]": () => page.nextKnob(1),
  x: explainAtHand,
  y: () => void page.copyExact(page.metricAtHand() ?? "mfu"),
  h: () => document.querySelector("[data-key=h]")?.click(),
};

/** The keys of all other pages; the explorer's module has these itself. */
const ELSEWHERE = {
  t: page.switchTheme,
  "?": () => void palette(),
  "[": () => page.seen("a[rel=prev]")?.click(),
  "]": () => page.seen("a[rel=next]")?.click(),
};

/** Acts on a single letter; false where it is none of ours. */
function letter(key) {
  const isReview = document.querySelector(".page.reviewing") !== null;
  if (key === "g") {
    clearTimeout(going);
    going = setTimeout(() => (going = undefined), 2000);
    return true;
  }
  if (key === "d" && !document.activeElement?.closest("figure.timeline")) {
    void designs().then(({ showDesigns }) => showDesigns());
    return true;
  }
  const keys = isReview ? {} : document.querySelector(".page") ? EXPLORER : ELSEWHERE;
  if (!(key in keys)) return false;
  keys[key]();
  return true;
}

/** Keeps a key for the palette, while that is on its way; false for keys that it has no use for. */
function keepTyped(key) {
  if (key === "Backspace") typed = typed.slice(0, -1);
  else if (key.length === 1) typed += key;
  else return false;
  return true;
}

function press(event) {
  const control = event.ctrlKey || event.metaKey;
  if (typed !== undefined && !control && !event.altKey && keepTyped(event.key)) {
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
  if (control || event.altKey || types(event.key) || document.querySelector("dialog:modal")) return;
  if (page.cookie("keys") === "off") return;
  if (going !== undefined) {
    clearTimeout(going);
    going = undefined;
    if (/^[a-z]$/.test(event.key)) void go(event.key);
  } else if (!letter(event.key)) {
    return;
  }
  // The explorer's own keys don't hear it as well.
  event.preventDefault();
  event.stopImmediatePropagation();
}

function click(event) {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest("[data-palette]")) return void palette();
  if (event.target.closest("[data-switch-theme]")) return page.switchTheme();
  const number = event.target.closest(".card-value, .explained-value");
  if (!number || !page.isExplorer() || String(getSelection()) !== "") return;
  const place = number.closest("[data-explained], [data-metric]");
  void page.copyExact(place.dataset.explained ?? place.dataset.metric);
}

/** Writes below what is printed where it can be found and what made it. */
function beforePrint() {
  document.getElementById("printed")?.remove();
  const query = page.design();
  const address = query === undefined ? location.href : `${location.origin}/?${query}`;
  const version = document.querySelector("meta[name=model-version]")?.content;
  const model = version ? ` · model ${version}` : "";
  const day = new Date().toISOString().slice(0, 10);
  const words = `Moescape${model} · printed ${day} · `;
  document.body.append(page.make("p", { id: "printed" }, words, page.make("span", {}, address)));
  // What is drawn on a canvas knows no style sheet for paper.
  const { theme } = document.documentElement.dataset;
  if (theme !== "dark") return;
  document.documentElement.dataset.theme = "light";
  const back = () => (document.documentElement.dataset.theme = theme);
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

/** Goes where the address asks for: to a knob, to an explanation. */
function follow() {
  const [, kind, id] = /^#(knob|explain)-(.+)$/.exec(location.hash) ?? [];
  if (kind === "knob") page.goToKnob(decodeURIComponent(id));
  if (kind === "explain") page.explain(decodeURIComponent(id));
}

/** Calls back once the page works: at once where no module takes it over. */
function whenTaken(act) {
  const root = document.documentElement;
  const hasModule = document.querySelector("link[rel=modulepreload]") !== null;
  if (!hasModule || root.dataset.hydrated === "true") return act();
  const watch = new MutationObserver(() => {
    if (root.dataset.hydrated !== "true") return;
    watch.disconnect();
    act();
  });
  watch.observe(root, { attributeFilter: ["data-hydrated"] });
}

/** Brings the link of this page into view where the header has no room for all. */
function showCurrent() {
  const pages = document.querySelector("nav.pages");
  const current = pages?.querySelector("[aria-current]");
  if (current) pages.scrollLeft = current.offsetLeft - pages.offsetLeft - 8;
}

// Capturing: in front of the module's own keys.
document.documentElement.dataset.habits = "true";
if (document.documentElement.lang === "zh-CN") void import("./translate.js");
addEventListener("keydown", press, true);
document.addEventListener("click", click);
addEventListener("beforeprint", beforePrint);
showCurrent();
whenTaken(() => {
  follow();
  if (page.isExplorer()) noteDesigns();
});
if (document.querySelector("[data-tour]")) void import("./tour.js");
if (document.querySelector("[data-gallery]")) void import("./gallery.js");
startOffline(whenTaken);
