// Temporary folders and repositories for tests: a hermetic environment, and git run as a user would run it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createStore } from "../../src/store/git/create.ts";

export interface TempFolder {
  readonly path: string;
  remove(): void;
}

/** Creates an empty folder (real path, so that it compares with what git prints). */
export function createTempFolder(): TempFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "jpg-test-")));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

export type TestEnvironment = Record<string, string>;

/** What every git of the tests is set to, in the place of the machine's settings: nothing runs in the background. */
export const QUIET_GIT: TestEnvironment = {
  GIT_CONFIG_SYSTEM: fileURLToPath(new URL("quiet.gitconfig", import.meta.url)),
};

/** An environment with PATH, an empty HOME and a committer, and nothing else. */
export function testEnvironment(home: string, extra: TestEnvironment = {}): TestEnvironment {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    ...QUIET_GIT,
    GIT_AUTHOR_NAME: "Ada Test",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada Test",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    TZ: "UTC",
    ...extra,
  };
}

/** Runs git and gives its output; throws with its stderr when it fails. */
export function git(cwd: string, env: TestEnvironment, args: readonly string[], input?: string): string {
  return execFileSync("git", args, {
    cwd,
    env,
    encoding: "utf8",
    input: input ?? "",
    stdio: ["pipe", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  }).trimEnd();
}

/** Writes a file, making its folders. */
export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export interface TempStore {
  readonly folder: string;
  readonly root: string;
  readonly env: TestEnvironment;
  remove(): void;
}

const kept: TempFolder[] = [];

/** Keeps a folder for as long as this process runs. */
export function keepFolder(folder: TempFolder): void {
  if (kept.push(folder) > 1) return;
  process.once("exit", () => {
    for (const one of kept) one.remove();
  });
}

const emptyOnes = new Map<string, string>();

/** Makes an empty repository as `git init` does with these flags: a copy of the first one that was made so. */
export function initRepository(path: string, ...flags: readonly string[]): void {
  const made = emptyOnes.get(flags.join(" ")) ?? makeEmpty(flags);
  emptyOnes.set(flags.join(" "), made);
  copyStore(made, path);
}

function makeEmpty(flags: readonly string[]): string {
  const folder = createTempFolder();
  keepFolder(folder);
  const made = join(folder.path, "made");
  git(folder.path, testEnvironment(folder.path), ["init", "--quiet", ...flags, made]);
  return made;
}

let template: Promise<string> | undefined;

/** The store that the others are copies of: making one starts six gits. It goes with this process. */
function templateStore(): Promise<string> {
  template ??= (async () => {
    const folder = createTempFolder();
    keepFolder(folder);
    const root = join(folder.path, "store");
    const env = testEnvironment(join(folder.path, "home"));
    await createStore(root, { env, nodePath: "/nonexistent/node", jpgPath: "/nonexistent/jpg.js" });
    return root;
  })();
  return template;
}

interface CopyOptions {
  /** Files below the folder in which its path becomes that of the copy: a store's configuration names its own hooks, for one. */
  readonly renamed?: readonly string[];
  /** Whether files keep their times. */
  readonly keepTimes?: boolean;
}

/**
 * Copies a folder with stores in it; whatever copies one in tests goes through here. Nothing may be at work there: a lock is an
 * error, for what made it would be copied in half.
 */
export function copyStore(from: string, to: string, { renamed = [], keepTimes = false }: CopyOptions = {}): void {
  const filter = (path: string): boolean => {
    if (path.endsWith(".lock")) throw new Error(`${path} is there while ${from} is copied: something works in it.`);
    return true;
  };
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: keepTimes, filter });
  for (const name of renamed) {
    const file = join(to, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(from, to));
  }
}

/** Makes a store in a temporary folder, empty or as the one at `from`; its hooks call programs that do not exist. */
export async function createTempStore(from?: string): Promise<TempStore> {
  const folder = createTempFolder();
  const env = testEnvironment(join(folder.path, "home"));
  mkdirSync(join(folder.path, "home"));
  const root = join(folder.path, "store");
  copyStore(from ?? (await templateStore()), root, { renamed: [".git/config"] });
  return { folder: folder.path, root, env, remove: folder.remove };
}
