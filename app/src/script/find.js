// Searches for layouts in a worker of the page, shows the results as they come, and ends the worker
// on request. Keeps pins where the explorer finds them.
//
// The page is one of the server's (`/find`) that works without this script, too.

const PINS = "moescape.pins";
const LETTERS = ["a", "b", "c", "d"];

/** The places of the answer, and of what is said of it. */
let result;
let announcement;

/** The unit of memory that the visitor chose. */
const unit = () => /(?:^|; )units=([^;]*)/.exec(document.cookie)?.[1] ?? "";

/** Keeps a design among the pins; returns the message to show. */
function pin(link, name) {
  let pins;
  try {
    pins = new URLSearchParams(localStorage.getItem(PINS) ?? "");
  } catch {
    return "This browser stores nothing";
  }
  const known = LETTERS.find((letter) => pins.get(letter) === link);
  if (known) return `Already pinned as ${known.toUpperCase()}`;
  const free = LETTERS.find((letter) => !pins.get(letter));
  if (!free) return `${LETTERS.length} designs are pinned: remove one first`;
  pins.set(free, link);
  pins.set(`${free}.name`, name);
  try {
    localStorage.setItem(PINS, pins.toString());
  } catch {
    return "This browser stores nothing";
  }
  return `Pinned as ${free.toUpperCase()}`;
}

/** Puts the answer in its place; open details stay open, and the focus stays where it is. */
function write(answer, html) {
  const opened = new Map();
  const key = (details, index) => `${details.closest("[data-goal]")?.dataset.goal ?? ""} ${index}`;
  const each = (visit) => [...answer.querySelectorAll("details")].forEach(visit);
  each((details, index) => opened.set(key(details, index), details.open));
  const focused = answer.contains(document.activeElement) ? document.activeElement : undefined;
  const place = focused && [...answer.querySelectorAll("a, button, summary")].indexOf(focused);
  answer.innerHTML = html;
  each((details, index) => (details.open = opened.get(key(details, index)) ?? details.open));
  if (place !== undefined) answer.querySelectorAll("a, button, summary")[place]?.focus();
}

/** Begins the search of this page. */
function search() {
  const [answer, state] = ["find-answer", "find-state"].map((id) => document.getElementById(id));
  const bar = state.querySelector("progress");
  const words = state.querySelector("[data-words]");
  const cancel = state.querySelector("button");
  const worker = new Worker(result.dataset.worker, { type: "module", name: unit() });
  let phase = "";
  const end = (text) => {
    worker.terminate();
    result.removeAttribute("aria-busy");
    result.dataset.state = "over";
    if (document.activeElement === cancel) {
      result.tabIndex = -1;
      result.focus();
    }
    announcement.textContent = text;
  };
  const fail = () => {
    end("The search could not be run");
    state.hidden = true;
    document.getElementById("find-failed").hidden = false;
  };
  cancel.addEventListener("click", () => {
    end("Cancelled: results so far are kept");
    state.hidden = true;
    document.getElementById("find-cancelled").hidden = false;
  });
  worker.addEventListener("message", ({ data: { progress, html, error } }) => {
    if (error !== undefined) return fail();
    if (html !== undefined) write(answer, html);
    bar.value = progress.share;
    const count = progress.evaluated.toLocaleString("en-US");
    words.replaceChildren(line(progress.phase), line(`${count} designs evaluated`));
    if (progress.done) {
      // What says how far the search is stays: without it the answer would move.
      const title = answer.querySelector("h2")?.textContent ?? "";
      return end(`Done: ${title}`);
    }
    if (progress.phase !== phase) announcement.textContent = phase = progress.phase;
  });
  worker.addEventListener("error", fail);
  state.hidden = false;
  result.setAttribute("aria-busy", "true");
  result.dataset.state = "running";
  worker.postMessage(result.dataset.query);
}

function line(text) {
  const element = document.createElement("span");
  element.textContent = text;
  return element;
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-pin]") : null;
  if (!button) return;
  const title = button.closest("article")?.querySelector("h3")?.textContent ?? "";
  announcement.textContent = pin(button.dataset.pin, title);
  button.textContent = /pinned as/i.test(announcement.textContent) ? "Pinned" : "Pin";
  document.getElementById("find-pinned").textContent = announcement.textContent;
});

function start() {
  result = document.getElementById("find-result");
  announcement = document.getElementById("find-said");
  if (result?.dataset.worker) search();
}

start();
// In a folder of files the page writes itself for its address.
document.addEventListener("moescape-written", start);
