// Translates the changes of a page with the dictionary by which the server translated the page:
// texts, attributes that are read aloud, and words on canvases. Other scripts know only English.

import { parts, words } from "./chinese.js";
import { Dictionary } from "./dictionary.js";

/** Attributes that people read or hear. */
const ATTRIBUTES = [
  "title", "aria-label", "aria-valuetext", "placeholder", "alt", "label", "data-label",
];

/** Texts that people wrote, such as names and comments. */
const OWN = "[translate=no]";

/** Texts that stay as they are. An option without a value has its text for one. */
const UNTRANSLATED = `script, style, code, pre, kbd, textarea, option:not([value]), ${OWN}`;

/** The texts remembered with their translations, at most. */
const MAX_KNOWN = 4000;

const dictionary = new Dictionary(words, parts);

/** Texts with their translations: most come again. */
const known = new Map();

/** A text in the visitor's language, with the white space around it; else the text itself. */
export function translate(text) {
  let translation = known.get(text);
  if (translation === undefined) {
    const inner = dictionary.translate(text.trim().replace(/\s+/g, " "));
    const start = text.slice(0, text.length - text.trimStart().length);
    const end = text.slice(text.trimEnd().length);
    translation = inner === undefined ? text : `${start}${inner}${end}`;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, translation);
  }
  return translation;
}

function translateText(node) {
  const text = translate(node.data);
  if (text !== node.data && !node.parentElement?.closest(UNTRANSLATED)) node.data = text;
}

function translateAttribute(element, name) {
  const value = element.getAttribute(name);
  if (!value) return;
  const translation = translate(value);
  if (translation !== value && !element.closest(OWN)) element.setAttribute(name, translation);
}

/** Translates a part of the page. */
function translateTree(root) {
  if (root.nodeType === Node.TEXT_NODE) return translateText(root);
  if (root.nodeType !== Node.ELEMENT_NODE) return;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = root; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) translateText(node);
    else ATTRIBUTES.forEach((name) => translateAttribute(node, name));
  }
}

/** Measures and draws words on canvases in translation. */
function translateCanvases() {
  const drawing = CanvasRenderingContext2D.prototype;
  for (const name of ["fillText", "strokeText", "measureText"]) {
    const draw = drawing[name];
    drawing[name] = function translated(text, ...rest) {
      return draw.call(this, translate(String(text)), ...rest);
    };
  }
}

// A translation is a change again; it then stays as it is.
new MutationObserver((changes) => {
  for (const { type, target, attributeName, addedNodes } of changes) {
    if (type === "characterData") translateText(target);
    else if (type === "attributes") translateAttribute(target, attributeName);
    else addedNodes.forEach(translateTree);
  }
}).observe(document.documentElement, {
  attributeFilter: ATTRIBUTES,
  attributes: true,
  characterData: true,
  childList: true,
  subtree: true,
});
translateCanvases();
translateTree(document.documentElement);
document.documentElement.dataset.translated = "true";
