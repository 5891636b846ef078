// What errors say is a sentence: it begins with a capital, or a name, and ends with a full stop.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../src/", import.meta.url));

/** Where the makers of errors take the message. */
const MESSAGE_AT: Readonly<Record<string, number>> = { userError: 1, repositoryError: 1, JpgError: 2 };

/** The others need not be parsed. */
const MAKES_ERRORS = new RegExp(`\\b(?:${Object.keys(MESSAGE_AT).join("|")})\\(`);

/** The texts that stand in the place of a message, as they are written, quotes included; a variable is none. */
function messagesIn(text: string): readonly string[] {
  const found: string[] = [];
  const take = (node: ts.Expression | undefined): void => {
    if (node === undefined) return;
    if (ts.isConditionalExpression(node)) for (const branch of [node.whenTrue, node.whenFalse]) take(branch);
    else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) found.push(node.getText());
  };
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const at = MESSAGE_AT[node.expression.getText()];
      if (at !== undefined) take(node.arguments?.[at]);
    }
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true));
  return found;
}

/** A program or a file may begin it in lower case; it may end in a whole message of another error, or in a list below it. */
function isSentence(message: string): boolean {
  const begins = /^.(?:[^a-z]|jpg |git |conversation\.json )/;
  const ends = /(?:[.?!]|\$\{asSentence\(.*\)\}|\$\{(?:\w+\.)*message\}|:\\n\$\{.*\})["'`]$/s;
  return begins.test(message) && ends.test(message);
}

describe("the message of an error", () => {
  it("is told from a fragment", () => {
    const sound = ['"There is none."', "`jpg add needs $` + `{x}.`", "`$" + "{name} failed: $" + "{asSentence(said)}`"];
    expect(sound.filter((message) => !isSentence(message))).toEqual([]);
    const fragments = [
      '"there is none."',
      '"There is none"',
      "`No store at $" + "{root}`",
      "`It failed: $" + "{reason}`",
    ];
    expect(fragments.filter(isSentence)).toEqual([]);
    expect(messagesIn('throw userError("x", a ? "One" : "two", {})')).toEqual(['"One"', '"two"']);
  });

  it("is a sentence wherever it is written out", { tags: ["slow"] }, () => {
    const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const messages = files.flatMap((file) => {
      const text = readFileSync(join(src, file), "utf8");
      return MAKES_ERRORS.test(text) ? messagesIn(text).map((message) => ({ file, message })) : [];
    });
    expect(messages.length).toBeGreaterThan(300);
    expect(messages.filter(({ message }) => !isSentence(message))).toEqual([]);
  });
});
