// Summaries written by others: `--emit` writes what is needed to write one, `--accept` stores what was written. The bundle
// holds raw events, never a projection, and names the plan, so that a summary of other turns is refused.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isNothing, type RangeRequest } from "../core/bound-resolution.ts";
import type { Summary } from "../core/compaction.ts";
import { userError } from "../core/errors.ts";
import { parseBound } from "../core/range-bound.ts";
import type { BranchTree } from "./branch-tree.ts";
import { complete } from "./compact.ts";
import { planOnBranch } from "./compact-plan.ts";
import { conversationOf } from "./conversations.ts";
import { coveredEvents } from "./covered-events.ts";
import { sha256 } from "./object-id.ts";
import type { Runtime } from "./runtime.ts";
import { readTemplate } from "./templates.ts";
import type { Workspace } from "./workspace.ts";

/** What a bundle says of its plan; an accepted summary gives it back. */
interface BundlePlan {
  readonly id: string;
  readonly conversation: string;
  readonly branch: string;
  readonly from_turn: number;
  readonly to_turn: number;
  readonly from_event?: string;
  readonly to_event?: string;
  /** Digest over what the summary stands for. */
  readonly digest: string;
}

/** A summary to store, with what it was written for. */
export interface AcceptedSummary {
  readonly summary: Summary;
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly covers?: string;
}

/** Makes the bundle for a range: plan, instructions, raw events. Throws `nothing_to_compact`. */
export async function createBundle(
  workspace: Workspace,
  tree: BranchTree,
  range: Omit<RangeRequest, "keepLast">,
): Promise<string> {
  const planned = await planOnBranch(workspace, tree, { range, policies: { summary: { policy: "summarize" } } });
  if (isNothing(planned))
    throw userError("nothing_to_compact", `Nothing to compact: ${planned.nothing}.`, {
      hints: ["Name other turns with --from, --to or --keep."],
    });
  const compaction = await complete(workspace, tree, planned);
  const { from_turn, to_turn, from_event, to_event, covers = "" } = compaction;
  const events = coveredEvents(compaction, planned.turns).map(({ turn, event }) => ({ turn, ...event }));
  const plan: BundlePlan = {
    id: sha256(`${tree.branch}\n${covers}`).slice(0, 12),
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    from_turn,
    to_turn,
    ...(from_event === undefined ? {} : { from_event }),
    ...(to_event === undefined ? {} : { to_event }),
    digest: covers,
  };
  const answer = { plan, summary: "…", files: ["…"], open_tasks: ["…"] };
  return `${JSON.stringify({ plan, instructions: await readTemplate("summary-instructions.md"), answer, events }, null, 1)}\n`;
}

/** Reads an accepted summary: the bundle's answer as JSON, or plain text together with explicit bounds. Throws `bad_summary`. */
export async function acceptedSummary(
  runtime: Runtime,
  file: string,
  range: Omit<RangeRequest, "keepLast">,
): Promise<AcceptedSummary> {
  const text = await readText(runtime, file);
  const answer = answerIn(parseAnswer(text));
  if (answer === null) return plainSummary(text, file, range);
  const { plan, summary, files, open_tasks } = answer;
  if (typeof summary !== "string" || isEmpty(summary)) throw badSummary(file, "it holds no text under `summary`");
  const texts = (value: unknown): readonly string[] | undefined =>
    Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "…") : undefined;
  const [named, tasks] = [texts(files), texts(open_tasks)];
  return {
    summary: {
      summary,
      source: "authored",
      ...(named === undefined ? {} : { files: named }),
      ...(tasks === undefined ? {} : { open_tasks: tasks }),
    },
    ...boundsOf(plan, file, range),
  };
}

function plainSummary(text: string, file: string, range: Omit<RangeRequest, "keepLast">): AcceptedSummary {
  if (isEmpty(text)) throw badSummary(file, "it is empty");
  if (range.to === undefined && range.keep === undefined)
    throw badSummary(file, "it names no plan, and no --to or --keep says which turns it stands for");
  return { summary: { summary: text.trim(), source: "authored" }, range };
}

function boundsOf(
  plan: unknown,
  file: string,
  range: Omit<RangeRequest, "keepLast">,
): Pick<AcceptedSummary, "range" | "covers"> {
  if (range.from !== undefined || range.to !== undefined || range.keep !== undefined) return { range };
  const facts = plan as Partial<BundlePlan> | undefined;
  if (typeof facts?.from_turn !== "number" || typeof facts.to_turn !== "number" || typeof facts.digest !== "string") {
    throw badSummary(
      file,
      "it does not give back the bundle's `plan`, and no --from, --to or --keep says which turns it stands for",
    );
  }
  const bound = (turn: number, event: string | undefined) =>
    parseBound(event === undefined ? String(turn) : `${turn}:${event}`);
  return {
    range: { from: bound(facts.from_turn, facts.from_event), to: bound(facts.to_turn, facts.to_event) },
    covers: facts.digest,
  };
}

/** A bundle given back whole, with the summary written into its `answer`, counts as that answer. */
function answerIn(value: Readonly<Record<string, unknown>> | null): Readonly<Record<string, unknown>> | null {
  const inner = value?.["summary"] === undefined ? value?.["answer"] : undefined;
  return typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>) : value;
}

function parseAnswer(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null; // a plain text may begin with a brace
  }
}

async function readText(runtime: Runtime, file: string): Promise<string> {
  if (file === "-") return Buffer.from(await runtime.readStdin()).toString("utf8");
  try {
    return await readFile(resolve(runtime.cwd, file), "utf8");
  } catch (error) {
    throw userError(
      "unreadable_file",
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
      { hints: ["`jpg compact --emit FILE` writes what a summary is written from."], cause: error },
    );
  }
}

function isEmpty(text: string): boolean {
  return text.trim() === "" || text.trim() === "…";
}

function badSummary(file: string, reason: string): Error {
  return userError("bad_summary", `The summary in ${file} cannot be stored: ${reason}.`, {
    hints: [
      "`jpg compact --emit FILE` writes a bundle whose `answer` shows the form.",
      "A plain text needs bounds: `jpg compact --accept FILE --from 0 --to 12`.",
    ],
  });
}
