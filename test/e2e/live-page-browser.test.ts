// Served pages that stay open, in a real browser: commands to copy, what comes in while they are read, and what is said when
// something is gone.
import { existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CHROMIUM, isScripted, severeFindings, useBrowser } from "../helpers/browser.ts";
import { smallSession } from "../helpers/run-jpg.ts";

describe.skipIf(!existsSync(CHROMIUM))("pages that stay open in a browser (chromium)", () => {
  const { prepare, showConversation } = useBrowser();

  /** A conversation of some turns, its page opened once the page's script has run. */
  async function show(turns: number, options: Parameters<typeof showConversation>[2] = {}) {
    const sandbox = await prepare(turns);
    const shown = await showConversation(sandbox, sandbox.conversation, { ...options, isHastened: true });
    const visit = async (address: string): Promise<void> => {
      await shown.page.goto(address);
      await isScripted(shown.page);
    };
    await visit(shown.path);
    return { sandbox, visit, ...shown };
  }

  it("have the command of each form as it is filled in, and copy it, by keyboard too", { tags: ["slow"] }, async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const { sandbox, page, complaints } = await show(6, { permissions });
    const clipboard = (): Promise<string> => page.evaluate("navigator.clipboard.readText()") as Promise<string>;
    await page.getByText("Change it").click();
    const compact = page.locator('form[action$="/compact"]');
    await compact.getByLabel("to", { exact: true }).fill("1");
    await compact.getByLabel("with").selectOption("light");
    const button = compact.getByRole("button", { name: "Copy the command" });
    await button.focus();
    await page.keyboard.press("Enter");
    await page.locator("#notices").getByText("Copied: jpg compact").waitFor();
    const command = `jpg compact ${sandbox.conversation}/main --from 0 --to 1 --profile light`;
    expect(await clipboard()).toBe(command);
    const title = page.locator('form[action$="/title"]');
    await title.getByLabel("Title").fill("It's low & dry");
    await title.getByRole("button", { name: "Copy the command" }).click();
    expect(await clipboard()).toBe(`jpg title ${sandbox.conversation}/main 'It'\\''s low & dry'`);
    expect(await page.locator('form[action$="/pin"] code').allTextContents()).toEqual([
      `jpg pin ${sandbox.conversation}/main TURN`,
      `jpg pin ${sandbox.conversation}/main TURN --remove`,
    ]);
    expect(await severeFindings(page)).toEqual([]);
    // What was copied does what the form would.
    const done = await sandbox.jpg(command.split(" ").slice(1));
    expect(done).toMatchObject({ code: 0 });
    await compact.getByLabel("with").selectOption("extract");
    expect(await compact.locator("code").textContent()).toMatch(/--profile heavy --model extractive$/);
    expect(complaints).toEqual([]);
  });

  it("take in turns and compactions while they are read, and keep what is open, written and in sight", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, page, complaints } = await show(30, { viewport: { width: 900, height: 600 } });
    await page.getByText("Change it").click();
    await page.locator('form[action$="/title"]').getByLabel("Title").fill("Half a tit");
    await page.getByLabel("Words").fill("Half a comment");
    await page.locator("#turn-12 summary").first().click();
    await page.locator("#turn-12").evaluate((turn) => turn.scrollIntoView({ block: "start" }));
    const top = () => page.locator("#turn-12 h2").evaluate((heading) => heading.getBoundingClientRect().top);
    const before = await top();
    await sandbox.jpg(["compact", "--to", "15"]);
    await page.locator("#notices").getByText("compactions changed").waitFor();
    expect(await page.locator("#turn-2 .row:is(.hidden, .changed)").count()).toBeGreaterThan(0);
    expect(await page.locator(".stack li").count()).toBe(1);
    expect(await page.locator(".sizes").textContent()).toContain("1 compaction");
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
    expect(await page.locator("#turn-12 details[open]").count()).toBe(1);
    expect(await page.getByLabel("Words").inputValue()).toBe("Half a comment");
    await sandbox.jpg(["import", sandbox.session("small.jsonl", smallSession({ turns: 32 }))]);
    await page.locator("#notices").getByText("2 turns came in").waitFor();
    expect(Math.abs((await top()) - before)).toBeLessThan(3);
    expect(await page.locator("#timeline .u-over").count()).toBe(1);
    expect(await page.locator('form[action$="/title"]').getByLabel("Title").inputValue()).toBe("Half a tit");
    expect(await page.locator('form[action$="/compact"]').getByLabel("to", { exact: true }).getAttribute("max")).toBe(
      "31",
    );
    await page.locator("#turns > :last-child").scrollIntoViewIfNeeded();
    await page.locator("#turn-31").waitFor();
    expect(await severeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("say in words what is gone: a compaction taken back elsewhere, the conversation, the store", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, page, path, visit } = await show(6);
    const notices = page.locator("#notices");
    await sandbox.jpg(["compact", "--to", "2"]);
    await notices.getByText("compactions changed").waitFor();
    const [row] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    // Taken back in a terminal, and once more on the page that does not know of it yet.
    await page.route("**/state", () => undefined);
    await visit(`${path}/compaction/${row?.compaction}`);
    await sandbox.jpg(["revert", row?.compaction ?? ""]);
    await page.getByRole("button", { name: "Undo it" }).click();
    await page.getByText("reverted it").first().waitFor();
    await page.unroute("**/state");
    await visit(path);
    // Two tabs: what one does comes into the other, and a form that is half written there stays.
    const other = await page.context().newPage();
    await other.goto(path);
    await page.getByLabel("Words").fill("Half a comment");
    await other.getByText("Change it").click();
    await other.locator('form[action$="/title"]').getByLabel("Title").fill("Two tabs");
    await other.getByRole("button", { name: "Set" }).click();
    await page.getByRole("heading", { name: "Two tabs" }).waitFor();
    expect(await page.getByLabel("Words").inputValue()).toBe("Half a comment");
    await sandbox.jpg(["rm", sandbox.conversation]);
    await notices.getByText("This conversation is gone").waitFor();
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByText("Half a comment").waitFor();
    await page.goBack();
    rmSync(sandbox.store, { recursive: true });
    await notices.getByText("can no longer be read").waitFor();
  });
});
