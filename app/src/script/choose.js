// Long lists to choose from: typing filters them. A list stays the browser's own `<select>`, which
// holds the value, has the name and the focus, and is what there is without this script and on a
// touch screen, where the system's own wheel is better. With it a press or a key that would open
// the list opens a box to type in, a combobox, with the entries below it.

import { make } from "./page.js";

/** Entries from which on a list is worth a search. */
const MANY = 8;

/** The gap to the list, and to the edges of the window, in pixels. */
const GAP = 4;

/** What is open: the list and the parts of its popup; undefined while none is. */
let open;

/** Whether this list has a search. */
function isLong(select) {
  if (!(select instanceof HTMLSelectElement) || select.multiple || select.disabled) return false;
  return select.options.length >= MANY && "popover" in HTMLElement.prototype;
}

const plain = (text) => text.toLowerCase().replace(/[\s_-]+/g, "");

/** The words of an entry that a search finds: its text, its value, and its heading. */
function wordsOf(option) {
  const group = option.parentElement.label ?? "";
  return plain(`${option.text} ${option.value} ${group} ${option.text}`);
}

/** The entries with their headings, as they stand in the list. */
function makeEntries(select) {
  const entries = [];
  const groups = [];
  for (const part of select.children) {
    const isGroup = part instanceof HTMLOptGroupElement;
    const id = `choose-group-${groups.length}`;
    const heading = make("div", { id, class: "choose-heading", role: "presentation" });
    const group = make("div", isGroup ? { role: "group", "aria-labelledby": id } : {});
    if (isGroup) {
      heading.textContent = part.label;
      group.append(heading);
    }
    for (const option of isGroup ? part.children : [part]) {
      const row = make("div", {
        id: `choose-${entries.length}`,
        class: "choose-entry",
        role: "option",
        "aria-selected": String(option.selected),
      });
      if (option.disabled) row.setAttribute("aria-disabled", "true");
      row.append(make("span", {}, option.text));
      if (option.value && plain(option.value) !== plain(option.text)) {
        row.append(make("span", { class: "choose-id", translate: "no" }, option.value));
      }
      group.append(row);
      entries.push({ row, option, words: wordsOf(option) });
    }
    groups.push(group);
  }
  return { entries, groups };
}

const shown = () => open.entries.filter(({ row, option }) => !row.hidden && !option.disabled);

/** Makes an entry the active one: that which Enter takes. */
function activate(entry) {
  open.active?.row.classList.remove("active");
  open.active = entry;
  entry?.row.classList.add("active");
  entry?.row.scrollIntoView({ block: "nearest" });
  if (entry) open.input.setAttribute("aria-activedescendant", entry.row.id);
  else open.input.removeAttribute("aria-activedescendant");
}

/** Leaves the entries that have all the words of what is typed. */
function filter() {
  const words = open.input.value.split(/\s+/).map(plain).filter(Boolean);
  for (const { row, words: own } of open.entries) {
    row.hidden = !words.every((word) => own.includes(word));
  }
  for (const group of open.groups) {
    group.hidden = [...group.querySelectorAll("[role=option]")].every((row) => row.hidden);
  }
  const left = shown();
  open.none.textContent = left.length === 0 ? "Nothing found" : "";
  const chosen = left.find(({ option }) => option.selected);
  // What begins with the words comes before what has them somewhere.
  const start = left.find(({ option }) => plain(option.text).startsWith(words.join("")));
  activate(words.length === 0 ? (chosen ?? left[0]) : (start ?? left[0]));
}

/** Puts the popup below the list, or above it where there is more room. */
function place() {
  const { select, popup, list } = open;
  const box = select.getBoundingClientRect();
  const { clientWidth: width, clientHeight: height } = document.documentElement;
  const [above, below] = [box.top - 2 * GAP, height - box.bottom - 2 * GAP];
  const isBelow = below >= 280 || below >= above;
  const style = popup.style;
  list.style.maxHeight = `${Math.max(96, Math.min(360, isBelow ? below : above) - 52)}px`;
  style.minWidth = `${Math.min(Math.max(box.width, 288), width - 2 * GAP)}px`;
  const left = Math.min(box.left, width - popup.offsetWidth - GAP);
  style.left = `${Math.max(GAP, left)}px`;
  style.top = isBelow ? `${box.bottom + GAP}px` : "auto";
  style.bottom = isBelow ? "auto" : `${height - box.top + GAP}px`;
}

function close({ focus = true } = {}) {
  if (!open) return;
  const { select, popup } = open;
  open = undefined;
  removeEventListener("scroll", place, true);
  removeEventListener("resize", place);
  if (focus) select.focus({ preventScroll: true });
  popup.remove();
}

/** Takes an entry: the list has it then, as if it had been chosen there. */
function take({ option }) {
  const { select } = open;
  const isOther = select.value !== option.value;
  close();
  if (!isOther) return;
  select.value = option.value;
  select.dispatchEvent(new Event("input", { bubbles: true }));
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Acts on a key in the box; false where the box itself does. */
function pressIn(event) {
  const left = shown();
  const at = left.indexOf(open.active);
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  if (event.key in steps && !(event.altKey && event.key === "ArrowUp")) {
    const to = at + steps[event.key];
    const isPage = event.key.startsWith("Page");
    const clamped = Math.max(0, Math.min(left.length - 1, to));
    activate(left[isPage ? clamped : (to + left.length) % Math.max(1, left.length)]);
  } else if (event.key === "Enter") {
    if (open.active) take(open.active);
  } else if (event.key === "Escape" || event.key === "ArrowUp") {
    close();
  } else if (event.key === "Tab") {
    // On from the list, where the focus then is.
    close();
    return false;
  } else {
    return false;
  }
  return true;
}

/** Opens the search of a list; `typed` is in the box already. */
function openList(select, typed = "") {
  close({ focus: false });
  const { entries, groups } = makeEntries(select);
  const label = (select.labels?.[0]?.textContent ?? select.ariaLabel ?? "").trim();
  const input = make("input", {
    class: "choose-input",
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": "choose-list",
    "aria-label": label,
    placeholder: "Search",
    autocomplete: "off",
    spellcheck: "false",
  });
  const list = make("div", { id: "choose-list", role: "listbox", "aria-label": label }, ...groups);
  const none = make("p", { class: "choose-none muted", role: "status" });
  const popup = make("div", { class: "choose", popover: "manual" }, input, list, none);
  input.value = typed;
  // In a dialog, where all else is out of reach.
  (select.closest("dialog") ?? document.body).append(popup);
  open = { select, popup, input, list, none, entries, groups, active: undefined };
  popup.showPopover();
  // As wide as all entries need, however many are left.
  popup.style.width = `${Math.min(popup.offsetWidth, innerWidth - 2 * GAP)}px`;
  place();
  input.addEventListener("input", filter);
  popup.addEventListener("keydown", (event) => {
    if (pressIn(event)) event.preventDefault();
    event.stopPropagation();
  });
  // The box keeps the focus.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", ({ target }) => {
    const entry = shown().find(({ row }) => row.contains(target));
    if (entry) take(entry);
  });
  list.addEventListener("mousemove", ({ target }) => {
    const entry = shown().find(({ row }) => row.contains(target));
    if (entry && entry !== open?.active) activate(entry);
  });
  addEventListener("scroll", place, true);
  addEventListener("resize", place);
  filter();
  input.focus({ preventScroll: true });
}

/** Acts on a press of the mouse: on a long list, or elsewhere while one is open. */
function press(event) {
  const { target } = event;
  if (open && !open.popup.contains(target)) {
    const isOwn = target === open.select;
    close({ focus: isOwn });
    if (isOwn) return event.preventDefault();
  }
  if (event.button !== 0 || !isLong(target) || matchMedia("(pointer: coarse)").matches) return;
  event.preventDefault();
  openList(target);
}

/** Acts on a key that would open a list, or look in it for what begins with a letter. */
function key(event) {
  const { target } = event;
  if (!isLong(target) || event.ctrlKey || event.metaKey) return;
  const isArrow = event.key === "ArrowDown" || event.key === "ArrowUp";
  const opens = [" ", "Enter", "F4"].includes(event.key) || (event.altKey && isArrow);
  const typed = !event.altKey && /^[\p{L}\p{N}]$/u.test(event.key) ? event.key : "";
  if (!opens && !typed) return;
  event.preventDefault();
  event.stopPropagation();
  openList(target, typed);
}

/** Follows the lists of the page. */
export function startChoosing() {
  document.addEventListener("mousedown", press, true);
  document.addEventListener("keydown", key, true);
  document.addEventListener("focusin", ({ target }) => {
    const isInside = open?.popup.contains(target) || target === open?.select;
    if (open && !isInside) close({ focus: false });
  });
}
