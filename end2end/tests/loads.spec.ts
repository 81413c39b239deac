// Expert load: uneven tokens, what the planner makes of them, what a capacity drops.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "./helper";

const EVEN = "/?routing.balance=uniform&routing.planner=none";
const SKEWED = "/?routing.balance=skewed&routing.skew=0.4&routing.planner=sliding_window";

async function look(page: Page): Promise<void> {
  await page.locator('[data-study="loads"]').scrollIntoViewIfNeeded();
  await expect(page.locator("[data-study=loads]")).not.toContainText("as soon as it is in view");
}

test("even loads say so, and one press makes them uneven", async ({ page }) => {
  await gotoHydrated(page, EVEN);
  await look(page);
  const loads = page.getByRole("region", { name: "Expert load" });
  await expect(loads).toContainText("Every expert is taken to get the same load");
  await loads.getByRole("link", { name: "Skewed loads", exact: true }).click();
  await expect(page).toHaveURL(/balance=skewed|routing/);
  await expect(page.locator("#load-before svg")).toBeVisible();
  await expect(page.locator("#load-after")).toHaveCount(0);
});

test("a planner's effect is drawn before and after, with its moves", async ({ page }) => {
  await gotoHydrated(page, SKEWED);
  await look(page);
  const loads = page.getByRole("region", { name: "Expert load" });
  await expect(loads).toContainText(/removes \d+ % of the imbalance/);
  for (const id of ["load-steps", "load-cadence", "load-before", "load-after", "load-drops"]) {
    const figure = page.locator(`#${id}`);
    await expect(figure.locator("svg").first()).toBeVisible();
    await figure.locator("summary").click();
    expect(await figure.getByRole("row").count()).toBeGreaterThan(3);
  }
  await loads.getByRole("link", { name: "Without the planner" }).click();
  await expect(page.locator("#load-after")).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(page.locator("#load-after svg")).toBeVisible();
});

for (const width of [1440, 390, 320]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`loads at ${width} pixels, ${colorScheme}, are read by all`, async ({ visit }) => {
      const page = await visit({ viewport: { width, height: 900 }, colorScheme });
      await gotoHydrated(page, SKEWED);
      await look(page);
      await expect(page.locator("#load-drops svg")).toBeVisible();
      const inner = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(inner).toBeLessThanOrEqual(width);
      const { violations } = await new AxeBuilder({ page }).include(".loads").analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    });
  }
}
