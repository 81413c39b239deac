// Compares the estimates of the shipped WASM module with those of the native build, bit by bit, and
// what searches for layouts answer in both, letter by letter.
//
// Usage: node parity.mjs PKG_DIRECTORY JS WASM SEARCH_JS SEARCH_WASM CASES
// CASES is JSON: {"designs": [{"link": "v=1&…", "numbers": [f64…], "bits": ["16 hexadecimal
// digits"…]}…], "searches": [{"address": "?v=1&…", "answer": "JSON"}…]}.
// `numbers` has been through JSON on its way here and must still be the same bits.

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const CASES_AT_LEAST = 200;
const SHOWN_DIFFERENCES = 10;

const [packageDirectory, js, wasm, searchJs, searchWasm, casesFile] = process.argv.slice(2);
const { designs: cases, searches } = JSON.parse(await readFile(casesFile, "utf8"));
const { estimate_bits: estimate } = await load(packageDirectory, basename(js), wasm);

let compared = 0;
const differences = [];
for (const { link, numbers, bits } of cases) {
  const here = Array.from(estimate(link), bitsOf);
  const byJson = numbers.map(bitsOf);
  if (here.length !== bits.length || byJson.length !== bits.length) {
    differences.push(`${link}: ${here.length} numbers in WASM, ${bits.length} native`);
    continue;
  }
  for (const [index, native] of bits.entries()) {
    compared += 1;
    if (here[index] !== native) {
      differences.push(`${link}: number ${index} is ${here[index]} in WASM, ${native} native`);
    }
    if (byJson[index] !== native) {
      differences.push(`${link}: number ${index} is ${byJson[index]} after JSON, not ${native}`);
    }
  }
}
if (cases.length < CASES_AT_LEAST) {
  differences.push(`only ${cases.length} designs, not ${CASES_AT_LEAST}`);
}
if (compared === 0) {
  differences.push("no number was compared");
}

const { Finder } = await load(packageDirectory, basename(searchJs), searchWasm);
for (const { address, answer } of searches) {
  const finder = new Finder(address);
  while (!JSON.parse(finder.step()).done);
  if (finder.json() !== answer) {
    differences.push(`${address}: WASM answers ${finder.json()}, native ${answer}`);
  }
}
if (searches.length === 0) {
  differences.push("no search was compared");
}

console.log(
  `compared ${compared} numbers of ${cases.length} designs and ${searches.length} searches`,
);
if (differences.length > 0) {
  console.error(differences.slice(0, SHOWN_DIFFERENCES).join("\n"));
  console.error(`${differences.length} differences`);
  process.exitCode = 1;
}

/** The 64 bits of a number, as hexadecimal digits. */
function bitsOf(number) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

/** Loads the module as a browser would; node wants to be told that `.js` is a module. */
async function load(directory, glue, module) {
  const copy = await mkdtemp(join(tmpdir(), "moescape-parity-"));
  try {
    await cp(directory, copy, { recursive: true });
    await writeFile(join(copy, "package.json"), '{"type":"module"}');
    const exports = await import(pathToFileURL(join(copy, glue)).href);
    exports.initSync({ module: await readFile(module) });
    return exports;
  } finally {
    await rm(copy, { recursive: true });
  }
}
