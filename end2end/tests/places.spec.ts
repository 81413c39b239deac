// The four places and the pages of each, the menus of the header, and the way by the Tab key.

import type { Page } from "@playwright/test";

import { choose, expect, gotoHydrated, menu, numberBox, test, watchMoves } from "./helper";
import { expectNoScroll, findings, looks } from "./looks";

/** Pages with the place that they belong to; none for one that belongs to no place. */
const PAGES: [string, string][] = [
  ["/", "Explore"],
  ["/presets", "Explore"],
  ["/find", "Search"],
  ["/sweep", "Search"],
  ["/compare", "Compare & review"],
  ["/r/new", "Compare & review"],
  ["/learn", "Learn"],
  ["/tour", "Learn"],
  ["/ladder", "Learn"],
  ["/trust", "Learn"],
  ["/schedule", "Learn"],
  ["/serving", "Search"],
  ["/budget", "Search"],
  ["/guide/views", "Learn"],
  ["/about", "Learn"],
  ["/settings", ""],
  ["/import", ""],
];

const NAMES = ["Explore", "Search", "Compare & review", "Learn"];

const places = (page: Page) => page.getByRole("navigation", { name: "Places" });

/** A page that searches as soon as it is there. */
const SEARCHED = "/find?v=1&preset=qwen3-30b-a3b";

/** Opens a page of any kind and waits for what its header can do. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
}

/** Where the places stand, in whole pixels. */
async function boxes(page: Page): Promise<string[]> {
  return places(page).getByRole("link").evaluateAll((links) =>
    links.map((link) => {
      const { x, y, width, height } = link.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join(" ");
    }),
  );
}

for (const { name, options } of looks("narrow phone")) {
  test(`every page has the four places where the others have them: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await visit(options);
    let first: string[] | undefined;
    for (const [address, own] of PAGES) {
      await open(page, address);
      await expect(places(page).getByRole("link"), address).toHaveText(NAMES);
      const marked = places(page).locator("[aria-current]");
      await expect(marked, address).toHaveText(own ? [own] : []);
      first ??= await boxes(page);
      expect(await boxes(page), address).toEqual(first);
      expect(await findings(page, ".header"), address).toEqual([]);
      await expectNoScroll(page);
      await expect(page.getByRole("button", { name: "Search knobs, views" })).toBeInViewport();
      for (const one of ["Share", "More"] as const) {
        await expect(menu(page, one).locator("summary")).toBeInViewport();
      }
    }
  });
}

test("the pages of a place stand below it, and the one at hand is marked", async ({ page }) => {
  await open(page, "/tour");
  const learn = page.getByRole("navigation", { name: "Learn" });
  const names = ["Overview", "Tour", "Ladder", "Trust", "Calibrate", "Schedules", "Guide", "About"];
  await expect(learn.getByRole("link")).toHaveText(names);
  await learn.getByRole("link", { name: "About" }).click();
  await expect(page).toHaveURL(/\/about$/);
  await expect(learn.locator("[aria-current=page]")).toHaveText("About");
  await open(page, "/");
  await expect(page.locator("nav.pages")).toHaveCount(0);
});

test("a place's own name leads to its first page", async ({ page }) => {
  const addresses = [
    ["/search?v=1&preset=glm-4.5", "/find?v=1&preset=glm-4.5"],
    ["/review", "/compare"],
  ];
  for (const [typed, led] of addresses) {
    await page.goto(typed);
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(led);
  }
});

test("the design goes along to the search, from there to a sweep and back", async ({ page }) => {
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  const query = /virtual_pipeline_model_parallel_size=4/;
  await expect(page).toHaveURL(query);
  await places(page).getByText("Search").click();
  await expect(page).toHaveURL(/\/find\?/);
  await expect(page).toHaveURL(query);
  const sweeps = page.getByRole("navigation", { name: "Search" }).getByText("Sweeps");
  await expect(sweeps).toHaveAttribute("href", query);
  await expect(places(page).getByText("Explore")).toHaveAttribute("href", query);
});

/** Where the focus is: the id of a knob, or the element's text. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    return element.closest<HTMLElement>("[data-knob]")?.dataset.knob ?? element.innerText;
  });
}

test("at most twelve Tab stops lie before the first knob, fewer by the skip link", async ({
  page,
}) => {
  await gotoHydrated(page);
  // Undo works, too.
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect(page).toHaveURL(/virtual_pipeline/);
  await gotoHydrated(page, page.url());
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  const first = await page.locator("[data-knob]").first().getAttribute("data-knob");
  const stops: string[] = [];
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    if (now === first) break;
    stops.push(now.split("\n")[0]);
  }
  expect(stops.length, stops.join(" | ")).toBeLessThanOrEqual(12);
  expect(stops.slice(0, 2)).toEqual(["Skip to the results", "Skip to the knobs"]);
  await gotoHydrated(page, "/");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  for (const key of ["Tab", "Tab", "Enter"]) await page.keyboard.press(key);
  await expect.poll(() => focused(page)).toBe(first);
});

test("arrow keys go through the toolbar and its menus, and Escape comes back", async ({ page }) => {
  await gotoHydrated(page);
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await page.getByRole("button", { name: "Search knobs, views" }).focus();
  const more = menu(page, "More").locator("summary");
  await page.keyboard.press("End");
  await expect(more).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(menu(page, "Share").locator("summary")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("button", { name: "Pin this design" })).toBeFocused();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("link", { name: "Import a model or a launch script" })).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(page.getByRole("link", { name: "Keyboard shortcuts" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(more).toBeFocused();
  await expect(menu(page, "More").locator("ul")).toBeHidden();
  // An item's dialog gives the focus back to the menu's button.
  for (const key of ["ArrowUp", "Enter"]) await page.keyboard.press(key);
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(more).toBeFocused();
});

test("a menu closes by a press elsewhere, and when the focus leaves it", async ({ page }) => {
  await gotoHydrated(page);
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  const share = menu(page, "Share");
  await share.locator("summary").click();
  await expect(share.getByRole("listitem")).toHaveCount(4);
  await menu(page, "More").locator("summary").click();
  await expect(share.locator("ul")).toBeHidden();
  await page.locator("#results").click({ position: { x: 400, y: 500 } });
  await expect(menu(page, "More").locator("ul")).toBeHidden();
  await share.locator("summary").click();
  await page.locator("#preset").focus();
  await expect(share.locator("ul")).toBeHidden();
});

test("more undoes, lists the changes and pins on a phone", async ({ visit }) => {
  const page = await visit({ viewport: { width: 390, height: 844 } });
  await gotoHydrated(page, "/");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("tp 4");
  await expect(page.locator('[aria-selected="true"]')).toContainText("Set TP to 4");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/tensor_model_parallel_size=4/);
  await choose(page, "More", "Undo");
  await expect(page).not.toHaveURL(/tensor_model_parallel_size=4/);
  await choose(page, "More", "Redo");
  await expect(page).toHaveURL(/tensor_model_parallel_size=4/);
  await choose(page, "More", "Pin this design");
  await expect(page.getByRole("status").filter({ hasText: "Pinned as A" })).toBeAttached();
  await choose(page, "More", "History of changes");
  const dialog = page.getByRole("dialog", { name: "History of changes" });
  await expect(dialog).toContainText("TP 8 → 4");
});

test("where there is no clipboard the link is there to be copied by hand", async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined });
  });
  await open(page, "/trust");
  await choose(page, "Share", "Copy link");
  await expect(page.getByRole("textbox", { name: "Link to copy" })).toHaveValue(/\/trust$/);
  expect(await findings(page)).toEqual([]);
});

for (const { name, options } of looks()) {
  test(`nothing to mend for axe in open menus: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoHydrated(page);
    await page.locator("html[data-habits]").waitFor({ state: "attached" });
    for (const one of ["Share", "More"] as const) {
      await menu(page, one).locator("summary").click();
      expect(await findings(page, ".header")).toEqual([]);
      await expectNoScroll(page);
    }
  });
}

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("menus open, and lead on", async ({ page }) => {
    await page.goto("/?v=1&preset=glm-4.5");
    await choose(page, "More", "Keyboard shortcuts");
    await expect(page).toHaveURL(/\/guide\/views#keys$/);
    await choose(page, "More", "Settings");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Settings");
    await page.goto("/?v=1&preset=glm-4.5");
    await choose(page, "Share", "Start a review");
    await expect(page).toHaveURL(/\/r\/new\?v=1&preset=glm-4\.5/);
  });
});

for (const width of [1440, 1280, 390]) {
  test(`nothing moves while any page loads at ${width} pixels`, async ({ visit }) => {
    test.slow();
    const page = await visit({ viewport: { width, height: 844 } });
    const moved = await watchMoves(page);
    // A slow machine shows a page before all of it has come.
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 3 });
    for (const address of [...PAGES.map(([address]) => address), "/export", SEARCHED]) {
      await open(page, address);
      await page.waitForLoadState("networkidle");
      if (address === SEARCHED) await page.locator("#find-result[data-state=over]").waitFor();
      expect(await moved(), address).toEqual([]);
    }
  });
}

const PHONE = { viewport: { width: 390, height: 844 } };
const COMPARED =
  "/compare?a=v=1%26preset=pangu-ultra-moe-4k-baseline&b=v=1%26preset=pangu-ultra-moe-6k";

for (const [path, part] of [
  ["/about", ".about-sources"],
  ["/serving", "#numbers"],
  ["/budget", "#numbers"],
  ["/budget", "#brief"],
  [COMPARED, ".scroll-x:has(.compare-table)"],
] as const) {
  test(`a phone has the whole width of ${part} at ${path.split("?")[0]}`, async ({ visit }) => {
    const page = await visit({ ...PHONE, javaScriptEnabled: false });
    await page.goto(path);
    const beyond = await page.locator(part).evaluate((it) => {
      const boxes = [it, ...it.querySelectorAll(".scroll-x")];
      return Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth));
    });
    expect(beyond).toBeLessThanOrEqual(0);
  });
}

test("the page of published runs is at most twenty screens of a phone", async ({ visit }) => {
  const page = await visit({ ...PHONE, javaScriptEnabled: false });
  await page.goto("/trust");
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(height / PHONE.viewport.height).toBeLessThan(20);
});
