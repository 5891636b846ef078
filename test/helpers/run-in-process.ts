// Runs a command line in this process: no start of Node, no built command. What a process has of its own is handed in or put
// back: environment, folder, standard streams, umask. Where the process itself is the subject, `runJpg` starts one.
import packageJson from "../../package.json" with { type: "json" };
import type { Runtime } from "../../src/app/conversation/runtime.ts";
import type { Fronts } from "../../src/cli/frame/command.ts";
import { createRuntime, runCommandLine } from "../../src/cli/run.ts";
import type { TestEnvironment } from "./temp-repository.ts";

export interface InProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands that talk to the streams, signals or terminal of the process they run in: these need one of their own. */
const NEED_A_PROCESS: ReadonlySet<string> = new Set(["chat", "git", "mcp"]);

/**
 * Whether a command line runs in the process of the tests; `own` = whether the test says that it needs one of its own. With
 * JPG_TEST_PROCESSES=1 none does: slow, and nothing is handed in.
 */
export function runsInProcess(argv: readonly string[], own?: boolean): boolean {
  if (process.env["JPG_TEST_PROCESSES"] === "1") return false;
  return !(own ?? argv.some((word) => NEED_A_PROCESS.has(word) || word === "--watch" || word === "--exec"));
}

/** The world of a command that a user types: clock and randomness are real. */
export function createUserRuntime(cwd: string, env: TestEnvironment, input: string | Uint8Array = ""): Runtime {
  const bytes = Buffer.from(input);
  return {
    ...createRuntime(packageJson.version),
    cwd,
    env,
    home: env["HOME"] ?? cwd,
    inputKind: () => Promise.resolve("open"),
    readStdin: () => Promise.resolve(bytes),
    readStdinWithin: () => Promise.resolve(bytes),
    readLines: async function* () {
      yield* new TextDecoder()
        .decode(bytes)
        .split("\n")
        .filter((line) => line !== "");
    },
  };
}

/** How many commands run under a umask of their own, and that of the test which started the first of them. */
let running = 0;
let umask = 0;

// Commands of concurrent tests listen for the signals of one process.
process.setMaxListeners(100);

const FRONTS: Fronts = {
  serveMcp: () => Promise.reject(new Error("jpg mcp has nobody to talk to here")),
  servePages: async (request) => (await import("../../src/web/serve.ts")).servePages(request),
  renderStaticPage: async (...what) => (await import("../../src/web/serve.ts")).renderStaticPage(...what),
};

/** Runs one command line to its end. */
export async function runInProcess(
  runtime: Runtime,
  argv: readonly string[],
  fronts: Partial<Fronts> = {},
): Promise<InProcessResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const streamTo = (chunks: Buffer[]) => ({
    write: (chunk: string | Uint8Array): boolean => chunks.push(Buffer.from(chunk)) > 0,
    on: () => undefined,
  });
  if (running++ === 0) umask = process.umask();
  try {
    const code = await runCommandLine(argv, {
      runtime,
      stdout: streamTo(stdout),
      stderr: streamTo(stderr),
      fronts: { ...FRONTS, ...fronts },
      onClosed: () => undefined,
      onFailed: () => undefined,
    });
    return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
  } finally {
    running--;
    if (running === 0) process.umask(umask);
  }
}
