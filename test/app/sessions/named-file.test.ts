// A file that a user names for a result: replaced like any program's output, unless it is a session that nobody else has.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeNamedFile } from "../../../src/app/sessions/named-file.ts";
import { agents } from "../../../src/app/sessions/session-registry.ts";
import { sampleBodies } from "../../helpers/sample-inputs.ts";
import { createTestRuntime, type TestRuntime } from "../../helpers/workspace.ts";

let folder: string;
let runtime: TestRuntime;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "jpg-named-file-"));
  runtime = createTestRuntime(folder, { HOME: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string) => readFileSync(path, "utf8");

const APIS = ["anthropic", "openai-chat", "openai-responses", "google"];
/** In each session that jpg wrote for this test. */
const BY_JPG = "kelp-k3f9";

describe("writeNamedFile", () => {
  it.each(agents().map(({ name }) => name))(
    "replaces no session that %s alone has, and any that jpg wrote",
    async (name) => {
      const path = join(folder, "session");
      for (const body of new Set(sampleBodies(name))) {
        writeFileSync(path, body);
        const isKept = !APIS.includes(name) && !body.includes(BY_JPG);
        const error = isKept ? { kind: "user", code: "would_lose_session" } : undefined;
        const done = writeNamedFile(runtime, path, "other\n").catch((thrown: unknown) => thrown);
        if (error === undefined) expect(await done).toBeUndefined();
        else expect(await done).toMatchObject(error);
        expect(read(path) === body).toBe(isKept);
      }
    },
  );

  it("writes a session again, and with more at its end", async () => {
    const path = join(folder, "session.jsonl");
    const [body = ""] = sampleBodies("claude-code");
    writeFileSync(path, body);
    await writeNamedFile(runtime, path, Buffer.from(body));
    await writeNamedFile(runtime, path, `${body}{"type":"summary"}\n`);
    expect(read(path)).toBe(`${body}{"type":"summary"}\n`);
    await expect(writeNamedFile(runtime, path, body)).rejects.toMatchObject({ code: "would_lose_session" });
  });

  it("replaces nothing that stands in an agent's folder, where jpg's session may have grown, and writes new files there", async () => {
    const sessions = join(folder, ".claude", "projects", "-home-mara");
    mkdirSync(sessions, { recursive: true });
    const path = join(sessions, "a.jsonl");
    await writeNamedFile(runtime, path, `${BY_JPG}\n`);
    await writeNamedFile(runtime, path, `${BY_JPG}\nmore\n`);
    const link = join(folder, "mine.jsonl");
    symlinkSync(path, link);
    for (const named of [path, link])
      await expect(writeNamedFile(runtime, named, "new\n")).rejects.toThrow(
        /is in the folder of Claude Code, and would be/,
      );
    expect(read(path)).toBe(`${BY_JPG}\nmore\n`);
  });

  it.each(["", "# notes\n", "{}\n", "\0\x01", '{"type":"user"}\n'])("replaces anything else: %j", async (text) => {
    const path = join(folder, "out");
    writeFileSync(path, text);
    await writeNamedFile(runtime, path, "new\n");
    expect(read(path)).toBe("new\n");
  });
});
