// The parts that the scripts of keys, palette and designs share: the current design, the explorer's
// module, places on the page, announcements.
//
// These scripts act through links, buttons and boxes that exist on the page, so that they work on
// every page and the modules know nothing of them.

/** The address of a place of the site; a folder of files begins elsewhere than a server. */
export function at(address) {
  const { base } = document.documentElement.dataset;
  if (!base) return address;
  const [, path, rest] = /^\/([^?#]*)(.*)$/s.exec(address) ?? ["", "", ""];
  const isFile = path === "" || path.includes(".") || path.startsWith("api/");
  return `${base}${path}${isFile ? "" : "/"}${rest}`;
}

/** The path of this page, from where the site begins. */
export function here() {
  const { base } = document.documentElement.dataset;
  if (!base) return location.pathname;
  const path = location.pathname.slice(new URL(base).pathname.length - 1);
  return path.replace(/(?<=.)\/$|\/index\.html$/, "") || "/";
}

/** Calls back once the page is hydrated: at once where no module hydrates it. */
export function whenHydrated(act) {
  const root = document.documentElement;
  const hasModule = document.querySelector("link[rel=modulepreload]") !== null;
  if (!hasModule || root.dataset.hydrated === "true") return act();
  const watch = new MutationObserver(() => {
    if (root.dataset.hydrated !== "true") return;
    watch.disconnect();
    act();
  });
  watch.observe(root, { attributeFilter: ["data-hydrated"] });
}

/** The first element that a selector names and that is in view. */
export function visible(selector) {
  return [...document.querySelectorAll(selector)].find(isReachable);
}

/** Whether an element is in view, or comes into view with the question that it answers. */
export function isReachable(element) {
  return element.checkVisibility() || element.closest(".question") !== null;
}

/** Whether this is the explorer, and works. */
export function isExplorer() {
  const root = document.documentElement;
  return document.querySelector(".page") !== null && root.dataset.hydrated === "true";
}

/** The current design as a query string; undefined where there is none. */
export function design() {
  const link = document.querySelector("a[data-sheet]")?.getAttribute("href");
  return link?.slice(link.indexOf("?") + 1);
}

/** Asks the explorer's module of the current design; undefined where it has no answer. */
export async function ask(question, id, query = design()) {
  const glue = document.querySelector("link[rel=modulepreload]")?.href;
  if (!isExplorer() || !glue || query === undefined) return undefined;
  const module = await import(glue);
  return module.ask?.(question, query, id) ?? undefined;
}

/** Opens a design here where this is the explorer, as one step that can be taken back. */
export function openDesign(query, step) {
  const results = document.getElementById("results");
  if (!isExplorer() || !results) return void (location.href = at(`/?${query}`));
  const link = document.createElement("a");
  link.href = `/?${query}`;
  link.dataset.step = step;
  results.append(link);
  link.click();
  link.remove();
}

/** Brings an element into view and gives it the focus. */
export function goTo(element) {
  const question = element.closest(".question");
  if (question && !question.checkVisibility()) {
    document.querySelector(`.questions a[href="#${question.id}"]`)?.click();
    // It is there in the next frame.
    requestAnimationFrame(() => goThere(element));
  } else {
    goThere(element);
  }
}

function goThere(element) {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  if (!element.matches("a, button, input, select, textarea, summary, [tabindex]")) {
    element.tabIndex = -1;
  }
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const block = element.matches(".study") ? "start" : "center";
  element.scrollIntoView({ block, behavior: isStill ? "auto" : "smooth" });
  element.focus({ preventScroll: true });
}

/** Brings a view into view, with the question that it answers. */
export function goToView(element) {
  goTo(element.closest(".study") ?? element);
}

/** The element of a view of the explorer, by its name; undefined where the page hasn't it. */
export function viewOf(id) {
  const own = id === "timeline" ? "main .timeline" : `[data-study="${CSS.escape(id)}"]`;
  return document.querySelector(own) ?? undefined;
}

/** The box, list or tick with which a knob is set. */
export function control(id) {
  const row = `[data-knob="${CSS.escape(id)}"]`;
  // A fold makes its rows when it is first told that it is open.
  document.querySelector(`.fold ${row}`)?.closest("details").dispatchEvent(new Event("toggle"));
  const controls = ":is(.number-box, .select, .tick-box, .chips input)";
  return document.querySelector(`${row} ${controls}`) ?? undefined;
}

/** Raises the sheet of knobs, where they are on one, and ends a search that may hide some. */
function showKnobs() {
  const sheet = visible(".bottom-bar [aria-controls=knobs][aria-expanded=false]");
  sheet?.click();
  const search = document.getElementById("knob-search");
  if (search?.value) {
    search.value = "";
    search.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** Goes to a knob. */
export function goToKnob(id) {
  const found = control(id);
  if (!found) return;
  showKnobs();
  // The sheet and the rows are back in the next frame.
  requestAnimationFrame(() => goTo(found));
}

/** The knobs in view one after the other: the one before or after the one that has the focus. */
export function nextKnob(by) {
  showKnobs();
  requestAnimationFrame(() => {
    const all = [...document.querySelectorAll("[data-knob]")];
    const rows = all.filter((row) => row.checkVisibility());
    const at = rows.indexOf(document.activeElement?.closest("[data-knob]"));
    const first = by > 0 ? 0 : rows.length - 1;
    const row = rows[at < 0 ? first : (at + by + rows.length) % rows.length];
    if (row) goTo(control(row.dataset.knob));
  });
}

/** Explains a metric. */
export function explain(metric) {
  const name = CSS.escape(metric);
  const button = visible(`[data-metric=${name}] .info, .explain[data-metric=${name}]`);
  if (button) return button.click();
  if (design() === undefined) return void (location.href = at(`/#explain-${metric}`));
  dispatchEvent(new CustomEvent("moescape-explain", { detail: metric }));
}

/** The metric where the focus or the pointer is. */
export function metricAtHand() {
  const places = [document.activeElement, ...[...document.querySelectorAll(":hover")].reverse()];
  for (const place of places) {
    const found = place?.closest("[data-metric], [data-explained]");
    if (found) return found.dataset.metric ?? found.dataset.explained;
    const panel = place?.closest("#explanation")?.querySelector("[data-explained]");
    if (panel) return panel.dataset.explained;
  }
  return undefined;
}

/** The timer that empties the region. */
let emptying;

/** Announces a text to screen readers, and shows it for a moment. */
export function announce(text) {
  let region = document.getElementById("habits-said");
  if (!region) {
    region = document.createElement("p");
    region.id = "habits-said";
    region.className = "said";
    region.setAttribute("role", "status");
  }
  // Nothing behind an open dialog is visible or read aloud.
  const place = document.querySelector("dialog:modal") ?? document.body;
  if (region.parentElement !== place) place.append(region);
  // In the next frame: screen readers don't follow a region yet that has just been made. Its moment
  // begins when the text is there, however late a busy machine draws that frame.
  requestAnimationFrame(() => {
    region.textContent = text;
    clearTimeout(emptying);
    emptying = setTimeout(() => (region.textContent = ""), 4000);
  });
}

/** Puts a text on the clipboard and announces it. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`Copied: ${what}`);
  } catch {
    // Pages that aren't served securely have no clipboard.
    announce(`This browser gives no clipboard: ${what}`);
  }
}

/** The whole address of a design, or of this page where there is none. */
export function addressOf(query) {
  return query === undefined ? location.href : new URL(at(`/?${query}`), location.href).href;
}

/** Puts the link of the design, or the address of any other page, on the clipboard. */
export async function copyLink() {
  const query = document.querySelector(".page") ? design() : undefined;
  const address = addressOf(query);
  try {
    await navigator.clipboard.writeText(address);
    announce("Link copied");
  } catch {
    // Pages that aren't served securely have no clipboard: the link is there to be copied by hand.
    showLink(address);
  }
}

/** A link in a box, selected. */
function showLink(address) {
  const shown = dialog("link-dialog", (element) => {
    element.setAttribute("aria-labelledby", "link-title");
    const title = make("h2", { id: "link-title" }, "Copy this link");
    const close = closeButton(() => element.close());
    const words = "This browser gives no clipboard here: press Ctrl C.";
    element.append(
      make("div", { class: "dialog-head" }, title, close),
      make("p", {}, words),
      make("input", { id: "link-to-copy", readonly: "", "aria-label": "Link to copy" }),
    );
  });
  const input = document.getElementById("link-to-copy");
  input.value = address;
  shown.showModal();
  input.select();
}

/** Copies a metric of the current design at full precision. */
export async function copyExact(metric) {
  const exact = await ask("exact", metric);
  if (exact === undefined) return announce("There is no number of this design to copy");
  await copy(exact, exact);
}

/** A cookie's value. */
export function cookie(name) {
  const pairs = document.cookie.split("; ").map((pair) => pair.split("="));
  return pairs.find(([known]) => known === name)?.[1];
}

/** Keeps a choice for a year, as the modules do. */
export function keep(name, value) {
  document.cookie = `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Lax`;
}

/** Whether the page is dark, by its reader's choice or the system's. */
export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Turns dark into light and back. */
export function switchTheme() {
  const root = document.documentElement;
  root.dataset.theme = isDark() ? "light" : "dark";
  keep("theme", root.dataset.theme);
}

/** Turns English into Chinese and back. */
export function switchLanguage() {
  keep("language", document.documentElement.lang === "zh-CN" ? "en" : "zh");
  location.reload();
}

/** Makes an element with text or with parts in it. */
export function make(tag, attributes = {}, ...parts) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(name, value);
  }
  element.append(...parts);
  return element;
}

/** A button that closes something. */
export function closeButton(act) {
  const attributes = { type: "button", class: "button icon-button", "aria-label": "Close" };
  const button = make("button", attributes, "×");
  button.addEventListener("click", act);
  return button;
}

/** A dialog that is made when it is first asked for: pages are taken over as they were written. */
export function dialog(id, fill) {
  const known = document.getElementById(id);
  if (known) return known;
  const element = make("dialog", { id, class: id });
  fill(element);
  // Keys in the dialog aren't the page's, and a click beside the dialog closes it.
  element.addEventListener("keydown", (event) => event.stopPropagation());
  element.addEventListener("click", (event) => {
    if (event.target === element) element.close();
  });
  document.body.append(element);
  return element;
}
