// The guide: text without a script, reached from where a question comes up.

import { card, expect, gotoHydrated, test } from "./helper";
import { expectReadable, looks } from "./looks";

test("a number leads to its place in the guide, and the guide on to the next chapter", async ({
  page,
}) => {
  await gotoHydrated(page);
  await card(page, "MFU").getByRole("button", { name: "Explain MFU" }).click();
  const panel = page.getByRole("complementary", { name: "MFU" });
  await panel.getByRole("link", { name: "mfu", exact: true }).click();
  await expect(page).toHaveURL(/\/guide\/metrics#mfu$/);
  await expect(page.locator("h3#mfu")).toBeInViewport();
  await page.getByRole("link", { name: "Next: Knobs" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Knobs");
});

test("the guide is in the bar of every page, and opens designs", async ({ page }) => {
  await gotoHydrated(page, "/ladder");
  await page.getByRole("navigation", { name: "Learn" }).getByText("Guide").click();
  const first = { name: "First five minutes", exact: true };
  await page.getByRole("main").getByRole("link", first).click();
  await page.getByRole("main").getByRole("link", { name: /^\/\?v=1&preset=pangu/ }).click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(card(page, "Peak memory per device")).toBeVisible();
});

for (const { name, options } of looks("narrow phone")) {
  test(`nothing to mend for axe in the guide: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    for (const chapter of ["", "/start", "/metrics", "/designs", "/sweeps", "/api"]) {
      await page.goto(`/guide${chapter}`);
      await page.locator("main h1").waitFor();
      await expectReadable(page);
    }
  });
}
