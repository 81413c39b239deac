// A design is a link: what it shows elsewhere, and what a broken one says.

import { choose, expect, gotoHydrated, numberBox, numbers, test } from "./helper";

test("the address bar opens the same numbers in another browser", async ({ page, visit }) => {
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await numberBox(page, "Expert parallel (EP)").fill("64");
  await expect(page).toHaveURL(/expert_model_parallel_size=64/);
  const other = await visit();
  await gotoHydrated(other, page.url());
  expect(await numbers(other)).toEqual(await numbers(page));
  await expect(numberBox(other, "Expert parallel (EP)")).toHaveValue("64");
  await other.reload();
  expect(await numbers(other)).toEqual(await numbers(page));
});

test("the link holds only what differs from the preset", async ({ page }) => {
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect(page).toHaveURL(
    /\/\?v=1&preset=pangu-ultra-moe-6k@2&parallel\.virtual_pipeline_model_parallel_size=4$/,
  );
});

test("the link can be copied", async ({ visit }) => {
  const page = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await choose(page, "Share", "Copy link");
  await expect(page.getByRole("status").filter({ hasText: "Link copied" })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("parallel.virtual_pipeline_model_parallel_size=4");
});

test("heading and title follow the design", async ({ page }) => {
  await gotoHydrated(page);
  await expect(page).toHaveTitle("Pangu Ultra MoE on 6,144 NPUs · Moescape");
  await expect(page.locator("#preset-story")).toContainText("237.6 tokens/s");
  await page.locator("[data-knob='cluster.num_devices'] .number-box").fill("12288");
  const name = "Pangu Ultra MoE · 12,288 x 910B3 · TP8 PP16 VPP2 EP32";
  await expect(page).toHaveTitle(`${name} · Moescape`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  await expect(page.locator("#preset-story")).toHaveText(name);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page).toHaveTitle("Pangu Ultra MoE on 6,144 NPUs · Moescape");
});
