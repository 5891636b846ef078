// What is done on served pages in a real browser: a compaction looked through and pinned by keyboard, comments, forks side by side.
import { existsSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { servePagesOf } from "../helpers/served-pages.ts";

const CHROMIUM = "/usr/bin/chromium";
/** Without these it tries to reach hosts of its makers. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

describe.skipIf(!existsSync(CHROMIUM))("acting on pages in a browser (chromium)", () => {
  let browser: Browser;
  const open: { close(): Promise<void> | void }[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  afterAll(() => browser.close());

  async function show(width = 1000) {
    const sandbox: ImportedSandbox = await copyImportedSandbox(6);
    open.push({ close: sandbox.remove });
    const pages = await servePagesOf(sandbox, { enter: false });
    open.push(pages);
    const context = await browser.newContext({ viewport: { width, height: 800 } });
    open.push(context);
    const page: Page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(pages.address);
    return {
      sandbox,
      page,
      complaints,
      path: `${pages.origin}/c/${encodeURIComponent(`${sandbox.conversation}/main`)}`,
    };
  }

  const severe = async (page: Page): Promise<readonly string[]> => {
    const { violations } = await new AxeBuilder({ page }).analyze();
    return violations.flatMap(({ id, impact, nodes }) =>
      impact === "serious" || impact === "critical" ? [`${id}: ${nodes[0]?.html}`] : [],
    );
  };

  it("goes through a compaction: unsaid facts, a lost one pinned by keyboard, its source, and the look without it", async () => {
    const { sandbox, page, complaints, path } = await show();
    const input = 'Asked to "Measure the tide at the pier"; see docs/tide.md.';
    await sandbox.jpg(["compact", "--from", "0", "--to", "2", "--accept", "-", "--force"], { input });
    await page.goto(path);
    await page.getByRole("link", { name: "What the model saw and sees" }).click();
    expect(await page.locator(".summary-text mark").textContent()).toBe("docs/tide.md");
    expect(await severe(page)).toEqual([]);
    const pin = page.getByRole("button", { name: "Pin" }).first();
    await pin.focus();
    await page.keyboard.press("Enter");
    await page.locator("#notices").getByText("Pinned").waitFor();
    expect(await page.locator(".pinned").count()).toBeGreaterThan(0);
    await page.locator(".checklist a").first().click();
    await page.locator(".row.hidden").first().waitFor();
    expect(page.url()).toMatch(/#event-/);
    await page.goto(path);
    await page.getByRole("link", { name: "Without it" }).click();
    await page.getByText("Nothing was changed.").waitFor();
    expect(await page.locator(".row.hidden").count()).toBe(0);
    expect(await severe(page)).toEqual([]);
    await page.getByRole("button", { name: "Take it back" }).click();
    await page.locator("#notices").getByText("Took back").waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes comments and shows forks side by side at 400 px, with nothing serious to find", async () => {
    const { sandbox, page, complaints, path } = await show(400);
    await sandbox.jpg(["fork", "@", "low", "--first", "4", "--no-activate"]);
    await page.goto(path);
    await page.getByLabel("Say something about turn").fill("1");
    await page.getByLabel("Words").fill("Was it <b>high</b>?");
    await page.getByRole("button", { name: "Comment" }).click();
    await page.locator("#notices > p:not(.told)").getByText("Comment").waitFor();
    expect(await page.locator(".comments .said").textContent()).toBe("Was it <b>high</b>?");
    expect(await page.locator("#turn-1 .remark .said").textContent()).toBe("Was it <b>high</b>?");
    await page.locator("html.scripted").waitFor({ state: "attached" });
    await page.locator("#turn-4").getByText("Comment", { exact: true }).click();
    await page.getByLabel("On turn 4").fill("And low?");
    await page.getByRole("button", { name: "Say it" }).click();
    await page.locator("#turn-4:focus").waitFor();
    expect(await page.locator("#turn-4 .remark .said").textContent()).toBe("And low?");
    await page.locator("#notices .told").getByText("on 4.").waitFor();
    expect(await severe(page)).toEqual([]);
    await page.getByRole("link", { name: "side by side" }).click();
    await page.getByText("4 turns are the same on both").waitFor();
    expect(await page.locator("body").evaluate((body) => body.scrollWidth)).toBeLessThanOrEqual(400);
    expect(await severe(page)).toEqual([]);
    await page.goto(`${path}/anatomy`);
    expect(await page.locator("body").evaluate((body) => body.scrollWidth)).toBeLessThanOrEqual(400);
    expect(await severe(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
