// Tools that were never called: what jpg records of every request's, and what a model server on loopback is sent of them
// before and after `compact -s prune-tools`, and once that is taken back.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatAnswer, type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

const MCP_SERVER = fileURLToPath(new URL("../fixtures/mcp/server.mjs", import.meta.url));
/** Jpg's own tools: they stay. */
const OWN = ["compact", "search", "show"];
const SERVERS = ["dies", "env", "fails", "flood", "hangs", "harbour_chart_v2", "large", "parts", "pictures", "refuses"];
const OFFERED = [...OWN, ...SERVERS, "structured", "tide"].sort();

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

/** Calls `tide` when it is asked to, and speaks else. */
const answer: ChatAnswer = (stream, { messages }) => {
  const last = messages.at(-1);
  if (last?.role === "user" && String(last.content).includes("Call")) {
    stream.call("tide", '{"pier":"A"}');
    stream.finish("tool_calls");
  } else {
    stream.text("Two metres.");
    stream.finish();
  }
};

async function prepare(): Promise<{ sandbox: ImportedSandbox; server: ChatServer }> {
  const server = await startChatServer(answer);
  cleanUp.push(() => server.close());
  const sandbox = await copyImportedSandbox(4);
  cleanUp.push(sandbox.remove);
  const command = `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([MCP_SERVER])}\nconfirm = false\n`;
  writeUserConfig(sandbox, `${server.config}\n[mcp.servers.files]\n${command}`);
  return { sandbox, server };
}

const namesOf = (tools: unknown): string[] =>
  ((tools ?? []) as readonly { readonly function: { readonly name: string } }[])
    .map((tool) => tool.function.name)
    .sort();
const sentLast = ({ requests }: ChatServer): string[] => namesOf(requests.at(-1)?.tools);

async function exported(sandbox: ImportedSandbox, ...more: string[]): Promise<string[]> {
  const body = await sandbox.json<{ readonly tools?: unknown }>([
    "export",
    "--to",
    "openai-chat",
    "--model",
    "test/model-1",
    ...more,
  ]);
  return namesOf(body.tools);
}

const configs = (sandbox: ImportedSandbox): string[] =>
  sandbox.git(["ls-tree", "-r", "--name-only", "HEAD", "config"]).split("\n").filter(Boolean);

describe("tools that were never called", () => {
  it("are recorded once, pruned from requests and exports, and offered again once that is taken back", {
    tags: ["slow"],
  }, async () => {
    const { sandbox, server } = await prepare();
    await sandbox.jpg(["query", "Call it"]);
    await sandbox.jpg(["query", "And now?"]);
    expect(sentLast(server)).toEqual(OFFERED);
    expect(configs(sandbox)).toHaveLength(1);
    expect(await exported(sandbox)).toEqual(OFFERED);

    const dry = await sandbox.json(["compact", "-s", "prune-tools", "--keep", "0", "--dry-run"]);
    const report = await sandbox.json(["compact", "-s", "prune-tools", "--keep", "0"]);
    const names = OFFERED.filter((name) => name !== "tide" && !OWN.includes(name));
    expect(report).toMatchObject({ policies: "11 unused tools pruned", pruned: { names } });
    for (const key of ["pruned", "tokens", "cache", "policies"]) expect(report[key]).toEqual(dry[key]);
    const { before, after } = report["tokens"] as { before: number; after: number };
    const { tokens } = report["pruned"] as { tokens: number };
    expect(tokens).toBeGreaterThan(100);
    expect(before - after).toBe(tokens);
    // Tools begin what is sent: nothing of it is read from a cache the next time.
    expect(report["cache"]).toMatchObject({ prefix_kept: 0, rewritten: after, saved_per_call: tokens });
    expect((await sandbox.jpg(["show", String(report["compaction"]), "--full"])).stdout).toContain("Tools pruned:");
    expect((await sandbox.json<{ tokens: { view: number } }>(["stats"])).tokens.view).toBe(after);

    await sandbox.jpg(["query", "And then?"]);
    expect(sentLast(server)).toEqual([...OWN, "tide"]);
    expect(await exported(sandbox)).toEqual([...OWN, "tide"]);
    expect(await exported(sandbox, "--full-history")).toEqual(OFFERED);
    expect(configs(sandbox)).toHaveLength(1);
    expect((await sandbox.jpg(["compact", "-s", "prune-tools", "--keep", "0"])).stdout).toContain("Nothing to compact");

    await sandbox.jpg(["undo"]);
    await sandbox.jpg(["query", "And again?"]);
    expect(sentLast(server)).toEqual(OFFERED);
    expect((await sandbox.jpg(["fsck"])).stdout).toContain("nothing wrong");
  });

  it("stay pruned within a turn, and in a fork of the first turns", async () => {
    const { sandbox, server } = await prepare();
    await sandbox.jpg(["query", "Call it"]);
    await sandbox.jpg(["compact", "-s", "prune-tools", "--keep", "0"]);
    await sandbox.jpg(["query", "Call it again"]);
    expect(server.requests.slice(-2).map(({ tools }) => namesOf(tools))).toEqual([
      [...OWN, "tide"],
      [...OWN, "tide"],
    ]);
    await sandbox.json(["fork", "--first", "5"]);
    expect(await exported(sandbox)).toEqual([...OWN, "tide"]);
    expect((await sandbox.jpg(["fsck"])).stdout).toContain("nothing wrong");
  });

  it("are recorded again when they change", async () => {
    const { sandbox, server } = await prepare();
    await sandbox.jpg(["query", "Hello"]);
    writeUserConfig(sandbox, server.config);
    await sandbox.jpg(["query", "Hello again"]);
    expect(configs(sandbox)).toHaveLength(2);
    expect(await exported(sandbox)).toEqual(OWN);
    expect(await exported(sandbox, "--at", "4")).toEqual(OFFERED);
  });
});

describe("tools of an agent", () => {
  it("are taken from its snapshots of the prompt, and the agent goes on sending them", async () => {
    const { sandbox } = await prepare();
    const schema = (properties: object) => ({ input_schema: { type: "object", properties } });
    const session = "5e551073-0000-4000-8000-0000000000cc";
    const line = (uuid: string, parentUuid: string | null, more: object) => ({
      uuid,
      parentUuid,
      sessionId: session,
      isSidechain: false,
      timestamp: "2026-03-01T09:00:00.000Z",
      version: "2.1.330",
      ...more,
    });
    const tools = [
      { name: "Bash", description: "Runs.", schema: schema({ command: { type: "string" } }) },
      { name: "Write", description: "Writes.", schema: schema({}) },
    ];
    const call = { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } };
    const message = { id: "m1", role: "assistant", model: "claude-opus-4-8" };
    const text = [{ type: "text", text: "One file." }];
    const lines = [
      line("a1", null, { type: "user", message: { role: "user", content: "List it" } }),
      line("a2", "a1", { type: "assistant", message: { ...message, content: [call] } }),
      line("a3", "a2", {
        type: "attachment",
        attachment: { type: "prompt_snapshot", systemPrompt: ["Be kind."], tools },
      }),
      line("a4", "a3", {
        type: "user",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a.txt" }] },
      }),
      line("a5", "a4", { type: "assistant", message: { ...message, id: "m2", content: text } }),
    ];
    const file = sandbox.session("snapshot.jsonl", lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const [{ branch }] = (await sandbox.json<[{ branch: string }]>(["import", file])) as [{ branch: string }];
    await sandbox.jpg(["use", branch]);
    const body = async (): Promise<readonly { readonly name: string }[]> =>
      (await sandbox.json<{ tools: readonly { readonly name: string }[] }>(["export", "--to", "anthropic"])).tools;
    expect(await body()).toMatchObject([
      { name: "Bash", description: "Runs.", ...schema({ command: { type: "string" } }) },
      { name: "Write" },
    ]);
    const report = await sandbox.json(["compact", "-s", "prune-tools", "--keep", "0"]);
    expect(report).toMatchObject({ pruned: { names: ["Write"], tokens: 0 } });
    expect((report["warnings"] as string[]).join()).toContain("the agent still sends all its tools");
    expect((await body()).map(({ name }) => name)).toEqual(["Bash"]);
    writeFileSync(file, `${lines.map((each) => JSON.stringify(each)).join("\n")}\n`);
    expect(await sandbox.json(["import", file])).toMatchObject([{ status: "unchanged" }]);
  });
});
