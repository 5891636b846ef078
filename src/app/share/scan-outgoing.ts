// Looks for secrets in everything that is about to leave: each file of each commit, and what the commits say. A file that has none
// is kept in mind, so that the next push looks at what is new alone.
import { userError } from "../../core/errors.ts";
import { turnIndexOfPath } from "../../core/event/turn-file.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { OutgoingFile, OutgoingObjects, Sharing } from "../../store/sharing.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import { type ScannedSource, type SecretFinding, scanSources } from "../secrets/scan-source.ts";
import { loadSecretScanner, RULES_VERSION } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A secret that would leave. */
export interface LeavingSecret extends SecretFinding {
  /** A file of a conversation's tree, or `message of COMMIT`. */
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

/** Refuses to let secrets leave. Throws `secrets_found`. */
export async function refuseSecrets(
  { store }: Workspace,
  {
    sharing,
    outgoing,
    allowed,
  }: { readonly sharing: Sharing; readonly outgoing: OutgoingObjects; readonly allowed: AllowedSecrets },
): Promise<void> {
  const found = await findLeavingSecrets(store, sharing, outgoing);
  const refused = found.filter(
    ({ rule, fingerprint }) => !allowed.rules.includes(rule) && !allowed.secrets.includes(fingerprint),
  );
  if (refused.length > 0) throw secretsError(refused);
}

async function findLeavingSecrets(
  store: ConversationStore,
  sharing: Sharing,
  outgoing: OutgoingObjects,
): Promise<readonly LeavingSecret[]> {
  const clean = openCleanFiles(store);
  const files = (await sharing.outgoingFiles(outgoing)).filter(({ oid }) => !clean.has(oid));
  const messages = (await sharing.outgoingMessages(outgoing)).filter(({ commit }) => !clean.has(commit));
  if (files.length === 0 && messages.length === 0) return [];
  const scanner = await loadSecretScanner();
  const found = [
    ...(await scanSources(scanner, contentsOf(store, files))),
    ...(await scanSources(
      scanner,
      messages.map(({ commit, text }) => sourceOf({ oid: commit, path: `message of ${commit.slice(0, 9)}` }, text)),
    )),
  ];
  const dirty = new Set(found.map((finding) => finding.in.oid));
  const seen = [...files.map(({ oid }) => oid), ...messages.map(({ commit }) => commit)];
  await clean.add(seen.filter((oid) => !dirty.has(oid)));
  return found.map(({ in: { path }, ...finding }) => {
    const turn = turnIndexOfPath(path);
    return { path, ...(turn === null ? {} : { turn }), ...finding };
  });
}

async function* contentsOf(
  store: ConversationStore,
  files: readonly OutgoingFile[],
): AsyncGenerator<ScannedSource<OutgoingFile>> {
  let at = 0;
  for await (const bytes of store.readBlobs(files.map(({ oid }) => oid))) {
    const file = files[at++];
    if (file !== undefined) yield sourceOf(file, bytes);
  }
}

function sourceOf(file: OutgoingFile, content: Uint8Array | string): ScannedSource<OutgoingFile> {
  return { name: file, lines: createBufferSource(Buffer.from(content)) };
}

/** Files and commits in which nothing was found. */
interface CleanFiles {
  has(oid: string): boolean;
  add(oids: readonly string[]): Promise<void>;
}

/** Ids kept at most: 10 MB of them. */
const MOST_CLEAN = 250_000;

function openCleanFiles(store: ConversationStore): CleanFiles {
  const cache = openSealedCache(store, "without-secrets");
  const key = `rules-${RULES_VERSION}`;
  const known = new Set((cache.read(key) ?? "").split("\n"));
  return {
    has: (oid) => known.has(oid),
    async add(oids) {
      if (oids.length === 0) return;
      const all = [...known, ...oids].filter((oid) => oid !== "");
      await cache.write(all.slice(-MOST_CLEAN).join("\n"), key);
    },
  };
}

/** Secrets that an error lists. */
const MOST_LISTED = 10;

function secretsError(secrets: readonly LeavingSecret[]): Error {
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
