// Pages of long conversations in a real browser: what is not there yet comes, is found, and is gone to; the timeline; code; and
// what strangers put into a conversation to break its page.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHROMIUM, isScripted, severeFindings, useBrowser } from "../helpers/browser.ts";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

/** Is packed in files. */
const LONG = `${"let a = 1; // 🌊 <b>&amp;\n".repeat(300)}"</script><img src=x onerror='window.hacked=1'>the end of it`;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe.skipIf(!existsSync(CHROMIUM))("long pages in a browser (chromium)", () => {
  const { closeAfter, prepare, show, showConversation } = useBrowser();

  /** A page of the sandbox's conversation; `after` = what follows its address. */
  async function serve(
    sandbox: Pick<Sandbox, "project" | "env">,
    name: string,
    { after = "", ...options }: Parameters<typeof show>[1] & { readonly after?: string } = {},
  ) {
    const shown = await showConversation(sandbox, name, options);
    await shown.page.goto(`${shown.path}${after}`);
    if (options.javaScriptEnabled !== false) await isScripted(shown.page);
    return shown;
  }

  /** A sandbox with a session of its own. */
  async function imported(write: (writer: ReturnType<typeof createClaudeWriter>) => void) {
    const sandbox = createSandbox();
    closeAfter({ close: sandbox.remove });
    const writer = createClaudeWriter();
    write(writer);
    const file = sandbox.session("own.jsonl", sessionBytes(writer.lines));
    const [report] = await sandbox.json<readonly { readonly id: string }[]>(["import", file]);
    return { sandbox, name: report?.id ?? "" };
  }

  it("bring turns as they come into sight, by mouse and by keyboard", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(120);
    const { page, path, complaints } = await serve(sandbox, sandbox.conversation, {
      viewport: { width: 900, height: 600 },
    });
    expect(await page.locator("#turn-0").count()).toBe(1);
    expect(await page.locator("#turn-90").count()).toBe(0);
    await page.locator(".gap").last().scrollIntoViewIfNeeded();
    await page.locator("#turn-119").waitFor({ state: "attached" });
    expect(await page.locator("#turn-60").count()).toBe(0);
    await page.goto(`${path}#turn-24`);
    await page.locator("#turn-24:focus").waitFor();
    await page.keyboard.press("j");
    await page.locator("#turn-25:focus").waitFor();
    await page.keyboard.press("k");
    await page.locator("#turn-24:focus").waitFor();
    expect(complaints).toEqual([]);
  });

  it("go to turns, events and compactions by their address, which may not be there yet", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await prepare(120);
    await sandbox.jpg(["compact", "--from", "50", "--to", "80", "--strategy", "strip-tools"]);
    const [{ compaction = "" } = {}] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    const { page, path, complaints } = await serve(sandbox, sandbox.conversation, { after: "#turn-97" });
    await page.locator("#turn-97:focus").waitFor();
    expect(await page.locator("#turn-97").evaluate((turn) => Math.abs(turn.getBoundingClientRect().top))).toBeLessThan(
      120,
    );
    const event = await page.locator("#turn-97 .row.result").getAttribute("id");
    for (const address of [`${path}#${event}`, `${path}?at=3#${event}`]) {
      await page.goto("about:blank");
      await page.goto(address);
      await page.locator(`[id="${event}"]:focus`).waitFor();
      expect(await page.locator(`[id="${event}"] details`).getAttribute("open")).not.toBeNull();
    }
    await page.goto(`${path}?at=60`);
    await isScripted(page);
    await page.locator("#turn-60 .row.changed a.compaction").first().click();
    await page.locator(`[id="compaction-${compaction}"]:focus`).waitFor();
    await page.locator(".lanes a").click();
    await page.locator(`[id="compaction-${compaction}"]:focus`).waitFor();
    await page.goto(`${path}#nowhere`);
    expect(complaints).toEqual([]);
  });

  it("find what is hidden, folded, or not there yet, by keyboard", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(120);
    await sandbox.jpg(["compact", "--from", "90", "--to", "100", "--accept", "-", "--force"], {
      input: "The gauge was read.",
    });
    const { page, complaints } = await serve(sandbox, sandbox.conversation);
    await page.getByText("what the model sees", { exact: true }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("water stood at 97");
    await page.keyboard.press("Enter");
    await page.locator("#found a").first().waitFor();
    expect(await page.locator("#found li").count()).toBe(1);
    expect(await severeFindings(page)).toEqual([]);
    await page.locator("#found a").press("Enter");
    await page.locator("#turn-97 .row.hidden:focus").waitFor();
    expect(await page.locator("#turn-97 .row.hidden:focus").isVisible()).toBe(true);
    expect(await page.locator("#side-both").isChecked()).toBe(true);
    // The browser's own find opens what is hidden until it is found; then all of it is shown.
    await page.getByText("what the model sees", { exact: true }).click();
    const hidden = page.locator("#turn-97 .row.hidden").first();
    expect(await hidden.getAttribute("hidden")).toBe("until-found");
    await hidden.evaluate((row) => row.dispatchEvent(new Event("beforematch", { bubbles: true })));
    expect(await hidden.isVisible()).toBe(true);
    await page.getByText("prompts only").click();
    expect(await page.locator("#turn-97 .row:visible").count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("show the timeline, and say what compacting a range of it would do", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(40);
    const { page, complaints } = await serve(sandbox, sandbox.conversation, { viewport: { width: 1000, height: 900 } });
    await page.locator("#timeline.drawn canvas").waitFor();
    const over = page.locator("#timeline .u-over");
    const box = await over.boundingBox();
    if (box === null) throw new Error("The timeline is not in sight.");
    const [y, at] = [box.y + 40, (share: number): number => box.x + box.width * share];
    await page.mouse.move(at(0.1), y);
    await page.mouse.down();
    await page.mouse.move(at(0.5), y, { steps: 4 });
    await page.mouse.up();
    await page.locator("#dry-run").getByText("It would do this").waitFor();
    const [from, to] = await Promise.all(
      ["from", "to"].map((name) => page.locator(`form input[name=${name}]`).inputValue()),
    );
    expect(await page.locator("#dry-run b").textContent()).toBe(`Turns ${from} to ${to}`);
    expect(Number(to)).toBeGreaterThan(Number(from) + 10);
    expect((await sandbox.jpg(["log"])).stdout).toBe("");
    await page.mouse.click(at(0.99), y);
    await page.locator("#turn-39:focus").waitFor();
    await page.locator("#timeline .plot").focus();
    await page.keyboard.press("Home");
    for (let step = 0; step < 5; step += 1) await page.keyboard.press("ArrowRight");
    await page.locator("#timeline .readout").getByText("turn 5 ").waitFor();
    for (let step = 0; step < 7; step += 1) await page.keyboard.press("Shift+ArrowRight");
    await page.locator("#dry-run").getByText("Turns 5 to 12").waitFor();
    await page.locator("#dry-run").getByText("It would do this").waitFor();
    // It is done and undone in place; whoever watches the store takes it in.
    const panel = page.locator("#dry-run");
    await panel.getByLabel("with").selectOption("light");
    await panel.getByText(/jpg compact \S+ --from 5 --to 12 --profile light/).waitFor();
    await panel.getByRole("button", { name: "Compact", exact: true }).press("Enter");
    await panel.getByText("Compacted: ").waitFor();
    await page.locator(".stack li.live").waitFor();
    expect(await sandbox.json(["log"])).toMatchObject([{ kind: "compaction", from_turn: 5, to_turn: 12, live: true }]);
    await panel.getByRole("button", { name: "Undo" }).press("Enter");
    await panel.getByText("Reverted ").waitFor();
    await page.locator(".stack li.live").waitFor({ state: "detached" });
    expect(await sandbox.json(["log"])).toMatchObject([{ kind: "revert" }, { kind: "compaction", live: false }]);
    expect(complaints).toEqual([]);
  });

  it("can be read without scripts, page by page", { tags: ["slow"] }, async () => {
    const sandbox = await prepare(120);
    const { page } = await serve(sandbox, sandbox.conversation, { javaScriptEnabled: false });
    await page.getByRole("link", { name: "Turns 25 to 49" }).click();
    await page.locator("#turn-25").waitFor();
    expect(await page.locator("#turn-0").count()).toBe(0);
    await page.getByRole("searchbox").fill("water stood at 97");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("link", { name: /turn 97/ }).click();
    await page.locator(".row:target").waitFor();
  });

  it("are one file without network: timeline, find, keys, colours and images", { tags: ["slow"] }, async () => {
    const { sandbox } = await imported((writer) => {
      for (let turn = 0; turn < 5; turn += 1) {
        writer.prompt(`Request ${turn}`);
        writer.think("thinking", "Looking.");
        writer.tools(2);
        writer.say(`\`\`\`ts\nconst water: number = ${turn}; // "</code><b>"\n\`\`\``);
      }
      const call = { type: "tool_use", id: "toolu_long", name: "Read", input: { file_path: "/home/sam/long.ts" } };
      const message = { id: "msg_long", type: "message", role: "assistant", model: "m", content: [call] };
      writer.node({ type: "assistant", message });
      const result = { type: "tool_result", tool_use_id: "toolu_long", content: LONG };
      writer.node({ type: "user", message: { role: "user", content: [result] } });
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } };
      writer.node({ type: "user", message: { role: "user", content: [{ type: "text", text: "See:" }, image] } });
      writer.say("A pixel.");
    });
    const file = join(sandbox.project, "page.html");
    await sandbox.jpg(["export", "--to", "html", "-o", file]);
    const { page, complaints, asked } = await show(`file://${file}`, { viewport: { width: 400, height: 800 } });
    await isScripted(page);
    await page.locator("#timeline.drawn canvas").waitFor();
    const code = page.locator("code[data-code=ts]").first();
    await code.scrollIntoViewIfNeeded();
    await code.locator(".hl-keyword").waitFor();
    expect(await code.textContent()).toBe('const water: number = 0; // "</code><b>"');
    await page.locator("#turn-5 img").scrollIntoViewIfNeeded();
    // Not waitForFunction: it evaluates in the page, which the page's policy forbids.
    await expect.poll(() => page.evaluate("document.querySelector('#turn-5 img')?.naturalWidth")).toBe(1);
    await page.keyboard.press("/");
    await page.keyboard.type("output of");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Close" }).waitFor();
    expect(await page.locator("#found li").count()).toBe(10);
    await page.locator("#found a").last().press("Enter");
    await page.locator("#turn-4 .row.result:focus details[open]").waitFor();
    await page.keyboard.press("/");
    await page.getByRole("searchbox").fill("the end of it");
    await page.keyboard.press("Enter");
    await page.locator("#found a", { hasText: "the end of it" }).press("Enter");
    await page.locator(".row.result:focus details[open]").waitFor();
    expect(await page.locator(".row.result:focus code").textContent()).toBe(LONG);
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    await page.keyboard.press("k");
    await page.locator("#turn-3:focus").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("next turn").waitFor();
    expect(await severeFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    expect(asked.filter((address) => !/^(?:file|data):/.test(address))).toEqual([]);
  });

  it("stay up, and safe, whatever strangers say", { tags: ["slow"] }, async () => {
    const long = `${"x".repeat(1_500_000)}<script>${"y".repeat(1_500_000)}`;
    const { sandbox, name } = await imported((writer) => {
      writer.prompt(
        `<img src=x onerror="window.hacked=1"> \u001b[31mred \u202ereversed [go](javascript:window.hacked=1)`,
      );
      writer.think(
        "<svg onload=window.hacked=1>",
        "[f](file:///etc/passwd) <svg><script>window.hacked=1</script></svg>",
      );
      writer.say(long);
      writer.tools(1500);
      writer.say(
        '```html\n</code></pre><script>window.hacked=1</script>\n```\n<iframe srcdoc="<script>parent.hacked=1</script>">',
      );
      writer.prompt("after");
    });
    const { page, path, complaints } = await serve(sandbox, name);
    expect(await page.locator("#turn-0 .row").count()).toBeLessThan(300);
    await page.goto(`${path}#turn-1`);
    await page.locator("#turn-1:focus").waitFor();
    const size = await page.evaluate<number>("document.documentElement.innerHTML.length");
    expect(size).toBeLessThan(2_000_000);
    await page.locator('code[data-code="html"]').first().scrollIntoViewIfNeeded();
    const links = await page
      .locator("#turns a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    expect(links.filter((link) => /^\s*(?:javascript|file|data):/i.test(link))).toEqual([]);
    expect(await page.locator("#turns :is(script, iframe, svg, object, embed)").count()).toBe(0);
    expect(await page.locator("#turn-0").textContent()).not.toMatch(/[\u001b\u202e]/);
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(complaints).toEqual([]);
    await page.getByRole("link", { name: "the whole text" }).first().click();
    await page.waitForLoadState();
    expect(await page.evaluate("[document.contentType, 'hacked' in window]")).toEqual(["text/plain", false]);
  });
});
