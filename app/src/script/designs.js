// Recent and named designs, in this browser's storage alone.

import * as page from "./page.js";

const RECENT = "moescape.recent";
const NAMED = "moescape.named";

/** The designs kept in each list, at most. */
const MAX_DESIGNS = { [RECENT]: 20, [NAMED]: 100 };

/** A kept list: each design's query string, its name and when it was kept, newest first. */
function read(key) {
  try {
    const list = JSON.parse(localStorage.getItem(key) ?? "[]");
    const isDesign = (it) => typeof it?.query === "string" && typeof it?.name === "string";
    return Array.isArray(list) ? list.filter(isDesign) : [];
  } catch {
    return [];
  }
}

/** Keeps a list; false where the browser keeps nothing. */
function write(key, list) {
  try {
    localStorage.setItem(key, JSON.stringify(list.slice(0, MAX_DESIGNS[key])));
    return true;
  } catch {
    return false;
  }
}

/** Keeps a design as the newest of the recent ones. */
export async function remember(query) {
  const name = await page.ask("name", "", query);
  if (name === undefined) return;
  const others = read(RECENT).filter((it) => it.query !== query);
  write(RECENT, [{ query, name, time: Date.now() }, ...others]);
}

function row(key, { query, name, time }) {
  // Names that people gave stay as they are in every language.
  const translate = key === NAMED ? "no" : undefined;
  const link = page.make("a", { href: `/?${query}`, translate }, name);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !page.isExplorer()) return;
    event.preventDefault();
    document.getElementById("designs").close();
    page.openDesign(query, name);
    page.announce(`Opened ${name}`);
  });
  /** @type {Intl.DateTimeFormatOptions} */
  const style = { dateStyle: "medium", timeStyle: "short" };
  const when = new Date(time ?? 0).toLocaleString("en-GB", style);
  const attributes = { type: "button", class: "button", "aria-label": `Delete ${name}` };
  const forget = page.make("button", attributes, "Delete");
  forget.addEventListener("click", () => {
    write(key, read(key).filter((it) => it.query !== query || it.name !== name));
    draw();
    page.announce(`${name} is deleted`);
    document.getElementById("designs-title").focus();
  });
  return page.make("li", {}, link, page.make("span", { class: "muted" }, when), forget);
}

function list(key, title, empty) {
  const rows = read(key).map((it) => row(key, it));
  const none = () => page.make("p", { class: "muted" }, empty);
  const body = rows.length > 0 ? page.make("ul", {}, ...rows) : none();
  return page.make("section", {}, page.make("h3", {}, title), body);
}

function draw() {
  document.getElementById("designs-lists").replaceChildren(
    list(NAMED, "Named", "None yet."),
    list(RECENT, "Recent", "None yet. A design is listed once you stop editing it."),
  );
}

function nameDesign(event) {
  event.preventDefault();
  const input = document.getElementById("designs-name");
  const [query, typed] = [page.design(), input.value.trim()];
  if (query === undefined) return page.announce("This page has no design to name");
  if (!typed) return page.announce("The design needs a name");
  const others = read(NAMED).filter((it) => it.name !== typed);
  const isKept = write(NAMED, [{ query, name: typed, time: Date.now() }, ...others]);
  page.announce(isKept ? `Saved as ${typed}` : "This browser stores nothing");
  input.value = "";
  draw();
}

function fill(dialog) {
  dialog.setAttribute("aria-labelledby", "designs-title");
  const title = page.make("h2", { id: "designs-title", tabindex: "-1" }, "Designs in this browser");
  const close = page.closeButton(() => dialog.close());
  const input = page.make("input", { id: "designs-name", maxlength: "80", autocomplete: "off" });
  const label = page.make("label", { for: "designs-name" }, "Name of the current design");
  const button = page.make("button", { class: "button primary" }, "Save");
  const form = page.make("form", { class: "designs-form" }, label, input, button);
  form.addEventListener("submit", nameDesign);
  form.hidden = page.design() === undefined;
  const about =
    "Stored only in this browser until you clear this site's data; nobody else sees them. To " +
    "show a design to others, share a link.";
  dialog.append(
    page.make("div", { class: "dialog-head" }, title, close),
    page.make("p", { class: "muted" }, about),
    form,
    page.make("div", { id: "designs-lists" }),
  );
}

/** Shows the designs that the browser keeps. */
export function showDesigns() {
  const query = page.design();
  const dialog = page.dialog("designs", fill);
  draw();
  dialog.showModal();
  document.getElementById("designs-title").focus();
  if (query !== undefined) void remember(query).then(draw);
}
