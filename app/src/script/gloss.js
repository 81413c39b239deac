// The glossary: a label that is a word of the trade says what it means, under the pointer, with the
// focus, and on a touch. It waits for the pointer, stays while that is on it, and goes by Escape.
//
// Labels stay as they are: what is known of them is in a file of the server, and the explanation is
// an element of its own, above the page, so that nothing moves. Knobs and cards have a button "?"
// beside their labels, which has their focus; other labels take it themselves, each word once.

import { at, make } from "./page.js";

/** What is a label, if it has one of the words. */
const LABELS = ".knob-label, .card-head h2, th, dt, legend, .legend > *, svg.chart text";

/** Of these, the ones that have no button of their own. */
const ALONE = "main :is(th, dt, .legend > *)";

const FOCUSABLE = "a, button, input, select, textarea, summary, [tabindex]";

/** Letters of a label, at most: more of them are a sentence. */
const MAX_LENGTH = 60;

/** How long the pointer has to rest, and how long it may be away, in milliseconds. */
const [REST, AWAY] = [400, 400];

const GAP = 6;

/** Labels are looked through for so long at a time, in milliseconds: the page stays quick. */
const SLICE = 8;

/** The terms by their names: `{name, about, pattern}`, the longest first. */
let terms = [];

/** What is shown: its label and its element. */
let shown;

let timer;

/** The terms of texts that were looked at before. */
const found = new Map();

const escaped = (name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Finds a name as a word of its own; one in capitals only in capitals. */
function patternOf(name) {
  const isShort = name === name.toUpperCase() || /^[a-z]?[A-Z][A-Za-z]?[A-Z]/.test(name);
  const edge = (end) => (/[A-Za-z0-9]/.test(name.at(end)) ? "[A-Za-z0-9]" : "(?!)");
  const source = `(?<!${edge(0)}|-)${escaped(name)}(?!${edge(-1)}|-)`;
  return new RegExp(source, isShort ? "u" : "iu");
}

async function load() {
  // Without a line nothing is explained.
  const answer = await fetch(at("/glossary.json")).catch(() => undefined);
  if (!answer?.ok) return;
  const isChinese = document.documentElement.lang === "zh-CN";
  const say = isChinese ? (await import("./translate.js")).translate : (text) => text;
  const all = (await answer.json()).terms.flatMap(({ names, about }) => {
    const known = new Set([...names, ...names.map((name) => say(name))]);
    return [...known].map((name) => ({ name, about, pattern: patternOf(name) }));
  });
  terms = all.sort((one, other) => other.name.length - one.name.length);
}

/** The term of a label: of its longest name. */
function termOf(label) {
  const text = (label.textContent ?? "").trim();
  if (text.length === 0 || text.length > MAX_LENGTH) return undefined;
  if (!found.has(text)) found.set(text, terms.find(({ pattern }) => pattern.test(text)));
  return found.get(text);
}

/** The label that an element is of, or beside. */
function labelOf(element) {
  if (element.matches(".info")) {
    return element.closest(".knob-head, .card-head")?.querySelector(".knob-label, h2");
  }
  return element.closest(LABELS) ?? (element.matches("a") ? element.querySelector("text") : null);
}

function hide() {
  clearTimeout(timer);
  if (!shown) return;
  const { anchor, tip, before } = shown;
  shown = undefined;
  if (before === null) anchor.removeAttribute("aria-describedby");
  else anchor.setAttribute("aria-describedby", before);
  tip.remove();
}

/** Puts the explanation below its label, or above where there is no room; beside a knob's row, so
 * that it covers no other one. */
function place(label, tip) {
  const box = label.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const row = label.closest(".knob")?.getBoundingClientRect();
  if (row && row.right + tip.offsetWidth + 2 * GAP < width) {
    tip.style.left = `${row.right + GAP}px`;
    tip.style.top = `${Math.min(box.top, height - tip.offsetHeight - GAP)}px`;
    return;
  }
  const left = Math.max(GAP, Math.min(box.left, width - tip.offsetWidth - GAP));
  const below = box.bottom + GAP;
  const isBelow = below + tip.offsetHeight < height;
  tip.style.left = `${left}px`;
  tip.style.top = `${isBelow ? below : Math.max(GAP, box.top - GAP - tip.offsetHeight)}px`;
}

/** Shows what a label means; `anchor` is what has the focus or the pointer. */
function show(label, anchor = label) {
  const term = termOf(label);
  if (shown?.label === label) return clearTimeout(timer);
  hide();
  if (!term || !label.isConnected) return;
  const name = make("b", {}, term.name);
  const about = make("span", {}, term.about);
  const tip = make("div", { id: "gloss", class: "gloss", role: "tooltip", popover: "manual" });
  tip.append(name, " ", about);
  (label.closest("dialog") ?? document.body).append(tip);
  tip.showPopover();
  place(label, tip);
  const before = anchor.getAttribute("aria-describedby");
  anchor.setAttribute("aria-describedby", [before, "gloss"].filter(Boolean).join(" "));
  shown = { label, anchor, tip, before };
}

function over({ target, pointerType }) {
  if (pointerType === "touch" || !(target instanceof Element)) return;
  if (shown?.tip.contains(target)) return clearTimeout(timer);
  const label = target.closest(LABELS);
  clearTimeout(timer);
  if (label && label === shown?.label) return;
  if (label && termOf(label)) timer = setTimeout(() => show(label), REST);
  // What has the focus keeps its explanation.
  else if (shown && shown.anchor !== document.activeElement) timer = setTimeout(hide, AWAY);
}

function focus({ target }) {
  if (!(target instanceof Element) || !target.matches(":focus-visible")) return hide();
  const label = labelOf(target);
  if (label) show(label, target);
  else hide();
}

/** A touch on a label that does nothing else explains it; one elsewhere ends that. */
function touch({ target, pointerType }) {
  if (pointerType !== "touch" || !(target instanceof Element)) return;
  if (shown?.tip.contains(target)) return;
  const label = target.closest(LABELS);
  if (label && !target.closest("a, button, input, select, label, summary")) show(label);
  else hide();
}

function press(event) {
  if (event.key !== "Escape" || !shown) return;
  hide();
  event.stopImmediatePropagation();
}

/** The labels that got the focus from here. */
let marked = new Set();

/** How often labels have been marked: what is marked again isn't marked to its end. */
let turns = 0;

/** Gives the focus to labels that have no button, the first of each term, and underlines them. */
async function mark() {
  const turn = ++turns;
  const seen = new Set();
  const first = new Set();
  const ranges = [];
  let since = performance.now();
  for (const label of document.querySelectorAll(ALONE)) {
    if (performance.now() - since > SLICE) {
      await new Promise((resume) => setTimeout(resume));
      if (turn !== turns) return;
      since = performance.now();
    }
    const term = termOf(label);
    if (!term || label.closest("[hidden], .visually-hidden")) continue;
    if (seen.has(term.about) || label.querySelector(FOCUSABLE)) continue;
    if (label.parentElement.closest(FOCUSABLE)) continue;
    seen.add(term.about);
    first.add(label);
    if (!label.hasAttribute("tabindex")) label.setAttribute("tabindex", "0");
    const range = document.createRange();
    range.selectNodeContents(label);
    ranges.push(range);
  }
  // As on a page that has just come: what isn't the first any more is none.
  for (const label of marked) if (!first.has(label)) label.removeAttribute("tabindex");
  marked = first;
  if ("highlights" in CSS) CSS.highlights.set("gloss", new Highlight(...ranges));
}

/** Follows labels, once the page has nothing else to do. */
export function startGlossary() {
  if (!("popover" in HTMLElement.prototype)) return;
  const begin = async () => {
    await load();
    if (terms.length === 0) return;
    document.addEventListener("pointerover", over);
    document.addEventListener("pointerup", touch);
    document.addEventListener("focusin", focus);
    document.addEventListener("focusout", hide);
    addEventListener("keydown", press, true);
    addEventListener("scroll", hide, true);
    await mark();
    document.documentElement.dataset.glossary = "true";
    let waiting;
    const again = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => void mark(), 500);
    };
    const main = document.querySelector("main");
    if (main) new MutationObserver(again).observe(main, { childList: true, subtree: true });
  };
  const idle = window.requestIdleCallback ?? ((act) => setTimeout(act, 200));
  idle(() => void begin());
}
