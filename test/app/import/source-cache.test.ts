// @module-tag law
// Importing again what is remembered: with and without the cache, whatever happened to files and store in between, the
// reports and the refs are the same.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSealedCache } from "../../../src/app/conversation/caches.ts";
import { openWorkspace, type Workspace } from "../../../src/app/conversation/workspace.ts";
import { type ImportOutcome, importSessions } from "../../../src/app/import/import.ts";
import { runs } from "../../helpers/runs.ts";
import { buildSession, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";
import {
  copyStore,
  createTempFolder,
  createTempStore,
  git,
  type TempFolder,
  type TempStore,
} from "../../helpers/temp-repository.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

const CACHE = "jpg-cache/sources-1";
const SESSIONS = ["5e551073-0000-4000-8000-00000000000a", "5e551073-0000-4000-8000-00000000000b"] as const;
/** By its clock every file is old enough to be believed. */
const LATER = 3_600_000;

let folder: TempFolder;
let open: World[] = [];
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(async () => {
  for (const world of open) await world.remove();
  open = [];
  folder.remove();
});

/** A store into which the same files are imported as into others. */
interface World {
  readonly temp: TempStore;
  readonly cache: string;
  import(request?: { allBranches?: boolean; format?: string; path?: string }): Promise<ImportOutcome>;
  git(...args: string[]): string;
  use(branch: string): Promise<void>;
  /** Writes another text into the cache, as jpg does. */
  changeCache(change: (text: string) => string): Promise<void>;
  backUp(): void;
  restore(): void;
  remove(): Promise<void>;
}

async function createWorld(clock = LATER): Promise<World> {
  const temp = await createTempStore();
  const runtime = { ...createTestRuntime(folder.path, temp.env), now: () => new Date(Date.now() + clock) };
  const using = async <T>(act: (workspace: Workspace) => Promise<T>): Promise<T> => {
    const workspace = await openWorkspace(runtime, { store: temp.root });
    return act(workspace).finally(() => workspace.close());
  };
  const copy = join(temp.folder, "copy");
  const world: World = {
    temp,
    cache: join(temp.root, ".git", CACHE),
    import: ({ allBranches = false, format, path = sessionPath() } = {}) =>
      using((workspace) =>
        importSessions(workspace, { paths: [path], allBranches, ...(format === undefined ? {} : { format }) }),
      ),
    git: (...args) => git(temp.root, temp.env, args),
    use: (branch) => using(({ store }) => store.useBranch(branch)),
    changeCache: (change) =>
      using(({ store }) => {
        const cache = openSealedCache(store, "sources-1");
        return cache.write(change(String(cache.read())));
      }),
    backUp: () => copyStore(temp.root, copy, { keepTimes: true }),
    restore() {
      rmSync(temp.root, { recursive: true });
      renameSync(copy, temp.root);
      this.backUp();
    },
    remove: async () => temp.remove(),
  };
  open.push(world);
  return world;
}

function sessionPath(name = ""): string {
  return join(folder.path, "sessions", name);
}

function write(name: string, bytes: Uint8Array): string {
  mkdirSync(dirname(sessionPath(name)), { recursive: true });
  writeFileSync(sessionPath(name), bytes);
  return sessionPath(name);
}

/** Changes a letter and leaves size and time of change as they were. */
function changeInSecret(path: string): void {
  const { atime, mtime } = statSync(path);
  const text = readFileSync(path, "utf8");
  const at = text.lastIndexOf("answer") + 3;
  writeFileSync(path, `${text.slice(0, at)}${text[at] === "w" ? "v" : "w"}${text.slice(at + 1)}`);
  utimesSync(path, atime, mtime);
}

const refs = (world: World): string => `${world.git("for-each-ref")}\n${world.git("symbolic-ref", "HEAD")}`;
const statuses = ({ sessions }: ImportOutcome): string[] => sessions.map(({ status }) => status);

describe("importing again", () => {
  it("believes what it remembers of an unchanged file, and looks again when anything of it changed", async () => {
    const world = await createWorld();
    const path = write("a.jsonl", buildSession(plainTurns(3), { session: SESSIONS[0] }).text());
    await world.import();
    // A value that only the cache has shows whether the file was read.
    const isBelieved = async (): Promise<boolean> => {
      const [before] = (await world.import()).sessions;
      world.git("branch", "-f", `${before!.id}/elsewhere`, before!.branch);
      await world.import();
      await world.changeCache((text) =>
        text.replace(`"branch":"${before!.branch}"`, `"branch":"${before!.id}/elsewhere"`),
      );
      const [after] = (await world.import()).sessions;
      rmSync(world.cache);
      await world.import();
      return after!.branch === `${before!.id}/elsewhere`;
    };
    expect(await isBelieved()).toBe(true);
    const changes: readonly (() => void)[] = [
      () => utimesSync(path, new Date(), new Date()),
      () => changeInSecret(path),
      () => {
        cpSync(path, `${path}.new`, { preserveTimestamps: true });
        renameSync(`${path}.new`, path);
      },
      () => write("a/tool-results/side.txt", Buffer.from("one")),
      () => changeInSecret(write("a/tool-results/side.txt", Buffer.from("answer"))),
      () => rmSync(sessionPath("a"), { recursive: true }),
    ];
    for (const change of changes) {
      await world.import();
      const before = readFileSync(world.cache, "utf8");
      change();
      await world.import();
      expect(readFileSync(world.cache, "utf8")).not.toBe(before);
    }
  });

  it("does not believe what somebody else wrote, in a store that was copied", async () => {
    const world = await createWorld();
    write("a.jsonl", buildSession(plainTurns(2), { session: SESSIONS[0] }).text());
    await world.import();
    const before = readFileSync(world.cache, "utf8");
    world.backUp();
    world.restore();
    expect(statuses(await world.import())).toEqual(["unchanged"]);
    const after = readFileSync(world.cache, "utf8");
    expect(after.slice(64)).toBe(before.slice(64));
    expect(after.slice(0, 64)).not.toBe(before.slice(0, 64));
  });

  it("does not believe a file that may have changed since within one tick of the clock", async () => {
    // A clock earlier than the files' times, however long the machine takes until the import.
    const world = await createWorld(-10_000);
    write("a.jsonl", buildSession(plainTurns(2), { session: SESSIONS[0] }).text());
    expect(statuses(await world.import())).toEqual(["created"]);
    expect(readFileSync(world.cache, "utf8")).toMatch(/^[0-9a-f]{64}\[\]$/);
  });

  it("ignores a damaged cache, and one that it cannot write", async () => {
    const world = await createWorld();
    write("a.jsonl", buildSession(plainTurns(2), { session: SESSIONS[0] }).text());
    await world.import();
    const sound = readFileSync(world.cache, "utf8");
    const expected = (await world.import()).sessions;
    for (const damaged of ["", "{}", sound.slice(0, -20), sound.replace(/"branch":"./, '"branch":"_'), "\0\n\0"]) {
      writeFileSync(world.cache, damaged);
      expect((await world.import()).sessions).toEqual(expected);
      expect(readFileSync(world.cache, "utf8")).toBe(sound);
    }
    rmSync(world.cache);
    mkdirSync(world.cache);
    expect((await world.import()).sessions).toEqual(expected);
  });

  it("asks for the format again where it was named", async () => {
    const world = await createWorld();
    write("a.jsonl", buildSession(plainTurns(2), { session: SESSIONS[0] }).text());
    await world.import({ format: "claude-code" });
    const before = readFileSync(world.cache, "utf8");
    await world.import();
    expect(readFileSync(world.cache, "utf8")).not.toBe(before);
  });

  it("gives what it gives without the cache, whatever happened meanwhile", { tags: ["slow"] }, async () => {
    const steps = fc.constantFrom<SessionStep[]>(
      ["prompt", "say"],
      ["say"],
      [{ rewind: 1 }, "say"],
      [{ compact: 0 }],
      ["title"],
    );
    const happening = fc.oneof(
      fc.record({ kind: fc.constant("grow" as const), file: fc.nat(1), steps }),
      fc.record({
        kind: fc.constantFrom(
          ...(["nothing", "touch", "secret", "rename", "truncate", "copy", "side", "noSide"] as const),
          ...(["deleteBranch", "moveBranch", "addBranch", "use", "restore", "allBranches", "noCache"] as const),
        ),
        file: fc.nat(1),
        which: fc.nat(20),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 4, maxLength: 8 }), async (happenings) => {
        rmSync(sessionPath(), { recursive: true, force: true });
        const [cached, plain] = [await createWorld(), await createWorld()];
        const grown: SessionStep[][] = [plainTurns(2), plainTurns(3)];
        const store = (file: number): string =>
          write(`${file}.jsonl`, buildSession(grown[file]!, { session: SESSIONS[file]! }).text());
        [0, 1].map(store);
        const check = async (allBranches: boolean): Promise<void> => {
          rmSync(plain.cache, { force: true });
          expect(await cached.import({ allBranches })).toEqual(await plain.import({ allBranches }));
          expect(refs(cached)).toBe(refs(plain));
        };
        await check(false);
        for (const world of [cached, plain]) world.backUp();
        for (const happened of happenings) {
          const path = sessionPath(`${happened.file}.jsonl`);
          const names = cached.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
          const branch = "which" in happened ? names[happened.which % names.length]! : "";
          const both = (...args: string[]): void => {
            for (const world of [cached, plain]) world.git(...args);
          };
          const acts: Record<typeof happened.kind, () => unknown> = {
            nothing: () => null,
            allBranches: () => null,
            grow: () => {
              if ("steps" in happened) grown[happened.file]!.push(...happened.steps);
              store(happened.file);
            },
            touch: () => utimesSync(path, new Date(), new Date()),
            secret: () => changeInSecret(path),
            rename: () => {
              cpSync(path, `${path}.new`, { preserveTimestamps: true });
              renameSync(`${path}.new`, path);
            },
            truncate: () =>
              write(
                `${happened.file}.jsonl`,
                buildSession(grown[happened.file]!, { session: SESSIONS[happened.file]! }).text(4),
              ),
            copy: () => cpSync(path, sessionPath("copy.jsonl")),
            side: () =>
              write(`${happened.file}/side.txt`, Buffer.from(`side ${"which" in happened ? happened.which : ""}`)),
            noSide: () => rmSync(sessionPath(String(happened.file)), { recursive: true, force: true }),
            deleteBranch: () => {
              // Never the active one: git refuses.
              const other = names.find((name) => name !== cached.git("symbolic-ref", "--short", "HEAD"));
              if (other !== undefined) both("branch", "-D", other);
            },
            moveBranch: () => {
              const older = cached.git("rev-list", branch).split("\n")[1];
              if (older !== undefined) both("update-ref", `refs/heads/${branch}`, older);
            },
            addBranch: () =>
              both("branch", "-f", `${branch.slice(0, branch.lastIndexOf("/"))}/other${names.length}`, branch),
            use: () => Promise.all([cached.use(branch), plain.use(branch)]),
            restore: () => [cached, plain].map((world) => world.restore()),
            noCache: () => rmSync(cached.cache, { force: true }),
          };
          await acts[happened.kind]();
          await check(happened.kind === "allBranches");
        }
      }),
      { numRuns: runs(6) },
    );
  });
});
