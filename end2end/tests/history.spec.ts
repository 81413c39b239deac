// Back and Forward walk through the edits as undo and redo do, and leave the page where it is.

import { type Page } from "@playwright/test";

import { expect, gotoHydrated, numberBox, numbers, test, toStudy } from "./helper";

const PP = "Pipeline parallel (PP)";
const VPP = "Virtual stages (VPP)";

const scroll = (page: Page) =>
  page.evaluate(() => [
    document.scrollingElement!.scrollTop,
    document.getElementById("results")!.scrollTop,
  ]);

async function type(page: Page, label: string, value: string) {
  await numberBox(page, label).fill(value);
  await numberBox(page, label).blur();
}

test("back takes an edit back and forward takes it again", async ({ page }) => {
  await page.goto("/guide");
  await gotoHydrated(page);
  const before = await numbers(page);
  await type(page, VPP, "4");
  await expect(page).toHaveURL(/virtual_pipeline_model_parallel_size=4/);
  await type(page, PP, "8");
  await expect(page).toHaveURL(/\.pipeline_model_parallel_size=8/);
  const after = await numbers(page);
  await page.goBack();
  await expect(numberBox(page, PP)).toHaveValue("16");
  await expect(numberBox(page, VPP)).toHaveValue("4");
  await page.goBack();
  await expect.poll(() => numbers(page)).toEqual(before);
  await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled();
  await page.goForward();
  await page.goForward();
  await expect.poll(() => numbers(page)).toEqual(after);
  await expect(page.getByRole("button", { name: "Redo" })).toBeDisabled();
  for (const _ of [1, 2]) await page.goBack();
  await page.goBack();
  await expect(page).toHaveURL(/\/guide/);
});

test("edits in quick succession are a step each", async ({ page }) => {
  await gotoHydrated(page);
  const entries = await page.evaluate(() => history.length);
  for (const value of ["1", "4"]) await type(page, VPP, value);
  const schedule = page.getByRole("combobox", { name: "Schedule", exact: true });
  for (const index of [0, 1]) await schedule.selectOption({ index });
  await expect.poll(() => page.evaluate(() => history.length)).toBe(entries + 4);
  await page.goBack();
  await expect(page).toHaveURL(/schedule\.method=gpipe/);
  for (const _ of [1, 2]) await page.goBack();
  await expect(numberBox(page, VPP)).toHaveValue("1");
});

test("undo, redo and the browser's buttons walk the same way", async ({ page }) => {
  await gotoHydrated(page);
  await type(page, VPP, "4");
  await type(page, PP, "8");
  await expect(page).toHaveURL(/\.pipeline_model_parallel_size=8/);
  const entries = await page.evaluate(() => history.length);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page).not.toHaveURL(/\.pipeline_model_parallel_size=8/);
  await page.goForward();
  await expect(numberBox(page, PP)).toHaveValue("8");
  await page.goBack();
  await expect(numberBox(page, PP)).toHaveValue("16");
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(page).toHaveURL(/\.pipeline_model_parallel_size=8/);
  for (const _ of [1, 2]) await page.getByRole("button", { name: "Undo" }).click();
  await expect(numberBox(page, VPP)).toHaveValue("2");
  await expect(page).not.toHaveURL(/virtual_pipeline/);
  expect(await page.evaluate(() => history.length)).toBe(entries);
});

test("a drag is one entry, and so is a number that is typed slowly", async ({ page }) => {
  await gotoHydrated(page);
  const entries = () => page.evaluate(() => history.length);
  const first = await entries();
  const slider = page.getByRole("slider", { name: `${PP} slider` });
  const box = (await slider.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
  await page.mouse.down();
  for (const part of [0.6, 0.4, 0.2]) {
    await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
    await page.waitForTimeout(300);
  }
  expect(await entries()).toBe(first);
  await page.mouse.up();
  await expect.poll(entries).toBe(first + 1);
  const hidden = page.locator("[data-knob='transformer.hidden_size'] .number-box");
  await hidden.press("ControlOrMeta+a");
  await hidden.pressSequentially("7936", { delay: 600 });
  await hidden.press("Enter");
  await expect(page).toHaveURL(/hidden_size=7936/);
  expect(await entries()).toBe(first + 2);
  await page.goBack();
  await expect(hidden).toHaveValue("7680");
});

test("a preset is an entry, and a reload keeps the way back", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("combobox", { name: "Preset" }).selectOption("deepseek-v3-2k-h800");
  await type(page, VPP, "2");
  await expect(page).toHaveURL(/deepseek.*virtual_pipeline_model_parallel_size=2/);
  await page.reload();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await page.goBack();
  await expect(page).not.toHaveURL(/virtual_pipeline/);
  await expect(numberBox(page, VPP)).toHaveValue("1");
  await page.goBack();
  await expect(page.getByRole("combobox", { name: "Preset" })).toHaveValue("pangu-ultra-moe-6k@2");
  await page.goForward();
  await expect(page).toHaveURL(/deepseek/);
});

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  test.describe(`on a screen ${viewport.width} wide`, () => {
    test.use({ viewport });

    test("back and forward keep the page where it is scrolled to", async ({ page }) => {
      await gotoHydrated(page);
      await toStudy(page, "schedules");
      // What is in view is made first, and may still change its height.
      await expect(page.locator("[data-study=schedules] table").first()).toBeAttached();
      await page.keyboard.press("Control+z");
      const link = page.locator("[data-study=schedules] a[data-step]");
      await link.first().evaluate((element: HTMLElement) => element.click());
      await expect(page).toHaveURL(/\?v=1/);
      await page.waitForTimeout(1000);
      const before = await scroll(page);
      expect(Math.max(...before)).toBeGreaterThan(1000);
      await page.goBack();
      await expect(page).not.toHaveURL(/\?v=1/);
      await page.waitForTimeout(1000);
      const after = await scroll(page);
      before.forEach((top, index) => expect(Math.abs(after[index]! - top)).toBeLessThan(200));
    });

    test("another page and back leads to the same place", async ({ page }) => {
      await gotoHydrated(page);
      const map = page.locator("[data-study=map]");
      const top = async () => (await map.boundingBox())!.y;
      await toStudy(page, "map");
      await map.evaluate((element) => element.scrollIntoView());
      await page.waitForTimeout(1500);
      const before = await top();
      expect(Math.abs(before)).toBeLessThan(900);
      await page.goto("/trust");
      await page.goBack();
      await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
      await expect.poll(async () => Math.abs((await top()) - before)).toBeLessThan(60);
    });
  });
}
