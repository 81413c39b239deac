// Expert load: uneven tokens, what the planner makes of them, what a capacity drops.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test, toStudy } from "./helper";
import { expectReadable } from "./looks";

const EVEN = "/?routing.balance=uniform&routing.planner=none";
const SKEWED = "/?routing.balance=skewed&routing.skew=0.4&routing.planner=sliding_window";

async function look(page: Page): Promise<void> {
  await toStudy(page, "loads");
  await expect(page.locator("[data-study=loads]")).not.toContainText("when scrolled into view");
}

test("even loads say so, and one press makes them uneven", async ({ page }) => {
  await gotoHydrated(page, EVEN);
  await look(page);
  const loads = page.getByRole("region", { name: "Expert load", exact: true });
  await expect(loads).toContainText("All experts are assumed to get the same load");
  await loads.getByRole("link", { name: "Skewed loads", exact: true }).click();
  await expect(page).toHaveURL(/balance=skewed|routing/);
  await expect(page.locator("#load-before svg")).toBeVisible();
  await expect(page.locator("#load-after")).toHaveCount(0);
});

test("a planner's effect is drawn before and after, with its moves", async ({ page }) => {
  await gotoHydrated(page, SKEWED);
  await look(page);
  const loads = page.getByRole("region", { name: "Expert load", exact: true });
  await expect(loads).toContainText(/removes \d+ % of the imbalance/);
  for (const id of ["load-steps", "load-cadence", "load-before", "load-after", "load-drops"]) {
    const figure = page.locator(`#${id}`);
    await expect(figure.locator("svg").first()).toBeVisible();
    await figure.locator("summary").click();
    expect(await figure.getByRole("row").count()).toBeGreaterThan(3);
  }
  const saved = page.waitForEvent("download");
  await page.locator("#load-after [data-save-cells]").click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("moescape-load-after.csv");
  const lines = readFileSync(await file.path(), "utf8").trim().split("\r\n");
  expect(lines[0]).toMatch(/^Layer,rank 0,rank 1.*,design,model_version,date$/);
  expect(lines[1]).toContain(",/?v=1&preset=");
  expect(lines.length).toBeGreaterThan(50);
  const losses = page.waitForEvent("download");
  await page.locator("#aux-loss [data-save]").click();
  const table = readFileSync(await (await losses).path(), "utf8").trim().split("\r\n");
  expect(table.map((row) => row.split(",")[0])).toEqual([
    "Loss of each",
    "Sequence",
    "Micro-batch",
    expect.stringContaining("EP group"),
    "DP group",
    "None",
  ]);
  await loads.getByRole("link", { name: "Without the planner" }).click();
  await expect(page.locator("#load-after")).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(page.locator("#load-after svg")).toBeVisible();
});

for (const width of [1440, 390, 320]) {
  test(`loads at ${width} pixels are read by all`, async ({ visit }) => {
    const page = await visit({ viewport: { width, height: 900 } });
    await gotoHydrated(page, SKEWED);
    await look(page);
    await expect(page.locator("#load-drops svg")).toBeVisible();
    await expectReadable(page, ".loads");
  });
}

/** A trace of the default model's experts: 4 steps, 2 layers, 256 experts, the first one hot. */
function csv(experts = 256): string {
  const rows = ["step,layer,expert,tokens"];
  for (let step = 0; step < 4; step += 1) {
    for (let layer = 0; layer < 2; layer += 1) {
      for (let expert = 0; expert < experts; expert += 1) {
        rows.push([step, layer, expert, expert === 0 ? 9000 : 1000 + expert].join(","));
      }
    }
  }
  return rows.join("\n");
}

async function open(page: Page, name: string, text: string): Promise<void> {
  await toStudy(page, "loads");
  const buffer = Buffer.from(text);
  await page.getByLabel("Open a trace of expert loads").setInputFiles({
    name,
    mimeType: "text/csv",
    buffer,
  });
}

test("a trace from a file decides the loads, and changes follow", async ({ page }) => {
  await gotoHydrated(page, EVEN);
  await open(page, "loads.csv", csv());
  const trace = page.getByRole("region", { name: "Trace of expert loads" });
  await expect(trace).toContainText(/Trace [0-9a-f]{32} is loaded/);
  await expect(page).toHaveURL(/balance=trace/);
  await expect(page.getByRole("region", { name: "Broken rules" })).toHaveCount(0);
  await look(page);
  await expect(page.locator("#load-before svg")).toBeVisible();
  const loads = page.getByRole("region", { name: "Expert load", exact: true });
  const before = await loads.locator("p").first().innerText();
  // Another EP spreads the hot expert over other ranks: the worker says how.
  await page.getByRole("spinbutton", { name: "Expert parallel (EP)", exact: true }).fill("64");
  await toStudy(page, "loads");
  await expect(loads.locator("p").first()).not.toHaveText(before, { timeout: 15_000 });
});

test("of a long trace every step is in a file", async ({ page }) => {
  await gotoHydrated(page, `${EVEN}&routing.planner_interval=10`);
  const rows = ["step,layer,expert,tokens"];
  for (let step = 0; step < 130; step += 1) {
    for (let expert = 0; expert < 256; expert += 1) {
      rows.push([step, 0, expert, expert === (step < 60 ? 0 : 9) ? 9000 : 1000].join(","));
    }
  }
  await open(page, "long.csv", rows.join("\n"));
  await expect(page).toHaveURL(/balance=trace/);
  await look(page);
  const figure = page.locator("#load-steps");
  await expect(figure).toContainText("The table lists one step in 2");
  const saved = page.waitForEvent("download");
  await figure.locator("[data-save-cells]").click();
  const lines = readFileSync(await (await saved).path(), "utf8").trim().split("\r\n");
  expect(lines[0]).toBe(
    "Step,Initial expert placement,Experts that move,design,model_version,date",
  );
  expect(lines.length).toBe(131);
  expect(lines[130]).toMatch(/^129,[0-9.]+,0,/);
});

test("a bad trace is refused with its line, and nothing changes", async ({ page }) => {
  await gotoHydrated(page, EVEN);
  await open(page, "bad.csv", "step,layer,expert,tokens\n0,0,0,5\n0,0,1,-3\n");
  const trace = page.getByRole("region", { name: "Trace of expert loads" });
  await expect(trace).toContainText(/line 3/i);
  await expect(page).not.toHaveURL(/trace/);
  await open(page, "junk.csv", "\u0000\u0001PAR1 junk");
  await expect(trace).not.toContainText(/line 3/i);
  await open(page, "loads.csv", csv(8));
  await expect(trace).toContainText(/other experts/);
});

test("a trace that is kept opens with its link in another browser", async ({ page, visit }) => {
  await gotoHydrated(page, EVEN);
  await open(page, "loads.csv", csv());
  await expect(page).toHaveURL(/balance=trace/);
  await page.getByRole("button", { name: "Keep it on this server, for links" }).click();
  await expect(page.getByText("Kept: whoever opens a link")).toBeVisible();
  const mfu = page.getByRole("article", { name: "MFU", exact: true }).locator("[data-metric]");
  const value = await mfu.first().innerText();
  const other = await visit();
  await gotoHydrated(other, page.url());
  const region = other.getByRole("region", { name: "Trace of expert loads" });
  await expect(region).toContainText("is loaded");
  const shown = other.getByRole("article", { name: "MFU", exact: true }).locator("[data-metric]");
  await expect(shown.first()).toHaveText(value.trim());
});

test.describe("a link to a trace that isn't kept", () => {
  test.use({ expectedConsole: /404/ });

  test("says that its file is needed", async ({ page }) => {
    await gotoHydrated(page, `/?routing.balance=trace&routing.trace=${"0".repeat(32)}`);
    const region = page.getByRole("region", { name: "Trace of expert loads" });
    await expect(region).toContainText("isn't kept on this server");
  });
});
