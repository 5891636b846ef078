// Conversations that a scripted model summarises: what `compact` is asked, what the model was sent, what came of it.
import { afterEach } from "vitest";
import { type CompactRequest, compact } from "../../src/app/compact/compact.ts";
import type { CompactReport } from "../../src/app/compact/compact-report.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { JpgError } from "../../src/core/errors.ts";
import type { LlmRequest } from "../../src/llm/client.ts";
import { createClaudeWriter, sessionBytes } from "./claude-session.ts";
import { createScriptedModel, type Script, says, stop } from "./scripted-model.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "./workspace.ts";

export const MODEL = "anthropic/claude-test";
const SECTIONS = ["TASK STATE", "FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"];

/** A whole answer; `more` = what stands in its first section. */
export function answer(
  more = "The parser was mended.",
  block: object = { files: ["/p/parser.ts"], open_tasks: ["docs"] },
): string {
  const sections = SECTIONS.map((name) => `## ${name}\n${name === "TASK STATE" ? more : "none"}`);
  return `${sections.join("\n\n")}\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\``;
}

export const good = (more?: string): Script => [...says(answer(more)), stop()];

export const WORDS = "the parser reads every line of the file and keeps what it has read in a list of tokens ";

/** A conversation of so many turns, each with a request, a call with its result, and an answer, all long. */
export function session(turns = 6, words = 20): Buffer {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn += 1) {
    writer.prompt(`request number ${turn}: ${WORDS.repeat(words)}`);
    writer.tools(1);
    writer.say(`answer number ${turn}: ${WORDS.repeat(words)}`);
  }
  return sessionBytes(writer.lines);
}

export interface SummarizedConversation {
  readonly workspace: GitWorkspace;
  readonly branch: string;
  tree(): Promise<BranchTree>;
  tip(): Promise<string>;
  /** Message of the newest commit. */
  message(): Promise<string>;
  /** Compacts with profile heavy by a model with these scripts and this window; what is thrown is given back. */
  run(
    scripts: readonly Script[],
    asked?: Partial<CompactRequest>,
    window?: number,
  ): Promise<{
    readonly outcome: CompactReport | JpgError;
    readonly requests: readonly LlmRequest[];
    readonly progress: readonly string[];
  }>;
}

const opened: GitWorkspace[] = [];

afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

/** Imports a session into a store of its own, which is removed after the test. */
export async function openConversation(bytes: Buffer = session()): Promise<SummarizedConversation> {
  const workspace = await createGitWorkspace();
  opened.push(workspace);
  const { branch } = await importBytes(workspace, bytes);
  const tree = async () => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const run: SummarizedConversation["run"] = async (scripts, asked = {}, window = 200_000) => {
    const model = createScriptedModel(scripts, MODEL);
    const progress: string[] = [];
    const openModel = () => Promise.resolve({ ...model, facts: { ...model.facts, contextWindow: window } });
    const outcome: CompactReport | JpgError = await compact(workspace, await tree(), {
      range: {},
      profile: "heavy",
      model: MODEL,
      dryRun: false,
      activate: true,
      openModel,
      progress: (line) => progress.push(line),
      ...asked,
    }).catch((error: unknown) => {
      if (error instanceof JpgError) return error;
      throw error;
    });
    return { outcome, requests: model.requests, progress };
  };
  const message = async () => {
    const [entry] = await workspace.store.readLog({ from: await tipOf(workspace, branch), limit: 1 });
    return entry?.message ?? "";
  };
  return { workspace, branch, tree, run, message, tip: () => tipOf(workspace, branch) };
}

/** The report, when there was no error. */
export function reportOf(outcome: CompactReport | JpgError): CompactReport {
  if (outcome instanceof JpgError) throw outcome;
  return outcome;
}

/** The last thing that a request says. */
export function textOf({ view }: LlmRequest): string {
  const last = view.turns.at(-1)?.events.at(-1);
  return last?.type === "chat_request" ? String(last.content) : "";
}
