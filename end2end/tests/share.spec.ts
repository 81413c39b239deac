// Passing a design on: the sheet, short links and whose they are, panels in other pages.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { Page } from "@playwright/test";

import { choose, expect, gotoHydrated, menu, numberBox, numbers, test } from "./helper";
import { findings, looks } from "./looks";

/** A design that no other test stores, so that tests don't share a short link. */
function design(batch: number): string {
  return `/?v=1&preset=pangu-ultra-moe-6k&training.global_batch_size=${batch}`;
}

/** The box of the global batch, folded away or not. */
const batch = (page: Page) =>
  page.locator('[data-knob="training.global_batch_size"] input[type=number]');

async function openSheet(page: Page): Promise<void> {
  await choose(page, "Share", "Short link, QR code, embed");
  await expect(page.getByRole("dialog").getByLabel("Full link", { exact: true })).toBeVisible();
}

/** Stores the design of a page and gives its short link. */
async function store(page: Page, name: string): Promise<string> {
  await openSheet(page);
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("Name (optional)").fill(name);
  await sheet.getByRole("button", { name: "Store and make a short link" }).click();
  await expect(sheet.getByRole("button", { name: "Save name and note" })).toBeVisible();
  return sheet.getByLabel("Short link", { exact: true }).inputValue();
}

test("a short link shows the same numbers and the name to others", async ({ page, visit }) => {
  await gotoHydrated(page, design(12288));
  const short = await store(page, "Twice <the> batch");
  expect(short).toMatch(/\/d\/[0-9A-Za-z]{16}\?note=/);
  const other = await visit();
  await gotoHydrated(other, short);
  await expect(other.getByRole("heading", { name: "Twice <the> batch" })).toBeVisible();
  expect(await numbers(other)).toEqual(await numbers(page));
  await expect(batch(other)).toHaveValue("12288");
});

test("a change leaves the stored design for the address of a long link", async ({ page }) => {
  await gotoHydrated(page, design(18432));
  const short = await store(page, "");
  await gotoHydrated(page, short);
  await expect(page).toHaveURL(short);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect(page).toHaveURL(/\/\?v=1&.*virtual_pipeline_model_parallel_size=4/);
  await page.getByRole("link", { name: "Open it again" }).click();
  await expect(page).toHaveURL(short);
  await expect(page.getByRole("heading", { name: "Stored design" })).toBeVisible();
});

test("a fragment keeps the stored design", async ({ page }) => {
  await gotoHydrated(page, design(24576));
  const short = await store(page, "");
  await gotoHydrated(page, short);
  await page.getByRole("link", { name: "Skip to the results" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/#results$/);
  await expect(batch(page)).toHaveValue("24576");
});

test("who stored a design deletes it, and nobody else", async ({ page, visit }) => {
  await gotoHydrated(page, design(30720));
  const short = await store(page, "To be deleted");
  const id = new URL(short).pathname.split("/")[2];
  const other = await visit();
  const refused = await other.request.delete(`/api/v1/designs/${id}`);
  expect(refused.status()).toBe(403);
  await page.getByRole("button", { name: "Delete To be deleted" }).click();
  await expect(page.getByRole("button", { name: "Delete To be deleted" })).toBeHidden();
  expect((await page.request.get(short, { headers: { accept: "text/html" } })).status()).toBe(404);
});

test("the sheet takes the focus, and gives it back", async ({ page }) => {
  await gotoHydrated(page);
  const share = menu(page, "Share").locator("summary");
  await share.focus();
  for (const key of ["Enter", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  const sheet = page.getByRole("dialog", { name: "Share this design" });
  await expect(sheet.getByLabel("Full link", { exact: true })).toBeVisible();
  await expect(sheet.getByRole("heading", { name: "Share this design" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(share).toBeFocused();
});

test("a panel is chosen for another page and shown there", async ({ page }) => {
  await gotoHydrated(page);
  await openSheet(page);
  await page.getByLabel("Panel", { exact: true }).selectOption("memory");
  const snippet = await page.getByLabel("HTML of the panel").inputValue();
  expect(snippet).toContain("panel=memory");
  // A page of another origin; one of none, such as about:blank, may show no panel at all.
  const wiki = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html").end(snippet);
  });
  await new Promise<void>((ready) => wiki.listen(0, "127.0.0.1", ready));
  const { port } = wiki.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${port}/`);
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("heading", { name: "Memory per pipeline stage" })).toBeVisible();
  await expect(frame.getByRole("link", { name: "Open in Moescape" })).toBeVisible();
  wiki.close();
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`an embedded timeline is in the reader's theme: ${colorScheme}`, async ({ visit }) => {
    const page = await visit({ colorScheme });
    await page.goto("/embed?panel=timeline");
    const colors = await page.locator(".timeline-drawing svg").evaluate((svg) => {
      const fill = (selector: string) => getComputedStyle(svg.querySelector(selector)!).fill;
      const card = getComputedStyle(svg.closest(".card")!).backgroundColor;
      return { card, ground: fill(":scope > path"), block: fill("pattern > path") };
    });
    expect(colors.ground).toBe(colors.card);
    expect(colors.block).not.toBe("none");
    expect(colors.card === "rgb(255, 255, 255)").toBe(colorScheme === "light");
  });
}

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("a design is shared on a page", async ({ page }) => {
    await page.goto(design(36864));
    await choose(page, "Share", "Short link, QR code, embed");
    await page.getByLabel("Note (optional)").fill("no script");
    await page.getByRole("button", { name: "Store and make a short link" }).click();
    const short = await page.getByLabel("Short link", { exact: true }).inputValue();
    await page.goto(short);
    await expect(page.getByText("no script")).toBeVisible();
  });
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    await gotoHydrated(page, design(43008));
    const short = await store(page, "For axe");
    expect(await findings(page)).toEqual([]);
    for (const url of [short, `/share${new URL(design(1), "http://a").search}`]) {
      await page.goto(url);
      expect(await findings(page)).toEqual([]);
    }
    const id = new URL(short).pathname.split("/")[2];
    for (const panel of ["headline", "memory", "timeline"]) {
      await page.goto(`/embed/d/${id}?panel=${panel}`);
      expect(await findings(page)).toEqual([]);
    }
  });
}
