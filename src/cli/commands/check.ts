import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  type CheckReport,
  type CheckRequest,
  checkConversation,
  checkFile,
  findCheckedFile,
} from "../../app/integrity/check.ts";
import { checkPlugin, type PluginCheck } from "../../app/integrity/check-plugin.ts";
import {
  agentsWithSentLog,
  checkSentConversation,
  checkSentFile,
  type SentReport,
} from "../../app/integrity/check-sent.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { exampleAgent } from "../../app/sessions/session-registry.ts";
import { userError } from "../../core/errors.ts";
import { isProviderName, PROVIDER_NAMES } from "../../core/model/provider-rules.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { renderCheck, renderPluginCheck, renderSent } from "../render/check.ts";
import { allowedPlugin, noPlugin } from "./format-plugins.ts";

export const command: CommandSpec = {
  name: "check",
  summary: "check a conversation, session or request by providers' rules",
  description: `Finds what a provider would refuse. For a conversation it checks the view, as jpg would send it; for a session file, what the agent would send if it repaired nothing; for a file with a request body or only its messages, those messages, for the provider whose format it is. Images are looked into: type, bytes, pixels and number. Each line gives the severity (E: refused, W: accepted, but harmful), the rule, and the place, counted from 0. Exit code 1 if anything would be refused.`,
  details: `With --sent it compares instead: newer versions of some agents (${agentsWithSentLog().join(", ")}) record in a session's file what they sent; each request is equal to jpg's view of the lines before it, or the first difference is named, and the exit code is 1.`,
  arguments: [{ name: "[id-or-file]", description: "conversation or file; default @" }],
  options: [
    {
      flags: "--provider <provider>",
      description: "whose rules to apply; default: those of the conversation's model",
      choices: [...PROVIDER_NAMES, "all"],
    },
    { flags: "--model <model>", description: "model that will read it; some rules depend on the model" },
    {
      flags: "--sent",
      description: "compare each request that a session's file records as it was sent with jpg's view at that point",
    },
    {
      flags: "--format-plugin <name>",
      description: "check the program jpg-format-NAME, with a session of its agent or one that it writes itself",
      asks: "plugins",
      conflicts: ["provider", "model", "sent", "history"],
    },
    { flags: "--history", description: "do not check how it ends: a request will be added" },
  ],
  examples: [
    { command: "jpg check --provider all", explains: "the active conversation, for every provider" },
    { command: `jpg check ${exampleAgent().help.file}`, explains: "what is wrong inside a session" },
    { command: "jpg check --format-plugin plain monday.log", explains: "a program that reads another format" },
    { command: "jpg check request.json --model gemini-3-pro", explains: "a request body, before it is sent" },
  ],
  run: async (context) => {
    const plugin = text(context.options, "formatPlugin");
    if (plugin !== undefined) {
      const report = await checkFormatPlugin(context, plugin);
      if (context.json) context.output.json(report);
      else await context.output.page(renderPluginCheck(report, context.output));
      return report.ok ? 0 : 1;
    }
    if (flag(context.options, "sent")) {
      const report = await checkSent(context);
      if (context.json) context.output.json(report);
      else await context.output.page(renderSent(report, context.output));
      return report.ok ? 0 : 1;
    }
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

async function checkSent({ args: [word], options, runtime, open }: CommandContext): Promise<SentReport> {
  const other = ["provider", "model", "history"].find((name) => options[name] !== undefined);
  if (other !== undefined) {
    throw userError("usage", `jpg check: --sent compares what was sent, so it takes no --${other}.`, {
      hints: [`Leave out --sent, or --${other}.`],
    });
  }
  const path = await findCheckedFile(runtime, word);
  if (path !== null) return checkSentFile(runtime, path);
  const workspace = await open();
  return checkSentConversation(workspace, await resolveTree(workspace, word));
}

async function checkFormatPlugin(context: CommandContext, name: string): Promise<PluginCheck> {
  const { args, runtime } = context;
  const plugin = await allowedPlugin(context, name);
  if (plugin === null) throw noPlugin(runtime, name);
  const [word] = args;
  if (word === undefined) return checkPlugin(runtime, plugin, null);
  const path = resolve(runtime.cwd, word);
  if (!existsSync(path))
    throw userError("no_such_file", `${word} does not exist: expected the file of a session.`, {
      hints: [`\`jpg check --format-plugin ${name}\` checks with a session that it writes itself.`],
    });
  return checkPlugin(runtime, plugin, path);
}

function requestOf(options: CommandContext["options"]): CheckRequest {
  const provider = text(options, "provider");
  const model = text(options, "model");
  return {
    ...(provider === "all" || (provider !== undefined && isProviderName(provider)) ? { provider } : {}),
    model,
    history: flag(options, "history"),
  };
}
