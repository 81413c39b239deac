// The stages' balance and the comparison of schedules: both change the design in one step.

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test, toStudy } from "./helper";
import { expectNoScroll, expectReadable } from "./looks";

const UNEVEN = "/?parallel.noop_layers=62,63";

/** Too few micro-batches for some schedules. */
const FEW =
  "/?training.global_batch_size=1536&schedule.method=interleaved" +
  "&schedule.delay_wgrad_compute=false";

async function compare(page: Page): Promise<void> {
  await toStudy(page, "schedules");
  await expect(page.getByRole("table", { name: "Schedules compared" })).toBeVisible();
}

test("one click balances the stages, and one undo takes it back", async ({ page }) => {
  await gotoHydrated(page, UNEVEN);
  await toStudy(page, "balance");
  const caption = page.locator("#balance figcaption p");
  const before = await caption.innerText();
  await page.getByRole("link", { name: "Balance the stages" }).click();
  await expect(caption).not.toHaveText(before);
  await expect(page).toHaveURL(/pipeline_model_parallel_layout=.*noop_layers=none/);
  await expect(page.getByRole("link", { name: "Balance the stages" })).toHaveCount(0);

  await page.keyboard.press("Control+z");
  await expect(caption).toHaveText(before);
  await expect(page).toHaveURL(/noop_layers=62,63/);
});

test("schedules are compared when looked at, and one click takes one", async ({ page }) => {
  await gotoHydrated(page);
  await expect(page.getByRole("table", { name: "Schedules compared" })).toHaveCount(0);
  await compare(page);
  await expect(page.locator("tr[data-schedule]")).toHaveCount(11);
  await expect(page.getByRole("row", { name: /This design/ })).toContainText("1f1b_overlap");

  const link = page.getByRole("link", { name: "interleaved", exact: true });
  await link.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row", { name: /This design/ })).toContainText("interleaved");
  await expect(link).toBeFocused();
  await expect(page).toHaveURL(/method=interleaved/);
  await page.keyboard.press("Control+z");
  await expect(page.getByRole("row", { name: /This design/ })).toContainText("1f1b_overlap");
});

test("a schedule opens as a page of its own with the control key", async ({ page, context }) => {
  await gotoHydrated(page);
  await compare(page);
  const opened = context.waitForEvent("page");
  const link = page.getByRole("link", { name: "interleaved", exact: true });
  await link.click({ modifiers: ["ControlOrMeta"] });
  const other = await opened;
  await other.waitForURL(/method=interleaved/);
  await expect(page).not.toHaveURL(/interleaved/);
});

test("a schedule that can't run says why, and its fix makes it run", async ({ page }) => {
  await gotoHydrated(page, FEW);
  await compare(page);
  const row = page.locator('tr[data-schedule="dualpipe"]');
  await expect(row).toContainText("Can't run: dualpipe needs 32 micro-batches");
  await row.getByRole("link", { name: "Use with GBS 3072" }).click();
  await expect(page).toHaveURL(/global_batch_size=3072.*method=dualpipe|method=dualpipe.*3072/);
  await expect(page.getByRole("region", { name: "Broken rules" })).toHaveCount(0);
});

test("nothing scrolls sideways beside a comparison at 320 pixels", async ({ visit }) => {
  const page = await visit({ viewport: { width: 320, height: 800 } });
  await gotoHydrated(page);
  await compare(page);
  await expectNoScroll(page);
});

for (const width of [1440, 1000, 390]) {
  test(`a comparison at ${width} pixels is read by all`, async ({ visit }) => {
    const page = await visit({ viewport: { width, height: 900 } });
    await gotoHydrated(page, FEW);
    await compare(page);
    // While it is made anew it is dimmed.
    await expect(page.locator("[data-study=schedules]")).not.toHaveAttribute("aria-busy");
    await expect(page.locator("[data-study=balance]")).not.toHaveAttribute("aria-busy");
    await expectReadable(page, ".schedules", "#balance");
  });
}
