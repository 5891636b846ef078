// Addresses and names of remotes, from any source: a store's own configuration, a command line. Refuses what would make git
// start a program or be read as an option; shows no passwords.
import { userError } from "./errors.ts";

/** How conversations are published on a remote: as branches that everybody sees, or as refs that no branch list and no clone shows. */
export type PublishedAs = "branches" | "hidden";

/** The protocols that git speaks itself. `ext::`, `fd::` and the like start programs. */
const SCHEMES = /^(https?|ssh|git|file|git\+ssh|ssh\+git):\/\//i;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Checks the name of a remote: letters, digits, `-` and `_`, at most 64 characters. Throws `bad_remote_name`. */
export function checkRemoteName(name: string): string {
  if (NAME.test(name)) return name;
  throw userError("bad_remote_name", `${JSON.stringify(name)} cannot name a remote.`, {
    hints: ["Use up to 64 letters, digits, - and _, beginning with a letter or digit: origin, team."],
  });
}

/** Checks an address: a URL (https, http, ssh, git, file), `user@host:path`, or a path. Throws `bad_remote_url`. */
export function checkRemoteUrl(url: string): string {
  const problem = problemOf(url);
  if (problem === null) return url;
  throw userError(
    "bad_remote_url",
    `${JSON.stringify(shownUrl(url))} is not an address that jpg can use: ${problem}.`,
    {
      hints: ["Give one as you would to git: https://HOST/PATH, ssh://HOST/PATH, USER@HOST:PATH, or a folder."],
    },
  );
}

function problemOf(url: string): string | null {
  if (url.trim() === "") return "it is empty";
  if (/\p{Cc}/u.test(url)) return "it holds a control character";
  if (url.startsWith("-")) return "it begins with a hyphen, like an option";
  if (/^[A-Za-z0-9+.-]*::/.test(url)) return "it names a program that git would start";
  if (/^[A-Za-z0-9+.-]+:\/\//.test(url) && !SCHEMES.test(url)) return "git has no such protocol";
  // ssh reads a host that begins with a hyphen as an option.
  if (/^(?:[^/]*@)?-|:\/\/(?:[^/]*@)?-/.test(url)) return "its host begins with a hyphen";
  return null;
}

/** Whether an address is a folder of this machine, not a URL and not `host:path`. */
export function isLocalPath(url: string): boolean {
  return !/^[A-Za-z0-9+.-]+:\/\//.test(url) && !/^[^/\\]{2,}:/.test(url);
}

/** An address for display: without what may be a password or a token. */
export function shownUrl(url: string): string {
  return withoutSecrets(url.replace(/^(https?:\/\/[^?#]*)[?#].*$/i, "$1?***"));
}

/** Removes users and passwords from the URLs in a text, e.g. git's output; they end at the last `@` before the path. */
export function withoutSecrets(text: string): string {
  return text
    .replace(/\b(https?|git|file):\/\/[^\s/]+@/gi, "$1://***@")
    .replace(/\b((?:git\+)?ssh(?:\+git)?:\/\/[^\s/@:]+):[^\s/]+@/gi, "$1:***@");
}

/** Whether two addresses name one repository, whatever the protocol and the user: `git@host:a/b.git`, `https://host/a/b`. */
export function isSameRepository(one: string, other: string): boolean {
  return placeOf(one) === placeOf(other);
}

function placeOf(url: string): string {
  const plain = url.replace(/^[a-z+]+:\/\//i, "").replace(/^[^/@]*@/, "");
  const [, host = "", path = ""] = /^([^/:]*)(?::\d+)?[:/](.*)$/.exec(plain) ?? ["", "", plain];
  return `${host.toLowerCase()}/${path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")}`;
}

/** The default folder of a clone: the last part of the address, without `.git`. */
export function repositoryName(url: string): string {
  const name =
    url
      .replace(/[?#].*$/, "")
      .replace(/[/\\]+$/, "")
      .replace(/\.git$/i, "")
      .split(/[/\\:]/)
      .at(-1) ?? "";
  return /^[\p{L}\p{N}_][\p{L}\p{N}._ -]*$/u.test(name) ? name : "conversations";
}
