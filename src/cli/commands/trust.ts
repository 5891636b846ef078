import { applyTrust, planTrust, removeTrust, renderAllowed, type TrustPlan } from "../../app/conversation/trust.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "trust",
  summary: "let this project's settings name programs, addresses and models",
  description:
    "In a project's .jpg.toml, settings that start programs, name servers or models, or enable anything that spends money or sends text take effect only after `jpg trust`. It prints them, asks for confirmation on a terminal, and trusts the file as it is now; if the file changes, you must trust it again.",
  options: [
    { flags: "--dry-run", description: "show what would be allowed, allow nothing" },
    { flags: "-y, --yes", description: "do not ask" },
    { flags: "--remove", description: "stop trusting it" },
  ],
  withoutGit: true,
  run: async (context) => {
    const { options, runtime, output, json } = context;
    const place = { store: text(options, "store") };
    if (flag(options, "remove")) {
      const path = await removeTrust(runtime, place);
      if (json) output.json({ path, trusted: false });
      else output.data(safe`No longer trusted: ${forTerminalLine(path)}`);
      return 0;
    }
    const plan = await planTrust(runtime, place);
    if (!json) output.data(renderPlan(plan));
    const trusted = !flag(options, "dryRun") && (await isAgreed(context, plan));
    if (trusted) await applyTrust(runtime, plan);
    if (json) output.json({ path: plan.path, trusted, allows: plan.allows });
    else if (trusted) output.data(safe`Trusted: ${forTerminalLine(plan.path)}`);
    return 0;
  },
};

/** Asks on a terminal; without one, running the command counts as the answer. */
async function isAgreed({ options, output, json }: CommandContext, { allows }: TrustPlan): Promise<boolean> {
  if (json || flag(options, "yes") || allows.length === 0 || !isTerminal(process.stdin, output)) return true;
  return askYesNo({ text: "Allow this?", otherwise: "no", instead: "--yes" }, { output });
}

function renderPlan({ path, allows }: TrustPlan): SafeText {
  const file = forTerminalLine(path);
  if (allows.length === 0) return safe`${file} sets nothing that needs trust.`;
  return joinLines([
    safe`Trust in ${file} allows:`,
    ...allows.map((setting) => safe`  ${forTerminalLine(renderAllowed(setting))}`),
  ]);
}
