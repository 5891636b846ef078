// Who may come in. A page of this machine's own can be asked for by any page of the web that a browser shows (DNS rebinding,
// forged requests): the name in `Host` has to be this server's, what changes something has to come from its own pages, and
// whoever asks shows a cookie that only the printed address gives, once. Cookies know no ports: a server of another user on this
// machine would be sent it. So all pages are below a folder that nobody else knows, and the cookie is for that folder alone.
import { timingSafeEqual } from "node:crypto";

/** What a request says of where it comes from. */
export interface Knock {
  readonly method: string;
  /** The address without host: path and query. */
  readonly url: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
}

/** `in`: with the address inside the folder. `enter`: came with the printed address; is given the cookie and sent on to `path`. */
export type Admission =
  | { readonly kind: "in"; readonly url: string }
  | { readonly kind: "enter"; readonly path: string }
  | { readonly kind: "refused"; readonly status: 403 | 421; readonly why: string; readonly hint: string };

export interface DoorOptions {
  /** Names and addresses that this server goes by, with their port, e.g. `127.0.0.1:4747`. */
  readonly hosts: readonly string[];
  readonly cookieName: string;
  /** Secrets, not to be guessed; `folder` is the first part of every path. */
  readonly folder: string;
  readonly secret: string;
  readonly token: string;
}

/** Lets in and keeps out; its token counts once. */
export class Door {
  readonly #options: DoorOptions;
  #isTokenUsed = false;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  /** The value of the header that gives the cookie. */
  get cookie(): string {
    const { cookieName, secret } = this.#options;
    return `${cookieName}=${secret}; Path=${this.folder}/; HttpOnly; SameSite=Strict`;
  }

  /** What all paths begin with, without the slash at its end. */
  get folder(): string {
    return `/${this.#options.folder}`;
  }

  admit({ method, url, host, origin, cookie }: Knock): Admission {
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

/** Reads what a request asks for: a path of this server, which begins with one slash, and the query behind it. */
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
