import { redact, tryRedact } from "../../app/share/redact.ts";
import { planRedact } from "../../app/share/redact-plan.ts";
import { userError } from "../../core/errors.ts";
import { type CommandContext, type CommandSpec, flag, texts } from "../frame/command.ts";
import { renderRedact, renderRedactAdvice } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "redact",
  summary: "copy a conversation with its secrets masked",
  description:
    "Copies ID with all its forks, compactions and history to a new conversation. In the copy, every secret that `jpg push` would refuse is replaced by a mask such as redacted-github-1, wherever it occurs: in turns, attachments, titles, summaries, settings, commit messages and names. One secret has the same mask everywhere. The agents' own files that were imported are left out. The original stays as it is and becomes local (`jpg local`): nothing of it is pushed. Running it again brings that copy up to date with the same masks, so that a pushed copy only grows; if more has to be masked than before, it makes another copy. Older copies keep the secret: revoke a real one where it was issued.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--rule <rule>", description: "mask only what this rule finds", repeatable: true },
    {
      flags: "--text <text>",
      description: "mask this text, too; - reads it from standard input, to keep it out of the shell's history",
      repeatable: true,
    },
    { flags: "--dry-run", description: "list what would be masked, without making a copy" },
  ],
  examples: [
    { command: "jpg redact @ --dry-run", explains: "what would be masked" },
    { command: "jpg redact fix-parser-k3f9", explains: "then push the copy" },
    { command: "jpg redact @ --text - < password.txt", explains: "a secret that no rule knows" },
  ],
  run: async (context) => {
    const { args, options, output, json, open } = context;
    const request = { rules: texts(options, "rule"), texts: await readTexts(context) };
    const workspace = await open();
    const plan = await planRedact(workspace, args[0] ?? "@", request);
    const isDryRun = flag(options, "dryRun");
    const report = await (isDryRun ? tryRedact : redact)(workspace, plan);
    if (json) {
      output.json({ ...report, dry_run: isDryRun });
      return 0;
    }
    output.data(renderRedact(report, isDryRun, output));
    if (!isDryRun && report.redacted !== null) output.info(renderRedactAdvice(report));
    return 0;
  },
};

/** Shortest text to mask, characters: a shorter one occurs in too many words. */
const SHORTEST = 4;

async function readTexts({ options, runtime }: CommandContext): Promise<readonly string[]> {
  const said: string[] = [];
  for (const word of texts(options, "text"))
    said.push(word === "-" ? new TextDecoder().decode(await runtime.readStdin()).trim() : word);
  if (said.some((text) => text.length < SHORTEST))
    throw userError("short_text", `jpg redact --text: expected at least ${SHORTEST} characters, received fewer.`, {
      hints: ["`jpg redact ID --text -` reads the text from standard input."],
    });
  return [...new Set(said)];
}
