// The tests of the site as a folder of files, below a path of a web server that knows nothing of
// it.

import { defineConfig } from "@playwright/test";

import tests from "./playwright.config";
import { folder } from "./setup";

export default defineConfig({ ...tests, testDir: "static", webServer: folder });
