// What changes on a page is said in the visitor's language, with the dictionary by which the server
// has said the page: texts, attributes that are read, and words on canvases.
//
// Everything else knows English only.

import { parts, words } from "./chinese.js";
import { Dictionary } from "./dictionary.js";

/** Attributes that people read or hear. */
const READ = [
  "title", "aria-label", "aria-valuetext", "placeholder", "alt", "label", "data-label",
];

/** What is somebody's own, such as a name or a comment. */
const OWN = "[translate=no]";

/** What is no language. An option without a value has its text for one. */
const LEFT = `script, style, code, pre, kbd, textarea, option:not([value]), ${OWN}`;

/** So many looked-up texts are remembered. */
const MAX_KNOWN = 4000;

const dictionary = new Dictionary(words, parts);

/** Texts that were looked up, with what came of it: most come again. */
const known = new Map();

/** A text in the visitor's language, with the white space around it; else the text itself. */
export function translate(text) {
  let said = known.get(text);
  if (said === undefined) {
    const inner = text.trim();
    const translated = dictionary.translate(inner.replace(/\s+/g, " "));
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
