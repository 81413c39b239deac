// The ladder from a published run's baseline to its end, and what is said of a number's error.

import { card, expect, gotoHydrated, test } from "./helper";
import { expectReadable, findings, looks } from "./looks";

test("goes from the baseline to the final run, and each step opens", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("navigation", { name: "Places" }).getByText("Learn").click();
  await page.getByRole("navigation", { name: "Learn" }).getByText("Ladder").click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  const heading = page.getByRole("heading", { level: 1 });
  await expect(heading).toHaveText("From 18.9 % over 30.0 % to 41 % MFU");
  const table = page.getByRole("table", { name: "Changes from the baseline to the follow-up" });
  const rows = table.getByRole("row");
  expect(await rows.count()).toBeGreaterThan(8);
  const step = rows.filter({ hasText: "Two chunks a stage" });
  const mfu = await step.getByRole("cell").first().innerText();
  await step.getByRole("link").click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(card(page, "MFU")).toContainText(mfu);
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe on the ladder: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoHydrated(page, "/ladder");
    await page.getByText("All layouts that fit").click();
    await expectReadable(page);
  });

  test(`nothing to mend for axe in the ways to count: ${name}`, async ({
    visit,
  }) => {
    const page = await visit(options);
    await gotoHydrated(page);
    await page.getByRole("button", { name: "Explain MFU" }).click();
    await page.getByRole("button", { name: "Other ways to count" }).click();
    await expect(page.getByRole("dialog").getByRole("row")).toHaveCount(9);
    expect(await findings(page)).toEqual([]);
  });
}

test("the ways to count close by Escape and leave the explanation open", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("button", { name: "Explain MFU" }).click();
  await page.getByRole("button", { name: "Other ways to count" }).click();
  const dialog = page.getByRole("dialog");
  const own = dialog.getByRole("row", { name: /This design/ }).first();
  await expect(own).toContainText(/\d+\.\d %/);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("complementary", { name: "MFU" })).toBeVisible();
});

test("a card says how far its number may be off, and where that comes from", async ({ page }) => {
  await gotoHydrated(page);
  const words = /[\d.]+( \S+)? to [\d.]+ .*\(9 of 10\)/;
  for (const title of ["MFU", "Peak memory per device"]) {
    await expect(card(page, title)).toContainText(words);
  }
  await expect(card(page, "Exposed communication")).toContainText("not validated");
  await card(page, "MFU").getByRole("button", { name: words }).click();
  const panel = page.getByRole("complementary", { name: "MFU" });
  await expect(panel).toContainText("Expected error");
  const link = panel.getByRole("link", { name: /published runs/ });
  await expect(link).toHaveAttribute("href", "/trust");
});
