// One rule of the real agent a session: what a model is sent for it is what the agent sent. Needs the sessions and recordings
// beside the project (../shared or JPG_CORPUS).
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import { readClaudeSession } from "../../src/formats/claude-code/agent.ts";
import { sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";

const folder = join(sharedFolder, "cases", "claude-code");
const names = existsSync(folder)
  ? readdirSync(folder)
      .flatMap((file) => /^(.*)\.wire\.json$/.exec(file)?.[1] ?? [])
      .sort()
  : [];
const why = names.length > 0 ? "" : ` (skipped: no sessions at ${folder}, set JPG_CORPUS)`;

/** What the agent does to a session when it resumes it and jpg rightly does not: put back, on the agent's side, by name. */
const DIFFERS: Readonly<Record<string, (block: SentBlock) => readonly SentBlock[]>> = {
  // Tools that have other names by now.
  "tool-renamed": (block) => [
    { ...block, ...(block.name !== undefined && { name: OLD_NAMES[block.name] ?? block.name }) },
  ],
  // Reminders folded into the result before them.
  "harness-attachments-opus-4-7": unfold,
  "reminder-folded": unfold,
  // References to tools that happen to be on offer.
  "tool-reference": (block) => {
    if (block.text === "Tool loaded.") return [];
    const isReference = block.content?.some(({ kind }) => kind === "tool_reference") === true;
    return [isReference ? { ...block, content: [{ type: "text", text: REMOVED }] } : block];
  },
  // What stands where something is lost.
  "orphan-result-first": (block) => (LOST.test(block.text ?? "") ? [] : [block]),
};
const OLD_NAMES: Readonly<Record<string, string>> = { Agent: "Task", ListAgents: "ListPeers" };
const REMOVED = "[Tool references removed - tools no longer available]";
const LOST = /^(?:\[Orphaned tool result removed|\(no content\)$|\[Earlier messages are not shown\.\]$)/;
/** What each side puts in when a session stopped in the middle of a call. */
const REPAIR = /^(?:\[Tool call interrupted: .*|No response requested\.)$/;

function unfold(block: SentBlock): readonly SentBlock[] {
  const content = block.content?.flatMap((part) => {
    const text = part.text?.replace(/(?:^|\n\n)<system-reminder>[\s\S]*$/, "").trim();
    return text === "" ? [] : [{ ...part, ...(text !== undefined && { text }) }];
  });
  return [{ ...block, ...(content !== undefined && { content }) }];
}

function change(
  messages: readonly SentMessage[],
  how: (block: SentBlock) => readonly SentBlock[],
): readonly SentMessage[] {
  const changed: { role: string; blocks: SentBlock[] }[] = [];
  for (const { role, blocks } of messages) {
    const left = blocks.flatMap(how);
    if (left.length === 0) continue;
    if (changed.at(-1)?.role === role) changed.at(-1)?.blocks.push(...left);
    else changed.push({ role, blocks: left });
  }
  return changed;
}

function withoutRepair(block: SentBlock): readonly SentBlock[] {
  const texts = block.type === "tool_result" ? (block.content ?? []) : [block];
  if (!texts.some(({ text }) => REPAIR.test(text ?? ""))) return [block];
  return block.type === "tool_result" ? [{ ...block, content: [] }] : [];
}

describe.skipIf(names.length === 0)(`Claude Code, rule by rule${why}`, () => {
  it.each(names)("sends for %s what the agent sent", async (name) => {
    const bytes = readFileSync(join(folder, `${name}.jsonl`));
    const session = readClaudeSession(createBufferSource(bytes));
    const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
    const model = /.*"model":"(claude-[^"]+)"/s.exec(bytes.toString())?.[1] ?? "claude-opus-4-6";
    const { messages } = exportAnthropic(projectTurns(turns, session.compactions), { model });
    const sent = JSON.parse(readFileSync(join(folder, `${name}.wire.json`), "utf8")) as unknown;
    const how = DIFFERS[name] ?? ((block: SentBlock) => [block]);
    const both = [await sentHistory(messages), await sentHistory(sent, { prompt: "continue" })].map((list) =>
      change(change(list, how), withoutRepair),
    );
    expect(both[0]).toEqual(both[1]);
  });
});
