// What goes in and out: the import page, the export sheet, charts and tables as files, and where
// each of them says that it comes from.

import { readFileSync } from "node:fs";

import type { Download, Page } from "@playwright/test";

import { choose, expect, gotoHydrated, test, toPlace, toStudy } from "./helper";
import { expectReadable, looks } from "./looks";

const MODELS = "../crates/interchange/tests/models";
const DESIGN = "/?v=1&preset=deepseek-v3&training.micro_batch_size=2";

/** Drops a file on the part of the page that a selector names. */
async function drop(page: Page, selector: string, name: string, text: string): Promise<void> {
  const files = await page.evaluateHandle(
    ([fileName, content]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], fileName));
      return transfer;
    },
    [name, text] as const,
  );
  await page.locator(selector).first().dispatchEvent("dragover", { dataTransfer: files });
  await page.locator(selector).first().dispatchEvent("drop", { dataTransfer: files });
}

async function saved(page: Page, press: () => Promise<void>): Promise<[string, Buffer]> {
  const [download] = await Promise.all<[Promise<Download>, Promise<void>]>([
    page.waitForEvent("download"),
    press(),
  ]).then(([file]) => [file]);
  return [download.suggestedFilename(), readFileSync(await download.path())];
}

/** The chunks of text in a PNG. */
function texts(png: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const [kind, body] = [png.toString("latin1", at + 4, at + 8), at + 8];
    if (kind === "tEXt") {
      const [name, value] = png.toString("latin1", body, body + length).split("\0");
      found.set(name ?? "", value ?? "");
    }
    at = body + length + 4;
  }
  return found;
}

/** The link of the explorer's page, without the server. */
const link = (page: Page) => new URL(page.url()).search;

test("a model goes in, a script comes out, and leads back to the same design", async ({ page }) => {
  await gotoHydrated(page, DESIGN);
  const config = readFileSync(`${MODELS}/qwen3-235b-a22b.json`, "utf8");
  await drop(page, "#results", "config.json", config);
  await expect(page).toHaveURL("/import");
  await expect(page.getByRole("heading", { name: "Imported" })).toBeVisible();
  await expect(page.getByText("config.json was read as Hugging Face's config.json")).toBeVisible();
  await expect(page.getByRole("row", { name: /num_hidden_layers/ })).toContainText("94");
  await expect(page.locator("[data-metric=mfu]")).toBeVisible();
  const opened = page.getByRole("link", { name: "Open in the explorer" });
  const expected = await opened.getAttribute("href");
  await gotoHydrated(page, expected ?? "");
  await choose(page, "Share", "Export script, file, numbers");
  const sheet = page.getByRole("dialog", { name: "Export this design" });
  const [name, script] = await saved(page, () =>
    sheet.getByRole("link", { name: "Download MindSpeed-LLM script" }).click(),
  );
  expect(name).toMatch(/^moescape-qwen3-235b-a22b.*-mindspeed\.sh$/);
  expect(script.toString()).toContain(`# design: ${expected}`);
  await page.goto("/import");
  await drop(page, "main", name, script.toString());
  await expect(page.getByRole("heading", { name: "Imported" })).toBeFocused();
  await expect(page.getByRole("heading", { name: /^Unrecognised/ })).toHaveCount(0);
  await page.getByRole("link", { name: "Open in the explorer" }).click();
  expect(link(page)).toBe(expected?.slice(1));
});

// A text that makes no design is answered with 422, which browsers write to the console.
const mistaken = test.extend({ expectedConsole: /status of 422/ });

mistaken("a text is pasted, mended and compared", async ({ page }) => {
  await page.goto("/import");
  const script = "x --num-layers 0";
  await page.locator("main").evaluate((main, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    main.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, script);
  await expect(page.getByRole("heading", { name: "This text makes no design" })).toBeFocused();
  await expect(page.getByText("line 1: --num-layers")).toBeVisible();
  const box = page.getByLabel("Or paste its text");
  await expect(box).toHaveValue(script);
  await box.fill(readFileSync("../crates/interchange/tests/scripts/kimi_k2_a3.sh", "utf8"));
  await page.getByRole("button", { name: "Import" }).click();
  await expect(page.getByRole("heading", { name: "Imported" })).toBeFocused();
  await page.getByLabel("Compare with").selectOption({ label: "DeepSeek-V3 671B" });
  await page.getByRole("button", { name: "Compare" }).click();
  await expect(page).toHaveURL(/\/compare\?/);
  await expect(page.getByRole("article")).toHaveCount(2);
});

mistaken("files that make no profile serve the next try, too", async ({ page }) => {
  await page.goto("/calibrate");
  const box = page.getByLabel("Files", { exact: true });
  const chosen = () => box.evaluate(({ files }: HTMLInputElement) => files?.[0]?.name);
  const buffer = Buffer.from("neither a table nor a log");
  await box.setInputFiles({ name: "runs.csv", mimeType: "text/csv", buffer });
  const first = await page.locator("main").elementHandle();
  await page.getByRole("button", { name: "Calibrate" }).click();
  await expect(page.locator("h1")).toBeFocused();
  expect(await first?.evaluate((main) => main.isConnected)).toBe(false);
  expect(await chosen()).toBe("runs.csv");
});

test("a file that is too large is told, not sent", async ({ page }) => {
  await page.goto("/import");
  await drop(page, "main", "large.sh", "#".repeat(2 ** 20 + 1));
  await expect(page.getByRole("status")).toContainText("large.sh has 1024.0 KiB; at most");
});

test("a trace on its panel stays a trace", async ({ page }) => {
  await gotoHydrated(page, "/?v=1&preset=pangu-ultra-moe-6k");
  await toPlace(page, ".trace");
  await drop(page, ".trace", "bad.csv", "step,layer,expert,tokens\n0,0,0,-5\n");
  const trace = page.getByRole("region", { name: "Trace of expert loads" });
  await expect(trace).toContainText("line 2");
  await expect(page).not.toHaveURL(/import/);
});

test("charts and tables are saved with where they come from", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await gotoHydrated(page, DESIGN);
  // The worker's own figure takes the server's place: what doesn't go is the place.
  await toStudy(page, "step");
  const figure = page.locator("#step");
  const version = await page.locator("meta[name=model-version]").getAttribute("content");
  const today = new Date().toISOString().slice(0, 10);
  const from = [DESIGN, version ?? "", today];
  const [svgName, svg] = await saved(page, () =>
    figure.getByRole("button", { name: /^SVG of / }).click(),
  );
  expect(svgName).toBe("moescape-step.svg");
  const text = svg.toString().replaceAll("&amp;", "&");
  for (const part of from) expect(text).toContain(part);
  // It stands for itself, in light colours.
  expect(text).not.toContain("var(");
  expect(text).toContain('fill="#ffffff"');
  const [, png] = await saved(page, () => figure.getByRole("button", { name: /^PNG of / }).click());
  const notes = texts(png);
  expect([notes.get("design"), notes.get("model_version"), notes.get("date")]).toEqual(from);
  await page.setContent(`<img src="data:image/png;base64,${png.toString("base64")}">`);
  const width = await page.locator("img").evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    return image.naturalWidth;
  });
  expect(width).toBeGreaterThan(500);
});

test("a timeline is saved with where it comes from", async ({ page }) => {
  await gotoHydrated(page, DESIGN);
  const timeline = page.locator("#timeline");
  await timeline.scrollIntoViewIfNeeded();
  const press = (name: string) => saved(page, () => timeline.getByRole("button", { name }).click());
  const [, trace] = await press("Trace for Perfetto (JSON)");
  expect(JSON.parse(trace.toString()).otherData.design).toBe(DESIGN);
  const [, svg] = await press("SVG of what is in view");
  expect(svg.toString().replaceAll("&amp;", "&")).toContain(`design: ${DESIGN}`);
  const [, png] = await press("PNG of what is in view");
  expect(texts(png).get("design")).toBe(DESIGN);
});

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("a file is imported and exported", async ({ page }) => {
    await page.goto("/import");
    await page.getByLabel("File", { exact: true }).setInputFiles(`${MODELS}/glm-4.5.json`);
    await page.getByRole("button", { name: "Import" }).click();
    await expect(page.getByRole("heading", { name: "Imported" })).toBeVisible();
    await page.getByRole("link", { name: "Export" }).click();
    await page.getByText("Show the file").first().click();
    await expect(page.getByRole("region", { name: "Megatron-LM script" })).toContainText(
      "--num-experts 160",
    );
  });
});

for (const { name, options } of looks()) {
  mistaken(`nothing to mend for axe: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    const look = async (what: string) => {
      await expectReadable(page);
      const path = `test-results/exchange-${what}-${name.replace(", ", "-")}.png`;
      await page.screenshot({ path, fullPage: true });
    };
    await page.goto("/import");
    await look("form");
    await page.getByLabel("File", { exact: true }).setInputFiles(`${MODELS}/kimi-k2.json`);
    await page.getByRole("button", { name: "Import" }).click();
    await expect(page.getByRole("heading", { name: "Imported" })).toBeVisible();
    await look("answer");
    await page.getByLabel("Or paste its text").fill("x --num-layers 0 --num-layerz 3");
    await page.getByLabel("File", { exact: true }).setInputFiles([]);
    await page.getByRole("button", { name: "Import" }).click();
    await expect(page.getByRole("heading", { name: "This text makes no design" })).toBeVisible();
    await look("mistakes");
    await page.goto(`/export${DESIGN.slice(1)}`);
    await look("sheet");
    await gotoHydrated(page, DESIGN);
    await choose(page, "Share", "Short link, QR code, embed");
    const share = page.getByRole("dialog", { name: "Share this design" });
    await share.getByRole("link", { name: "Launch scripts, files and tables" }).click();
    const sheet = page.getByRole("dialog", { name: "Export this design" });
    await expect(sheet.getByRole("heading", { name: "Design file", exact: true })).toBeVisible();
    await look("dialog");
  });
}
