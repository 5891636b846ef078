// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEditScreen, layOut } from "../../../src/cli/chat/read-line.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { typeKeys } from "../../helpers/typed-keys.ts";

const lay = (typed: string, columns = 10, rows = 24) =>
  layOut(typeKeys(typed, ["typed before"]).state, { prompt: "\u001b[1m>\u001b[22m ", columns, rows });

describe("a line laid out", () => {
  it("wraps at the width of the terminal, wide characters whole", () => {
    expect(lay("0123456789ab").rows.slice(1)).toEqual(["789ab"]);
    expect(lay("潮潮潮潮").rows.slice(1)).toEqual(["潮"]);
    expect(lay("0123456789ab").cursor).toEqual({ row: 1, column: 5 });
    expect(lay("one\ntwo").rows.slice(1)).toEqual(["… two"]);
  });

  it("shows what is searched for", () => {
    expect(lay("\u0012bef", 40).rows).toEqual(["(search) bef: typed before"]);
  });

  it("shows the rows around the cursor when there are more than fit", () => {
    const tall = lay("1\n2\n3\n4\n5\n6", 10, 4);
    expect(tall.rows).toEqual(["… 4", "… 5", "… 6"]);
    expect(tall.cursor).toEqual({ row: 2, column: 3 });
  });

  it("never is wider or taller than the terminal, and has its cursor on it", () => {
    const typed = fc.array(fc.constantFrom("a", "潮", "\n", "é", "\u001b[D", "\u001b[A", "👩‍👩‍👧"), { maxLength: 60 });
    fc.assert(
      fc.property(typed, fc.integer({ min: 8, max: 40 }), fc.integer({ min: 2, max: 6 }), (keys, columns, rows) => {
        const view = lay(keys.join(""), columns, rows);
        for (const row of view.rows.slice(1)) expect(displayWidth(row)).toBeLessThan(columns);
        expect(view.rows.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
        expect(view.cursor.row).toBeLessThan(view.rows.length);
        expect(view.cursor.column).toBeLessThan(columns);
      }),
    );
  });
});

describe("a line drawn", () => {
  it("takes the place of the one before, also after the terminal became narrower", () => {
    let columns = 40;
    let drawn = "";
    const screen = createEditScreen({
      write: () => undefined,
      draw: (text) => (drawn += text),
      columns: () => columns,
      rows: () => 24,
    });
    screen.draw({ rows: ["> one", "… two"], cursor: { row: 1, column: 5 } });
    drawn = "";
    screen.draw({ rows: ["> x"], cursor: { row: 0, column: 3 } });
    expect(drawn).toBe("\u001b[1A\r \u001b[J\r> x\u001b[4G");
    screen.draw({ rows: ["x".repeat(39)], cursor: { row: 0, column: 39 } });
    columns = 20;
    drawn = "";
    screen.draw({ rows: ["> y"], cursor: { row: 0, column: 3 } });
    expect(drawn.startsWith("\u001b[1A\r \u001b[J\r")).toBe(true);
    screen.forget();
    drawn = "";
    screen.draw({ rows: ["> z"], cursor: { row: 0, column: 3 } });
    expect(drawn.startsWith("\r \u001b[J\r")).toBe(true);
  });
});
