// For everyone: by keyboard, by screen reader, dark and light, on a phone, at high zoom.

import type { Page } from "@playwright/test";

import { card, expect, gotoHydrated, numberBox, test } from "./helper";
import { axe, expectNoScroll, findings, lines, looks } from "./looks";

/** States of the page, each with its address and what to do there. */
const STATES: [string, string, (page: Page) => Promise<void>][] = [
  ["as it opens", "/", async () => {}],
  [
    "with an explanation open",
    "/",
    async (page) => {
      await page.getByRole("button", { name: "Explain MFU" }).click();
      await expect(page.getByRole("heading", { name: /MFU/ }).last()).toBeVisible();
    },
  ],
  [
    "with a broken rule and the keys open",
    "/?parallel.pipeline_model_parallel_size=12",
    async (page) => {
      await expect(page.getByRole("region", { name: "Broken rules" })).toBeVisible();
      await page.keyboard.press("?");
      await expect(page.getByRole("dialog")).toBeVisible();
    },
  ],
];

for (const { name, options } of looks()) {
  for (const [state, url, reach] of STATES) {
    test(`nothing to mend for axe: ${name}, ${state}`, async ({ visit }) => {
      const page = await visit(options);
      await gotoHydrated(page, url);
      await reach(page);
      expect(await findings(page)).toEqual([]);
    });
  }
}

const TWO = "/compare?a=v=1%26preset=pangu-ultra-moe-4k-baseline&b=v=1%26preset=pangu-ultra-moe-6k";
const FIND = "/find?v=1&preset=qwen3-30b-a3b";
const PAGES = [
  ...["/", "/presets", "/tour?step=3", "/sweep", TWO, "/schedule", "/serving", "/budget"],
  ...["/ladder", "/trust", "/calibrate", "/guide"],
  ...["/find", FIND, "/settings", "/import", "/share", "/export", "/r/new", "/embed"],
];

for (const { name, options } of looks()) {
  test(`targets are large enough, and called what they say: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    for (const address of PAGES) {
      await page.goto(address);
      // WCAG 2.5.8 and 2.5.3, which axe leaves out by itself.
      const beyond = axe(page, "target-size", "label-content-name-mismatch");
      expect(lines(await beyond.analyze()), address).toEqual([]);
    }
  });
}

test.describe("pages that do not exist", () => {
  test.use({ expectedConsole: /status of 4\d\d/ });

  for (const url of ["/?preset=nope", "/no-such-page", `/?preset=${"a".repeat(10_000)}`]) {
    test(`nothing to mend for axe: ${url.slice(0, 20)}`, async ({ page }) => {
      await page.goto(url);
      expect(await findings(page)).toEqual([]);
    });
  }
});

for (const width of [390, 320]) {
  test(`nothing scrolls sideways at ${width} pixels`, async ({ visit }) => {
    const page = await visit({ viewport: { width, height: 800 } });
    await gotoHydrated(page);
    await expectNoScroll(page);
  });
}

test("a knob is turned on a phone", async ({ visit }) => {
  const page = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await gotoHydrated(page);
  await page.getByRole("button", { name: /Edit knobs/ }).click();
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await page.getByRole("button", { name: "Close knobs" }).click();
  await expect(card(page, "Pipeline bubble")).toContainText("formula 5.54 %");
});

test("the keyboard alone turns a knob, explains a number and closes it", async ({ page }) => {
  await gotoHydrated(page);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the results" })).toBeFocused();
  const vpp = numberBox(page, "Virtual stages (VPP)");
  for (let presses = 0; presses < 120; presses += 1) {
    if (await vpp.evaluate((box) => box === document.activeElement)) break;
    await page.keyboard.press("Tab");
  }
  await expect(vpp).toBeFocused();
  // The focus selects what stands there.
  await page.keyboard.press("4");
  await expect(vpp).toHaveValue("4");

  const explain = page.getByRole("button", { name: "Explain MFU" });
  await explain.focus();
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary", { name: /MFU/ });
  await expect(panel).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await expect(explain).toBeFocused();
});

test("every headline number opens its definition, formula and source", async ({ page }) => {
  await gotoHydrated(page);
  const explains = page.getByRole("button", { name: /^Explain / });
  for (const explain of await explains.all()) {
    await explain.click();
    const panel = page.getByRole("complementary").last();
    await expect(panel).toContainText(/Definition|Formula|Source/);
    await page.keyboard.press("Escape");
  }
});

test("t switches between dark and light, and a reload keeps it", async ({ visit }) => {
  const page = await visit({ colorScheme: "light" });
  await gotoHydrated(page);
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.keyboard.press("t");
  await expect.poll(background).not.toBe(light);
  const dark = await background();
  await page.reload();
  expect(await background()).toBe(dark);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});

test("the keys are listed under ?", async ({ page }) => {
  await gotoHydrated(page);
  await page.keyboard.press("?");
  const help = page.getByRole("dialog");
  await expect(help).toContainText("Undo");
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
});

test("cards and knobs stay in place while a knob moves", async ({ page }) => {
  await gotoHydrated(page);
  const places = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("article, input[type=range]")]
        .filter((element) => element.checkVisibility())
        .map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return [x, y, width, height].map(Math.round).join(" ");
        }),
    );
  const slider = page.getByRole("slider", { name: "Micro-batch (MBS) slider" });
  await slider.focus();
  const before = await places();
  for (const key of ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
    await page.keyboard.press(key);
    expect(await places()).toEqual(before);
  }
});
