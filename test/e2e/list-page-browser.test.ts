// The list of conversations in a real browser, wide and as narrow as a telephone.
// @module-tag slow
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHROMIUM, severeFindings, useBrowser } from "../helpers/browser.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { answer, counted, meta, model, prompt, rolloutBytes } from "../helpers/codex-session.ts";
import { createSandbox } from "../helpers/run-jpg.ts";

describe.skipIf(!existsSync(CHROMIUM))("the list of conversations (chromium)", () => {
  const { closeAfter, prepare, serve, show, showConversation } = useBrowser();

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

  it.each([400, 1200])(
    "shows what fills the window in %i pixels, with bars, whatever names are long",
    async (width) => {
      const sandbox = createSandbox();
      closeAfter({ close: sandbox.remove });
      const writer = createClaudeWriter();
      const tools = [`mcp__harbour__${"measure_the_tide_and_the_current_at_".repeat(4)}pier`, "Bash", "字".repeat(60)];
      writer.prompt("Measure.");
      writer.tools(tools.length);
      writer.say("Done.");
      let at = 0;
      const named = JSON.stringify(writer.lines).replace(/(?<="name":)"Bash"/g, () => JSON.stringify(tools[at++]));
      const session = sandbox.session("long.jsonl", sessionBytes(JSON.parse(named) as Json[]));
      const [report] = await sandbox.json<readonly { id: string }[]>(["import", session]);
      const name = report?.id ?? "";
      await sandbox.jpg(["fork", "@", `side-${"very-long-".repeat(15)}end`]);
      const { page, path, complaints } = await showConversation(sandbox, name, { viewport: { width, height: 800 } });
      await page.goto(`${path}/anatomy`);
      for (const tool of tools) await page.getByRole("rowheader", { name: `${tool}, 1 call` }).waitFor();
      expect(await page.locator("html").evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
      // The bars are there, and the longest is of the largest.
      const bars = page.locator(".anatomy .amount rect");
      expect(await bars.count()).toBeGreaterThan(6);
      for (const amount of await page.locator(".anatomy .amount svg").all()) {
        const box = await amount.boundingBox();
        expect(box?.width).toBeGreaterThan(30);
        expect(box?.height).toBeGreaterThan(3);
      }
      for (const table of await page.locator(".table").all())
        expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
      expect(await severeFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );
});
