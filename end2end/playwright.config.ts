// The browser tests run on the shipped site, served by the binary that the other tests were of.

import { defineConfig } from "@playwright/test";

import { browser, server } from "./setup";

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  timeout: 45_000,
  // When the page itself is broken, the first failures say enough.
  maxFailures: 12,
  // A machine that does something else beside is no reason to fail.
  expect: { timeout: 15_000 },
  forbidOnly: true,
  reporter: [["list"]],
  // What a service worker answers no test can stop on its way; the tests of it allow it.
  use: {
    ...browser,
    serviceWorkers: "block",
    screenshot: "only-on-failure",
    // A trace of every test, thrown away where it passes, takes a third of the time.
    trace: "off",
  },
  webServer: server,
});
