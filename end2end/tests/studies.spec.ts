// Figures that a worker makes: they follow the knobs, and the page says when they can't.

import { expect, gotoHydrated, numberBox, test, toStudy } from "./helper";

test("charts follow a knob, and a table that is open stays open", async ({ page }) => {
  await gotoHydrated(page);
  await toStudy(page, "memory");
  const figure = page.locator("#memory");
  await expect(figure.locator(".chart > svg")).toHaveCount(1);
  await figure.locator("summary").click();
  const words = () => figure.locator("tbody").innerText();
  const before = await words();
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect.poll(words).not.toBe(before);
  await expect(figure.getByRole("table")).toBeVisible();
});

test("charts that have followed knobs are those of a fresh page", async ({ page, visit }) => {
  test.slow();
  await gotoHydrated(page);
  const fresh = await visit({ viewport: page.viewportSize() });
  const vpp = numberBox(page, "Virtual stages (VPP)");
  const preset = page.getByRole("combobox", { name: "Preset" });
  for (const turn of [
    () => vpp.fill("4"),
    () => numberBox(page, "Pipeline parallel (PP)").fill("8"),
    () => preset.selectOption("deepseek-v3-2k-h800"),
    () => page.goBack(),
  ]) {
    const before = page.url();
    await turn();
    await expect(page).not.toHaveURL(before);
    await gotoHydrated(fresh, page.url());
    for (const study of ["memory", "step", "communication", "bubble", "composition", "balance"]) {
      const place = `[data-study="${study}"]`;
      await toStudy(page, study);
      await toStudy(fresh, study);
      await expect(async () => {
        const html = await fresh.locator(place).innerHTML();
        const isSame = await page.locator(place).evaluate((shown, html) => {
          const other = shown.cloneNode() as Element;
          other.innerHTML = html;
          return [...shown.childNodes].every((node, at) => node.isEqualNode(other.childNodes[at]))
            && shown.childNodes.length === other.childNodes.length;
        }, html);
        expect(isSame, study).toBe(true);
      }).toPass();
    }
  }
});

test("a chart is drawn for the width that it has", async ({ visit }) => {
  const page = await visit({ viewport: { width: 1440, height: 900 } });
  await gotoHydrated(page);
  await toStudy(page, "memory");
  const chart = page.locator("#memory .chart > svg");
  const wide = Number((await chart.getAttribute("viewBox"))?.split(" ")[2]);
  await page.setViewportSize({ width: 390, height: 844 });
  // Below the fold it waits until it is looked at.
  await chart.scrollIntoViewIfNeeded();
  await expect(async () => {
    const narrow = Number((await chart.getAttribute("viewBox"))?.split(" ")[2]);
    expect(narrow).toBeLessThan(wide);
    expect(narrow).toBe(await page.locator("#memory div.chart").evaluate((e) => e.clientWidth));
  }).toPass();
});

test("what is out of view is not computed until it is looked at", async ({ page }) => {
  await gotoHydrated(page);
  const tradeoff = page.locator('[data-study="schedules"]');
  await expect(page.locator("#step .chart > svg")).toHaveCount(1);
  await expect(tradeoff).toContainText("when scrolled into view");
  await toStudy(page, "schedules");
  await expect(tradeoff.getByRole("table")).toBeVisible();
});

test.describe("without its worker", () => {
  test.use({ expectedConsole: /worker|Failed to load resource/ });

  test("the page keeps its numbers and says what can't be redrawn", async ({ page }) => {
    await page.route(/\/pkg\/worker\./, (route) => route.abort());
    await gotoHydrated(page);
    await expect(page.locator(".study-problem").first()).toContainText("Couldn't update");
    await expect(page.locator("#memory svg").first()).toBeAttached();
  });
});

test.describe("with its worker broken", () => {
  test.use({ expectedConsole: /instantiateStreaming/ });

  test("the page says so and goes on", async ({ page }) => {
    await page.route(/\/pkg\/studies_bg\./, (route) => route.fulfill({ body: "junk" }));
    await gotoHydrated(page);
    await expect(page.locator(".study-problem").first()).toContainText("Couldn't update");
  });
});

test("a table is saved as CSV", async ({ page }) => {
  await gotoHydrated(page);
  const figure = page.locator("#step");
  await figure.locator("summary").click();
  const saved = page.waitForEvent("download");
  await figure.getByRole("button", { name: "Save as CSV" }).click();
  const download = await saved;
  expect(download.suggestedFilename()).toBe("moescape-step.csv");
  const { readFileSync } = await import("node:fs");
  const text = readFileSync(await download.path(), "utf8");
  expect(text.split("\r\n").length).toBeGreaterThan(5);
  expect(text).toContain("Ideal");
  expect(text).toMatch(/^[^\r]*,design,model_version,date\r\n/);
  expect(text).toContain(",/?v=1&preset=pangu-ultra-moe-6k@2,");
});
