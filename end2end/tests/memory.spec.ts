// What fills the fullest stage, and what frees it at which cost.


import { expect, gotoHydrated, test, toStudy } from "./helper";
import { expectReadable } from "./looks";

const PLAIN =
  "/?memory.recompute_granularity=none&memory.recompute_modules=none&memory.swap_modules=none";

test("a module is turned by Enter and by its point, each one step", async ({ page }) => {
  await gotoHydrated(page, PLAIN);
  await toStudy(page, "tradeoff");
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
  await toStudy(page, "tradeoff");
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
  test(`memory at ${width} pixels is read by all`, async ({ visit }) => {
    const page = await visit({ viewport: { width, height: 900 } });
    await gotoHydrated(page, PLAIN);
    await toStudy(page, "tradeoff");
    await expect(page.locator("#tradeoff svg")).toBeVisible();
    for (const summary of await page.locator(".memory summary").all()) await summary.click();
    await expectReadable(page);
  });
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`the bar of memory ends at the limit, ${colorScheme}`, async ({ visit }) => {
    const page = await visit({ viewport: { width: 390, height: 844 }, colorScheme });
    // The recipe needs 58.3 GiB.
    for (const [gib, state, words] of [
      [80, "fits", /^Fits: 21\.7 GiB free, \d+ % likely to fit$/],
      [60.3, "fits tight", /^Tight: 58\.3 of 60\.3 GiB, \d+ % likely to fit$/],
      [50, "fits unlikely", /^Unlikely: predicted over the limit by 8\.3 GiB, \d+ % likely/],
      [40, "fits over", /^Does not fit: 18\.3 GiB over the limit, \d+ % likely to fit$/],
    ] as const) {
      await gotoHydrated(page, `/?cluster.hbm_usable_gib=${gib}`);
      const card = page.locator('article[data-metric="memory_peak_bytes"]');
      const said = card.locator('[data-metric="fit_probability"].fits');
      await expect(said).toHaveClass(state);
      await expect(said).toHaveText(words);
      const box = async (part: string) => (await card.locator(`.meter-${part}`).boundingBox())!;
      const [track, fill, error] = [await box("track"), await box("fill"), await box("error")];
      const share = Math.min(1, 58.3 / gib);
      expect(fill.width / track.width).toBeCloseTo(share, 2);
      const limit = track.x + track.width;
      expect(error.x < limit - 1, "the shadow begins before the limit").toBe(state !== "fits over");
      expect(error.x + error.width > limit + 1, "and ends behind it").toBe(state !== "fits");
      const over = card.locator(".meter-over");
      await expect(over).toHaveText(gib < 58 ? `+${(58.3 - gib).toFixed(1)} GiB` : "");
      const headline = await page.locator(".bottom-headline").textContent();
      const spoken = {
        fits: "fits",
        "fits tight": "tight",
        "fits unlikely": "unlikely",
        "fits over": "does not fit",
      };
      const word = spoken[state];
      expect(headline).toContain(`58.3 of ${gib.toFixed(1)} GiB, ${word}`);
      // While it is looked for, the last answer stands dimmed.
      await toStudy(page, "advice");
      await expect(page.getByText("Looking for what makes it fit …")).toHaveCount(0);
      await expectReadable(page);
    }
  });
}
