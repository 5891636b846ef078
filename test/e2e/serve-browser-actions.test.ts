// What is done on served pages in a real browser: a compaction looked through and pinned by keyboard, comments, forks side by side.
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHROMIUM, isScripted, severeFindings, useBrowser } from "../helpers/browser.ts";

describe.skipIf(!existsSync(CHROMIUM))("acting on pages in a browser (chromium)", () => {
  const { prepare, showConversation } = useBrowser();

  async function show(width = 1000) {
    const sandbox = await prepare(6);
    const viewport = { width, height: 800 };
    return { sandbox, ...(await showConversation(sandbox, sandbox.conversation, { viewport })) };
  }

  it("goes through a compaction: unsaid facts, a lost one pinned by keyboard, its source, and the look without it", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, page, complaints, path } = await show();
    const input = 'Asked to "Measure the tide at the pier"; see docs/tide.md.';
    await sandbox.jpg(["compact", "--from", "0", "--to", "2", "--accept", "-", "--force"], { input });
    await page.goto(path);
    await page.getByRole("link", { name: "What the model saw and sees" }).click();
    expect(await page.locator(".summary-text mark").textContent()).toBe("docs/tide.md");
    expect(await severeFindings(page)).toEqual([]);
    const pin = page.getByRole("button", { name: "Pin" }).first();
    await pin.focus();
    await page.keyboard.press("Enter");
    await page.locator("#notices").getByText("Pinned").waitFor();
    expect(await page.locator(".pinned").count()).toBeGreaterThan(0);
    await page.locator(".checklist a").first().click();
    await page.locator(".row.hidden").first().waitFor();
    expect(page.url()).toMatch(/#event-/);
    // The look without it would ask for itself again, in the moment between taking it back and leaving the page.
    await page.route("**/state", () => undefined);
    await page.goto(path);
    await page.getByRole("link", { name: "Without it" }).click();
    await page.getByText("Nothing was changed.").waitFor();
    expect(await page.locator(".row.hidden").count()).toBe(0);
    expect(await severeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Undo it" }).click();
    await page.locator("#notices").getByText("Reverted").waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes comments and shows forks side by side at 400 px, with nothing serious to find", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, page, complaints, path } = await show(400);
    await sandbox.jpg(["fork", "@", "low", "--first", "4", "--no-activate"]);
    await page.goto(path);
    await page.getByLabel("Say something about turn").fill("1");
    await page.getByLabel("Words").fill("Was it <b>high</b>?");
    await page.getByRole("button", { name: "Comment" }).click();
    await page.locator("#notices > p:not(.told)").getByText("Comment").waitFor();
    expect(await page.locator(".comments .said").textContent()).toBe("Was it <b>high</b>?");
    expect(await page.locator("#turn-1 .remark .said").textContent()).toBe("Was it <b>high</b>?");
    await isScripted(page);
    await page.locator("#turn-4").getByText("Comment", { exact: true }).click();
    await page.getByLabel("On turn 4").fill("And low?");
    await page.getByRole("button", { name: "Say it" }).click();
    await page.locator("#turn-4:focus").waitFor();
    expect(await page.locator("#turn-4 .remark .said").textContent()).toBe("And low?");
    await page.locator("#notices .told").getByText("on 4.").waitFor();
    expect(await severeFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "side by side" }).click();
    await page.getByText("4 turns are the same on both").waitFor();
    expect(await page.locator("body").evaluate((body) => body.scrollWidth)).toBeLessThanOrEqual(400);
    expect(await severeFindings(page)).toEqual([]);
    await page.goto(`${path}/anatomy`);
    expect(await page.locator("body").evaluate((body) => body.scrollWidth)).toBeLessThanOrEqual(400);
    expect(await severeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
