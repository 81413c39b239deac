// What fills the fullest stage, what frees it at which cost, and the search for what fits.

import AxeBuilder from "@axe-core/playwright";

import { card, expect, gotoHydrated, test } from "./helper";

const PLAIN =
  "/?memory.recompute_granularity=none&memory.recompute_modules=none&memory.swap_modules=none";

test("a design that doesn't fit is made to fit in one step", async ({ page }) => {
  await gotoHydrated(page, PLAIN);
  const fitting = page.locator(".fitting");
  await expect(fitting).toContainText(/Stage \d+ doesn't fit: it needs .* its largest tensor is/);
  await fitting.getByRole("button", { name: "Make it fit" }).click();
  await expect(fitting.getByRole("status")).toContainText(/peak memory .* → .*, MFU .* sets were/);
  await fitting.getByRole("button", { name: "Apply" }).click();
  await expect(fitting.getByRole("button", { name: "Apply" })).toHaveCount(0);
  await expect(fitting.getByRole("button", { name: "Find the fastest set" })).toBeFocused();
  await expect(fitting).not.toContainText("doesn't fit");
  await expect(card(page, "Peak memory per device")).not.toContainText(/over/);
  await page.keyboard.press("Control+z");
  await expect(fitting).toContainText("doesn't fit");
});

test("what can never fit is not promised", async ({ page }) => {
  await gotoHydrated(page, "/?cluster.hbm_usable_gib=8");
  await page.getByRole("button", { name: "Make it fit" }).click();
  await expect(page.locator(".fitting")).toContainText("No set of recomputation and swapping fits");
});

test("a set found for another design is not shown", async ({ page }) => {
  await gotoHydrated(page, PLAIN);
  await page.getByRole("button", { name: "Make it fit" }).click();
  await expect(page.getByRole("button", { name: "Apply" })).toBeVisible();
  await page.getByRole("button", { name: /^recompute moe_act/ }).click();
  await expect(page.getByRole("button", { name: "Apply" })).toHaveCount(0);
});

test("a module is turned by Enter and by its point, each one step", async ({ page }) => {
  await gotoHydrated(page, PLAIN);
  const button = page.getByRole("button", { name: /^recompute moe_act/ });
  await expect(button).toHaveAttribute("aria-pressed", "false");
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(button).toHaveAttribute("aria-pressed", "true");
  await expect(button).toBeFocused();
  await expect(page).toHaveURL(/recompute_modules=moe_act/);
  await page.keyboard.press("Control+z");
  await expect(button).toHaveAttribute("aria-pressed", "false");

  const point = page.locator("#tradeoff .chart g", { hasText: "recompute moe_act:" });
  // Points may lie on each other; each can be pressed by its button.
  await point.locator("rect").dispatchEvent("click");
  await expect(button).toHaveAttribute("aria-pressed", "true");
});

test("prices are simulated once the knobs rest", async ({ page }) => {
  await gotoHydrated(page);
  await expect(page.locator("#tradeoff figcaption")).toContainText("as simulated");
});

test("both charts have their table", async ({ page }) => {
  await gotoHydrated(page);
  for (const [id, words] of [
    ["composition", "MoE: router probabilities"],
    ["tradeoff", "recompute moe_act"],
  ]) {
    const figure = page.locator(`#${id}`);
    await figure.locator("summary").click();
    await expect(figure.getByRole("rowheader", { name: words })).toBeVisible();
  }
});

for (const width of [1440, 390, 320]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`memory at ${width} pixels, ${colorScheme}, is read by all`, async ({ visit }) => {
      const page = await visit({ viewport: { width, height: 900 }, colorScheme });
      await gotoHydrated(page, PLAIN);
      await page.getByRole("button", { name: "Make it fit" }).click();
      await expect(page.getByRole("button", { name: "Apply" })).toBeVisible();
      for (const summary of await page.locator(".memory summary").all()) await summary.click();
      const inner = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(inner).toBeLessThanOrEqual(width);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    });
  }
}
