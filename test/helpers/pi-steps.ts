// Drawn sessions of pi: what users, models and extensions do in one, step by step.
import fc from "fast-check";
import { createPiWriter, type PiWriter, piCall } from "./pi-session.ts";

export type PiStep =
  | { readonly do: "user" | "say" | "tool" | "ask" | "fail" | "bash" | "branch" | "label" | "custom" }
  | { readonly do: "compact" | "goTo" | "omit" | "replace" | "restore"; readonly back: number };

/** Steps that add to the newest branch. */
export const addingSteps: fc.Arbitrary<PiStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .constantFrom("user", "user", "say", "say", "tool", "tool", "ask", "fail", "bash", "branch", "label", "custom")
      .map((name) => ({ do: name }) as PiStep),
  },
  { weight: 1, arbitrary: fc.nat(8).map((back) => ({ do: "compact", back }) as PiStep) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("omit" as const, "replace" as const, "restore" as const),
      back: fc.nat(8),
    }),
  },
);
/** Steps that go back, too. */
export const anySteps = fc.oneof(
  { weight: 10, arbitrary: addingSteps },
  { weight: 1, arbitrary: fc.nat(8).map((back) => ({ do: "goTo", back }) as PiStep) },
);

function take(pi: PiWriter, step: PiStep, at: number): void {
  const back = (far: number): string => String(pi.lines[Math.max(1, pi.lines.length - 1 - far)]!["id"]);
  switch (step.do) {
    case "user":
      pi.user(`request ${at}`);
      break;
    case "say":
      pi.say(`answer ${at}`);
      break;
    case "tool":
      pi.say(`looking ${at}`, piCall(`c${at}`));
      pi.result(`c${at}`, `seen ${at}`);
      break;
    case "ask":
      pi.say(`asking ${at}`, piCall(`a${at}`));
      break;
    case "fail":
      pi.fail("aborted", `broken ${at}`, piCall(`f${at}`));
      break;
    case "bash":
      pi.add({
        type: "message",
        message: { role: "bashExecution", command: `c${at}`, output: "kelp", exitCode: 0, timestamp: at },
      });
      break;
    case "branch":
      pi.add({ type: "branch_summary", fromId: "x", summary: `branch ${at}` });
      break;
    case "label":
      pi.add({ type: "label", targetId: back(1), label: `label ${at}` });
      break;
    case "custom":
      pi.add({ type: "custom_message", customType: "tide", content: `tide ${at}`, display: false });
      break;
    case "compact": {
      // The first request at least is hidden: pi makes no other compactions.
      const kept = Math.max(2, pi.lines.length - 1 - step.back);
      const firstKeptEntryId = kept.toString(16).padStart(8, "0");
      pi.add({ type: "compaction", summary: `summary ${at}`, firstKeptEntryId, tokensBefore: 1 });
      break;
    }
    case "omit":
      pi.add({ type: "context_edit", targetId: back(step.back), replacement: null });
      break;
    case "replace":
      pi.add({ type: "context_edit", targetId: back(step.back), replacement: { content: `edited ${at}` } });
      break;
    case "restore": {
      const target = pi.lines[Math.max(1, pi.lines.length - 1 - step.back)]!;
      const { content } = (target["message"] ?? target) as { readonly content?: unknown };
      if (content === undefined) break;
      pi.add({ type: "context_edit", targetId: target["id"], replacement: { content } });
      break;
    }
    case "goTo":
      pi.goTo(back(step.back));
  }
}

/** Writes a session by steps, after a first request. */
export function writePi(steps: readonly PiStep[]): PiWriter {
  const pi = createPiWriter();
  pi.user("first request");
  for (const [at, step] of steps.entries()) take(pi, step, at);
  return pi;
}
