// @module-tag slow
// jpg inside the running OpenCode: it is compacted, works on, is compacted again, taken back; what it sends is jpg's view each time,
// and its store keeps everything. Needs the agents (JPG_AGENTS_DIR).
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { linesOf, type ModelRequest } from "../agents/acting-model.ts";
import { findAgent } from "../agents/drivers.ts";
import { createOpenCodePlace, type OpenCodePlace, type OpenCodeServer } from "../agents/opencode-live.ts";
import { agentsFolder } from "../helpers/real-agent.ts";

type Json = Record<string, unknown>;

const agent = agentsFolder === undefined ? null : findAgent("opencode", agentsFolder);
const why = agent === null ? " (SKIPPED: set JPG_AGENTS_DIR)" : "";
const TIME = 240_000;

let place: OpenCodePlace;
afterEach(() => place.close());

async function open(jpg?: readonly string[]): Promise<{ readonly server: OpenCodeServer; readonly session: string }> {
  place = await createOpenCodePlace({ program: agent?.program ?? "", jpg });
  const server = await place.open();
  return { server, session: await server.session() };
}

async function readFiles(server: OpenCodeServer, session: string, names: string): Promise<ModelRequest> {
  let request: ModelRequest | undefined;
  for (const name of names)
    request = await server.prompt(session, `call read {"filePath":"${place.work}/${name}.txt"}`);
  return request as ModelRequest;
}

/** The view, as the store has it. */
async function view(): Promise<readonly string[]> {
  return linesOf(JSON.parse(await place.jpg("export", "--to", "anthropic", "--messages")) as ModelRequest);
}

describe.skipIf(agent === null)(`real agent: jpg inside OpenCode ${agent?.version ?? ""}${why}`, () => {
  it("compacts twice and takes both back; what is sent is the view, and the session stays whole", {
    timeout: TIME,
  }, async () => {
    const { server, session } = await open();
    await readFiles(server, session, "abcdab");
    const asked = place.model.requests.length;
    await server.command(session, "jpg-compact");
    // The model is not asked about a command.
    expect(place.model.requests.length).toBe(asked);
    expect(statSync(place.editsFile(session)).mode & 0o777).toBe(0o600);
    const first = await view();
    expect(linesOf(await server.prompt(session, "after the first"))).toEqual([...first, "user: after the first"]);
    await readFiles(server, session, "cd");
    await server.command(session, "jpg-compact", "heavy");
    const second = await view();
    expect(second[0]).toBe("user: [Summary of previous conversation]");
    expect(linesOf(await server.prompt(session, "after the second"))).toEqual([...second, "user: after the second"]);
    await server.command(session, "jpg-undo");
    expect((await view()).slice(0, first.length)).toEqual(first);
    const undone = linesOf(await server.prompt(session, "after the first undo"));
    expect(undone.slice(0, first.length)).toEqual(first);
    await server.command(session, "jpg-undo");
    const whole = await view();
    expect(existsSync(place.editsFile(session))).toBe(false);
    expect(linesOf(await server.prompt(session, "after the second undo"))).toEqual([
      ...whole,
      "user: after the second undo",
    ]);
    await server.stop();
    const kinds = (JSON.parse(await place.jpg("log", "--json")) as readonly Json[]).map(({ kind }) => kind);
    expect(kinds.reverse()).toEqual(["compaction", "compaction", "revert", "revert"]);
    const { messages } = (await place.exported(session)) as { readonly messages: readonly { readonly info: Json }[] };
    expect(messages.filter(({ info }) => info["role"] === "user").length).toBe(12);
    expect(await place.jpg("fsck")).toMatch(/^nothing wrong in 1 branch/);
  });

  it("lets OpenCode's own summary read what the model reads, and shows the summary", { timeout: TIME }, async () => {
    const { server, session } = await open();
    await readFiles(server, session, "abcdab");
    await server.command(session, "jpg-compact", "heavy");
    const [request] = linesOf(await server.summarize(session));
    expect(request).toContain("Extract of turns");
    expect(linesOf(await server.prompt(session, "after it"))).toContain("assistant: Summary 1.");
  });

  it("sends the session as it is with a file that is damaged, of another session, or old, and without jpg", {
    timeout: TIME,
  }, async () => {
    const { server, session } = await open();
    await readFiles(server, session, "abcdab");
    const whole = await view();
    await server.command(session, "jpg-compact");
    const text = readFileSync(place.editsFile(session), "utf8");
    const prompts: string[] = [];
    for (const other of [
      text.slice(0, 40),
      text.replaceAll(session, "ses_other"),
      text.replaceAll("prt_", "prt_gone"),
      "null",
    ]) {
      writeFileSync(place.editsFile(session), other);
      prompts.push(`number ${prompts.length}`);
      const sent = linesOf(await server.prompt(session, prompts.at(-1) as string));
      expect(sent.slice(0, whole.length)).toEqual(whole);
      await server.settle();
    }
    await place.close();
    const alone = await open(["/nowhere/jpg", "live"]);
    await readFiles(alone.server, alone.session, "a");
    await alone.server.command(alone.session, "jpg-compact");
    expect(linesOf(await alone.server.prompt(alone.session, "go on")).at(-1)).toBe("user: go on");
  });
});
