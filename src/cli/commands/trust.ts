import { trustProject } from "../../app/trust.ts";
import { type CommandSpec, flag, text } from "../command.ts";

export const command: CommandSpec = {
  name: "trust",
  summary: "allow this project's config to name programs and addresses",
  description:
    "Settings that start programs or name servers count in a project's .jpg.toml only after `jpg trust`, and only for the text as it is now: a changed file must be trusted again.",
  options: [{ flags: "--remove", description: "trust it no longer" }],
  run: async ({ options, runtime, output, json }) => {
    const report = await trustProject(runtime, { store: text(options, "store"), remove: flag(options, "remove") });
    if (json) output.json(report);
    else output.data(`${report.trusted ? "Trusted" : "No longer trusted"}: ${report.path}`);
    return 0;
  },
};
