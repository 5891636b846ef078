// Reads a summary that somebody else wrote (`--accept`), and for which turns it was written.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { readBlock, splitBlock } from "../../core/compact/summary-answer.ts";
import type { RangeRequest } from "../../core/conversation/bound-resolution.ts";
import type { Summary } from "../../core/conversation/compaction.ts";
import { parseBound } from "../../core/conversation/range-bound.ts";
import { reasonOf, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { Runtime } from "../workspace/runtime.ts";
import type { BundlePlan } from "./summary-bundle.ts";

/** A summary to store, with what it was written for. */
export interface AcceptedSummary {
  readonly summary: Summary;
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly covers?: string;
  /** Of the bundle's plan. */
  readonly profile?: string;
}

/**
 * Reads an accepted summary: the bundle's answer as JSON, a text with the block that the suffix form asks for, or plain text
 * together with explicit bounds. Throws `bad_summary`, `unreadable_file`.
 */
export async function acceptedSummary(
  runtime: Runtime,
  file: string,
  range: Omit<RangeRequest, "keepLast">,
): Promise<AcceptedSummary> {
  const { body, block } = splitBlock((await readText(runtime, file)).trim());
  const answer = answerIn(block);
  if (answer === null) return plainSummary(body, file, range);
  const { plan, files, open_tasks } = readBlock(answer);
  const summary = body === "" ? answer["summary"] : body;
  if (typeof summary !== "string" || isEmpty(summary)) throw badSummary(file, "it holds no text under `summary`");
  return {
    summary: {
      summary: summary.trim(),
      source: "authored",
      ...(answer["files"] === undefined ? {} : { files }),
      ...(answer["open_tasks"] === undefined ? {} : { open_tasks }),
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
): Omit<AcceptedSummary, "summary"> {
  const facts = plan as Partial<BundlePlan> | undefined;
  const profile = isName(facts?.profile) ? facts.profile : undefined;
  if (range.from !== undefined || range.to !== undefined || range.keep !== undefined)
    return { range, ...defined({ profile }) };
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
    ...defined({ profile }),
  };
}

/** Whoever wrote the answer may have changed it: a profile is named in one line. */
function isName(value: unknown): value is string {
  return typeof value === "string" && /^[^\p{C}]{1,100}$/u.test(value);
}

/** A bundle given back whole, with the summary written into its `answer`, counts as that answer. */
function answerIn(value: Readonly<Record<string, unknown>> | null): Readonly<Record<string, unknown>> | null {
  const inner = value?.["summary"] === undefined ? value?.["answer"] : undefined;
  return typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>) : value;
}

async function readText(runtime: Runtime, file: string): Promise<string> {
  if (file === "-") return Buffer.from(await runtime.readStdin()).toString("utf8");
  try {
    return await readFile(resolve(runtime.cwd, file), "utf8");
  } catch (error) {
    throw userError("unreadable_file", `${file} cannot be read: ${reasonOf(error)}.`, {
      hints: ["`jpg compact --emit FILE` writes a bundle to write a summary from."],
      cause: error,
    });
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
