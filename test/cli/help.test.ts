import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { GLOBAL_OPTIONS } from "../../src/cli/frame/command.ts";
import {
  COMMAND_GROUPS,
  loadCommands,
  renderCommandHelp,
  renderFullHelp,
  renderHelp,
  unknownCommand,
  unknownOption,
} from "../../src/cli/help.ts";
import { LIKELY_COMMANDS } from "../../src/cli/likely-commands.ts";

const LONGEST_SCREEN = 35;

const widest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

describe("jpg --help", () => {
  it("has fifteen commands in five groups, the main loop and the options of every command, on one screen", () => {
    const help = renderHelp();
    const first = COMMAND_GROUPS.filter((group) => Object.keys(group.first).length > 0);
    expect(first.map(({ title }) => title)).toEqual(["start", "shorten", "look", "fork", "share"]);
    const names = first.flatMap((group) => Object.keys(group.first));
    expect(names).toHaveLength(15);
    for (const name of names) expect(help).toMatch(new RegExp(`^(?:[a-z]+)? +${name} +\\S`, "m"));
    for (const { flags } of GLOBAL_OPTIONS) expect(help).toContain(flags);
    expect(help).toContain("jpg compact && jpg resume --exec");
    expect(widest(help)).toBeLessThanOrEqual(80);
    expect(help.split("\n").length).toBeLessThanOrEqual(LONGEST_SCREEN);
  });

  it("lists every command that people call, once, with one line, by help --all", async () => {
    const commands = await loadCommands();
    const help = renderFullHelp(commands);
    const grouped = COMMAND_GROUPS.flatMap(({ first, others }) => [...Object.keys(first), ...others]);
    expect(grouped.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
    const width = Math.max(...commands.map(({ name }) => name.length));
    for (const { name, summary } of commands) expect(help).toContain(`\n  ${name.padEnd(width)}  ${summary}\n`);
    expect(help).toMatch(/^check:\n {2}fsck .*\n {2}check .*\n {2}doctor .*\n {2}scan .*\n$/m);
    expect(widest(help)).toBeLessThanOrEqual(80);
  });
});

it("explains every command on one screen, with fifteen options at most, and says how to see the rest", async () => {
  for (const command of await loadCommands()) {
    const help = renderCommandHelp(command);
    expect(widest(help), `${command.name} fits 80 columns`).toBeLessThanOrEqual(80);
    expect(help.trimEnd().split("\n").length, command.name).toBeLessThanOrEqual(LONGEST_SCREEN);
    const options = command.options ?? [];
    expect(options.filter(({ listed }) => listed === undefined).length, command.name).toBeLessThanOrEqual(15);
    for (const { flags, listed } of options)
      if (listed === "never") expect(renderCommandHelp(command, { all: true })).not.toContain(flags);
    const hasMore = options.some(({ listed }) => listed === "more");
    if (hasMore) expect(help).toContain(`jpg ${command.name} --help --all`);
  }
});

it("names every command as the table does, with lower-case summaries of one line", async () => {
  for (const [name, load] of Object.entries(COMMANDS)) {
    const { command } = await load();
    expect(command.name).toBe(name);
    expect(command.summary).toMatch(/^[a-z][^\n]*[^.]$/);
  }
});

it("explains a command's arguments, options and examples, but not those of every command", async () => {
  for (const command of await loadCommands()) {
    const help = renderCommandHelp(command, { all: true });
    for (const { flags, listed } of command.options ?? []) if (listed !== "never") expect(help).toContain(flags);
    for (const { command: example } of command.examples ?? []) expect(help).toContain(example);
    expect(help).not.toContain("--store <dir>");
    expect(help.split("\n\n")[1]?.trim(), `${command.name} is explained in sentences`).toMatch(
      /^(?:[A-Z]|`)[\s\S]*\.$/,
    );
    expect(
      Math.max(...help.split("\n").map((line) => line.length)),
      `${command.name} fits 80 columns`,
    ).toBeLessThanOrEqual(80);
  }
});

it("offers the nearest command or option, never one that only git calls", async () => {
  const commands = await loadCommands();
  expect(unknownCommand("imprt", commands).hints).toContain("Did you mean `jpg import`?");
  expect(unknownCommand("lsit", commands).hints).toContain("Did you mean `jpg ls`?");
  expect(unknownCommand("lgo", commands).hints).toContain("Did you mean `jpg log`?");
  expect(unknownCommand("checko", commands).hints).toContain("Did you mean `jpg checkout`?");
  expect(unknownCommand("hok", commands).hints.join()).not.toContain("hook");
  expect(unknownCommand("zzzzzz", commands).hints).toEqual(["`jpg --help` lists the commands."]);
  expect(unknownOption("--versoin").hints[0]).toBe("Did you mean --version?");
});

describe("a word that people try", () => {
  it("is no command, and names one that is there, with options that it takes", async () => {
    const commands = new Map((await loadCommands()).map((command) => [command.name, command]));
    for (const [word, likely] of Object.entries(LIKELY_COMMANDS)) {
      expect(Object.keys(COMMANDS)).not.toContain(word);
      for (const { type, does } of likely) {
        const [name = "", ...rest] = type.split(" ");
        const command = commands.get(name);
        expect(command !== undefined || name === "--version", `${word}: jpg ${type}`).toBe(true);
        const known = (command?.options ?? []).flatMap(({ flags }) => flags.match(/--?[a-z][\w-]*/g) ?? []);
        const options = rest.filter((one) => /^--?[a-z]/.test(one));
        expect(known, `${word}: jpg ${type}`).toEqual(expect.arrayContaining(options));
        expect(does).toMatch(/^[a-z].*[^.]$/);
      }
    }
  });

  it("is answered with what to type, with its own words where they go with it", async () => {
    const commands = await loadCommands();
    const hints = (name: string, ...words: string[]) => unknownCommand(name, commands, words).hints;
    expect(hints("switch", "try-b")).toEqual(["`jpg use try-b` makes a conversation or a fork the active one."]);
    expect(hints("switch")).toEqual(["`jpg use ID` makes a conversation or a fork the active one."]);
    expect(hints("grep", "tide table", "@")[0]).toMatch(/^`jpg search 'tide table' @` /);
    expect(hints("branch", "-d", "x").join()).toMatch(/`jpg fork @ NAME`.*`jpg ls --branches`/);
    expect(hints("delete", "--force", "x")[0]).toMatch(/^`jpg rm ID` /);
    expect(hints("view")[0]).toMatch(/^`jpg print` /);
    expect(hints("toString")).toEqual(["`jpg --help` lists the commands."]);
    expect(unknownCommand("commit", commands)).toMatchObject({ kind: "user", code: "unknown_command" });
  });
});
