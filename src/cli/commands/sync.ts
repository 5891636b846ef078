import { openWorkspace, type Workspace, warnOfPrograms } from "../../app/conversation/workspace.ts";
import { drainFirst, drainSpool } from "../../app/import/drain-spool.ts";
import { parseImportArguments } from "../../app/import/import-request.ts";
import {
  createGuard,
  type GuardState,
  keepSyncing,
  type SyncObserver,
  type SyncReport,
  type SyncRequest,
  syncSessions,
} from "../../app/import/sync.ts";
import { createFactsReader } from "../../app/look/facts.ts";
import { syncMachine } from "../../app/overview/sync-machine.ts";
import { formatNames } from "../../app/sessions/session-registry.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, count, flag, optionsFrom, text } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import type { Output } from "../frame/output.ts";
import { exitCodeAfterImport, renderFailure, renderImport, syncDocument } from "../render/import.ts";

export const command: CommandSpec = {
  name: "sync",
  summary: "import sessions as they grow, and compact the large ones",
  description:
    "Imports what agents wrote since the last time, as `jpg import` does, without changing the active conversation. If `conversation.compaction.auto.enabled` is set, compacts each conversation that nears its model's window; --compact does the same for this run only, with the same settings but without asking a model. The agents' own files are only read. With --watch it keeps going until Ctrl-C.",
  arguments: [
    {
      name: "[format-or-paths...]",
      description: `format (${formatNames().join(", ")}; detected when left out), then files or folders; default: the agents' own`,
    },
  ],
  options: [
    { flags: "--watch", description: "keep watching for changes" },
    {
      flags: "--compact",
      description:
        "compact sessions that near their model's window, without asking a model, and say how to continue them",
    },
    {
      flags: "--all",
      description: "sessions of the whole machine: each project's into its own store, the others into the user's",
    },
    { flags: "--spool", description: "import only what agents' hooks put aside, for all projects" },
    {
      flags: "--every <seconds>",
      description: "with --watch: check everything at least this often; default 30, longer if a check takes long",
    },
  ],
  examples: [
    { command: "jpg sync", explains: "import what grew, once" },
    { command: "jpg sync --all", explains: "keep what agents on this machine would delete" },
    { command: "jpg sync --watch --compact", explains: "keep importing; say when a smaller session is ready" },
    { command: "jpg sync --watch -c auto.enabled=true", explains: "the same, compacting as your settings say" },
  ],
  run: async (context) => {
    const { args, options, runtime, output, json } = context;
    checkFlags(context);
    if (flag(options, "spool")) return importSpool(context);
    if (flag(options, "all")) return importMachine(context);
    const request = await parseImportArguments(args, runtime, text(options, "store"));
    const observer = observe(output);
    if (flag(options, "watch")) {
      await watchSessions(context, request, observer);
      return 0;
    }
    await drainFirst(runtime, request, observer.warn);
    const workspace = await context.open({ create: true });
    const pass = await syncSessions(workspace, request, { observer, ...guardOf(context) });
    if (json) output.json(syncDocument(pass));
    else if (!output.quiet) output.data(renderImport(pass.sessions, { ...output, verbose: output.verbose }));
    warnOfFailed(pass, observer);
    if (flag(options, "compact") && !json) await explainUngrown(workspace, pass, output);
    return exitCodeAfterImport(pass);
  },
};

function guardOf({ options }: Pick<CommandContext, "options">): { readonly guard?: GuardState } {
  return flag(options, "compact") ? { guard: createGuard() } : {};
}

/** Says of each large session why it was not compacted, if it has not grown since the last time. */
async function explainUngrown(workspace: Workspace, pass: SyncReport, output: Output): Promise<void> {
  const { trigger_ratio: limit } = (await workspace.config()).config.conversation.compaction.auto;
  const isUngrown = ({ status, agent_of }: SyncReport["sessions"][number]): boolean =>
    status === "unchanged" && agent_of === undefined;
  const ungrown = new Set(pass.sessions.filter(isUngrown).map(({ branch }) => branch));
  const reader = await createFactsReader(workspace);
  for (const tip of (await workspace.store.listBranches()).filter(({ name }) => ungrown.has(name))) {
    const { window, tokens } = await reader.read(tip);
    if (window === undefined || tokens.view < limit * window.tokens) continue;
    const percent = Math.round((tokens.view / window.tokens) * 100);
    const [name, id] = [forTerminalLine(tip.name), forTerminalLine(conversationOf(tip.name))];
    output.info(
      safe`${name} fills ${percent} % of its window, but has not grown since the last sync, so it was not compacted; \`jpg compact ${id}\` does it now`,
    );
  }
}

/** Imports each session into the store of the directory that its agent worked in, not into this call's. */
async function importSpool({ runtime, output, json }: CommandContext): Promise<number> {
  const report = await drainSpool(runtime, { again: !output.quiet });
  if (json) output.json(syncDocument({ ...report, compactions: [] }));
  else if (!output.quiet) output.data(renderImport(report.sessions, { ...output, verbose: output.verbose }));
  for (const failure of report.failed) output.warn(renderFailure(failure));
  return report.failed.length > 0 ? 1 : 0;
}

async function importMachine({ runtime, output, json }: CommandContext): Promise<number> {
  const observer = observe(output);
  await drainFirst(runtime, { paths: [] }, observer.warn);
  const pass = await syncMachine(runtime, { observer, progress: output.counts });
  const changed = pass.sessions.filter(({ status }) => status !== "unchanged");
  if (json) output.json(syncDocument(pass));
  else if (changed.length === 0 && pass.failed.length === 0)
    output.info(safe`Everything on this machine is kept already.`);
  else if (!output.quiet) output.data(renderImport(changed, { ...output, verbose: output.verbose }));
  warnOfFailed(pass, observer);
  return pass.failed.length > 0 ? 1 : 0;
}

function checkFlags({ args, options, json }: CommandContext): void {
  const isWatching = flag(options, "watch");
  const refuse = (what: string, hint: string): never => {
    throw userError("contradictory_flags", `jpg sync: ${what}.`, { hints: [hint] });
  };
  if (!isWatching && options["every"] !== undefined)
    refuse("--every has no effect without --watch", "`jpg sync --watch --every 10` looks every 10 seconds.");
  if (isWatching && json) refuse("--json prints one result, but --watch never ends", "Leave one of them out.");
  if (isWatching && args.includes("-"))
    refuse("standard input cannot be watched", "Name the session's file, or leave --watch out.");
  if (flag(options, "spool") && (isWatching || flag(options, "compact") || args.length > 0))
    refuse(
      "--spool imports only what hooks put aside, so it takes no other options",
      "Leave the others out: `jpg sync --spool`.",
    );
  if (flag(options, "all") && (isWatching || flag(options, "compact") || flag(options, "spool") || args.length > 0))
    refuse(
      "--all syncs the whole machine once, so it takes no other options",
      "Leave the others out: `jpg sync --all`.",
    );
  if (count(options, "every") === 0) refuse("--every takes a number of seconds, 1 or more", "For example: --every 10");
}

async function watchSessions(
  { options, runtime, output }: CommandContext,
  request: SyncRequest,
  observer: SyncObserver,
): Promise<void> {
  const open = async (): Promise<Workspace> => {
    const { notice: info, warn } = observer;
    await drainFirst(runtime, request, warn);
    const workspace = await openWorkspace(runtime, { ...optionsFrom(options), info, warn, create: true });
    warnOfPrograms(workspace);
    return workspace;
  };
  const every = count(options, "every");
  const everyMs = every === undefined ? null : every * 1000;
  output.info(safe`Watching for sessions that change; Ctrl-C ends it.`);
  await untilStopped((signal) =>
    keepSyncing(open, request, {
      everyMs,
      signal,
      observer,
      ...guardOf({ options }),
      report: (pass) => {
        const sessions = pass.sessions.filter(({ status }) => status !== "unchanged");
        if (sessions.length > 0 && !output.quiet) output.data(renderImport(sessions, output));
        warnOfFailed(pass, observer);
      },
    }),
  );
}

function warnOfFailed({ failed }: SyncReport, observer: SyncObserver): void {
  for (const failure of failed) observer.warn(renderFailure(failure));
}

/** Prints each warning once: later passes meet the same problems again. */
function observe(output: Output): SyncObserver {
  const said = new Set<string>();
  return {
    notice: (text) => output.info(forTerminalLine(text)),
    warn: (text) => {
      if (said.has(text)) return;
      said.add(text);
      output.warn(forTerminal(text));
    },
  };
}
