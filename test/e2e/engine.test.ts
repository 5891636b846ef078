// @module-tag slow
// The compaction engine as a user runs it, on the bundled sample session: strategies, pins, blame, pointers, batches,
// summaries, and what is refused. One session is imported once; every test works on a fork of its own.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { SHORT_COMMIT } from "../helpers/name-beginning.ts";
import { expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, type Sandbox, storeState } from "../helpers/run-jpg.ts";

const SAMPLE = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));
/** A turn with reads, edits, a search and a write; the keep_last of 3 does not reach it. */
const TURN = 18;
/** Processes of one test, on a busy machine, milliseconds. */
const SLOW = 300_000;

interface StoredEvent {
  readonly type: string;
  readonly id: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly content?: string;
}

interface BlameRow {
  readonly event: string;
  readonly state: string;
  readonly action?: string;
  readonly by?: { readonly compaction: string; readonly author: string; readonly commit: string };
  readonly sees?: string;
}

let sandbox: Sandbox;
let conversation = "";
let events: readonly StoredEvent[] = [];

beforeAll(async () => {
  sandbox = createSandbox();
  const [report] = await sandbox.json<Json[]>(["import", SAMPLE]);
  conversation = String(report?.["id"]);
  // The agent's own summary hides the first turns; without it all are in view.
  await sandbox.jpg(["undo"]);
  events = await sandbox.json<StoredEvent[]>(["print", "--turn", String(TURN)]);
}, SLOW);
afterAll(() => sandbox.remove());

/** Makes a fork for one test, makes it active and gives its branch. */
async function onFork(name: string): Promise<string> {
  await sandbox.jpg(["use", `${conversation}/main`]);
  return String((await sandbox.json(["fork", "@", name]))["branch"]);
}

const tip = (branch: string): string => sandbox.git(["rev-parse", branch]);
const blame = async (what: string): Promise<readonly BlameRow[]> =>
  (await sandbox.json<{ rows: readonly BlameRow[] }>(["blame", what])).rows;
const states = async (what: string): Promise<readonly string[]> => [
  ...new Set((await blame(what)).map(({ state }) => state)),
];

/** A result of the turn and the call that it answers. */
function pairOf(tool: string): { readonly request: StoredEvent; readonly response: StoredEvent } {
  const request = events.find(({ type, name }) => type === "tool_call_request" && name === tool);
  const response = events.find(({ type, call_id }) => type === "tool_call_response" && call_id === request?.call_id);
  if (request === undefined || response === undefined) throw new Error(`turn ${TURN} of the sample has no ${tool}`);
  return { request, response };
}

describe("a pin", () => {
  it(
    "survives a profile, strategies, a summary and a fork that leaves its turn out",
    async () => {
      await onFork("pinned");
      const { request, response } = pairOf("Grep");
      expect(await sandbox.json(["pin", "1"])).toMatchObject({ pin: { turn: 1 }, warnings: [] });
      // A call and its result go together, and a unique beginning names an event.
      const pinned = await sandbox.json(["pin", `${TURN}:${response.id.slice(0, 13)}`]);
      expect(new Set(pinned["events"] as string[])).toEqual(new Set([request.id, response.id]));
      const text = sandbox.session("short.txt", "They made the loader stream.");
      for (const args of [
        ["compact"],
        ["compact", "-s", "strip-tools", "-s", "strip-reasoning", "--keep", "0"],
        ["compact", "--accept", text, "--from", "0", "--to", "20"],
      ]) {
        const report = await sandbox.json(args);
        expect(report["commit"], args.join(" ")).toEqual(expect.any(String));
        expect(await states("1"), args.join(" ")).toEqual(["shown"]);
        expect(await states(`${TURN}:${response.id}`), args.join(" ")).toEqual(["shown"]);
        expect((report["receipt"] as { facts: Json }).facts["pins"]).toMatchObject({ hidden: 0 });
        await sandbox.jpg(["undo"]);
      }
      await sandbox.json(["fork", "@", "newest", "--last", "2"]);
      expect(await states("2")).toEqual(["hidden"]);
      expect(await states("1")).toEqual(["shown"]);
      expect(await sandbox.json(["pin"])).toMatchObject([{ turn: 1, compacted: 0 }, { turn: TURN }]);
    },
    SLOW,
  );

  it("says what may be pinned, where a word is neither that nor a conversation", async () => {
    await onFork("less");
    for (const [args, last] of [
      [["pin", "tomorrow"], 'No conversation is called "tomorrow" either; `jpg ls` lists them.'],
      [["pin", "@", "tomorrow"], "-3        three turns before the last"],
    ] as const) {
      const { code, stderr } = await sandbox.jpg([...args]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: "tomorrow" is not a turn: expected a turn's number, or an event of a turn\.\n/);
      expect(stderr.trimEnd().split("\n").at(-1)).toBe(`hint: ${last}`);
    }
    const { stderr } = await sandbox.jpg(["pin", "yesterday"]);
    expect(stderr).toContain('"yesterday" is not a turn: ');
  });

  it(
    "is listed, taken back, and says what was compacted before it was made",
    async () => {
      const branch = await onFork("unpinned");
      expect((await sandbox.jpg(["pin"])).stderr).toMatch(/^Nothing is pinned\./);
      await sandbox.jpg(["compact"]);
      const late = await sandbox.jpg(["pin", "0"]);
      expect(late.stderr).toMatch(/\d+ of its \d+ events are compacted already: `jpg blame 0` says by what/);
      const before = tip(branch);
      expect(await sandbox.json(["pin", "0"])).toMatchObject({ commit: null });
      expect(tip(branch)).toBe(before);
      expect((await sandbox.jpg(["pin", "0", "--remove"])).stdout).toMatch(/^Unpinned 0 \(/);
      await expectRefusal(sandbox, ["pin", "0", "--remove"], { code: "not_pinned", exit: 2, says: /0 is not pinned/ });
      await expectRefusal(sandbox, ["pin", "99"], { code: "unknown_turn", exit: 2, says: /0\.\.25/ });
    },
    SLOW,
  );

  it(
    "says of one event, and of all events of a turn, that they are compacted already",
    async () => {
      await onFork("hidden");
      await sandbox.jpg(["compact", "--profile", "heavy", "--model", "extractive"]);
      const turn = await sandbox.jpg(["pin", "1"]);
      expect(turn.stderr).toMatch(/All of its \d+ events are compacted already: `jpg blame 1`/);
      const request = events.find(({ type }) => type === "chat_request");
      const event = await sandbox.jpg(["pin", `${TURN}:${request?.id}`]);
      expect(event.stderr).toMatch(/Its event is compacted already: `jpg blame /);
    },
    SLOW,
  );
});

describe("blame", () => {
  it(
    "says who decides over an event, and what the model sees instead; also of turns counted from the end",
    async () => {
      await onFork("blamed");
      expect(await blame("-7")).toEqual((await blame(String(TURN))).map((row) => ({ ...row, state: "shown" })));
      const { response } = pairOf("Grep");
      const made = await sandbox.json(["compact"]);
      const [row] = await blame(response.id);
      expect(row).toMatchObject({
        event: response.id,
        state: "changed",
        action: "stripped",
        by: { compaction: made["compaction"], commit: made["commit"], author: "Ada Test" },
        sees: "[compacted] Grep: success",
      });
      const text = (await sandbox.jpg(["blame", `${TURN}:${response.id}`])).stdout;
      expect(text).toContain(
        `\`jpg revert ${String(made["compaction"])}\` undoes it; the event is then shown as it is.`,
      );
      const whole = (await sandbox.jpg(["blame", String(TURN)])).stdout;
      expect(whole.trimEnd().split("\n").slice(-3)).toEqual([
        expect.stringMatching(new RegExp(`^${SHORT_COMMIT} compact 0\\.\\.22: reasoning \\+ tools stripped`)),
        "",
        "`jpg blame EVENT` shows what the model sees in place of one event.",
      ]);
      await sandbox.jpg(["undo"]);
      expect(await states(String(TURN))).toEqual(["shown"]);
    },
    SLOW,
  );
});

describe("strategies", () => {
  it(
    "make one compaction with its report, its receipts and its pointers, and reverting it gives the view back",
    async () => {
      const branch = await onFork("strategies");
      const before = (await sandbox.jpg(["export", "--to", "jsonl"])).stdout;
      const names = ["strip-reasoning", "dedup-tools", "strip-tool-results"];
      const flags = names.flatMap((name) => ["-s", name]);
      const dry = await sandbox.json(["compact", ...flags, "--pointers", "--first-line", "--dry-run"]);
      const made = await sandbox.json(["compact", ...flags, "--pointers", "--first-line"]);
      expect(dry).toMatchObject({ dry_run: true, commit: null, tokens: made["tokens"], report: made["report"] });
      expect(sandbox.git(["rev-list", "--count", `${conversation}/main..${branch}`])).toBe("1");
      const { report, tokens } = made as { report: Json; tokens: { before: number; after: number } };
      expect(report).toMatchObject({ estimated_tokens_saved: tokens.before - tokens.after });
      const steps = report["steps"] as readonly { strategy: string; events_removed: number }[];
      expect(steps.map(({ strategy }) => strategy)).toEqual([...names, "index"]);
      expect(steps.reduce((sum, step) => sum + step.events_removed, 0)).toBe(report["events_removed"]);
      expect(made).toMatchObject({
        tokens_source: "estimate",
        receipt: { facts: { files: { total: expect.any(Number) as number } } },
        cache: {
          prefix_kept: expect.any(Number) as number,
          rewritten: expect.any(Number) as number,
          saved_per_call: expect.any(Number) as number,
          break_even_calls: expect.any(Number) as number,
        },
      });

      // Rounded by itself.
      const { saved_per_call: saved } = made["cache"] as { saved_per_call: number };
      expect(Math.abs(saved - (tokens.before - tokens.after))).toBeLessThanOrEqual(1);

      const { response } = pairOf("Grep");
      const [row] = await blame(response.id);
      const [, pointer = ""] = /^\[compacted\] Grep: success · (\S+)$/m.exec(row?.sees ?? "") ?? [];
      expect(row?.sees?.split("\n")[1]).toBe(response.content?.split("\n")[0]);
      expect(await sandbox.json(["show", pointer])).toMatchObject({
        event: { id: response.id, content: response.content },
        state: "changed",
        compaction: made["compaction"],
      });
      expect((await sandbox.jpg(["diff", "--stat"])).stdout).toMatch(
        /^ {4}\d+ facts?(, none of them| (is|are)) hidden/m,
      );
      expect((await sandbox.jpg(["show", String(made["compaction"]), "--full"])).stdout).toContain("Loss receipt:");

      const undone = await sandbox.json(["undo"]);
      expect(undone).toMatchObject({ tokens: { before: tokens.after, after: tokens.before } });
      expect((await sandbox.jpg(["export", "--to", "jsonl"])).stdout).toBe(before);
    },
    SLOW,
  );

  it(
    "auto waits for a batch that is worth it, unless forced; tiered says what it would do next",
    async () => {
      await onFork("batches");
      const state = storeState(sandbox);
      const small = await sandbox.jpg(["compact", "-s", "auto", "--min-gain", "20000"]);
      expect(small).toMatchObject({ code: 0, stderr: "" });
      expect(small.stdout).toMatch(
        /^Nothing to compact\. The strategy auto would save \S+ of \S+ tokens a call \(turns .*\), .* from (?:20000|20\.0k), /,
      );
      expect(storeState(sandbox)).toBe(state);
      expect(small.stdout).toMatch(
        /^hint: `jpg compact -s auto --force` does it anyway; `-s auto:min-gain=\d+` lowers the floor/m,
      );
      expect(await sandbox.json(["compact", "-s", "auto"])).toMatchObject({
        compaction: expect.any(String) as string,
      });
      await sandbox.jpg(["undo"]);
      const tiered = await sandbox.jpg(["compact", "-s", "tiered", "--target", "0.1", "--dry-run"]);
      expect(tiered.stdout).toMatch(/the next step will generate a summary for turns 0-\d+ using model extractive/);
    },
    SLOW,
  );

  it(
    "are refused with the nearest name, or with what contradicts what; nothing is committed",
    async () => {
      await onFork("refusals");
      const state = storeState(sandbox);
      const wrong: readonly [readonly string[], string, RegExp, RegExp][] = [
        [["-s", "strip-tols"], "unknown_strategy", /no strategy "strip-tols"/, /strip-tools/],
        [["-s", "auto", "-s", "tiered"], "contradictory_strategies", /auto and tiered/, /Run one/],
        [["-s", "auto", "-p", "light"], "contradictory_flags", /--profile and --strategy/, /--help/],
        [["--fork", "--in-place"], "contradictory_flags", /--fork and --in-place/, /--help/],
        [["-s", "dedup-tools", "--max-chars", "9"], "unused_option", /--max-chars/, /Add the strategy/],
        [["-p", "lihgt"], "unknown_profile", /lihgt/, /light/],
      ];
      for (const [args, code, says, hint] of wrong) {
        await expectRefusal(sandbox, ["compact", ...args], { code, exit: 2, says, hint });
      }
      expect(storeState(sandbox)).toBe(state);
    },
    SLOW,
  );
});

describe("a summary that its turns do not bear out", () => {
  it(
    "is refused with --strict, and else stored with what is made up listed",
    async () => {
      await onFork("grounding");
      const text = sandbox.session("invented.txt", "See src/nothing.ts and commit 1234567abc; it took 98765 ms.");
      const state = storeState(sandbox);
      const range = ["--from", "0", "--to", "20"];
      const error = await expectRefusal(sandbox, ["compact", "--accept", text, ...range, "--strict"], {
        code: "ungrounded",
        exit: 2,
        says: /3 things that turns 0\.\.20 do not say: path "src\/nothing\.ts", sha "1234567abc"/,
        hint: /without|leave out --strict/,
      });
      expect(error.data?.["ungrounded"]).toHaveLength(3);
      expect(storeState(sandbox)).toBe(state);
      const stored = await sandbox.jpg(["compact", "--accept", text, ...range]);
      expect(stored.stdout).toMatch(/In the summary, but in none of the events it replaces:\n +path +src\/nothing\.ts/);
    },
    SLOW,
  );
});

const configFile = (): string => join(sandbox.home, ".config", "jpg", "config.toml");
function writeConfig(text: string): void {
  mkdirSync(join(sandbox.home, ".config", "jpg"), { recursive: true });
  writeFileSync(configFile(), text);
}

describe("strategies that hide turns", () => {
  it(
    "compose with others: a commit of their own, which undo takes back first",
    async () => {
      const branch = await onFork("composed");
      const report = await sandbox.json(["compact", "-s", "summarize", "-s", "strip-tools", "--model", "extractive"]);
      const { event, further } = report as { event: Json; further: Json & { event: Json } };
      expect(event).toMatchObject({ strategy: ["strip-tools"], tool_calls: { policy: "strip" } });
      expect(further.event).toMatchObject({
        strategy: ["strip-tools", "summarize"],
        from_turn: event["from_turn"],
        to_turn: event["to_turn"],
        summary: { source: "extractive" },
      });
      await sandbox.jpg(["undo"]);
      expect((await sandbox.json<Json[]>(["log"])).slice(0, 3)).toMatchObject([
        { kind: "revert" },
        { live: false },
        { compaction: event["id"], live: true },
      ]);
      const before = tip(branch);
      const planned = await sandbox.jpg(["compact", "-s", "strip-reasoning", "-s", "summarize", "--dry-run"]);
      expect(planned.stdout).toContain(
        "summarize was named, too: the next step will generate a summary for turns 0-22",
      );
      expect(tip(branch)).toBe(before);
    },
    SLOW,
  );

  it.each(["--chunks=2", "--dry-run --diff", "--dry-run --text"])(
    "refuse %s where tangents are left out",
    async (flags) => {
      const args = ["compact", "-s", "classify-tangents", ...flags.split(" ")];
      await expectRefusal(sandbox, args, {
        code: "contradictory_flags",
        exit: 2,
        says: /classify-tangents contradict/,
      });
    },
  );

  it(
    "leave tangents out first, and refuse turns that there are not",
    async () => {
      await onFork("tangents");
      const wrong = ["compact", "-s", "classify-tangents", "--turns", "3,99"];
      await expectRefusal(sandbox, wrong, { code: "bad_turns", exit: 2, says: /no turn 99: .* turn 25/ });
      const both = ["compact", "-s", "classify-tangents", "-s", "strip-tools", "--turns", "3,5"];
      const { compactions } = await sandbox.json<{ compactions: readonly { event: Json }[] }>(both);
      expect(compactions.map(({ event }) => event)).toMatchObject([
        { turns: "omit", from_turn: 3, to_turn: 5 },
        { strategy: ["strip-tools"], from_turn: 0 },
      ]);
      expect(await states("3")).toEqual(["hidden"]);
      expect(await states("4")).not.toContain("hidden");
    },
    SLOW,
  );

  it(
    "that fail behind others leave these, and the error says so",
    async () => {
      await onFork("half-done");
      const args = ["compact", "-s", "strip-tools", "-s", "summarize", "--model", "anthropic/claude-haiku"];
      const result = await sandbox.jpg([...args, "--json"]);
      const { error } = JSON.parse(result.stdout) as { error: { code: string; hints: string[] } };
      expect({ code: result.code, error: error.code }).toEqual({ code: 4, error: "no_key" });
      expect(error.hints.join("\n")).toMatch(/steps before the summary are committed and stay/);
      expect(error.hints.join("\n")).not.toContain("Nothing was committed");
      const [newest] = await sandbox.json<Json[]>(["log"]);
      expect(newest).toMatchObject({ live: true, subject: expect.stringContaining("tools stripped") });
    },
    SLOW,
  );
});

describe("what a compaction is said to do", () => {
  const body = (): string => sandbox.git(["log", "-1", "--format=%B"]);

  it(
    "is what each policy of a profile takes, and as many removed events in report, record, message and show",
    async () => {
      await onFork("told");
      await sandbox.jpg(["compact", "--profile", "light", "--to", "10"]);
      const { compaction, event, report } = await sandbox.json<{ compaction: string; event: Json; report: Json }>([
        "compact",
      ]);
      const { steps, events_removed } = report as { steps: readonly Json[]; events_removed: number };
      expect(steps.map((step) => step["strategy"])).toEqual(["reasoning", "tool_calls", "index"]);
      expect(steps[0]?.["events_removed"]).toBe(events_removed);
      expect(events_removed).toBeGreaterThan(0);
      expect(event["stats"]).toMatchObject({ events_removed });
      expect(body()).toContain(`Hidden: ${events_removed} events removed, `);
      expect(await sandbox.json(["show", compaction])).toMatchObject({ hidden: { events_removed } });
    },
    SLOW,
  );

  it(
    "names what it gives back, in the report and in the commit",
    async () => {
      await onFork("given-back");
      const profile = (name: string, policy: string): string =>
        `[conversation.compaction.profiles.${name}]\ntool_calls = "${policy}"\n`;
      writeConfig(profile("asked", "strip-requests") + profile("answered", "strip-responses"));
      const first = await sandbox.jpg(["compact", "--profile", "asked"]);
      expect(first.stdout).toContain("tool arguments stripped");
      // jp's own hints, and jpg's, speak of results, too: an argument's policy is none of theirs.
      expect(body()).not.toMatch(/Hints: .*results/);
      const second = await sandbox.json(["compact", "--profile", "answered"]);
      rmSync(configFile());
      const said = /gives back the arguments of \d+ calls: for tool calls only the newest policy counts/;
      expect((second["warnings"] as readonly string[]).join("\n")).toMatch(said);
      expect(body()).toMatch(
        /^Shows again: the arguments of \d+ calls: for tool calls only the newest policy counts$/m,
      );
    },
    SLOW,
  );

  it(
    "names the turns that go where others stay between them",
    async () => {
      await onFork("named-turns");
      const args = ["compact", "-s", "classify-tangents", "--turns", "3,5-6"];
      expect((await sandbox.jpg([...args, "--dry-run"])).stdout).toMatch(
        /Would compact .* 3\.\.6: turns 3, 5\.\.6 omitted\n/,
      );
      await sandbox.jpg(args);
      expect(body()).toMatch(/^compact 3\.\.6: turns 3, 5\.\.6 omitted \(/);
      const [row] = await sandbox.json<Json[]>(["log"]);
      expect(row).toMatchObject({ policies: "turns 3, 5..6 omitted" });
      expect((await sandbox.jpg(["log"])).stdout).not.toContain("message differs");
    },
    SLOW,
  );
});

describe("the settings of compact", () => {
  it(
    "name the strategy that a bare --strategy means, and the fork that --no-activate leaves aside",
    async () => {
      const branch = await onFork("by-settings");
      writeConfig('[conversation.compaction]\nstrategy = "strip-tools"\nfork = true\n');
      const bare = await sandbox.json(["compact", branch, "-s", "--no-activate"]);
      expect(bare).toMatchObject({ event: { strategy: ["strip-tools"] }, activated: false });
      expect(bare["branch"]).not.toBe(branch);
      const active = await sandbox.jpg(["compact", "--strategy", "-s", "strip-reasoning", "--dry-run"]);
      expect(active.stdout).toMatch(/Would compact .* \(a new fork\) 0\.\.22: reasoning \+ tools stripped/);
      await expectRefusal(sandbox, ["compact", "--no-activate", "--in-place"], {
        code: "usage",
        exit: 2,
        says: /--fork/,
      });
      writeConfig('conversation.compaction.strategy = "strip-tols"\n');
      await expectRefusal(sandbox, ["compact"], {
        code: "bad_value",
        exit: 2,
        says: /expected one of auto, tiered/,
        hint: /strip-tools/,
      });
      rmSync(configFile());
      await expectRefusal(sandbox, ["compact", "--no-activate"], { code: "usage", exit: 2, says: /--fork/ });
    },
    SLOW,
  );

  it.each([
    [["-s", "strip-tools", "--focus", "x"], /strip-tools writes no summary, so --focus would/],
    [["-s", "classify-tangents", "--turns", "3", "--concise"], /classify-tangents writes no summary, so --concise/],
    [["--strict"], /profile default writes no summary, so --strict/],
    [["--model", "a/b", "--focus", "x", "--concise"], /so --model, --focus and --concise would have no effect/],
  ])("options of a summary are refused where none can be: %j", async (args, says) => {
    await expectRefusal(sandbox, ["compact", ...args], { code: "no_summary", exit: 2, says });
  });
});

describe("hints", () => {
  it(
    "for tools that nobody called are warned about, with the nearest name",
    async () => {
      await onFork("hinted");
      writeConfig('[conversation.tools.Grap.compaction]\nresponse = "keep"\n');
      const result = await sandbox.jpg(["compact", "-s", "strip-tool-results", "--keep", "0", "--dry-run"]);
      rmSync(configFile());
      expect(result.code).toBe(0);
      expect(result.stdout + result.stderr).toMatch(/Grap.*Grep/);
    },
    SLOW,
  );

  it(
    "that name a program: one that fails, prints rubbish or hangs is reported, and equality counts",
    async () => {
      // Up to turn 14 there are two such calls, so that each program is asked once.
      await onFork("programs");
      await sandbox.jpg(["fork", "@", "two-calls", "--first", "15"]);
      const args = ["compact", "-s", "dedup-tools", "--keep", "0", "--dry-run"];
      const plain = await sandbox.json(args);
      for (const [script, problem] of [
        ["process.exit(3)", /TodoWrite.*(code|status) 3/],
        ["process.stdout.write('perhaps')", /TodoWrite.*answered something else/],
        ["setInterval(() => {}, 1000)", /TodoWrite.*\b5 ?s|TodoWrite.*took longer/],
      ] as const) {
        const program = sandbox.session("subsumes.cjs", script);
        const command = `'${process.execPath} ${program}'`;
        writeConfig(`[conversation.tools.TodoWrite.compaction]\ndedup = true\nsubsumes = ${command}\n`);
        const report = await sandbox.json(args);
        rmSync(configFile());
        expect((report["warnings"] as readonly string[]).join("\n"), script).toMatch(problem);
        expect(report["tokens"], script).toEqual(plain["tokens"]);
      }
      writeFileSync(
        join(sandbox.project, ".jpg.toml"),
        `[conversation.tools.TodoWrite.compaction]\nsubsumes = "touch ran"\n`,
      );
      const untrusted = await sandbox.jpg(args);
      rmSync(join(sandbox.project, ".jpg.toml"));
      expect(untrusted.stderr).toMatch(/\.jpg\.toml:2: ignored conversation\.tools\.TodoWrite\.compaction\.subsumes/);
    },
    SLOW,
  );
});

describe("a compaction file that was written by hand", () => {
  const NAME = "compactions/20260312T000000Z-hand01.jsonl";

  /** Commits the file on the active branch, with stock git. */
  function commitFile(text: string): void {
    mkdirSync(join(sandbox.store, "compactions"), { recursive: true });
    writeFileSync(join(sandbox.store, NAME), `${text}\n`);
    sandbox.git(["add", "--sparse", NAME]);
    sandbox.git(["-c", "core.hooksPath=/dev/null", "commit", "-qm", "by hand"]);
  }

  it(
    "works when it is valid, and is named with its field when it is not",
    async () => {
      const branch = await onFork("by-hand");
      const start = tip(branch);
      const record = { type: "compaction", id: "hand01", timestamp: "2026-03-12T00:00:00Z", from_turn: 0, to_turn: 3 };
      commitFile(JSON.stringify({ ...record, tool_calls: { policy: "strip", request: true, response: true } }));
      expect(await sandbox.json(["log"])).toMatchObject([{ compaction: "hand01", live: true }, {}, {}]);
      expect(await states("0")).toEqual(["shown", "changed"]);
      expect((await sandbox.json(["undo"]))["reverted"]).toEqual(["hand01"]);
      expect(await states("0")).toEqual(["shown"]);

      for (const [text, says] of [
        [
          JSON.stringify({ ...record, tool_calls: "strip" }),
          /hand01\.jsonl .*not applied: "tool_calls": expected an object/,
        ],
        [JSON.stringify({ ...record, from_turn: "0" }), /hand01\.jsonl .*"from_turn"/],
        ['{"type":"compact', /hand01\.jsonl .*not valid JSON/],
      ] as const) {
        commitFile(text);
        const { code, stderr } = await sandbox.jpg(["compact", "--dry-run"]);
        expect([code, stderr]).toEqual([0, expect.stringMatching(says)]);
        expect(stderr).toContain(`git log -p -- ${NAME}`);
        sandbox.git(["-c", "core.hooksPath=/dev/null", "reset", "-q", "--hard", start]);
      }
    },
    SLOW,
  );
});

describe("settings on the conversation", () => {
  it(
    "--cfg holds for later commands and for forks, and only there",
    async () => {
      await onFork("configured");
      const last = async (...args: string[]): Promise<unknown> => (await sandbox.json(["compact", ...args]))["to_turn"];
      expect(await last("--dry-run")).toBe(22);
      expect(await last("--cfg", "conversation.compaction.keep_last=1", "--dry-run")).toBe(24);
      expect(await last("--dry-run")).toBe(22);
      expect(await last("--cfg", "conversation.compaction.keep_last=1")).toBe(24);
      await sandbox.jpg(["undo"]);
      expect(await last("--dry-run")).toBe(24);
      expect(await sandbox.json(["fork", "@", "heir", "--compact=light"])).toMatchObject({
        activated: true,
        compaction: { compaction: expect.any(String), policies: "reasoning stripped" },
      });
      expect(await sandbox.json(["log"])).toMatchObject([
        { to_turn: 24, policies: "reasoning stripped" },
        {},
        {},
        {},
        {},
      ]);
      await sandbox.jpg(["use", `${conversation}/main`]);
      expect(await last("--dry-run")).toBe(22);
    },
    SLOW,
  );

  it(
    "are taken back by config --unset, which says what holds then",
    async () => {
      const branch = await onFork("unset");
      const last = async (): Promise<unknown> => (await sandbox.json(["compact", "--dry-run"]))["to_turn"];
      await sandbox.jpg(["compact", "-c", "keep_last=1", "-c", "tools.*.compaction.response=keep"]);
      await sandbox.jpg(["undo"]);
      expect(await last()).toBe(24);
      const result = await sandbox.jpg(["config", "--unset", "keep_last"]);
      expect(result).toMatchObject({
        code: 0,
        stderr: `${branch} no longer keeps conversation.compaction.keep_last\n`,
        stdout: "built-in\t\tconversation.compaction.keep_last=3\n",
      });
      expect(sandbox.git(["log", "-1", "--format=%s", branch])).toBe("config: unset conversation.compaction.keep_last");
      expect(await last()).toBe(22);
      expect(await sandbox.json(["config", "tools.*"])).toMatchObject([
        { key: 'conversation.tools."*".compaction.response', value: "keep", origin: { layer: "conversation" } },
      ]);
      expect(await sandbox.json(["config", "--unset", "tools"])).toMatchObject({ key: "conversation.tools", branch });
      expect((await sandbox.jpg(["config", "tools.*"])).code).toBe(1);
      for (const key of ["keep_last", "tools.*", "fork"])
        await expectRefusal(sandbox, ["config", "--unset", key], {
          code: "not_set",
          exit: 2,
          says: /does not set conversation.*(built-in|\.$)/,
        });
      await expectRefusal(sandbox, ["config", "--unset", "keep_lst"], {
        code: "unknown_key",
        exit: 2,
        says: /keep_lst/,
      });
      await expectRefusal(sandbox, ["config", "--unset"], { code: "usage", exit: 2, says: /needs a KEY/ });
    },
    SLOW,
  );
});
