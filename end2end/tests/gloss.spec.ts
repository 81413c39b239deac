// Labels that are words of the trade say what they mean: by pointer, by focus, by touch.

import { devices } from "@playwright/test";

import { expect, gotoHydrated, test } from "./helper";

const READY = "html[data-glossary]";

test("a label is explained under the pointer, which may go there, until Escape", async ({
  page,
}) => {
  await gotoHydrated(page);
  await page.waitForSelector(READY);
  const label = page.locator('[data-knob="parallel.expert_model_parallel_size"] .knob-label');
  await label.hover();
  const tip = page.getByRole("tooltip");
  await expect(tip).toContainText("experts");
  await expect(label).toHaveAttribute("aria-describedby", /gloss/);
  await tip.hover();
  await page.waitForTimeout(700);
  await expect(tip).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(tip).toHaveCount(0);
  await label.hover();
  await expect(tip).toBeVisible();
  await page.locator("h1").first().hover();
  await expect(tip).toHaveCount(0);
});

test("a label is explained with the focus, and nothing moves", async ({ page }) => {
  await gotoHydrated(page);
  await page.waitForSelector(READY);
  const before = await page.locator("h1").first().boundingBox();
  await page.locator("#knob-tensor_model_parallel_size").focus();
  await page.keyboard.press("Shift+Tab");
  const tip = page.getByRole("tooltip");
  await expect(tip).toContainText("Tensor parallel");
  await page.keyboard.press("Tab");
  await expect(tip).toHaveCount(0);
  expect(await page.locator("h1").first().boundingBox()).toEqual(before);
});

test.describe("touched", () => {
  const { viewport, hasTouch, isMobile, userAgent } = devices["Pixel 7"];
  test.use({ viewport, hasTouch, isMobile, userAgent });

  test("a card's label is explained, and a touch elsewhere ends that", async ({ page }) => {
    await gotoHydrated(page);
    await page.waitForSelector(READY);
    await page.locator(".card-head h2", { hasText: "MFU" }).first().tap();
    const tip = page.getByRole("tooltip");
    await expect(tip).toContainText("peak of all devices");
    await page.locator("h1").first().tap();
    await expect(tip).toHaveCount(0);
  });
});

test.describe("in Chinese", () => {
  test.use({ locale: "zh-CN" });

  test("the explanation is Chinese", async ({ page }) => {
    await gotoHydrated(page);
    await page.waitForSelector(READY);
    await page.locator(".card-head h2", { hasText: "MFU" }).first().hover();
    await expect(page.getByRole("tooltip")).toContainText(/[一-龥]/);
  });
});
