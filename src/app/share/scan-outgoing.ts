// Looks for secrets in everything that is about to leave: each file of each commit, what commits and tags say, and all names. An
// object that has none is kept in mind, so that the next push looks at what is new alone.
import { conversationOf } from "../../core/conversation-name.ts";
import { userError } from "../../core/errors.ts";
import { turnIndexOfPath } from "../../core/event/turn-file.ts";
import { shellWord } from "../../core/shell-word.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
import { type ScannedSource, type SecretFinding, scanSources } from "../secrets/scan-source.ts";
import { loadSecretScanner } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openCleanObjects } from "./clean-objects.ts";

/** A secret that would leave. */
export interface LeavingSecret extends SecretFinding {
  /** A file of a conversation's tree, `commit ID`, `tag ID`, or `names of branches and files`. */
  readonly path: string;
  /** 0-based; absent where it stands in no turn. */
  readonly turn?: number;
}

/** Objects that leave, and the names of the refs under which they do. */
interface NamedObjects {
  readonly objects: readonly OutgoingObject[];
  readonly names: readonly string[];
}

/** Rules that pass this once, and secrets that always do. */
export interface AllowedSecrets {
  /** Names of rules. */
  readonly rules: readonly string[];
  /** Fingerprints. */
  readonly secrets: readonly string[];
}

/** Refuses to let secrets leave. Throws `secrets_found`. */
export async function refuseSecrets(
  { store }: Workspace,
  { outgoing, allowed }: { readonly outgoing: NamedObjects; readonly allowed: AllowedSecrets },
): Promise<void> {
  const found = await findLeavingSecrets(store, outgoing);
  const refused = found.filter(
    ({ rule, fingerprint }) => !allowed.rules.includes(rule) && !allowed.secrets.includes(fingerprint),
  );
  if (refused.length > 0) throw secretsError(refused, outgoing.names);
}

/** Lists the secrets of objects, and of the names of what leaves. */
export async function findLeavingSecrets(
  store: ConversationStore,
  outgoing: NamedObjects,
): Promise<readonly LeavingSecret[]> {
  const clean = openCleanObjects(store);
  const unknown = outgoing.objects.filter(({ oid }) => !clean.has(oid));
  const names = [...outgoing.names, ...outgoing.objects.map(({ path }) => path)].join("\n");
  const scanner = await loadSecretScanner();
  const found = await scanSources(scanner, contentsOf(store, unknown));
  const dirty = new Set(found.map((finding) => finding.in.oid));
  await clean.add(unknown.flatMap(({ oid }) => (dirty.has(oid) ? [] : [oid])));
  const named = await scanSources(scanner, [sourceOf({ oid: "", place: "names of branches and files" }, names)]);
  return [...found, ...named].map(({ in: { place }, ...finding }) => {
    const turn = turnIndexOfPath(place);
    return { path: place, ...(turn === null ? {} : { turn }), ...finding };
  });
}

/** What is scanned, and where a person finds it. */
interface Scanned {
  readonly oid: string;
  readonly place: string;
}

async function* contentsOf(
  store: ConversationStore,
  objects: readonly OutgoingObject[],
): AsyncGenerator<ScannedSource<Scanned>> {
  let at = 0;
  for await (const bytes of store.readBlobs(objects.map(({ oid }) => oid))) {
    const object = objects[at++];
    if (object !== undefined) yield sourceOf({ oid: object.oid, place: placeOf(object) }, bytes);
  }
}

function placeOf({ kind, oid, path }: OutgoingObject): string {
  return kind === "blob" && path !== "" ? path : `${kind} ${oid.slice(0, 9)}`;
}

function sourceOf(name: Scanned, content: Uint8Array | string): ScannedSource<Scanned> {
  return { name, lines: createBufferSource(Buffer.from(content)) };
}

/** Secrets that an error lists. */
const MOST_LISTED = 10;

function secretsError(secrets: readonly LeavingSecret[], [name = "@"]: readonly string[]): Error {
  const distinct = new Set(secrets.map(({ fingerprint }) => fingerprint)).size;
  const count = distinct === 1 ? "A secret" : `${distinct} secrets`;
  const places = secrets.length === 1 ? "" : `, in ${secrets.length} places`;
  const more = secrets.length > MOST_LISTED ? [`and ${secrets.length - MOST_LISTED} more`] : [];
  const lines = secrets.slice(0, MOST_LISTED).map(describe);
  const [first] = secrets;
  return userError(
    "secrets_found",
    [`${count} would leave this machine${places}; nothing was sent:`, ...lines, ...more].join("\n"),
    {
      hints: [
        `\`jpg redact ${shellWord(conversationOf(name))}\` makes a copy in which they are masked, to push instead.`,
        `\`jpg push --allow ${first?.rule}\` sends what that rule finds, this once; \`secrets.allow = ["${first?.fingerprint}"]\` in your own settings lets that one pass from now on.`,
        "What was pushed cannot be called back: a real secret is to be revoked where it was issued.",
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
