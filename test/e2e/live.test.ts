// `jpg live`: what a plug-in asks, and what becomes of the session that it runs in. The agent is played by test/helpers/live-agent.ts.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { playAgent, talkOn, viewedWords } from "../helpers/live-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

async function withSandbox(run: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const sandbox = createSandbox();
  try {
    await run(sandbox);
  } finally {
    sandbox.remove();
  }
}

const turnsOf = async (sandbox: Sandbox): Promise<number> =>
  (await sandbox.json<readonly { turns: number }[]>(["ls"]))[0]?.turns ?? 0;
const kindsOf = async (sandbox: Sandbox): Promise<readonly string[]> =>
  (await sandbox.json<readonly { kind: string }[]>(["log"])).map(({ kind }) => kind).reverse();

describe("a session that is compacted while it runs", () => {
  it(
    "is sent as jpg's view, worked on, compacted again, taken back, also the first one, and imported as the same",
    { tags: ["slow"] },
    () =>
      withSandbox(async (sandbox) => {
        const agent = playAgent(sandbox);
        talkOn(agent, 0, 6);
        const before = agent.sent();
        const first = await agent.ask("compact", { trigger: "asked", instructions: "default" });
        expect(first).toMatchObject({ done: "compact" });
        agent.install(first);
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        expect(agent.sent().join().length).toBeLessThan(before.join().length);
        talkOn(agent, 6, 12);
        const second = await agent.ask("compact", { trigger: "asked", instructions: "default" });
        agent.install(second);
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        expect(await turnsOf(sandbox)).toBe(12);
        const undone = await agent.ask("undo", { compaction: first.compaction });
        expect(undone).toMatchObject({ done: "undo", compaction: first.compaction });
        agent.install(undone);
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        agent.install(await agent.ask("undo"));
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        expect(agent.sent().filter((word) => before.includes(word))).toEqual(before);
        talkOn(agent, 12, 13);
        await agent.ask("keep");
        expect(await turnsOf(sandbox)).toBe(13);
        expect(await kindsOf(sandbox)).toEqual(["compaction", "compaction", "revert", "revert"]);
        agent.save();
        const [again] = await sandbox.json<readonly { status: string }[]>(["import", agent.file]);
        expect(again?.status).toBe("unchanged");
        expect((await sandbox.jpg(["fsck"])).code).toBe(0);
      }),
  );

  it("has what its agent compacted by itself taken back", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 4);
      const before = agent.sent();
      agent.compactItself("We measured the tide.");
      const status = await agent.ask("keep");
      expect(status.last).toMatchObject({ by: "agent" });
      expect(status.band?.[0]?.text).toContain("Claude Code compacted");
      agent.install(await agent.ask("undo"));
      expect(agent.sent()).toEqual(before);
      expect(agent.sent()).toEqual(await viewedWords(sandbox));
      expect(await kindsOf(sandbox)).toEqual(["compaction", "revert"]);
    }));

  it("takes back what the agent never installed, at the next request", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 6);
      const stopped = await agent.ask("compact", { trigger: "asked" });
      const marked = await agent.ask("compact", { trigger: "asked" });
      agent.mark(marked); // Esc after the mark: no boundary follows
      talkOn(agent, 6, 7);
      const made = await agent.ask("compact", { trigger: "asked" });
      agent.install(made);
      const rows = await sandbox.json<readonly { kind: string; compaction: string; live: boolean }[]>(["log"]);
      const live = rows.filter((row) => row.live).map(({ compaction }) => compaction);
      expect(live).toEqual([made.compaction]);
      expect(
        rows
          .filter(({ kind }) => kind === "revert")
          .map(({ compaction }) => compaction)
          .sort(),
      ).toEqual([stopped.compaction, marked.compaction].sort());
      expect(agent.sent()).toEqual(await viewedWords(sandbox));
    }));

  it("keeps the rows of the running turn in the middle of it", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 5);
      agent.prompt("And now the lighthouse");
      agent.think("the lighthouse");
      agent.tool("light");
      const own = agent.handles().slice(-4);
      const { messages = [] } = await agent.ask("compact", { trigger: "asked", in_loop: true });
      expect(messages.slice(-4).map(({ handle }) => handle)).toEqual([...own.slice(0, 3), undefined]);
      expect(messages.at(-1)?.toolResults).toEqual([expect.objectContaining({ text: "light", isError: false })]);
    }));

  it(
    "is one branch with one compaction each time that it is compacted in the middle of a turn, and goes on",
    { tags: ["slow"] },
    () =>
      withSandbox(async (sandbox) => {
        const agent = playAgent(sandbox);
        talkOn(agent, 0, 5);
        agent.prompt("Look at the gauges");
        for (const gauge of [1, 2, 3]) {
          agent.think(`gauge ${gauge}`);
          agent.tool(`gauge ${gauge}\n${"the tide is measured at the pier\n".repeat(200)}`);
          const given = await agent.ask("compact", { trigger: "auto", window: 100_000, in_loop: true });
          expect(given, JSON.stringify(given)).toMatchObject({ done: "compact" });
          agent.install(given, { inLoop: true });
          expect(agent.sent()).toEqual(await viewedWords(sandbox));
        }
        agent.say("The gauges are read.");
        talkOn(agent, 6, 7);
        await agent.ask("keep");
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        expect(await sandbox.json(["ls"])).toMatchObject([{ turns: 7, forks: 0 }]);
        expect(await kindsOf(sandbox)).toEqual(["compaction", "compaction", "compaction"]);
        agent.install(await agent.ask("undo"));
        expect(agent.sent()).toEqual(await viewedWords(sandbox));
        expect((await sandbox.jpg(["fsck"])).code).toBe(0);
      }),
  );
});

describe("what a compaction uses", () => {
  it("a profile that the instructions begin with", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 6);
      const { notice } = await agent.ask("compact", { trigger: "asked", instructions: "light the gauges" });
      expect(notice).toContain("reasoning stripped)");
    }));

  it("the user's own choice for automatic compaction", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 6);
      const env = { XDG_CONFIG_HOME: join(sandbox.home, "settings") };
      await sandbox.jpg(["config", "--user", "conversation.compaction.auto.profile", "light"], { env });
      agent.save();
      const request = { jpg: 1, do: "compact", agent: "claude-code", session: agent.session, transcript: agent.file };
      const input = `${JSON.stringify({ ...request, cwd: sandbox.project, trigger: "asked" })}\n`;
      const { stdout } = await sandbox.jpg(["live"], { input, env });
      expect(JSON.parse(stdout).notice).toContain("reasoning stripped)");
    }));

  it("goes on while too much of a full window is left, and passes when that is not enough", { tags: ["slow"] }, () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 12);
      const tight = await agent.ask("compact", { trigger: "auto", window: 4000 });
      expect(tight.done === "compact" ? tight.status?.context?.tokens : 0).toBeLessThanOrEqual(2400);
      expect(await kindsOf(sandbox)).not.toEqual([]);
    }),
  );

  it("passes on and leaves nothing in force when nothing reaches the size that is wanted", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 6);
      const answer = await agent.ask("compact", { trigger: "auto", window: 100 });
      expect(answer).toMatchObject({ code: "not_enough" });
      const rows = await sandbox.json<readonly { live: boolean }[]>(["log"]);
      expect(rows.filter(({ live }) => live)).toEqual([]);
    }));
});

describe("an answer in any case", () => {
  const lines = (...requests: readonly unknown[]): string =>
    requests.map((one) => `${typeof one === "string" ? one : JSON.stringify(one)}\n`).join("");

  it("one for each line, in order, with the id of its request", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 3);
      agent.save();
      const common = {
        jpg: 1,
        agent: "claude-code",
        session: agent.session,
        transcript: agent.file,
        cwd: sandbox.project,
      };
      const { stdout, code } = await sandbox.jpg(["live"], {
        input: lines(
          { ...common, do: "status", id: 1 },
          "no JSON",
          { ...common, do: "dance", id: 2 },
          { ...common, jpg: 2, do: "status" },
          { ...common, do: "find", query: "gauge 1", id: { own: "id" } },
          { ...common, do: "log", id: 5 },
        ),
      });
      const answers = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(code).toBe(0);
      expect(answers.map(({ id, done, code: why }) => [id, done ?? why])).toEqual([
        [1, "status"],
        [undefined, "bad_request"],
        [undefined, "bad_request"],
        [undefined, "other_protocol"],
        [{ own: "id" }, "find"],
        [5, "log"],
      ]);
      expect(answers[4].text).toContain("gauge 1");
    }));

  it("for a session without a request, a missing file, another agent's name and nothing to do", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      expect(await agent.ask("compact")).toMatchObject({ code: "empty_session" });
      expect(await agent.ask("keep", { transcript: join(sandbox.root, "gone.jsonl") })).toMatchObject({
        code: "no_such_file",
      });
      talkOn(agent, 0, 1);
      expect(await agent.ask("keep", { agent: "nobody" })).toMatchObject({ code: "unknown_format" });
      expect(await agent.ask("compact")).toMatchObject({ code: "nothing_to_compact" });
      expect(await agent.ask("undo")).toMatchObject({ code: "nothing_to_undo" });
      expect(await agent.ask("compact", { form: "edits", trigger: "asked", instructions: "light" })).toMatchObject({
        pass: expect.any(String),
      });
    }));

  it("for a store that cannot be written", { tags: ["slow"] }, () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      talkOn(agent, 0, 6);
      await agent.ask("keep");
      const before = await turnsOf(sandbox);
      const objects = join(sandbox.store, ".git", "objects");
      chmodSync(objects, 0o500);
      talkOn(agent, 6, 7);
      const answer = await agent.ask("compact", { trigger: "asked" });
      chmodSync(objects, 0o700);
      if (process.getuid?.() !== 0) expect(answer).toHaveProperty("pass");
      expect(await turnsOf(sandbox)).toBeGreaterThanOrEqual(before);
      expect((await sandbox.jpg(["fsck"])).code).toBe(0);
    }),
  );

  it("never with the user's secrets: an error names the file, not what is in it", () =>
    withSandbox(async (sandbox) => {
      const agent = playAgent(sandbox);
      agent.prompt("hello");
      agent.save();
      writeFileSync(agent.file, `${readFileSync(agent.file, "utf8")}{"type": sk-ant-${"0".repeat(40)}\n`);
      const request = { jpg: 1, do: "keep", agent: "claude-code", session: agent.session, transcript: agent.file };
      const { stdout, stderr } = await sandbox.jpg(["live"], { input: lines({ ...request, cwd: sandbox.project }) });
      expect(stdout + stderr).not.toContain("sk-ant-");
    }));
});
