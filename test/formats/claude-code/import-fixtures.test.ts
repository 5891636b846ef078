// Hand-made sessions of every line kind and what they become, event by event. The fixtures are invented; when a change of
// the importer is meant, the snapshots beside them are written again with `vitest -u` and read before they are committed.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { allTurns } from "../../helpers/claude-session.ts";

const folder = new URL("../../fixtures/claude-code/", import.meta.url);

describe("hand-made Claude Code sessions", () => {
  it.each(["tour", "compacted", "damaged"])("reads %s.jsonl into the events beside it", async (name) => {
    const session = readClaudeSession(createBufferSource(readFileSync(new URL(`${name}.jsonl`, folder))));
    const { readTurn, turnLine, compactionTurns, abandoned, ...plain } = session;
    const left = abandoned.map(({ readTurn: _, ...branch }) => branch);
    const head = {
      ...plain,
      starts: allTurns(session).map(({ index }) => turnLine(index)),
      compactionTurns: [...compactionTurns],
      abandoned: left,
    };
    const turns = allTurns(session).map(({ index }) =>
      readTurn(index)
        .map((event) => JSON.stringify(event))
        .join("\n"),
    );
    const text = `${JSON.stringify(head, null, 1)}\n\n${turns.join("\n\n")}\n`;
    await expect(text).toMatchFileSnapshot(new URL(`${name}.events.txt`, folder).pathname);
  });
});
