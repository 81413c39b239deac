// What a run costs: numbers that follow, what stays open, a baseline, and the brief.

import { card, expect, gotoHydrated, test } from "./helper";
import { expectNoScroll, findings, looks } from "./looks";

test("days follow tokens and failures, and the link brings them back", async ({ page }) => {
  await gotoHydrated(page, "/budget");
  const days = card(page, "Days to train").locator(".card-value");
  const before = await days.innerText();
  const tokens = page.getByLabel("Training tokens", { exact: true });
  await tokens.fill("1e12");
  await tokens.blur();
  await expect(days).not.toHaveText(before);
  await page.getByRole("link", { name: /^RSC-1/ }).click();
  await expect(page).toHaveURL(/mtbf_device_hours=29538/);
  const seen = await page.locator("#results .cards").innerText();
  await page.reload();
  expect(await page.locator("#results .cards").innerText()).toBe(seen);
});

test("the brief of a design is two presses away, and its tokens a third", async ({ page }) => {
  await gotoHydrated(page, "/?v=1&preset=deepseek-v3-2k-h800");
  await page.getByRole("link", { name: "Days, cost and brief" }).click();
  await expect(page.locator("[data-hydrated]")).toBeAttached();
  await page.getByRole("link", { name: "Brief", exact: true }).click();
  const brief = page.locator("#brief");
  await expect(brief).toBeInViewport();
  await expect(brief).toContainText("DeepSeek-V3 · 2,048 x");
  await page.getByRole("link", { name: "DeepSeek-V3: 14.8 T tokens" }).click();
  await expect(page).toHaveURL(/preset=deepseek-v3-2k-h800&.*train_tokens=14800000000000/);
  await expect(brief).toContainText("days");
});

test("without failures goodput is not known and days are a floor", async ({ page }) => {
  await gotoHydrated(page, "/budget");
  const failures = page.getByLabel(/^Device-hours between failures/);
  await failures.fill("");
  await failures.blur();
  await expect(card(page, "Goodput").locator(".card-value")).toHaveText("not known");
  await expect(page.getByText(/alone, a floor$/)).toBeVisible();
});

test("a baseline is pinned, and laws say how the loss differs", async ({ page }) => {
  await gotoHydrated(page, "/budget");
  await page.locator("#experts-512").click();
  const quality = page.locator("#quality");
  await expect(quality).toContainText("Lower loss than the baseline.");
  await expect(quality).toContainText("not a confidence interval");
  await expect(page).toHaveURL(/baseline=/);
  await page.locator("#unpin").click();
  await expect(page).not.toHaveURL(/baseline=/);
});

test("what is no number is refused and changes nothing", async ({ page }) => {
  await gotoHydrated(page, "/budget");
  const before = await page.locator("#results .cards").innerText();
  const pue = page.getByLabel("PUE", { exact: true });
  await pue.fill("0.2");
  await pue.blur();
  await expect(page.getByText(/run\.pue/)).toBeVisible();
  expect(await page.locator("#results .cards").innerText()).toBe(before);
});

test("the brief is one sheet of paper", async ({ page }) => {
  await gotoHydrated(page, "/budget");
  await page.emulateMedia({ media: "print" });
  await expect(page.locator(".budget-brief")).toBeVisible();
  await expect(page.locator(".schedule-form")).toBeHidden();
  const sheets = (await page.pdf({ format: "A4", preferCSSPageSize: true })).toString("latin1");
  expect(sheets.match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
  const download = page.waitForEvent("download");
  await page.emulateMedia({ media: "screen" });
  await page.getByRole("link", { name: "Brief, Markdown" }).click();
  expect((await download).suggestedFilename()).toBe("moescape-budget.md");
});

test("the page reads, and its form works, without JavaScript", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/budget");
  await expect(card(page, "Days to train")).toContainText("days");
  await page.getByLabel("Asynchronous checkpoints", { exact: true }).selectOption("true");
  await page.getByRole("button", { name: "Count" }).click();
  await expect(page).toHaveURL(/checkpoint_async=true/);
  await expect(card(page, "Days to train")).toContainText("days");
});

for (const { name, options } of looks()) {
  test(`the page has no fault that axe finds: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoHydrated(page, "/budget");
    await expectNoScroll(page);
    expect(await findings(page, "main")).toEqual([]);
  });
}
