// Keys, the palette, steps, designs that the browser keeps, numbers to copy, paper: by keyboard.

import type { Locator, Page } from "@playwright/test";

import { card, choose, expect, gotoHydrated, numberBox, test } from "./helper";
import { expectNoScroll, findings, looks } from "./looks";

/** Opens the palette and types a line. */
async function ask(page: Page, line: string): Promise<Locator> {
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Search and commands" });
  await expect(palette.getByRole("combobox")).toBeFocused();
  await page.keyboard.type(line);
  return palette;
}

/** The option that Enter takes. */
const chosen = (palette: Locator) => palette.locator('[role=option][aria-selected="true"]');

const tp = (page: Page) => numberBox(page, "Tensor parallel (TP)");

async function ready(page: Page, url = "/"): Promise<void> {
  await gotoHydrated(page, url);
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
}

test("tp 4 sets a knob from the palette, and undo takes it back", async ({ page }) => {
  await ready(page);
  const before = await tp(page).inputValue();
  const palette = await ask(page, "tp 4");
  await expect(chosen(palette)).toContainText("Set TP to 4");
  await expect(chosen(palette)).toContainText("legal");
  await page.keyboard.press("Enter");
  await expect(palette).toBeHidden();
  await expect(tp(page)).toHaveValue("4");
  await ask(page, "undo");
  await page.keyboard.press("Enter");
  await expect(tp(page)).toHaveValue(before);
});

test("the palette offers a knob's legal values, and no others", async ({ page }) => {
  await ready(page);
  const palette = await ask(page, "tp");
  await expect(palette.getByRole("option").first()).toContainText("Tensor parallel (TP)");
  const set = palette.getByRole("option", { name: /^Set TP to/ });
  await expect(set.filter({ hasText: "Set TP to 8" })).toContainText("as it is");
  await expect(set.filter({ hasText: /Set TP to 7\b/ })).toHaveCount(0);
  await page.keyboard.type(" 7");
  await expect(chosen(palette)).toContainText("not legal here");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Broken rules" })).toBeVisible();
});

test("a list is set to none from the palette", async ({ page }) => {
  await ready(page);
  await page.locator("summary", { hasText: "Recompute, swap and states" }).click();
  const list = page.locator("[data-knob='memory.recompute_granularity'] select");
  await expect(list).toHaveValue("selective");
  await ask(page, "recompute_granularity none");
  await page.keyboard.press("Enter");
  await expect(list).toHaveValue("none");
  await expect(page).toHaveURL(/recompute_granularity=none/);
});

test("arrow keys choose, and the chosen one is told to screen readers", async ({ page }) => {
  await ready(page);
  const palette = await ask(page, "memory");
  await expect(palette.getByRole("option").nth(2)).toBeVisible();
  const box = palette.getByRole("combobox");
  await expect(box).toHaveAttribute("aria-activedescendant", "palette-0");
  await page.keyboard.press("ArrowDown");
  await expect(box).toHaveAttribute("aria-activedescendant", "palette-1");
  await expect(palette.locator("#palette-1")).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Escape");
  await expect(palette).toBeHidden();
});

test("a metric is explained and a knob is gone to from the palette", async ({ page }) => {
  await ready(page);
  const palette = await ask(page, "explain step time");
  await expect(chosen(palette)).toContainText("Explain Step time");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("complementary", { name: "Step time" })).toBeVisible();
  await page.keyboard.press("Escape");
  const other = await ask(page, "swap_modules");
  await expect(other.getByRole("option").first()).toContainText("Knob");
  await page.keyboard.press("Enter");
  await expect(page.locator('[data-knob="memory.swap_modules"] :focus')).toBeVisible();
});

test("a preset and a page are opened from the palette of any page", async ({ page }) => {
  await ready(page, "/ladder");
  const palette = await ask(page, "deepseek v3 2k h800");
  await expect(chosen(palette)).toContainText("DeepSeek-V3 on 2,048 H800");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/preset=deepseek-v3-2k-h800/);
  await page.locator("html[data-hydrated][data-habits]").waitFor({ state: "attached" });
  const pages = await ask(page, "tour");
  await expect(chosen(pages)).toContainText("Page");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/tour$/);
});

test("what isn't called anything says so", async ({ page }) => {
  await ready(page);
  const palette = await ask(page, "qqqqzzzz");
  await expect(palette.getByRole("status")).toContainText("No results for");
  await expect(palette.getByRole("combobox")).toHaveAttribute("aria-expanded", "false");
});

test("single keys go from knob to knob, explain, and go to views", async ({ page }) => {
  await ready(page);
  await page.keyboard.press("]");
  const knob = () => page.evaluate(() => {
    return document.activeElement?.closest<HTMLElement>("[data-knob]")?.dataset.knob;
  });
  await expect.poll(knob).toBeTruthy();
  const first = await knob();
  await page.keyboard.press("]");
  await expect.poll(knob).not.toBe(first);
  await page.keyboard.press("[");
  await expect.poll(knob).toBe(first);
  await page.getByRole("button", { name: "Explain Step time" }).focus();
  await page.keyboard.press("x");
  await expect(page.getByRole("complementary", { name: "Step time" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await expect(page.locator("[data-study=memory]")).toBeFocused();
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/\/presets$/);
});

test("single keys can be turned off", async ({ page }) => {
  await ready(page);
  await ask(page, "turn single-letter keys off");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Single-letter keys are off")).toBeVisible();
  await page.keyboard.press("x");
  await page.keyboard.press("h");
  await expect(page.getByRole("complementary", { name: "MFU" })).toBeHidden();
  await expect(page.getByRole("dialog", { name: "History of changes" })).toBeHidden();
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("dialog", { name: "Search and commands" })).toBeVisible();
});

test("the list of steps goes back and forth", async ({ page }) => {
  await ready(page);
  for (const line of ["tp 4", "pp 8"]) {
    await ask(page, line);
    await expect(page.locator('[aria-selected="true"]')).toContainText("Set");
    await page.keyboard.press("Enter");
  }
  await expect(numberBox(page, "Pipeline parallel (PP)")).toHaveValue("8");
  await page.keyboard.press("h");
  const steps = page.getByRole("dialog", { name: "History of changes" });
  await expect(steps.getByRole("button", { name: "PP 16 → 8" })).toHaveAttribute(
    "aria-current",
    "step",
  );
  await steps.getByRole("button", { name: "As the page was opened" }).press("Enter");
  await expect(steps).toBeHidden();
  await expect(tp(page)).toHaveValue("8");
  await expect(numberBox(page, "Pipeline parallel (PP)")).toHaveValue("16");
  await page.keyboard.press("h");
  await expect(steps).toContainText("withdrawn");
  await steps.getByRole("button", { name: "TP 8 → 4" }).press("Enter");
  await expect(tp(page)).toHaveValue("4");
  await expect(numberBox(page, "Pipeline parallel (PP)")).toHaveValue("16");
});

test("a design is named, found again after a reload, opened and deleted", async ({ page }) => {
  await ready(page);
  await ask(page, "tp 4");
  await page.keyboard.press("Enter");
  await expect(tp(page)).toHaveValue("4");
  await page.keyboard.press("d");
  const designs = page.getByRole("dialog", { name: "Designs in this browser" });
  await expect(designs).toContainText("only in this browser");
  await designs.getByLabel("Name of the current design").fill("Four <b>ranks</b>");
  await page.keyboard.press("Enter");
  await expect(designs.getByRole("link", { name: "Four <b>ranks</b>" })).toBeVisible();
  await ready(page, "/");
  await expect(tp(page)).toHaveValue("8");
  await page.keyboard.press("d");
  await designs.getByRole("link", { name: "Four <b>ranks</b>" }).press("Enter");
  await expect(tp(page)).toHaveValue("4");
  await page.keyboard.press("Control+z");
  await expect(tp(page)).toHaveValue("8");
  await page.keyboard.press("d");
  await designs.getByRole("button", { name: "Delete Four <b>ranks</b>" }).press("Enter");
  await expect(designs.getByRole("link", { name: "Four <b>ranks</b>" })).toBeHidden();
});

test("a number is copied at full precision, by key and by press", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await ready(page);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const { metrics } = await page.request
    .post("/api/v1/predict", { data: { schema: 1, preset: "pangu-ultra-moe-6k@2" } })
    .then((answer) => answer.json())
    .then((report) => ({ metrics: report.metrics }));
  await page.keyboard.press("y");
  await expect(page.getByText(/^Copied: 0\.\d{6,}/)).toBeVisible();
  expect(Number(await copied())).toBe(metrics.mfu);
  await card(page, "Step time").locator(".card-value").click();
  await expect.poll(copied).toMatch(/^\d+\.\d{6,} s$/);
  expect(Number.parseFloat(await copied())).toBe(metrics.step_time_seconds);
});

test("on paper there is the link, the model's version, and nothing to press", async ({ page }) => {
  await ready(page, "/?vpp=4");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("#printed")).toContainText(/Moescape · model \d+\.\d+\.\d+/);
  await expect(page.locator("#printed")).toContainText("virtual_pipeline_model_parallel_size=4");
  await expect(page.locator("details.menu").first()).toBeHidden();
  await expect(page.locator("#knobs")).toBeHidden();
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background).toBe("rgb(255, 255, 255)");
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    const check = async () => {
      expect(await findings(page)).toEqual([]);
    };
    await ready(page);
    const palette = await ask(page, "tp");
    await expect(palette.getByRole("option").nth(3)).toBeVisible();
    await check();
    await page.keyboard.type(" 4");
    await expect(chosen(palette)).toContainText("Set TP to 4");
    await page.keyboard.press("Enter");
    await page.keyboard.press("d");
    await expect(page.getByRole("dialog", { name: "Designs in this browser" })).toBeVisible();
    await check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("h");
    await expect(page.getByRole("dialog", { name: "History of changes" })).toBeVisible();
    await check();
    for (const address of ["/presets", "/tour?step=4"]) {
      await page.goto(address);
      await page.locator("html[data-habits]").waitFor({ state: "attached" });
      await check();
      await expectNoScroll(page);
    }
  });
}

test.describe("at an address that isn't there", () => {
  test.use({ expectedConsole: /status of 404/ });

  test("the theme that was chosen, the palette and the way on are there", async ({ visit }) => {
    const page = await visit({ colorScheme: "light" });
    await page.goto("/nothing");
    await page.locator("html[data-habits]").waitFor({ state: "attached" });
    await choose(page, "More", "Switch between dark and light");
    await page.reload();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    const palette = await ask(page, "trust");
    await expect(palette.getByRole("option").first()).toBeVisible();
    await page.keyboard.press("Escape");
    expect(await findings(page)).toEqual([]);
    const places = page.getByRole("navigation", { name: "Places" });
    await places.getByRole("link", { name: "Learn" }).click();
    await expect(page.getByRole("heading", { name: "Learn", level: 1 })).toBeVisible();
  });
});
