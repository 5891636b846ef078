// Where Claude Code goes on in a session whose lines stand in an unusual order or name lines that are not there: small
// sessions in a notation of one word a line, each with what Claude Code 2.1.330 was seen to send for it.
import type { Json } from "./claude-session.ts";

export interface EndCase {
  readonly name: string;
  /** `u3<2@9` the user's line 3 follows line 2, written in second 9 (left out: its number) · `a` answer · `c` call · `r5=4`
   * result of call 4 · `s` summary · `b9<<8` boundary behind line 8, `b9<<8+7,8` which keeps 7 and 8 under the summary 10 ·
   * `t` a line of the agent's own · `p` progress · `x` on a sidechain · `l2` a last-prompt line that names line 2. */
  readonly lines: string;
  /** What is sent, in the same words. */
  readonly sent: string;
}

export const END_CASES: readonly EndCase[] = [
  { name: "an answer written before its request", lines: "u1 a2<1 a4<3 u3<2", sent: "u1 a2 u3 a4" },
  { name: "… in the same second", lines: "u1 a2<1 a4<3@3 u3<2@3", sent: "u1 a2 u3 a4" },
  { name: "… which is older than its request", lines: "u1 a2<1 a4<3@2 u3<2@3", sent: "u1 a2 u3" },
  { name: "… with a line of the agent's own behind", lines: "u1 a2<1 a4<3 u3<2 t9<4", sent: "u1 a2 u3 a4" },
  { name: "… with one that hangs on the request", lines: "u1 a2<1 a4<3@4 u3<2@3 t9<3@5", sent: "u1 a2 u3" },
  { name: "a request written before the one before it", lines: "u1 a2<1 u4<3 u3<2", sent: "u1 a2 u3 u4" },
  { name: "two answers written before it: the newer", lines: "u1 a2<1 a4<3 a5<3 u3<2", sent: "u1 a2 u3 a5" },
  { name: "… from which the user went on", lines: "u1 a2<1 a4<3 u3<2 u5<4 a6<5", sent: "u1 a2 u3 a4 u5 a6" },
  {
    name: "the last message, whatever the times say",
    lines: "u1 a2<1 u3<2@30 a4<3@31 u5<2@20 a6<5@21",
    sent: "u1 a2 u5 a6",
  },
  { name: "a named line that the last message follows", lines: "u1 a2<1 u3<2 a4<3 l2", sent: "u1 a2 u3 a4" },
  { name: "a named line on another branch", lines: "u1 a2<1 u3<2 a4<3 u5<2 a6<5 l3", sent: "u1 a2 u3" },
  { name: "a name that the file does not hold", lines: "u1 a2<1 u3<2 a4<3 u5<2 a6<5 l3 l77", sent: "u1 a2 u5 a6" },
  { name: "a line of the agent's own behind an older message", lines: "u1 a2<1 u3<2 a4<3 t9<2", sent: "u1 a2" },
  { name: "… and a named line", lines: "u1 a2<1 u3<2 a4<3 l2 t9<2", sent: "u1 a2" },
  { name: "progress behind an older message", lines: "u1 a2<1 u3<2 a4<3 p9<2", sent: "u1 a2 u3 a4" },
  { name: "a boundary that is named", lines: "u1 a2<1 b3<<2 s4<3 a5<4 l3 u6<2 a7<6", sent: "u1 a2 u6 a7" },
  { name: "a request before its parent, a named line", lines: "u1 a2<1 l2 u4<3 t3<2", sent: "u1 a2" },
  {
    name: "a line of the agent's own that is named",
    lines: "u1 a2<1 u3<2 a4<3 t9<4 u5<2 a6<5 l9",
    sent: "u1 a2 u3 a4",
  },
  { name: "a named line, an answer written before its request", lines: "u1 a2<1 l2 a4<3 u3<2", sent: "u1 a2 u3" },
  { name: "… that is named itself", lines: "u1 a2<1 a4<3 u3<2 l4", sent: "u1 a2 u3 a4" },
  { name: "a named line, and a parent that is not there", lines: "u1 a2<1 l2 u3<99 a4<3", sent: "u1 a2" },
  { name: "a name from before a compaction", lines: "u1 a2<1 u7<2 a8<7 l8 b3<<2 s4<3 a5<4", sent: "s4 a5" },
  {
    name: "a line before it that is named behind it",
    lines: "u1 a2<1 u7<2 a8<7 b3<<8 s4<3 l8 a5<4",
    sent: "u1 a2 u7 a8",
  },
  {
    name: "a kept line that is named",
    lines: "u1 a2<1 u7<2 a8<7 b9<<8+7,8 s10<9 l8 u11<8 a12<11",
    sent: "s10 u7 a8 u11 a12",
  },
  { name: "… with nothing behind it", lines: "u1 a2<1 u7<2 a8<7 b9<<8+7,8 s10<9 a11<10 l8", sent: "s10 u7 a8 a11" },
  { name: "a parent that is not there, 5 s behind", lines: "u1 a2<1 u5<99@7 a6<5", sent: "u1 a2 u5 a6" },
  { name: "… and later", lines: "u1 a2<1 u5<99@7.001 a6<5@8", sent: "u5 a6" },
  { name: "… which is older than what stands above", lines: "u1 a2<1@10 u5<99@9 a6<5@12", sent: "u5 a6" },
  { name: "the newest line above, not the nearest", lines: "u1 a2<1@10 a3<1@9 u5<99@11 a6<5@12", sent: "u1 a2 u5 a6" },
  { name: "of one second the first", lines: "u1 a2<1@10 a3<1@10 u5<99@11 a6<5@12", sent: "u1 a2 u5 a6" },
  { name: "a line of the agent's own above", lines: "u1 a2<1 t9<2@9 u5<99@11 a6<5@12", sent: "u1 a2 u5 a6" },
  { name: "progress above does not count", lines: "u1 a2<1 p9<2@9 u5<99@11 a6<5@12", sent: "u5 a6" },
  { name: "nor does a sidechain", lines: "u1 a2<1 x9<2@9 u5<99@11 a6<5@12", sent: "u5 a6" },
  { name: "nor what follows the line itself", lines: "u1 a2<1@8 a6<5@11 u5<99@11 a7<6@12", sent: "u1 a2 u5 a6 a7" },
  { name: "a line that names itself", lines: "u1 a2<1 u5<5@3 a6<5@4", sent: "u1 a2 u5 a6" },
  { name: "a line of the agent's own whose parent is not there", lines: "u1 a2<1 t9<99@60", sent: "u1 a2" },
  { name: "two parents that are not there", lines: "u1 a2<1 u3<98 a4<3 u5<97 a6<5", sent: "u1 a2 u3 a4 u5 a6" },
  { name: "a result whose call is not there, in time", lines: "u1 c2<1 r3<99=2 a5<3", sent: "u1 c2 r2 a5" },
  {
    name: "a parent that is not there, behind a compaction",
    lines: "u1 a2<1 b3<<2 s4<3 a5<4 u6<99 a7<6",
    sent: "s4 a5 u6 a7",
  },
];

const LINE = /^([a-z])(\d+)(?:(<<?)(\d+))?(?:\+([\d,]+))?(?:=(\d+))?(?:@([\d.]+))?$/;
const SESSION = "5e551073-0000-4000-8000-00000000000b";
const uuid = (number: string): string => `00000000-0000-4000-8000-${number.padStart(12, "0")}`;

/** The lines of a case as Claude Code writes them. */
export function endCaseLines({ lines }: EndCase): readonly Json[] {
  return lines.split(" ").map((word) => {
    const [, kind = "", number = "", link, parent, kept, call, second = number] = LINE.exec(word) ?? [];
    if (kind === "l") return { type: "last-prompt", leafUuid: uuid(number), sessionId: SESSION };
    return {
      parentUuid: link === "<" && parent !== undefined ? uuid(parent) : null,
      isSidechain: kind === "x",
      sessionId: SESSION,
      version: "2.1.330",
      ...bodyOf(kind, { number, parent, kept, call }),
      uuid: uuid(number),
      timestamp: new Date(Date.UTC(2026, 2, 1, 9) + Number(second) * 1000).toISOString(),
    };
  });
}

interface Numbers {
  readonly number: string;
  readonly parent: string | undefined;
  readonly kept: string | undefined;
  readonly call: string | undefined;
}

function bodyOf(kind: string, { number, parent, kept, call }: Numbers): Json {
  const name = `${kind}${number}`;
  switch (kind) {
    case "a":
      return answer(number, { type: "text", text: name });
    case "c":
      return answer(number, { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: { command: name } });
    case "r":
      return user([{ type: "tool_result", tool_use_id: `toolu_${call}`, content: name }]);
    case "b":
      return {
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        logicalParentUuid: uuid(parent ?? ""),
        compactMetadata: { trigger: "auto", preTokens: 1000, ...(kept !== undefined && preserved(kept, number)) },
      };
    case "s":
      return { ...user(name), isCompactSummary: true, isVisibleInTranscriptOnly: true };
    case "t":
      return { type: "system", subtype: "turn_duration" };
    case "p":
      return { type: "progress", data: { type: "hook_progress" }, toolUseID: "t" };
    default:
      return user(name);
  }
}

function preserved(kept: string, boundary: string): Json {
  const uuids = kept.split(",").map(uuid);
  const anchorUuid = uuid(String(Number(boundary) + 1));
  return {
    preservedSegment: { headUuid: uuids[0], anchorUuid, tailUuid: uuids.at(-1) },
    preservedMessages: { anchorUuid, uuids, allUuids: uuids },
  };
}

function user(content: unknown): Json {
  return { type: "user", message: { role: "user", content } };
}

function answer(number: string, block: Json): Json {
  const model = "claude-sonnet-4-5-20250929";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${number}`, type: "message", role: "assistant", model, content: [block], usage };
  return { type: "assistant", message };
}

/** What messages of Anthropic's API say, in the words of a case; what a side puts in by itself is left out. */
export function wordsOf(blocks: readonly Json[]): string {
  const words = blocks.flatMap((block): readonly string[] => {
    if (block["type"] === "tool_use") return [String(block["id"]).replace("toolu_", "c")];
    if (block["type"] === "tool_result") return [String(block["tool_use_id"] ?? block["id"]).replace("toolu_", "r")];
    return block["type"] === "text" ? (String(block["text"]).match(/^[a-z]\d+$/gm) ?? []) : [];
  });
  return words.join(" ");
}
