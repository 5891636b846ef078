import { readSettings, setSetting, unsetSetting } from "../../app/manage/settings.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandSpec, flag, texts } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "config",
  summary: "show settings and where they come from, or change one",
  description:
    "Shows the settings in force for the active conversation. Later layers win: built-in, user, project, conversation, --cfg. With KEY, shows only that key or table. `jpg config set` keeps a setting in the conversation, as --cfg of `query`, `chat` and `compact` does; --unset removes it.",
  arguments: [
    { name: "[key]", description: "dotted key; the prefix conversation.compaction. may be left out" },
    { name: "[more...]", description: "`set KEY VALUE`, `get KEY` and `unset KEY` are taken, too" },
  ],
  options: [
    {
      flags: "--show-origin",
      description: "show the file and line that each comes from",
      conflicts: ["unset"],
    },
    { flags: "--unset", description: "remove KEY, a setting or a table, from the conversation" },
  ],
  examples: [
    { command: "jpg config auto", explains: "one table" },
    { command: "jpg config set keep_last 5", explains: "in this conversation, from now on" },
    { command: "jpg config --unset keep_last", explains: "remove what `jpg compact -c keep_last=1` set" },
  ],
  withoutGit: true,
  run: async ({ args, options, output, json, open }) => {
    const { verb, key, value } = readWords(args, flag(options, "unset"));
    if (verb === "set") {
      const text = `${key}=${value}`;
      const workspace = await open({ create: false, overrides: [...texts(options, "cfg"), text] });
      const report = await setSetting(workspace, text);
      // As the next command will read it: without this one's override.
      const after = await readSettings(await open({ create: false }), report.key, { showOrigin: true });
      if (json) output.json({ ...report, rows: after.rows });
      else {
        output.info(
          safe`${forTerminalLine(report.branch)} keeps this from now on; \`jpg config --unset ${forTerminalLine(report.key)}\` removes it`,
        );
        output.data(forTerminal(after.text));
      }
      return 0;
    }
    const workspace = await open({ create: false });
    if (verb === "unset") {
      if (key === undefined)
        throw userError("usage", "jpg config: --unset needs a KEY.", {
          hints: ["`jpg config --show-origin` says which settings the conversation keeps."],
        });
      const { text, ...report } = await unsetSetting(workspace, key);
      if (json) output.json(report);
      else {
        output.info(safe`${forTerminalLine(report.branch)} no longer keeps ${forTerminalLine(report.key)}`);
        output.data(forTerminal(text));
      }
      return 0;
    }
    const settings = await readSettings(workspace, key, { showOrigin: flag(options, "showOrigin") });
    if (json) output.json(settings.rows);
    else output.data(forTerminal(settings.text));
    return settings.rows.length === 0 ? 1 : 0;
  },
};

interface ConfigWords {
  readonly verb: "get" | "set" | "unset";
  readonly key?: string;
  readonly value?: string;
}

/** Reads `KEY`, and as git and others say it `get KEY`, `set KEY VALUE`, `set KEY=VALUE`, `unset KEY`. No setting is called so. */
function readWords(args: readonly string[], unsets: boolean): ConfigWords {
  const [first, ...rest] = args;
  if (first === "set" && !unsets) return readSetting(rest);
  const [key, ...values] = first === "get" || first === "unset" || first === "set" ? rest : args;
  if (values.length > 0) throw setInstead(key ?? "", values);
  return { verb: unsets || first === "unset" ? "unset" : "get", key };
}

/** Reads what follows `set`: `KEY VALUE` or `KEY=VALUE`. */
function readSetting(words: readonly string[]): ConfigWords {
  const text = words.length === 2 ? words.join("=") : words.length === 1 ? (words[0] ?? "") : "";
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return { verb: "set", key, value };
  throw userError("usage", "jpg config set needs KEY and VALUE.", {
    hints: ["For example: `jpg config set keep_last 5`"],
  });
}

function setInstead(key: string, values: readonly string[]): Error {
  return userError("usage", "jpg config takes one KEY to show.", {
    hints: [`To change it: \`jpg config set ${shellWord(key)} ${shellWord(values.join(" "))}\``],
  });
}
