// A dictionary of whole texts, with places for numbers and for other texts.
//
// `server/src/translation/dictionary.rs` reads and looks up in the same way, and has the words for
// it;
// `end2end/words.mjs` holds both to the same texts.

/** Texts within texts go no deeper; longer ones are left as they are. */
const MAX_DEPTH = 4;
const MAX_LENGTH = 4000;

const NUMBER = /(?:(?<![A-Za-z0-9])[+\-−])?[0-9](?:[0-9]|[,.](?=[0-9]))*/g;

/** The texts that a key stands for, each with its translation. */
function expand(key, translation, parts) {
  for (const [whole, inside] of key.matchAll(/\{([^{}]*)\}/g)) {
    if (Object.hasOwn(parts, inside)) {
      return Object.entries(parts[inside]).flatMap(([text, own]) =>
        expand(key.split(whole).join(text), translation.split(whole).join(own), parts)
      );
    }
    if (inside.includes("|")) {
      const texts = inside.split("|");
      return texts.flatMap((text) => expand(key.replace(whole, () => text), translation, parts));
    }
  }
  return [[key, translation]];
}

/** The texts in the places of a pattern; undefined where the text doesn't fit. */
function match(literals, text) {
  const [first, ...rest] = literals;
  if (!text.startsWith(first)) return undefined;
  let at = text.slice(first.length);
  const texts = [];
  for (const [index, literal] of rest.entries()) {
    const isLast = index + 1 === rest.length;
    const fits = !isLast || at.endsWith(literal);
    const end = isLast ? at.length - literal.length : at.indexOf(literal, 1);
    if (!fits || end < 1) return undefined;
    texts.push(at.slice(0, end));
    at = at.slice(end + literal.length);
  }
  return texts;
}

/** A translation with its places filled. */
function fill(translation, texts) {
  let next = 0;
  return translation.replace(/#|\{([0-9]*)\}/g, (_, place) => {
    const index = place ? Number(place) - 1 : next++;
    return texts[index] ?? "";
  });
}

/** English to another language. */
export class Dictionary {
  #exact = new Map();
  #shapes = new Map();
  #patterns = [];

  constructor(words, parts) {
    const entries = Object.entries(words).flatMap((entry) => expand(...entry, parts));
    for (const [key, translation] of entries) {
      if (key.includes("{}")) {
        this.#patterns.push({ key, literals: key.split("{}"), translation });
      } else if (key.includes("#")) this.#shapes.set(key, translation);
      else this.#exact.set(key, translation);
    }
    const literal = ({ literals }) => [...literals.join("")].length;
    const order = (one, other) => (one.key < other.key ? -1 : 1);
    this.#patterns.sort((one, other) => literal(other) - literal(one) || order(one, other));
  }

  /** A text in the other language; undefined where it isn't known. */
  translate(text, depth = 0) {
    if (depth > MAX_DEPTH || text.length > MAX_LENGTH || !/[A-Za-z]/.test(text)) return undefined;
    const whole = this.#exact.get(text);
    if (whole !== undefined) return whole;
    const numbers = [];
    const shape = text.replace(NUMBER, (number) => {
      numbers.push(number);
      return "#";
    });
    const translation = this.#shapes.get(shape);
    if (translation !== undefined) return fill(translation, numbers);
    for (const { literals, translation } of this.#patterns) {
      const texts = match(literals, text);
      if (texts) {
        return fill(translation, texts.map((part) => this.translate(part, depth + 1) ?? part));
      }
    }
    return this.#translateSentences(text, depth);
  }

  /** Sentence by sentence, where all of them are known. */
  #translateSentences(text, depth) {
    for (const [between, joint] of [[". ", ""], ["; ", "；"]]) {
      const sentences = text.split(between);
      if (sentences.length < 2) continue;
      const translations = sentences.map((sentence, index) => {
        if (between !== ". " || index === sentences.length - 1) {
          return this.translate(sentence, depth + 1);
        }
        const whole = this.translate(`${sentence}.`, depth + 1);
        if (whole !== undefined) return whole;
        const open = this.translate(sentence, depth + 1);
        return open === undefined ? undefined : `${open}。`;
      });
      if (!translations.includes(undefined)) return translations.join(joint);
    }
    return undefined;
  }
}
