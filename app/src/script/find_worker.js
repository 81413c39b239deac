// The worker that searches for layouts. The build puts the names of the module's files in.
import init, { Finder, choose_memory_unit } from "/pkg/search.js";

/** The interval at which results are written: to write them takes longer than to search. */
const UPDATE_INTERVAL_MS = 250;

/** Runs the search of an address, and posts its progress and results. */
async function search(query) {
  await init({ module_or_path: "/pkg/search_bg.wasm" });
  choose_memory_unit(self.name);
  const finder = new Finder(query);
  let [written, updated] = ["", performance.now()];
  for (;;) {
    const progress = JSON.parse(finder.step());
    const isTime = progress.done || performance.now() - updated >= UPDATE_INTERVAL_MS;
    const html = isTime ? finder.html() : written;
    if (isTime) updated = performance.now();
    postMessage({ progress, html: html === written ? undefined : html });
    written = html;
    if (progress.done) return;
  }
}

onmessage = ({ data }) => {
  search(data).catch((error) => postMessage({ error: String(error) }));
};
