// Looks for secrets in everything that is about to leave: each file of each commit, what commits and tags say, and all names. An
// object that has none is kept in mind, so that the next push looks at what is new alone.
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import type { OutgoingObject } from "../../store/sharing.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type ScannedSource, scanSources } from "../secrets/scan-source.ts";
import { loadSecretScanner } from "../secrets/secret-scanner.ts";
import { createBufferSource } from "../sessions/buffer-source.ts";
import { blobId } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { openCleanObjects } from "./clean-objects.ts";
import type { LeavingSecret } from "./refused-secrets.ts";

/** Objects that leave, and the names of the refs under which they do. */
interface NamedObjects {
  readonly objects: readonly OutgoingObject[];
  readonly names: readonly string[];
}

/** Told of each content that is read: who has another question to it need not read it again. */
export type ContentReader = (object: OutgoingObject, bytes: Uint8Array) => void;

/** A secret, and the object that it stands in. */
export interface SecretOfObject extends LeavingSecret {
  /** Of names: of a file that holds them. */
  readonly oid: string;
}

/** Lists the secrets of objects, and of the names of what leaves. */
export async function findLeavingSecrets(
  workspace: Workspace,
  outgoing: NamedObjects,
  read?: ContentReader,
): Promise<readonly SecretOfObject[]> {
  const { store } = workspace;
  const clean = openCleanObjects(store);
  const unknown = outgoing.objects.filter(({ oid }) => !clean.has(oid));
  const names = [...outgoing.names, ...outgoing.objects.map(({ path }) => path)].join("\n");
  // Names that were looked at before are known as a file of them would be.
  const namesOid = blobId(Buffer.from(names));
  if (unknown.length === 0 && clean.has(namesOid)) return [];
  const scanner = await loadSecretScanner(workspace);
  const found = await scanSources(scanner, contentsOf(store, unknown, read));
  const named = await scanSources(scanner, [sourceOf({ oid: namesOid, place: "names of branches and files" }, names)]);
  const dirty = new Set([...found, ...named].map((finding) => finding.in.oid));
  await clean.add([...unknown.map(({ oid }) => oid), namesOid].filter((oid) => !dirty.has(oid) && !clean.has(oid)));
  return [...found, ...named].map(({ in: { oid, place }, ...finding }) => {
    const turn = turnIndexOfPath(place);
    return { oid, path: place, ...(turn === null ? {} : { turn }), ...finding };
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
  read: ContentReader = () => undefined,
): AsyncGenerator<ScannedSource<Scanned>> {
  let at = 0;
  for await (const bytes of store.readBlobs(objects.map(({ oid }) => oid))) {
    const object = objects[at++];
    if (object === undefined) continue;
    read(object, bytes);
    yield sourceOf({ oid: object.oid, place: placeOf(object) }, bytes);
  }
}

function placeOf({ kind, oid, path }: OutgoingObject): string {
  return kind === "blob" && path !== "" ? path : `${kind} ${oid.slice(0, 9)}`;
}

function sourceOf(name: Scanned, content: Uint8Array | string): ScannedSource<Scanned> {
  return { name, lines: createBufferSource(Buffer.from(content)) };
}
