// Looks for secrets in everything that is to be sent: each file of each commit, messages of commits and tags, and all names.
// Objects without a secret are cached, so that the next push scans only new ones.
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import { userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type CheckedIds, openCheckedIds } from "../conversation/caches.ts";
import { countArrivals } from "../conversation/progress.ts";
import { blobId } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { createBufferSource } from "../sessions/sources.ts";
import { loadSecretScanner, RULES_VERSION, type ScannedSource, type SecretFinding, scanSources } from "./scan.ts";

/** Objects to send, and the names of their refs. */
interface NamedObjects {
  readonly objects: readonly OutgoingObject[];
  readonly names: readonly string[];
}

/** A secret, and the object that contains it. */
export interface SecretOfObject extends OutgoingSecret {
  /** For names: the id of a blob of them. */
  readonly oid: string;
}

/** Lists the secrets of objects, and of the names of refs. */
export async function findOutgoingSecrets(
  workspace: Workspace,
  outgoing: NamedObjects,
): Promise<readonly SecretOfObject[]> {
  const { store } = workspace;
  const clean = openCleanObjects(store);
  const unknown = outgoing.objects.filter(({ oid }) => !clean.has(oid));
  const names = [...outgoing.names, ...outgoing.objects.map(({ path }) => path)].join("\n");
  // Names are cached as if they were a file.
  const namesOid = blobId(Buffer.from(names));
  if (unknown.length === 0 && clean.has(namesOid)) return [];
  const scanner = await loadSecretScanner(workspace);
  const found = await scanSources(scanner, contentsOf(workspace, unknown));
  const named = await scanSources(scanner, [sourceOf({ oid: namesOid, place: "names of branches and files" }, names)]);
  const dirty = new Set([...found, ...named].map((finding) => finding.in.oid));
  await clean.add([...unknown.map(({ oid }) => oid), namesOid].filter((oid) => !dirty.has(oid) && !clean.has(oid)));
  return [...found, ...named].map(({ in: { oid, place }, ...finding }) => {
    const turn = turnIndexOfPath(place);
    return { oid, path: place, ...(turn === null ? {} : { turn }), ...finding };
  });
}

interface Scanned {
  readonly oid: string;
  readonly place: string;
}

async function* contentsOf(
  workspace: Workspace,
  objects: readonly OutgoingObject[],
): AsyncGenerator<ScannedSource<Scanned>> {
  let at = 0;
  const items = workspace.store.readBlobs(objects.map(({ oid }) => oid));
  for await (const bytes of countArrivals(workspace, "looking for secrets in objects", {
    items,
    total: objects.length,
  })) {
    const object = objects[at++];
    if (object === undefined) continue;
    yield sourceOf({ oid: object.oid, place: placeOf(object) }, bytes);
  }
}

function placeOf({ kind, oid, path }: OutgoingObject): string {
  return kind === "blob" && path !== "" ? path : `${kind} ${oid.slice(0, 9)}`;
}

function sourceOf(name: Scanned, content: Uint8Array | string): ScannedSource<Scanned> {
  return { name, lines: createBufferSource(Buffer.from(content)) };
}

/** Cached ids of clean objects, at most: 10 MB. */
const MAX_CLEAN_IDS = 250_000;

/** Opens the cache of objects without secrets. */
export function openCleanObjects(store: ConversationStore): CheckedIds {
  return openCheckedIds(store, "without-secrets", { key: `rules-${RULES_VERSION}`, most: MAX_CLEAN_IDS });
}

/** A secret in what is to be sent. */
export interface OutgoingSecret extends SecretFinding {
  /** A branch that contains it; absent where no object that is sent does. */
  readonly branch?: string;
  /** A file of a conversation's tree, `commit ID`, `tag ID`, or `names of branches and files`. */
  readonly path: string;
  /** 0-based; absent where it is in no turn. */
  readonly turn?: number;
}

/** Rules whose finds pass this once, and secrets that always pass. */
interface AllowedSecrets {
  /** Names of rules. */
  readonly rules: readonly string[];
  /** Fingerprints. */
  readonly secrets: readonly string[];
}

/** The command that is refused, and the conversations to mask instead, at least one. */
export interface RefusedCommand {
  readonly command: "jpg push" | "jpg review --markdown" | "jpg share --full";
  readonly of: readonly string[];
}

/** The words of each command for the messages. */
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
    gone: "shared",
  },
} as const;

/** What a refused command did not do, e.g. `nothing was sent`. */
export function nothingDone({ command }: Pick<RefusedCommand, "command">): string {
  return WORDS[command].nothing;
}

/** The secrets that are not allowed. */
export function refusedOf<Secret extends OutgoingSecret>(
  found: readonly Secret[],
  allowed: AllowedSecrets,
): readonly Secret[] {
  return found.filter(
    ({ rule, fingerprint }) => !allowed.rules.includes(rule) && !allowed.secrets.includes(fingerprint),
  );
}

/** Secrets that an error lists. */
const MAX_LISTED = 10;
/** Conversations that a hint names. */
const MAX_NAMED = 3;

export function secretsError(secrets: readonly OutgoingSecret[], { command, of }: RefusedCommand): Error {
  const distinct = new Set(secrets.map(({ fingerprint }) => fingerprint)).size;
  const count = distinct === 1 ? "A secret" : `${distinct} secrets`;
  const places = secrets.length === 1 ? "" : `, in ${secrets.length} places`;
  const more = secrets.length > MAX_LISTED ? [`and ${secrets.length - MAX_LISTED} more`] : [];
  const [first] = secrets;
  const { nothing, does, instead, gone } = WORDS[command];
  return userError(
    "secrets_found",
    [
      `${count} would leave this machine${places}; ${nothing}:`,
      ...listByBranch(secrets.slice(0, MAX_LISTED)),
      ...more,
    ].join("\n"),
    {
      hints: [
        `${redactHint(of)} in which they are masked, ${instead}.`,
        `\`${command} --allow ${first?.rule}\` ${does} what that rule finds, this once; \`secrets.allow = ["${first?.fingerprint}"]\` in your own settings allows that one from now on.`,
        `What was ${gone} cannot be called back: revoke a real secret where it was issued.`,
      ],
      data: { secrets },
    },
  );
}

function redactHint(conversations: readonly string[]): string {
  const commands = conversations.slice(0, MAX_NAMED).map((id) => `\`jpg redact ${shellWord(id)}\``);
  if (commands.length === 1) return `${commands[0]} makes a copy`;
  const more = conversations.length - commands.length;
  return `${commands.join(", ")}${more === 0 ? "" : ` and ${more} more`} make copies`;
}

/** One line for each, below its branch. */
function listByBranch(secrets: readonly OutgoingSecret[]): readonly string[] {
  const branches = [...new Set(secrets.map(({ branch }) => branch))];
  return branches.flatMap((branch) => {
    const lines = secrets.filter((secret) => secret.branch === branch).map(describe);
    return branch === undefined ? lines : [`${branch}:`, ...lines.map((line) => `  ${line}`)];
  });
}

function describe({ path, turn, line, rule, sample, count, fingerprint }: OutgoingSecret): string {
  const place = turn === undefined ? path : `turn ${turn}`;
  const times = count === 1 ? "" : `, ${count} times`;
  return `${place}, line ${line}: ${rule} ${sample}${times} [${fingerprint}]`;
}
