// A design is a link: what it shows elsewhere, and what a broken one says.

import { expect, gotoHydrated, numberBox, numbers, test } from "./helper";

test("the address bar opens the same numbers in another browser", async ({ page, visit }) => {
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("1");
  await numberBox(page, "Expert parallel (EP)").fill("64");
  await expect(page).toHaveURL(/expert_model_parallel_size=64/);
  const other = await visit();
  await gotoHydrated(other, page.url());
  expect(await numbers(other)).toEqual(await numbers(page));
  await expect(numberBox(other, "Expert parallel (EP)")).toHaveValue("64");
  await other.reload();
  expect(await numbers(other)).toEqual(await numbers(page));
});

test("the link holds only what differs from the preset", async ({ page }) => {
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("1");
  await expect(page).toHaveURL(
    /\/\?v=1&preset=pangu-ultra-moe-6k&parallel\.virtual_pipeline_model_parallel_size=1$/,
  );
});

test("the link can be copied", async ({ visit }) => {
  const page = await visit({ permissions: ["clipboard-read", "clipboard-write"] });
  await gotoHydrated(page);
  await numberBox(page, "Virtual stages (VPP)").fill("1");
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByRole("button", { name: "Link copied" })).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("parallel.virtual_pipeline_model_parallel_size=1");
});

const BROKEN = [
  ["an unknown knob", "parallel.tensor_model_parallel_sise=8", "tensor_model_parallel_size"],
  ["a number that is none", "training.micro_batch_size=NaN", "micro_batch_size"],
  ["a negative number", "training.micro_batch_size=-1", "micro_batch_size"],
  ["a huge number", "training.micro_batch_size=1000000000000000000", "micro_batch_size"],
  ["the wrong type", "parallel.sequence_parallel=8", "sequence_parallel"],
  ["an unknown preset", "preset=pangu-ultra-moe-7k", "pangu-ultra-moe-6k"],
  ["bad percent-encoding", "preset=%zz", "%"],
  ["two mistakes at once", "training.micro_batch_size=-1&parallel.nope=1", "parallel.nope"],
] as const;

test.describe("a broken link", () => {
  test.use({ expectedConsole: /status of 4(00|14)/ });

  for (const [name, query, said] of BROKEN) {
    test(`with ${name} is answered with 400 and says what is wrong`, async ({ page }) => {
      const response = await page.goto(`/?${query}`);
      expect(response?.status()).toBe(400);
      await expect(page.locator("body")).toContainText(said);
      await expect(page.locator("body")).not.toContainText("panicked");
      await expect(page.locator('a[href="/"]').first()).toBeVisible();
    });
  }

  test("of 10 KB is answered with 414 and says so", async ({ page }) => {
    const response = await page.goto(`/?preset=${"a".repeat(10_000)}`);
    expect(response?.status()).toBe(414);
    await expect(page.locator("body")).toContainText(/long/);
    await expect(page.locator('a[href="/"]').first()).toBeVisible();
  });
});
