// What changes on a page is said in the visitor's language, with the dictionary by which the server
// has said the page: texts, attributes that are read, and words on canvases.
//
// Everything else knows English only. `server/src/language/dictionary.rs` looks texts up in the
// same way and has the words for it; a test holds both to the same pages.

import { words } from "./chinese.js";

/** Attributes that people read or hear. */
const READ = [
  "title", "aria-label", "aria-valuetext", "placeholder", "alt", "label", "data-label",
];

/** What is somebody's own, such as a name or a comment. */
const OWN = "[translate=no]";

/** What is no language. An option without a value has its text for one. */
const LEFT = `script, style, code, pre, kbd, textarea, option:not([value]), ${OWN}`;

/** Texts within texts go no deeper; longer ones are left as they are. */
const MAX_DEPTH = 4;
const MAX_LENGTH = 4000;

/** So many looked-up texts are remembered. */
const MAX_KNOWN = 4000;

const NUMBER = /(?:(?<![A-Za-z0-9])[+\-−])?[0-9](?:[0-9]|[,.](?=[0-9]))*/g;

const exact = new Map();
const shapes = new Map();
const patterns = [];

for (const [key, says] of words) {
  if (key.includes("{}")) patterns.push({ key, literals: key.split("{}"), says });
  else if (key.includes("#")) shapes.set(key, says);
  else exact.set(key, says);
}

const literal = ({ literals }) => [...literals.join("")].length;
const order = (one, other) => (one.key < other.key ? -1 : 1);
patterns.sort((one, other) => literal(other) - literal(one) || order(one, other));

/** What stands in the places of a pattern; undefined where the text doesn't fit. */
function found(literals, text) {
  const [first, ...rest] = literals;
  if (!text.startsWith(first)) return undefined;
  let at = text.slice(first.length);
  const parts = [];
  for (const [index, literal] of rest.entries()) {
    const isLast = index + 1 === rest.length;
    const fits = !isLast || at.endsWith(literal);
    const end = isLast ? at.length - literal.length : at.indexOf(literal, 1);
    if (!fits || end < 1) return undefined;
    parts.push(at.slice(0, end));
    at = at.slice(end + literal.length);
  }
  return parts;
}

/** What is said, with the places filled. */
function filled(says, parts) {
  let next = 0;
  return says.replace(/#|\{([0-9]*)\}/g, (_, place) => {
    const index = place ? Number(place) - 1 : next++;
    return parts[index] ?? "";
  });
}

/** Sentence by sentence, where all of them are known. */
function sayParts(text, depth) {
  for (const [between, joint] of [[". ", ""], ["; ", "；"]]) {
    const parts = text.split(between);
    if (parts.length < 2) continue;
    const said = parts.map((part, index) => {
      if (between !== ". " || index === parts.length - 1) return say(part, depth + 1);
      const whole = say(`${part}.`, depth + 1);
      if (whole !== undefined) return whole;
      const open = say(part, depth + 1);
      return open === undefined ? undefined : `${open}。`;
    });
    if (!said.includes(undefined)) return said.join(joint);
  }
  return undefined;
}

function say(text, depth) {
  if (depth > MAX_DEPTH || text.length > MAX_LENGTH || !/[A-Za-z]/.test(text)) return undefined;
  const whole = exact.get(text);
  if (whole !== undefined) return whole;
  const numbers = [];
  const shape = text.replace(NUMBER, (number) => {
    numbers.push(number);
    return "#";
  });
  const shaped = shapes.get(shape);
  if (shaped !== undefined) return filled(shaped, numbers);
  for (const { literals, says } of patterns) {
    const parts = found(literals, text);
    if (parts) return filled(says, parts.map((part) => say(part, depth + 1) ?? part));
  }
  return sayParts(text, depth);
}

/** Texts that were looked up, with what came of it: most come again. */
const known = new Map();

/** A text in the visitor's language, with the white space around it; else the text itself. */
export function translate(text) {
  let said = known.get(text);
  if (said === undefined) {
    const inner = text.trim();
    const translated = say(inner.replace(/\s+/g, " "), 0);
    const start = text.slice(0, text.length - text.trimStart().length);
    const end = text.slice(text.trimEnd().length);
    said = translated === undefined ? text : `${start}${translated}${end}`;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, said);
  }
  return said;
}

function sayText(node) {
  const said = translate(node.data);
  if (said !== node.data && !node.parentElement?.closest(LEFT)) node.data = said;
}

function sayAttribute(element, name) {
  const value = element.getAttribute(name);
  if (!value) return;
  const said = translate(value);
  if (said !== value && !element.closest(OWN)) element.setAttribute(name, said);
}

/** Says all that is in a part of the page. */
function sayAll(root) {
  if (root.nodeType === Node.TEXT_NODE) return sayText(root);
  if (root.nodeType !== Node.ELEMENT_NODE) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = root; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) sayText(node);
    else READ.forEach((name) => sayAttribute(node, name));
  }
}

/** Words that are drawn are measured and drawn as they are said. */
function sayDrawn() {
  const drawing = CanvasRenderingContext2D.prototype;
  for (const name of ["fillText", "strokeText", "measureText"]) {
    const draw = drawing[name];
    drawing[name] = function said(text, ...rest) {
      return draw.call(this, translate(String(text)), ...rest);
    };
  }
}

// What is written because of a change is seen as one again; it then stays as it is.
new MutationObserver((changes) => {
  for (const { type, target, attributeName, addedNodes } of changes) {
    if (type === "characterData") sayText(target);
    else if (type === "attributes") sayAttribute(target, attributeName);
    else addedNodes.forEach(sayAll);
  }
}).observe(document.documentElement, {
  attributeFilter: READ,
  attributes: true,
  characterData: true,
  childList: true,
  subtree: true,
});
sayDrawn();
sayAll(document.documentElement);
document.documentElement.dataset.translated = "true";
