// Summaries by a model through the command, over real sockets: an answer, its rejection, what the provider refuses, Ctrl-C, and
// summaries written by others. Model servers are on loopback.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatAnswer, type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { startJpg, writeUserConfig } from "../helpers/live-jpg.ts";
import { createLongSession } from "../helpers/long-session.ts";
import { expectNoBug, expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, type JpgResult, type Sandbox, storeState } from "../helpers/run-jpg.ts";
import { answer, WORDS } from "../helpers/summaries.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function importInto(bytes: Buffer): Promise<Sandbox> {
  const sandbox = createSandbox();
  cleanups.push(sandbox.remove);
  expect((await sandbox.jpg(["import", sandbox.session("session.jsonl", bytes)])).code).toBe(0);
  return sandbox;
}

/** A sandbox with a long conversation, and a model server that the user's settings name for summaries. */
async function open(reply: ChatAnswer): Promise<Sandbox & { readonly server: ChatServer }> {
  const server = await startChatServer(reply);
  cleanups.push(() => server.close());
  const sandbox = await importInto(createLongSession().turns(6).bytes());
  writeUserConfig(sandbox, `${server.config}\n[conversation.compaction]\nmodel = "test/model-1"\n`);
  return { ...sandbox, server };
}

/** A sandbox whose model never comes to an end, and a run of jpg that Ctrl-C interrupts once the model is asked. */
async function openSlow() {
  const sandbox = await open(async (stream) => {
    stream.text("## TASK STATE\n");
    await stream.closed;
  });
  const { requests } = sandbox.server;
  const interrupted = async (args: readonly string[]): Promise<JpgResult> => {
    const asked = requests.length;
    const running = startJpg(sandbox, args);
    while (requests.length === asked) await new Promise((wait) => setTimeout(wait, 20));
    running.child.kill("SIGINT");
    return running.ended;
  };
  return { sandbox, interrupted };
}

/** A pipeline that goes on to a summary. */
const TIERED = ["compact", "-s", "tiered", "--target", "100", "--protect", "1000"];

const say =
  (text: string, reason: "stop" | "length" = "stop"): ChatAnswer =>
  (stream) => {
    for (const piece of text.match(/[\s\S]{1,40}/g) ?? []) stream.text(piece);
    stream.finish(reason);
  };

describe("jpg compact with a summary", () => {
  it("stores what the model wrote, says what it did, and is taken back by undo", { tags: ["slow"] }, async () => {
    const sandbox = await open(say(answer()));
    const before = storeState(sandbox);
    const done = await sandbox.jpg(["compact", "-p", "heavy", "--focus", "the pier"]);
    expect(done.stderr).toMatch(/^summarising turns 0 to 2 with test\/model-1 \(about [\d.]+k? tokens\)$/m);
    expect(done.stdout).toMatch(/0\.\.2: summary$/m);
    expect(done.stdout).toContain("written by test/model-1: 1.0k tokens sent, 20 answered, price unknown");
    expect(done.code).toBe(0);
    const [{ messages } = { messages: [] }] = sandbox.server.requests;
    expect(JSON.stringify(messages)).toContain("Pay special attention to: the pier.");
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("The parser was mended.");
    const body = sandbox.git(["log", "-1", "--format=%B"]);
    expect(body).toMatch(/ Prompt: sha256 [0-9a-f]{64}\n {4}Usage: 1000 tokens sent .*\n {4}Price unknown/);
    expect(body).toContain("Open tasks:\n```\n    docs\n```");
    const [{ compaction }] = (await sandbox.json<[Json]>(["log"])) as [Json];
    const shown = (await sandbox.jpg(["show", String(compaction), "--full"])).stdout;
    expect(shown).toMatch(/^Model: +test\/model-1$/m);
    expect(shown).toMatch(/^Usage: +1\.0k tokens sent, 20 answered in 1 call, price unknown$/m);
    expect((await sandbox.jpg(["undo"])).code).toBe(0);
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).not.toContain("The parser was mended.");
    expect(storeState(sandbox)).not.toBe(before);
  });

  it("commits nothing, exit 4, when the answer may not stand for turns", { tags: ["slow"] }, async () => {
    const replies = [say(""), say(answer(), "length"), say("## TASK STATE\nx"), say(answer())];
    const sandbox = await open((stream, body, request) => replies[request]?.(stream, body, request));
    const before = storeState(sandbox);
    await expectRefusal(sandbox, ["compact", "-p", "heavy"], {
      code: "summary_rejected",
      exit: 4,
      says: /test\/model-1 wrote no summary .* cut off/,
      hint: /--emit FILE/,
    });
    expect(storeState(sandbox)).toBe(before);
    // Sections were missing, then all is there.
    expect((await sandbox.json(["compact", "-p", "heavy"]))["policies"]).toBe("summary");
    expect(sandbox.server.requests).toHaveLength(4);
  });

  it("says of a merge what helps there, when its summary may not be stored", async () => {
    const sandbox = await open(say("## TASK STATE\nx"));
    await sandbox.jpg(["fork", "@", "short", "--first", "3"]);
    const before = storeState(sandbox);
    const { code, stderr } = await sandbox.jpg(["merge", "main"]);
    expect([code, storeState(sandbox)]).toEqual([4, before]);
    expect(stderr).toContain("hint: `--summary TEXT` says it in your own words");
    expect(stderr).not.toContain("jpg compact");
    const { error } = await sandbox.json<{ error: Json }>(["merge", "main", "--concise"]);
    expect(error).toMatchObject({ kind: "provider", code: "summary_rejected", data: { reason: "sections_missing" } });
    expect(String(error["hints"])).not.toContain("--concise");
  });

  it("commits nothing, exit 4, when the stream is cut, and goes on after a rate limit", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await open(async (stream, body, request) => {
      if (request === 1) stream.fail(429, "slow down", "rate_limit_exceeded");
      else if (request === 0) {
        stream.text("## TASK STATE\nhalf of it");
        stream.cut();
      } else await say(answer())(stream, body, request);
    });
    const before = storeState(sandbox);
    const refused = await sandbox.jpg(["compact", "-p", "heavy"]);
    expectNoBug(refused);
    expect([refused.code, storeState(sandbox)]).toEqual([4, before]);
    expect((await sandbox.jpg(["compact", "-p", "heavy"])).code).toBe(0);
  });

  it.each([
    ["compact", ["compact", "-p", "heavy"]],
    ["query --compact", ["query", "--compact=heavy", "Go on"]],
  ])("commits nothing when Ctrl-C ends it in %s, exit 130", { tags: ["slow"] }, async (_, args) => {
    const { sandbox, interrupted } = await openSlow();
    const before = storeState(sandbox);
    const { code, stdout, stderr } = await interrupted(args);
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).toContain("interrupted; nothing was committed");
    expect(storeState(sandbox)).toBe(before);
  });

  it("leaves a fork as it is, and names it, when Ctrl-C ends its summary, exit 130", { tags: ["slow"] }, async () => {
    const { sandbox, interrupted } = await openSlow();
    const active = sandbox.git(["rev-parse", "HEAD"]);
    const { code, stdout, stderr } = await interrupted(["fork", "@", "try-b", "--compact=heavy"]);
    expect([code, stdout]).toEqual([130, ""]);
    expect(stderr).toMatch(/interrupted; nothing was committed\. The fork \S+\/try-b was made, but not compacted\./);
    expect(stderr).toMatch(/jpg compact \S+\/try-b --profile heavy/);
    const branches = sandbox.git(["for-each-ref", "--format=%(objectname) %(refname:lstrip=-1)", "refs/heads"]);
    expect(branches.split("\n")).toEqual([`${active} main`, `${active} try-b`]);
    expect(sandbox.git(["symbolic-ref", "HEAD"])).toMatch(/\/main$/);
  });

  it("keeps what a pipeline has committed when Ctrl-C ends the summary behind it, exit 130", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, interrupted } = await openSlow();
    const { code, stdout, stderr } = await interrupted([...TIERED, "--model", "test/model-1"]);
    expect([code, stderr]).toEqual([130, expect.not.stringContaining("no summary was needed")]);
    expect(stdout).toMatch(/^Compacted .*\ncommit /);
    expect(stdout).toContain("no summary was made, but the mechanical steps stay: it was interrupted.");
    expect(await sandbox.json<Json[]>(["log"])).toHaveLength(1);
    // All that may go is out already: no step of the pipeline commits, only the summary would.
    const before = storeState(sandbox);
    const again = await interrupted([...TIERED, "--json"]);
    expect(again.code).toBe(130);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: "interrupted" } });
    expect(storeState(sandbox)).toBe(before);
  });

  it("makes no request in a dry run", async () => {
    const sandbox = await open(say(answer()));
    const before = storeState(sandbox);
    const { stdout } = await sandbox.jpg(["compact", "-p", "heavy", "--dry-run"]);
    const notice = "will generate a summary for turns 0-2 using model test/model-1";
    expect(stdout).toContain(`note: ${notice}\n`);
    expect(await sandbox.json(["compact", "-p", "heavy", "--dry-run"])).toMatchObject({
      planned_summary: { from_turn: 0, to_turn: 2, model: "test/model-1" },
      warnings: [notice],
    });
    const { stderr } = await sandbox.jpg([...TIERED, "--model", "test/model-1", "--dry-run"]);
    expect(stderr).toBe("");
    expect(sandbox.server.requests).toEqual([]);
    expect(storeState(sandbox)).toBe(before);
  });

  it("says that a fork stays when the compaction before a query on it fails", async () => {
    const sandbox = await open(say(""));
    const { code, stderr } = await sandbox.jpg(["query", "--fork", "--compact=heavy", "-m", "test/model-1", "Go on"]);
    expect(code).toBe(4);
    const [, fork = ""] = /The fork (\S+) was made and is active, but not compacted/.exec(stderr) ?? [];
    expect(await sandbox.json(["show"])).toMatchObject({ branch: fork });
  });

  it("goes on to a summary where a pipeline leaves the view too large; without one its own steps stand", async () => {
    const sandbox = await open((stream, body, request) => say(request < 2 ? "" : answer())(stream, body, request));
    const failed = await sandbox.json(TIERED);
    expect(failed["further"]).toBeUndefined();
    expect(failed["summary_error"]).toBe("summary_rejected");
    expect(JSON.stringify(failed["warnings"])).toContain("no summary was made, but the mechanical steps stay");
    expect(await sandbox.json<Json[]>(["log"])).toHaveLength(1);
    const done = await sandbox.jpg(TIERED);
    expect(done.stdout).toContain("written by test/model-1");
    expect(done.code).toBe(0);
  });

  it("says when what was said of a summary counts for nothing", async () => {
    const sandbox = await open(say(answer()));
    const tiered = await sandbox.jpg([
      "compact",
      "--strategy",
      "tiered",
      "--target",
      "900k",
      "--model",
      "test/model-1",
      "--force",
    ]);
    expect([tiered.code, tiered.stderr, sandbox.server.requests.length]).toEqual([0, expect.any(String), 0]);
  });

  it("refuses to say something of a summary that the profile does not have written, and commits nothing", async () => {
    const sandbox = await open(say(answer()));
    const head = sandbox.git(["rev-parse", "HEAD"]);
    for (const words of [
      ["--model", "test/model-1"],
      ["--focus", "the parser", "-p", "light"],
      ["--concise", "--dry-run"],
    ]) {
      const { stderr, code } = await sandbox.jpg(["compact", ...words]);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^error: The profile (default|light) writes no summary, so --(model|focus|concise) would have no effect\.\nhint: `--profile heavy`/,
      );
    }
    expect([sandbox.git(["rev-parse", "HEAD"]), sandbox.server.requests.length]).toEqual([head, 0]);
  });
});

describe("a provider that speaks its own protocol", () => {
  it.each([
    ["anthropic/claude-haiku", "ANTHROPIC", ""],
    ["openai/gpt-mini", "OPENAI", "/v1"],
  ])("writes the summary of %s, with its price", { tags: ["slow"] }, async (model, name, path) => {
    const mock = new LLMock({ port: 0 });
    cleanups.push(() => mock.stop());
    mock.onMessage(/.*/s, { content: answer(), usage: { input_tokens: 9000, output_tokens: 300 } });
    const url = await mock.start();
    const sandbox = await importInto(createLongSession().turns(6).bytes());
    const env = { [`${name}_API_KEY`]: "sk-invented", [`${name}_BASE_URL`]: `${url}${path}` };
    const done = await sandbox.jpg(["compact", "-p", "heavy", "--model", model, "--json"], { env });
    expectNoBug(done);
    const { event } = JSON.parse(done.stdout) as { event: { summary: Json } };
    expect(event.summary).toMatchObject({ source: "generated", open_tasks: ["docs"] });
    expect(event.summary["price_usd"]).toBeGreaterThan(0);
    expect(sandbox.git(["log", "-1", "--format=%B"])).toMatch(/^ {4}Price: \$0\.0\d+$/m);
    expect(done.stdout + done.stderr + sandbox.git(["log", "-1", "-p"])).not.toContain("sk-invented");
  });
});

describe("a summary that an agent writes from its own context", () => {
  it("by an agent is recorded with the profile of its plan, and with none where the plan names none", {
    tags: ["slow"],
  }, async () => {
    const writer = createClaudeWriter();
    for (let turn = 0; turn < 5; turn++) {
      writer.prompt(`request number ${turn}`);
      writer.say(`answer number ${turn}`);
    }
    const sandbox = await importInto(sessionBytes(writer.lines));
    const profileOf = async (plan: Json, ...bounds: string[]) => {
      const input = JSON.stringify({ plan, summary: "In short.", files: [], open_tasks: [] });
      const { event } = await sandbox.json(["compact", "--accept", "-", ...bounds], { input });
      const message = sandbox.git(["log", "-1", "--format=%(trailers:key=Jpg-Profile,valueonly)"]);
      await sandbox.jpg(["undo"]);
      return [(event as Json)["profile"], message.trim()];
    };
    const planOf = async (...args: string[]): Promise<Json> =>
      (JSON.parse((await sandbox.jpg(["compact", "--emit", "-", ...args])).stdout) as { plan: Json }).plan;
    const own = "conversation.compaction.profiles.mine";
    const mine = ["-c", `${own}.summary.policy=summarize`, "-c", `${own}.keep_last=1`, "-p", "mine"];
    expect(await planOf(...mine)).toMatchObject({ profile: "mine", to_turn: 3 });
    expect(await profileOf(await planOf("-p", "heavy"))).toEqual(["heavy", "heavy"]);
    expect(await profileOf(await planOf("-p", "heavy"), "--to", "1")).toEqual(["heavy", "heavy"]);
    expect(await profileOf(await planOf())).toEqual([undefined, ""]);
    expect(await profileOf({ ...(await planOf()), profile: "two\nlines" })).toEqual([undefined, ""]);
    expect(await planOf("-c", "default_profile=heavy")).toMatchObject({ profile: "heavy" });
    await expectRefusal(sandbox, ["compact", "--emit", "-", "-p", "light"], {
      code: "no_summary",
      exit: 2,
      says: /light writes no summary, so --emit/,
    });
  });

  it("is asked for by the suffix form, and comes back as text with the plan in its block", async () => {
    const writer = createClaudeWriter();
    for (let turn = 0; turn < 6; turn += 1) {
      writer.prompt(`request number ${turn}: ${WORDS.repeat(5)}`);
      writer.say(`answer number ${turn}`);
    }
    const sandbox = await importInto(sessionBytes(writer.lines));
    const suffix = (await sandbox.jpg(["compact", "--emit", "-", "--suffix", "--focus", "tides"])).stdout;
    expect(suffix).toContain('the conversation above up to the request that begins "request number 3: ');
    expect(suffix).toContain("Pay special attention to: tides.");
    const plan = /"plan":(\{.*?\})/.exec(suffix)?.[1] ?? "";
    const text = `${answer("From my own context.").split("```json")[0]}\`\`\`json\n{"plan": ${plan}, "files": [], "open_tasks": ["more"]}\n\`\`\`\n`;
    const accepted = await sandbox.json(["compact", "--accept", "-"], { input: text });
    expect(accepted).toMatchObject({ to_turn: 2, event: { summary: { source: "authored", open_tasks: ["more"] } } });
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("From my own context.");
    // The view shows a summary there now.
    await expectRefusal(sandbox, ["compact", "--emit", "-", "--suffix"], {
      code: "no_suffix",
      exit: 2,
      says: /turns 0\.\.2/,
    });
    await expectRefusal(sandbox, ["compact", "--suffix"], { code: "usage", exit: 2, says: /without --emit/ });
    const file = join(sandbox.root, "bundle.json");
    await sandbox.jpg(["compact", "--emit", file, "--concise"]);
    const bundle = JSON.parse(readFileSync(file, "utf8")) as Json;
    expect(Object.keys(bundle)).toEqual(["plan", "instructions", "answer", "events"]);
    expect(bundle["instructions"]).toContain("## KEY POINTS");
  });
});
