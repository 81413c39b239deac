// Pages in a folder of files, which no server of ours hands out: links that the page makes lead
// into the folder, and what the server would write for an address is written here, by the same
// code in a module.

import { at, here, whenHydrated } from "./page.js";

/** The paths of the folder's pages, which stand for all their queries. */
const PAGES = ["PAGES"];

/** Pages that the server writes for a query, and the part of each that depends on it. */
const WRITTEN = { "/find": "main", "/compare": ".compare-parts", "/schedule/of": "main" };

const NEEDS_SERVER = "/needs-server";

const root = document.documentElement;

/** The address of the site that an address of the folder stands for. */
function known(address) {
  const [, path, rest] = /^([^?#]*)(.*)$/s.exec(address) ?? [];
  const step = path === "/tour" ? /^\?step=(\d+)$/.exec(rest) : null;
  if (step) return `/tour/${step[1]}`;
  const isFile = /\.[a-z0-9]+$/.test(path) && !/\.(csv|md)$/.test(path);
  return isFile || PAGES.includes(path) ? address : NEEDS_SERVER;
}

function lead(element) {
  for (const name of ["href", "action"]) {
    const address = element.getAttribute(name);
    if (!address?.startsWith("/") || address.startsWith("//")) continue;
    const to = known(address);
    // It would save the page under the name of a file.
    if (to === NEEDS_SERVER) element.removeAttribute("download");
    element.setAttribute(name, at(to));
  }
}

function leadTree(node) {
  if (!(node instanceof Element)) return;
  lead(node);
  node.querySelectorAll('[href^="/"], [action^="/"]').forEach(lead);
}

new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    if (type === "attributes") lead(target);
    else addedNodes.forEach(leadTree);
  }
}).observe(root, {
  attributeFilter: ["href", "action"],
  attributes: true,
  childList: true,
  subtree: true,
});
leadTree(root);

/** Notes on a link what it was written with, for a page that follows it by itself. */
function note({ target }) {
  const link = target instanceof Element && target.closest("a[href]");
  if (!link || link.getAttribute("href").startsWith("#")) return;
  const { href } = link;
  const whole = typeof href === "string" ? href : new URL(href.baseVal, location.href).href;
  const { base } = root.dataset;
  if (!whole.startsWith(base)) return;
  const [, path, rest] = /^([^?#]*)(.*)$/s.exec(whole.slice(base.length));
  link.dataset.known = `/${path.replace(/\/$/, "")}${rest}`;
}
document.addEventListener("click", note, true);

/** Links of the header take the design along. */
function takeAlong(query) {
  for (const page of ["/", "/find", "/serving", "/budget"]) {
    for (const link of document.querySelectorAll(`.header a[href="${at(page)}"]:not(.brand)`)) {
      link.setAttribute("href", at(`${page}?${query}`));
    }
  }
}

/** Writes a part of the page for its address. */
async function write(place) {
  const module = await import("/pkg/writer.js");
  const file = new URL("/pkg/writer_bg.wasm", import.meta.url);
  await module.default({ module_or_path: file });
  module.choose_memory_unit(root.dataset.units ?? "");
  const [html, to, design] = module.written(here(), location.search, root.dataset.finder ?? "");
  if (to) return location.replace(at(to));
  if (design) takeAlong(design);
  place.innerHTML = html;
  document.dispatchEvent(new Event("moescape-written"));
}

async function follow() {
  const place = document.querySelector(WRITTEN[here()] ?? "none");
  try {
    if (place && location.search) await write(place);
  } catch {
    place.textContent = "The page couldn't be loaded. Reload it to try again.";
  }
  delete root.dataset.following;
}

// A module follows the address by itself, in the frame after it has taken the page over.
if (here() in WRITTEN) void follow();
else whenHydrated(() => setTimeout(() => delete root.dataset.following));
