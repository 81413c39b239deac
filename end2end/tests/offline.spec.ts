// Without the server, after the first visit; and a new version of the site while a page is open.

import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Page } from "@playwright/test";

import { card, choose, expect, gotoHydrated, numberBox, test, toStudy } from "./helper";

test.use({ serviceWorkers: "allow" });

/** Waits until the files of this build are kept. */
async function kept(page: Page): Promise<void> {
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await expect
    .poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
    .toBe(true);
}

test.describe("offline", () => {
  // Chromium writes it for the page that was asked for, whoever answers in the end.
  test.use({ expectedConsole: /ERR_INTERNET_DISCONNECTED/ });

  test("the explorer works after the first visit", async ({ page, context }) => {
    await gotoHydrated(page);
    await kept(page);
    await context.setOffline(true);
    await gotoHydrated(page, "/?v=1&preset=pangu-ultra-moe-6k&tp=4");
    await expect(page.getByText("You are offline.")).toBeVisible();
    await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("4");
    const bubble = card(page, "Pipeline bubble");
    await expect(bubble).toContainText("formula 18.99 %");
    await numberBox(page, "Virtual stages (VPP)").fill("4");
    await expect(bubble).toContainText("formula 10.49 %");
    await expect(page).toHaveURL(/virtual_pipeline_model_parallel_size=4/);
    // Studies come from a module and a worker of their own.
    await toStudy(page, "sensitivity");
    await expect(page.locator("[data-study=sensitivity] a[data-step]").first()).toBeVisible();
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog").getByRole("combobox")).toBeFocused();
    await page.keyboard.type("tp 8");
    await expect(page.locator('[aria-selected="true"]')).toContainText("Set TP to 8");
    await page.keyboard.press("Enter");
    await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("8");
    await page.keyboard.press("Escape");
  });

  test("what needs the server says so", async ({ page, context }) => {
    await gotoHydrated(page);
    await kept(page);
    await context.setOffline(true);
    await page.goto("/sweep");
    await expect(page.getByRole("heading", { name: "You are offline" })).toBeVisible();
    await page.getByRole("link", { name: "Open the explorer" }).press("Enter");
    await page.locator("html[data-hydrated]").waitFor({ state: "attached" });
    await choose(page, "Share", "Short link, QR code, embed");
    await expect(page.getByRole("dialog")).toContainText("The server can't be reached");
  });

  test("a link with a mistake isn't taken for another design in silence", async ({
    page,
    context,
  }) => {
    await gotoHydrated(page);
    await kept(page);
    await context.setOffline(true);
    await gotoHydrated(page, "/?preset=nope");
    await expect(page.getByText("This link has an error")).toBeVisible();
  });
});

/** A server in front of the tested one, whose service worker becomes another one at will. */
async function front(behind: string): Promise<{ server: Server; url: string; renew: () => void }> {
  let version = "";
  const server = createServer((request, answer) => {
    const { pathname, port } = new URL(request.url ?? "/", behind);
    const headers = { ...request.headers };
    if (pathname === "/service-worker.js") delete headers["accept-encoding"];
    const { hostname } = new URL(behind);
    const options = { hostname, port, path: request.url, method: request.method, headers };
    const forward = ask(options, (response) => {
      if (pathname !== "/service-worker.js") {
        answer.writeHead(response.statusCode ?? 500, response.headers);
        response.pipe(answer);
        return;
      }
      const { "content-length": _, ...kept } = response.headers;
      answer.writeHead(response.statusCode ?? 500, kept);
      response.on("data", (bytes) => answer.write(bytes));
      response.on("end", () => answer.end(version));
    });
    request.pipe(forward);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const renew = () => {
    version = "\n// another build\n";
  };
  return { server, url: `http://127.0.0.1:${port}`, renew };
}

test("a new version is offered, and taken only when asked for", async ({ page, baseURL }) => {
  const { server, url, renew } = await front(baseURL ?? "");
  await gotoHydrated(page, `${url}/?vpp=4`);
  await kept(page);
  await expect(page.locator("#new-version")).toHaveCount(0);
  renew();
  await page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    await registration?.update();
  });
  const bar = page.locator("#new-version");
  await expect(bar).toContainText("There is a new version of Moescape");
  const loaded = page.waitForEvent("load");
  await bar.getByRole("button", { name: "Reload" }).press("Enter");
  await loaded;
  await page.locator("html[data-hydrated]").waitFor({ state: "attached" });
  await expect(numberBox(page, "Virtual stages (VPP)")).toHaveValue("4");
  await expect(bar).toHaveCount(0);
  server.closeAllConnections();
  server.close();
});
