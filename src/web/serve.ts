// `jpg serve`: pages over the store, for the browser of who started it. Each request opens the store anew, so that what others do
// meanwhile is seen; what is kept in between is what the last action said, and the pages that were read last.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type Runtime, randomId } from "../app/conversation/runtime.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../app/conversation/workspace.ts";
import { createPageReader, type PageReader, type ServeRequest } from "../app/look/page-reader.ts";
import { codeOf, JpgError, messageOf, reasonOf, userError } from "../core/errors.ts";
import { type Admission, Door, readAddress } from "./door.ts";
import type { PageAnswer, Route, SentOn } from "./exchange.ts";
import type { Place } from "./pages/document.ts";
import { type Notice, renderNotice } from "./pages/render-notice.ts";
import { ROUTES } from "./routes.ts";

/** Most bytes of a form. */
const MOST_FORM_BYTES = 64 * 1024;
/** Milliseconds: who sends slower than this is hung up on, so that nobody keeps connections busy. */
const TIMES = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 } as const;
/** Actions whose words no page has shown yet, at most: of more the oldest are forgotten. */
const MOST_SAID = 100;
const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // With "no-referrer" a browser would not say where a form comes from either.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
} as const;

/** Serves until it is ended. Throws `port_taken`, `bad_host`, and what opening the store throws. */
export async function servePages(request: ServeRequest): Promise<void> {
  const { runtime, options, host, port, signal } = request;
  // A store that cannot be opened is said here, not on a page.
  await (await openWorkspace(runtime, options)).close();
  const server = createServer(TIMES);
  await listen(server, { host, port });
  const bound = server.address();
  const at = typeof bound === "object" && bound !== null ? bound.port : port;
  const readOnly = !LOOPBACK.has(host);
  const token = randomId(runtime, 32);
  const shown = host.includes(":") ? `[${host}]` : host;
  const door = new Door({
    hosts: [...new Set([shown, ...(readOnly ? [] : ["127.0.0.1", "localhost", "[::1]"])])].map(
      (name) => `${name}:${at}`,
    ),
    cookieName: `jpg-${at}`,
    folder: randomId(runtime, 16),
    secret: randomId(runtime, 32),
    token,
  });
  const said = new Map<string, readonly string[]>();
  const context: ServeContext = { runtime, options, door, said, readOnly, pages: createPageReader() };
  server.on("request", (incoming, response) => void answer(context, incoming, response));
  request.onListening({ address: `http://${shown}:${at}${door.folder}/?token=${token}`, readOnly });
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
  readonly door: Door;
  /** What actions said that no page has shown yet, by a name in the address. */
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
  const { door } = context;
  let form = new URLSearchParams();
  try {
    const { host, origin, cookie } = incoming.headers;
    const admission = door.admit({ method: incoming.method ?? "", url: incoming.url ?? "/", host, origin, cookie });
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
  notice(context, response, 405, { title: "Not so", lines: ["This page cannot be requested that way."] });
}

function admit(context: ServeContext, response: ServerResponse, admission: Exclude<Admission, { kind: "in" }>): void {
  if (admission.kind === "refused") refuse(response, admission);
  else response.writeHead(303, { ...HEADERS, location: admission.path, "set-cookie": context.door.cookie }).end();
}

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly place: Place;
}

async function run(
  { runtime, options, pages }: ServeContext,
  route: Route,
  { path, query, form, place }: Asked,
): Promise<PageAnswer | SentOn> {
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

function send(context: ServeContext, response: ServerResponse, answered: PageAnswer | SentOn): void {
  if ("body" in answered) {
    const body = answered.type === "text/html" ? insideFolder(context.door, answered.body) : answered.body;
    response.writeHead(200, { ...HEADERS, "content-type": `${answered.type}; charset=utf-8` }).end(body);
    return;
  }
  const name = randomId(context.runtime, 12);
  context.said.set(name, answered.said);
  for (const oldest of [...context.said.keys()].slice(0, -MOST_SAID)) context.said.delete(oldest);
  const [address = "", anchor] = answered.address.split("#");
  const location = `${address}${address.includes("?") ? "&" : "?"}said=${name}${anchor === undefined ? "" : `#${anchor}`}`;
  response.writeHead(303, { ...HEADERS, location: `${context.door.folder}${location}` }).end();
}

/** Pages name paths of this server from its root. Only jpg's own markup has a quote: that of a text is escaped. */
function insideFolder({ folder }: Door, body: string): string {
  return body.replace(/(\s(?:href|src|action|formaction|data-[a-z]+)=")\/(?!\/)/g, `$1${folder}/`);
}

const STATUS: Readonly<Record<string, number>> = {
  user: 400,
  config: 500,
  repository: 500,
  provider: 502,
  internal: 500,
};

/** Says what failed. What somebody wrote is given back with it: a page that comes again has not got it. */
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

function notice({ door }: ServeContext, response: ServerResponse, status: number, said: Notice): void {
  respond(response, status, insideFolder(door, renderNotice(said, { kind: "served", readOnly: true })));
}

/** Who was not let in is not told the folder. */
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
