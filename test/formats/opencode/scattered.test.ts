// @module-tag law
// Sessions of OpenCode before 1.2: many small files, read as the document that `opencode export` would print of them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { readOpenCodeSession } from "../../../src/formats/opencode/agent.ts";
import { joinScattered, listScattered } from "../../../src/formats/opencode/store.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../../helpers/corpus.ts";
import { readOpenCode, turnsOfSession } from "../../helpers/opencode-session.ts";
import { anyOpenCodeSteps, openCodeSteps, writeOpenCode } from "../../helpers/opencode-steps.ts";
import { runs } from "../../helpers/runs.ts";
import { joinOpenCode, scatterOpenCode } from "../../helpers/scattered-opencode.ts";

const read = (text: string) => {
  const session = readOpenCodeSession(createBufferSource(Buffer.from(text)));
  return { turns: turnsOfSession(session), compactions: session.compactions, skipped: session.skippedLines };
};
const because = corpusMissing === null ? "" : ` (SKIPPED: ${corpusMissing})`;

describe("a session in many files", () => {
  it("is the document that OpenCode exports, wherever its versions kept the files, with each text as it is", () => {
    fc.assert(
      fc.property(
        fc.array(anyOpenCodeSteps, { maxLength: 12 }),
        fc.constantFrom("storage" as const, "project" as const),
        (steps, layout) => {
          const text = writeOpenCode(steps).bytes().toString();
          const files = scatterOpenCode(text, layout);
          const joined = joinOpenCode(files);
          expect(read(joined)).toEqual(read(text));
          expect(JSON.parse(joined)).toEqual(JSON.parse(text));
          for (const each of files.values()) expect(joined).toContain(each);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("only adds when files are added", () => {
    fc.assert(
      fc.property(fc.array(openCodeSteps, { maxLength: 12 }), fc.nat(12), (steps, cut) => {
        const [before, after] = [steps.slice(0, cut), steps].map(
          (each) => read(joinOpenCode(scatterOpenCode(writeOpenCode(each).bytes().toString()))).turns,
        );
        const last = before!.at(-1)!;
        expect(after!.slice(0, last.index)).toEqual(before!.slice(0, -1));
        expect(after![last.index]!.events.slice(0, last.events.length)).toEqual(last.events);
      }),
      { numRuns: runs(60) },
    );
  });

  it("names files that are no JSON, and reads the rest", () => {
    const files = scatterOpenCode(
      writeOpenCode([{ kind: "say" }, { kind: "ask" }])
        .bytes()
        .toString(),
    );
    const [, question, , , part] = [...files.keys()];
    files.set(part!, '{"id":"prt_');
    const { turns, skipped } = read(joinOpenCode(files));
    expect(skipped.map(({ reason }) => reason)).toEqual([`${part} is not a JSON object`]);
    expect(turns).toHaveLength(2);
    files.set(question!, "");
    expect(read(joinOpenCode(files)).skipped.map(({ reason }) => reason)).toContain(`${question} is not a JSON object`);
  });

  it("is told from its path, and a document that was exported to such a place stays one", () => {
    const place = { join: (...names: string[]) => names.join("/"), namesIn: () => ["a.json", "a.txt"] };
    const path = "/x/storage/session/prj/ses_1.json";
    expect(listScattered(place, path)).toEqual([path, "/x/storage/message/ses_1/a.json", "/x/storage/part/a/a.json"]);
    for (const other of ["/x/storage/session_diff/ses_1.json", "/x/ses_1.json", "/x/storage/message/ses_1/msg_1.json"])
      expect(listScattered(place, other)).toBeNull();
    const text = writeOpenCode([]).bytes().toString();
    expect(joinScattered([{ path: "session/prj/ses_1.json", text }])).toBe(text);
  });

  it("is read whatever stands in its files, the same each time, or refused", () => {
    const files = [
      ...scatterOpenCode(
        writeOpenCode([{ kind: "say" }, { kind: "ask" }])
          .bytes()
          .toString(),
      ),
    ];
    const damage = fc.oneof(
      fc.constant(null),
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.nat(200),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(files.length - 1), damage), { maxLength: 4 }), (changes) => {
        const damaged = new Map(files);
        for (const [at, change] of changes) {
          const [path, text] = files[at]!;
          if (change === null) damaged.delete(path);
          else damaged.set(path, typeof change === "number" ? text.slice(0, change) : change);
        }
        const outcome = (): unknown => {
          try {
            return read(joinOpenCode(damaged));
          } catch (error) {
            if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
            return error.message;
          }
        };
        expect(outcome()).toEqual(outcome());
      }),
      { numRuns: runs(300) },
    );
  });
});

describe.skipIf(corpusMissing !== null)(`sessions of the corpus, taken apart${because}`, () => {
  it.each(listCorpus("opencode"))("%s reads as its document does", (file) => {
    const text = readCorpusFile(file).toString();
    expect(read(joinOpenCode(scatterOpenCode(text)))).toEqual(read(text));
    expect(readOpenCode(text).turnCount).toBeGreaterThan(0);
  });
});
