// Roofline, solving for a knob, other accelerators, and what a drag was before.

import type { Locator, Page } from "@playwright/test";

import { card, expect, gotoHydrated, numberBox, numbers, test, toStudy } from "./helper";
import { findings } from "./looks";

/** Scrolls to a study and waits until the worker has made it. */
async function study(page: Page, name: string): Promise<Locator> {
  const place = await toStudy(page, name);
  // What stands above is made meanwhile, and may push it out of view.
  await expect(async () => {
    await place.scrollIntoViewIfNeeded();
    await expect(place.locator(".waiting")).toHaveCount(0, { timeout: 2_000 });
  }).toPass();
  // What is made once more is dimmed meanwhile.
  await expect(place).not.toHaveAttribute("aria-busy");
  await expect(place.locator("table, ul").first()).toBeAttached();
  return place;
}

test("a point of the roofline opens how its time follows", async ({ page }) => {
  await gotoHydrated(page);
  const roofline = await study(page, "roofline");
  const chosen = roofline.getByRole("combobox", { name: "Operator" });
  const terms = roofline.locator(".operator-terms");
  await expect(terms).toContainText("Formula");
  const mark = roofline.locator('[data-opens="Core attention, forward, cube"]');
  await mark.dispatchEvent("click");
  await expect(chosen).toHaveValue("Core attention, forward, cube");
  await expect(terms).toContainText("exponentials per second");
  await chosen.selectOption({ label: "Experts, forward, cube" });
  await expect(terms).toContainText("Shapes");
  await roofline.getByText("Table", { exact: true }).click();
  await expect(roofline.getByRole("row").nth(5)).toBeVisible();
});

test("a knob is solved for, and what can't be says what comes nearest", async ({ page }) => {
  await gotoHydrated(page);
  const solve = await study(page, "solve");
  await expect(solve).toContainText("the largest");
  const box = solve.getByRole("spinbutton");
  await expect(async () => {
    await solve.getByLabel("so that it").selectOption("mfu");
    await expect(box).toBeVisible({ timeout: 2_000 });
  }).toPass();
  await box.fill("99");
  await box.blur();
  await expect(solve).toContainText("reaches it; the best is");
  await box.fill("1");
  await box.blur();
  await expect(solve.locator(".best")).toBeVisible();
  await solve.locator(".best").click();
  await expect(solve).toContainText("now");
});

test("the design opens on another accelerator, with as many devices or as much peak", async ({
  page,
}) => {
  await gotoHydrated(page);
  const transfer = await study(page, "transfer");
  const devices = await transfer.locator("tr.own td").first().innerText();
  const h20 = transfer.getByRole("row", { name: /NVIDIA H20 / }).locator("td").first();
  await expect(h20).toHaveText(devices);
  await transfer.getByLabel("Keep constant").selectOption("peak");
  await expect(h20).not.toHaveText(devices);
  await transfer.getByRole("link", { name: "NVIDIA H800 SXM 80 GB" }).first().click();
  await expect(page).toHaveURL(/accelerator=h800-sxm-80gb/);
  await expect(transfer.getByText("This design", { exact: true })).toBeVisible();
});

test("what these studies show has no fault that axe finds", async ({ page }) => {
  await gotoHydrated(page);
  for (const name of ["roofline", "solve", "transfer"]) await study(page, name);
  const parts = ["roofline", "solve", "transfer"].map((name) => `[data-study="${name}"]`);
  expect(await findings(page, ...parts)).toEqual([]);
});

/** Takes hold of a slider and moves it to the left end, step by step. */
async function drag(page: Page, label: string): Promise<void> {
  const slider = page.getByRole("slider", { name: `${label} slider` });
  const box = await slider.boundingBox();
  if (box === null) throw new Error("the slider is not in view");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  for (const share of [0.45, 0.3, 0.15, 0.02]) {
    await page.mouse.move(box.x + box.width * share, y);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
}

const PP = "Pipeline parallel (PP)";

test("while a slider is held the numbers from before stay, and Escape goes back", async ({
  page,
}) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  await drag(page, PP);
  await expect(numberBox(page, PP)).not.toHaveValue("16");
  await expect(card(page, "MFU")).toContainText(/was 29\.9 %, [+−]/);
  await expect(page.locator(".ghost", { hasText: "was 16" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(numberBox(page, PP)).toHaveValue("16");
  await page.mouse.move(5, 5);
  await page.mouse.up();
  await expect(numberBox(page, PP)).toHaveValue("16");
  await expect(page.locator(".ghost", { hasText: "was" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled();
  expect(await numbers(page)).toEqual(before);
});

test("terms stay as they were folded, and focused, when numbers change", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("button", { name: "Explain MFU" }).click();
  const panel = page.locator("#explanation");
  const closed = panel.locator("details:not([open]) > summary").first();
  const path = await closed.getAttribute("data-term");
  const folded = panel.locator(`[data-term="${path}"]`);
  const own = panel.locator("details", { has: page.locator(`> [data-term="${path}"]`) });
  await folded.press("Enter");
  await expect(own).toHaveAttribute("open", "");
  const before = (await panel.locator(".explained-value").textContent()) ?? "";
  // As another page, or a drag, changes it.
  await page.evaluate(() => {
    const box = document.querySelector<HTMLInputElement>("#knob-micro_batch_size")!;
    box.value = "1";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await expect(panel.locator(".explained-value")).not.toHaveText(before);
  await expect(own).toHaveAttribute("open", "");
  await expect(folded).toBeFocused();
});

test("a loss of the waterfall opens what moves it", async ({ page }) => {
  await gotoHydrated(page);
  const step = page.locator("[data-study=step]");
  await step.locator("svg:visible [data-opens=loss-bubble]").first().click();
  await expect(page).toHaveURL(/#change$/);
  await expect(page.locator("details#loss-bubble")).toHaveAttribute("open", "");
  await expect(page.locator("details#loss-bubble summary")).toBeFocused();
});
