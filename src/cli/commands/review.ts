import { checkReview } from "../../app/share/masked-page.ts";
import { isDifferent, reviewFork, reviewMarkdown } from "../../app/share/review.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag, texts } from "../frame/command.ts";
import { renderReview } from "../render/review.ts";

export const command: CommandSpec = {
  name: "review",
  summary: "show what merging a fork would change for the model",
  description:
    "Compares a fork with its conversation's `main` from where the two parted, or from their last `jpg merge`, and `main` itself with what was last fetched of it: turns added, compactions added and reverted with what the model saw before and sees now, summaries, loss receipts, settings and title. --markdown prints a description for a pull request, in which no host renders or acts on what was said; it is scanned for secrets first. Exit code 1 if nothing differs.",
  arguments: [{ name: "[fork]", description: "fork of this conversation, or any branch; default @" }],
  options: [
    { flags: "--markdown", description: "print a description for a pull request, at most 60 KB" },
    { flags: "--allow <rule>", description: "print what this rule finds, this once", repeatable: true },
  ],
  examples: [
    { command: "jpg review try-b", explains: "what try-b would change on main" },
    { command: "jpg review try-b --markdown > description.md", explains: "for the pull request" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const isMarkdown = flag(options, "markdown");
    const allow = texts(options, "allow");
    if (isMarkdown && json)
      throw userError("contradictory_flags", "jpg review: --markdown and --json contradict each other.");
    if (allow.length > 0 && !isMarkdown)
      throw userError("contradictory_flags", "jpg review: --allow needs --markdown, since nothing else is scanned.");
    const workspace = await open();
    const report = await reviewFork(workspace, args[0]);
    const differs = isDifferent(report);
    if (json) output.json(report);
    else if (!differs)
      output.info(
        report.told === "against"
          ? safe`Nothing new: ${forTerminalLine(report.against)} already has a summary of everything in ${forTerminalLine(report.fork)}.`
          : safe`Nothing differs: ${forTerminalLine(report.fork)} has nothing that ${forTerminalLine(report.against)} has not.`,
      );
    else if (isMarkdown) {
      await checkReview(workspace, report, { word: args[0], allow });
      output.raw(reviewMarkdown(report));
    } else await output.page(renderReview(report, output));
    return differs ? 0 : 1;
  },
};
