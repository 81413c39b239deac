// Published runs beside their predictions: read, filter, order, open.

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "./helper";
import { expectReadable, looks } from "./looks";

/** Rows of the table of runs, without its heading. */
function runs(page: Page) {
  return page.getByRole("region", { name: "Table of runs" }).locator("tbody tr");
}

/** Gives a sign of life to a page that hears it, and waits until its runs are there. */
async function alive(page: Page): Promise<void> {
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await page.keyboard.press("Shift");
  await page.locator("#runs[data-live=true]").waitFor();
}

/** Opens the page with its runs. */
async function gotoRuns(page: Page, url = "/trust"): Promise<void> {
  await page.goto(url);
  await alive(page);
}

test("the form filters without JavaScript", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/trust");
  await page.getByLabel("Search").fill("zero_bubble");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(page).toHaveURL(/q=zero_bubble/);
  await expect(page.getByRole("status")).toContainText("48 of ");
});

test("constants stand in one line each and say what they are fitted on", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/trust");
  await page.getByRole("heading", { name: "Constants", exact: true }).click();
  const kernels = page.getByRole("region", { name: /^Share of the peak that kernels reach/ });
  const row = (name: string) =>
    kernels.locator("tbody tr", { has: page.locator(".named > span", { hasText: name }) });
  await expect(row("Matrix products, 4 bit").locator("td")).toHaveText([
    "–",
    "–",
    "–",
    /\d+\.\d %$/,
  ]);
  await expect(row("Attention, forward").locator("td")).toHaveText(Array(4).fill(/^source \d/));
  await page.getByText("What the families' constants are fitted on").click();
  await expect(page.getByText(/\d+ runs, NVIDIA Hopper:/)).toBeVisible();
  const hosts = page.getByRole("region", { name: "What a framework costs, table" });
  await expect(hosts.locator("tbody tr")).toHaveCount(6);
  for (const table of [kernels, hosts]) {
    const clipped = await table.evaluate((it) => it.scrollWidth - it.clientWidth);
    expect(clipped).toBeLessThanOrEqual(0);
  }
});

test("runs are fetched only when somebody is there", async ({ page }) => {
  const fetched: string[] = [];
  page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
  await gotoHydrated(page, "/trust");
  await page.waitForLoadState("networkidle");
  expect(fetched).not.toContain("/api/v1/validation");
  await page.mouse.wheel(0, 200);
  await expect.poll(() => fetched).toContain("/api/v1/validation");
});

test("filters as one types, and the address brings the same runs back", async ({ page }) => {
  await gotoRuns(page);
  await page.getByLabel("Search").fill("zero_bubble");
  await expect(page.getByRole("status")).toContainText("48 of ");
  await expect(runs(page)).toHaveCount(25);
  await page.getByRole("link", { name: "Error" }).click();
  await expect(page.getByRole("link", { name: "Error" })).toBeFocused();
  await expect(page).toHaveURL(/\/trust\?q=zero_bubble&sort=-error$/);
  const first = await runs(page).first().getByRole("rowheader").innerText();
  await page.reload();
  await expect(runs(page).first().getByRole("rowheader")).toHaveText(first, {
    useInnerText: true,
  });
  await alive(page);
  await page.getByRole("link", { name: "Clear" }).click();
  await expect(runs(page)).toHaveCount(25);
  await expect(page).toHaveURL(/\/trust$/);
});

test("every filter narrows the runs", async ({ page }) => {
  await gotoRuns(page);
  for (const label of ["Runs", "Accelerator", "Source", "Metric", "Tier", "Precision"]) {
    const list = page.getByRole("combobox", { name: label, exact: true });
    await list.selectOption({ index: 1 });
    await expect(page.getByRole("status")).toContainText(/^\d[\d,]* of [\d,]+ runs\./);
    await page.getByRole("link", { name: "Clear" }).click();
    await expect(page.getByRole("status")).toContainText(/^[\d,]+ runs\./);
    await expect(list).toHaveValue("");
  }
});

test("pages are turned without loading the page again", async ({ page }) => {
  await gotoRuns(page);
  await page.evaluate(() => document.documentElement.setAttribute("data-same", "true"));
  const first = await runs(page).first().innerText();
  await page.getByRole("link", { name: "Next" }).click();
  await expect(page.getByText(/^Runs 26 to 50 of /)).toBeVisible();
  expect(await runs(page).first().innerText()).not.toBe(first);
  await expect(page.locator("html")).toHaveAttribute("data-same", "true");
});

test("a run opens in the explorer as its design", async ({ page }) => {
  await gotoRuns(page, "/trust?q=zero_bubble");
  const open = page.getByRole("link", { name: /^Open zero_bubble-\d+ in the explorer$/ }).first();
  await open.click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page).toHaveURL(/\/\?v=1&preset=/);
  await expect(page.getByRole("article", { name: "Step time", exact: true })).toBeVisible();
  await page.getByRole("navigation", { name: "Places" }).getByText("Learn").click();
  await page.getByRole("navigation", { name: "Learn" }).getByText("Trust").click();
  await expect(page).toHaveURL(/\/trust$/);
});

test("a point is named under a pointer and by the keyboard", async ({ page }) => {
  await gotoRuns(page, "/trust?q=zero_bubble");
  const slider = page.getByRole("slider", { name: "Go through the points" });
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await expect(slider).toHaveAttribute("aria-valuetext", /zero_bubble-\d+/);
  const readout = page.locator(".readout");
  await expect(readout).toContainText(/zero_bubble-\d+.*measured.*predicted/);
  const point = page.locator("#errors svg polygon.chart-ampere").last();
  const named = await readout.innerText();
  await point.hover();
  await expect(readout).not.toHaveText(named, { useInnerText: true });
  await readout.getByRole("link", { name: "Show in the table" }).click();
  await expect(runs(page)).toHaveCount(1);
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe on ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    await gotoRuns(page, "/trust?show=refused");
    await page.locator("#runs details summary").first().click();
    await expectReadable(page);
  });
}
