import { resolve } from "node:path";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { drainFirst } from "../../app/import/drain-spool.ts";
import { type ImportOutcome, importSessions } from "../../app/import/import.ts";
import { parseImportArguments } from "../../app/import/import-request.ts";
import { preferredBranch } from "../../app/names/conversations.ts";
import { readShortNames } from "../../app/names/short-names.ts";
import { exampleAgent, formatNames } from "../../app/sessions/session-registry.ts";
import {
  type BundleFile,
  type BundleRow,
  importBundle,
  isBundle,
  readBundleHeader,
  withBundleFile,
} from "../../app/share/bundle.ts";
import { appendAll } from "../../core/lists.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { errorDocument } from "../frame/render-error.ts";
import { exitCodeAfterImport, renderFailure, renderImport } from "../render/import.ts";
import { renderBundle } from "../render/share.ts";
import { allowPlugin } from "./format-plugins.ts";
import { chooseKept, listKept, pickKept } from "./kept-sessions.ts";

const EXAMPLE = exampleAgent();

export const command: CommandSpec = {
  name: "import",
  summary: "import agents' sessions",
  description: `Imports session files: one conversation per session, one commit per turn. The agent's own compactions become compactions that you can inspect and revert. Without PATH, imports the sessions that agents on this machine keep for this project (all its folders and worktrees), or only those of the agents you name (\`jpg import ${EXAMPLE.name}\`). Importing a file again adds only what is new.`,
  details: `A session that may be of another project is left out and named; on a terminal jpg asks. On a terminal it asks which new ones to import; elsewhere, or with --all, it imports all. A session that grew is continued, one that was rewound becomes a fork, one that jpg exported continues its conversation. PATH may be a folder, a file that \`jpg share\` wrote, or - for standard input. Creates the store if there is none.`,
  arguments: [
    {
      name: "[format-or-paths...]",
      description: `format (${formatNames().join(", ")}; detected when left out), then files, folders or -`,
      values: formatNames(),
      asks: "plugins",
    },
  ],
  options: [
    { flags: "--list", description: "list what agents keep for this project, and import nothing" },
    { flags: "--all", description: "import all without asking; with --list: list older ones too" },
    { flags: "--since <time>", description: "only sessions changed since then: 7d, 5h, yesterday, 2026-11-22" },
    { flags: "--all-branches", description: "also import branches that the agent abandoned, as forks" },
    {
      flags: "--again",
      description: "read known sessions again; makes a fork if this version of jpg reads them differently",
    },
  ],
  examples: [
    { command: "jpg import", explains: "the sessions of this project" },
    { command: "jpg import --list", explains: "look at them first" },
    { command: `jpg import ${EXAMPLE.name} --since 7d`, explains: "what changed lately, of one agent" },
    { command: `jpg import ${EXAMPLE.help.file}`, explains: "one session file" },
    { command: `jpg import ${EXAMPLE.name} - < session.jsonl`, explains: "from standard input, naming the format" },
  ],
  withoutGit: true,
  run: async (context) => {
    const request = await parseImportArguments(context.args, context.runtime, text(context.options, "store"));
    if (request.plugin !== undefined) await allowPlugin(context, request.plugin);
    const kept = chooseKept(context, request);
    return flag(context.options, "list") ? listKept(context, kept) : importFiles(context, { ...request, kept });
  },
};

async function importFiles(
  context: CommandContext,
  request: Awaited<ReturnType<typeof parseImportArguments>>,
): Promise<number> {
  const { options, runtime, output, json, open } = context;
  await drainFirst(runtime, request, (text) => output.warn(forTerminal(text)));
  const opened = await open({ create: true });
  const stdin = request.paths.includes("-") ? await runtime.readStdin() : null;
  const workspace = stdin === null ? opened : withStdin(opened, stdin);
  const { bundles, paths } = await sortPaths(request.paths, { cwd: runtime.cwd, stdin });
  const taken = await importBundles(workspace, bundles);
  if (bundles.length > 0 && paths.length === 0) {
    if (json) output.json(taken);
    else output.data(renderBundle(taken, output));
    return taken.some(({ status }) => status === "left_out") ? 2 : 0;
  }
  const kept = paths.length > 0 ? {} : await pickKept(context, workspace, request.kept ?? {});
  if (kept === null) {
    output.info(safe`Nothing was imported.`);
    return 0;
  }
  const outcome = await importSessions(workspace, {
    ...request,
    paths,
    kept,
    allBranches: flag(options, "allBranches"),
    again: flag(options, "again"),
  });
  if (!json && taken.length > 0) output.data(renderBundle(taken, output));
  printOutcome(context, outcome, taken);
  if (!json && output.seen) await printNext(context, workspace, outcome);
  return exitCodeAfterImport(outcome);
}

function printOutcome(
  { output, json, runtime }: CommandContext,
  outcome: ImportOutcome,
  taken: readonly BundleRow[],
): void {
  const { sessions, failed } = outcome;
  if (json) output.json([...taken, ...sessions, ...failed.map(failureRow)]);
  else if (!output.quiet)
    output.data(renderImport(sessions, { ...output, verbose: output.verbose, namesIn: runtime.cwd }));
  for (const failure of failed) output.warn(renderFailure(failure));
}

/** Says what to type next about the newest session, which the import made active, or else about one that it created. */
async function printNext({ output }: CommandContext, workspace: Workspace, { sessions }: ImportOutcome): Promise<void> {
  const created = sessions.filter(({ status }) => status === "created");
  const [first] = created;
  if (first === undefined) return;
  const active = await preferredBranch(workspace);
  const { branch } = created.find((one) => one.branch === active) ?? first;
  const id = forTerminalLine((await readShortNames(workspace))(branch));
  const all =
    created.length === 1 ? safe`\`jpg\` shows what is here` : safe`\`jpg ls --sort size\` lists the largest first`;
  output.info(
    safe`Next: \`jpg compact ${id} && jpg resume ${id} --exec\` goes on in the agent with a shorter view; ${all}.`,
  );
}

/** Returns a workspace whose standard input is already read, as it can be read only once. */
function withStdin(workspace: Workspace, stdin: Uint8Array): Workspace {
  return { ...workspace, runtime: { ...workspace.runtime, readStdin: () => Promise.resolve(stdin) } };
}

/** Separates files and standard input that `jpg share` wrote from other paths. */
async function sortPaths(
  paths: readonly string[],
  { cwd, stdin }: { readonly cwd: string; readonly stdin: Uint8Array | null },
): Promise<{ readonly bundles: readonly (BundleFile | Uint8Array)[]; readonly paths: readonly string[] }> {
  const bundles: (BundleFile | Uint8Array)[] = [];
  const others: string[] = [];
  for (const path of paths) {
    const isInput = path === "-";
    const header = isInput ? null : await readBundleHeader(resolve(cwd, path));
    if (isInput && stdin !== null && isBundle(stdin)) bundles.push(stdin);
    else if (header === null) others.push(path);
    else bundles.push({ path: resolve(cwd, path), header });
  }
  return { bundles, paths: others };
}

async function importBundles(
  workspace: Workspace,
  bundles: readonly (BundleFile | Uint8Array)[],
): Promise<readonly BundleRow[]> {
  const rows: BundleRow[] = [];
  for (const bundle of bundles)
    appendAll(
      rows,
      bundle instanceof Uint8Array ? await importBundleBytes(workspace, bundle) : await importBundle(workspace, bundle),
    );
  return rows;
}

function importBundleBytes(workspace: Workspace, bytes: Uint8Array): Promise<readonly BundleRow[]> {
  return withBundleFile(bytes, workspace.runtime.env, async (path) => {
    const header = await readBundleHeader(path);
    return header === null ? [] : await importBundle(workspace, { path, header, source: "-" });
  });
}

function failureRow({ path, error }: ImportOutcome["failed"][number]) {
  const status = ["side_file_left_out", "unclear_project"].includes(error.code) ? "left_out" : "failed";
  return { source: path, status, ...errorDocument(error) };
}
