import { checkConversation } from "../../app/check/check.ts";
import { checkFile, findCheckedFile } from "../../app/check/check-file.ts";
import type { CheckReport, CheckRequest } from "../../app/check/check-report.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { exampleAgent } from "../../app/sessions/session-registry.ts";
import { isProviderName, PROVIDER_NAMES } from "../../core/provider-rules/provider.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { renderCheck } from "../render/render-check.ts";

export const command: CommandSpec = {
  name: "check",
  summary: "hold a conversation, a session file or a request against the rules of providers",
  description:
    "Checks what a provider would refuse. Of a conversation: its view, as jpg sends it. Of a session file: what it would send if its agent repaired nothing. Of a file with a request body, or with the list of messages inside one: that list; its provider is recognised. Each line names severity (E = refused, W = taken, but harmful), rule, and place, counted from 0. Exit code 1 when something would be refused.",
  arguments: [{ name: "[id-or-file]", description: "conversation or file; default @" }],
  options: [
    {
      flags: "--provider <provider>",
      description: "rules to use; default those of the conversation's own model",
      choices: [...PROVIDER_NAMES, "all"],
    },
    { flags: "--model <model>", description: "model that will read it; some rules differ between models" },
    { flags: "--history", description: "a request will be added to the list in FILE: its end is not judged" },
  ],
  examples: [
    { command: "jpg check --provider all", explains: "the active conversation, for every provider" },
    { command: `jpg check ${exampleAgent().help.file}`, explains: "what is wrong inside a session" },
    { command: "jpg check request.json --model gemini-3-pro", explains: "a request body, before it is sent" },
  ],
  run: async (context) => {
    const report = await check(context);
    if (context.json) context.output.json(report);
    else await context.output.page(renderCheck(report, context.output));
    return report.ok ? 0 : 1;
  },
};

async function check({ args: [word], options, runtime, open }: CommandContext): Promise<CheckReport> {
  const request = requestOf(options);
  const path = await findCheckedFile(runtime, word);
  if (path !== null) return checkFile(runtime, path, request);
  const workspace = await open();
  return checkConversation(workspace, await resolveTree(workspace, word), request);
}

function requestOf(options: CommandContext["options"]): CheckRequest {
  const provider = text(options, "provider");
  const model = text(options, "model");
  return {
    ...(provider === "all" || (provider !== undefined && isProviderName(provider)) ? { provider } : {}),
    ...(model !== undefined && { model }),
    history: flag(options, "history"),
  };
}
