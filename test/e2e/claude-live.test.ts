// jpg inside a running Claude Code: what it sends after a compaction and after an undo is jpg's view, it sends the same after
// `--resume`, and the session is imported as the same turns. Whatever is killed in between, the agent goes on and nothing is lost.
// @module-tag slow
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelRequest } from "../agents/acting-model.ts";
import { createLivePlace, type LiveOptions, type LivePlace, textOfRequest } from "../agents/claude-live.ts";
import { findAgent } from "../agents/drivers.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../helpers/corpus.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { tmuxMissing } from "../helpers/tmux.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(ROOT, "bin/jpg.js");
const heldJpg = [process.execPath, join(ROOT, "test/agents/held-jpg.mjs"), BIN, "live"];
const MODEL = "claude-sonnet-4-5";
const claude = agentsFolder === undefined ? null : findAgent("claude-code", agentsFolder);
const cannotRun = claude === null || tmuxMissing !== null;

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function makePlace(options: Partial<LiveOptions> = {}): Promise<LivePlace> {
  const place = await createLivePlace({ program: claude?.program ?? "", ...options });
  closers.push(() => place.close());
  return place;
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "jpg-held-"));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What jpg says that a model is shown of a session. */
async function viewOf(place: LivePlace): Promise<readonly string[]> {
  await place.jpg("import", "claude-code", place.session());
  const exported = JSON.parse(
    await place.jpg("export", "--to", "anthropic", "--messages", "--model", MODEL),
  ) as unknown;
  const messages = Array.isArray(exported) ? exported : (exported as { readonly messages: unknown }).messages;
  return textOfRequest({ messages: messages as ModelRequest["messages"] });
}

/** The request of the newest turn is the view without that turn's answer. */
async function expectSent(place: LivePlace, request: ModelRequest | undefined): Promise<void> {
  await expect.poll(() => viewOf(place)).toEqual([...textOfRequest(request), expect.any(String)]);
}

/** The compaction history, newest first: `compact`, `revert`, with a star where it is in force. */
async function history(place: LivePlace): Promise<readonly string[]> {
  const rows = JSON.parse(await place.jpg("log", "--json")) as readonly {
    kind: string;
    live: boolean;
    source: string;
  }[];
  return rows.map(({ kind, live, source }) => `${kind === "compaction" ? source : kind}${live ? "*" : ""}`);
}

async function forks(place: LivePlace): Promise<number> {
  const rows = JSON.parse(await place.jpg("ls", "--json")) as readonly { forks: number }[];
  return rows[0]?.forks ?? -1;
}

async function turns(place: LivePlace): Promise<number> {
  const rows = JSON.parse(await place.jpg("ls", "--json")) as readonly { turns: number }[];
  expect(rows).toHaveLength(1);
  return rows[0]?.turns ?? 0;
}

async function expectSound(place: LivePlace): Promise<void> {
  expect(await place.jpg("fsck")).toMatch(/^ *nothing wrong/);
}

const SKILL = "---\nname: tide\ndescription: about tides\n---\nMind the moon.\n";
const PROMPTS = ["read a.txt", "read picture.png", "run echo one", "read b.txt", "read a.txt", "say something"];

describe.skipIf(cannotRun)("jpg in a running Claude Code (real agent: needs JPG_AGENTS_DIR) (tmux)", () => {
  it("compacts twice and takes both back; what is sent is the view, also after a restart", async () => {
    const place = await makePlace({ files: { ".claude/skills/tide/SKILL.md": SKILL } });
    const session = await place.open();
    for (const prompt of PROMPTS.with(3, 'call Skill {"skill":"tide"}')) await session.prompt(prompt);
    await session.command("/compact");
    await session.shows(/Compacted by jpg/);
    const sent = await session.prompt("after the first");
    expect(textOfRequest(sent).join()).toContain("Mind the moon.");
    await expectSent(place, sent);
    expect([await history(place), await turns(place)]).toEqual([["manual*"], 7]);

    for (const prompt of ["read a.txt", "run echo two", "say more", "say even more"]) await session.prompt(prompt);
    await session.command("/jpg-compact");
    await session.shows(/\/compact \[jpg\] compact[\s\S]*Compacted by jpg/);
    await expectSent(place, await session.prompt("after the second"));
    expect([await history(place), await turns(place)]).toEqual([["manual*", "manual*"], 12]);

    await session.command("/jpg-undo");
    await session.shows(/Undone by jpg/);
    await expectSent(place, await session.prompt("after one undo"));
    expect(await history(place)).toEqual(["revert", "manual", "manual*"]);
    await session.command("/jpg-undo");
    await session.shows(/Undone by jpg[\s\S]*Undone by jpg/);
    const last = await session.prompt("after both");
    await expectSent(place, last);
    expect([await history(place), await turns(place)]).toEqual([["revert", "revert", "manual", "manual"], 14]);
    await session.quit();

    const before = place.model.requests.length;
    await place.print("--resume", basename(place.session(), ".jsonl"), "after a restart");
    const resumed = place.model.requests[before];
    expect(textOfRequest(resumed).slice(0, textOfRequest(last).length)).toEqual(textOfRequest(last));
    await expectSent(place, resumed);
    expect(await turns(place)).toBe(15);
    await expectSound(place);
  });

  it("compacts in the middle of a turn when the window is full, and the turn goes on", async () => {
    const files = Object.fromEntries([1, 2, 3].map((each) => [`big${each}.txt`, bigFile(each)]));
    const place = await makePlace({ files });
    const long = ["big1", "big2", "big3", "big1"].map((name) => `read ${name}.txt`).join("\n");
    await place.stream(["say something", long, "run echo one", "say more"], ["--autocompact", "100000"]);
    const { requests } = place.model;
    const at = requests.findIndex((request, index) => {
      const isSmaller =
        textOfRequest(request).join("").length < textOfRequest(requests[index - 1]).join("").length * 0.8;
      return index > 0 && isSmaller;
    });
    expect(at).toBeGreaterThan(0);
    expect(JSON.stringify(requests[at]?.messages.at(-1))).toContain("tool_result");
    expect(textOfRequest(requests[at]).join("\n")).toMatch(/\[compacted: \d+ characters left out\]/);
    expect(textOfRequest(requests.at(-1)).at(-1)).toBe("user: say more");
    await expectSent(place, requests.at(-1));
    expect([await turns(place), await forks(place)]).toEqual([4, 0]);
    expect(new Set(await history(place))).toEqual(new Set(["auto*"]));
    await expectSound(place);
  });

  it("takes a compaction back that the agent did not install: stopped by Esc, or killed meanwhile", async () => {
    const folder = makeFolder();
    const place = await makePlace({ jpg: heldJpg, env: { HELD_JPG: folder } });
    const isMade = (): boolean => existsSync(join(folder, "answer.json"));
    const first = await place.open();
    for (const prompt of PROMPTS) await first.prompt(prompt);
    await first.command("/compact");
    await expect.poll(isMade).toBe(true);
    expect(await history(place)).toEqual(["manual*"]);
    first.pane.type("Escape");
    await first.shows(/❯.\/compact[^\n]*\n─/);
    first.pane.type("C-u");
    // An answer may take so long to be installed.
    await sleep(10_000);
    await expectSent(place, await first.prompt("after Esc"));
    await expect.poll(() => history(place)).toEqual(["revert", "manual"]);

    rmSync(join(folder, "answer.json"));
    await first.command("/compact");
    await expect.poll(isMade).toBe(true);
    expect(await history(place)).toEqual(["manual*", "revert", "manual"]);
    first.kill();
    writeFileSync(join(folder, "go"), "");

    const second = await place.open("--resume", basename(place.session(), ".jsonl"));
    await second.command("/compact");
    await second.shows(/Compacted by jpg/);
    expect(await history(place)).toEqual(["manual*", "revert", "manual", "revert", "manual"]);
    await expectSent(place, await second.prompt("after the kill"));
    await second.quit();
    await expectSound(place);
  });

  it.each([400, 800, 1200, 60_000])(
    "compacts by itself where jpg is killed after %i ms, and nothing is lost",
    async (kill) => {
      const folder = makeFolder();
      writeFileSync(join(folder, "kill"), String(kill));
      const place = await makePlace({ jpg: heldJpg, env: { HELD_JPG: folder } });
      const session = await place.open();
      for (const prompt of PROMPTS) await session.prompt(prompt);
      await session.command("/compact");
      await session.shows(/compacts by\s+itself\./);
      await session.shows(/Compacted \(ctrl/);
      await session.prompt("after it");
      rmSync(join(folder, "kill"));
      writeFileSync(join(folder, "go"), "");
      await session.prompt("read a.txt");
      await session.command("/jpg-undo");
      await session.shows(/Undone by jpg/);
      const sent = await session.prompt("after the undo");
      await session.quit();
      expect(textOfRequest(sent)).toEqual(expect.arrayContaining(["user: run echo one", "user: result one"]));
      await expectSent(place, sent);
      await expectSound(place);
    },
  );

  it.skipIf(process.geteuid?.() !== 0)(
    "compacts by itself where the disk is full, and nothing is lost (as root)",
    async () => {
      const folder = makeFolder();
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]);
      closers.push(() => void execFileSync("umount", ["-l", folder]));
      const place = await makePlace({ env: { JPG_STORE: join(folder, "store") } });
      const session = await place.open();
      for (const prompt of PROMPTS) await session.prompt(prompt);
      await place.jpg("import", "claude-code", place.session());
      expect(() => writeFileSync(join(folder, "filler"), Buffer.alloc(16 * 1024 * 1024))).toThrow(/ENOSPC/);
      await session.command("/compact");
      await session.shows(/compacts by\s+itself\./);
      await session.shows(/Compacted \(ctrl/);
      await session.prompt("after it");
      await session.quit();
      rmSync(join(folder, "filler"));
      await place.jpg("import", "claude-code", place.session());
      expect(await history(place)).toEqual(["import*"]);
      await expectSound(place);
    },
  );

  it("keeps two sessions in one project apart", async () => {
    const place = await makePlace();
    const [one, two] = [await place.open(), await place.open()];
    for (const prompt of PROMPTS) {
      await one.prompt(prompt);
      await two.prompt(prompt);
    }
    await Promise.all([one.command("/compact"), two.command("/compact")]);
    await Promise.all([one.shows(/Compacted by jpg/), two.shows(/Compacted by jpg/)]);
    await one.prompt("after one");
    await one.quit();
    await expectSent(place, place.model.requests.at(-1));
    await two.prompt("after two");
    await two.quit();
    await expectSent(place, place.model.requests.at(-1));
    await expectSound(place);
  });
});

const COMPACTED = 10;

describe.skipIf(cannotRun || corpusMissing !== null)(
  "jpg in a running Claude Code that resumed a session of the corpus (real agent: needs JPG_AGENTS_DIR) (tmux)",
  () => {
    const files = listCorpus("claude-code").filter((file) => file.endsWith(".jsonl"));
    const step = Math.max(1, Math.floor(files.length / COMPACTED));
    const chosen = files.filter((_, index) => index % step === 0).slice(0, COMPACTED);

    it.each(chosen)("sends the view after a compaction, and the history after its undo: %s", async (file) => {
      const place = await makePlace();
      const id = place.place(readCorpusFile(file));
      const session = await place.open("--resume", id);
      await session.prompt("go on");
      await session.command("/jpg-compact");
      const seen = await session.shows(/Compacted by jpg|Not compacted/, 120_000);
      if (seen.includes("Compacted by jpg")) {
        await expectSent(place, await session.prompt("after the compaction"));
        await session.command("/jpg-undo");
        await session.shows(/Undone by jpg|Not compacted/, 120_000);
      }
      await expectSent(place, await session.prompt("at the end"));
      await session.quit();
      await expectSound(place);
    });
  },
);

function bigFile(number: number): string {
  return Array.from(
    { length: 1500 },
    (_, line) => `File ${number}, line ${line}: words of a register of the harbour`,
  ).join("\n");
}
