// `jpg serve`: pages of the store, for the browser of the user who started it. Each request opens the store again, to see changes
// by others; only messages of actions and the pages read last are kept between requests.
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { deflateRawSync } from "node:zlib";
import { type Runtime, randomId, readPageScript, sha256 } from "../app/conversation/runtime.ts";
import type { BranchTree } from "../app/conversation/tree.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../app/conversation/workspace.ts";
import { readAnatomy } from "../app/look/anatomy.ts";
import { readCompactionPage } from "../app/look/compaction-page.ts";
import { readComparePage } from "../app/look/conversation-page.ts";
import { listConversations } from "../app/look/list.ts";
import { createPageReader, type PageReader, type ServeRequest } from "../app/look/page-reader.ts";
import { searchConversations } from "../app/look/search.ts";
import { resolveWhole, resolveWholeTree } from "../app/names/resolve-id.ts";
import { describeLeftOut, type MaskedPageRequest, readMaskedPage, type StaticPage } from "../app/share/masked-page.ts";
import { codeOf, JpgError, messageOf, reasonOf, userError } from "../core/errors.ts";
import { ACTIONS, PARTS, type PageAnswer, type Redirect, type Route, readStyle } from "./actions.ts";
import { renderConfirmPage } from "./pages/actions.ts";
import { renderCompactionPage } from "./pages/compaction.ts";
import { renderComparePage } from "./pages/compare.ts";
import { renderPage } from "./pages/conversation.ts";
import type { Action, OwnText, Place } from "./pages/document.ts";
import { renderListPage } from "./pages/list.ts";
import { renderAnatomyPage } from "./pages/timeline.ts";
import { type Notice, renderNotice } from "./pages/turn-extras.ts";
import { wholePage } from "./pages/turns.ts";

/** Most bytes of a form. */
const MOST_FORM_BYTES = 64 * 1024;
/** Milliseconds after which a slow client is disconnected, so that nobody can keep connections busy. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 } as const;
/** Most actions whose messages wait to be shown by a page; the oldest are dropped. */
const MOST_SAID = 100;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // With "no-referrer" a browser would send forms with `Origin: null`.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
} as const;

/** Serves until the signal aborts. Throws `port_taken`, `bad_host`, and what opening the store throws. */
export async function servePages(request: ServeRequest): Promise<void> {
  const { runtime, options, host, port, signal } = request;
  // A store that cannot be opened is reported here, not on a page.
  await (await openWorkspace(runtime, options)).close();
  const server = createServer(TIMES);
  await listen(server, { host, port });
  const bound = server.address();
  const at = typeof bound === "object" && bound !== null ? bound.port : port;
  const readOnly = !LOOPBACK.has(host);
  const token = randomId(runtime, 32);
  const shown = host.includes(":") ? `[${host}]` : host;
  const access = new AccessControl({
    hosts: [...new Set([shown, ...(readOnly ? [] : ["127.0.0.1", "localhost", "[::1]"])])].map(
      (name) => `${name}:${at}`,
    ),
    cookieName: `jpg-${at}`,
    folder: randomId(runtime, 16),
    secret: randomId(runtime, 32),
    token,
  });
  const said = new Map<string, readonly string[]>();
  const context: ServeContext = { runtime, options, access, said, readOnly, pages: createPageReader() };
  server.on("request", (incoming, response) => void answer(context, incoming, response));
  const page = request.branch === undefined ? "" : `c/${encodeURIComponent(request.branch)}`;
  request.onListening({ address: `http://${shown}:${at}${access.folder}/${page}?token=${token}`, readOnly });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

interface ServeContext {
  readonly runtime: Runtime;
  readonly options: WorkspaceOptions;
  readonly access: AccessControl;
  /** Messages of actions that no page has shown yet, by the random name in the address of the page that will. */
  readonly said: Map<string, readonly string[]>;
  readonly readOnly: boolean;
  readonly pages: PageReader;
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const code = codeOf(error);
      if (code === "EADDRINUSE" || code === "EACCES")
        reject(
          userError("port_taken", `Port ${port} of ${host} ${code === "EACCES" ? "may not be used" : "is taken"}.`, {
            hints: ["Name another with --port, or leave it out to use any free one."],
          }),
        );
      else
        reject(
          userError("bad_host", `${host} is not an address that this machine can listen on: ${reasonOf(error)}.`, {
            hints: ["Leave --host out to listen for this machine only; 0.0.0.0 means every address it has."],
          }),
        );
    });
    server.listen(port, host, resolve);
  });
}

async function answer(context: ServeContext, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { access } = context;
  let form = new URLSearchParams();
  try {
    const { host, origin, cookie } = incoming.headers;
    const admission = access.admit({ method: incoming.method ?? "", url: incoming.url ?? "/", host, origin, cookie });
    if (admission.kind !== "in") return admit(context, response, admission);
    const { path, query } = readAddress(admission.url);
    const method = incoming.method === "HEAD" ? "GET" : incoming.method;
    const here = ROUTES.filter((candidate) => candidate.path.test(path));
    const route = here.find((candidate) => candidate.method === method);
    if (route === undefined && here.length > 0) return notAllowed(context, response, here);
    if (route === undefined)
      return notice(context, response, 404, { title: "Not here", lines: [`Nothing is at ${path}.`] });
    if (route.method === "POST" && context.readOnly)
      return notice(context, response, 403, {
        title: "Not from here",
        lines: ["This server is open to other machines: nothing can be changed."],
      });
    const name = query.get("said") ?? "";
    const said = context.said.get(name) ?? [];
    context.said.delete(name);
    const place: Place = { kind: "served", readOnly: context.readOnly, said };
    if (route.method === "POST") form = new URLSearchParams(await readForm(incoming));
    send(context, response, await run(context, route, { path, query, form, place }));
  } catch (error) {
    fail(context, response, error, form);
  }
}

function notAllowed(context: ServeContext, response: ServerResponse, here: readonly Route[]): void {
  response.setHeader("allow", here.map(({ method }) => (method === "GET" ? "GET, HEAD" : method)).join(", "));
  notice(context, response, 405, { title: "Not allowed", lines: ["This page cannot be requested that way."] });
}

function admit(context: ServeContext, response: ServerResponse, admission: Exclude<Admission, { kind: "in" }>): void {
  if (admission.kind === "refused") refuse(response, admission);
  else response.writeHead(303, { ...HEADERS, location: admission.path, "set-cookie": context.access.cookie }).end();
}

interface RequestParts {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly place: Place;
}

async function run(
  { runtime, options, pages }: ServeContext,
  route: Route,
  { path, query, form, place }: RequestParts,
): Promise<PageAnswer | Redirect> {
  const names = (route.path.exec(path) ?? []).slice(1).map(decodeName);
  let workspace: Workspace | undefined;
  try {
    workspace = await openWorkspace(runtime, options);
    return await route.run({ workspace, pages, names, query, form, place });
  } finally {
    await workspace?.close();
  }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw userError("bad_address", `${name} in the address is not what jpg wrote.`);
  }
}

function send(context: ServeContext, response: ServerResponse, answered: PageAnswer | Redirect): void {
  if ("body" in answered) {
    const body = answered.type === "text/html" ? insideFolder(context.access, answered.body) : answered.body;
    response.writeHead(200, { ...HEADERS, "content-type": `${answered.type}; charset=utf-8` }).end(body);
    return;
  }
  const name = randomId(context.runtime, 12);
  context.said.set(name, answered.said);
  for (const oldest of [...context.said.keys()].slice(0, -MOST_SAID)) context.said.delete(oldest);
  const [address = "", anchor] = answered.address.split("#");
  const location = `${address}${address.includes("?") ? "&" : "?"}said=${name}${anchor === undefined ? "" : `#${anchor}`}`;
  response.writeHead(303, { ...HEADERS, location: `${context.access.folder}${location}` }).end();
}

/** Puts the secret folder before the paths of this server in a page. Only jpg's own markup matches: quotes in texts are escaped. */
function insideFolder({ folder }: AccessControl, body: string): string {
  return body.replace(/(\s(?:href|src|action|formaction|data-[a-z]+)=")\/(?!\/)/g, `$1${folder}/`);
}

const STATUS: Readonly<Record<string, number>> = {
  user: 400,
  config: 500,
  repository: 500,
  provider: 502,
  internal: 500,
};

/** Reports what failed, with the text that the user wrote: a reloaded page would have lost it. */
function fail(context: ServeContext, response: ServerResponse, error: unknown, form: URLSearchParams): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known = error instanceof JpgError;
  const status = known ? (error.code.startsWith("unknown_") ? 404 : (STATUS[error.kind] ?? 500)) : 500;
  const written = form.get("text") ?? form.get("title") ?? "";
  notice(context, response, status, {
    title: "That did not work",
    lines: [messageOf(error)],
    hints: known ? error.hints : [],
    ...(written === "" ? {} : { written }),
  });
}

function notice({ access }: ServeContext, response: ServerResponse, status: number, said: Notice): void {
  respond(response, status, insideFolder(access, renderNotice(said, { kind: "served", readOnly: true })));
}

/** Refuses a request without revealing the folder. */
function refuse(response: ServerResponse, { status, why, hint }: Extract<Admission, { kind: "refused" }>): void {
  const said = { title: "Not here", lines: [why], hints: [hint] };
  respond(response, status, renderNotice(said, { kind: "served", readOnly: true }));
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { ...HEADERS, "content-type": "text/html; charset=utf-8" }).end(body);
}

async function readForm(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_FORM_BYTES) throw userError("long_form", `A form has at most ${MOST_FORM_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

// Access control. Any web page in a browser can send requests to this machine (DNS rebinding, forged requests). So `Host` must name
// this server, changes must come from its own pages, and each request needs a cookie that only the printed address sets, once.
// Cookies ignore ports: a browser would send it to another user's server on this machine. So all pages are below a secret folder,
// and the cookie is for that folder alone.

/** The parts of a request that decide on access. */
export interface AccessRequest {
  readonly method: string;
  /** The address without host: path and query. */
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
}

/** `in`: admitted, with the address inside the folder. `enter`: came by the printed address; gets the cookie and a redirect to `path`. */
export type Admission =
  | { readonly kind: "in"; readonly url: string }
  | { readonly kind: "enter"; readonly path: string }
  | { readonly kind: "refused"; readonly status: 403 | 421; readonly why: string; readonly hint: string };

export interface AccessOptions {
  /** Names and addresses that this server goes by, with their port, e.g. `127.0.0.1:4747`. */
  readonly hosts: readonly string[];
  readonly cookieName: string;
  /** `folder`, `secret` and `token` are random secrets; `folder` is the first part of every path. */
  readonly folder: string;
  readonly secret: string;
  readonly token: string;
}

/** Admits or refuses requests. The token works once. */
export class AccessControl {
  readonly #options: AccessOptions;
  #isTokenUsed = false;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Value of the header `set-cookie`. */
  get cookie(): string {
    const { cookieName, secret } = this.#options;
    return `${cookieName}=${secret}; Path=${this.folder}/; HttpOnly; SameSite=Strict`;
  }

  /** The folder that all paths begin with, without a slash at its end. */
  get folder(): string {
    return `/${this.#options.folder}`;
  }

  admit({ method, url, host, origin, cookie }: AccessRequest): Admission {
    const { hosts, cookieName, secret, token } = this.#options;
    if (host === undefined || !hosts.includes(host.toLowerCase()))
      return refused(
        421,
        `This server is not ${host ?? "without a name"}.`,
        "Open the address that jpg serve printed.",
      );
    if (method !== "GET" && method !== "HEAD" && origin !== `http://${host}`)
      return refused(403, "Changes can only be made from a page of this server.", "Do it on the page itself.");
    const isInside = isSame(url.slice(0, this.folder.length + 1), `${this.folder}/`);
    if (isInside && readCookies(cookie).some(([name, value]) => name === cookieName && isSame(value, secret)))
      return { kind: "in", url: url.slice(this.folder.length) };
    const { path, query } = readAddress(url);
    const given = query.get("token");
    if (!isInside || given === null || !isSame(given, token))
      return refused(
        403,
        "This page is only for the person who started jpg serve.",
        "Open the address that jpg serve printed.",
      );
    if (this.#isTokenUsed)
      return refused(
        403,
        "This address has already been opened, and it works only once.",
        "Go back to that browser, or start jpg serve again.",
      );
    this.#isTokenUsed = true;
    return { kind: "enter", path };
  }
}

/** Parses the address of a request: a path, which begins with one slash, and the query after it. */
export function readAddress(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  return { path: `/${path.replace(/^[/\\]+/, "")}`, query: new URLSearchParams(at < 0 ? "" : url.slice(at)) };
}

function refused(status: 403 | 421, why: string, hint: string): Admission {
  return { kind: "refused", status, why, hint };
}

function readCookies(header = ""): readonly (readonly [string, string])[] {
  return header.split(";").map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}

// The routes: each calls `app` in a few lines.

const page = (body: string): PageAnswer => ({ type: "text/html", body });

export const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: /^\/$/,
    run: async ({ workspace, place, query }) => {
      const { rows } = await listConversations(workspace, { all: true });
      const words = query.get("words")?.trim() ?? "";
      const search = { pattern: words, ignoreCase: true, limit: 50 };
      const found = words === "" ? null : await searchConversations(workspace, search);
      return page(renderListPage({ rows, words, found, now: workspace.runtime.now() }, place));
    },
  },
  {
    method: "GET",
    path: /^\/page\.css$/,
    run: async () => ({ type: "text/css", body: await readStyle() }),
  },
  {
    method: "GET",
    path: /^\/page\.js$/,
    run: async () => ({ type: "text/javascript", body: await readPageScript() }),
  },
  {
    method: "GET",
    path: /^\/state$/,
    run: async ({ workspace }) => ({ type: "application/json", body: JSON.stringify(await readState(workspace)) }),
  },
  ...PARTS,
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/compaction\/([^/]+)$/,
    run: async ({ workspace, names: [branch = "", compaction = ""], place }) => {
      const tree = await resolveWholeTree(workspace, branch);
      return page(renderCompactionPage(branch, await readCompactionPage(workspace, tree, compaction), place));
    },
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/compare\/([^/]+)$/,
    run: async ({ workspace, names: [left = "", right = ""], place }) =>
      page(renderComparePage(await readComparePage(workspace, left, right), place)),
  },
  {
    method: "GET",
    path: /^\/c\/([^/]+)\/anatomy$/,
    run: async ({ workspace, names: [branch = ""], place }) =>
      page(renderAnatomyPage(await readAnatomy(workspace, await resolveWholeTree(workspace, branch)), place)),
  },
  ...(Object.keys(ACTIONS) as Action[]).map(
    (action): Route => ({
      method: "POST",
      path: new RegExp(`^/c/([^/]+)/${action}$`),
      run: async ({ workspace, names: [branch = ""], form, place }) => {
        const outcome = await ACTIONS[action](workspace, await resolveWhole(workspace, branch), form);
        return "confirm" in outcome ? page(renderConfirmPage(branch, outcome.confirm, place)) : outcome;
      },
    }),
  ),
];

/** Returns the tips of all branches, by which a page knows whether it is up to date. */
async function readState({ store }: Workspace): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await store.listBranches()).map(({ name, commit }) => [name, commit]));
}

/** Renders a branch as an HTML document that says what it leaves out. Throws `redact_incomplete`. */
export async function renderStaticPage(
  workspace: Workspace,
  tree: BranchTree,
  request: MaskedPageRequest,
): Promise<StaticPage> {
  const { page, report } = await readMaskedPage(workspace, tree, request);
  const [css, script] = await Promise.all([readStyle(), readPageScript()]);
  const place = {
    kind: "file",
    css: ownText(css),
    script: ownText(script),
    pack,
    notes: describeLeftOut(report),
  } as const;
  const html = renderPage(page, place, { parts: wholePage(page), whole: (event) => event });
  return { name: page.conversation, html, report };
}

function ownText(text: string): OwnText {
  return { text, digest: Buffer.from(sha256(text), "hex").toString("base64") };
}

function pack(text: string): string {
  return deflateRawSync(text, { level: 9 }).toString("base64");
}
