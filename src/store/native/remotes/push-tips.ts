// Sends commits to a remote, under the names of branches, and keeps in mind what arrived.
import { defined } from "../../../core/json.ts";
import type { BranchTip } from "../../conversation-store.ts";
import type { PushedBranch, Remote, TransferOptions } from "../../sharing.ts";
import { type Repository, runCommand } from "../git/git-command.ts";
import { recordPublished } from "../refs/published.ts";
import { objectsOf, withPushFolder } from "./push-folder.ts";
import { REMOTE_PREFIX } from "./remote-config.ts";
import { requireOpen, transfer } from "./transfer.ts";
import { remoteWords, transferError } from "./transfer-error.ts";

/** Sends tips to a remote's refs of their names. Nothing is overwritten: git refuses what is not built on what stands there. */
export async function pushTips(
  repository: Repository,
  { name, pushUrl, as }: Remote,
  { tips, options = {} }: { readonly tips: readonly BranchTip[]; readonly options?: TransferOptions },
): Promise<readonly PushedBranch[]> {
  if (tips.length === 0) return [];
  const refOf = (branch: string): string => `${REMOTE_PREFIX[as]}${branch}`;
  // Before git sends anything: from now on others may have these commits.
  await recordPublished(
    repository.gitDir,
    tips.map(({ commit }) => commit),
  );
  requireOpen(repository, pushUrl);
  const flags = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--progress"];
  const args = ["push", ...flags, "--", pushUrl, `refs/heads/*:${refOf("*")}`];
  const result = await withPushFolder(repository, tips, (folder) =>
    transfer(folder, { args, config: ["core.abbrev=40"], extraEnv: objectsOf(repository) }, { url: pushUrl, options }),
  );
  const answers = parsePushed(result.stdout.toString());
  const said = remoteWords(result.stderr);
  const pushed = tips.flatMap((tip) => {
    const answer = answers.get(refOf(tip.name));
    if (answer === undefined) return [];
    return [{ name: tip.name, ...answer, ...(answer.status === "refused" && said !== "" ? { said } : {}) }];
  });
  if (pushed.length < tips.length) throw transferError("Pushing to", { url: pushUrl, cwd: repository.cwd }, result);
  const arrived = new Set(
    pushed.filter(({ status }) => status === "sent" || status === "unchanged").map((one) => one.name),
  );
  await keepTracked(
    repository,
    name,
    tips.filter((tip) => arrived.has(tip.name)),
  );
  return pushed;
}

async function keepTracked(repository: Repository, name: string, tips: readonly BranchTip[]): Promise<void> {
  if (tips.length === 0) return;
  const input = tips.map((tip) => `update refs/remotes/${name}/${tip.name}\0${tip.commit}\0\0`).join("");
  await runCommand(repository, { args: ["update-ref", "-m", MESSAGE, "-z", "--stdin"], input });
}

/** What reflogs say of it. */
const MESSAGE = "jpg: push";

type Answer = Pick<PushedBranch, "status" | "reason" | "over">;

/** Reads `<flag>\t<from>:<to>\t<summary> (<reason>)` lines, by the ref there; a summary may be `<old>..<new>`. */
function parsePushed(output: string): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const [, flag, to = "", summary = ""] of output.matchAll(/^([ +*=!-])\t[^:\t]*:([^\t]+)\t(.*)$/gm)) {
    const [, reason = ""] = /\((.*)\)$/.exec(summary) ?? [];
    const isBehind = /^\[rejected\]/.test(summary);
    const refusal = isBehind ? "behind" : "refused";
    const status = flag === "!" ? refusal : flag === "=" ? "unchanged" : "sent";
    const over = /^([0-9a-f]{40})\.\./.exec(summary)?.[1];
    answers.set(to, { status, reason, ...defined({ over }) });
  }
  return answers;
}
