// A review session: two browsers on one design, what they say of it and decide, and who may what.

import type { BrowserContextOptions, Page } from "@playwright/test";

import { expect, gotoHydrated, numberBox, test, watchMoves } from "./helper";
import { axe, expectNoScroll, findings, lines, looks } from "./looks";

type Visit = (options?: BrowserContextOptions) => Promise<Page>;

/** Opens a page of a session and waits until it hears of what happens. */
async function enter(page: Page, url: string): Promise<void> {
  await gotoHydrated(page, url);
  await expect(page.locator(".reviewing[data-line=open]")).toBeAttached();
}

/** Gives a visitor a name, as one who was here before has it. */
async function named(visit: Visit, name: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await visit(options);
  await page.addInitScript((name) => localStorage.setItem("moescape-person-name", name), name);
  return page;
}

/** Begins a session; the page is its owner's. */
async function begin(page: Page, name: string): Promise<void> {
  await gotoHydrated(page, "/r/new");
  await page.getByLabel("Name of the review").fill(name);
  await page.getByLabel("Your name").fill("Ann");
  await page.getByRole("button", { name: "Start the review" }).click();
  await expect(page.locator(".reviewing[data-line=open]")).toBeAttached();
}

/** Makes a link, as the owner, and gives its address. */
async function invite(page: Page, role: string): Promise<string> {
  await page.getByRole("tab", { name: "Share" }).click();
  await page.getByLabel("Whoever has the link").selectOption({ label: role });
  await page.getByLabel("Label, to tell links apart").fill("For Bob");
  await page.getByRole("button", { name: "Make a link" }).click();
  const fresh = page.getByLabel(new RegExp(`New link: ${role.toLowerCase()}`));
  await expect(fresh).toBeVisible();
  return fresh.inputValue();
}

const ep = "Expert parallel (EP)";
const tab = (page: Page, name: string) => page.getByRole("tab", { name }).click();
const panel = (page: Page) => page.getByRole("complementary", { name: "Review" });

test("an edit of one shows in the other, and each undoes only their own", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "Which PP");
  const bob = await named(visit, "Bob");
  await enter(bob, await invite(ann, "Can edit"));
  // The way in isn't in the address bar.
  expect(bob.url()).not.toContain("key=");

  const pp = "Pipeline parallel (PP)";
  const before = await numberBox(bob, pp).inputValue();
  await numberBox(ann, pp).fill("8");
  await expect(numberBox(bob, pp)).toHaveValue("8");
  await numberBox(bob, ep).fill("16");
  await expect(numberBox(ann, ep)).toHaveValue("16");

  await ann.getByRole("button", { name: "Undo" }).click();
  await expect(numberBox(bob, pp)).toHaveValue(before);
  await expect(numberBox(bob, ep)).toHaveValue("16");
});

test("who only looks needs no name and can turn nothing", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "Planned");
  const eve = await visit();
  await enter(eve, await invite(ann, "Can view"));
  await expect(eve.getByRole("dialog")).toBeHidden();
  await expect(numberBox(eve, "Pipeline parallel (PP)")).toBeDisabled();
  await expect(eve.getByLabel("New comment (Markdown)")).toBeHidden();
});

test("comments, suggestions, decisions and the report of a session", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "Does it fit");
  const cleo = await named(visit, "Cleo");
  await enter(cleo, await invite(ann, "Can comment"));

  await cleo.getByLabel("About", { exact: true }).selectOption("metric:memory_peak_bytes@stage=3");
  await cleo.getByLabel("New comment (Markdown)").fill("Too **full**");
  await cleo.getByRole("button", { name: "Comment", exact: true }).last().click();
  await tab(ann, "Discuss");
  const thread = panel(ann).locator(".thread", { hasText: "stage 3" });
  await expect(thread.locator("strong", { hasText: "full" })).toBeVisible();
  await expect(thread).toContainText(/Made at .* GiB, unchanged/);

  await tab(cleo, "Designs");
  await cleo.getByRole("button", { name: "Suggest a change" }).click();
  await numberBox(cleo, ep).fill("16");
  await cleo.getByLabel("Why", { exact: true }).fill("Fewer launches");
  await cleo.getByRole("button", { name: "Suggest it" }).click();
  await tab(ann, "Designs");
  await expect(panel(ann)).toContainText("EP to 16");
  await panel(ann).getByRole("button", { name: "Accept" }).click();
  await expect(numberBox(cleo, ep)).toHaveValue("16");
  await tab(ann, "Discuss");
  await expect(thread).toContainText("Outdated");

  await tab(ann, "Decide");
  await ann.getByLabel("Why", { exact: true }).fill("It fits");
  await ann.getByRole("button", { name: "Decide" }).click();
  await expect(panel(ann)).toContainText("Approved by Ann");
  await numberBox(ann, "Pipeline parallel (PP)").fill("8");
  await expect(panel(ann)).toContainText(/Approved by Ann for another design: 1 knob changed/);
  await ann.getByLabel("Why", { exact: true }).fill("Still fits");
  await ann.getByRole("button", { name: "Decide" }).click();
  await expect(panel(ann).locator(".standing")).toHaveText("Approved by Ann");

  for (const [path, type] of [["report.md", "text/markdown"], ["report.html", "text/html"]]) {
    const report = await ann.request.get(`${ann.url()}/${path}`);
    expect(report.status()).toBe(200);
    expect(report.headers()["content-type"]).toContain(type);
    expect(await report.text()).toContain("Still fits");
  }

  await tab(ann, "History");
  await ann.getByLabel(/^Now, after/).fill("1");
  await expect(ann.getByText(/Showing the session after event 1/)).toBeVisible();
  await expect(numberBox(ann, ep)).not.toHaveValue("16");
  await expect(numberBox(ann, ep)).toBeDisabled();
  await ann.getByRole("button", { name: "Back to now" }).click();
  await expect(numberBox(ann, ep)).toHaveValue("16");
});

test("the history's slider waits for the events and counts them meanwhile", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "Slow history");
  await numberBox(ann, "Pipeline parallel (PP)").fill("8");
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await ann.route(/\/log\?/, async (route) => {
    await held;
    await route.continue();
  });

  await tab(ann, "History");
  const slider = panel(ann).getByRole("slider", { name: /^Now, after [2-9] events/ });
  await expect(slider).toBeDisabled();
  release();
  await expect(slider).toBeEnabled();
  await slider.fill("1");
  await expect(ann.getByText(/Showing the session after event 1/)).toBeVisible();
});

test("a press on a stage's bar begins a comment, and a name in it is told", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "By name");
  const cleo = await named(visit, "Cleo");
  await enter(cleo, await invite(ann, "Can comment"));

  const memory = cleo.locator("#results [data-study=memory]");
  await memory.locator("svg.chart:visible [data-opens=stage-3] rect").first().click();
  const about = cleo.getByLabel("About", { exact: true });
  await expect(about).toHaveValue("metric:memory_peak_bytes@stage=3");
  const box = cleo.getByLabel("New comment (Markdown)");
  await expect(box).toBeFocused();
  await box.pressSequentially("Is that **right**, @An");
  await cleo.getByRole("group", { name: "Mention someone" }).getByRole("button").click();
  await expect(box).toHaveValue("Is that **right**, @Ann ");
  await expect(box).toBeFocused();
  await box.pressSequentially("?");
  await cleo.getByRole("button", { name: "Comment", exact: true }).last().click();

  await expect(ann.getByRole("status").filter({ hasText: "Cleo mentions you" })).toBeVisible();
  await tab(ann, "Discuss");
  const thread = panel(ann).locator(".thread", { hasText: "stage 3" });
  await expect(thread.getByText("Mentions you")).toBeVisible();
  await expect(thread.locator(".mention.you")).toHaveText("@Ann");
  await expect(thread.locator("strong", { hasText: "right" })).toBeVisible();
  // So it is when the server writes the page, and for who isn't meant.
  await ann.reload();
  await expect(thread.locator(".mention.you")).toHaveText("@Ann");
  await expect(panel(cleo).getByText("Mentions you")).toHaveCount(0);
  await expect(panel(cleo).locator(".mention")).toHaveText("@Ann");
});

test("a pointer on a chart is at the same data on a narrower screen", async ({ visit }) => {
  const ann = await named(visit, "Ann");
  await begin(ann, "Look here");
  const phone = { viewport: { width: 900, height: 800 } };
  const bob = await named(visit, "Bob", phone);
  await enter(bob, await invite(ann, "Can view"));
  const chart = (page: Page) => page.locator("#results [data-study=memory] svg.chart:visible");
  const plot = (page: Page) => chart(page).locator(".chart-plot");
  const bar = (page: Page) => chart(page).locator("[data-opens=stage-5]").boundingBox();

  // A chart is drawn once it is in view.
  await bob.locator("#results [data-study=memory]").scrollIntoViewIfNeeded();
  await chart(ann).scrollIntoViewIfNeeded();
  const pointer = bob.locator(".chart-cursor", { hasText: "Ann" });
  await expect(async () => {
    // The page may still scroll while one points.
    const seen = await bar(ann);
    if (seen === null) throw new Error("stage 5 has no bar");
    await ann.mouse.move(seen.x + seen.width / 2, seen.y + seen.height / 2, { steps: 4 });
    await expect(pointer).toBeAttached({ timeout: 2_000 });
    const [there, own] = [await pointer.boundingBox(), await bar(bob)];
    if (there === null || own === null) throw new Error("nothing to be seen");
    expect(there.x).toBeGreaterThan(own.x - 2);
    expect(there.x).toBeLessThan(own.x + own.width + 2);
  }).toPass();
  await expect(plot(bob)).toHaveCount(1);
  await ann.mouse.move(5, 5);
  await expect(pointer).toHaveCount(0);
});

test.describe("lines that end", () => {
  test.use({ expectedConsole: /WebSocket|status of 404|ERR_INTERNET_DISCONNECTED|Failed to load/ });

  test("a withdrawn link ends at once, and says so", async ({ visit }) => {
    const ann = await named(visit, "Ann");
    await begin(ann, "Not for long");
    const bob = await named(visit, "Bob");
    await enter(bob, await invite(ann, "Can edit"));
    // A session begins with a link of each role; Bob's is the one that was named.
    const link = panel(ann).locator(".thread", { hasText: "For Bob" });
    await link.getByRole("button", { name: "Withdraw" }).click();
    await expect(bob.getByRole("heading", { name: "You are no longer in" })).toBeVisible();
    await expect(bob.getByRole("alert")).toContainText("withdrawn or has expired");
    await expect(bob.getByRole("link", { name: /Open the design/ })).toBeVisible();
    await expect(bob.getByRole("main")).toHaveCount(1);
    await expect(numberBox(bob, "Pipeline parallel (PP)")).toBeHidden();
    expect(await findings(bob)).toEqual([]);
  });

  test("an owner deletes a session after a warning, by the keyboard alone", async ({ visit }) => {
    const ann = await named(visit, "Ann");
    await begin(ann, "To be forgotten");
    const url = ann.url();
    const bob = await named(visit, "Bob");
    await enter(bob, await invite(ann, "Can edit"));
    await tab(bob, "Share");
    await expect(bob.getByText("Delete this session…")).toHaveCount(0);

    const remove = panel(ann).getByRole("button", { name: "Delete it for everyone" });
    await expect(remove).toBeHidden();
    await panel(ann).getByText("Delete this session…").focus();
    await ann.keyboard.press("Enter");
    await expect(panel(ann).getByText("This can't be undone")).toBeVisible();
    const [copy] = await Promise.all([
      ann.waitForEvent("download"),
      panel(ann).getByRole("link", { name: "Save a copy first" }).click(),
    ]);
    expect(copy.suggestedFilename()).toMatch(/\.md$/);
    await remove.focus();
    await ann.keyboard.press("Enter");
    await ann.waitForURL((to) => to.pathname === "/");
    await expect(bob.getByRole("heading", { name: "This review is no longer here" })).toBeVisible();
    const answer = await ann.request.get(url.replace("/r/", "/api/v1/reviews/") + "/state");
    expect(answer.status()).toBe(404);
  });

  test("edits without a line are kept and sent when it is back", async ({ visit }) => {
    const ann = await named(visit, "Ann");
    await begin(ann, "On a train");
    const bob = await named(visit, "Bob");
    await enter(bob, await invite(ann, "Can edit"));
    await bob.context().setOffline(true);
    await numberBox(bob, ep).fill("16");
    await expect(bob.getByText(/1 change waits to be sent/)).toBeVisible();
    await bob.context().setOffline(false);
    await expect(numberBox(ann, ep)).toHaveValue("16");
  });

  test("what isn't sent survives a reload and happens once", async ({ visit }) => {
    const ann = await named(visit, "Ann");
    await begin(ann, "In a tunnel");
    const bob = await named(visit, "Bob");
    await enter(bob, await invite(ann, "Can edit"));
    // The socket is gone and stays so; the page itself can be loaded again.
    let lets = false;
    await bob.routeWebSocket(/socket/, (line) => {
      if (lets) line.connectToServer();
      else void line.close();
    });
    await bob.reload();
    await expect(bob.locator(".reviewing[data-line=lost]")).toBeAttached();
    await numberBox(bob, ep).fill("16");
    await expect(bob.getByText(/1 change waits to be sent/)).toBeVisible();
    await bob.reload();
    await expect(numberBox(bob, ep)).toHaveValue("16");
    await expect(numberBox(ann, ep)).not.toHaveValue("16");
    lets = true;
    await expect(numberBox(ann, ep)).toHaveValue("16", { timeout: 30_000 });
    await expect(bob.getByText(/waits to be sent/)).toBeHidden();
    await tab(ann, "History");
    await expect(panel(ann).getByText(/Bob set EP to 16/)).toHaveCount(1);
  });

  test("a session that there isn't is a clear page", async ({ visit }) => {
    const page = await visit();
    const answer = await page.goto("/r/0123456789abcdef");
    expect(answer?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: "No such review" })).toBeVisible();
  });
});

for (const { name, isPhone, options } of looks()) {
  test(`nothing to mend for axe: ${name}`, async ({ visit }) => {
    test.slow();
    const page = await named(visit, "Ann", options);
    await begin(page, "For everyone");
    if (isPhone) {
      await page.getByRole("button", { name: "Review", exact: true }).click();
    }
    await page.getByLabel("New comment (Markdown)").fill("So it is");
    await page.getByRole("button", { name: "Comment", exact: true }).last().click();
    await expect(panel(page).locator(".thread")).toHaveCount(1);
    for (const shown of ["Discuss", "Designs", "Decide", "History", "Share"]) {
      await tab(page, shown);
      // The whole page once, then what each tab changes.
      const parts = shown === "Discuss" ? [] : ['[aria-label="Review"]'];
      expect(await findings(page, ...parts), shown).toEqual([]);
    }
    await expectNoScroll(page);
  });
}

for (const [name, viewport] of [
  ["a desktop", { width: 1440, height: 900 }],
  ["a phone", { width: 390, height: 844 }],
] as const) {
  test(`nothing moves while a session loads on ${name}, and fingers hit it`, async ({ visit }) => {
    const ann = await named(visit, "Ann");
    await begin(ann, "Quiet");
    const bob = await named(visit, "Bob", { viewport });
    const moved = await watchMoves(bob);
    await enter(bob, await invite(ann, "Can edit"));
    await expect(bob.locator(".verdict-box .losses summary").first()).toBeAttached();
    expect(await moved()).toEqual([]);
    expect(lines(await axe(bob, "target-size").analyze())).toEqual([]);
  });
}
