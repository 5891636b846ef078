// What became of a push: what arrived, what did not and why.
import { conversationOf } from "../../core/conversation/name.ts";
import { repositoryError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { shownUrl } from "../../core/remote-address.ts";
import type { PushedBranch, Remote } from "../../store/sharing.ts";
import type { RemotePlace } from "./fetch.ts";
import type { PassedOver } from "./passed-over.ts";
import type { PlannedPush, PushPlan } from "./push-plan.ts";

/** What a push sent. */
export interface PushReport extends RemotePlace {
  readonly branches: readonly {
    readonly branch: string;
    readonly status: PlannedPush["status"] | "refused";
    /** Turns that the remote did not have; >= 0. */
    readonly turns: number;
    /** Why it was refused, in git's words. */
    readonly reason?: string;
    /** What the other side printed where it refused. */
    readonly said?: string;
    /** What somebody else pushed there meanwhile, and what was sent has not, though git took it for a part of it. */
    readonly passed_over?: PassedOver;
  }[];
  readonly local: readonly string[];
  /** As they are stored here. */
  readonly bytes: number;
  /** The branch on which a README was written, which says what the repository is; null where none was. */
  readonly readme: string | null;
}

/** Where conversations are sent. */
export function pushedPlace({ name, pushUrl, as }: Remote): RemotePlace {
  return { remote: name, url: shownUrl(pushUrl), as };
}

/** What the other side answered. */
interface Sent {
  readonly pushed?: readonly PushedBranch[];
  /** The branch on which a README was sent; "" = none. */
  readonly readme?: string;
  readonly passedOver?: ReadonlyMap<string, PassedOver>;
}

/** The report of a plan: of what was sent, or of what would be; `turns` = of each branch. */
export function reportPush(
  { remote, branches, local, list }: PushPlan,
  turns: readonly number[],
  { pushed = [], readme = "", passedOver = new Map() }: Sent = {},
): PushReport {
  const answers = new Map(pushed.map((branch) => [branch.name, branch]));
  return {
    ...pushedPlace(remote),
    branches: branches.map(({ name, status }, index) => {
      const [answer, passed] = [answers.get(name), passedOver.get(name)];
      const isStopped = answer?.status === "behind" || answer?.status === "refused";
      return {
        branch: name,
        status: isStopped ? answer.status : status,
        turns: turns[index] ?? 0,
        ...(isStopped && answer.reason !== "" ? { reason: answer.reason } : {}),
        ...(answer?.said === undefined ? {} : { said: answer.said }),
        ...defined({ passed_over: passed }),
      };
    }),
    local,
    bytes: list.bytes,
    // Where another was just as fast and wrote something else there, theirs stays.
    readme: answers.get(readme)?.status === "sent" ? readme : null,
  };
}

/** The error of a push of which something did not arrive; null when all of it did. */
export function pushError({ remote, url, as, branches }: PushReport): Error | null {
  const refused = branches.filter(({ status }) => status === "refused");
  const behind = branches.filter(({ status }) => status === "behind");
  const gone = branches.filter(({ status }) => status === "gone");
  if (refused.length > 0) {
    const { reason = "it did not say why", said } = refused[0] ?? {};
    const words = said === undefined ? "" : ` It says: "${said}"`;
    const message = `${remote} (${url}) refused ${namesOf(refused)}: ${reason}.${words}`;
    const hidden = [
      `Some hosts refuse hidden refs. \`jpg remote add NAME URL --as branches\` names a repository made for conversations; \`jpg remote rm ${remote}\` forgets this remote first where it is to be the same.`,
    ];
    const branch = ["Check the host's rules for branches, and what you are allowed to push."];
    const code = as === "hidden" ? "hidden_refs_refused" : "push_refused";
    return repositoryError(code, message, { hints: as === "hidden" ? hidden : branch });
  }
  if (behind.length === 0 && gone[0] !== undefined) {
    const conversation = conversationOf(gone[0].branch);
    const message = `Somebody removed ${namesOf(gone)} from ${remote} since you last looked at it: it was not sent again.`;
    return userError("removed_there", message, {
      hints: [
        `Ask why it was removed. \`jpg push ${conversation} --to ${remote} --yes\` sends it again.`,
        `\`jpg rm ${conversation}\` removes it here as well; \`jpg local ${conversation}\` keeps it, for you alone.`,
      ],
      data: { branches: gone.map(({ branch }) => branch) },
    });
  }
  if (behind.length === 0) return null;
  return repositoryError("push_behind", `${remote} has commits of ${namesOf(behind)} that are not here.`, {
    hints: [`\`jpg pull --from ${remote}\` brings them in; then push again.`],
  });
}

function namesOf(branches: readonly { readonly branch: string }[]): string {
  const names = branches.map(({ branch }) => branch);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
