// The tour, step by step without a page between: the step's heading gets the focus, and its
// headline is announced. Without this script every step is a page.

import * as page from "./page.js";

/** The address that was requested last: an earlier answer that comes later is dropped. */
let latest = location.href;

async function show(address, isNew) {
  latest = address;
  let text;
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.statusText);
    text = await answer.text();
  } catch {
    // The browser shows the error.
    return void (location.href = address);
  }
  if (latest !== address) return;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const [from, to] = [fresh, document].map((it) => it.querySelector("main[data-tour]"));
  if (!from || !to) return void (location.href = address);
  if (isNew) history.pushState(null, "", address);
  document.title = fresh.title;
  to.replaceChildren(...from.childNodes);
  const heading = to.querySelector("h1");
  heading.focus();
  scrollTo(0, 0);
  page.announce(to.querySelector("[data-headline]")?.textContent ?? "");
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("a[data-turn]");
  const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (!link || elsewhere || event.button !== 0) return;
  event.preventDefault();
  void show(link.href, true);
});
addEventListener("popstate", () => void show(location.href, false));
