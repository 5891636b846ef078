// `jpg serve` in the process of the tests, over a sandbox's store, and who asks it as a browser does.
import { request } from "node:http";
import { servePages } from "../../src/web/serve.ts";
import { createUserRuntime } from "./run-in-process.ts";
import type { Sandbox } from "./run-jpg.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface ServedPages {
  /** The address that is printed, with its token. */
  readonly address: string;
  /** The same without token and the slash at its end: what every page is below. */
  readonly origin: string;
  /** The path of it: the secret part of all addresses, which is left out of paths here and of what is answered. */
  readonly folder: string;
  readonly readOnly: boolean;
  /** Asks for a path, with the cookie, or sends a form as the page itself does. */
  ask(path: string, options?: AskOptions): Promise<Reply>;
  close(): Promise<void>;
}

export interface AskOptions {
  /** Asks for the path as it is, not inside the folder. */
  readonly outside?: boolean;
  readonly form?: Readonly<Record<string, string>>;
  /** In place of what a browser would send. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts serving; `enter` = with the cookie that the printed address gives (default), which uses it up. */
export async function servePagesOf(
  { project, env }: Pick<Sandbox, "project" | "env">,
  { host = "127.0.0.1", enter = true }: { readonly host?: string; readonly enter?: boolean } = {},
): Promise<ServedPages> {
  const ending = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  const { address, readOnly } = await new Promise<{ address: string; readOnly: boolean }>((resolve, reject) => {
    const runtime = createUserRuntime(project, env);
    ended = servePages({ runtime, options: {}, port: 0, host, signal: ending.signal, onListening: resolve });
    ended.catch(reject);
  });
  const { origin, pathname, search } = new URL(address.replace("0.0.0.0", "127.0.0.1"));
  const folder = pathname.replace(/\/$/, "");
  const named = new URL(address).host;
  let cookie = "";
  const ask: ServedPages["ask"] = async (path, { form, headers = {}, outside = false } = {}) => {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const own = { host: named, ...(cookie === "" ? {} : { cookie }) };
    const sent: Readonly<Record<string, string>> =
      body === undefined ? {} : { origin: `http://${named}`, "content-type": "application/x-www-form-urlencoded" };
    const url = `${origin}${outside || path.startsWith(`${folder}/`) ? "" : folder}${path}`;
    const method = body === undefined ? "GET" : "POST";
    const reply = await exchange(url, { method, headers: { ...own, ...sent, ...headers }, body });
    const { location } = reply.headers;
    return {
      ...reply,
      headers: {
        ...reply.headers,
        ...(location === undefined ? {} : { location: String(location).replace(folder, "") }),
      },
      body: outside ? reply.body : reply.body.replaceAll(`"${folder}/`, '"/'),
    };
  };
  if (enter) {
    const entered = await ask(`${pathname}${search}`);
    cookie = String(entered.headers["set-cookie"]).split(";")[0] ?? "";
  }
  return {
    address,
    origin: `${origin}${folder}`,
    folder,
    readOnly,
    ask,
    async close() {
      ending.abort();
      await ended;
    },
  };
}

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** `fetch` does not let one say the headers that matter here. */
function exchange(url: string, { method, headers, body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers }, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
