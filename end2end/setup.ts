// What tests and benches share: how the browser and the server are started.

import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/** The installed browser: `CHROMIUM` if set, else the first known name on the PATH. */
function chromium(): string {
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((directory) => NAMES.map((name) => join(directory, name)))
    .find((candidate) => existsSync(candidate));
  const path = process.env.CHROMIUM ?? onPath;
  if (path === undefined) {
    throw new Error("Chromium is missing; install it with: sudo apt-get install chromium");
  }
  return path;
}

/**
 * What Chromium is started without. Of two such lists it heeds the last, so this one repeats what
 * Playwright's own turns off. Then come the pages behind Chromium's address bar, which each test's
 * window would load at more cost than the page under test, and the process kept in reserve, which
 * most tests end too soon to need.
 */
const WITHOUT = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "SpareRendererForSitePerProcess",
];

/** Options of every page. */
export const browser = {
  browserName: "chromium" as const,
  locale: "en-US",
  viewport: { width: 1440, height: 900 },
  launchOptions: {
    executablePath: chromium(),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${WITHOUT.join(",")}`,
    ],
  },
};

const target = join(import.meta.dirname, "../target");
const binary = process.env.MOESCAPE_BINARY ?? join(target, "debug/moescape");
const site = process.env.MOESCAPE_SITE ?? join(target, "site");

// Every process of a run reads this file; the first one makes the directory for all of them.
const data = (process.env.MOESCAPE_DATA ??= mkdtempSync(join(tmpdir(), "moescape-")));

/** The server, with data that nobody needs afterwards; its address goes to `MOESCAPE_URL`. */
export const server = {
  command: `"${binary}" serve --listen 127.0.0.1:0 --data "${data}" --site "${site}"`,
  wait: { stdout: /listening on (?<moescape_url>http:\/\/\S+)/ },
  timeout: 30_000,
  // One log line per request would bury the tests' own lines; DEBUG=pw:webserver shows them.
  stderr: "ignore" as const,
  gracefulShutdown: { signal: "SIGTERM" as const, timeout: 5_000 },
};

const files = join(import.meta.dirname, "files.mjs");
const directory = join(dirname(site), "static");

/** The site as a folder of files, below a path of a server that knows nothing of it. */
export const folder = {
  ...server,
  command: [
    `rm -rf "${directory}"`,
    `"${binary}" static "${directory}" --site "${site}"`,
    `exec node "${files}" "${directory}" /some/path/`,
  ].join(" && "),
};
