// The command's entry: answers `--version` at once, loading nothing, and hands everything else on with the process's world.

/** Put in by the build. */
declare const JPG_VERSION: string;

/** Runs the command that the arguments name and sets the exit code. */
export async function main(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  const version = typeof JPG_VERSION === "string" ? JPG_VERSION : "0.0.0";
  if (argv[0] === "--version" || argv[0] === "-V") {
    process.stdout.write(`${version}\n`);
    return;
  }
  const [{ createRuntime }, { runCommandLine }] = await Promise.all([
    import("./create-runtime.ts"),
    import("./run-command-line.ts"),
  ]);
  process.exitCode = await runCommandLine(argv, {
    runtime: createRuntime(version),
    stdout: process.stdout,
    stderr: process.stderr,
    fronts: { serveMcp: async (place) => (await import("../mcp/serve.ts")).serveMcp(place) },
    onClosed: () => process.exit(0),
  });
}
