// The whole machine: the conversations of every project's store, and the sessions of every agent that no store has. Reads only; a
// store is opened as a command in its project would open it, and never made for a list.
import { statSync } from "node:fs";
import { JpgError } from "../../core/errors.ts";
import { spellingsOf } from "../../core/folder-path.ts";
import { appendAll } from "../../core/lists.ts";
import { projects } from "../conversation/engine.ts";
import { knownPlaces } from "../conversation/known-places.ts";
import { countProgress, type ReportProgress } from "../conversation/progress.ts";
import { type Runtime, sha256 } from "../conversation/runtime.ts";
import { openWorkspace, type Workspace } from "../conversation/workspace.ts";
import { describeKept } from "../import/list-kept.ts";
import { createSessionStates } from "../import/session-state.ts";
import { type ListOrder, type ListRow, listConversations } from "../look/list.ts";
import { canonicalOf } from "../sessions/agent-stores.ts";
import { findAgentSessions, findMachineSessions, type MachineSession } from "../sessions/kept-files.ts";
import { agents } from "../sessions/session-registry.ts";
import { type ExpiringSessions, findExpiring } from "./expiry.ts";

/** A project, or all directories that are in none, with the sessions that agents keep of it. */
export interface MachinePlace {
  /** Where a command finds its store: the project's top folder; the user's home folder for what is in no project. Absolute. */
  readonly directory: string;
  readonly isProject: boolean;
  readonly sessions: readonly MachineSession[];
}

/** A session that its place's store lacks, wholly or in part. */
export interface MissingSession extends MachineSession {
  readonly state: "new" | "grown";
  readonly bytes: number;
  readonly changedMs: number;
}

/** A conversation, or a session that is not imported. */
export interface OverviewRow extends ListRow {
  /**
   * Present for a session that is not imported: then `id` and `branch` are empty and no tokens are counted; `is_beginning`: nor are
   * all of its turns.
   */
  readonly session?: { readonly path: string; readonly bytes: number; readonly is_beginning?: true };
}

export interface MachineRow extends OverviewRow {
  /** Top folder of the project; null = none. */
  readonly project: string | null;
}

export interface MachineReport {
  /** In the order asked for; sub-agents and archived conversations are left out. */
  readonly rows: readonly MachineRow[];
  /** Number of rows beyond the most that were asked for. */
  readonly left: number;
  readonly expiring: readonly ExpiringSessions[];
  /** Stores that cannot be read, and why. */
  readonly unreadable: readonly PlaceFailure[];
}

interface MachineOptions extends PlaceOptions {
  /** Format of the sessions; default: all. */
  readonly agent?: string | undefined;
  readonly order?: ListOrder | undefined;
  readonly most?: number | undefined;
}

/** Finds the places in which agents keep sessions or jpg has imported some, in order of their folders. */
export async function findPlaces(runtime: Runtime): Promise<readonly MachinePlace[]> {
  const sessions = await findMachineSessions(runtime);
  const topOf = createTops(runtime);
  const places = new Map<string, MachineSession[]>();
  const known = await knownPlaces(runtime);
  for (const directory of [runtime.cwd, ...known]) {
    const top = await topOf(directory);
    if (top !== null) places.set(top, []);
  }
  const directoryOf = createDirectories(sessions, known);
  const loose: MachineSession[] = [];
  for (const session of sessions) {
    const directory = directoryOf(session);
    const top = directory === undefined ? null : await topOf(directory);
    if (top === null) loose.push(session);
    else places.set(top, [...(places.get(top) ?? []), session]);
  }
  const own = [...places].map(([directory, found]) => ({ directory, isProject: true, sessions: found }));
  own.sort((a, b) => (a.directory < b.directory ? -1 : 1));
  return [...own, { directory: runtime.home, isProject: false, sessions: loose }];
}

/** Returns a function that finds the top folder of the project around a directory; null = there is none. */
function createTops({ platform }: Pick<Runtime, "platform">): (directory: string) => Promise<string | null> {
  const tops = new Map<string, string | null>();
  return async (directory) => {
    const known = tops.get(directory);
    if (known !== undefined) return known;
    const project = await projects.around(canonicalOf(directory, platform).existing).catch(() => null);
    const top = project === null ? null : ((await projects.worktrees(project))[0] ?? null);
    tops.set(directory, top);
    return top;
  };
}

/** Returns a function that gives the path of a session's directory; those named by digest are looked for among all others. */
function createDirectories(
  sessions: readonly MachineSession[],
  known: readonly string[],
): (session: MachineSession) => string | undefined {
  const paths = sessions.flatMap(({ directory }) =>
    directory !== null && "path" in directory ? [directory.path] : [],
  );
  const byDigest = new Map(
    [...known, ...paths].flatMap((path) => spellingsOf(path).map((one) => [sha256(one), path] as const)),
  );
  return ({ directory }) => {
    if (directory === null) return undefined;
    return "path" in directory ? directory.path : byDigest.get(directory.sha256);
  };
}

interface PlaceOptions {
  readonly progress: ReportProgress;
  readonly warn?: ((message: string) => void) | undefined;
}

/** Opens the store of a place, as a command there would without JPG_STORE. It is made by the first write. */
export function openPlace(
  runtime: Runtime,
  { directory }: Pick<MachinePlace, "directory">,
  how: PlaceOptions,
): Promise<Workspace> {
  return openWorkspace(runtimeAt(runtime, directory), { create: true, ...how });
}

/** The runtime of a command that is typed in a directory, without JPG_STORE. */
export function runtimeAt(runtime: Runtime, directory: string): Runtime {
  const { JPG_STORE: _, JPG_CONVERSATION: __, ...env } = runtime.env;
  return { ...runtime, env, cwd: directory, gitDir: undefined };
}

/** A place whose store cannot be used, and why. */
export interface PlaceFailure {
  readonly directory: string;
  readonly error: JpgError;
}

/** Visits each place with its store. What cannot be used does not stop the others; other errors do. */
export async function visitPlaces(
  runtime: Runtime,
  { progress, warn }: PlaceOptions,
  visit: (workspace: Workspace, place: MachinePlace) => Promise<void>,
): Promise<readonly PlaceFailure[]> {
  const failed: PlaceFailure[] = [];
  for (const place of await findPlaces(runtime)) {
    try {
      const workspace = await openPlace(runtime, place, { progress, warn });
      try {
        await visit(workspace, place);
      } finally {
        await workspace.close();
      }
    } catch (error) {
      failed.push({ directory: place.directory, error: asPlaceError(error) });
    }
  }
  return failed;
}

/** An error of a user's or of a store; throws any other. */
export function asPlaceError(error: unknown): JpgError {
  if (error instanceof JpgError && error.kind !== "internal") return error;
  throw error;
}

/** Finds the sessions of a place that its store lacks. */
export async function missingSessions(
  workspace: Workspace,
  { sessions }: Pick<MachinePlace, "sessions">,
): Promise<readonly MissingSession[]> {
  const stateOf = await createSessionStates(workspace);
  const missing: MissingSession[] = [];
  for (const session of countProgress(workspace, "comparing sessions", sessions)) {
    const stats = statSync(session.path, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const { state } = await stateOf(session);
    if (state === "new" || state === "grown")
      missing.push({ ...session, state, bytes: stats.size, changedMs: stats.mtimeMs });
  }
  return missing;
}

/** Lists the machine. */
export async function listMachine(runtime: Runtime, options: MachineOptions): Promise<MachineReport> {
  const rows: (MachineRow | Unread)[] = [];
  const missing: MissingSession[] = [];
  const here = await placeHere(runtime);
  const unreadable = await visitPlaces(runtime, options, async (workspace, place) => {
    const found = await listPlace(workspace, place, { ...options, isHere: place.directory === here });
    appendAll(rows, found.rows);
    appendAll(missing, found.missing);
  });
  rows.sort((a, b) => compareRows(a, b, options.order));
  const shown = await readRows(runtime, rows, options);
  const expiring = findExpiring(runtime, missing);
  return { rows: shown, left: rows.length - shown.length, expiring, unreadable };
}

/** The place whose active conversation commands here are about; null if the environment names another store or conversation. */
async function placeHere(runtime: Runtime): Promise<string | null> {
  const { JPG_STORE: store = "", JPG_CONVERSATION: conversation = "" } = runtime.env;
  return store + conversation === "" ? ((await createTops(runtime)(runtime.cwd)) ?? runtime.home) : null;
}

interface ListedPlace {
  readonly rows: readonly (MachineRow | Unread)[];
  readonly missing: readonly MissingSession[];
}

async function listPlace(
  workspace: Workspace,
  place: MachinePlace,
  { agent, order, isHere }: MachineOptions & { readonly isHere: boolean },
): Promise<ListedPlace> {
  const project = place.isProject ? place.directory : null;
  const listed = workspace.location.exists ? await listConversations(workspace, { all: false, agent, order }) : null;
  const missing = await missingSessions(workspace, place);
  const isShown = ({ state, format }: MissingSession): boolean =>
    state === "new" && (agent === undefined || format === agent);
  const conversations =
    listed?.rows.map((row): MachineRow => ({ ...row, active: isHere && row.active === true, project })) ?? [];
  return { rows: [...conversations, ...missing.filter(isShown).map((session) => ({ session, project }))], missing };
}

/** Reads the sessions among the first rows, and further ones as long as they may belong among them. `rows`: in the order asked for. */
async function readRows(
  runtime: Runtime,
  rows: readonly (MachineRow | Unread)[],
  { most = Number.POSITIVE_INFINITY, order, progress }: MachineOptions,
): Promise<readonly MachineRow[]> {
  let shown: MachineRow[] = [];
  for (const row of countProgress({ progress }, "reading sessions", rows)) {
    const last = shown.length < most ? undefined : shown.at(-1);
    // A file may be newer than its last message, and is not older.
    if (last !== undefined && compareRows(last, row, order) <= 0) break;
    shown.push("id" in row ? row : { ...(await readRow(runtime, row.session)), project: row.project });
    if (shown.length >= most) shown = shown.sort((a, b) => compareRows(a, b, order)).slice(0, most);
  }
  return shown.sort((a, b) => compareRows(a, b, order));
}

/** Lists the conversations of a workspace and the sessions of its project that are not imported, newest first. */
export async function listProject(workspace: Workspace): Promise<readonly OverviewRow[]> {
  const { runtime } = workspace;
  const listed = await listConversations(workspace, { all: false });
  const { files } = await findAgentSessions(workspace);
  const sessions = files.map((file): MachineSession => ({ ...file, format: formatOf(file.agent), directory: null }));
  const fresh = (await missingSessions(workspace, { sessions })).filter(({ state }) => state === "new");
  const rows: OverviewRow[] = [...listed.rows];
  for (const session of countProgress(workspace, "reading sessions", fresh)) rows.push(await readRow(runtime, session));
  return rows.sort((a, b) => Date.parse(b.updated_at) - Date.parse(a.updated_at));
}

function formatOf(shown: string): string {
  return agents().find(({ agent }) => agent.name === shown)?.name ?? shown;
}

/** A row of a session whose file is only read if it is shown. */
interface Unread {
  readonly session: MissingSession;
  readonly project: string | null;
}

/** Negative = `a` comes first. */
function compareRows(a: MachineRow | Unread, b: MachineRow | Unread, order: ListOrder = "age"): number {
  const byRank = order === "age" ? 0 : rankOf(b, order) - rankOf(a, order);
  return byRank || timeMs(b) - timeMs(a);
}

/** What is not known comes last. */
function rankOf(row: MachineRow | Unread, order: Exclude<ListOrder, "age">): number {
  if (!("id" in row) || row.session !== undefined) return -1;
  return order === "size" ? row.tokens.view : (row.cost_usd ?? -1);
}

function timeMs(row: MachineRow | Unread): number {
  return "id" in row ? Date.parse(row.updated_at) : row.session.changedMs;
}

async function readRow(runtime: Runtime, session: MissingSession): Promise<OverviewRow> {
  const { path, bytes, changedMs, format } = session;
  const { turns = 0, title = "", problem, is_beginning, updated_at } = await describeKept(runtime, session, bytes);
  return {
    id: "",
    branch: "",
    title: problem ?? title,
    turns,
    tokens: { raw: 0, view: 0 },
    compactions: 0,
    forks: 0,
    updated_at: updated_at ?? new Date(changedMs).toISOString(),
    agent: format,
    session: { path, bytes, ...(is_beginning === true && { is_beginning }) },
  };
}
