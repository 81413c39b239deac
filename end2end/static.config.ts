// The tests of the site as a folder of files, below a path of a web server that knows nothing of it.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { defineConfig } from "@playwright/test";

import tests from "./playwright.config";
import { folder } from "./setup";

const directory = (process.env.MOESCAPE_STATIC ??= mkdtempSync(join(tmpdir(), "moescape-static-")));

export default defineConfig({
  ...tests,
  testDir: "static",
  webServer: folder(join(directory, "site")),
});
