// Long lists are searched by typing; without the search they are the browser's own.

import { expect, gotoHydrated, test } from "./helper";

test("a preset is found by typing and taken by Enter", async ({ page }) => {
  await gotoHydrated(page);
  const preset = page.locator("#preset");
  await preset.click();
  const box = page.getByRole("combobox", { name: "Preset", expanded: true });
  await expect(box).toBeFocused();
  const list = page.getByRole("listbox", { name: "Preset" });
  await expect(list.getByRole("option", { selected: true })).toContainText("Pangu Ultra MoE");
  await box.fill("deepseek 2,048");
  await expect(list.getByRole("option")).toHaveCount(1);
  const active = await box.getAttribute("aria-activedescendant");
  await expect(page.locator(`#${active}`)).toContainText("DeepSeek-V3 on 2,048 H800");
  await box.press("Enter");
  await expect(list).toHaveCount(0);
  await expect(preset).toBeFocused();
  await expect(preset).toHaveValue("deepseek-v3-2k-h800");
  await expect(page).toHaveURL(/preset=deepseek-v3-2k-h800/);
});

test("keys open a list, go through it, and leave it as it was", async ({ page }) => {
  await gotoHydrated(page);
  const schedule = page.locator("#knob-method");
  await schedule.focus();
  await schedule.press("d");
  const box = page.getByRole("combobox", { name: /Schedule/, expanded: true });
  await expect(box).toHaveValue("d");
  await box.fill("dualpipe");
  const active = page.locator(".choose-entry.active");
  await expect(active).toContainText("DualPipe");
  await box.press("ArrowDown");
  await expect(active).toContainText("DualPipeV");
  await box.press("ArrowDown");
  await expect(active).toHaveText("DualPipe");
  await box.fill("nothing like that");
  await expect(page.getByText("Nothing found")).toBeVisible();
  await box.press("Enter");
  await box.press("Escape");
  await expect(schedule).toBeFocused();
  await expect(schedule).toHaveValue("1f1b_overlap");
  await schedule.press("Alt+ArrowDown");
  await expect(box).toBeFocused();
  await box.press("Tab");
  await expect(box).toHaveCount(0);
});

test("an accelerator is found by its maker, its name and its id, in place", async ({ page }) => {
  await gotoHydrated(page);
  await page.evaluate(() => {
    Object.assign(window, { shift: 0 });
    new PerformanceObserver((list) => {
      // What moves in an answer to a key or a press, such as entries that are left, is no shift.
      for (const entry of list.getEntries() as any[]) {
        if (!entry.hadRecentInput) (window as any).shift += entry.value;
      }
    }).observe({ type: "layout-shift" });
  });
  const accelerator = page.locator("select[name='find.accelerator']");
  await accelerator.click();
  const box = page.getByRole("combobox", { name: "Accelerator", expanded: true });
  const list = page.getByRole("listbox", { name: "Accelerator" });
  for (const typed of ["ascend 910b3", "910b3 64", "ascend-910b3"]) {
    await box.fill(typed);
    await expect(list.getByRole("option", { name: /^Ascend 910B3 64 GB/ })).toBeVisible();
  }
  await box.fill("h200");
  await list.getByRole("option", { name: /H200/ }).click();
  await expect(accelerator).toHaveValue("h200-sxm-141gb");
  expect(await page.evaluate(() => (window as any).shift)).toBe(0);
});

test("a press elsewhere closes it, and a short list has no search", async ({ page }) => {
  await gotoHydrated(page);
  await page.locator("#preset").click();
  await expect(page.locator(".choose")).toBeVisible();
  await page.locator("h1").first().click();
  await expect(page.locator(".choose")).toHaveCount(0);
  await page.goto("/find");
  await page.locator("main select").filter({ hasText: "Fastest" }).focus();
  await page.keyboard.press("Alt+ArrowDown");
  await expect(page.locator(".choose")).toHaveCount(0);
});
