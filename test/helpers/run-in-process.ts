// Runs a command line in this process, over a store in a temporary folder: what hundreds of calls of a property test take.
import { runCommandLine } from "../../src/cli/run-command-line.ts";
import type { TestRuntime } from "./workspace.ts";

export interface InProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line to its end. */
export async function runInProcess(runtime: TestRuntime, argv: readonly string[]): Promise<InProcessResult> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    write(chunk: string | Uint8Array): boolean {
      written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      return true;
    },
    on: () => undefined,
  });
  const code = await runCommandLine(argv, {
    runtime,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    fronts: { serveMcp: () => Promise.reject(new Error("no server in this test")) },
    onClosed: () => undefined,
  });
  return { code, ...written };
}
