// Workspaces for tests of the app: over a store in memory, or over a real one in a temporary folder. Clock and randomness
// count up, so that a test that fails fails again.
import { join } from "node:path";
import { type Runtime, sha256 } from "../../src/app/conversation/runtime.ts";
import { openWorkspace, type Workspace } from "../../src/app/conversation/workspace.ts";
import { importSessions } from "../../src/app/import/import.ts";
import type { ImportReport } from "../../src/app/import/import-report.ts";
import type { ImportRequest } from "../../src/app/import/import-request.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ConversationStore } from "../../src/store/store.ts";
import { createMemoryStore } from "./embedded-store.ts";
import { createTempStore, keepFolder, type TempStore } from "./temp-repository.ts";

const DAY_MS = 86_400_000;

export interface TestRuntime extends Runtime {
  /** What standard input holds. */
  stdin: Uint8Array;
}

/** A runtime whose clock goes on by a second each time it is asked. */
export function createTestRuntime(
  cwd: string,
  env: Record<string, string> = {},
  start = "2026-05-01T12:00:00Z",
): TestRuntime {
  let seconds = 0;
  let seed = 1;
  return {
    env,
    cwd,
    home: env["HOME"] ?? cwd,
    nodePath: process.execPath,
    jpgPath: "/nonexistent/jpg.js",
    version: "0.0.0",
    stdin: new Uint8Array(),
    now: () => new Date(Date.parse(start) + 1000 * seconds++),
    localTime: ({ year, month, day, hours = 0, minutes = 0, seconds = 0 }) =>
      new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds)),
    startOfDay: (daysAgo) => new Date(Math.floor(Date.parse(start) / DAY_MS) * DAY_MS - daysAgo * DAY_MS),
    random: (length) =>
      Uint8Array.from({ length }, () => {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        return seed >> 16;
      }),
    inputKind: () => Promise.resolve("open"),
    readStdin() {
      return Promise.resolve(this.stdin);
    },
    async *readLines() {
      yield* new TextDecoder()
        .decode(await this.readStdin())
        .split("\n")
        .filter((line) => line !== "");
    },
    readStdinWithin() {
      return this.readStdin();
    },
  };
}

export interface TestWorkspace extends Workspace {
  readonly runtime: TestRuntime;
}

/** A folder that nobody can make: nothing is written there, whoever runs the tests. */
export const NO_FOLDER = "/dev/null/nowhere";

/** A workspace over a store in memory. */
export async function createMemoryWorkspace(
  cwd: string = NO_FOLDER,
  store?: ConversationStore,
  runtime: TestRuntime = createTestRuntime(cwd),
): Promise<TestWorkspace> {
  return {
    store: store ?? (await createMemoryStore()),
    location: { root: "/store", kind: "flag", exists: true },
    runtime,
    overrides: [],
    config: (conversation = [], named = []) => Promise.resolve(loadConfig({ conversation, overrides: [], named })),
    warn: () => undefined,
    progress: () => undefined,
    close: () => Promise.resolve(),
  };
}

export interface GitWorkspace extends TestWorkspace {
  readonly temp: TempStore;
}

/** A workspace over a store with the git program, a new one or a copy of the one at `from`; remove it with `removeWorkspace`. */
export async function createGitWorkspace(from?: string): Promise<GitWorkspace> {
  const temp = await createTempStore(from);
  const runtime = createTestRuntime(temp.folder, temp.env);
  const workspace = await openWorkspace(runtime, { store: temp.root });
  return {
    ...workspace,
    runtime,
    temp,
    get store() {
      return workspace.store;
    },
  };
}

interface ImportedStore {
  readonly root: string;
  readonly branch: string;
}

const importedStores = new Map<string, Promise<ImportedStore>>();

/** A workspace over a store with one imported session, and its branch: a copy of the store that imported it first in this process. */
export async function createImportedWorkspace(bytes: Uint8Array): Promise<{ workspace: GitWorkspace; branch: string }> {
  const key = sha256(bytes);
  const made = importedStores.get(key) ?? importInto(await createGitWorkspace(), bytes);
  importedStores.set(key, made);
  const { root, branch } = await made;
  return { workspace: await createGitWorkspace(root), branch };
}

async function importInto(workspace: GitWorkspace, bytes: Uint8Array): Promise<ImportedStore> {
  keepFolder({ path: workspace.temp.folder, remove: workspace.temp.remove });
  const { branch } = await importBytes(workspace, bytes);
  await workspace.close();
  return { root: workspace.temp.root, branch };
}

/** Closes and removes it. */
export async function removeWorkspace(workspace: GitWorkspace): Promise<void> {
  await workspace.close();
  workspace.temp.remove();
}

/** Imports one session given as bytes, as from standard input. */
export async function importBytes(
  workspace: TestWorkspace,
  bytes: Uint8Array,
  request: Partial<ImportRequest> = {},
): Promise<ImportReport> {
  workspace.runtime.stdin = bytes;
  const { sessions } = await importSessions(workspace, { paths: ["-"], allBranches: false, ...request });
  return sessions[0]!;
}

/** The tip of a branch. Throws when there is none. */
export async function tipOf({ store }: Workspace, branch: string): Promise<string> {
  const tip = await store.readBranch(branch);
  if (tip === null) throw new Error(`no branch ${branch}`);
  return tip;
}

/** A path in the folder of a workspace's store. */
export function inFolder(workspace: GitWorkspace, ...names: string[]): string {
  return join(workspace.temp.folder, ...names);
}
