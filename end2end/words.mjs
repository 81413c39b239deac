// Holds the browser's dictionary to the texts of words.json, to which a test of
// server/src/site/translation/dictionary.rs holds the server's: null where a text isn't known.
//
// Usage: node words.mjs

import { readFile } from "node:fs/promises";

const read = (path) => readFile(new URL(path, import.meta.url), "utf8");
const json = async (path) => JSON.parse(await read(path));
const dictionaryFile = (name) => json(`../crates/present/src/words/language/zh/${name}.json`);

// A script of pages: node would take it for a module of its older kind.
const script = await read("../app/src/script/dictionary.js");
const { Dictionary } = await import(`data:text/javascript,${encodeURIComponent(script)}`);

const words = await Promise.all(["model", "explorer", "pages"].map(dictionaryFile));
const dictionary = new Dictionary(Object.assign({}, ...words), await dictionaryFile("parts"));

const texts = Object.entries(await json("words.json"));
const differences = texts.flatMap(([text, expected]) => {
  const translation = dictionary.translate(text) ?? null;
  return translation === expected ? [] : [`${text}: ${translation}, not ${expected}`];
});
console.log(`compared ${texts.length} texts`);
if (differences.length > 0) {
  console.error(differences.join("\n"));
  process.exit(1);
}
