// The pipeline's timeline: looked around in by mouse, keyboard and touch, read, and saved.

import { readFileSync } from "node:fs";

import type { Locator, Page } from "@playwright/test";

import { expect, gotoHydrated, numberBox, test } from "./helper";
import { expectReadable, looks } from "./looks";

const picture = (page: Page): Locator => page.locator("#timeline .timeline-stages");
const details = (page: Page): Locator => page.locator("#timeline .timeline-details");

/** Opens a page and brings the timeline into view, drawn. */
async function gotoTimeline(page: Page, url = "/"): Promise<void> {
  await gotoHydrated(page, url);
  await picture(page).scrollIntoViewIfNeeded();
  await expect.poll(() => colors(page)).toBeGreaterThan(4);
}

/** Colours of some pixels of the picture, copied so that the picture itself is never read. */
function pixels(page: Page, every: number): Promise<string[]> {
  return picture(page)
    .locator("canvas")
    .evaluate((canvas: HTMLCanvasElement, every) => {
      const copy = new OffscreenCanvas(Math.max(canvas.width, 1), Math.max(canvas.height, 1));
      const context = copy.getContext("2d", { willReadFrequently: true });
      context?.drawImage(canvas, 0, 0);
      const bytes = context?.getImageData(0, 0, copy.width, copy.height).data ?? [];
      const colors: string[] = [];
      for (let at = 0; at < bytes.length; at += 4 * every) {
        colors.push(`${bytes[at]} ${bytes[at + 1]} ${bytes[at + 2]}`);
      }
      return colors;
    }, every);
}

/** How many colours there are in the picture: a blank one has one. */
async function colors(page: Page): Promise<number> {
  return new Set(await pixels(page, 37)).size;
}

/** What a button saves. */
async function saved(page: Page, button: string): Promise<string> {
  const download = page.waitForEvent("download");
  await page.locator("#timeline").getByRole("button", { name: button }).click();
  return readFileSync(await (await download).path(), "utf8");
}

/** Start and end of what is in view, as the saved picture tells them. */
async function inView(page: Page): Promise<[number, number]> {
  const svg = await saved(page, "SVG of what is in view");
  const title = /<title id="title">[^<]*, from (.*) to (.*)<\/title>/.exec(svg);
  const seconds = (text: string) => {
    const [number, unit] = text.split(" ");
    return Number(number) * (unit === "s" ? 1 : unit === "ms" ? 1e-3 : 1e-6);
  };
  if (title === null) throw new Error("the picture has no title");
  return [seconds(title[1]), seconds(title[2])];
}

test("the module that draws comes when the timeline comes near", async ({ visit }) => {
  const page = await visit({ viewport: { width: 390, height: 844 } });
  await gotoHydrated(page);
  const loaded = () =>
    page.evaluate(() => {
      const files = performance.getEntriesByType("resource").map(({ name }) => name);
      return files.filter((name) => name.includes("/pkg/studies_bg.")).length;
    });
  const figure = page.locator("#timeline");
  await expect(page.locator("[data-study=step] .chart").first()).toBeVisible();
  expect(await loaded()).toBe(0);
  await expect(figure).not.toHaveAttribute("data-live");
  await expect(figure.getByRole("button", { name: "Zoom in" }).first()).toBeHidden();
  const { height } = (await figure.boundingBox()) ?? {};
  await picture(page).scrollIntoViewIfNeeded();
  await expect(figure.getByRole("button", { name: "Zoom in" }).first()).toBeVisible();
  expect(await loaded()).toBe(1);
  await expect.poll(() => colors(page)).toBeGreaterThan(4);
  expect((await figure.boundingBox())?.height).toBe(height);
});

test.describe("without the module that draws", () => {
  test.use({ expectedConsole: /Failed to load resource/ });

  test("the timeline says that it is missing, and its table is there", async ({ page }) => {
    await page.route(/\/pkg\/studies\./, (route) => route.abort());
    await gotoHydrated(page);
    await picture(page).scrollIntoViewIfNeeded();
    await expect(page.locator("#timeline .timeline-nothing")).toContainText("couldn't be loaded");
    await page.locator("#timeline .figure-table > summary", { hasText: /^Table$/ }).click();
    await expect(page.locator("#timeline .timeline-rows tbody tr")).toHaveCount(16);
  });
});

test("the keyboard selects a task, opens its details and clears them", async ({ page }) => {
  await gotoTimeline(page);
  await picture(page).focus();
  await page.keyboard.press("ArrowRight");
  await expect(details(page)).toContainText("Forward of micro-batch 0, chunk 0, stage 0");
  await expect(details(page)).not.toContainText("Waited for");
  await page.keyboard.press(".");
  await expect(details(page)).toContainText("Forward of micro-batch 1, chunk 0, stage 0");
  await page.keyboard.press("ArrowDown");
  await expect(details(page)).toContainText("stage 1");
  await page.keyboard.press("Enter");
  await expect(details(page)).toContainText("Waited for");
  await expect(details(page).getByRole("row", { name: /^Kernels/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(details(page)).toContainText("Click a block");
});

test("letters act only while the picture has the focus", async ({ page }) => {
  await gotoTimeline(page);
  const [, whole] = await inView(page);
  await page.keyboard.press("w");
  expect((await inView(page))[1]).toBe(whole);
  await picture(page).focus();
  for (const key of ["w", "w", "d"]) await page.keyboard.press(key);
  const [from, to] = await inView(page);
  expect(to - from).toBeLessThan(0.5 * whole);
  await picture(page).focus();
  await page.keyboard.press("f");
  expect((await inView(page))[1]).toBe(whole);
});

test("Esc closes the explanation when nothing is selected", async ({ page }) => {
  await gotoTimeline(page);
  await page.getByRole("button", { name: "Explain MFU" }).click();
  await picture(page).focus();
  await page.keyboard.press("ArrowRight");
  const panel = page.getByRole("complementary", { name: /MFU/ });
  await page.keyboard.press("Escape");
  await expect(panel).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
});

test("the wheel scrolls the page until the picture has the focus", async ({ page }) => {
  await gotoTimeline(page);
  const scrolled = () => page.locator("#results").evaluate((results) => results.scrollTop);
  const [, whole] = await inView(page);
  await picture(page).hover({ position: { x: 400, y: 60 } });
  const before = await scrolled();
  await page.mouse.wheel(0, -100);
  await expect.poll(scrolled).toBeLessThan(before);
  expect((await inView(page))[1]).toBe(whole);

  await picture(page).focus();
  await picture(page).hover({ position: { x: 400, y: 60 } });
  const still = await scrolled();
  await page.mouse.wheel(0, -240);
  const [from, to] = await inView(page);
  expect(to - from).toBeLessThan(0.6 * whole);
  expect(await scrolled()).toBe(still);
});

test("a drag moves the picture and a click selects what is under it", async ({ page }) => {
  await gotoTimeline(page);
  await page.getByRole("button", { name: "Zoom in" }).first().click();
  const [from] = await inView(page);
  const box = await picture(page).boundingBox();
  const [x, y] = [(box?.x ?? 0) + 600, (box?.y ?? 0) + 40];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 150, y, { steps: 5 });
  await page.mouse.up();
  expect((await inView(page))[0]).toBeGreaterThan(from);
  await expect(details(page)).toContainText("Click a block");
  await page.mouse.click(x, y);
  await expect(details(page)).toContainText(/micro-batch \d+.*stage 2/);
  await expect(details(page)).toContainText("Waited for");
});

test("one finger moves the picture, two zoom it, a tap selects", async ({ visit }) => {
  const page = await visit({ viewport: { width: 390, height: 844 }, hasTouch: true });
  await gotoTimeline(page);
  const touch = await page.context().newCDPSession(page);
  let [left, y] = [0, 0];
  const fingers = (type: string, ...at: number[]) =>
    touch.send("Input.dispatchTouchEvent", {
      type: type as "touchStart",
      touchPoints: at.map((x, id) => ({ x: left + x, y, id })),
    });
  /** Saving a picture scrolls to its button. */
  const comeBack = async () => {
    await picture(page).scrollIntoViewIfNeeded();
    const box = await picture(page).boundingBox();
    [left, y] = [box?.x ?? 0, (box?.y ?? 0) + 50];
  };
  const [, whole] = await inView(page);
  await comeBack();
  await fingers("touchStart", 150, 200);
  for (const apart of [40, 60, 80, 100]) await fingers("touchMove", 175 - apart, 175 + apart);
  await fingers("touchEnd");
  const [from, to] = await inView(page);
  expect(to - from).toBeLessThan(0.5 * whole);

  await comeBack();
  await fingers("touchStart", 250);
  for (const x of [220, 180, 140, 100]) await fingers("touchMove", x);
  await fingers("touchEnd");
  expect((await inView(page))[0]).toBeGreaterThan(from);

  await comeBack();
  await page.touchscreen.tap(left + 200, y);
  await expect(details(page)).toContainText(/micro-batch \d+/);
});

test("the trace has every task once and none overlaps on its stage", async ({ page }) => {
  await gotoTimeline(page);
  const trace = JSON.parse(await saved(page, "Trace for Perfetto"));
  type Event = { ph: string; pid: number; tid: number; ts: number; dur: number; args: object };
  const tasks: Event[] = trace.traceEvents.filter((event: Event) => event.ph === "X");
  const stages = tasks.filter(({ pid }) => pid === 1);
  for (let stage = 0; stage < 16; stage += 1) {
    const lane = stages.filter(({ tid }) => tid === stage + 1);
    expect(lane.length).toBeGreaterThan(128);
    expect(lane.every(({ args }) => "micro_batch" in args)).toBe(true);
    lane.forEach(({ ts }, index) => {
      const before = lane[index - 1];
      if (before !== undefined) expect(ts).toBeGreaterThanOrEqual(before.ts + before.dur - 1e-6);
    });
  }
  // What runs on the four resources of a pair is a process of its own.
  expect(tasks.filter(({ pid }) => pid === 2).length).toBeGreaterThan(10);
  const names = trace.traceEvents.filter((event: { name: string }) => event.name === "thread_name");
  expect(names.length).toBeGreaterThan(16);
});

test("the picture of all of it has letters and is well formed", async ({ page }) => {
  await gotoTimeline(page);
  const svg = await saved(page, "SVG of all of it");
  const [texts, errors] = await page.evaluate((text) => {
    const file = new DOMParser().parseFromString(text, "image/svg+xml");
    const texts = [...file.querySelectorAll("text")].map((element) => element.textContent);
    return [texts, file.querySelectorAll("parsererror").length] as const;
  }, svg);
  expect(errors).toBe(0);
  expect(texts).toContain("F0");
});

test("a saved picture is for paper: its colours are the light ones", async ({ visit }) => {
  const pictures: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await visit({ colorScheme });
    await gotoTimeline(page);
    pictures.push(await saved(page, "SVG of all of it"));
    await expect(page.locator("html")).not.toHaveAttribute("data-theme");
  }
  expect(pictures[1]).toBe(pictures[0]);
});

test("a knob changes the timeline, its table and what is selected", async ({ page }) => {
  await gotoTimeline(page);
  const summary = page.locator("#timeline .timeline-summary");
  const rows = page.locator("#timeline .timeline-rows tbody tr");
  await page.locator("#timeline .figure-table > summary", { hasText: /^Table$/ }).click();
  await expect(rows).toHaveCount(16);
  const before = await summary.textContent();
  await numberBox(page, "Pipeline parallel (PP)").fill("8");
  await expect(summary).not.toHaveText(before ?? "");
  await expect(rows).toHaveCount(8);
  await numberBox(page, "Pipeline parallel (PP)").fill("12");
  await expect(page.locator("#timeline .timeline-nothing")).toContainText("breaks a rule");
  await page.keyboard.press("Control+z");
  await expect(page.locator("#timeline .timeline-nothing")).toBeHidden();
});

test("a pair shows its operators on four resources", async ({ page }) => {
  await gotoTimeline(page);
  await page.getByText("One pair of stage 0: what runs on what").click();
  const pair = page.locator("#timeline .timeline-pair");
  await expect(pair.locator(".timeline-pair-words")).toContainText("busy: Compute");
  await pair.locator(".timeline-resources").focus();
  await page.keyboard.press("ArrowRight");
  await expect(pair.locator(".timeline-said")).toContainText(/compute: .* from .* on/);
  await pair.getByText("Table of operators").click();
  await expect(pair.getByRole("row").nth(1)).toContainText("Compute");
});

test("the picture takes the other theme at once", async ({ visit }) => {
  const page = await visit({ colorScheme: "light" });
  await gotoTimeline(page);
  const corner = async () => (await pixels(page, 1)).at(-1);
  await expect.poll(corner).toBe("255 255 255");
  await page.keyboard.press("t");
  await expect.poll(corner).toBe("20 24 29");
});

test("nothing moves when the timeline is taken over and computed", async ({ visit }) => {
  const heights: (number | undefined)[] = [];
  for (const javaScriptEnabled of [false, true]) {
    const page = await visit({ javaScriptEnabled });
    if (javaScriptEnabled) await gotoTimeline(page);
    else await page.goto("/");
    heights.push((await page.locator("#timeline").boundingBox())?.height);
  }
  expect(heights[0]).toBe(heights[1]);
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoTimeline(page);
    await picture(page).focus();
    await page.keyboard.press("Enter");
    await page.getByText("One pair of stage 0: what runs on what").click();
    for (const table of await page.locator("#timeline .figure-table > summary").all()) {
      await table.click();
    }
    await expectReadable(page, "#timeline");
    for (const button of await page.locator("#timeline button").all()) {
      const box = await button.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
    }
  });
}
