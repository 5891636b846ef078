// What jpg tells people to type exists: every `jpg …` in a text of the source and of the prompts names a command that is there, and
// options that it takes.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { type CommandSpec, GLOBAL_OPTIONS } from "../../src/cli/frame/command.ts";

/** Words after "jpg" at the start of a sentence about it. */
const VERBS =
  /^(asks|can|cannot|could|did|does|failed|finds|follows|has|ignores|is|keeps|knows|makes|needs|never|passes|ran|reads|says|was|writes)$/;

/** Files without a mention outside of comments that are lines of their own need not be parsed. */
const MENTIONS_JPG = /^(?! *(?:\/\/|\/?\*)).*jpg /m;

interface Mention {
  readonly place: string;
  /** It is to be typed: in backticks, behind a colon, or a text of its own. Elsewhere "jpg" may be a name in a sentence. */
  readonly isTyped: boolean;
  /** What follows `jpg `, to the end of the line or of its backticks. */
  readonly words: string;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The texts of a source file, comments not among them; what is filled in stands as one word. */
function textsOf(path: string): string[] {
  const content = readFileSync(path, "utf8");
  if (extname(path) !== ".ts") return [content];
  if (!MENTIONS_JPG.test(content)) return [];
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    else if (ts.isTemplateExpression(node))
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `FILLED${literal.text}`).join(""));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, content, ts.ScriptTarget.Latest));
  return texts;
}

function mentionsIn(path: string): Mention[] {
  return textsOf(path).flatMap((text) =>
    [...text.matchAll(/(?<![\w./-])jpg (?:conversation |c )?(?!conversation )([a-z][^`\n]*)/g)].map(
      ({ 1: words = "", index }) => ({
        place: path,
        isTyped: index === 0 || /(`|[:(] ?)$/.test(text.slice(0, index)),
        words,
      }),
    ),
  );
}

describe("what jpg tells people to type", () => {
  const mentions = [...filesBelow("src"), ...filesBelow("templates")].flatMap(mentionsIn);
  const commands = new Map<string, CommandSpec>();
  beforeAll(async () => {
    for (const [name, load] of Object.entries(COMMANDS)) commands.set(name, (await load()).command);
  });

  it("names commands that are there", () => {
    expect(mentions.length).toBeGreaterThan(150);
    const unknown = mentions.filter(({ words, isTyped }) => {
      const [name = ""] = words.split(/[^a-z-]/, 1);
      return isTyped && name !== "help" && !commands.has(name) && !VERBS.test(name);
    });
    expect(unknown).toEqual([]);
  });

  it("names options that the command takes", () => {
    const wrong = mentions.flatMap(({ place, words }) => {
      const [name = ""] = words.split(/[^a-z-]/, 1);
      const command = commands.get(name);
      if (command === undefined || command.passThrough === true) return [];
      const known = [...(command.options ?? []), ...GLOBAL_OPTIONS].flatMap(
        ({ flags }) => flags.match(/--?[a-z][\w-]*/g) ?? [],
      );
      const [own = ""] = words.split(/ (?:\||-- |&& )|[.;:](?: |$)|, /, 1);
      const options = [...own.matchAll(/(?<=\s)--?[a-zA-Z][\w-]*/g)].map(([option]) => option);
      return options
        .filter((option) => ![...known, "--help"].includes(option))
        .map((option) => `${place}: jpg ${words}: ${option}`);
    });
    expect(wrong).toEqual([]);
  });
});
