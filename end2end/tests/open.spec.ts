// The page as it opens.

import { card, expect, gotoHydrated, numberBox, numbers, test, toStudy } from "./helper";

test("opens on the paper's final run with its numbers", async ({ page }) => {
  await gotoHydrated(page);
  await expect(page).toHaveTitle(/Moescape/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Pangu Ultra MoE");
  await expect(card(page, "MFU")).toContainText(/\d+\.\d+ %/);
  await expect(card(page, "Throughput per device")).toContainText("tokens/s");
  await expect(card(page, "Step time")).toContainText(/\d s/);
  await expect(card(page, "Peak memory per device")).toContainText("limit 60.3 GiB");
  await expect(card(page, "Pipeline bubble")).toContainText("formula 10.49 %");
  await expect(card(page, "Exposed communication")).toContainText("of the step");
});

test("reads the same without JavaScript", async ({ page, visit }) => {
  const plain = await visit({ javaScriptEnabled: false });
  await plain.goto("/?parallel.virtual_pipeline_model_parallel_size=4");
  const rendered = await numbers(plain);
  expect(rendered.length).toBeGreaterThan(10);
  await gotoHydrated(page, "/?parallel.virtual_pipeline_model_parallel_size=4");
  expect(await numbers(page)).toEqual(rendered);
  // There and back, so that the browser has computed every number itself.
  await numberBox(page, "Virtual stages (VPP)").fill("2");
  await expect.poll(() => numbers(page)).not.toEqual(rendered);
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect.poll(() => numbers(page)).toEqual(rendered);
});

test("draws its charts, each with its table", async ({ page }) => {
  await gotoHydrated(page);
  // The timeline is a figure too, on a canvas; it has tests of its own.
  for (const id of ["memory", "step", "communication", "bubble", "composition", "balance"]) {
    await toStudy(page, id);
    const figure = page.locator(`#${id}`);
    await expect(figure.getByRole("img").first()).toBeVisible();
    const table = figure.locator("details").getByRole("table");
    if (!(await table.isVisible())) await figure.getByText("Table", { exact: true }).click();
    await expect(table).toBeVisible();
    expect(await table.getByRole("row").count()).toBeGreaterThan(1);
  }
});
