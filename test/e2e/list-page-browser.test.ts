// The list of conversations in a real browser, wide and as narrow as a telephone.
// @module-tag slow
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHROMIUM, severeFindings, useBrowser } from "../helpers/browser.ts";
import { answer, counted, meta, model, prompt, rolloutBytes } from "../helpers/codex-session.ts";

describe.skipIf(!existsSync(CHROMIUM))("the list of conversations (chromium)", () => {
  const { prepare, serve, show } = useBrowser();

  it.each([400, 1200])("shows agent, cost and share of the window, and fits %i pixels", async (width) => {
    const sandbox = await prepare(6);
    const long = `Which kelp grows ${"in_this_very_long_word_without_a_blank_".repeat(6)} here?`;
    const lines = [meta(), model("kelp-9-preview"), prompt(long), answer("Bull kelp."), counted(100)];
    await sandbox.jpg(["import", sandbox.session("rollout.jsonl", rolloutBytes(lines))]);
    await sandbox.jpg(["compact", sandbox.conversation, "--to", "3"]);
    const { page, complaints } = await show((await serve(sandbox)).address, { viewport: { width, height: 800 } });
    const row = page.getByRole("row", { name: /Measure the tide at the pier/ });
    expect(await row.locator(".agent").innerText()).toBe("claude");
    expect(await row.locator(".full").innerText()).toMatch(/^\d+%/);
    expect(await row.innerText()).toMatch(/\$0\.\d+/);
    const other = page.getByRole("row", { name: /Which kelp/ });
    expect(await other.locator(".agent").innerText()).toBe("codex");
    expect(await other.innerText()).not.toContain("$");
    // Neither the page nor the table within it is wider than what is seen.
    for (const part of ["html", ".table"])
      expect(await page.locator(part).evaluate((element) => element.scrollWidth - element.clientWidth), part).toBe(0);
    for (const cell of await page.locator(".list td:visible, .list th:visible").all()) {
      const box = await cell.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0), await cell.innerText()).toBeLessThanOrEqual(width);
    }
    expect(await severeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
