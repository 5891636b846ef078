// Day one: which values may become numbers, and a screenshot that turns out to be empty.
import { shortRun } from "./outputs.mjs";
import { bash, bashFailed } from "./tools.mjs";

/** A red 1 × 1 PNG: stands for the screenshot. */
const SCREENSHOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const leadingZeros = (session, project) => {
  session.user("Now number 1, the leading zeros. What would you count as a number at all?", { after: 130 });
  session.assistant({
    think:
      "A value may become a number only if writing the number back gives the same text. 00501 -> 501 differs. 1.50 -> 1.5 differs: prices would lose a zero; but as REAL people expect that... The round-trip rule is the safe one for integers; for decimals losing trailing zeros is the usual meaning. +3: phone numbers +4670... must stay text. 20-digit ids exceed 2^53: must stay text as well.",
    text: "My rule: **a value is a whole number only if printing that number gives the same text back.** So these stay text: `00501`, `+46701234567` and anything beyond ±9,007,199,254,740,991, which JavaScript would round. `0`, `-7` and `42` are numbers. For decimals I would allow trailing zeros (`1.50`), since prices are written like that.",
    calls: [project.read("src/infer.ts"), project.grep("inferType|inferColumns")],
  });
  session.assistant({
    calls: [
      project.edit(
        "src/infer.ts",
        "const INTEGER = /^[+-]?\\d+$/;\nconst REAL = /^[+-]?\\d*\\.\\d+([eE][+-]?\\d+)?$/;",
        "const INTEGER = /^(0|-?[1-9]\\d*)$/;\nconst REAL = /^-?(0|[1-9]\\d*)\\.\\d+([eE][+-]?\\d+)?$/;\n\n/** Printing the number must give the text back: no leading zeros, no plus sign, nothing that would be rounded. */\nconst isInteger = (value: string): boolean => INTEGER.test(value) && Number.isSafeInteger(Number(value));",
      ),
      project.edit(
        "src/infer.ts",
        'if (type === "INTEGER" && !INTEGER.test(value)) type = "REAL";\n    if (type === "REAL" && !REAL.test(value) && !INTEGER.test(value)) return "TEXT";',
        'if (type === "INTEGER" && !isInteger(value)) type = "REAL";\n    if (type === "REAL" && !REAL.test(value) && !isInteger(value)) return "TEXT";',
      ),
      project.edit(
        "test/infer.test.ts",
        'it("finds decimals"',
        'it.each(["00501", "+46701234567", "9007199254740993"])("keeps %s as text", (value) => expect(inferType([value])).toBe("TEXT"));\nit("finds decimals"',
      ),
    ],
  });
  session.assistant({
    calls: [
      bashFailed(
        "npx vitest run test/infer.test.ts 2>&1 | tail -8",
        "Run the inference tests",
        shortRun("test/infer.test.ts", 7, [{ name: "finds whole numbers", text: "expected 'TEXT' to be 'INTEGER'" }]),
        1,
        2,
      ),
    ],
  });
  session.assistant({
    think:
      "The old test has +3 in it. It asserts the behaviour we just decided against; changing the test is right, and I must say so.",
    text: "The old test expects `+3` to be a whole number, which is exactly what we decided against. I'm changing the test, not the rule.",
    calls: [project.edit("test/infer.test.ts", '["1", "-2", "+3"]', '["1", "-2", "0"]')],
  });
  session.assistant({
    calls: [
      bash(
        "npx vitest run test/infer.test.ts 2>&1 | tail -5 && git commit -qam 'infer: numbers only when the text survives' && git log --oneline | head -1",
        "Run the inference tests and commit",
        `${shortRun("test/infer.test.ts", 8)}\na5f09de infer: numbers only when the text survives`,
        2,
      ),
    ],
  });
  session.assistant({
    text: "Done (`a5f09de`). One existing test changed on purpose: `+3` is text now. Tables that were already loaded keep their old types; a column that lost its zeros has to be loaded again from the file.",
  });
  session.system("turn_duration", { durationMs: 58_117 });
};

const screenshot = (session) => {
  session.user(
    [
      {
        type: "text",
        text: "This is what the customer's sheet looks like before they export it. The red column is the one they care about. Anything that will bite us?",
      },
      { type: "image", source: { type: "base64", media_type: "image/png", data: SCREENSHOT } },
    ],
    { after: 320 },
  );
  session.assistant({
    think:
      "The image is a single red pixel; I can't see a sheet. I must not pretend. Ask for what I need, and say what usually bites with spreadsheet exports.",
    text: "The picture arrived as a single red dot, so I can't see the sheet itself; maybe only one cell was copied. From exports of this kind I'd expect three things to bite:\n\n* **Dates** as `03/04/2026`: nobody can tell March from April. tidepool keeps them as text, which is safe but does not sort.\n* **Decimal commas** (`1.234,50`) with `;` as delimiter: those stay text as well.\n* **A byte order mark** at the start of the file, which today ends up in the name of the first column.\n\nCould you paste the first two lines of the export as text?",
  });
  session.user(
    'Sorry! First two lines:\n\n﻿"Order";"Postcode";"Red tag";"Placed"\n"A-1001";"00501";"yes";"2026-03-04"',
    { after: 95 },
  );
  session.assistant({
    text: "That settles it: a byte order mark, semicolons, ISO dates (good: they sort as text) and postcodes with leading zeros (safe since the last commit). The BOM needs a line of code; I'll put it into the reader when it is rewritten for streaming, so that it is handled in one place. Until then `--delimiter ';'` loads this file, with a wrongly named first column.",
  });
};

/** Tells how type inference is made safe. */
export const tellTypes = (session, project) => {
  leadingZeros(session, project);
  session.side({ type: "summary", summary: "Repair tidepool's CSV parser and type inference", leafUuid: session.here });
  screenshot(session);
};
