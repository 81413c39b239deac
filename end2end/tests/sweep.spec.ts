// Sweeps: built, started, watched, looked at, cancelled; and links that keep how one looked.

import type { APIRequestContext, Page } from "@playwright/test";

import { expect, gotoHydrated, test, watchMoves } from "./helper";
import { expectReadable, findings, looks } from "./looks";

/** A sweep of some hundred designs, of which a part is feasible. */
const SMALL = {
  schema: 1,
  name: "A small sweep",
  sample: 200,
  design: { preset: "pangu-ultra-moe-6k", schedule: { timing: "closed_form" } },
  space: {
    parallel: {
      tensor_model_parallel_size: [2, 4, 8],
      pipeline_model_parallel_size: [8, 16],
      virtual_pipeline_model_parallel_size: [1, 2],
      expert_model_parallel_size: [16, 32, 64],
      noop_layers: { fill: "chunks" },
    },
    training: { micro_batch_size: [1, 2] },
  },
};

/** One that takes long: every pipeline of many micro-batches is simulated, in random order. */
const LONG = {
  ...SMALL,
  name: "A long sweep",
  design: { preset: "pangu-ultra-moe-6k" },
  space: {
    ...SMALL.space,
    training: {
      micro_batch_size: [1, 2],
      global_batch_size: { from: 6144, to: 6144 * 400, step: 6144 },
    },
  },
  sampling: { method: "random", count: 20000, seed: 1 },
};

/** Starts a sweep and tells its page. Each is another client's, so that none waits for another. */
async function start(request: APIRequestContext, spec: object): Promise<string> {
  const headers = { "x-forwarded-for": crypto.randomUUID() };
  const answer = await request.post("/api/v1/sweeps", { data: spec, headers });
  expect(answer.status()).toBe(201);
  return `/s/${(await answer.json()).id}`;
}

/** Starts one and waits until it is over. */
async function finished(request: APIRequestContext, spec: object = SMALL): Promise<string> {
  const page = await start(request, spec);
  const id = page.slice(3);
  await expect
    .poll(async () => (await (await request.get(`/api/v1/sweeps/${id}`)).json()).state, {
      timeout: 30_000,
    })
    .toBe("done");
  return page;
}

/** Something is drawn on a canvas. */
async function isDrawn(page: Page, id: string): Promise<boolean> {
  return page.evaluate((name) => {
    const canvas = document.getElementById(name) as HTMLCanvasElement;
    const { width, height } = canvas;
    if (width === 0 || height === 0) return false;
    // Copied, so that the picture itself is never read: a browser warns of that.
    const context = new OffscreenCanvas(width, height).getContext("2d", {
      willReadFrequently: true,
    })!;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    return data.some((byte) => byte !== 0);
  }, id);
}

test("a sweep is built around a design, started, and watched to its end", async ({ page }) => {
  await gotoHydrated(page, "/");
  await page.getByRole("navigation", { name: "Places" }).getByText("Search").click();
  await page.getByRole("navigation", { name: "Search" }).getByText("Sweeps").click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page).toHaveURL(/\/sweep\?/);
  const text = page.locator("#spec");
  await expect(text).toHaveValue(/preset = "pangu-ultra-moe-6k@2"/);
  const button = page.getByRole("button", { name: "Start the sweep" });
  await expect(button).toBeEnabled();
  await expect(page.locator("#part-cost")).toContainText("Designs of the space");
  // The form writes the text, the text writes the form.
  const tp = page.locator("#form-parallel\\.tensor_model_parallel_size");
  await expect(tp).toHaveValue("powers_of_two");
  await page.locator("#low-parallel\\.tensor_model_parallel_size").fill("4");
  await page.keyboard.press("Tab");
  await expect(text).toHaveValue(/tensor_model_parallel_size = \{ powers_of_two = \[4, 16\] \}/);
  await text.fill((await text.inputValue()).replace("[4, 16]", "[4, 8]"));
  await expect(page.locator("#high-parallel\\.tensor_model_parallel_size")).toHaveValue("8");
  await expect(button).toBeEnabled();
  await button.click();
  await page.waitForURL(/\/s\/[0-9a-f]+$/);
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page.getByText("Finished")).toBeVisible({ timeout: 30_000 });
  await expect(page.locator(".sweep-best").first()).toContainText("%");
  await expect.poll(() => isDrawn(page, "scatter-base")).toBe(true);
  const best = page.locator(".sweep-best").first();
  await best.getByRole("link", { name: "Open in the explorer" }).click();
  // What is opened is what was shown: the best are simulated.
  await expect(page).toHaveURL(/\/\?v=1&preset=pangu-ultra-moe-6k(@2)?(?!.*closed_form)/);
  await expect(page.getByRole("article", { name: "MFU", exact: true })).toBeVisible();
});

test.describe("while it runs", () => {
  // What was asked for before the sweep was removed may come after it.
  test.use({ expectedConsole: /status of 404/ });

  test("a running sweep shows what it has, is paused, resumed and cancelled", async ({
    page,
    request,
  }) => {
    await gotoHydrated(page, await start(request, LONG));
    const status = page.locator("#part-status");
    await expect(status).toContainText("Running");
    await expect(status).toContainText(/designs\/s, about/, { timeout: 15_000 });
    await expect(page.locator("#part-table tbody th").first()).toBeVisible({ timeout: 20_000 });
    await page.getByRole("button", { name: "Pause" }).click();
    await expect(status).toContainText("Paused");
    await page.getByRole("button", { name: "Resume" }).click();
    await expect(status).toContainText("Running");
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Cancel…" }).click();
    await page.getByRole("button", { name: "Yes, delete it" }).click();
    await expect(status).toContainText("Removed");
  });
});

test.describe("behind a proxy that is away for a moment", () => {
  // What was asked for before the sweep was removed may come after it.
  test.use({ expectedConsole: /status of (404|503)/ });

  test("a running sweep is followed again", async ({ page, request }) => {
    let asked = 0;
    await page.route("**/api/v1/sweeps/*/events", (route) =>
      asked++ === 0 ? route.fulfill({ status: 503 }) : route.continue(),
    );
    const address = await start(request, LONG);
    await gotoHydrated(page, address);
    await expect.poll(() => asked, { timeout: 15_000 }).toBe(2);
    const status = page.locator("#part-status");
    await expect(status).toContainText(/designs\/s, about/, { timeout: 15_000 });
    await request.delete(`/api/v1/sweeps/${address.slice(3)}`);
    await expect(status).toContainText("Removed");
  });
});

test("what is brushed is brushed in every view, kept, and in the link", async ({
  page,
  request,
}) => {
  await gotoHydrated(page, await finished(request));
  const bar = page.locator("#part-bar");
  await expect(bar).toContainText("designs are shown");
  await expect.poll(() => isDrawn(page, "parallel-base")).toBe(true);
  const all = Number(/(\d+) designs/.exec(await bar.innerText())?.[1]);
  // With a pointer: from the middle of the first axis to its top.
  await page.locator("#parallel").scrollIntoViewIfNeeded();
  const box = await page.locator("#parallel").boundingBox();
  if (box === null) throw new Error("no parallel coordinates");
  await page.mouse.move(box.x + 46, box.y + box.height / 2 + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 46, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect(bar).toContainText("designs brushed");
  await expect(page.locator(".sweep-chip")).toHaveCount(1);
  await page.getByRole("button", { name: "Keep these" }).click();
  await expect(bar).toContainText(`of ${all} designs left`);
  // With keys: a value of a knob, from the table of axes.
  await page.getByText("Axes, ranges and order").click();
  await page.getByLabel("Range of MBS, from").selectOption("2");
  await expect(page.locator(".sweep-chip")).toContainText("2");
  await expect(page).toHaveURL(/keep=.*brush=|brush=.*keep=/);
  const seen = await bar.innerText();
  const rows = await page.locator("#part-table tbody tr").count();
  await page.reload();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect.poll(() => bar.innerText()).toBe(seen);
  await expect(page.locator("#part-table tbody tr")).toHaveCount(rows);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByRole("button", { name: "Clear brushes" }).click();
  await expect(bar).toContainText(`${all} designs are shown`);
});

test("keys go from design to design, and pins stand beside each other", async ({
  page,
  request,
}) => {
  await gotoHydrated(page, await finished(request));
  const scatter = page.locator("#scatter");
  await expect.poll(() => isDrawn(page, "scatter-base")).toBe(true);
  await scatter.focus();
  await page.keyboard.press("ArrowRight");
  const current = page.locator("#part-current");
  await expect(current).toContainText("Design ");
  await page.keyboard.press("p");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/pins=\d+%2C\d+|pins=\d+,\d+/);
  const pins = page.locator("#part-pins");
  await expect(pins.locator("thead th")).toHaveCount(3);
  await expect(pins).toContainText("against the first");
  await page.locator("#heat").focus();
  await page.keyboard.press("ArrowRight");
  await expect(page.locator("#heat-said")).toContainText(/best MFU|no feasible design/);
  await scatter.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/\?v=1&/);
});

test("pinned designs are compared in every knob and metric", async ({ page, request }) => {
  // What is pressed before the designs have come is done when they have.
  await page.route(/\/s\/[^/]+\/data/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await route.continue();
  });
  await gotoHydrated(page, await finished(request, DEFAULT));
  await page.getByRole("button", { name: "Pin the first three of the front" }).click();
  await expect(page).toHaveURL(/pins=\d+(,|%2C)\d+(,|%2C)\d+/);
  await expect(page.locator("#pinned-said")).toContainText(
    /Pinned designs [\d,]+, [\d,]+, [\d,]+ of the front, simulated, in order of MFU/,
  );
  await page.getByRole("link", { name: "Compare every knob and metric" }).click();
  await expect(page).toHaveURL(/\/compare\?a=.*&b=.*&c=/);
  await expect(page.getByRole("heading", { level: 2, name: /of the sweep/ })).toHaveCount(3);
  await expect(page.locator("tr[data-metric=mfu]")).toContainText(/better|worse|same/);
});

test("the front is pinned when all of it has come, however early it is asked for", async ({
  page,
  request,
}) => {
  // Pressed while the sweep runs, or when it has said that it is over and its last designs are on
  // their way, the front was one of designs that nobody had simulated.
  let gets = 0;
  await page.route(/\/s\/[^/]+\/data/, async (route) => {
    gets += 1;
    if (gets > 1) await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await gotoHydrated(page, await start(request, DEFAULT));
  await page.getByRole("button", { name: "Pin the first three of the front" }).click();
  await expect(page.locator("#pinned-said")).toContainText("of the front, simulated", {
    timeout: 20_000,
  });
  await expect(page).toHaveURL(/pins=\d+(,|%2C)\d+(,|%2C)\d+/);
  await expect(page.locator("#part-pins thead th")).toHaveCount(5);
  await expect(page.locator("#part-pins")).not.toContainText("not among");
});

test("between the best of two objectives stands a trade-off, and all three are compared", async ({
  page,
  request,
}) => {
  const objectives = ["mfu max", "memory_peak_bytes min"];
  await gotoHydrated(page, await finished(request, { ...DEFAULT, objectives }));
  const cards = page.locator(".sweep-best");
  await expect(cards.getByRole("heading")).toHaveText([
    "Highest MFU",
    "Lowest peak memory",
    "Trade-off",
  ]);
  const values = await cards.locator(".sweep-best-value").allTextContents();
  const [mfu, memory, both] = values.map((value) => value.match(/[\d.]+(?= %| GiB)/g)?.map(Number));
  // Less of each than the best of it, and more of each than the other's best.
  expect(both).toHaveLength(2);
  expect(both![0]).toBeLessThan(mfu![0]!);
  expect(both![1]).toBeGreaterThan(memory![0]!);
  await expectReadable(page, "#part-best");
  await page.getByRole("link", { name: "Compare them" }).click();
  await expect(page).toHaveURL(/\/compare\?a=.*&b=.*&c=/);
  const shown = (metric: string) => page.locator(`tr[data-metric=${metric}] td`);
  await expect(shown("mfu").nth(0)).toContainText(`${mfu![0]} %`);
  await expect(shown("memory_peak_bytes").nth(1)).toContainText(`${memory![0]} GiB`);
  await expect(shown("mfu").nth(2)).toContainText(`${both![0]} %`);
  await expect(shown("memory_peak_bytes").nth(2)).toContainText(`${both![1]} GiB`);
});

test("the table is ordered, searched and saved", async ({ page, request }) => {
  await gotoHydrated(page, await finished(request));
  const rows = page.locator("#part-table tbody tr");
  await page.getByRole("button", { name: "Step time" }).click();
  await expect(page).toHaveURL(/sort=step_time_seconds/);
  const header = page.locator("#part-table th", { hasText: "Step time" });
  await expect(header).toHaveAttribute("aria-sort", "ascending");
  await page.getByRole("button", { name: "Step time" }).click();
  await expect(header).toHaveAttribute("aria-sort", "descending");
  await page.getByRole("searchbox", { name: "Find" }).fill("tp=8 ep=16");
  await expect(page.locator("#part-table")).not.toContainText("EP=32");
  expect(await rows.count()).toBeGreaterThan(0);
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "These as CSV" }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toBe("moescape-selection.csv");
  const { readFileSync } = await import("node:fs");
  const csv = readFileSync(await file.path(), "utf8");
  expect(csv).toMatch(/^index,front,standing,.*,design,model_version,date\r\n/);
  // The id of the sweep ends it: no file has it.
  const id = new URL(page.url()).pathname.split("/")[2] ?? "none";
  expect(csv).not.toContain(id);
  expect(csv).toContain(",/?v=1&preset=");
  const picture = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as PNG" }).first().click();
  expect((await picture).suggestedFilename()).toBe("moescape-scatter.png");
});

test("a browser gets the rows whole, in every format", async ({ page, request }) => {
  const address = await finished(request);
  await gotoHydrated(page, address);
  const { readFileSync } = await import("node:fs");
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name, exact: true }).click();
    const file = await download;
    expect(await file.failure(), name).toBeNull();
    return readFileSync(await file.path());
  };
  const lines = (await saved("JSON lines")).toString().trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(10);
  expect(JSON.parse(lines.at(-1) ?? "")).toHaveProperty("metrics");
  const csv = (await saved("CSV")).toString();
  expect(csv.trimEnd().split("\n")).toHaveLength(lines.length + 1);
  const parquet = await saved("Parquet");
  expect([parquet.subarray(0, 4), parquet.subarray(-4)].map(String)).toEqual(["PAR1", "PAR1"]);
  // A script of the page reads them packed, as the browser asks for them.
  const rows = `/api/v1/sweeps/${address.slice(3)}/rows?format=csv`;
  expect(await page.evaluate(async (rows) => (await fetch(rows)).text(), rows)).toBe(csv);
});

test("a finished sweep reads without JavaScript", async ({ visit, request }) => {
  const address = await finished(request);
  const page = await visit({ javaScriptEnabled: false });
  await page.goto(address);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("A small sweep");
  expect(await page.locator("#part-table tbody tr").count()).toBeGreaterThan(3);
  await expect(page.locator("#part-reasons tbody tr").first()).toBeVisible();
  await expect(page.locator("#part-importance tbody tr")).toHaveCount(5);
  await page.locator("#part-table tbody th a").first().click();
  await expect(page).toHaveURL(/\/\?v=1&preset=pangu-ultra-moe-6k/);
});

/** The sweep of the builder around the paper's design on 4,096 devices. */
const DEFAULT = {
  schema: 1,
  name: "On 4,096",
  design: {
    preset: "pangu-ultra-moe-6k",
    cluster: { num_devices: 4096 },
    schedule: { timing: "closed_form" },
  },
  space: {
    parallel: {
      tensor_model_parallel_size: { powers_of_two: [1, 16] },
      pipeline_model_parallel_size: { powers_of_two: [1, 64] },
      virtual_pipeline_model_parallel_size: [1, 2, 4],
      expert_model_parallel_size: { powers_of_two: [1, 64] },
      noop_layers: { fill: "chunks" },
    },
    training: { micro_batch_size: [1, 2, 4] },
  },
};

test("a design that fits only by its closed form is marked, and in no list of good ones", async ({
  page,
  request,
}) => {
  await gotoHydrated(page, await finished(request, DEFAULT));
  await expect(page.locator("#part-status")).toContainText("were simulated");
  await page.getByRole("searchbox", { name: "Find" }).fill("1489");
  const row = page.locator("#part-table tbody tr", { hasText: "1,489" });
  await expect(row).toContainText("simulated: over the limit");
  await expect(row).toContainText("(60.2 GiB)");
  await expect(row.locator(".mark", { hasText: /^front$/ })).toHaveCount(0);
  await row.getByRole("link", { name: "1,489" }).click();
  await expect(page).toHaveURL(/\/\?v=1&preset=pangu-ultra-moe-6k(@2)?(?!.*closed_form)/);
  await expect(page.locator(".fits").first()).toContainText(/over the limit/i);
});

test("a sweep that finds nothing names what to free, and the builder frees it", async ({
  page,
  request,
}) => {
  const spec = {
    ...DEFAULT,
    design: {
      preset: "glm-4.5",
      cluster: { num_devices: 256 },
      training: { global_batch_size: 256 },
      parallel: { sequence_parallel: false },
      memory: { recompute_granularity: "none" },
      schedule: { timing: "closed_form" },
    },
  };
  await gotoHydrated(page, await finished(request, spec));
  await expect(page.locator("#results")).not.toContainText(/\byet\b/);
  const free = page.getByRole("link", { name: "Let SP vary", exact: true });
  await expect(page.locator(".sweep-freed")).toContainText("486 legal, 73 feasible");
  await free.click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page.locator("#spec")).toHaveValue(/sequence_parallel = \[false, true\]/);
  // Counted in full: what the sweep will find.
  const cost = page.locator("#part-cost");
  await expect(cost).toContainText("Every design was counted", { timeout: 15_000 });
  await expect(cost).toContainText("486 (");
  await expect(cost).not.toContainText("about 486");
});

for (const { name, viewport } of [
  { name: "a desk", viewport: { width: 1440, height: 900 } },
  { name: "a phone", viewport: { width: 390, height: 844 } },
]) {
  test(`nothing moves while the pages of sweeps load on ${name}`, async ({ visit, request }) => {
    const address = await finished(request);
    const page = await visit({ viewport });
    const moved = await watchMoves(page);
    for (const path of ["/sweep", address]) {
      await gotoHydrated(page, path);
      await page.waitForLoadState("networkidle");
      if (path === address) {
        await expect.poll(() => isDrawn(page, "scatter-base")).toBe(true);
      } else {
        await expect(page.locator("#part-cost")).toContainText("counted", { timeout: 15_000 });
      }
      expect(await moved(), path).toEqual([]);
    }
  });
}

test("a published sweep opens, and JSON can be pasted", async ({ page }) => {
  await gotoHydrated(page, "/sweep?spec=pangu-architecture");
  await expect(page.locator("#spec")).toHaveValue(/arXiv 2505\.04519/);
  await expect(page.locator("#part-cost")).toContainText("18,480", { timeout: 15_000 });
  await page.locator("#spec").fill(JSON.stringify(SMALL));
  await expect(page.getByLabel("Name")).toHaveValue("A small sweep");
  await expect(page.locator("#part-cost")).toContainText("72");
});

test.describe("what is wrong", () => {
  test.use({ expectedConsole: /status of 40[04]/ });

  test("stands at its field, all of it at once, and nothing starts", async ({ page }) => {
    await gotoHydrated(page, "/sweep");
    const bad = {
      ...SMALL,
      objectives: ["mfu max", "beauty max"],
      constraints: ["fits", "mfu >= 0.9", "mfu <= 0.1"],
      space: { parallel: { tensor_model_parallel_size: { from: 9, to: 3 } } },
    };
    await page.locator("#spec").fill(JSON.stringify(bad));
    await expect(page.getByRole("button", { name: "Start the sweep" })).toBeDisabled();
    await expect(page.locator("#part-cost li")).toHaveCount(3, { timeout: 15_000 });
    await expect(page.locator("#part-form .build-wrong")).toHaveCount(3);
    await expect(page.locator(".build-knob .build-wrong")).toContainText("no value to take");
    expect(await findings(page)).toEqual([]);
    await page.locator("#spec").fill("= what");
    await expect(page.locator("#part-text-wrong")).not.toBeEmpty();
    await expect(page.getByRole("button", { name: "Start the sweep" })).toBeDisabled();
  });

  test("an id that isn't there says so", async ({ page }) => {
    const answer = await page.goto("/s/nothing");
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("There is no such sweep");
    expect(await findings(page)).toEqual([]);
  });
});

for (const { name, options } of looks("narrow phone")) {
  test(`nothing to mend for axe: ${name}`, async ({ visit, request }) => {
    const address = await finished(request);
    const page = await visit(options);
    for (const path of ["/sweep", `${address}?brush=mfu~0.1~0.9&clip=1&pins=1,2`]) {
      await gotoHydrated(page, path);
      await expect(page.locator("#part-form, #part-bar").first()).toContainText(/\d|design/);
      await expectReadable(page);
    }
  });
}
