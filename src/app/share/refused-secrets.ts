// What is said where secrets would leave, by a push or in a review, and what lets them pass.
import { conversationOf } from "../../core/conversation-name.ts";
import { userError } from "../../core/errors.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { SecretFinding } from "../secrets/scan-source.ts";

/** A secret that would leave. */
export interface LeavingSecret extends SecretFinding {
  /** A file of a conversation's tree, `commit ID`, `tag ID`, or `names of branches and files`. */
  readonly path: string;
  /** 0-based; absent where it stands in no turn. */
  readonly turn?: number;
}

/** Rules that pass this once, and secrets that always do. */
export interface AllowedSecrets {
  /** Names of rules. */
  readonly rules: readonly string[];
  /** Fingerprints. */
  readonly secrets: readonly string[];
}

/** Who is refused: the command, what it did not do, a branch of the conversation. */
export interface RefusedCommand {
  readonly command: "jpg push" | "jpg review --markdown" | "jpg share --full";
  readonly of: string;
}

/** How that is said of each command. */
const WORDS = {
  "jpg push": { nothing: "nothing was sent", does: "sends", instead: "to push instead", gone: "pushed" },
  "jpg review --markdown": {
    nothing: "nothing was printed",
    does: "prints",
    instead: "to push instead",
    gone: "pushed",
  },
  "jpg share --full": {
    nothing: "nothing was written",
    does: "writes",
    instead: "to share instead",
    gone: "handed over",
  },
} as const;

/** What a command that refuses did not do, e.g. `nothing was sent`. */
export function nothingDone({ command }: Pick<RefusedCommand, "command">): string {
  return WORDS[command].nothing;
}

/** Refuses what is not allowed. Throws `secrets_found`. */
export function refuseFound(found: readonly LeavingSecret[], allowed: AllowedSecrets, refused: RefusedCommand): void {
  const secrets = found.filter(
    ({ rule, fingerprint }) => !allowed.rules.includes(rule) && !allowed.secrets.includes(fingerprint),
  );
  if (secrets.length > 0) throw secretsError(secrets, refused);
}

/** Secrets that an error lists. */
const MOST_LISTED = 10;

function secretsError(secrets: readonly LeavingSecret[], { command, of }: RefusedCommand): Error {
  const distinct = new Set(secrets.map(({ fingerprint }) => fingerprint)).size;
  const count = distinct === 1 ? "A secret" : `${distinct} secrets`;
  const places = secrets.length === 1 ? "" : `, in ${secrets.length} places`;
  const more = secrets.length > MOST_LISTED ? [`and ${secrets.length - MOST_LISTED} more`] : [];
  const lines = secrets.slice(0, MOST_LISTED).map(describe);
  const [first] = secrets;
  const { nothing, does, instead, gone } = WORDS[command];
  return userError(
    "secrets_found",
    [`${count} would leave this machine${places}; ${nothing}:`, ...lines, ...more].join("\n"),
    {
      hints: [
        `\`jpg redact ${shellWord(conversationOf(of))}\` makes a copy in which they are masked, ${instead}.`,
        `\`${command} --allow ${first?.rule}\` ${does} what that rule finds, this once; \`secrets.allow = ["${first?.fingerprint}"]\` in your own settings lets that one pass from now on.`,
        `What was ${gone} cannot be called back: a real secret is to be revoked where it was issued.`,
      ],
      data: { secrets },
    },
  );
}

function describe({ path, turn, line, rule, sample, count, fingerprint }: LeavingSecret): string {
  const place = turn === undefined ? path : `turn ${turn}`;
  const times = count === 1 ? "" : `, ${count} times`;
  return `${place}, line ${line}: ${rule} ${sample}${times} [${fingerprint}]`;
}
