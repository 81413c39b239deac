// Pages in Chinese, sizes of memory in GB, and the settings that choose them.

import type { Page } from "@playwright/test";

import { card, choose, expect, gotoHydrated, numberBox, test } from "./helper";
import { findings } from "./looks";

const CHINESE = { locale: "zh-CN" };

/** Every page that can be opened without storing something. */
const PAGES = [
  "/",
  "/presets",
  "/tour?step=3",
  "/sweep",
  "/compare",
  "/schedule",
  "/serving",
  "/budget",
  "/trust",
  "/find",
  "/guide/find",
];

/** Texts of a page with words of more than one letter, without what is no language. */
async function english(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    // In cells and charts of published runs stand names and what their sources write.
    const code = "script, style, code, pre, kbd, textarea, noscript";
    const left = `${code}, [translate=no], option, td, tbody th, svg`;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? "";
      const words = /\b[a-z]{3,}\b.*\b[a-z]{3,}\b/.test(text);
      if (words && !/\p{Script=Han}/u.test(text) && !node.parentElement?.closest(left)) {
        found.push(text);
      }
    }
    return found;
  });
}

test("a browser that prefers Chinese gets the explorer in Chinese", async ({ visit }) => {
  const page = await visit(CHINESE);
  await gotoHydrated(page);
  await page.locator("html[data-translated=true]").waitFor({ state: "attached" });
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await expect(card(page, "单步时间")).toBeVisible();
  // What changes is said, too, and the numbers are the same in every language.
  const box = page.locator("[data-knob='training.micro_batch_size'] .number-box");
  await box.fill("1");
  await box.press("Enter");
  const undo = page.locator("button[data-act=undo]");
  await expect(undo).toHaveAttribute("title", /^撤销/);
  const chinese = await page.locator("article[data-metric=mfu] .card-value").textContent();
  const other = await visit();
  await gotoHydrated(other, "/?preset=pangu-ultra-moe-6k%402&training.micro_batch_size=1");
  expect(await card(other, "MFU").locator(".card-value").textContent()).toBe(chinese);
  await undo.click();
  await expect(page).not.toHaveURL(/micro_batch_size/);
});

for (const address of PAGES) {
  test(`server and browser say the same words: ${address}`, async ({ visit }) => {
    const still = await visit({ ...CHINESE, javaScriptEnabled: false });
    await still.goto(address);
    const alive = await visit(CHINESE);
    await alive.goto(address);
    await alive.locator("html[data-translated=true]").waitFor({ state: "attached" });
    // The first words of the page, which no study and no canvas changes later.
    const words = (page: Page) => page.locator("h1, h2, nav a, label, legend").allTextContents();
    expect((await words(alive)).slice(0, 60)).toEqual((await words(still)).slice(0, 60));
    // Most of a page is said; what is left is names, and sentences that nobody has translated.
    const left = await english(still);
    expect(left.length, left.join("\n")).toBeLessThan(12);
  });
}

test("the menu of more turns a page into Chinese and back", async ({ page }) => {
  await gotoHydrated(page, "/?v=1&training.micro_batch_size=4");
  const more = page.locator("details.menu", { has: page.locator("[data-switch-language]") });
  const item = more.getByRole("button", { name: "中文 / English" });
  for (const language of ["zh-CN", "en"]) {
    await more.locator("summary").click();
    await expect(item).toBeVisible();
    expect(await findings(page, "details.menu")).toEqual([]);
    await item.click();
    await expect(page.locator("html")).toHaveAttribute("lang", language);
    await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
    // The design stays, and the choice is kept for other pages.
    await expect(page).toHaveURL(/training\.micro_batch_size=4/);
  }
  await more.locator("summary").click();
  await item.click();
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await page.goto("/guide");
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
});

test("what is found is told in Chinese, with its ranges", async ({ visit }) => {
  const page = await visit(CHINESE);
  await page.goto("/find?v=1&preset=qwen3-30b-a3b");
  await page.locator("#find-result[data-state=over]").waitFor({ timeout: 60_000 });
  await expect(page.locator("#find-state")).toContainText("完成");
  const result = page.locator("#find-result");
  await expect(result).toContainText(/\d 到 \d/);
  await expect(result).not.toContainText(/\d (?:to|of) \d/);
  expect(await english(page)).toEqual([]);
});

test("nothing to mend for axe in Chinese", async ({ visit }) => {
  const page = await visit({ ...CHINESE, viewport: { width: 390, height: 844 } });
  await gotoHydrated(page);
  await page.locator("html[data-translated=true]").waitFor({ state: "attached" });
  expect(await findings(page)).toEqual([]);
});

test("the palette finds knobs by their names in both languages", async ({ visit }) => {
  const page = await visit(CHINESE);
  await gotoHydrated(page);
  await page.locator("html[data-translated=true]").waitFor({ state: "attached" });
  for (const typed of ["流水线", "pipeline"]) {
    await page.keyboard.press("Control+k");
    await page.locator("#palette").getByRole("combobox").fill(typed);
    await expect(page.locator("#palette [role=option]").first()).toContainText("流水线");
    await page.keyboard.press("Escape");
  }
});

test("the guide is in the reader's language, with one address for both", async ({ visit }) => {
  const page = await visit(CHINESE);
  await page.goto("/guide/metrics#mfu");
  const main = page.locator("main");
  await expect(main).toHaveAttribute("lang", "zh-CN");
  await expect(page).toHaveTitle(/^指标 · 指南/);
  await expect(page.locator("h3#mfu")).toBeInViewport();
  expect(await findings(page)).toEqual([]);
  // What is generated from the registry is said, too; entries keep their ids.
  await expect(main.locator("h3#mfu ~ ul").first()).toContainText("公式：");
  await main.getByRole("link", { name: "This page in English" }).click();
  await expect(main).toHaveAttribute("lang", "en");
  expect(await main.locator("h2").allTextContents()).not.toContainEqual(/\p{Script=Han}/u);
  await expect(page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await page.goto("/guide/cli");
  await expect(main).toHaveAttribute("lang", "en");
});

test("the palette finds chapters of the guide in both languages", async ({ visit }) => {
  const page = await visit(CHINESE);
  await page.goto("/guide");
  await page.locator("html[data-translated=true]").waitFor({ state: "attached" });
  for (const typed of ["troubleshooting", "故障"]) {
    await page.keyboard.press("Control+k");
    await page.locator("#palette").getByRole("combobox").fill(typed);
    const found = page.locator("#palette [role=option]", { hasText: "指南" });
    await expect(found.first()).toContainText("故障");
    await page.keyboard.press("Escape");
  }
});

test("what somebody wrote stays as it is", async ({ visit }) => {
  const page = await visit(CHINESE);
  // Words that the pages have, too.
  await page.goto("/compare?a=v%3D1&a.name=Baseline&b=v%3D1%26vpp%3D1");
  await page.locator("html[data-translated=true]").waitFor({ state: "attached" });
  await expect(page.locator("h2", { hasText: "Baseline" })).toBeVisible();
  await expect(page.locator("th .compare-name").first()).toHaveText("Baseline");
  const form = { action: "store", link: "v=1&gbs=49152", name: "Candidate", note: "Baseline" };
  await page.request.post("/share", { form, headers: { origin: new URL(page.url()).origin } });
  await page.goto("/share?v=1&gbs=49152");
  await page.goto(await page.locator("#share-short").inputValue());
  await expect(page.getByRole("heading", { name: "Candidate" })).toBeVisible();
  await expect(page.locator(".stored-note")).toHaveText("Baseline");
});

test("the settings keep language and units, and lead back to the design", async ({ visit }) => {
  const page = await visit();
  await gotoHydrated(page, "/?training.micro_batch_size=4");
  const peak = card(page, "Peak memory per device");
  const binary = (await peak.locator(".number").textContent()) ?? "";
  await expect(peak.locator(".unit")).toHaveText("GiB");
  await choose(page, "More", "Settings");
  await page.getByRole("group", { name: "Sizes of memory" }).getByLabel("GB").check();
  await page.getByRole("group", { name: "Language" }).getByLabel(/中文/).check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/training\.micro_batch_size=4/);
  await page.locator("html[data-hydrated=true][data-translated=true]").waitFor({
    state: "attached",
  });
  const decimal = page.locator("article[data-metric=memory_peak_bytes]");
  await expect(decimal.locator(".unit")).toHaveText("GB");
  const ratio = Number(await decimal.locator(".number").textContent()) / Number(binary);
  expect(Math.abs(ratio - 1.0737)).toBeLessThan(0.003);
  // A study that the worker makes anew is in the same unit.
  await numberBox(page, "微批次大小").or(
    page.locator("[data-knob='training.micro_batch_size'] .number-box"),
  ).first().fill("1");
  const memory = page.locator("[data-study=memory]");
  await expect(memory.locator("svg").first()).toContainText("GB");
  await expect(memory.locator("svg").first()).not.toContainText("GiB");
  await page.goto("/settings");
  await page.getByRole("main").getByRole("group").first().getByLabel("English").check();
  await page.locator("form.settings button").click();
  await expect(page.locator("html")).toHaveAttribute("lang", "en");
});
