// `/model`: which model answers, or another one from the next message on.
import { openChatModel } from "../../app/talk/chat-model.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { listModelNames } from "../../core/model/model-name.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type SlashCommand, wrongWords } from "./slash-command.ts";

export const modelCommand: SlashCommand = {
  name: "model",
  aliases: [],
  forms: [{ usage: "[NAME]", explains: "show the model, or switch to another one, e.g. anthropic/claude-haiku" }],
  complete: async (words) => (words.length === 0 ? listModelNames() : []),
  run: async (words, { workspace, terminal, state, loadTree }) => {
    if (words.length > 1) throw wrongWords(modelCommand, `expected one name; got ${words.join(" ")}`);
    const [name] = words;
    const tree = state.branch === null ? null : await loadTree();
    const model = name === undefined ? state.model : await openChatModel(workspace, { tree, named: name });
    const { contextWindow } = model.facts;
    const window =
      contextWindow === null ? safe`context window unknown` : safe`${formatTokens(contextWindow)} tokens of context`;
    terminal.write(safe`${forTerminalLine(model.name)} (${window})\n`);
    return name === undefined ? {} : { model, isNamed: true };
  },
};
