// What a frame costs while the timeline is moved and zoomed: scripting, style, layout and drawing
// on the page's own thread, from a trace of the browser.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "../tests/helper";
import { framesOf } from "./frames";

const MOVES = 120;

const INTERLEAVED = "/?v=1&schedule.method=interleaved&schedule.delay_wgrad_compute=false";

const PIPELINES: [string, string][] = [
  ["16 stages, 64 micro-batches, 2 chunks", INTERLEAVED],
  ["16 stages, 1,024 micro-batches, 2 chunks", `${INTERLEAVED}&training.global_batch_size=98304`],
];

for (const [name, url] of PIPELINES) {
  test(`a frame of the timeline: ${name}`, async ({ page, browser }) => {
    await gotoHydrated(page, url);
    const picture = page.locator("#timeline .timeline-stages");
    await picture.scrollIntoViewIfNeeded();
    await expect(page.locator("#timeline .timeline-legend").first()).toContainText("forward");
    for (const [what, zooms] of [["all in view", 0], ["letters on the blocks", 9]] as const) {
      await picture.focus();
      await page.keyboard.press("f");
      for (let press = 0; press < zooms; press += 1) await page.keyboard.press("w");
      const categories = ["disabled-by-default-devtools.timeline", "devtools.timeline"];
      const path = test.info().outputPath("trace.json");
      await browser.startTracing(page, { path, categories });
      await drag(page);
      await browser.stopTracing();
      const frames = framesOf(readFileSync(path, "utf8"));
      expect(frames.length).toBeGreaterThan(MOVES / 4);
      const at = (share: number) => frames[Math.floor((frames.length - 1) * share)].toFixed(1);
      console.log(
        `${name}, ${what}: frame median ${at(0.5)} ms, p95 ${at(0.95)} ms, ` +
          `worst ${at(1)} ms (${frames.length} frames)`,
      );
    }
  });
}

/** Drags the picture to and fro, then turns the wheel over it. */
async function drag(page: Page): Promise<void> {
  const box = await page.locator("#timeline .timeline-stages").boundingBox();
  if (box === null) throw new Error("the picture is not on the page");
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 4];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let move = 0; move < MOVES; move += 1) {
    await page.mouse.move(x + 200 * Math.sin(move / 8), y);
  }
  await page.mouse.up();
  for (let turn = 0; turn < MOVES / 4; turn += 1) {
    await page.mouse.wheel(0, turn % 10 < 5 ? -60 : 60);
  }
}
