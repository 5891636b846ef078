import type { Workspace } from "../../app/conversation/workspace.ts";
import { type PushPlan, planPush, pushError, pushedPlace, sendPush, tryPush } from "../../app/share/push.ts";
import { addRemote, chooseRemote, findRemote, noRemote, projectOrigin } from "../../app/share/remotes.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { shownUrl } from "../../core/remote-address.ts";
import { safe, shellWord } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import {
  type CommandContext,
  type CommandSpec,
  exitCodeOf,
  flag,
  text,
  texts,
  watchTransfer,
} from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { renderPush, renderRemotePlace } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "push",
  summary: "send conversations to a remote",
  description:
    "Sends the active fork; ID sends all forks of a conversation, ID/FORK just one, and --all everything that is not local (`jpg local`). What others added there is never overwritten: `jpg pull` brings it in first. If no remote is set, it offers the project's own origin, as hidden refs. Everything is scanned for secrets before it is sent, even when stock `git push` sends it. Nothing is ever pushed automatically.",
  arguments: [{ name: "[id]", description: "conversation; default the active fork" }],
  options: [
    { flags: "--all", description: "all conversations that are not local" },
    { flags: "--to <remote>", description: "remote to send to; default the only one, else origin" },
    { flags: "--dry-run", description: "show what would be sent, send nothing" },
    { flags: "--yes", description: "send again what somebody removed there, without asking" },
    { flags: "--allow <rule>", description: "send what this rule finds, this once", repeatable: true },
  ],
  examples: [
    { command: "jpg push", explains: "this fork, to the only remote" },
    { command: "jpg push fix-parser-k3f9 --to team", explains: "a conversation with all its forks" },
    { command: "jpg push --all --dry-run", explains: "what would be sent" },
  ],
  run: (context) => endOnInterrupt(context.output, (signal) => run(context, signal)),
};

async function run({ args, options, output, json, open }: CommandContext, signal: AbortSignal): Promise<number> {
  const workspace = await open();
  const [id] = args;
  if (id !== undefined && flag(options, "all"))
    throw userError("contradictory_flags", `jpg push: ${id} and --all contradict each other; use only one of them.`);
  const request = { all: flag(options, "all"), id };
  const isDryRun = flag(options, "dryRun");
  const name = text(options, "to");
  const remote = (await chooseRemote(workspace, { name, flag: "--to" })) ?? (await offerOrigin(workspace, output));
  const watched = { ...watchTransfer(output), signal };
  output.info(safe`To ${renderRemotePlace(pushedPlace(remote))}`);
  const planned = await planPush(workspace, remote, { request, options: watched });
  const isAgain = !isDryRun && (flag(options, "yes") || (await askAgain(planned, output)));
  const plan = isAgain
    ? await planPush(workspace, remote, { request: { ...request, again: true }, options: watched })
    : planned;
  const allow = texts(options, "allow");
  const report = await (isDryRun ? tryPush : sendPush)(workspace, plan, { ...watched, allow });
  const error = pushError(report);
  if (json) output.json({ ...report, dry_run: isDryRun });
  else output.data(renderPush(report, isDryRun, output));
  if (error === null) return 0;
  if (!json) output.error(error);
  return exitCodeOf(error);
}

/** Asks whether to send again what somebody removed from the remote, perhaps because of a leak; without a terminal, no. */
async function askAgain({ branches, remote }: PushPlan, output: CommandContext["output"]): Promise<boolean> {
  const gone = branches.filter(({ status }) => status === "gone");
  if (gone.length === 0 || !isTerminal(process.stdin, output)) return false;
  const names = [...new Set(gone.map(({ name }) => conversationOf(name)))];
  const text = [
    `Somebody removed from ${remote.name} since you last looked at it:`,
    ...names.slice(0, 20).map((name) => `  ${name}`),
    "Send it again?",
  ].join("\n");
  return askYesNo({ text, otherwise: "no", instead: "--yes" }, { output });
}

/** Offers the project's own remote. Throws `no_remote`, and `needs_terminal` without a terminal. */
async function offerOrigin(workspace: Workspace, output: CommandContext["output"]): Promise<PushPlan["remote"]> {
  const origin = await projectOrigin(workspace);
  if (origin === null) throw noRemote(origin);
  const url = shownUrl(origin.url);
  const isAgreed = await askYesNo(
    {
      text: [
        `No remote is set; the project's own is ${origin.name} (${url}).`,
        "Hidden refs appear in no branch list and are not cloned,",
        "but everyone who can read that repository can read them.",
        `Push to ${origin.name} as hidden refs?`,
      ].join("\n"),
      otherwise: "no",
      instead: `\`jpg remote add ${origin.name} ${shellWord(url)} --as hidden\``,
    },
    { output },
  );
  if (!isAgreed) throw noRemote(origin);
  await addRemote(workspace, { ...origin, as: "hidden" });
  return findRemote(workspace, origin.name);
}
