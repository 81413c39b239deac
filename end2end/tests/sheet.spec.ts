// The sheets of a phone: closed, nothing of them can be pressed; and the bar below them speaks of
// the current design alone.

import { expect, gotoHydrated, numberBox, test } from "./helper";

const TP = "Tensor parallel (TP)";

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

test("no control of the closed sheet is there to be pressed", async ({ page }) => {
  await gotoHydrated(page, "/?v=1&tp=4&vpp=4&gbs=12288");
  const seen = await page.evaluate(() =>
    [...document.querySelectorAll("#knobs, #knobs *")].filter((element) =>
      element.checkVisibility({ visibilityProperty: true }),
    ).length,
  );
  expect(seen).toBe(0);
  // Where a thumb scrolls.
  for (let y = 60; y < 780; y += 24) {
    const inside = await page.evaluate(
      (y) => document.elementFromPoint(9, y)?.closest("#knobs") !== null,
      y,
    );
    expect(inside, `at ${y}`).toBe(false);
  }
  await page.touchscreen.tap(9, 651);
  // A number's explanation may stand there, which opens over the bar.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Edit knobs (3 changed)" }).click();
  await expect(numberBox(page, TP)).toHaveValue("4");
});

test("the focus goes to the sheet and comes back", async ({ page }) => {
  await gotoHydrated(page);
  const button = page.locator(".bottom-bar button");
  await button.press("Enter");
  await expect(page.locator("#knobs")).toBeFocused();
  await numberBox(page, TP).focus();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
  await expect(page.locator("#knobs")).toBeHidden();
});

test("the bar says that a design can't run, and why, instead of another's numbers", async ({
  page,
}) => {
  await gotoHydrated(page);
  const headline = page.locator(".bottom-headline");
  await expect(headline).toContainText("MFU 29.9 %");
  await page.locator(".bottom-bar button").click();
  await numberBox(page, TP).fill("6");
  await expect(headline).toContainText("Can't run: ");
  await expect(headline).not.toContainText("MFU");
  await numberBox(page, TP).fill("4");
  await expect(headline).toContainText("MFU");
});
