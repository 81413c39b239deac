// Pipeline schedules alone: task times that one types in, and a link that keeps them.

import { card, expect, gotoHydrated, numberBox, test } from "./helper";
import { expectReadable, findings, looks } from "./looks";

test("another number gives another step, and the link brings it back", async ({ page }) => {
  await gotoHydrated(page, "/schedule");
  const step = card(page, "Step time");
  await expect(step).toContainText("117 s");
  await numberBox(page, "Weight gradient (dW), s").fill("0.5");
  await expect(step).toContainText("97.5 s");
  await page.getByLabel("Method").selectOption("ZB-V");
  await expect(page).toHaveURL(/\/schedule\?method=zb_v&backward_weight=0\.5$/);
  await expect(page.locator("#stages-title + div tbody tr")).toHaveCount(8);
  const seen = await page.locator("#results .cards").innerText();
  await page.reload();
  expect(await page.locator("#results .cards").innerText()).toBe(seen);
  await expect(numberBox(page, "Weight gradient (dW), s")).toHaveValue("0.5");
  await expect(page.locator("code", { hasText: "moescape schedule" })).toHaveText(
    "moescape schedule --method zb_v --stages 8 --microbatches 32 --backward-weight 0.5",
  );
});

test("the page reads, and its form works, without JavaScript", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/schedule?method=zb_v");
  await expect(card(page, "Step time")).toContainText("99.5 s");
  await page.getByRole("row", { name: /^DualPipe 1 chunk/ }).getByRole("link").click();
  await expect(card(page, "Step time")).toContainText("102 s");
  await numberBox(page, "Micro-batches (m)").fill("64");
  await page.getByRole("button", { name: "Simulate" }).click();
  await expect(page).toHaveURL(/micro_batches=64/);
  await expect(card(page, "Step time")).toContainText("198 s");
});

test("a number is typed digit by digit and never written over", async ({ page }) => {
  await gotoHydrated(page, "/schedule");
  const forward = numberBox(page, "Forward (F), s");
  await forward.selectText();
  await forward.pressSequentially("0.50");
  await expect(forward).toHaveValue("0.50");
  await expect(card(page, "Step time")).toContainText("97.5 s");
  const chunks = numberBox(page, "Chunks per stage (v)");
  await page.getByLabel("Method").selectOption("Interleaved 1F1B");
  await chunks.fill("4");
  await chunks.fill("");
  await expect(chunks).toHaveValue("");
  const headings = page.getByRole("heading", { level: 2 });
  await expect(headings.filter({ hasText: "2 chunks" })).toBeVisible();
});

test("sizes that break a rule keep the numbers, and one click mends them", async ({ page }) => {
  await gotoHydrated(page, "/schedule?method=dualpipe");
  const step = card(page, "Step time");
  await expect(step).toContainText("102 s");
  await numberBox(page, "Micro-batches (m)").fill("9");
  const broken = page.getByRole("region", { name: "Broken rules" });
  await expect(broken).toContainText("9 is not even");
  await expect(step).toContainText("102 s");
  await broken.getByRole("link", { name: "Use 16 micro-batches" }).click();
  await expect(broken).toBeHidden();
  await expect(numberBox(page, "Micro-batches (m)")).toHaveValue("16");
  await expect(page).toHaveURL(/micro_batches=16$/);
});

test("what is no number is refused beside its box", async ({ page }) => {
  await gotoHydrated(page, "/schedule");
  const forward = numberBox(page, "Forward (F), s");
  for (const text of ["0", "-1", "1e308", ""]) {
    await forward.fill(text);
    await expect(page.locator("#forward-problem")).toContainText("This takes 1e-9 to 1e9 seconds");
    await expect(forward).toHaveAttribute("aria-invalid", "true");
  }
  await forward.fill("2");
  await expect(page.locator("#forward-problem")).toBeEmpty();
  await expect(card(page, "Step time")).toContainText("156 s");
  await numberBox(page, "Stages (p)").fill("1000000");
  const broken = page.getByRole("region", { name: "Broken rules" });
  await expect(broken).toContainText("1 to 1024 stages");
});

test("the keyboard alone steps a number and takes a schedule", async ({ page }) => {
  await gotoHydrated(page, "/schedule");
  const stages = numberBox(page, "Stages (p)");
  await stages.focus();
  await page.keyboard.press("ArrowDown");
  await expect(stages).toHaveValue("7");
  const row = page.getByRole("row", { name: /^ZB-H1/ });
  await row.getByRole("link", { name: "ZB-H1" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByLabel("Method")).toHaveValue("zb_h1");
  await expect(row.getByRole("link", { name: "ZB-H1" })).toBeFocused();
});

test("a click on a row shows its schedule on the timeline too", async ({ page }) => {
  await gotoHydrated(page, "/schedule");
  // The row's link lies over its cells.
  await page.locator('tr[data-schedule="dualpipev"] td').nth(1).click({ force: true });
  await expect(card(page, "Step time")).toContainText("103 s");
  await expect(page.locator("#schedule")).toContainText("103.0 s");
});

test("a design's schedule opens from the explorer", async ({ page }) => {
  await gotoHydrated(page);
  await page.getByRole("link", { name: "Open its schedule alone" }).click();
  await page.locator("html[data-hydrated=true]").waitFor({ state: "attached" });
  await expect(page).toHaveURL(/\/schedule\?method=1f1b_overlap&stages=16&chunks=2&.*forward=/);
  await expect(page.getByRole("region", { name: "Broken rules" })).toBeHidden();
});

test.describe("links that are not understood", () => {
  test.use({ expectedConsole: /status of 400/ });

  test("say which parts, and open the rest", async ({ page }) => {
    await gotoHydrated(page, "/schedule?method=zbv&forward=NaN&stages=4");
    await expect(page.locator(".link-errors li")).toHaveCount(2);
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "Open the rest of the link" }).click();
    await expect(numberBox(page, "Stages (p)")).toHaveValue("4");
  });
});

for (const { name, options } of looks("tablet")) {
  for (const query of ["?method=zb_v&p2p=0.1", "?method=dualpipe&stages=7&micro_batches=9"]) {
    test(`nothing to mend for axe: ${name}, ${query}`, async ({ visit }) => {
      const page = await visit(options);
      await gotoHydrated(page, `/schedule${query}`);
      await expectReadable(page);
    });
  }
}
