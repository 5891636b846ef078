// Codex's sessions in the real command: found where Codex keeps them, also compressed, given back as they are, written where
// Codex looks, and never over what it wrote since.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ImportReport } from "../../src/app/import/import-report.ts";
import type { KeptRow } from "../../src/app/import/list-kept.ts";
import type { ResumeReport } from "../../src/app/import/resume.ts";
import { answer, type Json, meta, prompt, rolloutBytes } from "../helpers/codex-session.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

const ONE = "019b1111-2222-7333-8444-000000000001";
const TWO = "019b1111-2222-7333-8444-000000000002";

/** Keeps a session where Codex does. */
function keep(id: string, bytes: Uint8Array, { ending = ".jsonl", home = join(sandbox.home, ".codex") } = {}): string {
  const path = join(home, "sessions", "2026", "01", "02", `rollout-2026-01-02T03-04-05-${id}${ending}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}
const talk = (id: string, cwd: string, ...more: readonly Json[]): Buffer =>
  rolloutBytes([meta({ id, cwd }), prompt("Which kelp grows here?"), answer("Bull kelp."), ...more]);

/** A frame of zstd that stores its bytes as they are: magic, descriptor, size in 4 bytes, one raw block. */
function pack(bytes: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0b1010_0000, 4);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE((bytes.length << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
}

describe("the sessions that Codex keeps", () => {
  it("are found by the directory that they were made in, also under CODEX_HOME, archived or compressed", async () => {
    keep(ONE, talk(ONE, sandbox.project));
    keep(TWO, talk(TWO, "/somewhere/else"));
    const kept = await sandbox.json<KeptRow[]>(["import", "--list"]);
    expect(kept).toMatchObject([{ agent: "Codex", turns: 1, title: "Which kelp grows here?" }]);
    expect((await sandbox.jpg(["import", "--list"])).stdout).toMatch(/^AGENT .*\nCodex .* 1 .*Which kelp grows here\?/);
    expect(existsSync(sandbox.store)).toBe(false);
    expect((await sandbox.json<ImportReport[]>(["import"])).map(({ status }) => status)).toEqual(["created"]);
    const home = join(sandbox.root, "codex");
    keep(TWO, pack(talk(TWO, sandbox.project)), { ending: ".jsonl.zst", home });
    const found = await sandbox.json<ImportReport[]>(["import"], { env: { CODEX_HOME: home } });
    expect(found).toMatchObject([{ status: "created", title: "Which kelp grows here?", turns: 1 }]);
  });

  it("are listed with what is wrong with one of them; none is exit code 1", async () => {
    expect((await sandbox.jpg(["import", "--list"])).code).toBe(1);
    keep(ONE, pack(talk(ONE, sandbox.project)).subarray(0, 200), { ending: ".jsonl.zst" });
    const [row] = await sandbox.json<KeptRow[]>(["import", "--list"]);
    expect(row).toMatchObject({ agent: "Codex", problem: expect.stringContaining("cut off or damaged") });
    expect(await sandbox.jpg(["import", "--list", "x.jsonl"])).toMatchObject({ code: 2 });
  });

  it("have the names that Codex lists for them", async () => {
    keep(ONE, talk(ONE, sandbox.project));
    const name = (id: string, thread_name: string) =>
      JSON.stringify({ id, thread_name, updated_at: "2026-01-02T04:00:00.123456789Z" });
    const list = [name(ONE, "Kelp"), name(ONE, "Kelp by the pier"), name(TWO, "Crabs"), "{torn"];
    writeFileSync(join(sandbox.home, ".codex", "session_index.jsonl"), list.join("\n"));
    await sandbox.jpg(["import"]);
    expect((await sandbox.jpg(["status"])).stdout).toContain("Kelp by the pier");
  });

  it("are kept in sync by name", async () => {
    const path = keep(ONE, talk(ONE, sandbox.project));
    const sync = () => sandbox.json<{ sessions: ImportReport[] }>(["sync", "codex"]);
    expect((await sync()).sessions).toMatchObject([{ status: "created", turns: 1 }]);
    writeFileSync(path, talk(ONE, sandbox.project, prompt("And in winter?"), answer("None.")));
    expect((await sync()).sessions).toMatchObject([{ status: "updated", turns: 2 }]);
    expect((await sync()).sessions).toMatchObject([{ status: "unchanged" }]);
  });

  it("come back byte by byte, a compressed one as what it unpacks to, and are one session either way", async () => {
    const bytes = talk(ONE, sandbox.project);
    const packed = keep(ONE, pack(bytes), { ending: ".jsonl.zst" });
    await sandbox.jpg(["import", packed]);
    const out = join(sandbox.root, "original");
    expect((await sandbox.jpg(["export", "--original", "-o", out])).code).toBe(0);
    expect(readFileSync(out).equals(bytes)).toBe(true);
    const plain = keep(ONE, Buffer.concat([bytes, rolloutBytes([prompt("Two")])]));
    expect(await sandbox.json(["import", plain])).toMatchObject([{ status: "updated", turns: 2 }]);
  });
});

describe("a compressed session", () => {
  it("that is cut off is refused by name, and stops no other", async () => {
    const packed = keep(ONE, pack(talk(ONE, sandbox.project)).subarray(0, 200), { ending: ".jsonl.zst" });
    const alone = await sandbox.jpg(["import", packed]);
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain(`${packed} is compressed with zstd and is cut off or damaged`);
    keep(TWO, talk(TWO, sandbox.project));
    const both = await sandbox.jpg(["import"]);
    expect(both.stdout + both.stderr).toContain("1 created");
    expect(both.stdout + both.stderr).toContain("cut off or damaged");
  });

  it("is read from standard input too", async () => {
    const packed = pack(talk(ONE, sandbox.project));
    expect(await sandbox.json(["import", "-"], { input: packed })).toMatchObject([{ status: "created", turns: 1 }]);
  });
});

describe("jpg resume --with codex", () => {
  const resume = () => sandbox.json<ResumeReport>(["resume", "--with", "codex"]);

  /** Brings a conversation of another agent in: of a session of its own, Codex would resume that. */
  const bringIn = () => sandbox.jpg(["import", sandbox.session("small.jsonl", smallSession())]);

  it("writes a session where Codex looks, prints its command, and writes it once", async () => {
    await bringIn();
    const first = await resume();
    expect(first.path).toMatch(
      /\.codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f-]{36}\.jsonl$/,
    );
    expect(first).toMatchObject({ agent: "codex", command: ["codex", "resume", first.session], reused: false });
    const text = await sandbox.jpg(["resume", "--with", "codex"]);
    expect(text.stdout).toContain(`codex resume ${first.session}`);
    expect(await resume()).toMatchObject({ path: first.path, reused: true });
    expect(readdirSync(dirname(first.path))).toHaveLength(1);
    expect(await sandbox.json(["import", first.path])).toMatchObject([{ status: "unchanged", turns: 6 }]);
  });

  it("names the model provider that Codex uses here: at a terminal it resumes no session without one", async () => {
    await bringIn();
    const provider = async () =>
      (JSON.parse(readFileSync((await resume()).path, "utf8").split("\n", 1)[0] ?? "") as { payload: Json }).payload[
        "model_provider"
      ];
    expect(await provider()).toBe("openai");
    const config = ['model_provider = "reef" # ours', "", "[model_providers.reef]", 'model_provider = "other"', ""];
    mkdirSync(join(sandbox.home, ".codex"), { recursive: true });
    writeFileSync(join(sandbox.home, ".codex", "config.toml"), config.join("\n"));
    expect(await provider()).toBe("reef");
  });

  it("never overwrites what Codex wrote since, nor a session that Codex compressed or archived", async () => {
    keep(ONE, talk(ONE, sandbox.project));
    await sandbox.jpg(["import"]);
    const paths = [await resume()];
    writeFileSync(paths[0]!.path, `${readFileSync(paths[0]!.path, "utf8")}{}\n`);
    paths.push(await resume());
    renameSync(paths[1]!.path, `${paths[1]!.path}.zst`);
    paths.push(await resume());
    expect(new Set(paths.map(({ path }) => path)).size).toBe(3);
    expect(readFileSync(paths[0]!.path, "utf8").endsWith("{}\n")).toBe(true);
    expect(existsSync(paths[1]!.path)).toBe(false);
  });
});
