// The site as a folder of files, below a path of a web server that knows nothing of it: every page
// opens and follows its address, what runs in the browser runs, and all of it without a connection.

import type { Page } from "@playwright/test";

import { card, choose, expect, gotoHydrated, numberBox, test, toStudy } from "../tests/helper";
import { findings } from "../tests/looks";

/** Pages with what stands on each, for an address that isn't the first one where they have one. */
const PAGES: [string, string][] = [
  ["?v=1&preset=llama-3-8b", "Llama 3 8B"],
  ["find?v=1&preset=qwen3-30b-a3b", "Fastest"],
  ["serving?v=1&preset=qwen3-30b-a3b", "Qwen3-30B-A3B"],
  ["budget?v=1&preset=llama-3-8b", "Llama 3 8B"],
  ["compare?a=v=1%26preset=llama-3-8b&b=v=1%26preset=glm-4.5", "GLM-4.5"],
  ["schedule?method=dualpipe", "DualPipe"],
  ["schedule/of?v=1&preset=pangu-ultra-moe-6k", "Interleaved"],
  ["trust?q=llama", "Llama"],
  ["presets?q=glm", "GLM-4.5"],
  ["tour/3/", "Step 3"],
  ["import", "Import a design"],
  ["learn", "Learn"],
  ["ladder", "41 % MFU"],
  ["guide", "Guide"],
  ["guide/find", "Find"],
  ["about", "About the numbers"],
];

/** Pages of what needs a server. */
const SERVED = ["sweep", "r/new", "share", "export", "calibrate", "settings", "needs-server"];

const SCRIPT = `torchrun pretrain_gpt.py --num-layers 8 --hidden-size 1024 \\
  --num-attention-heads 8 --ffn-hidden-size 4096 --vocab-size 1000 --seq-length 1024 \\
  --micro-batch-size 1 --global-batch-size 8 --tensor-model-parallel-size 2
`;

/** Opens a page, and waits until it shows what its address asks for. */
async function open(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator("html:not([data-following])").waitFor({ state: "attached" });
}

for (const [address, words] of PAGES) {
  test(`opens and follows its address, with nothing to mend for axe: ${address}`, async ({
    page,
  }) => {
    await open(page, address);
    await expect(page.getByText(words).filter({ visible: true }).first()).toBeVisible();
    if (address.startsWith("find?")) await page.locator("[data-state=over]").waitFor();
    expect(await findings(page)).toEqual([]);
  });
}

test("what needs a server says so", async ({ page }) => {
  for (const address of SERVED) {
    await open(page, address);
    await expect(page.getByRole("main")).toContainText("server", { ignoreCase: true });
  }
  await gotoHydrated(page, ".");
  await choose(page, "Share", "Export script, file, numbers");
  await expect(page.getByRole("dialog")).toContainText("these pages have none");
});

test("links lead into the folder, whoever made them", async ({ page, baseURL }) => {
  await gotoHydrated(page, "?v=1&preset=llama-3-8b");
  const batch = page.locator("[data-knob='training.micro_batch_size'] .number-box");
  await batch.fill("2");
  await expect(page).toHaveURL(/\/some\/path\/\?v=1&preset=llama-3-8b.*micro_batch_size=2/);
  const addresses = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], form[action]")].map((it) =>
      it instanceof HTMLFormElement ? it.action : (it as HTMLAnchorElement).href,
    ),
  );
  const outside = addresses.filter((it) => it.startsWith(new URL(baseURL ?? "").origin));
  expect(outside.filter((it) => !it.startsWith(baseURL ?? ""))).toEqual([]);
  const places = page.getByRole("navigation", { name: "Places" });
  await places.getByRole("link", { name: "Search" }).click();
  await expect(page).toHaveURL(/\/some\/path\/find\/\?v=1&preset=llama-3-8b/);
  await page.goBack();
  await expect(batch).toHaveValue("2");
});

test("knobs move, undo goes back, studies and palette are there", async ({ page }) => {
  await gotoHydrated(page, "?v=1&preset=pangu-ultra-moe-6k&tp=4");
  await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("4");
  const bubble = card(page, "Pipeline bubble");
  await expect(bubble).toContainText("formula 18.99 %");
  await numberBox(page, "Virtual stages (VPP)").fill("4");
  await expect(bubble).toContainText("formula 10.49 %");
  await expect(page).toHaveURL(/\/some\/path\/\?v=1.*virtual_pipeline_model_parallel_size=4/);
  await page.goBack();
  await expect(bubble).toContainText("formula 18.99 %");
  await toStudy(page, "sensitivity");
  const step = page.locator("[data-study=sensitivity] a[data-step]").first();
  await step.click();
  await expect(page).toHaveURL(/\/some\/path\/\?v=1/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("tp 8");
  await expect(page.locator('[aria-selected="true"]')).toContainText("Set TP to 8");
  await page.keyboard.press("Enter");
  await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("8");
});

test("a form leads to a search, which finds three designs", async ({ page }) => {
  await gotoHydrated(page, ".");
  const bar = page.getByRole("form", { name: "Find layouts" });
  await bar.getByLabel("Model").selectOption({ label: "Qwen3-30B-A3B" });
  await bar.getByLabel("Devices").fill("64");
  await bar.getByRole("button", { name: "Find layouts" }).click();
  await expect(page).toHaveURL(/find\/\?v=1&preset=qwen3-30b-a3b/);
  for (const name of ["Fastest", "Safest", "Simplest"]) {
    const found = page.getByRole("article", { name, exact: true });
    await expect(found.getByRole("link", { name: "Open in the explorer" })).toBeVisible();
  }
  const fastest = page.getByRole("article", { name: "Fastest", exact: true });
  await fastest.getByRole("link", { name: "Open in the explorer" }).click();
  await expect(page).toHaveURL(/\/some\/path\/\?v=1&preset=qwen3-30b-a3b/);
});

test("a launch script becomes a design, dropped anywhere", async ({ page }) => {
  await open(page, "import");
  await page.getByLabel("Or paste its text").fill(SCRIPT);
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Imported" })).toBeVisible();
  await page.getByRole("link", { name: "Open in the explorer" }).click();
  await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("2");
  const files = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "train.sh"));
    return transfer;
  }, SCRIPT.replace("parallel-size 2", "parallel-size 4"));
  await page.locator("html[data-hydrated]").waitFor({ state: "attached" });
  await page.locator("#results").dispatchEvent("drop", { dataTransfer: files });
  await expect(page.getByText("train.sh was read as")).toBeVisible();
  await page.getByRole("link", { name: "Open in the explorer" }).click();
  await expect(numberBox(page, "Tensor parallel (TP)")).toHaveValue("4");
});

test("a link with a mistake isn't taken for another design in silence", async ({ page }) => {
  await open(page, "?preset=nope");
  await expect(page.getByText("This link has an error")).toBeVisible();
});

test("language and theme are the browser's own choice", async ({ page, visit }) => {
  const chinese = await visit({ locale: "zh-CN" });
  await chinese.goto("serving?v=1&preset=qwen3-30b-a3b");
  await expect(chinese.getByRole("heading", { name: "推理服务" }).first()).toBeVisible();
  await gotoHydrated(page, ".");
  await choose(page, "More", "Switch between dark and light");
  await page.goto("guide");
  await expect(page.locator("html[data-theme=dark]")).toBeAttached();
});

test.describe("without a connection", () => {
  // Chromium writes it for the page that was asked for, whoever answers in the end.
  test.use({ expectedConsole: /ERR_INTERNET_DISCONNECTED/, serviceWorkers: "allow" });

  test("every page opens after the first visit of one", async ({ page, context }) => {
    await page.goto("about");
    await page.evaluate(async () => void (await navigator.serviceWorker.ready));
    await expect
      .poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null))
      .toBe(true);
    await context.setOffline(true);
    for (const [address, words] of PAGES) {
      await open(page, address);
      await expect(page.getByText(words).filter({ visible: true }).first()).toBeVisible();
    }
    await open(page, "import");
    await page.getByLabel("Or paste its text").fill(SCRIPT);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("link", { name: "Open in the explorer" }).click();
    await numberBox(page, "Tensor parallel (TP)").fill("1");
    await expect(page).toHaveURL(/tensor_model_parallel_size=1|preset=/);
  });
});
