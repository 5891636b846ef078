import {
  applyTrust,
  planTrust,
  removeTrust,
  renderAllowed,
  setProgramTrust,
  type TrustPlan,
} from "../../app/conversation/trust.ts";
import { findFormatPlugin } from "../../app/sessions/format-plugins.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { noPlugin, renderPlugin } from "./format-plugins.ts";

export const command: CommandSpec = {
  name: "trust",
  summary: "let this project's settings name programs, addresses and models",
  description:
    "In a project's .jpg.toml, settings that start programs, name servers or models, or enable anything that spends money or sends text take effect only after `jpg trust`. It prints them, asks for confirmation on a terminal, and trusts the file as it is now; if the file changes, you must trust it again. With --format, trusts the program jpg-format-NAME, which reads and writes sessions of another format, as it is now.",
  options: [
    {
      flags: "--format <name>",
      description: "trust a format plug-in instead of the project's settings",
      asks: "plugins",
    },
    { flags: "--dry-run", description: "show what would be allowed, allow nothing" },
    { flags: "-y, --yes", description: "do not ask" },
    { flags: "--remove", description: "stop trusting it" },
  ],
  withoutGit: true,
  run: async (context) => {
    const { options, runtime, output, json } = context;
    const place = { store: text(options, "store") };
    const format = text(options, "format");
    if (format !== undefined) return trustPlugin(context, format);
    if (flag(options, "remove")) {
      const path = await removeTrust(runtime, place);
      if (json) output.json({ path, trusted: false });
      else output.data(safe`No longer trusted: ${forTerminalLine(path)}`);
      return 0;
    }
    const plan = await planTrust(runtime, place);
    if (!json) output.data(renderPlan(plan));
    const trusted = !flag(options, "dryRun") && (plan.allows.length === 0 || (await isAgreed(context)));
    if (trusted) await applyTrust(runtime, plan);
    if (json) output.json({ path: plan.path, trusted, allows: plan.allows });
    else if (trusted) output.data(safe`Trusted: ${forTerminalLine(plan.path)}`);
    return 0;
  },
};

/** Asks on a terminal; without one, running the command counts as the answer. */
async function isAgreed({ options, output, json }: CommandContext): Promise<boolean> {
  if (json || flag(options, "yes") || !isTerminal(process.stdin, output)) return true;
  return askYesNo({ text: "Allow this?", otherwise: "no", instead: "--yes" }, { output });
}

async function trustPlugin(context: CommandContext, name: string): Promise<number> {
  const { options, runtime, output, json } = context;
  const plugin = await findFormatPlugin(runtime, name, text(options, "store"));
  if (plugin === null) throw noPlugin(runtime, name);
  const { path, digest } = plugin;
  const isRemoved = flag(options, "remove");
  if (!json && !isRemoved) output.data(renderPlugin(plugin));
  const trusted = !isRemoved && !flag(options, "dryRun") && (await isAgreed(context));
  if (isRemoved || trusted) await setProgramTrust(runtime, path, isRemoved ? null : digest);
  if (json) output.json({ path, trusted, format: name, sha256: digest });
  else if (isRemoved) output.data(safe`No longer trusted: ${forTerminalLine(path)}`);
  else if (trusted) output.data(safe`Trusted: ${forTerminalLine(path)}`);
  return 0;
}

function renderPlan({ path, allows }: TrustPlan): SafeText {
  const file = forTerminalLine(path);
  if (allows.length === 0) return safe`${file} sets nothing that needs trust.`;
  return joinLines([
    safe`Trust in ${file} allows:`,
    ...allows.map((setting) => safe`  ${forTerminalLine(renderAllowed(setting))}`),
  ]);
}
