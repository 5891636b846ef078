// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CommandSpec, GLOBAL_OPTIONS } from "../../src/cli/frame/command.ts";
import { joinValues, parseArguments } from "../../src/cli/parse-arguments.ts";
import { splitLeadingOptions } from "../../src/cli/run.ts";
import { badBound, isBound } from "../../src/core/conversation/range-bound.ts";
import type { JpgError } from "../../src/core/errors.ts";
import { runs } from "../helpers/runs.ts";

const spec: CommandSpec = {
  name: "pack",
  summary: "packs",
  arguments: [{ name: "[id]", description: "which" }],
  options: [
    { flags: "--from [bound]", description: "first", optionalValue: isBound, refuse: badBound },
    { flags: "--to <bound>", description: "last", conflicts: ["kind"] },
    { flags: "--with [what]", description: "what", optionalValue: () => false },
    {
      flags: "-s, --shape [name]",
      description: "shape",
      repeatable: true,
      optionalValue: (word) => !word.startsWith("-"),
    },
    { flags: "--kind <kind>", description: "kind", choices: ["round", "square"] },
    { flags: "--no-label", description: "no label" },
  ],
  run: async () => 0,
};

const SEVERAL = [
  [["--to", "1", "--to", "2"], "--to", "1 and 2"],
  [["--to=1", "x", "--to=2", "--to=3"], "--to", "1 and 2 and 3"],
  [["--kind", "round", "--kind", "square"], "--kind", "round and square"],
  [["--with=a b", "--with"], "--with", "'a b' and none"],
  [["--from", "1", "--from", "2"], "--from", "1 and 2"],
] as const;

const parse = (...words: string[]) => parseArguments(spec, words);
function errorOf(...words: string[]): JpgError {
  try {
    parse(...words);
  } catch (error) {
    return error as JpgError;
  }
  throw new Error("nothing was thrown");
}

describe("optional values", () => {
  it("take the next word only when it fits", () => {
    expect(parse("--from", "5h", "id")).toMatchObject({ args: ["id"], options: { from: "5h" } });
    expect(parse("--from", "id")).toMatchObject({ args: ["id"], options: { from: "" } });
    expect(parse("--from")).toMatchObject({ args: [], options: { from: "" } });
    expect(parse("--from", "--to", "3")).toMatchObject({ options: { from: "", to: "3" } });
    expect(parse("--from=-3")).toMatchObject({ options: { from: "-3" } });
    expect(parse("--with", "id")).toMatchObject({ args: ["id"], options: { with: "" } });
    expect(parse("--with=string", "id")).toMatchObject({ args: ["id"], options: { with: "string" } });
  });

  it("go with a short name, too, several times, and are empty at the end and before an option", () => {
    expect(parse("-s", "round", "id", "-s", "flat")).toMatchObject({
      args: ["id"],
      options: { shape: ["round", "flat"] },
    });
    expect(parse("id", "-s")).toMatchObject({ args: ["id"], options: { shape: [""] } });
    expect(parse("-s", "--to", "3", "--shape")).toMatchObject({ args: [], options: { shape: ["", ""], to: "3" } });
    expect(parse("-sround", "--shape=flat")).toMatchObject({ options: { shape: ["round", "flat"] } });
    expect(parse("-s", "--", "id")).toMatchObject({ args: ["id"], options: { shape: [""] } });
  });

  it("and negative bounds are joined, words after -- are left alone", () => {
    expect(joinValues(spec.options ?? [], ["--to", "-3", "--from", "-2", "x"])).toEqual(["--to=-3", "--from=-2", "x"]);
    expect(joinValues(spec.options ?? [], ["--", "--from", "5"])).toEqual(["--", "--from", "5"]);
    expect(parse("--", "--from")).toMatchObject({ args: ["--from"], options: {} });
  });
});

describe("a word that an optional value does not take", () => {
  it("is an argument, and named in the error if nothing has that name", () => {
    expect(parse("--from", "tomorrow")).toMatchObject({ args: ["tomorrow"], refusedValue: { word: "tomorrow" } });
    expect(parse("--from", "tomorrow").refusedValue?.error).toMatchObject({
      code: "bad_bound",
      data: { bound: "tomorrow" },
    });
    expect(parse("id", "--from").refusedValue).toBeNull();
    expect(parse("--from", "5h", "id").refusedValue).toBeNull();
    expect(parse("--from", "--to", "3").refusedValue).toBeNull();
    expect(parse("--from=tomorrow").refusedValue).toBeNull();
    expect(parse("--with", "id").refusedValue).toBeNull();
    expect(parse("--", "--from").refusedValue).toBeNull();
  });

  it("is refused as a value where the arguments have no place for it", () => {
    expect(errorOf("id", "--from", "tomorrow")).toMatchObject({ code: "bad_bound", data: { bound: "tomorrow" } });
  });
});

describe("wrong words", () => {
  it("are usage errors that offer the nearest option or choice", () => {
    expect(errorOf("--form", "3")).toMatchObject({
      kind: "user",
      code: "usage",
      hints: ["Did you mean --from?", "`jpg pack --help` lists its arguments and options."],
    });
    expect(errorOf("--kind", "sqare").hints[0]).toBe("Did you mean square?");
    expect(errorOf("--jsn").hints[0]).toBe("Did you mean --json?");
  });

  it.each([
    [["a", "b"], "jpg pack takes one argument, ID; got 2."],
    [["--to"], "jpg pack needs a value for --to: last."],
    [["--kind", "a'b"], `jpg pack takes round or square for --kind; got 'a'\\''b'.`],
    [["--no-label=1"], "jpg pack takes no value for --no-label; got 1."],
    [["--json=x=y"], "jpg pack takes no value for --json; got x=y."],
    [["--form=3"], "jpg pack has no option --form."],
    [["-x"], "jpg pack has no option -x."],
  ])("are said in jpg's own words: %j", (words, message) => {
    expect(errorOf(...words).message).toBe(message);
  });

  it("name the argument that is missing, and show a command line that has it", () => {
    const arguments_ = [{ name: "<fork>", description: "which one" }];
    const needs: CommandSpec = {
      ...spec,
      arguments: arguments_,
      examples: [{ command: "jpg pack x", explains: "it" }],
    };
    expect(() => parseArguments(needs, [])).toThrow("jpg pack needs FORK: which one.");
    expect(() => parseArguments(needs, ["a", "b", "c"])).toThrow("jpg pack takes one argument, FORK; got 3.");
    expect(() => parseArguments({ ...needs, arguments: [] }, ["a"])).toThrow("jpg pack takes no arguments; got 1.");
  });

  it("are never answered by the parser's words, whatever they are", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "--to",
        "--kind",
        "--kind=",
        "--from",
        "-s",
        "--no-label",
        "--json=1",
        "--engine",
        "-c",
        "--",
        "-",
      ),
      fc.string({ maxLength: 6 }),
      fc.string({ maxLength: 6 }).map((text) => `--${text}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), (words) => {
        try {
          parseArguments({ ...spec, arguments: [{ name: "<id>", description: "which" }] }, words);
        } catch (error) {
          const { code, message } = error as JpgError;
          expect(["usage", "contradictory_flags", "bad_bound"]).toContain(code);
          expect(message).not.toMatch(/^error|argument missing|unknown option '|required argument|too many arguments/);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("global options", () => {
  it("mean the same before the command", () => {
    expect(splitLeadingOptions(["--store", "dir", "-q", "ls", "--json"])).toEqual({
      options: ["--store", "dir", "-q"],
      rest: ["ls", "--json"],
    });
    expect(splitLeadingOptions(["--store=dir", "-c", "a=b", "git", "-c", "x=y"])).toEqual({
      options: ["--store=dir", "-c", "a=b"],
      rest: ["git", "-c", "x=y"],
    });
    expect(splitLeadingOptions(["--help"])).toEqual({ options: [], rest: ["--help"] });
    expect(splitLeadingOptions(["--store"])).toEqual({ options: ["--store"], rest: [] });
    expect(parseArguments(spec, ["id"], ["--store", "dir"])).toMatchObject({ args: ["id"], options: { store: "dir" } });
  });

  it("of a command that passes its words on are read only before it", () => {
    const passing: CommandSpec = { ...spec, passThrough: true };
    expect(parseArguments(passing, ["log", "--json", "--to"], ["--store", "dir"])).toMatchObject({
      args: ["log", "--json", "--to"],
      options: { store: "dir" },
    });
  });

  it("take several settings and refuse engines that are none", () => {
    expect(parse("-c", "a=1", "--cfg", "b=2").options["cfg"]).toEqual(["a=1", "b=2"]);
    expect(errorOf("--engine", "natve").hints[0]).toBe("Did you mean native?");
    expect(GLOBAL_OPTIONS.map(({ flags }) => flags.match(/--\w+/)?.[0])).toEqual([
      "--json",
      "--store",
      "--engine",
      "--cfg",
      "--quiet",
      "--verbose",
    ]);
  });
});

describe("options that contradict each other", () => {
  it("are refused by name, in whichever order they stand", () => {
    const message = "--to and --kind contradict each other; use only one of them.";
    for (const words of [
      ["--to", "3", "--kind", "round"],
      ["--kind=round", "--to=3"],
    ]) {
      expect(errorOf(...words)).toMatchObject({ code: "contradictory_flags", kind: "user", message });
      expect(errorOf(...words).hints).toEqual(["`jpg pack --help` explains them."]);
    }
    expect(parse("--to", "3", "--from", "2")).toMatchObject({ options: { to: "3", from: "2" } });
  });
});

describe("text that begins with a dash", () => {
  const search: CommandSpec = {
    name: "find",
    summary: "finds",
    arguments: [
      { name: "<pattern>", description: "text", isText: true },
      { name: "[id]", description: "which" },
    ],
    options: [{ flags: "-i, --ignore-case", description: "ignore case" }],
    run: async () => 0,
  };
  const hintsOf = (...words: string[]): readonly string[] => {
    try {
      parseArguments(search, words);
    } catch (error) {
      return (error as JpgError).hints;
    }
    throw new Error("nothing was thrown");
  };

  it.each([
    ["-x", "-x"],
    ["--keep alive", "'--keep alive'"],
    ["-ix", "-ix"],
    ["--ignore-cas", "--ignore-cas"],
  ])("is told of the two dashes before it: %s", (word, typed) => {
    expect(hintsOf(word, "@")).toContain(`If ${typed} is text: jpg find -- ${typed}`);
    expect(parseArguments(search, ["-i", "--", word, "@"])).toMatchObject({
      args: [word, "@"],
      options: { ignoreCase: true },
    });
  });

  it("keeps the hints that it had, and commands without such an argument theirs", () => {
    expect(hintsOf("--ignore-cas")).toContain("Did you mean --ignore-case?");
    expect(hintsOf("-x").at(-1)).toContain("`jpg find --help`");
    expect(errorOf("-x").hints).toHaveLength(1);
  });
});

describe("an option that takes one value", () => {
  it.each(SEVERAL)("is refused with several: %j", (words, option, values) => {
    const { code, message } = errorOf(...words);
    expect([code, message]).toEqual([
      "contradictory_flags",
      `jpg pack: ${option} takes one value and was given ${values.split(" and ").length}: ${values}.`,
    ]);
  });

  it("is taken when it is given twice alike, and one that may be repeated with many", () => {
    expect(parse("--to", "1", "--to", "1").options["to"]).toBe("1");
    expect(parse("-s", "a", "--shape", "b").options["shape"]).toEqual(["a", "b"]);
    const global = GLOBAL_OPTIONS.find(({ flags }) => flags.startsWith("--store"));
    expect(global).toBeDefined();
    expect(() => parseArguments(spec, ["--store", "b"], ["--store", "a"])).toThrow(/--store takes one value/);
  });
});
