// `jpg resume --with opencode`: the file that OpenCode takes, and what jpg asks OpenCode before it hands the session over. A small
// program stands for OpenCode here; opencode-loop.test.ts has the real one.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createImportedSandbox, type Sandbox } from "../helpers/run-jpg.ts";

type Json = Record<string, unknown>;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createImportedSandbox(2);
});
afterEach(() => sandbox.remove());

/** Puts a program in OpenCode's place: it notes how it is called, and prints what stands in `held.json`, if anything does. */
function installFake(): string {
  const bin = join(sandbox.root, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\necho "$PWD: $*" >> "$HOME/calls"\ntest "$1 $2" = "--pure export" && grep -q "\\"$3\\"" "$HOME/held.json" && cat "$HOME/held.json"\n`;
  writeFileSync(join(bin, "opencode"), script);
  chmodSync(join(bin, "opencode"), 0o755);
  return `${bin}:/usr/bin:/bin`;
}

interface Resumed {
  readonly session: string;
  readonly path: string;
  readonly reused: boolean;
}

async function resume(PATH: string): Promise<Resumed & Json> {
  return await sandbox.json<Resumed & Json>(["resume", "--with", "opencode"], { env: { PATH } });
}

/** What OpenCode would hold: the written session, printed in its own way, with more messages. */
function hold(path: string, ...more: readonly Json[]): void {
  const { info, messages } = JSON.parse(readFileSync(path, "utf8")) as { info: Json; messages: Json[] };
  const held = { info: { ...info, projectID: "p1" }, messages: [...messages, ...more] };
  writeFileSync(join(sandbox.home, "held.json"), JSON.stringify(held, null, 2));
}

describe("jpg resume --with opencode", () => {
  it("writes a file that OpenCode takes into its database, and says how", async () => {
    const report = await resume("/nowhere");
    const { session, path } = report;
    expect(report).toMatchObject({
      before: ["opencode", "import", path],
      command: ["opencode", "-s", session],
      directory: sandbox.project,
      reused: false,
    });
    expect(path).toBe(join(sandbox.home, ".local/share/jpg/opencode", `${session}.json`));
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ info: { id: session, directory: sandbox.project } });
    expect(await resume("/nowhere")).toMatchObject({ session, reused: true });
    const { stdout } = await sandbox.jpg(["resume", "--with", "opencode"], { env: { PATH: "/nowhere" } });
    expect(stdout).toBe(`opencode import ${path} && opencode -s ${session}\n`);
  });

  it("asks OpenCode what it holds, at home and without plug-ins", async () => {
    const PATH = installFake();
    const { session } = await resume(PATH);
    expect(readFileSync(join(sandbox.home, "calls"), "utf8")).toBe(`${sandbox.home}: --pure export ${session}\n`);
  });

  it("hands a session over again that OpenCode holds as it was written", async () => {
    const PATH = installFake();
    const { session, path } = await resume(PATH);
    hold(path);
    expect(await resume(PATH)).toMatchObject({ session, path, reused: true });
  });

  it("writes another session when OpenCode went on with the first one, or took something back in it", async () => {
    const PATH = installFake();
    const { session, path } = await resume(PATH);
    const text = readFileSync(path, "utf8");
    hold(path, { info: { id: "msg_new", role: "user" }, parts: [] });
    const second = await resume(PATH);
    expect(second).toMatchObject({ reused: false });
    expect(second.session).not.toBe(session);
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(existsSync(second.path)).toBe(true);
    hold(path);
    const held = join(sandbox.home, "held.json");
    writeFileSync(held, readFileSync(held, "utf8").replace('"info": {', '"info": {"revert": {"messageID": "msg_1"},'));
    expect((await resume(PATH)).session).toBe(second.session);
  });

  it("takes an answer that is not the session for none", async () => {
    const PATH = installFake();
    const { session, path } = await resume(PATH);
    writeFileSync(join(sandbox.home, "held.json"), `no such thing as "${session}"`);
    expect(await resume(PATH)).toMatchObject({ session, path });
  });
});
