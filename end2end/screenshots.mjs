// Makes the pictures of the README and the guide, `docs/images`, in Chromium from a server of its
// own: node end2end/screenshots.mjs [NAME...], after `cargo xtask test` or `serve`. MOESCAPE_BINARY
// and MOESCAPE_SITE name others than theirs.
//
// Each picture has a palette of 256 colours: they are looked at on the web and kept in the
// repository, so that they should be small.

import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { chromium } from "@playwright/test";
import UPNG from "upng-js";

const IMAGES = join(import.meta.dirname, "../docs/images");
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Colours of a picture: 256 are one byte a pixel. */
const COLOURS = 256;

/** Bytes that a picture may have; the tests of the documents ask for the same. */
const MAX_BYTES = 150_000;

/** The sweep whose results are shown: a part of the search of Pangu Ultra MoE's layout. */
const SPEC = {
  schema: 1,
  name: "Layouts of Pangu Ultra MoE on 6,144 NPUs",
  design: { preset: "pangu-ultra-moe-6k", schedule: { timing: "closed_form" } },
  space: {
    parallel: {
      tensor_model_parallel_size: [2, 4, 8, 16],
      pipeline_model_parallel_size: [8, 16, 32],
      virtual_pipeline_model_parallel_size: [1, 2, 4],
      expert_model_parallel_size: { powers_of_two: [8, 128] },
      noop_layers: { fill: "chunks" },
    },
    training: { micro_batch_size: [1, 2, 4] },
    memory: {
      recompute_granularity: ["none", "selective", "full"],
      swap_modules: ["none", ["probs"], ["activations"], ["probs", "activations"]],
    },
  },
};

const COMPARED =
  "/compare?a=v=1%26preset=pangu-ultra-moe-4k-baseline%402&b=v=1%26preset=pangu-ultra-moe-6k%402";

/** What is shown: a name, an address, and what happens before the picture is taken. */
const PICTURES = [
  { name: "explorer-light", path: "/" },
  { name: "explorer-dark", path: "/", colorScheme: "dark" },
  { name: "explorer-phone", path: "/", colorScheme: "dark", viewport: PHONE },
  {
    name: "explanation-light",
    path: "/",
    act: (page) => page.getByRole("button", { name: "Explain MFU" }).click(),
  },
  { name: "timeline-light", path: "/", act: (page) => upTo(page, "#timeline") },
  {
    name: "sensitivity-dark",
    path: "/",
    colorScheme: "dark",
    act: (page) => upTo(page, "[data-study=sensitivity]"),
  },
  { name: "sweep-light", path: sweep },
  { name: "compare-dark", path: COMPARED, colorScheme: "dark" },
  { name: "trust-dark", path: "/trust", colorScheme: "dark" },
  { name: "schedule-light", path: "/schedule?method=zb_v&stages=8&micro_batches=16" },
];

/** Scrolls to a part of the explorer and waits until it is drawn. */
async function upTo(page, selector) {
  const part = page.locator(selector).first();
  const question = await part.evaluate((element) => element.closest(".question")?.id);
  if (question !== undefined) await page.locator(`.questions a[href="#${question}"]`).click();
  await part.scrollIntoViewIfNeeded();
  await part.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await page.waitForTimeout(4_000);
}

/** Runs the sweep to its end; the address of its results. */
async function sweep(url) {
  const started = await fetch(`${url}/api/v1/sweeps`, {
    method: "POST",
    body: JSON.stringify(SPEC),
  });
  const { id } = await started.json();
  for (;;) {
    const { state } = await (await fetch(`${url}/api/v1/sweeps/${id}`)).json();
    if (state === "done") return `/s/${id}`;
    if (state === "failed" || state === undefined) throw new Error(`the sweep is ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Starts a server on a free port. */
async function serve() {
  const target = join(import.meta.dirname, "../target");
  const binary = process.env.MOESCAPE_BINARY ?? join(target, "debug/moescape");
  const site = process.env.MOESCAPE_SITE ?? join(target, "site");
  const data = mkdtempSync(join(tmpdir(), "moescape-"));
  const options = ["--listen", "127.0.0.1:0", "--data", data, "--site", site];
  const server = spawn(binary, ["serve", ...options], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (bytes) => {
      said += bytes;
      const found = /listening on (http:\/\/\S+)/.exec(said);
      if (found) resolve(found[1]);
    });
    server.on("error", reject);
    server.on("exit", () => reject(new Error("the server ended")));
  });
  return { url, stop: () => server.kill("SIGTERM") };
}

async function take(browser, url, { name, path, act, colorScheme = "light", viewport = DESKTOP }) {
  const context = await browser.newContext({
    baseURL: url,
    colorScheme,
    viewport,
    locale: "en-US",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(typeof path === "function" ? await path(url) : path);
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached", timeout: 60_000 });
  await act?.(page);
  // The studies in view are drawn by a worker.
  await page.waitForTimeout(2_500);
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  await context.close();
  const pixels = UPNG.decode(png);
  const small = Buffer.from(
    UPNG.encode(UPNG.toRGBA8(pixels), pixels.width, pixels.height, COLOURS),
  );
  if (small.length > MAX_BYTES) throw new Error(`${name} has ${small.length} bytes`);
  writeFileSync(join(IMAGES, `${name}.png`), small);
  console.log(`${name}: ${small.length} bytes (${png.length} as taken)`);
}

const wanted = process.argv.slice(2);
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const { url, stop } = await serve();
try {
  for (const picture of PICTURES) {
    if (wanted.length === 0 || wanted.includes(picture.name)) await take(browser, url, picture);
  }
} finally {
  stop();
  await browser.close();
}
