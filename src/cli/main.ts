// The command's entry: hands the arguments on with the process's world.
import { createRuntime, runCommandLine } from "./run.ts";

/** Put in by the build. */
declare const JPG_VERSION: string;

/** As for whatever else the system refuses (frame/command.ts). */
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

/** Says in one line that standard output takes no more, and ends with the exit code of a full disk. */
function endOnFailure({ message }: Error): never {
  const reason = message.replace(/, write$/, "");
  process.stderr.on("error", () => undefined);
  process.stderr.write(`error: Standard output cannot be written: ${reason}.\n`);
  process.exit(OUTPUT_FAILED);
}
