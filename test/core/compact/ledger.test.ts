// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readLedger, renderLedger, withoutLedger } from "../../../src/core/compact/event-ledger.ts";
import { finishSummary } from "../../../src/core/compact/summary-answer.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { call, result } from "../../helpers/sample-view.ts";

const placed = [
  call("a", "Write", { file_path: "/p/new.ts", content: "x" }),
  result("ar", "a", "ok"),
  call("b", "Edit", { file_path: "/p/failed.ts" }),
  result("br", "b", "no match", true),
  call("c", "Read", { file_path: "/p/read.ts" }),
  call("d", "Grep", { pattern: "x", path: "/p" }),
  call("e", "Bash", { command: "npm test\nsecond line" }),
  result("er", "e", "Error: it broke", true),
].map((event) => ({ turn: 0, event }));
const LEDGER = readLedger(placed);
const NONE = { modified: [], read: [], commands: [], errors: [] };

describe("readLedger", () => {
  it("has files that changed, files looked at, commands with how they ended, and errors", () => {
    expect(LEDGER).toEqual({
      modified: ["/p/new.ts"],
      read: ["/p/failed.ts", "/p/read.ts"],
      commands: ["npm test → failed"],
      errors: ["no match", "Error: it broke"],
    });
  });
});

describe("readLedger, of single calls,", () => {
  const ledgerOf = (...events: readonly Event[]) => readLedger(events.map((event) => ({ turn: 0, event })));

  it("says of a command how its newest run ended, once", () => {
    const run = (id: string) => call(id, "Bash", { command: "make" });
    const failed = [run("a"), result("ar", "a", "no", true)];
    const done = [run("b"), result("br", "b", "ok")];
    expect(ledgerOf(...failed, ...done).commands).toEqual(["make"]);
    expect(ledgerOf(...done, ...failed).commands).toEqual(["make → failed"]);
    expect(ledgerOf(run("a")).commands).toEqual(["make"]);
  });

  it("counts a file that was changed at any time as changed only, and once", () => {
    const read = call("a", "Read", { file_path: "/p/a.ts" });
    const write = call("b", "Write", { file_path: "/p/a.ts", content: "" });
    const again = call("c", "Edit", { file_path: "/p/a.ts" });
    expect(ledgerOf(read, write, again, read)).toEqual({ ...NONE, modified: ["/p/a.ts"] });
    expect(ledgerOf(read, read)).toEqual({ ...NONE, read: ["/p/a.ts"] });
  });

  it("names what the arguments of an unknown tool name, and nothing of searches and lists", () => {
    expect(ledgerOf(call("a", "mystery", { paths: ["/p/a.ts", "/p/b.ts"] })).read).toEqual(["/p/a.ts", "/p/b.ts"]);
    expect(ledgerOf(call("a", "Grep", { path: "/p" }), call("b", "LS", { path: "/q" })).read).toEqual([]);
  });

  it("names every file of a patch", () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Add File: b.ts\n+z\n*** End Patch";
    expect(ledgerOf(call("a", "apply_patch", { input: patch })).modified).toEqual(["a.ts", "b.ts"]);
  });

  it("has each error once, shortened to 160 characters", () => {
    const [whole, long] = [`Error: ${"x".repeat(153)}`, `Error: ${"x".repeat(154)}`];
    const shown = [result("a", "x", `${whole}\n${long}`), result("b", "x", `${whole}\nError: y`)];
    expect(ledgerOf(...shown).errors).toEqual([whole, `Error: ${"x".repeat(152)}…`, "Error: y"]);
  });

  it("is empty where nothing is called", () => {
    expect(ledgerOf()).toEqual(NONE);
  });
});

describe("renderLedger", () => {
  it("lists modified files always, and the rest where the text does not have it", () => {
    const text = "ran npm test on /p/new.ts, saw Error: it broke";
    expect(renderLedger(LEDGER, { text, limit: 1000 }).split("\n")).toEqual([
      "## LEDGER",
      "Taken from the recorded calls, not written by a model.",
      "Files modified:",
      "- /p/new.ts",
      "Errors seen:",
      "- no match",
      "Files looked at:",
      "- /p/failed.ts",
      "- /p/read.ts",
    ]);
  });

  it("knows entries in a text by what they say, not by their marks", () => {
    const ledger = {
      modified: ["/p/a.ts → failed"],
      errors: ["Error: long …", "Error: longer…"],
      commands: ["make → failed", "a → failed b", "…b"],
      read: ["/p/b.ts…", "/p/c.ts"],
    };
    const text = "make, a b, b; Error: long and Error: longer; /p/b.ts";
    expect(renderLedger(ledger, { text, limit: 1000 }).split("\n").slice(2)).toEqual([
      "Files modified:",
      "- /p/a.ts → failed",
      "Commands run:",
      "- a → failed b",
      "- …b",
      "Files looked at:",
      "- /p/c.ts",
    ]);
  });

  it("fills its limit to the last character, the least important left out first", () => {
    const ledger = { modified: ["/p/a.ts"], errors: ["Error: e"], commands: ["make"], read: ["/p/r.ts"] };
    const head = ["## LEDGER", "Taken from the recorded calls, not written by a model."];
    const more = "- … more is in the turns themselves";
    const all = ["Files modified:", "- /p/a.ts", "Errors seen:", "- Error: e", "Commands run:", "- make"];
    const rest = ["Files looked at:", "- /p/r.ts"];
    const render = (limit: number): string => renderLedger(ledger, { text: "", limit });
    for (const shown of [2, 4, 6]) {
      const lines = [...head, ...all.slice(0, shown), more].join("\n");
      expect(render(lines.length)).toBe(lines);
      expect(render(lines.length - 1)).toBe(shown === 2 ? "" : [...head, ...all.slice(0, shown - 2), more].join("\n"));
    }
    // Room for the line that more is left out is kept, though nothing may be.
    const whole = [...head, ...all, ...rest].join("\n");
    expect(render(whole.length + more.length + 1)).toBe(whole);
    expect(render(whole.length + more.length)).toBe([...head, ...all, more].join("\n"));
    const few = { ...ledger, errors: [], commands: [] };
    const short = [...head, ...all.slice(0, 2), ...rest].join("\n");
    expect(renderLedger(few, { text: "", limit: short.length + more.length + 1 })).toBe(short);
  });

  it("leaves the end of a list out that does not fit", () => {
    const ledger = { ...NONE, modified: ["/p/a.ts", "/p/b.ts", "/p/c"], commands: ["m"] };
    const head = ["## LEDGER", "Taken from the recorded calls, not written by a model."];
    const more = "- … more is in the turns themselves";
    const lines = [...head, "Files modified:", "- /p/a.ts", "- /p/b.ts", more].join("\n");
    expect(renderLedger(ledger, { text: "", limit: lines.length })).toBe(lines);
    expect(renderLedger(ledger, { text: "", limit: lines.length + 6 })).toBe(lines);
    expect(renderLedger(ledger, { text: "", limit: lines.length - 1 })).toBe(
      [...head, "Files modified:", "- /p/a.ts", more].join("\n"),
    );
  });

  it("is removed only from the end of a summary, and only the last one", () => {
    const text = renderLedger({ ...NONE, modified: ["/p/a.ts"] }, { text: "", limit: 1000 });
    expect(withoutLedger(`one\n\n${text}\n\ntwo\n\n${text}`)).toBe(`one\n\n${text}\n\ntwo`);
    expect(withoutLedger(`\n\n${text}`)).toBe("");
    for (const other of ["words", text, "words\n\n## LEDGER\nof my own\n"]) expect(withoutLedger(other)).toBe(other);
  });

  it("is empty without anything to add, and without room", () => {
    expect(renderLedger(NONE, { text: "", limit: 1000 })).toBe("");
    expect(renderLedger(LEDGER, { text: "", limit: 50 })).toBe("");
  });

  it("stays within its limit, says when something is left out, and can be taken off again", () => {
    const entries = fc.array(
      fc.string({ minLength: 1, maxLength: 30 }).map((text) => `f${text.replace(/\s/g, "")}`),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(entries, entries, fc.nat(600), (modified, commands, limit) => {
        const ledger = { ...NONE, modified, commands };
        const text = renderLedger(ledger, { text: "", limit });
        expect(text.length).toBeLessThanOrEqual(limit);
        const listed = text.split("\n").filter((line) => line.startsWith("- ") && !line.startsWith("- … more"));
        if (text !== "" && listed.length < modified.length + commands.length) expect(text).toContain("… more");
        if (text !== "") expect(withoutLedger(`words\n\n${text}`)).toBe("words");
      }),
    );
  });
});

describe("finishSummary", () => {
  const answer = {
    summary: "words",
    sections: new Map(),
    files: ["new.ts", "./p/read.ts", "other.ts"],
    open_tasks: ["docs"],
  };

  it("puts the events' files before the model's, each file once", () => {
    const { files, open_tasks } = finishSummary(answer, LEDGER, 1000);
    expect(files).toEqual(["/p/new.ts", "/p/failed.ts", "/p/read.ts", "other.ts"]);
    expect(open_tasks).toEqual(["docs"]);
  });

  it("knows a file by the end of its path, after a whole folder", () => {
    const named = (file: string) => finishSummary({ ...answer, files: [file] }, LEDGER, 0).files;
    const known = ["/p/new.ts", "/p/failed.ts", "/p/read.ts"];
    for (const file of ["/p/read.ts", "p/read.ts", "./p/read.ts", "/read.ts", "./new.ts"])
      expect(named(file)).toEqual(known);
    for (const file of ["ead.ts", "q/read.ts", "../read.ts", "p/./read.ts"])
      expect(named(file)).toEqual([...known, file]);
  });

  it("lists every file that was modified, and two hundred others, those of the events first", () => {
    const list = (name: string, count: number) => Array.from({ length: count }, (_, n) => `/${name}/${n}`);
    const ledger = { ...NONE, modified: list("m", 250), read: list("r", 150) };
    const { files } = finishSummary({ ...answer, files: list("n", 60) }, ledger, 0);
    expect(files).toEqual([...list("m", 250), ...list("r", 150), ...list("n", 50)]);
  });

  it("gives the ledger one and a half characters for each token saved, eight thousand at most", () => {
    const ledger = { ...NONE, modified: Array.from({ length: 2000 }, (_, n) => `/p/${n}.ts`) };
    const ledgerFor = (saved: number): string => finishSummary(answer, ledger, saved).summary.slice("words\n\n".length);
    expect(ledgerFor(1001)).toBe(renderLedger(ledger, { text: "words", limit: 1501 }));
    expect(ledgerFor(1001)).not.toBe(renderLedger(ledger, { text: "words", limit: 1490 }));
    expect(ledgerFor(1_000_000)).toBe(renderLedger(ledger, { text: "words", limit: 8000 }));
  });

  it("has no ledger where the summary saves nothing", () => {
    expect(finishSummary(answer, LEDGER, 0).summary).toBe("words");
    expect(finishSummary(answer, LEDGER, 1000).summary).toMatch(/^words\n\n## LEDGER\n/);
  });
});
