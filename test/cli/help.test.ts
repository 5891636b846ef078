import { expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { loadCommands, renderCommandHelp, renderHelp, unknownCommand, unknownOption } from "../../src/cli/help.ts";

it("lists every command that people call, once, with one line", async () => {
  const commands = await loadCommands();
  const help = renderHelp(commands);
  const width = Math.max(...commands.map(({ name }) => name.length));
  for (const { name, summary } of commands) expect(help).toContain(`\n  ${name.padEnd(width)}  ${summary}\n`);
  expect(help).not.toMatch(/^ {2}(hook|textconv)\b/m);
  expect(Object.keys(COMMANDS)).toEqual(expect.arrayContaining(commands.map(({ name }) => name)));
  expect(Math.max(...help.split("\n").map((line) => line.length)), "fits 80 columns").toBeLessThanOrEqual(80);
});

it("names every command as the table does, with lower-case summaries of one line", async () => {
  for (const [name, load] of Object.entries(COMMANDS)) {
    const { command } = await load();
    expect(command.name).toBe(name);
    expect(command.summary).toMatch(/^[a-z][^\n]*[^.]$/);
  }
});

it("explains a command's arguments, options and examples, global options included", async () => {
  for (const command of await loadCommands()) {
    const help = renderCommandHelp(command);
    for (const { flags } of command.options ?? []) expect(help).toContain(flags);
    for (const { command: example } of command.examples ?? []) expect(help).toContain(example);
    expect(help).toContain("--store <dir>");
    expect(help.split("\n\n")[1], `${command.name} is explained in sentences`).toMatch(/^(?:[A-Z]|`)[\s\S]*\.$/);
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
