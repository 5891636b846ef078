// One bad file among several: the good ones are imported, the bad one is named, the exit code says so.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = createSandbox();
});
afterAll(() => sandbox.remove());

interface Row {
  readonly status: string;
  readonly source: string;
  readonly error?: { readonly code: string; readonly message: string };
}

describe("jpg import of several files", () => {
  it("imports the good ones of those named, and ends with 2", async () => {
    const good = ["a", "c"].map((id) => sandbox.session(`${id}.jsonl`, smallSession({ turns: 2, id })));
    const bad = sandbox.session("b.jsonl", "hello\n");
    const { code, stdout, stderr } = await sandbox.jpg(["import", good[0]!, bad, good[1]!, "--json"]);
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.map(({ status, source }) => [status, source])).toEqual([
      ["created", good[0]],
      ["created", good[1]],
      ["failed", bad],
    ]);
    expect(rows[2]!.error).toMatchObject({ code: "not_a_session", message: expect.stringContaining(bad) });
    expect(stderr).toContain(bad);
    expect(code).toBe(2);
  });

  it("imports the good ones of a folder, whatever id or depth another has, and says which hold none", async () => {
    const folder = join(sandbox.root, "sessions", "many");
    const deep = `{"type":"user","uuid":"u","message":{"content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`;
    const git = smallSession({ turns: 2 })
      .toString()
      .replace(/"sessionId":"[^"]*"/g, '"sessionId":".git"');
    sandbox.session("many/deep.jsonl", `${deep}${smallSession({ turns: 2, id: "deep" }).toString()}`);
    sandbox.session("many/git.jsonl", git);
    sandbox.session("many/good.jsonl", smallSession({ turns: 2, id: "good" }));
    sandbox.session("many/other.jsonl", '{"kind":"no session"}\n');
    const { code, stdout } = await sandbox.jpg(["import", folder, "--json"]);
    const rows = JSON.parse(stdout) as Row[];
    expect(rows.map(({ status }) => status)).toEqual(["created", "created", "created", "failed"]);
    expect(code).toBe(0);
  });
});
