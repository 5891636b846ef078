import { applyTrust, planTrust, removeTrust, renderAllowed, type TrustPlan } from "../../app/workspace/trust.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "trust",
  summary: "allow this project's config to name programs, addresses and models, and to spend",
  description:
    "Settings that start programs, name servers and models, or switch on what spends or sends count in a project's .jpg.toml only after `jpg trust`. It prints them, asks at a terminal, and allows them for the text as it is now: a changed file must be trusted again.",
  options: [
    { flags: "--dry-run", description: "print what it would allow, allow nothing" },
    { flags: "-y, --yes", description: "do not ask" },
    { flags: "--remove", description: "trust it no longer" },
  ],
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

/** Only where nobody can be asked, the command itself is the answer. */
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
