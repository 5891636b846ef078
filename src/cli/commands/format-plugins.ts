// Format plug-ins for commands: finds one, and asks once on a terminal whether jpg may run it.
import type { Runtime } from "../../app/conversation/runtime.ts";
import { setProgramTrust } from "../../app/conversation/trust.ts";
import {
  type FormatPlugin,
  findFormatPlugin,
  formatsFolder,
  requirePluginTrust,
} from "../../app/sessions/format-plugins.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, text } from "../frame/command.ts";

/** Finds the plug-in of a format that jpg may run; null if there is no plug-in of that name. Throws `untrusted_format`. */
export async function allowedPlugin(context: CommandContext, name: string): Promise<FormatPlugin | null> {
  const plugin = await findFormatPlugin(context.runtime, name, text(context.options, "store"));
  if (plugin !== null) await allowPlugin(context, plugin);
  return plugin;
}

/** Creates the error for a format of which there is no plug-in. */
export function noPlugin(runtime: Runtime, name: string): JpgError {
  return userError("unknown_format", `There is no program jpg-format-${name} in jpg's folder for formats or on PATH.`, {
    hints: [
      `The folder is ${formatsFolder(runtime)}.`,
      "Programs in the folder of a project or of a store are not looked for.",
    ],
  });
}

/** Makes sure that jpg may run a plug-in: on a terminal it asks, elsewhere it throws `untrusted_format`. */
export async function allowPlugin(context: CommandContext, plugin: FormatPlugin): Promise<void> {
  const { runtime, output, json } = context;
  try {
    await requirePluginTrust(runtime, plugin);
  } catch (error) {
    const isAskable = error instanceof JpgError && error.code === "untrusted_format";
    if (!isAskable || json || !isTerminal(process.stdin, output)) throw error;
    output.info(renderPlugin(plugin));
    const question = { text: "Allow jpg to run it?", otherwise: "no", instead: "`jpg trust`" } as const;
    if (!(await askYesNo(question, { output }))) throw error;
    await setProgramTrust(runtime, plugin.path, plugin.digest);
  }
}

/** What the user is asked about. */
export function renderPlugin({ name, path, digest }: FormatPlugin): SafeText {
  return joinLines([
    safe`A program reads and writes sessions of ${forTerminalLine(name)}. It can do whatever you can:`,
    safe`  ${forTerminalLine(path)}`,
    safe`  SHA-256 ${forTerminalLine(digest)}`,
  ]);
}
