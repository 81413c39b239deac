// One step of each knob, and a metric over two knobs.

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test, toStudy } from "./helper";
import { expectReadable } from "./looks";

const SENSITIVITY = "Sensitivity: which knobs matter";

async function look(page: Page, study: string): Promise<void> {
  const place = page.locator(`[data-study="${study}"]`);
  await expect(async () => {
    await toStudy(page, study);
    await expect(place).not.toContainText("when scrolled into view", { timeout: 1_000 });
  }).toPass();
  // While it is made anew it is dimmed.
  await expect(place).not.toHaveAttribute("aria-busy");
}

test("a step of a knob opens its design, and undo takes it back", async ({ page }) => {
  await gotoHydrated(page);
  await look(page, "sensitivity");
  const section = page.getByRole("region", { name: SENSITIVITY, exact: true });
  await section.getByLabel("Knobs").selectOption("machine");
  const row = section.locator('[data-lever="cluster.inter_node_gb_per_sec"]');
  await expect(row.getByRole("link")).toHaveCount(2);
  await expect(row.getByRole("link").first()).toContainText("−");
  await row.getByRole("link").last().click();
  await expect(page).toHaveURL(/cluster\.inter_node_gb_per_sec=/);
  // What was chosen stays chosen.
  await expect(section.getByLabel("Knobs")).toHaveValue("machine");
  await page.keyboard.press("Control+z");
  await expect(page).not.toHaveURL(/inter_node_gb_per_sec/);
});

test("another metric orders the knobs anew, and the choice keeps the focus", async ({ page }) => {
  await gotoHydrated(page);
  await look(page, "sensitivity");
  const section = page.getByRole("region", { name: SENSITIVITY, exact: true });
  await expect(section.locator(".lever-now")).toContainText("MFU now");
  const choice = section.getByLabel("Metric");
  await choice.focus();
  await choice.selectOption("memory_peak_bytes");
  await expect(section.locator(".lever-now")).toContainText("GiB");
  await expect(choice).toBeFocused();
});

test("a cell of the map opens its design; a hatched one says its rule", async ({ page }) => {
  await gotoHydrated(page);
  await look(page, "map");
  const section = page.getByRole("region", { name: "Heat map over two knobs", exact: true });
  await section.getByLabel("Across").selectOption("parallel.pipeline_model_parallel_size");
  await section.getByLabel("Down").selectOption("parallel.virtual_pipeline_model_parallel_size");
  await expect(section.locator("td.now")).toHaveCount(1);
  await expect(section.locator("td.refused").first()).toHaveText(/^[a-z]$/);
  await expect(section.locator(".map-reasons li").first()).toContainText("for one of them");
  const other = section.locator("td:not(.now) a").first();
  // The map of the knobs before stays until this one is made.
  await expect(other).not.toHaveAttribute("href", /expert_model_parallel_size/);
  const href = (await other.getAttribute("href")) ?? "";
  await other.click();
  await expect.poll(() => new URL(page.url()).search).toBe(href.slice(1));
});

test("a map over one knob is a single row", async ({ page }) => {
  await gotoHydrated(page);
  await look(page, "map");
  const section = page.getByRole("region", { name: "Heat map over two knobs", exact: true });
  await section.getByLabel("Down").selectOption("none");
  await expect(section.locator("tbody tr")).toHaveCount(1);
});

for (const width of [1440, 390, 320]) {
  test(`steps and map at ${width} pixels are read by all`, async ({ visit }) => {
    const page = await visit({ viewport: { width, height: 900 } });
    await gotoHydrated(page);
    await look(page, "sensitivity");
    await look(page, "map");
    // What is made once more while axe looks, for seconds on a busy machine, is dimmed.
    await expect(async () => {
      await expect(page.locator("[data-study][aria-busy]")).toHaveCount(0);
      await expectReadable(page, ".levers", ".map");
    }).toPass();
  });
}
