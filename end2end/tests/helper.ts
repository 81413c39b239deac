// The test that every file uses: it knows the server's address, and fails on any console message
// that a visitor's console should not have. A mismatch between server and browser shows only there.

import { type Page, type Response, test as base } from "@playwright/test";

export { expect } from "@playwright/test";

type Options = {
  /** Console messages that a test brings about on purpose. */
  expectedConsole: RegExp | undefined;
};

export const test = base.extend<Options & { quietConsole: void }>({
  expectedConsole: [undefined, { option: true }],
  baseURL: async ({}, use) => {
    await use(process.env.MOESCAPE_URL);
  },
  quietConsole: [
    async ({ context, expectedConsole }, use) => {
      const heard: string[] = [];
      context.on("console", (message) => {
        const text = `${message.type()}: ${message.text()}`;
        const loud = message.type() === "error" || message.type() === "warning";
        if (loud && expectedConsole?.test(text) !== true) heard.push(text);
      });
      context.on("weberror", (error) => heard.push(`page error: ${error.error()}`));
      await use();
      if (heard.length > 0) throw new Error(`the console is not quiet:\n${heard.join("\n")}`);
    },
    { auto: true },
  ],
});

/** Opens a page and waits until its controls work. */
export async function gotoHydrated(page: Page, url = "/"): Promise<Response> {
  const response = await page.goto(url);
  if (response === null) throw new Error(`no response for ${url}`);
  await hydrated(page);
  return response;
}

/** Waits until the controls of an opened page work. */
export async function hydrated(page: Page): Promise<void> {
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
}
