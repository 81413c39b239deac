// Turning knobs: numbers follow, broken rules name their ways out, every step can be taken back.

import { card, expect, gotoHydrated, numberBox, numbers, test } from "./helper";

const PP = "Pipeline parallel (PP)";
const VPP = "Virtual stages (VPP)";
const BUBBLE = "Pipeline bubble";

test("VPP 2 to 4 moves the closed-form bubble from 10.49 % to 5.54 %", async ({ page }) => {
  await gotoHydrated(page);
  await expect(card(page, BUBBLE)).toContainText("formula 10.49 %");
  await numberBox(page, VPP).fill("4");
  await expect(card(page, BUBBLE)).toContainText("formula 5.54 %");
  await expect(page).toHaveURL(/parallel\.virtual_pipeline_model_parallel_size=4/);
});

test("PP 16 to 12 names the rule and its fixes, and one click mends it", async ({ page }) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  await numberBox(page, PP).fill("12");
  const broken = page.getByRole("region", { name: "Broken rules" });
  await expect(broken).toContainText("64");
  await expect(numberBox(page, PP)).toHaveAttribute("aria-invalid", "true");
  await expect(broken.getByRole("button", { name: "Set PP to 8" })).toBeVisible();
  await expect(broken.getByRole("button", { name: "Set PP to 16" })).toBeVisible();
  await expect(broken.getByRole("button", { name: /Set No-op layers to/ })).toBeVisible();
  expect(await numbers(page)).toEqual(before);

  await broken.getByRole("button", { name: "Set PP to 8" }).click();
  await expect(broken).toBeHidden();
  await expect(numberBox(page, PP)).toHaveValue("8");
  expect(await numbers(page)).not.toEqual(before);
});

test("an accelerator of another maker takes its software with it, and says so", async ({
  page,
}) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  const accelerator = page.locator("[data-knob='cluster.accelerator']");
  await accelerator.getByRole("combobox").selectOption("h100-sxm-80gb");
  await expect(accelerator).toContainText("software calibrated, ascend-2025-05 is Ascend's");
  await expect(page).toHaveURL(/kernel\.software=calibrated/);
  await expect(page.getByRole("region", { name: "Broken rules" })).toBeHidden();
  expect(await numbers(page)).not.toEqual(before);
  // One step there, and the preset as it was on the way back.
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(accelerator).not.toContainText("calibrated");
  expect(await numbers(page)).toEqual(before);
  await page.getByRole("button", { name: "Redo" }).click();
  await accelerator.getByRole("combobox").selectOption("ascend-910b3");
  await expect(page).not.toHaveURL(/software|accelerator/);
  expect(await numbers(page)).toEqual(before);
});

test("a slider moves over legal values and is one step of the history", async ({ page }) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  const slider = page.getByRole("slider", { name: `${PP} slider` });
  const box = await slider.boundingBox();
  if (box === null) throw new Error("the slider is not in view");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  for (const share of [0.4, 0.3, 0.2, 0.1, 0.01]) {
    await page.mouse.move(box.x + box.width * share, y);
  }
  await page.mouse.up();
  await expect(numberBox(page, PP)).not.toHaveValue("16");
  await expect(page.getByRole("region", { name: "Broken rules" })).toBeHidden();

  await page.getByRole("button", { name: "Undo" }).click();
  await expect(numberBox(page, PP)).toHaveValue("16");
  await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled();
  expect(await numbers(page)).toEqual(before);
  await page.getByRole("button", { name: "Redo" }).click();
  await expect(numberBox(page, PP)).not.toHaveValue("16");
});

for (const width of [1280, 1440, 1920]) {
  test(`sliders that are dragged move nothing else at ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 900 });
    await gotoHydrated(page);
    // What is loaded after the page has come, so that all that moves is moved by a slider.
    await page.waitForLoadState("networkidle");
    const moved = await page.evaluate(async () => {
      let shift = 0;
      let shifted: string[] = [];
      let knob = "";
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          shift += (entry as unknown as { value: number }).value;
          shifted = [...new Set([...shifted, knob])];
        }
      }).observe({ type: "layout-shift" });
      const drawn = () =>
        new Promise<void>((resolve) => {
          requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
        });
      const sliders = document.querySelectorAll<HTMLInputElement>("#knobs input[type=range]");
      for (const slider of sliders) {
        if (!slider.checkVisibility() || Number(slider.max) === 0) continue;
        knob = slider.closest<HTMLElement>("[data-knob]")?.dataset.knob ?? "";
        const home = Number(slider.value);
        slider.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
        for (const place of [home > 0 ? home - 1 : home + 1, home]) {
          slider.value = String(place);
          slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
          await drawn();
        }
        slider.dispatchEvent(new Event("change", { bubbles: true }));
        await drawn();
      }
      return { shift: shift.toFixed(3), shifted: shift < 0.0005 ? [] : shifted };
    });
    expect(moved).toEqual({ shift: "0.000", shifted: [] });
  });
}

test("undo and redo by keys walk through the steps", async ({ page }) => {
  await gotoHydrated(page);
  await numberBox(page, VPP).fill("4");
  await numberBox(page, VPP).blur();
  await numberBox(page, PP).fill("8");
  await numberBox(page, PP).blur();
  await page.keyboard.press("Control+z");
  await expect(numberBox(page, PP)).toHaveValue("16");
  await expect(numberBox(page, VPP)).toHaveValue("4");
  await page.keyboard.press("Control+z");
  await expect(numberBox(page, VPP)).toHaveValue("2");
  await page.keyboard.press("Control+Shift+z");
  await expect(numberBox(page, VPP)).toHaveValue("4");
});

test("a changed knob can be put back to its preset's value", async ({ page }) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  await numberBox(page, VPP).fill("4");
  await page.getByRole("button", { name: `Reset ${VPP} to 2` }).click();
  await expect(numberBox(page, VPP)).toHaveValue("2");
  expect(await numbers(page)).toEqual(before);
  await expect(page).not.toHaveURL(/virtual_pipeline/);
});

test("another preset changes the design, and the back button returns", async ({ page }) => {
  await gotoHydrated(page);
  const before = await numbers(page);
  await page.getByRole("combobox", { name: "Preset" }).selectOption("deepseek-v3-2k-h800");
  await expect(page).toHaveURL(/preset=deepseek-v3-2k-h800/);
  expect(await numbers(page)).not.toEqual(before);
  await page.goBack();
  await expect(page).not.toHaveURL(/deepseek/);
  await expect.poll(() => numbers(page)).toEqual(before);
});

test("slash finds a knob by its name", async ({ page }) => {
  await gotoHydrated(page);
  await page.keyboard.press("/");
  const search = page.getByRole("searchbox");
  await expect(search).toBeFocused();
  await search.fill("gradient_dtype");
  await expect(page.getByRole("combobox", { name: "Gradients" })).toBeVisible();
  await expect(numberBox(page, PP)).toBeHidden();
});

test("numbers are typed key by key, past what is refused on the way", async ({ page }) => {
  await gotoHydrated(page);
  const hidden = page.locator("[data-knob='transformer.hidden_size'] .number-box");
  await hidden.press("ControlOrMeta+a");
  // "4" is below the least size.
  await hidden.pressSequentially("4096");
  await expect(hidden).toHaveValue("4096");
  await expect(page).toHaveURL(/transformer\.hidden_size=4096/);
  const pp = numberBox(page, PP);
  await pp.press("End");
  for (const key of ["Backspace", "Backspace"]) await pp.press(key);
  await expect(pp).toHaveValue("");
  await expect(pp).toHaveAttribute("aria-invalid", "true");
  await pp.press("8");
  await expect(pp).toHaveValue("8");
  await expect(page).toHaveURL(/pipeline_model_parallel_size=8/);
  // What was refused goes when another value comes.
  await pp.fill("0");
  await expect(pp).toHaveValue("0");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(pp).not.toHaveValue("0");
  await expect(pp).toHaveAttribute("aria-invalid", "false");
});

for (const text of ["-1", "1000000000000000000", "12.5"]) {
  test(`a refused value (${text}) is explained and changes nothing`, async ({ page }) => {
    await gotoHydrated(page);
    const before = await numbers(page);
    await numberBox(page, PP).fill(text);
    await expect(numberBox(page, PP)).toHaveAttribute("aria-invalid", "true");
    expect(await numbers(page)).toEqual(before);
  });
}
