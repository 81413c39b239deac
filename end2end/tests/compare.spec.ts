// Designs are pinned in the explorer and compared on their own page.

import type { Page } from "@playwright/test";

import { card, expect, gotoHydrated, numberBox, test } from "./helper";
import { expectReadable, looks } from "./looks";

const TWO = "a=v=1%26preset=pangu-ultra-moe-4k-baseline&b=v=1%26preset=pangu-ultra-moe-6k";
const FOUR =
  `${TWO}&c=v=1%26preset=pangu-ultra-moe-6k%26parallel.pipeline_model_parallel_size=12` +
  "&d=v=1%26preset=deepseek-v3-2k-h800&baseline=b";

const tray = (page: Page) => page.getByRole("region", { name: "Pinned designs" });

test("p pins a design, c compares it with the next one", async ({ page }) => {
  await gotoHydrated(page);
  await expect(tray(page)).toBeHidden();
  await page.keyboard.press("p");
  await expect(tray(page).getByRole("listitem")).toHaveCount(1);
  await page.keyboard.press("p");
  await expect(page.getByText("Already pinned as A")).toBeAttached();
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await page.getByRole("button", { name: "Explain MFU" }).focus();
  const mfu = await card(page, "MFU").locator(".number").innerText();
  await page.keyboard.press("c");
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page).toHaveURL(/\/compare\?a=.*&b=.*virtual_pipeline/);
  const row = page.locator("tr[data-metric=mfu]");
  await expect(row.locator("td").nth(1)).toContainText(mfu);
  await expect(page.locator("tr[data-knob]")).toHaveCount(1);
});

test("pins stay in the browser, are renamed, opened and removed", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("button", { name: "Pin this design" }).click();
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await page.getByRole("button", { name: "Pin this design" }).click();
  await page.getByRole("textbox", { name: "Name of B" }).fill("Wider & faster");
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: "Name of B" }).blur();
  await gotoHydrated(page);
  await expect(page.getByRole("textbox", { name: "Name of B" })).toHaveValue("Wider & faster");
  await tray(page).getByRole("link", { name: /Open B/ }).click();
  await expect(numberBox(page, "Virtual stages (VPP)")).toHaveValue("4");
  await page.keyboard.press("Control+z");
  await expect(numberBox(page, "Virtual stages (VPP)")).toHaveValue("2");
  await tray(page).getByRole("link", { name: "Compare" }).click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page.getByRole("heading", { level: 2, name: /Wider & faster/ })).toBeVisible();
  await gotoHydrated(page);
  await tray(page).getByRole("button", { name: "Remove A" }).click();
  await tray(page).getByRole("button", { name: "Remove A" }).click();
  await expect(tray(page)).toBeHidden();
});

test("four designs are pinned at most, and letters typed into a name are no keys", async ({
  page,
}) => {
  await gotoHydrated(page);
  for (const size of ["1", "2", "4", "8"]) {
    await numberBox(page, "Virtual stages (VPP)").fill(size);
    await page.getByRole("button", { name: "Pin this design" }).click();
  }
  await numberBox(page, "Expert parallel (EP)").fill("16");
  await page.getByRole("button", { name: "Pin this design" }).click();
  await expect(page.getByText("4 designs are pinned: remove one first")).toBeAttached();
  await page.getByRole("textbox", { name: "Name of A" }).pressSequentially("pct");
  await expect(page.getByRole("textbox", { name: "Name of A" })).toHaveValue("pct");
  await expect(tray(page).getByRole("listitem")).toHaveCount(4);
});

test("a name that is typed takes nothing of what is pressed next", async ({ page }) => {
  await gotoHydrated(page);
  for (const size of ["1", "2", "4"]) {
    await numberBox(page, "Virtual stages (VPP)").fill(size);
    await page.getByRole("button", { name: "Pin this design" }).click();
  }
  await page.getByRole("textbox", { name: "Name of A" }).pressSequentially("first");
  await page.getByRole("button", { name: "Remove B" }).click();
  await expect(tray(page).getByRole("listitem")).toHaveCount(2);
  await expect(page.getByRole("textbox", { name: "Name of A" })).toHaveValue("first");
  await expect(page.getByRole("link", { name: "Compare", exact: true }).last()).toHaveAttribute(
    "href",
    /a\.name=first/,
  );
  // The focus goes on from pin to pin, and then to the button that pins.
  await expect(page.getByRole("button", { name: "Remove B" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Remove A" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Pin this design" })).toBeFocused();
});

test("everything on the page is a link or a form, without JavaScript too", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/compare");
  await page.getByLabel("Design A").selectOption({ label: "Qwen3-8B" });
  await page.getByLabel("Design B").selectOption({ label: "Qwen3-32B" });
  await page.getByRole("button", { name: "Compare" }).click();
  const mfu = page.locator("tr[data-metric=mfu]");
  await expect(mfu).toContainText(/better|worse/);
  const first = await mfu.locator("td").first().innerText();
  await page.getByRole("link", { name: /^Swap/ }).click();
  await expect(mfu.locator("td").nth(1)).toContainText(first.split("\n")[0] ?? "");
  await page.getByLabel("Design C").selectOption({ label: "Mixtral 8x7B" });
  await page.getByRole("button", { name: "Add" }).click();
  await page.getByRole("link", { name: "Make baseline: C" }).click();
  await expect(page.getByRole("columnheader", { name: /Mixtral.*baseline/ })).toBeVisible();
  await page.getByRole("link", { name: "Everything" }).click();
  await expect(page.locator("tr[data-metric]")).toHaveCount(22);
  await page.getByRole("link", { name: "Remove A" }).click();
  await expect(page.getByRole("article")).toHaveCount(2);
  await page.close();
});

test("tables and charts are saved", async ({ page }) => {
  await gotoHydrated(page, `/compare?${TWO}`);
  const save = async (press: () => Promise<void>) => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return download.suggestedFilename();
  };
  const figure = page.locator("#compare-memory");
  const picture = () => figure.getByRole("button", { name: /^SVG of / }).click();
  expect(await save(picture)).toBe("moescape-compare-memory.svg");
  const pixels = () => figure.getByRole("button", { name: /^PNG of / }).click();
  expect(await save(pixels)).toBe("moescape-compare-memory.png");
  await figure.getByText("Table", { exact: true }).click();
  const rows = () => figure.getByRole("button", { name: "Save as CSV" }).click();
  expect(await save(rows)).toBe("moescape-compare-memory.csv");
  const all = () => page.getByRole("link", { name: "Save as CSV" }).click();
  expect(await save(all)).toBe("moescape-comparison.csv");
});

for (const { name, options } of looks()) {
  for (const query of ["", TWO, FOUR]) {
    const state = query === "" ? "empty" : `${query.split("&").length} parts`;
    test(`nothing to mend for axe: ${state}, ${name}`, async ({ visit }) => {
      const page = await visit(options);
      await gotoHydrated(page, `/compare?${query}`);
      await expectReadable(page);
    });
  }

  test(`nothing to mend for axe in the pins: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoHydrated(page);
    for (const key of ["p", "p"]) await page.keyboard.press(key);
    await expect(tray(page)).toBeVisible();
    await expectReadable(page);
  });
}
