// How pages are looked at: on screens, light and dark, and by axe.

import AxeBuilder from "@axe-core/playwright";
import type { BrowserContextOptions, Page } from "@playwright/test";

import { expect } from "./helper";

/** The screens that every page is made for. */
const SCREENS = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
};

/** Screens that some pages are looked at on, too. */
const MORE = {
  tablet: { width: 800, height: 900 },
  "narrow phone": { width: 320, height: 640 },
};

type Look = {
  /** For the name of a test. */
  name: string;
  isPhone: boolean;
  /** What a visitor comes with. */
  options: BrowserContextOptions;
};

/** Desktop and phone, and more screens. */
export function looks(...more: (keyof typeof MORE)[]): Look[] {
  const screens = [...Object.entries(SCREENS), ...more.map((name) => [name, MORE[name]] as const)];
  return screens.map(([name, viewport]) => {
    return { name, isPhone: name === "phone", options: { viewport } };
  });
}

/**
 * Axe on a page, by all its rules or by some. What passes is not described; and where there are no
 * frames, no second page is opened to put together what was found in each.
 */
export function axe(page: Page, ...rules: string[]): AxeBuilder {
  const some = rules.length > 0 ? { runOnly: { type: "rule" as const, values: rules } } : {};
  return new AxeBuilder({ page })
    .options({ resultTypes: ["violations"], ...some })
    .setLegacyMode(page.frames().length === 1);
}

/** Rules of axe that colours answer. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];

/**
 * What axe would mend, as readable lines: on the whole page, or in some parts of it; in the dark by
 * the rules of colours, in the light by all.
 */
export async function findings(page: Page, ...parts: string[]): Promise<string[]> {
  // What is made once more is dimmed meanwhile.
  await expect(page.locator("[data-study][aria-busy]")).toHaveCount(0);
  const found: string[] = [];
  for (const [colorScheme, rules] of [["dark", OF_COLORS], ["light", []]] as const) {
    // Colours don't fade from one theme to the other.
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const within = parts.reduce((within, part) => within.include(part), axe(page, ...rules));
    found.push(...lines(await within.analyze()).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

/** What axe found, as readable lines. */
export function lines({ violations }: Awaited<ReturnType<AxeBuilder["analyze"]>>): string[] {
  return violations.map(({ id, impact, nodes }) => {
    return `${impact} ${id}: ${nodes.map((node) => node.html).join("\n  ")}`;
  });
}

/** Nothing scrolls sideways. */
export async function expectNoScroll(page: Page): Promise<void> {
  const inner = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(inner).toBeLessThanOrEqual(page.viewportSize()?.width ?? 0);
}

/** A page, or parts of it, that everyone can read: nothing for axe, and nothing goes sideways. */
export async function expectReadable(page: Page, ...parts: string[]): Promise<void> {
  expect(await findings(page, ...parts)).toEqual([]);
  await expectNoScroll(page);
}
