// @module-tag law
// Laws of reading and writing jp's streams, on drawn ones and on damaged ones.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { checkCompaction } from "../../../src/core/conversation/compaction-line.ts";
import { traitsOf } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { JP, readJpSession } from "../../../src/formats/jp/agent.ts";
import { formatStream } from "../../../src/formats/jp/write.ts";
import { sentByJp } from "../../helpers/jp-rules.ts";
import { jpTurns, readJp, throughJpg, writeJp } from "../../helpers/jp-session.ts";
import { jpStream } from "../../helpers/jp-steps.ts";
import { mutatedJpStream } from "../../helpers/mutated-session.ts";
import { runs } from "../../helpers/runs.ts";

describe("laws of jp's streams", () => {
  it("come back as jp stored them, and read the same: events, compactions, ids", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(jpStream, (entries) => {
        const session = readJp(entries);
        const text = writeJp(jpTurns(session), session.compactions);
        const again = readJp(text);
        expect(jpTurns(again)).toEqual(jpTurns(session));
        expect(again.compactions).toEqual(session.compactions);
        expect(again.exportedCompactions?.size).toBe(session.compactions.length);
        expect(throughJpg(entries)).toEqual(entries);
      }),
      { numRuns: runs(300) },
    );
  });

  it("are sent by jp as jpg projects them", () => {
    fc.assert(
      fc.property(jpStream, (entries) => {
        const session = readJp(entries);
        const { turns } = projectTurns(jpTurns(session), session.compactions);
        const shown = readJp(writeJp(turns.map(({ events }, index) => ({ index, events }))));
        expect(sentByJp(JSON.parse(writeJp(jpTurns(shown))).slice(1))).toEqual(
          sentByJp(JSON.parse(writeJp(jpTurns(session), session.compactions)).slice(1)),
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it("only add while they grow; ids are unique and without dots, and a conversation keeps its name", () => {
    fc.assert(
      fc.property(jpStream, fc.nat(60), (entries, cut) => {
        const [shorter, longer] = [readJp(entries.slice(0, 2 + cut)), readJp(entries)];
        const turns = jpTurns(shorter);
        const last = turns.at(-1)!;
        expect(longer.sessionId).toBe(shorter.sessionId);
        expect(jpTurns(longer).slice(0, last.index)).toEqual(turns.slice(0, -1));
        expect(longer.readTurn(last.index).slice(0, last.events.length)).toEqual(last.events);
        const ids = (session: typeof longer): string[] => session.compactions.map(({ id }) => id);
        expect(ids(longer).slice(0, shorter.compactions.length)).toEqual(ids(shorter));
        const all = [...jpTurns(longer).flatMap(({ events }) => events.map(({ id }) => id)), ...ids(longer)];
        expect(new Set(all).size).toBe(all.length);
        for (const id of all) expect(id).toMatch(/^[a-z0-9-]+$/);
        const sent = jpTurns(longer).flatMap(({ events }) => events.filter((one) => traitsOf(one).providerVisible));
        for (const { id } of sent) expect(longer.hasLine(JP.write!.lineId("", id, () => new Uint8Array()))).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });

  it("that are damaged are read, or said to be none; always the same", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(mutatedJpStream, (text) => {
        const read = (): unknown => {
          const source = createBufferSource(Buffer.from(text));
          JP.detect(source);
          JP.origin(source);
          const session = readJpSession(source);
          for (const compaction of session.compactions) expect(checkCompaction(compaction)).toBeNull();
          const turns = jpTurns(session);
          const written = writeJp(turns, session.compactions);
          const { readTurn, hasLine, turnLine, turnTime, ...plain } = session;
          return [plain, turns, written, jpTurns(readJp(written)).length];
        };
        try {
          expect(read()).toEqual(read());
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it("are told from other files", () => {
    const detects = (text: string): boolean => JP.detect(createBufferSource(Buffer.from(text)));
    fc.assert(
      fc.property(jpStream, (entries) => {
        expect(detects(formatStream(entries))).toBe(true);
      }),
      { numRuns: runs(20) },
    );
    expect(detects("")).toBe(false);
    expect(detects("[]")).toBe(false);
    expect(detects('[{"role":"user","content":"hi"}]')).toBe(false);
    expect(detects('[{"type":"message","role":"user","content":[]}]')).toBe(false);
    expect(detects('{"messages":[]}')).toBe(false);
    expect(detects('{"type":"user"}\n{"type":"assistant"}')).toBe(false);
    expect(detects('[\n  {\n    "timestamp": "2026-05-04 09:00:00.0",\n    "type": "turn_start"\n  },\n  {')).toBe(
      true,
    );
  });
});
