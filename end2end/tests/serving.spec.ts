// How a model answers: a question in three steps, layouts beside each other, the engine's command.

import { card, expect, gotoHydrated, test } from "./helper";
import { expectNoScroll, findings, looks } from "./looks";

test("a question is answered in three steps, and the link brings the answer back", async ({
  page,
}) => {
  await gotoHydrated(page, "/serving");
  await expect(card(page, "Output per device")).toContainText("tokens/s");
  // gpt-oss-120b on one H100, under 30 ms a token.
  await page.getByLabel("Model", { exact: true }).selectOption("gpt-oss-120b");
  await page.getByLabel("Weights", { exact: true }).selectOption("MXFP4");
  const limit = page.getByLabel(/^Limit of TPOT/);
  await limit.fill("30");
  await limit.blur();
  const best = page.locator("#serving-best");
  await expect(best).toContainText("TP");
  await best.click();
  await expect(page.locator(".verdict.broken")).toBeHidden();
  await expect(page).toHaveURL(/tpot_limit_milliseconds=30/);
  const seen = await page.locator("#results .cards").innerText();
  await page.reload();
  expect(await page.locator("#results .cards").innerText()).toBe(seen);
  await expect(page.locator(".serving-command")).toContainText("vllm serve MODEL");
});

test("a layout that can't serve says why, and one press mends it", async ({ page }) => {
  await gotoHydrated(page, "/serving");
  const tp = page.getByLabel("Tensor parallel in serving", { exact: true });
  await tp.fill("3");
  await tp.blur();
  const verdict = page.locator(".verdict.broken");
  await expect(verdict).toContainText("attention heads can't be split over TP 3");
  await verdict.getByRole("link", { name: /^Tensor parallel in serving/ }).first().click();
  await expect(tp).not.toHaveValue("3");
});

test("what is no number is refused and changes nothing", async ({ page }) => {
  await gotoHydrated(page, "/serving");
  const before = await page.locator("#results .cards").innerText();
  const input = page.getByLabel(/^Input length/);
  await input.fill("-5");
  await input.blur();
  await expect(page.getByText(/input_length takes|input_length is from/)).toBeVisible();
  expect(await page.locator("#results .cards").innerText()).toBe(before);
});

test("every engine has its command", async ({ page }) => {
  await gotoHydrated(page, "/serving");
  const command = page.locator(".serving-command");
  for (const [engine, word] of [
    ["SGLang", "sglang.launch_server"],
    ["TensorRT-LLM", "trtllm-serve"],
    ["MindIE", "maxSeqLen"],
    ["vLLM Ascend", "vllm serve"],
  ]) {
    await page.getByLabel("Engine", { exact: true }).selectOption(engine);
    await expect(command).toContainText(word);
  }
});

test("the page reads, and its form works, without JavaScript", async ({ visit }) => {
  const page = await visit({ javaScriptEnabled: false });
  await page.goto("/serving");
  await expect(card(page, "TPOT")).toContainText("ms");
  await page.getByLabel("Cache", { exact: true }).selectOption("FP8");
  await page.getByRole("button", { name: "Serve" }).click();
  await expect(page).toHaveURL(/kv_cache_dtype=fp8/);
  await expect(card(page, "TPOT")).toContainText("ms");
});

for (const { name, options } of looks()) {
  test(`the page has no fault that axe finds: ${name}`, async ({ visit }) => {
    const page = await visit(options);
    await gotoHydrated(page, "/serving");
    await expectNoScroll(page);
    expect(await findings(page, "main")).toEqual([]);
  });
}
