// The pages in a real browser: served and as a file, by mouse and by keyboard, wide and narrow, and what a checker of
// accessibility says of them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHROMIUM, isScripted, severeFindings, useBrowser } from "../helpers/browser.ts";

describe.skipIf(!existsSync(CHROMIUM))("pages in a browser (chromium)", () => {
  const { prepare, serve, show } = useBrowser();

  it("compact, show the difference, and take it back, by mouse", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(6);
    const { page, complaints } = await show((await serve(sandbox)).address);
    expect(new URL(page.url()).search).toBe("");
    await page.getByRole("link", { name: "Measure the tide at the pier", exact: true }).click();
    await page.getByText("Change it").click();
    await page.getByRole("button", { name: "What would it do?" }).click();
    await page.locator("#notices").getByText("It would do this").waitFor();
    await page.getByText("Change it").click();
    await page.getByRole("button", { name: "Compact", exact: true }).click();
    await page.locator("#notices").getByText("Compacted").waitFor();
    const hidden = page.locator(".row.hidden").first();
    expect(await hidden.isVisible()).toBe(true);
    await page.getByText("what the model sees", { exact: true }).click();
    expect(await hidden.isVisible()).toBe(false);
    await page.getByText("what was said", { exact: true }).click();
    expect(await hidden.isVisible()).toBe(true);
    await page.getByText("prompts only").click();
    expect(await hidden.isVisible()).toBe(false);
    await page.getByText("prompts only").click();
    await page.getByRole("link", { name: "What the model saw and sees" }).click();
    expect(await page.locator("del").count()).toBeGreaterThan(0);
    await page.goBack();
    await page.getByRole("button", { name: "Undo it" }).click();
    await page.locator("#notices").getByText("Reverted").waitFor();
    expect(await page.locator(".row.hidden").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("go to turns and changes by keys, and open what is folded", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(12);
    await sandbox.jpg(["compact", "--to", "8"]);
    const { page } = await show((await serve(sandbox)).address, { viewport: { width: 1000, height: 500 } });
    await page.keyboard.press("/");
    await page.keyboard.type("tide");
    await page.keyboard.press("Enter");
    await page.waitForURL(/words=tide/);
    await page.getByRole("link", { name: "Measure the tide at the pier", exact: true }).press("Enter");
    await page.locator("#turn-0").waitFor();
    // Keys count once the page's script has run.
    await isScripted(page);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.locator("#turn-1:focus").waitFor();
    await page.keyboard.press("k");
    await page.locator("#turn-0:focus").waitFor();
    await page.keyboard.press("o");
    expect(await page.locator("#turn-0 .row details:not([open])").count()).toBe(0);
    await page.keyboard.press("o");
    expect(await page.locator("#turn-0 .row details[open]").count()).toBe(0);
    await page.keyboard.press("]");
    await page.locator(".row:is(.hidden, .changed):focus").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("next turn").waitFor();
  });

  it("tell when the conversation changes under them, and when the server ends", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(2);
    const pages = await serve(sandbox);
    const { page } = await show(pages.address, { isHastened: true });
    await page.getByRole("link", { name: "Measure the tide at the pier", exact: true }).click();
    await isScripted(page);
    await sandbox.jpg(["title", "@", "Another"]);
    await page.getByRole("heading", { name: "Another" }).waitFor();
    // A page that does not take in what changed says so: it knows how it was once it has asked.
    const asked = page.waitForResponse((response) => response.url().endsWith("/state"));
    await page.goto(`${pages.origin}/`);
    await asked;
    await sandbox.jpg(["title", "@", "A third"]);
    await page.getByRole("link", { name: "Show it as it is now" }).click();
    await page.getByRole("link", { name: "A third" }).waitFor();
    await isScripted(page);
    await pages.close();
    await page.getByText("jpg serve has ended").waitFor();
  });

  it("work as a file, dark and 400 px wide, without asking for anything", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(6);
    await sandbox.jpg(["compact"]);
    const file = join(sandbox.project, "page.html");
    await sandbox.jpg(["export", "--to", "html", "-o", file]);
    const options = { viewport: { width: 400, height: 800 }, colorScheme: "dark", javaScriptEnabled: false } as const;
    const { page, complaints } = await show(`file://${file}#turn-3`, options);
    expect(await page.locator("#turn-3 h2").isVisible()).toBe(true);
    const width = await page.locator("body").evaluate((body) => body.scrollWidth);
    expect(width).toBeLessThanOrEqual(400);
    await page.getByText("what the model sees", { exact: true }).click();
    expect(await page.locator(".row.hidden").first().isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("have nothing that a checker of accessibility finds serious, light or dark", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(6);
    await sandbox.jpg(["compact"]);
    const { page } = await show((await serve(sandbox)).address);
    expect(await severeFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "Measure the tide at the pier", exact: true }).click();
    expect(await severeFindings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByText("Change it").click();
    expect(await severeFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "What the model saw and sees" }).click();
    expect(await severeFindings(page)).toEqual([]);
  });
});
