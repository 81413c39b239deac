// Use without the server after the first visit: the service worker, the notice while there is no
// connection, and the one that offers a new version.

import * as page from "./page.js";

/** The delay before the worker is registered: its files can wait until the page is there. */
const DELAY_MS = 3000;

/** The interval at which an open page looks for a new version. */
const UPDATE_MS = 3_600_000;

function showNotice(id, text, ...parts) {
  document.getElementById(id)?.remove();
  const words = page.make("p", {}, text);
  const close = page.closeButton(() => element.remove());
  const element = page.make("div", { id, class: "notice", role: "status" }, words, ...parts, close);
  document.body.append(element);
}

function showOffline() {
  const unread = document.documentElement.dataset.unread === "true";
  const isFolder = document.documentElement.dataset.base !== undefined;
  const needs = isFolder ? "" : " Sharing, sweeps, reviews and traces need the server.";
  const works = unread
    ? "This link has an error that only the server can explain; the first design is shown instead."
    : "Knobs, numbers, charts and links still work.";
  showNotice("offline", `You are offline. ${works}${needs}`);
}

/** Says in a folder of files that the page couldn't follow its address. */
function showUnread() {
  if (document.documentElement.dataset.unread !== "true") return;
  showNotice("unread", "This link has an error; the first design is shown instead.");
}

function offerVersion(worker) {
  const reload = page.make("button", { type: "button", class: "button primary" }, "Reload");
  reload.addEventListener("click", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload());
    worker.postMessage("take over");
  });
  const text = "There is a new version of Moescape. Your design stays as it is.";
  showNotice("new-version", text, reload);
}

function watch(registration) {
  const offer = () => {
    // Without a controller it is the first one: nothing older is shown.
    if (registration.waiting && navigator.serviceWorker.controller) {
      offerVersion(registration.waiting);
    }
  };
  offer();
  registration.addEventListener("updatefound", () => {
    registration.installing?.addEventListener("statechange", offer);
  });
  setInterval(() => void registration.update().catch(() => undefined), UPDATE_MS);
}

async function register() {
  try {
    watch(await navigator.serviceWorker.register(page.at("/service-worker.js")));
  } catch {
    // Without a worker the page needs the server, and works.
  }
}

/** Begins. */
export function start() {
  const root = document.documentElement;
  const isFolder = root.dataset.base !== undefined;
  const isShell = root.hasAttribute("data-shell") && !isFolder;
  if (isShell) {
    // It was kept under the theme of then.
    const theme = page.cookie("theme");
    if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  }
  page.whenHydrated(() => {
    // The page follows its address right after it works, and then knows whether it can read it.
    if (isShell || !navigator.onLine) setTimeout(showOffline);
    else if (isFolder) setTimeout(showUnread);
  });
  addEventListener("offline", showOffline);
  addEventListener("online", () => document.getElementById("offline")?.remove());
  if ("serviceWorker" in navigator) setTimeout(() => void register(), DELAY_MS);
}
