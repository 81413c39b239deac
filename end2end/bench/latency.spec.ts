// From an input event to the end of DOM writes and a forced layout, over many changes of knobs.
//
// "Numbers" ends when all effects of the event have run, which is before its task ends; "charts"
// when the animation frames that follow have drawn, not counting the wait for a frame.

import { readFileSync } from "node:fs";

import { expect, gotoHydrated, test } from "../tests/helper";
import { framesOf } from "./frames";

const CHANGES_PER_KNOB = 24;

type Latency = { numbers: number; charts: number; isLate: boolean };

test("latency of a knob", async ({ page }) => {
  await gotoHydrated(page);
  // As a person does: the pointer comes to the knobs, and then takes one.
  await page.locator("#knobs").hover();
  await page.waitForTimeout(500);
  const { latencies, shift } = await page.evaluate(measure, CHANGES_PER_KNOB);
  console.log(`cumulative layout shift of all changes: ${shift.toFixed(4)}`);
  expect(latencies.length).toBeGreaterThan(100);
  // What is timed is all of it: no number is written after its time was taken.
  expect(latencies.filter(({ isLate }) => isLate)).toEqual([]);
  for (const part of ["numbers", "charts"] as const) {
    const times = latencies.map((latency) => latency[part]).sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor((times.length - 1) * share)].toFixed(1);
    console.log(
      `event to ${part}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms ` +
        `(${times.length} changes)`,
    );
  }
});

test("work of a frame while knobs are moved", async ({ page, browser }) => {
  await gotoHydrated(page);
  await page.locator("#knobs").hover();
  await page.waitForTimeout(500);
  const path = test.info().outputPath("trace.json");
  await browser.startTracing(page, { path, categories: ["devtools.timeline"] });
  await page.evaluate(move, CHANGES_PER_KNOB);
  await browser.stopTracing();
  const frames = framesOf(readFileSync(path, "utf8"));
  expect(frames.length).toBeGreaterThan(100);
  const at = (share: number) => frames[Math.floor((frames.length - 1) * share)].toFixed(1);
  console.log(
    `work of a frame: median ${at(0.5)} ms, p95 ${at(0.95)} ms, worst ${at(1)} ms ` +
      `(${frames.length} frames)`,
  );
});

/** Runs in the page: moves every visible slider to and fro, a step in each frame. */
async function move(changesPerKnob: number): Promise<void> {
  const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
  for (const slider of document.querySelectorAll<HTMLInputElement>("input[type=range]")) {
    if (!slider.checkVisibility() || Number(slider.max) === 0) continue;
    const home = Number(slider.value);
    const away = home > 0 ? home - 1 : home + 1;
    for (let change = 0; change < changesPerKnob; change += 1) {
      slider.value = String(change % 2 === 0 ? away : home);
      slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await frame();
    }
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

/** Runs in the page: moves every visible slider to and fro. */
async function measure(
  changesPerKnob: number,
): Promise<{ latencies: Latency[]; shift: number }> {
  let shift = 0;
  const shifts = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) shift += (entry as unknown as { value: number }).value;
  });
  shifts.observe({ type: "layout-shift" });
  const layout = () => document.body.getBoundingClientRect().height;
  const numbersNow = () =>
    [...document.querySelectorAll(".card-value, .verdict")].map((it) => it.textContent).join("|");
  // Reactive effects run as microtasks, which start others. A task of our own would come after them
  // too, but often only after a frame, whose drawing belongs to the charts.
  const effects = async () => {
    for (let hop = 0; hop < 200; hop += 1) await null;
  };
  const settled = () =>
    new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve();
      port2.postMessage(null);
    });
  const frame = () =>
    new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now())));

  const sliders = [...document.querySelectorAll<HTMLInputElement>("input[type=range]")].filter(
    (slider) => slider.checkVisibility() && Number(slider.max) > 0,
  );
  const latencies: Latency[] = [];
  for (const slider of sliders) {
    const home = Number(slider.value);
    const away = home > 0 ? home - 1 : home + 1;
    for (let change = 0; change < changesPerKnob; change += 1) {
      slider.value = String(change % 2 === 0 ? away : home);
      // Asked for before the page asks, so it is called just before the page draws.
      const drawing = frame();
      const start = performance.now();
      slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await effects();
      layout();
      const numbers = performance.now() - start;
      const written = numbersNow();
      const frameStart = await drawing;
      await settled();
      layout();
      const charts = numbers + (performance.now() - frameStart);
      latencies.push({ numbers, charts, isLate: numbersNow() !== written });
    }
    slider.dispatchEvent(new Event("change", { bubbles: true }));
  }
  await frame();
  return { latencies, shift };
}
