// From a trace of 1,000 steps, 58 layers and 256 experts at hand to its figures on the page.

import { writeFileSync } from "node:fs";

import { expect, gotoHydrated, test } from "../tests/helper";

const SIZE = { steps: 1_000, layers: 58, experts: 256 };

test("a long trace is planned and drawn", async ({ page }, testInfo) => {
  test.setTimeout(120_000);
  await gotoHydrated(page, "/?routing.planner=sliding_window&routing.planner_trigger=on_increase");
  const file = page.getByLabel("Open a trace of expert loads");
  const path = testInfo.outputPath("trace.bin");
  writeFileSync(path, packed());
  const start = Date.now();
  await file.setInputFiles(path);
  await expect(page.getByText(/Trace [0-9a-f]{32} is loaded/)).toBeAttached({ timeout: 60_000 });
  console.log(`read, from the choice of the file: ${Date.now() - start} ms`);
  // The first look plans and draws all of it.
  const looked = await page.evaluate(() => {
    return new Promise<number>((drawn) => {
      const start = performance.now();
      const seen = () => {
        if (document.querySelector("#load-after svg") === null) requestAnimationFrame(seen);
        // What was written is on the screen by then.
        else requestAnimationFrame(() => setTimeout(() => drawn(performance.now() - start)));
      };
      location.hash = "load";
      seen();
    });
  });
  console.log(`planned and drawn when it is first looked at: ${Math.round(looked)} ms`);
  await expect(page.locator("#load-after svg")).toBeVisible({ timeout: 60_000 });
  const times: number[] = [];
  // Figures above have come by now, and may have pushed it out of view.
  await page.locator("#load-steps").scrollIntoViewIfNeeded();
  for (const interval of ["40", "60", "80"]) {
    const time = await page.evaluate((value) => {
      const loads = document.querySelector("[data-study=loads]");
      const link = document.createElement("a");
      const address = new URL(location.href);
      address.searchParams.set("routing.planner_interval", value);
      link.href = `/${address.search}`;
      link.dataset.step = "interval";
      document.querySelector("#results")?.append(link);
      return new Promise<number>((drawn) => {
        const start = performance.now();
        // Only what differs is written, anywhere in the study; then it is laid out and painted.
        const painted = () => {
          requestAnimationFrame(() => setTimeout(() => drawn(performance.now() - start)));
        };
        new MutationObserver(painted).observe(loads as Element, {
          childList: true,
          characterData: true,
          subtree: true,
        });
        link.click();
        link.remove();
      });
    }, interval);
    times.push(Math.round(time));
  }
  console.log(`planned and drawn, with the 250 ms that knobs must rest: ${times.join(", ")} ms`);
});

/** A trace in the packed form, with loads that drift. */
function packed(): Buffer {
  const { steps, layers, experts } = SIZE;
  const counts = new Uint32Array(steps * layers * experts);
  for (let step = 0; step < steps; step += 1) {
    for (let layer = 0; layer < layers; layer += 1) {
      const start = (step * layers + layer) * experts;
      for (let expert = 0; expert < experts; expert += 1) {
        const wave = Math.sin(expert * 1.7 + layer + step / 300);
        counts[start + expert] = Math.round(4_096 * Math.exp(0.3 * wave));
      }
    }
  }
  const head = Buffer.alloc(48);
  head.write("moescape-trace-1", "latin1");
  [steps, layers, experts, 0].forEach((size, index) => {
    head.writeBigUInt64LE(BigInt(size), 16 + 8 * index);
  });
  return Buffer.concat([head, Buffer.from(counts.buffer)]);
}
