import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { END_CASES, endCaseLines, wordsOf } from "../../helpers/claude-ends.ts";
import { allTurns, importLines } from "../../helpers/claude-session.ts";

describe("the path that Claude Code goes on from", () => {
  it.each(END_CASES)("shows what the agent was seen to send: $name ($lines)", (one) => {
    const session = importLines(endCaseLines(one));
    const { messages } = exportAnthropic(projectTurns(allTurns(session), session.compactions));
    expect(wordsOf(messages.flatMap(({ content }) => content))).toBe(one.sent);
  });

  it("shows a late answer with what stands above it while the line that it follows may still come", () => {
    const session = importLines(endCaseLines({ name: "", lines: "u1 a2<1 a4<3@60", sent: "" }));
    expect(session.compactions).toEqual([]);
    expect(session.turnCount).toBe(1);
    expect(session.readTurn(0).map(({ id }) => id.slice(-2))).toEqual(["rn", "01", "02", "04"]);
  });

  it("keeps what was said when the user went back to before the first message and said nothing since", () => {
    const lines = endCaseLines({ name: "", lines: "u1 a2<1 u3<2 a4<3", sent: "" });
    const rewound = { type: "last-prompt", leafUuid: null, explicit: true, rewound: true, sessionId: "s" };
    expect(importLines([...lines, rewound]).turnCount).toBe(2);
  });

  it("knows no branch that was left in an answer that the agent comes to next", () => {
    const lines = endCaseLines({ name: "", lines: "u1 a2<1 l2 a4<3 u3<2", sent: "" });
    expect(importLines(lines).abandoned).toEqual([]);
  });
});
