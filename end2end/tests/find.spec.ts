// Finding a layout: from the first page, from a config.json, in the palette, without a script.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "./helper";
import { expectReadable, looks } from "./looks";

/** A model that is searched in a moment. */
const SMALL = "/find?v=1&preset=qwen3-30b-a3b";

/** One that is searched for seconds. */
const LARGE = "/find?v=1&preset=pangu-ultra-moe-6k%402";

const CONFIG = "../crates/interchange/tests/models/qwen3-235b-a22b.json";

/** Waits until a search has ended. */
async function done(page: Page): Promise<void> {
  await page.locator("#find-result[data-state=over]").waitFor({ timeout: 60_000 });
}

/** The three cards. */
async function expectThree(page: Page): Promise<void> {
  await done(page);
  for (const name of ["Fastest", "Safest", "Simplest"]) {
    const card = page.getByRole("article", { name, exact: true });
    await expect(card).toContainText("MFU");
    await expect(card.getByRole("link", { name: "Open in the explorer" })).toBeVisible();
  }
}

test("three designs are at most three steps from the first page", async ({ page }) => {
  await gotoHydrated(page);
  const bar = page.getByRole("form", { name: "Find layouts" });
  await bar.getByLabel("Model").selectOption({ label: "Qwen3-30B-A3B" });
  await bar.getByLabel("Devices").fill("64");
  await bar.getByRole("button", { name: "Find layouts" }).click();
  await expect(page).toHaveURL(/\/find\?v=1&preset=qwen3-30b-a3b/);
  await expectThree(page);
});

test("a config.json leads to three designs in three steps", async ({ page }) => {
  await page.goto("/import");
  await page.getByLabel("File", { exact: true }).setInputFiles({
    name: "config.json",
    mimeType: "application/json",
    buffer: readFileSync(CONFIG),
  });
  await page.getByRole("button", { name: "Import" }).click();
  const bar = page.getByRole("form", { name: "Find layouts" });
  await bar.getByLabel("Devices").fill("128");
  await bar.getByLabel("Accelerator").selectOption("h100-sxm-80gb");
  await bar.getByRole("button", { name: "Find layouts" }).click();
  await expect(page).toHaveURL(/cluster\.num_devices=128/);
  await expectThree(page);
});

test("the line on the first page follows the design", async ({ page }) => {
  await gotoHydrated(page, "/?v=1&preset=qwen3-30b-a3b");
  const bar = page.getByRole("form", { name: "Find layouts" });
  const before = await bar.getByLabel("Devices").inputValue();
  await page.locator("[data-knob='cluster.num_devices'] .number-box").fill("64");
  await page.keyboard.press("Enter");
  await expect(bar.getByLabel("Devices")).toHaveValue("64");
  expect(before).not.toBe("64");
  const accelerator = page.locator("[data-knob='cluster.accelerator'] select");
  await accelerator.selectOption("h200-sxm-141gb");
  await expect(bar.getByLabel("Accelerator")).toHaveValue("h200-sxm-141gb");
  await bar.getByRole("button", { name: "Find layouts" }).click();
  await expect(page).toHaveURL(/accelerator=h200-sxm-141gb&cluster\.num_devices=64/);
});

test("a search that is cancelled leaves nothing running, and what it found stays", async ({
  page,
}) => {
  await page.goto(LARGE);
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByText("Cancelled. Results so far are kept")).toBeVisible();
  await expect.poll(() => page.workers().length).toBe(0);
  await expect(page.locator("#find-result")).toBeFocused();
  const found = await page.locator("#find-answer").innerHTML();
  await page.waitForTimeout(500);
  expect(await page.locator("#find-answer").innerHTML()).toBe(found);
});

test("a search ends its worker, and its designs are pinned where others look", async ({ page }) => {
  await page.goto(SMALL);
  await expectThree(page);
  await expect.poll(() => page.workers().length).toBe(0);
  const fastest = page.getByRole("article", { name: "Fastest", exact: true });
  await fastest.getByRole("button", { name: "Pin" }).click();
  await expect(page.locator("#find-said")).toHaveText("Pinned as A");
  const out = fastest.getByRole("link", { name: "Export", exact: true });
  await expect(out).toHaveAttribute("href", /^\/export\?v=1&preset=/);
  await fastest.getByRole("link", { name: "Open in the explorer" }).click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  const tray = page.getByRole("region", { name: "Pinned designs" });
  await expect(tray.getByRole("textbox", { name: "Name of A" })).toHaveValue("Fastest");
});

test("the same designs without a script", async ({ visit }) => {
  const alive = await visit();
  await alive.goto(SMALL);
  await done(alive);
  const still = await visit({ javaScriptEnabled: false });
  await still.goto(SMALL);
  await expect(still).toHaveURL(/find\.on=server$/);
  const layouts = (page: Page) => page.locator("#find-answer .find-layout").allTextContents();
  expect((await layouts(still)).length).toBeGreaterThan(0);
  expect(await layouts(still)).toEqual(await layouts(alive));
  await expect(still.getByRole("button", { name: "Pin" })).toHaveCount(0);
});

for (const typed of ["find", "best layout", "search", "optimize", "auto", "solver"]) {
  test(`the palette knows “${typed}”`, async ({ page }) => {
    await gotoHydrated(page, "/?v=1&preset=qwen3-30b-a3b");
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Search and commands" });
    await palette.getByRole("combobox").fill(typed);
    const options = palette.getByRole("option").filter({ hasText: /^Find/ });
    await expect(options.first()).toBeVisible();
    await options.first().click();
    await expect(page).toHaveURL(/\/find\?v=1&preset=qwen3-30b-a3b/);
  });
}

test.describe("what can't be asked", () => {
  test.use({ expectedConsole: /status of 400/ });

  test("is all said at once, beside the form", async ({ page }) => {
    await page.goto("/find?preset=qwen3-30b-a3b&find.goal=best&find.target=mfu");
    const wrong = page.getByRole("alert");
    await expect(wrong).toContainText("find.goal");
    await expect(wrong).toContainText("find.target");
    await expectReadable(page);
  });
});

for (const { name, options } of looks()) {
  test(`everyone can read what is found: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await page.goto("/find");
    for (const fold of await page.locator("details > summary").all()) await fold.click();
    await expectReadable(page);
    await page.goto(SMALL);
    await expectThree(page);
    await expectReadable(page);
  });
}
