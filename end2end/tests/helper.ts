// The test that every file uses: it knows the server's address, and fails on any console message
// that a visitor's console should not have. A mismatch between server and browser shows only there.

import {
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
  expect,
  test as base,
} from "@playwright/test";

export { expect } from "@playwright/test";

/** What Playwright itself warns of where a test has no service worker. */
const BLOCKED = "Service Worker registration blocked by Playwright";

type Fixtures = {
  /** Console messages that a test brings about on purpose. */
  expectedConsole: RegExp | undefined;
  /** Opens another visitor's page. */
  visit: (options?: BrowserContextOptions) => Promise<Page>;
};

type Console = { listen: (context: BrowserContext) => void };

export const test = base.extend<Fixtures & { quietConsole: Console }>({
  expectedConsole: [undefined, { option: true }],
  baseURL: async ({}, use) => {
    await use(process.env.MOESCAPE_URL);
  },
  quietConsole: [
    async ({ context, expectedConsole }, use) => {
      const heard: string[] = [];
      const listen = (listened: BrowserContext) => {
        listened.on("console", (message) => {
          const text = `${message.type()}: ${message.text()}`;
          const loud = message.type() === "error" || message.type() === "warning";
          if (text.endsWith(BLOCKED)) return;
          if (loud && expectedConsole?.test(text) !== true) heard.push(text);
        });
        listened.on("weberror", (error) => heard.push(`page error: ${error.error()}`));
      };
      listen(context);
      await use({ listen });
      if (heard.length > 0) throw new Error(`the console is not quiet:\n${heard.join("\n")}`);
    },
    { auto: true },
  ],
  visit: async ({ browser, baseURL, quietConsole }, use) => {
    const contexts: BrowserContext[] = [];
    await use(async (options = {}) => {
      const context = await browser.newContext({ baseURL, serviceWorkers: "block", ...options });
      contexts.push(context);
      quietConsole.listen(context);
      return context.newPage();
    });
    await Promise.all(contexts.map((context) => context.close()));
  },
});

/** Opens a page and waits until its controls work. */
export async function gotoHydrated(page: Page, url = "/"): Promise<void> {
  await page.goto(url);
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
}

/** A menu of the header. */
export function menu(page: Page, name: "Share" | "More"): Locator {
  return page.locator("details.menu", { has: page.locator("summary", { hasText: name }) });
}

/** Takes an item of a menu of the header. */
export async function choose(page: Page, name: "Share" | "More", item: string): Promise<void> {
  await menu(page, name).locator("summary").click();
  await menu(page, name).locator("li").getByText(item, { exact: true }).click();
}

/** The box that a knob's value is typed into. */
export function numberBox(page: Page, label: string): Locator {
  return page.getByRole("spinbutton", { name: label, exact: true });
}

/** A headline card. */
export function card(page: Page, title: string): Locator {
  return page.getByRole("article", { name: title, exact: true });
}

/** Opens the question that a study answers, and scrolls there. */
export async function toStudy(page: Page, study: string): Promise<Locator> {
  return toPlace(page, `[data-study="${study}"]`);
}

/** The same for any place of the explorer. */
export async function toPlace(page: Page, selector: string): Promise<Locator> {
  const place = page.locator(selector);
  const question = await place.evaluate((element) => {
    element.closest("details")?.setAttribute("open", "");
    return element.closest(".question")?.id;
  });
  const asked = page.locator(`.questions a[href="#${question}"]`);
  // What is loaded meanwhile may move the link that is pressed.
  await expect(async () => {
    if (question !== undefined && (await asked.getAttribute("aria-current")) === null) {
      await asked.click();
      // The press leads to where the question's views begin, in the next frame.
      await page.evaluate(
        () => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))),
      );
    }
    await place.scrollIntoViewIfNeeded({ timeout: 2_000 });
  }).toPass();
  return place;
}

/** Every number that the page shows for a metric, in order. */
export async function numbers(page: Page): Promise<string[]> {
  const texts = await page.locator("[data-metric]").allTextContents();
  return texts.map((text) => text.replace(/\s+/g, " ").trim());
}

/** What a browser tells of something that moved, as far as it is read here. */
type Shift = { value: number; sources: { node: Node | null }[] };

/** Keeps what moves while a page loads; answers how to read it. */
export async function watchMoves(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const moved: string[] = [];
    Object.assign(window, { moved });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as Shift[]) {
        const nodes = entry.sources.map(({ node }) => node?.textContent?.slice(0, 40));
        moved.push(`${entry.value} ${nodes.join(", ")}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return () => page.evaluate(() => (window as unknown as { moved: string[] }).moved);
}
