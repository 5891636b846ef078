// The command's entry: answers what needs nothing but a text of jpg's own at once (`--version`, the list of commands), and hands
// everything else on with the process's world.

/** Put in by the build. */
declare const JPG_VERSION: string;

/** Runs the command that the arguments name and sets the exit code. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const version = typeof JPG_VERSION === "string" ? JPG_VERSION : "0.0.0";
  if (argv[0] === "--version" || argv[0] === "-V") {
    print(version);
    return;
  }
  if (asksForList(argv)) {
    const { renderHelp } = await import("./command-summaries.ts");
    print(renderHelp());
    return;
  }
  const [{ createRuntime }, { runCommandLine }] = await Promise.all([import("./run.ts"), import("./run.ts")]);
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

/** What has options beside it is read by `runCommandLine`. */
function asksForList([word, ...more]: readonly string[]): boolean {
  return word !== undefined && more.length === 0 && ["--help", "-h", "help"].includes(word);
}

/** Prints a text of jpg's own. A reader that has gone away misses nothing. */
function print(text: string): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") endOnFailure(error);
  });
  process.stdout.write(`${text}\n`);
}

/** Says in one line that standard output takes no more, and ends with the exit code of a full disk. */
function endOnFailure({ message }: Error): never {
  const reason = message.replace(/, write$/, "");
  process.stderr.on("error", () => undefined);
  process.stderr.write(`error: Standard output cannot be written: ${reason}.\n`);
  process.exit(OUTPUT_FAILED);
}

/** As for whatever else the system refuses (frame/command.ts). */
const OUTPUT_FAILED = 3;
