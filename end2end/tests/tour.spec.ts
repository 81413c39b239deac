// The tour by keyboard and as a screen reader hears it, and the gallery of presets.

import { expect, gotoHydrated, test } from "./helper";

const HEADING = { level: 1 } as const;

test("the keyboard alone goes through the tour, and each step is said", async ({ page }) => {
  await page.goto("/tour");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await expect(page.getByRole("heading", HEADING)).toBeFocused();
  // What is said stands for a moment only, which a busy machine may miss.
  await page.evaluate(() => {
    const heard: string[] = [];
    const listen = () => heard.push(document.getElementById("habits-said")?.textContent ?? "");
    const all = { childList: true, characterData: true, subtree: true };
    new MutationObserver(listen).observe(document.body, all);
    Object.assign(window, { heard });
  });
  const heard = () => page.evaluate(() => (window as unknown as { heard: string[] }).heard);
  const first = await page.getByRole("heading", HEADING).textContent();
  expect(first).toContain("Step 0 of 11");
  for (let step = 1; step <= 11; step += 1) {
    await page.keyboard.press("]");
    const heading = page.getByRole("heading", HEADING);
    await expect(heading).toContainText(`Step ${step} of 11`);
    await expect(heading).toBeFocused();
    await expect(page).toHaveURL(new RegExp(`step=${step}$`));
    const headline = await page.locator("[data-headline]").textContent();
    expect(headline).toBeTruthy();
    await expect.poll(heard).toContain(headline);
    await expect(page.locator(".tour-list [aria-current=step]")).toHaveCount(1);
  }
  await expect(page.getByRole("link", { name: "Next step →" })).toHaveCount(0);
  await expect(page.getByText(/Published are 18\.9 %, 30\.0 % and 41 %/)).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", HEADING)).toContainText("Step 10 of 11");
});

test("the first key turns the tour though its script comes late", async ({ page }) => {
  await page.route("**/tour.*.js", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await route.continue();
  });
  await page.goto("/tour");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  await page.keyboard.press("]");
  await expect(page.getByRole("heading", HEADING)).toContainText("Step 1 of 11");
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
});

test("a step opens in the explorer with the numbers of the tour", async ({ page }) => {
  await page.goto("/tour?step=4");
  const row = page.getByRole("row", { name: /^Step time/ });
  const shown = (await row.getByRole("cell").nth(1).textContent()) ?? "";
  await page.getByRole("link", { name: "Open this step in the explorer" }).press("Enter");
  await page.locator("html[data-hydrated]").waitFor({ state: "attached" });
  const card = page.getByRole("article", { name: "Step time", exact: true });
  await expect(card.locator(".card-value")).toHaveText(new RegExp(shown.replace(" ", "\\s+")));
});

test("the gallery is filtered while one types, and a preset opens", async ({ page }) => {
  await page.goto("/presets");
  await page.locator("html[data-habits]").waitFor({ state: "attached" });
  const cards = page.getByRole("article");
  const all = await cards.count();
  await page.getByRole("searchbox", { name: "Find a preset" }).pressSequentially("pangu ultra");
  await expect.poll(() => cards.count()).toBeLessThan(all);
  await expect(page.getByRole("status").first()).toContainText(/\d+ presets/);
  await expect(page).toHaveURL(/\?q=pangu%20ultra$/);
  const name = "Pangu Ultra MoE on 6,144 NPUs";
  await page.getByRole("link", { name, exact: true }).press("Enter");
  await gotoHydrated(page, page.url());
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Pangu Ultra MoE");
});

test.describe("without a script", () => {
  test.use({ javaScriptEnabled: false });

  test("tour and gallery read well", async ({ page }) => {
    await page.goto("/tour?step=2");
    await page.getByRole("link", { name: "Next step →" }).click();
    await expect(page.getByRole("heading", HEADING)).toContainText("Step 3 of 11");
    await page.goto("/presets");
    await page.getByRole("searchbox", { name: "Find a preset" }).fill("deepseek");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await expect(page.getByRole("article").first()).toContainText("DeepSeek");
  });
});
