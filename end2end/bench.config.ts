// The latency measurement: one page, nothing beside it.

import { defineConfig } from "@playwright/test";

import { browser, server } from "./setup";

export default defineConfig({
  testDir: "bench",
  outputDir: "test-results",
  workers: 1,
  timeout: 120_000,
  reporter: [["line"]],
  use: browser,
  webServer: server,
});
