// The worker that searches for layouts. The build puts the names of the module's files in.
import init, { Finder, choose_memory_unit } from "/pkg/search.js";

/** Milliseconds between two looks at what is found: to write it takes longer than to search. */
const LOOK = 250;

/** Searches what the address asks for, and says how far it is and what is found. */
async function search(query) {
  await init({ module_or_path: "/pkg/search_bg.wasm" });
  choose_memory_unit(self.name);
  const finder = new Finder(query);
  let [written, looked] = ["", performance.now()];
  for (;;) {
    const progress = JSON.parse(finder.step());
    const isTime = progress.done || performance.now() - looked >= LOOK;
    const html = isTime ? finder.html() : written;
    if (isTime) looked = performance.now();
    postMessage({ progress, html: html === written ? undefined : html });
    written = html;
    if (progress.done) return;
  }
}

onmessage = ({ data }) => {
  search(data).catch((error) => postMessage({ error: String(error) }));
};
