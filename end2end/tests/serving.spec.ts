// How a model answers: a question in three steps, layouts beside each other, the engine's command.

import { readFileSync } from "node:fs";
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
  await expect(page).toHaveURL(/tpot_limit_milliseconds=30/);
  const before = page.url();
  await best.click();
  await expect(page.locator(".verdict.broken")).toBeHidden();
  // The address follows when the numbers have been still for a while.
  await expect(page).not.toHaveURL(before);
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

test("a published run opens with its load, and measured loads stand beside the layouts", async ({
  page,
}) => {
  await gotoHydrated(page, "/serving");
  await page.getByLabel("Model", { exact: true }).selectOption("qwen3-235b-8-h100");
  await expect(page).toHaveURL(/preset=qwen3-235b-8-h100/);
  await expect(page.getByLabel("Engine", { exact: true })).toHaveValue("tensorrt_llm");
  const loads = page.locator("summary", { hasText: "measured loads of about these lengths" });
  await loads.click();
  const load = page.locator("details[open] li", { hasText: "silicon-0082" });
  await expect(load).toContainText("tokens/s per device");
  await load.getByRole("link").click();
  await expect(page.getByLabel("Concurrency", { exact: true })).not.toHaveValue("128");
});

test("a press on a number's name tells how it comes about", async ({ page }) => {
  await gotoHydrated(page, "/serving");
  await card(page, "Requests that memory holds").getByRole("link").click();
  const told = page.locator("#explained");
  await expect(told.getByLabel("Metric")).toHaveValue("kv_limited_concurrency");
  await expect(told).toContainText("Cache per device");
  await expect(told).toContainText("attention groups");
});

test("pools that prefill apart are found, shown and opened", async ({ page }) => {
  await gotoHydrated(page, "/serving?v=1&preset=deepseek-r1-96-h100");
  await expect(page.locator("#results")).toContainText("Prefill: 1 instance");
  const row = page.locator("tbody th a", { hasText: "prefill" }).first();
  await row.click();
  await expect(page.locator(".verdict.broken")).toBeHidden();
  await expect(page).toHaveURL(/disaggregation=prefill_decode|preset=deepseek-r1-96-h100/);
});

/** Scores of math (experts 0 and 2) and code (expert 1) in layer 3, as Parquet. */
const PARQUET = [
  "UEFSMRUEFSAVIEwVBBUAEgAABAAAAG1hdGgEAAAAY29kZRUAFQYVBiwVBhUQFQYVBgAAAQMEFQQVCBUITBUCFQAS",
  "AAADAAAAFQAVBBUELBUGFRAVBhUGAAAABhUEFTAVMEwVBhUAEgAAAAAAAAAAAAACAAAAAAAAAAEAAAAAAAAAFQAV",
  "CBUILBUGFRAVBhUGAAACAyQAFQQVGBUYTBUGFQASAAAAAAA/AADAPwAAAEAVABUIFQgsFQYVEBUGFQYAAAIDJAAZ",
  "EgIZGARjb2RlGRgEbWF0aBUCGRYAABkSAhkYBAMAAAAZGAQDAAAAFQIZFgAAGRICGRgIAAAAAAAAAAAZGAgCAAAA",
  "AAAAABUCGRYAABkSAhkYBAAAAD8ZGAQAAABAFQIZFgA5FgAAGRwWRBUoFgAAGRYYABkcFpABFSYWAAAAGRwWggIV",
  "KhYAAAAZHBbgAhUqFgAAABUCGVxIBXRyYWNlFQgAFQwlABgEdGFzayUAABUCJQAYBWxheWVyABUEJQAYBmV4cGVy",
  "dAAVCCUAGAVsb2dpdAAWBhkcGUwmABwVDBk1AAYQGRgEdGFzaxUAFgYWZBZkJkQmCBw2ACgEbWF0aBgEY29kZRER",
  "ABksFQQVABUCABUAFRAVAgA8FhgAABbYBBUaFooDFS4AJgAcFQIZNQAGEBkYBWxheWVyFQAWBhZKFkomkAEmbBwY",
  "BAMAAAAYBAMAAAAWACgEAwAAABgEAwAAABERABksFQQVABUCABUAFRAVAgAAFvIEFRYWuAMVLgAmABwVBBk1AAYQ",
  "GRgGZXhwZXJ0FQAWBhZ2FnYmggImtgEcGAgCAAAAAAAAABgIAAAAAAAAAAAWACgIAgAAAAAAAAAYCAAAAAAAAAAA",
  "EREAGSwVBBUAFQIAFQAVEBUCAAAWiAUVFhbmAxU+ACYAHBUIGTUABhAZGAVsb2dpdBUAFgYWXhZeJuACJqwCHDYA",
  "KAQAAABAGAQAAAA/EREWAAAZLBUEFQAVAgAVABUQFQIAABaeBRUWFqQEFTQAFoIDFgYmCBaCAxQAACgZcGFycXVl",
  "dC1ycyB2ZXJzaW9uIDYwLjEuMBlMHAAAHAAAHAAALAAAAOABAABQQVIx",
].join("");

/** Pangu Ultra MoE on eight 910B3, with 64 of 256 experts kept. */
const KEPT =
  "v=1&preset=pangu-ultra-moe-718b&cluster.accelerator=ascend-910b3&cluster.num_devices=8&" +
  "serving.engine=mindie&serving.tensor_parallel_size=8&serving.moe_expert_parallel_size=8&" +
  "serving.experts_kept=64&serving.experts_kept_topk=4";

test("experts of tasks are generated, and say so", async ({ page }) => {
  await gotoHydrated(page, `/serving?${KEPT}`);
  await page.getByRole("button", { name: "Generate an example" }).click();
  await expect(page.getByText(/generated/i).first()).toBeVisible();
  const needed = page.getByRole("region", { name: "What tasks need" });
  const own = needed.getByRole("row", { name: /generated 1/ }).first().getByRole("cell").nth(1);
  const least = await own.textContent();
  await page.getByLabel("Share kept experts out").selectOption("least");
  await expect(own).not.toHaveText(least ?? "");
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save kept experts" }).click();
  const kept = JSON.parse(readFileSync(await (await saved).path(), "utf8"));
  const layers = Object.values(kept)[0] as { experts: number[] }[];
  expect(layers).toHaveLength(58);
  const count = layers.reduce((sum, layer) => sum + layer.experts.length, 0);
  expect(count).toBeLessThanOrEqual(58 * 64);
});

test("router traces are read from text, from Parquet, and refused by line", async ({ page }) => {
  await gotoHydrated(page, `/serving?${KEPT}`);
  const needed = page.getByRole("region", { name: "What tasks need" });
  const open = (name: string, buffer: Buffer) =>
    page.locator("#router-trace").setInputFiles({ name, mimeType: "text/plain", buffer });
  await open("scores.parquet", Buffer.from(PARQUET, "base64"));
  await expect(needed).toContainText("math");
  await expect(needed).toContainText("All tasks together keep 3 of 3 experts.");
  const tokens = "task,token,layer,expert,logit\nchat,0,0,5,2\nchat,1,0,6,4\n";
  await open("tokens.csv", Buffer.from(tokens));
  await expect(needed).toContainText("chat");
  await open("bad.csv", Buffer.from("task,layer,expert,tcess\nmath,0,first,1\n"));
  await expect(needed).toContainText("line 2");
});

test("a sweep over layouts that serve leads back to this page", async ({ page }) => {
  const spec = {
    schema: 1,
    objectives: ["output_tokens_per_second_per_device max", "tpot_seconds min"],
    design: { preset: "qwen3-32b", cluster: { num_devices: 8, accelerator: "h100-sxm-80gb" } },
    space: { serving: { tensor_parallel_size: [1, 2, 4, 8], concurrency: [1, 16, 256] } },
  };
  const answer = await page.request.post("/api/v1/sweeps", { data: spec });
  const { id } = await answer.json();
  await gotoHydrated(page, `/s/${id}`);
  await expect(page.getByText("Output per device").first()).toBeVisible();
  await page.getByRole("link", { name: "Open in serving" }).first().click();
  await expect(page).toHaveURL(/\/serving\?v=1&preset=qwen3-32b/);
  await expect(card(page, "TPOT")).toContainText("ms");
});
