// What a frame costs on the page of a sweep that keeps 100,000 designs, while a range is dragged
// over them and a pointer goes from one to the other: scripting, style, layout and drawing on the
// page's own thread, from a trace of the browser.

import { readFileSync } from "node:fs";

import type { APIRequestContext, Page } from "@playwright/test";

import { expect, gotoHydrated, test } from "../tests/helper";
import { framesOf } from "./frames";

const DESIGNS = 100_000;

const MOVES = 120;

/** The paper's search with two more batches: far more than 100,000 designs keep everything. */
const SPEC = {
  schema: 1,
  name: "Many designs",
  sample: DESIGNS,
  design: { preset: "pangu-ultra-moe-6k", schedule: { timing: "closed_form" } },
  space: {
    parallel: {
      tensor_model_parallel_size: [2, 4, 8],
      pipeline_model_parallel_size: [8, 16, 32],
      virtual_pipeline_model_parallel_size: [1, 2],
      expert_model_parallel_size: [16, 32, 64],
      noop_layers: { fill: "chunks" },
    },
    training: {
      micro_batch_size: [1, 2],
      global_batch_size: { from: 6144, to: 6144 * 20, step: 6144 },
    },
    memory: { swap_modules: ["none", ["probs"], ["activations"], ["probs", "activations"]] },
    vocab_size: { from: 150016, to: 163840, step: 128 },
  },
};

test("100,000 designs of a sweep are brushed and hovered", async ({ page, request, browser }) => {
  test.setTimeout(600_000);
  await gotoHydrated(page, await finished(request));
  await expect(page.locator("#part-bar")).toContainText(/100,\d{3} designs are shown/, {
    timeout: 60_000,
  });
  // The pictures have come, and with them the places of all that is below.
  await expect(page.locator("#part-table tbody th").first()).toBeVisible();
  await page.waitForTimeout(2_000);
  for (const [what, act] of [
    ["a range is dragged", brush],
    ["a pointer over the scatter", (on: Page) => hover(on, "#scatter")],
    ["a pointer over the parallel coordinates", (on: Page) => hover(on, "#parallel")],
    ["words are typed above the table", search],
  ] as const) {
    const categories = ["disabled-by-default-devtools.timeline", "devtools.timeline"];
    const path = test.info().outputPath("trace.json");
    await browser.startTracing(page, { path, categories });
    await act(page);
    await browser.stopTracing();
    const frames = framesOf(readFileSync(path, "utf8"));
    expect(frames.length).toBeGreaterThan(act === search ? 4 : MOVES / 8);
    const at = (share: number) => frames[Math.floor((frames.length - 1) * share)].toFixed(1);
    console.log(
      `100,000 designs, ${what}: frame median ${at(0.5)} ms, p95 ${at(0.95)} ms, ` +
        `worst ${at(1)} ms (${frames.length} frames)`,
    );
  }
});

/** Runs the sweep and tells its page. */
async function finished(request: APIRequestContext): Promise<string> {
  const answer = await request.post("/api/v1/sweeps", { data: SPEC });
  expect(answer.status(), await answer.text()).toBe(201);
  const { id } = await answer.json();
  await expect
    .poll(async () => (await (await request.get(`/s/${id}`)).text()).includes("Finished"), {
      timeout: 500_000,
      intervals: [5_000],
    })
    .toBe(true);
  return `/s/${id}`;
}

/** Drags a range of the last axis, a metric, up and down. */
async function brush(page: Page): Promise<void> {
  const picture = page.locator("#parallel");
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  if (box === null) throw new Error("the picture is not on the page");
  const x = box.x + box.width - 46;
  await page.mouse.move(x, box.y + box.height / 2);
  await page.mouse.down();
  for (let move = 0; move < MOVES; move += 1) {
    await page.mouse.move(x, box.y + box.height * (0.5 + 0.35 * Math.sin(move / 8)));
  }
  await page.mouse.up();
  await expect(page.locator("#part-bar")).toContainText("designs brushed");
}

/** Goes to and fro over a picture. */
async function hover(page: Page, id: string): Promise<void> {
  const picture = page.locator(id);
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  if (box === null) throw new Error("the picture is not on the page");
  for (let move = 0; move < MOVES; move += 1) {
    const [across, up] = [Math.sin(move / 9), Math.sin(move / 5)];
    const x = box.x + box.width * (0.5 + 0.4 * across);
    await page.mouse.move(x, box.y + box.height * (0.5 + 0.4 * up));
  }
}

/** Looks for a design by its knobs, letter by letter. */
async function search(page: Page): Promise<void> {
  const field = page.getByRole("searchbox", { name: "Find" });
  await field.pressSequentially("tp=8 mbs=2", { delay: 100 });
  await expect(page.locator("#part-table")).toContainText("TP");
}
