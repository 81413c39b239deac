// The service worker, by which the explorer works without the server after the first visit.
//
// It keeps the files of one build of the site, by name; the build puts the names in. Those are
// hashed, so that a page only ever gets the module that it was written for, whatever build it is
// of. Pages come from the server as long as there is one. The explorer's links differ only by
// their query, so that one cached page stands for all of them: a mark in it says that it was
// written for the first design, and the explorer then follows the address. In a folder of files
// that holds for every page, and all of them are kept.

const VERSION = "VERSION";
const FILES = ["FILES"];
const MODULE = "MODULE";
const STYLE = "STYLE";

/** Pages of a folder of files; a server has none. */
const PAGES = [];

const CACHE = `moescape-${VERSION}`;

/** The address of a file, from where the site begins. */
const at = (path) => new URL(path.slice(1), new URL("./", location.href)).href;

/** The path of an address, from where the site begins. */
const pathOf = ({ pathname }) => pathname.slice(new URL("./", location.href).pathname.length - 1);

/** Files without a hash in their names: the server's are newer. */
const NAMED = ["/favicon.svg", "/manifest.webmanifest", "/palette.json", "/glossary.json"];

/** Pages that are cached as they were loaded, by their whole address. */
const CACHED_PAGES = /^\/(trust|ladder|schedule|presets|tour|compare)$/;

/** These pages in the cache, at most. */
const MAX_PAGES = 30;

/** The explorer's page for the first design, with a mark that says so. */
async function shell() {
  const answer = await fetch(at("/"), { headers: { accept: "text/html" }, cache: "no-store" });
  const text = await answer.text();
  // Between two builds it may be that of another one, whose files aren't here.
  if (!answer.ok || !text.includes(MODULE)) throw new Error("the page is of another build");
  const headers = new Headers(answer.headers);
  headers.delete("content-encoding");
  headers.delete("content-length");
  return new Response(text.replace("<html ", '<html data-shell="true" '), { headers });
}

async function install() {
  const cache = await caches.open(CACHE);
  if (PAGES.length === 0) await cache.put(at("/shell"), await shell());
  await cache.addAll([...FILES, ...NAMED, ...PAGES].map(at));
}

/** Removes the caches of older builds but the last one, of which a page may still be open. */
async function removeOldCaches() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("moescape-") && name !== CACHE);
  await Promise.all(old.slice(0, -1).map((name) => caches.delete(name)));
  // The first page that is ever opened is looked after at once.
  await self.clients.claim();
}

/** Serves a file that never changes under its name: from the cache, else from the server. */
async function serveHashed(request) {
  const cached = await caches.match(request, { ignoreVary: true });
  if (cached) return cached;
  const cache = await caches.open(CACHE);
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

/** Serves a file from the server, else from the cache. */
async function serveNamed(request) {
  const cache = await caches.open(CACHE);
  try {
    const answer = await fetch(request);
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  } catch (error) {
    const cached = await cache.match(request, { ignoreVary: true });
    if (cached) return cached;
    throw error;
  }
}

async function keepPage(request, answer) {
  const cache = await caches.open(CACHE);
  await cache.put(request, answer);
  const pages = (await cache.keys()).filter((it) => CACHED_PAGES.test(new URL(it.url).pathname));
  await Promise.all(pages.slice(0, -MAX_PAGES).map((it) => cache.delete(it)));
}

function offlinePage() {
  const text = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Offline · Moescape</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="stylesheet" href="${at(STYLE)}"></head>
<body><main class="not-found"><h1>You are offline</h1>
<p>This page comes from the server, which can't be reached now. The explorer works without it.</p>
<p><a class="button primary" href="${at("/")}">Open the explorer</a>
<a class="button" href="">Try again</a></p></main></body></html>`;
  const own = ["style-src", "font-src", "img-src"].map((kind) => `${kind} 'self'`).join("; ");
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; ${own}`,
  };
  return new Response(text, { status: 200, headers });
}

/** Serves a page from the cache, if it is there. */
async function serveCached(request, path) {
  // Its addresses of others begin where the page is: as a server, it leads there.
  if (PAGES.includes(`${path}/`)) {
    return Response.redirect(at(`${path}/`) + new URL(request.url).search);
  }
  const cache = await caches.open(CACHE);
  const key = PAGES.length > 0 ? at(path) : path === "/" ? at("/shell") : request;
  return cache.match(key, { ignoreVary: true });
}

/** Serves a page from the server, else from the cache. */
async function servePage(event, path) {
  const { request } = event;
  try {
    const answer = await fetch(request);
    // A proxy whose server is gone.
    if (answer.status === 502 || answer.status === 504) throw new Error("no server");
    if (answer.ok && PAGES.length === 0 && CACHED_PAGES.test(path)) {
      event.waitUntil(keepPage(request, answer.clone()));
    }
    return answer;
  } catch {
    return (await serveCached(request, path)) ?? offlinePage();
  }
}

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(removeOldCaches()));
// A visitor asked for the new version; until then it waits for the pages of the old one to close.
addEventListener("message", ({ data }) => {
  if (data === "take over") void self.skipWaiting();
});
addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const path = pathOf(url);
  if (request.mode === "navigate") event.respondWith(servePage(event, path));
  else if (path.startsWith("/pkg/")) event.respondWith(serveHashed(request));
  else if (NAMED.includes(path) || FILES.includes(path)) event.respondWith(serveNamed(request));
});
