// Which model is asked where nobody named one: that of the only provider with a key, and a conversation from elsewhere only after
// a yes. A server on loopback stands in for the provider and keeps what it is sent.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { createLongSession } from "../helpers/long-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const SESSION = "5e551073-0000-4000-8000-00000000000c";
const GROQ = "groq/llama-3.3-70b-versatile";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Place extends Sandbox {
  readonly server: ChatServer;
  /** Models that were asked so far; forgets them. */
  asked(): readonly string[];
}

/** A place with a key for groq alone. */
async function prepare(): Promise<Place> {
  const server = await startChatServer((stream) => {
    stream.text("The wall stands.");
    stream.finish();
  }, 8000);
  const sandbox = createSandbox();
  closers.push(() => server.close(), sandbox.remove);
  Object.assign(sandbox.env, { GROQ_API_KEY: "invented", GROQ_BASE_URL: server.url });
  return { ...sandbox, server, asked: () => server.requests.splice(0).map(({ model }) => model) };
}

/** The same with a session of Claude, in which anthropic answered. */
async function prepareImported(): Promise<Place> {
  const place = await prepare();
  const folder = join(place.home, ".claude/projects", place.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${SESSION}.jsonl`);
  writeFileSync(file, createLongSession(SESSION).turns(4).bytes());
  expect((await place.jpg(["import", file])).code).toBe(0);
  return place;
}

function open({ project, env }: Place, words: readonly string[]): Pane {
  const pane = openPane([process.execPath, BIN, ...words], { cwd: project, env });
  closers.push(() => pane.close());
  return pane;
}

describe("with one key and no model named", () => {
  it("a new conversation asks its provider's usual model, says so, and goes on with the one that answered", async () => {
    const { jpg, asked } = await prepare();
    const first = await jpg(["query", "--new", "How high is it?"]);
    expect(first).toMatchObject({ code: 0, stdout: "The wall stands.\n" });
    expect(first.stderr).toContain(`Asking ${GROQ}: GROQ_API_KEY is the only key here. --model names another model.`);
    expect((await jpg(["query", "And now?"])).code).toBe(0);
    expect(asked()).toEqual(["llama-3.3-70b-versatile", "llama-3.3-70b-versatile"]);
    expect((await jpg(["-q", "query", "And now?"])).stderr).toBe("");
  });

  it("the model that answered last is asked, where it is of the same provider", async () => {
    const { jpg, asked } = await prepare();
    expect((await jpg(["query", "--new", "-m", "groq/gpt-oss-120b", "How high is it?"])).code).toBe(0);
    await jpg(["query", "--fork", "And now?"]);
    expect(asked()).toEqual(["gpt-oss-120b", "gpt-oss-120b"]);
  });

  it("a conversation of another company is not sent where nobody can be asked; what to type is said", async () => {
    const { jpg, asked } = await prepareImported();
    for (const command of [
      ["query", "Go on"],
      ["query", "--fork", "Go on"],
      ["query", "--compact", "Go on"],
    ]) {
      const refused = await jpg(command);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /anthropic\/claude.* answered last in this conversation, and GROQ_API_KEY is the only key here. Send it to groq/,
      );
      expect(refused.stderr).toContain(`Answer in advance: --model ${GROQ}`);
    }
    expect(asked()).toEqual([]);
    expect((await jpg(["query", "-m", GROQ, "Go on"])).code).toBe(0);
    expect((await jpg(["query", "And now?"])).code).toBe(0);
    expect(asked()).toHaveLength(2);
  });

  it("writes no summary: not by hand, not automatically, not in the same call", async () => {
    const place = await prepare();
    const { jpg, asked } = place;
    writeUserConfig(
      place,
      '[conversation.compaction]\nkeep_last = 0\n[conversation.compaction.auto]\nenabled = true\ntrigger_ratio = 0.0001\nmin_turns = 0\nprofile = "heavy"\n',
    );
    for (const words of [["--new"], [], ["--compact=heavy"]])
      expect((await jpg(["query", ...words, `How high is it? ${"The pier. ".repeat(200)}`])).code).toBe(0);
    expect(asked()).toHaveLength(3);
    expect((await jpg(["compact", "-p", "heavy", "--keep", "0"])).code).toBe(0);
    expect(asked()).toEqual([]);
  });

  it("two keys are named with what to type, and nothing is sent", async () => {
    const { jpg, asked, env, server } = await prepare();
    Object.assign(env, { OPENAI_API_KEY: "invented", OPENAI_BASE_URL: server.url });
    await jpg(["init"]);
    const refused = await jpg(["query", "--new", "How high is it?"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      "OPENAI_API_KEY is set, but a key alone names no model; name one of openai once: --model openai/gpt-6-luna",
    );
    expect(refused.stderr).toContain(
      `GROQ_API_KEY is set, but a key alone names no model; name one of groq once: --model ${GROQ}`,
    );
    expect(refused.stderr).toMatch(/No conversation was started; .*`jpg query --new - < '.*'` sends it again/);
    expect(asked()).toEqual([]);
  });
});

describe.skipIf(tmuxMissing !== null)("asked at a terminal (tmux)", () => {
  it("a conversation of another company is sent after a yes, once for all", async () => {
    const place = await prepareImported();
    const pane = open(place, ["query", "Go on"]);
    await pane.shows(/Send it to groq.* \[y\/N\]/s);
    expect(place.asked()).toEqual([]);
    pane.type("y", "Enter");
    await pane.shows("left with 0");
    expect(place.asked()).toEqual(["llama-3.3-70b-versatile"]);
    expect((await place.jpg(["query", "And now?"])).stderr).not.toContain("Asking");
    expect(place.asked()).toHaveLength(1);
  });

  it.each([["query", "Go on"], ["chat"]])("a no sends nothing: %s", async (...words) => {
    const place = await prepareImported();
    const pane = open(place, words);
    await pane.shows(/Send it to groq.* \[y\/N\]/s);
    pane.type("Enter");
    const shown = await pane.shows("left with 2");
    expect(shown).toContain(`\`--model ${GROQ}\` sends it there after all`);
    expect(place.asked()).toEqual([]);
  });
});
