// jpg query against a model server on loopback: what is shown, what is kept, and what is left when it is broken off.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatAnswer, type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { startJpg, writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createSandbox, type Sandbox, sessionAnsweredIn, storeState } from "../helpers/run-jpg.ts";

const MCP_SERVER = fileURLToPath(new URL("../fixtures/mcp/server.mjs", import.meta.url));
const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

async function serve(answer: ChatAnswer): Promise<ChatServer> {
  const server = await startChatServer(answer);
  cleanUp.push(() => server.close());
  return server;
}

/** A sandbox with a conversation whose model is the server's. */
async function prepare(answer: ChatAnswer): Promise<{ sandbox: ImportedSandbox; server: ChatServer }> {
  const server = await serve(answer);
  const sandbox = await copyImportedSandbox(4);
  cleanUp.push(sandbox.remove);
  writeUserConfig(sandbox, server.config);
  return { sandbox, server };
}

const say =
  (...pieces: readonly string[]): ChatAnswer =>
  (stream) => {
    for (const piece of pieces) stream.text(piece);
    stream.finish();
  };

/** Says the first piece, and goes on when the test lets it. */
function sayAndWait(first: string, rest: string): { answer: ChatAnswer; goOn: () => void } {
  let goOn: () => void = () => undefined;
  const wait = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  return {
    goOn,
    answer: async (stream) => {
      stream.text(first);
      await wait;
      stream.text(rest);
      stream.finish();
    },
  };
}

const branchOf = ({ conversation }: ImportedSandbox): string => `${conversation}/main`;
const subjects = (sandbox: Sandbox, count = 3): string[] =>
  sandbox.git(["log", `-${count}`, "--format=%s", "HEAD"]).split("\n");
const journals = ({ store }: Sandbox): string[] => {
  const folder = join(store, ".git", "jpg-journal");
  return existsSync(folder) ? readdirSync(folder) : [];
};
const turnText = (sandbox: Sandbox, turn: number, branch = "HEAD"): string =>
  sandbox.git(["show", `${branch}:turns/0000/${String(turn).padStart(6, "0")}.jsonl`]);

describe("jpg query", () => {
  it("streams the answer of an imported conversation's next turn, and goes on from it", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, server } = await prepare(say("Five ", "metres", "."));
    const first = await sandbox.jpg(["query", "How high", "is it now?"], { process: true });
    expect(first).toEqual({ stdout: "Five metres.\n", stderr: "", code: 0 });
    expect(subjects(sandbox, 2)).toEqual(["turn 4: How high is it now?", "turn 3: Request 3 about the harbour wall"]);
    await sandbox.jpg(["query", "--", "--and then?"]);
    const { messages } = server.requests[1]!;
    expect(messages.slice(-3)).toEqual([
      { role: "user", content: "How high is it now?" },
      { role: "assistant", content: "Five metres." },
      { role: "user", content: "--and then?" },
    ]);
    expect(JSON.stringify(messages)).toContain("Measure the tide at the pier");
    expect(readFileSync(join(sandbox.store, "VIEW.md"), "utf8")).toContain("--and then?");
    expect(storeState(sandbox)).toMatch(/--\n$/);
  });

  it("prints one document with --json", async () => {
    const { sandbox } = await prepare(say("Five."));
    const report = await sandbox.json(["query", "How high?"]);
    expect(report).toMatchObject({
      conversation: sandbox.conversation,
      branch: branchOf(sandbox),
      turn: 4,
      commit: sandbox.git(["rev-parse", "HEAD"]),
      model: "test/model-1",
      text: "Five.",
      stop: "complete",
      usage: { input: 1000, output: 20 },
      price: null,
      tokens: { view: 1020 },
      compactions: [],
    });
  });

  it("takes the request from standard input, or attaches what comes there", { tags: ["slow"] }, async () => {
    const { sandbox, server } = await prepare(say("Read."));
    writeFileSync(join(sandbox.project, "notes.md"), "the pier leans\n");
    await sandbox.jpg(["query", "-"], { input: "What is a pier?\n", process: true });
    await sandbox.jpg(["query", "Review", "@notes.md"], { input: "+ a line\n", process: true });
    expect(server.requests[0]!.messages.at(-1)).toEqual({ role: "user", content: "What is a pier?\n" });
    const asked = JSON.stringify(server.requests[1]!.messages.at(-1));
    expect(asked).toContain("Review @notes.md");
    expect(asked).toContain("the pier leans");
    expect(asked).toContain("+ a line");
  });

  it("refuses an empty request, a missing file and flags that contradict each other, before anything is sent", async () => {
    const { sandbox, server } = await prepare(say("x"));
    for (const [args, says] of [
      [["query"], "nothing to ask"],
      [["query", "read", "--attach", "nowhere.md"], "There is no file nowhere.md"],
      [["query", "--new", "--fork", "x"], "contradict"],
      [["query", "--fork=many", "x"], "--fork takes a whole number"],
    ] as const) {
      const result = await sandbox.jpg(args);
      expect(result.code).toBe(2);
      expect(result.stderr).toContain(says);
    }
    expect(server.requests).toEqual([]);
  });

  it("begins a conversation where there is none, store and all", async () => {
    const server = await serve(say("Hello."));
    const sandbox = createSandbox();
    cleanUp.push(sandbox.remove);
    writeUserConfig(sandbox, server.config);
    expect(await sandbox.jpg(["query", "Fix the parser!"])).toEqual({ stdout: "Hello.\n", stderr: "", code: 0 });
    const [row] = await sandbox.json<readonly { id: string; title: string; active: boolean; turns: number }[]>(["ls"]);
    expect(row).toMatchObject({ title: "Fix the parser!", active: true, turns: 1 });
    expect(row!.id).toMatch(/^fix-the-parser-[0-9a-z]{4}$/);
    await sandbox.jpg(["query", "--new", "Something else"]);
    expect(await sandbox.json(["ls"])).toHaveLength(2);
    expect(sandbox.git(["symbolic-ref", "HEAD"])).toMatch(/something-else-[0-9a-z]{4}\/main$/);
  });

  it("asks on a fork that shows the last turns", async () => {
    const { sandbox, server } = await prepare(say("Another way."));
    const before = sandbox.git(["rev-parse", branchOf(sandbox)]);
    const report = await sandbox.json<{ branch: string; turn: number }>(["query", "--fork=1", "Try another way"]);
    expect(report).toMatchObject({ branch: expect.stringMatching(/\/fork-[0-9a-z]{4}$/), turn: 4 });
    expect(sandbox.git(["rev-parse", branchOf(sandbox)])).toBe(before);
    expect(sandbox.git(["symbolic-ref", "--short", "HEAD"])).toBe(report.branch);
    expect(JSON.stringify(server.requests[0]!.messages)).not.toContain("Measure the tide");
  });

  it("compacts first, as jpg compact would", async () => {
    const { sandbox, server } = await prepare(say("Go on."));
    const result = await sandbox.jpg(["query", "--compact=light", "Go on"]);
    expect(result.stderr).toContain("— context compacted (");
    expect(subjects(sandbox, 2)).toEqual([
      "turn 4: Go on",
      expect.stringMatching(/^compact 0\.\.0: reasoning stripped/),
    ]);
    expect(JSON.stringify(server.requests[0]!.messages)).not.toContain("thought 0");
    const report = await sandbox.json<{ compactions: unknown[] }>(["query", "--compact=light", "And on"]);
    expect(report.compactions).toEqual([
      { compaction: expect.any(String), commit: expect.any(String), tokens: expect.any(Object) },
    ]);
    expect((await sandbox.jpg(["query", "--compact=no-such", "x"])).code).toBe(2);
    await sandbox.jpg(["query", "--compact", "--", "--with the default profile"]);
    expect(subjects(sandbox, 2)).toEqual([
      "turn 6: --with the default profile",
      expect.stringMatching(/^compact 0\.\.\d: reasoning \+ tools stripped/),
    ]);
  });

  it("says that it compacts on a fork where the settings ask for one, and makes no second", async () => {
    const { sandbox } = await prepare(say("One."));
    const setting = ["-c", "fork=true"];
    const { branch, stderr } = await (async () => {
      const result = await sandbox.jpg(["query", "--compact=light", ...setting, "Go on"]);
      return { branch: sandbox.git(["symbolic-ref", "--short", "HEAD"]), stderr: result.stderr };
    })();
    expect(branch).toMatch(/\/compact-[0-9a-z]{4}$/);
    expect(stderr).toContain(`Forked to ${branch}, now active\n— context compacted (`);
    const branches = sandbox.git(["branch", "--format=%(refname)"]).split("\n").length;
    const forked = await sandbox.jpg(["query", "--fork", "--compact=light", ...setting, "And on"]);
    expect(forked.stderr).toMatch(/^Forked to [^\n]*\/fork-[0-9a-z]{4}, now active$/m);
    expect(sandbox.git(["branch", "--format=%(refname)"]).split("\n")).toHaveLength(branches + 1);
  });

  it("says why there is nothing to compact, and what to type", async () => {
    const { sandbox } = await prepare(say("One."));
    await sandbox.jpg(["compact", "--profile", "light", "--keep", "0"]);
    const { stderr } = await sandbox.jpg(["query", "--compact=light", "Go on"]);
    expect(stderr).toMatch(
      /Nothing to compact\. Everything that may be removed is already compacted\.\nhint: `jpg log` /,
    );
  });

  it("asks the model that answered last, however many turns ago that was", async () => {
    const server = await serve(say("Five."));
    const sandbox = createSandbox();
    cleanUp.push(sandbox.remove);
    await sandbox.jpg(["import", sandbox.session("old.jsonl", sessionAnsweredIn(0, 40))]);
    writeUserConfig(
      sandbox,
      `[providers.anthropic]\napi = "openai-chat"\nbase_url = "${server.url}"\napi_key = "invented"\n`,
    );
    expect(await sandbox.jpg(["query", "How high?"])).toEqual({ stdout: "Five.\n", stderr: "", code: 0 });
    expect(server.requests[0]!.model).toBe("claude-sonnet-4-5-20250929");
  });

  it("keeps the named model, and --cfg, in the conversation", async () => {
    const { sandbox, server } = await prepare(say("Yes."));
    await sandbox.jpg(["query", "-m", "test/model-2", "-c", "keep_last=7", "Which model?"]);
    await sandbox.jpg(["query", "And now?"]);
    expect(server.requests.map(({ model }) => model)).toEqual(["model-2", "model-2"]);
    const [config] = sandbox.git(["ls-tree", "-r", "--name-only", "HEAD", "config/"]).split("\n");
    const stored = JSON.parse(sandbox.git(["show", `HEAD:${config}`])) as { at_turn: number; delta: unknown };
    expect(stored).toMatchObject({
      at_turn: 4,
      delta: { conversation: { model: "test/model-2", compaction: { keep_last: 7 } } },
    });
  });
});

describe("tools in a query", () => {
  const config = (server: ChatServer, more = ""): string =>
    `${server.config}\n[mcp.servers.files]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([MCP_SERVER])}\n${more}`;
  const callFirst: ChatAnswer = (stream, { messages }) => {
    if (messages.at(-1)?.role === "tool")
      say("It said: ", String(messages.at(-1)?.content).slice(0, 40))(stream, null!, 0);
    else {
      stream.call("tide", '{"pier":"A"}');
      stream.finish("tool_calls");
    }
  };

  it("of MCP servers are run when the user allows it beforehand", { tags: ["slow"] }, async () => {
    const { sandbox, server } = await prepare(callFirst);
    writeUserConfig(sandbox, config(server));
    const result = await sandbox.jpg(["query", "--yes", "Call it"], { process: true });
    expect(result.stdout).toMatch(/^It said: The tide at A stands at 2 m/);
    expect(result.stderr).toContain('→ tide {"pier":"A"}');
    expect(
      turnText(sandbox, 4)
        .split("\n")
        .map((line) => (JSON.parse(line) as { type: string }).type),
    ).toEqual(["turn_start", "chat_request", "tool_call_request", "tool_call_response", "chat_response"]);
  });

  it("that need a yes end the turn where nobody can be asked, and say how to answer beforehand", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, server } = await prepare(callFirst);
    writeUserConfig(sandbox, config(server));
    const result = await sandbox.jpg(["query", "Call it"]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("mcp.servers.files.confirm = false");
    expect(result.stderr).toContain("kept as turn 4");
    writeUserConfig(sandbox, config(server, "confirm = false\n"));
    expect((await sandbox.jpg(["query", "Call it"])).code).toBe(0);
  });

  it("are none with --no-tools", async () => {
    const { sandbox, server } = await prepare(say("No tools."));
    await sandbox.jpg(["query", "--no-tools", "Hi"]);
    expect(server.requests[0]).not.toHaveProperty("tools");
  });
});

describe("a query that is broken off", () => {
  it("by Ctrl-C keeps what was shown, marked", { tags: ["slow"] }, async () => {
    const { answer } = sayAndWait("Five me", "tres.");
    const { sandbox } = await prepare(answer);
    const jpg = startJpg(sandbox, ["query", "How high?"]);
    await jpg.untilShown("Five me");
    jpg.child.kill("SIGINT");
    const { code, stderr, stdout } = await jpg.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: "Five me\n" });
    expect(stderr).toContain("Interrupted: what had arrived is kept as turn 4");
    expect(turnText(sandbox, 4)).toMatch(/"message":"Five me",.*"interrupted":true/);
    expect(journals(sandbox)).toEqual([]);
  });

  it("by Ctrl-C before an answer leaves the conversation as it was", async () => {
    let asked: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { sandbox } = await prepare(async (stream) => {
      asked();
      await stream.closed;
    });
    const before = storeState(sandbox);
    const jpg = startJpg(sandbox, ["query", "How high?"]);
    await isAsked;
    jpg.child.kill("SIGINT");
    expect((await jpg.ended).code).toBe(130);
    expect(storeState(sandbox)).toBe(before);
    expect(readFileSync(join(sandbox.store, ".git", "jpg-unsent.txt"), "utf8")).toBe("How high?");
  });

  it("by kill -9 is committed by the next command, once", async () => {
    const { answer } = sayAndWait("Five me", "tres.");
    const { sandbox } = await prepare(answer);
    const jpg = startJpg(sandbox, ["query", "How high?"]);
    await jpg.untilShown("Five me");
    jpg.child.kill("SIGKILL");
    await jpg.ended;
    expect(journals(sandbox)).toHaveLength(1);
    const next = await sandbox.jpg(["ls"]);
    expect(next.stderr).toContain(`Turn 4 of ${branchOf(sandbox)} was interrupted; it is committed now.`);
    expect(turnText(sandbox, 4)).toContain('"message":"Five me"');
    expect(turnText(sandbox, 4)).toContain('"reason":"process_ended"');
    expect(journals(sandbox)).toEqual([]);
    expect((await sandbox.jpg(["ls"])).stderr).toBe("");
    expect(subjects(sandbox, 2)).toEqual(["turn 4: How high?", "turn 3: Request 3 about the harbour wall"]);
    expect(storeState(sandbox)).toMatch(/--\n$/);
  });

  it("by kill -9 while it begins a conversation is committed too, and becomes active where none is", async () => {
    const { answer } = sayAndWait("Hel", "lo.");
    const server = await serve(answer);
    const sandbox = createSandbox();
    cleanUp.push(sandbox.remove);
    writeUserConfig(sandbox, server.config);
    const jpg = startJpg(sandbox, ["query", "Say hello"]);
    await jpg.untilShown("Hel");
    jpg.child.kill("SIGKILL");
    await jpg.ended;
    expect(await sandbox.json(["ls"])).toMatchObject([{ title: "Say hello", turns: 1, active: true }]);
  });

  it("by a stream that is cut keeps what came and exits with 4", async () => {
    const { sandbox } = await prepare((stream) => {
      stream.text("Five me");
      stream.cut();
    });
    const result = await sandbox.jpg(["query", "How high?"]);
    expect(result.code).toBe(4);
    expect(result.stdout).toBe("Five me\n");
    expect(result.stderr).toContain("kept as turn 4");
    expect(turnText(sandbox, 4)).toContain('"interrupted":true');
  });

  it("by an error of the provider leaves the conversation as it was, exits with 4 and says how to send it again", async () => {
    for (const [status, message, code] of [
      [401, "Incorrect API key", "wrong_key"],
      [404, "The model does not exist", "unknown_model"],
      [
        400,
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
        "context_overflow",
      ],
    ] as const) {
      const { sandbox } = await prepare((stream) =>
        stream.fail(status, message, code === "context_overflow" ? "context_length_exceeded" : undefined),
      );
      const before = storeState(sandbox);
      const result = await sandbox.jpg(["query", "--json", "How high?"]);
      expect(result.code).toBe(4);
      const { error } = JSON.parse(result.stdout) as { error: { code: string; hints: string[] } };
      expect(error.code).toBe(code);
      expect(error.hints.join("\n")).toContain("jpg query - < ");
      if (code === "context_overflow") expect(error.hints.join("\n")).toContain("compact");
      expect(storeState(sandbox)).toBe(before);
      expect(journals(sandbox)).toEqual([]);
    }
  });

  it("by a disk that takes no more loses nothing that was shown, and says so", async () => {
    const pieces = Array.from({ length: 400 }, (_, index) => `piece ${index} of a long answer, `);
    const { sandbox } = await prepare(say(...pieces));
    const { code, stdout, stderr } = await startJpg(sandbox, ["query", "Go on"], { maxFileKiB: 16 }).ended;
    expect(code).toBe(3);
    expect(stderr).toContain("cannot be saved to");
    expect(stdout.length).toBeGreaterThan(1000);
    expect(stderr).toContain("kept as turn 4");
    const line = turnText(sandbox, 4)
      .split("\n")
      .find((text) => text.includes('"chat_response"'));
    const { message } = JSON.parse(line ?? "{}") as { message: string };
    expect(message.startsWith(stdout.trimEnd())).toBe(true);
    expect(pieces.join("").startsWith(message)).toBe(true);
  });

  it("is not begun without a model or a key", async () => {
    const sandbox = await copyImportedSandbox(4);
    cleanUp.push(sandbox.remove);
    const before = storeState(sandbox);
    const result = await sandbox.jpg(["query", "--json", "-m", "anthropic/claude-haiku", "How high?"]);
    expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: "no_key" } });
    expect(result.stdout).toContain("ANTHROPIC_API_KEY");
    expect(result.code).toBe(4);
    expect(storeState(sandbox)).toBe(before);
  });
});

describe("others meanwhile", () => {
  it("are refused a second turn of the branch, and get one on a fork", async () => {
    const { answer, goOn } = sayAndWait("Five ", "metres.");
    let first = true;
    const { sandbox } = await prepare((stream, body, request) => {
      if (!first) return say("Second.")(stream, body, request);
      first = false;
      return answer(stream, body, request);
    });
    const jpg = startJpg(sandbox, ["query", "How high?"]);
    await jpg.untilShown("Five ");
    const second = await sandbox.jpg(["query", "--json", "And now?"]);
    expect(JSON.parse(second.stdout)).toMatchObject({ error: { kind: "user", code: "turn_open" } });
    expect(second.code).toBe(2);
    expect((await sandbox.jpg(["ls"])).stderr).toBe("");
    expect((await sandbox.jpg(["query", "--fork", "And now?"])).stdout).toBe("Second.\n");
    goOn();
    expect(await jpg.ended).toMatchObject({ stdout: "Five metres.\n", code: 0 });
    expect(turnText(sandbox, 4, branchOf(sandbox))).toContain("Five metres.");
  });

  it("compact the branch while the answer streams: the turn is built on it", async () => {
    const { answer, goOn } = sayAndWait("Five ", "metres.");
    const { sandbox } = await prepare(answer);
    const jpg = startJpg(sandbox, ["query", "How high?"]);
    await jpg.untilShown("Five ");
    expect((await sandbox.jpg(["compact", "--profile", "light"])).code).toBe(0);
    goOn();
    expect((await jpg.ended).code).toBe(0);
    expect(subjects(sandbox, 2)).toEqual(["turn 4: How high?", expect.stringMatching(/^compact 0\.\.0/)]);
    expect((await sandbox.jpg(["check"])).code).toBe(0);
    expect(storeState(sandbox)).toMatch(/--\n$/);
  });
});
