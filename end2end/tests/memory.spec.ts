// What fills the fullest stage, and what frees it at which cost.


import { expect, gotoHydrated, test } from "./helper";
import { expectReadable } from "./looks";

const PLAIN =
  "/?memory.recompute_granularity=none&memory.recompute_modules=none&memory.swap_modules=none";

test("a module is turned by Enter and by its point, each one step", async ({ page }) => {
  await gotoHydrated(page, PLAIN);
  await page.locator('[data-study="tradeoff"]').scrollIntoViewIfNeeded();
  const link = page.getByRole("link", { name: /^(On: )?moe_act\b/ });
  await expect(link).not.toHaveAccessibleName(/^On/);
  await link.focus();
  await page.keyboard.press("Enter");
  await expect(link).toHaveAccessibleName(/^On/);
  await expect(link).toBeFocused();
  await expect(page).toHaveURL(/recompute_modules=moe_act/);
  await page.keyboard.press("Control+z");
  await expect(link).not.toHaveAccessibleName(/^On/);

  const point = page.locator('#tradeoff [data-opens="recompute moe_act"] > :not(title)').first();
  // Points may lie on each other; each can be pressed by its link.
  await point.dispatchEvent("click");
  await expect(link).toHaveAccessibleName(/^On/);
});

test("both charts have their table", async ({ page }) => {
  await gotoHydrated(page);
  await page.locator('[data-study="tradeoff"]').scrollIntoViewIfNeeded();
  await expect(page.locator("#tradeoff svg")).toBeVisible();
  for (const [id, words] of [
    ["composition", "Router probabilities"],
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
      await page.locator('[data-study="tradeoff"]').scrollIntoViewIfNeeded();
      await expect(page.locator("#tradeoff svg")).toBeVisible();
      for (const summary of await page.locator(".memory summary").all()) await summary.click();
      await expectReadable(page);
    });
  }
}
