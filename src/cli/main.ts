// The entry point: runs the command line with the real streams and front ends.
import { createRuntime, runCommandLine } from "./run.ts";

/** Replaced by the build. */
declare const JPG_VERSION: string;

/** The same exit code as for other errors of the operating system (frame/command.ts). */
const OUTPUT_FAILED = 3;

/** Runs the command that the arguments name and sets the exit code. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const version = typeof JPG_VERSION === "string" ? JPG_VERSION : "0.0.0";
  process.exitCode = await runCommandLine(argv, {
    runtime: createRuntime(version),
    stdout: process.stdout,
    stderr: process.stderr,
    fronts: {
      serveMcp: async (place) => (await import("../mcp/serve.ts")).serveMcp(place),
      servePages: async (request) => (await import("../web/serve.ts")).servePages(request),
      renderStaticPage: async (...what) => (await import("../web/serve.ts")).renderStaticPage(...what),
    },
    onClosed: () => process.exit(0),
    onFailed: endOnFailure,
  });
}

/** Reports in one line that standard output failed, and exits with the code of a full disk. */
function endOnFailure({ message }: Error): never {
  const reason = message.replace(/, write$/, "");
  process.stderr.on("error", () => undefined);
  process.stderr.write(`error: Standard output cannot be written: ${reason}.\n`);
  process.exit(OUTPUT_FAILED);
}
