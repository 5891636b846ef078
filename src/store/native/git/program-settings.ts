// The settings by which a repository's own configuration would have git start programs, reach others through them, or work
// in another folder. In a store they never count, whoever owns it; the user's own values of them do.
import { defined } from "../../../core/json.ts";
import { type Promisor, promisorsIn } from "./promisors.ts";
import { isOwnSetting, type ScopedSetting } from "./scoped-settings.ts";

/** What is put in the place of a store's own settings. */
export interface SettingsPlan {
  /** Keys that do not count, each once, in the order found. */
  readonly ignored: readonly string[];
  /** The values to set on top, by key. */
  readonly overrides: ReadonlyMap<string, string>;
  /** Whether transports must stay shut: some of these settings are lists that nothing can shorten. */
  readonly isShut: boolean;
  /** Remotes that git would ask, by itself, for objects that are not here. */
  readonly promisors: readonly Promisor[];
  /** Where the worktree is said to be, relative to the git dir; absent = where the store is. */
  readonly worktree?: string;
}

/** What stands for a program where the user names none: git's own default, or what does nothing. First match counts. */
const PROGRAMS: readonly (readonly [key: RegExp, otherwise: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/, ""],
  [/^filter\..*\.required$/, "false"],
  [/^gpg\.(openpgp\.)?program$/, "gpg"],
  [/^gpg\.x509\.program$/, "gpgsm"],
  [/^gpg\.ssh\.program$/, "ssh-keygen"],
  [/^gpg\.ssh\.defaultkeycommand$/, ""],
  [/^diff\..*\.textconv$/, "cat"],
  [/^diff\.(external|.*\.command)$/, ""],
  // Without a program that merges, there is a conflict.
  [/^merge\..*\.driver$/, "false"],
  [/^core\.fsmonitor$/, "false"],
  [/^hook\..*\.command$/, ":"],
  [/^(core|sequence)\.editor$/, ":"],
  [/^(core\.pager|pager\..*)$/, "cat"],
  [/^(alias\..*|interactive\.difffilter|trailer\..*\.(command|cmd)|tar\..*\.command)$/, ""],
  [/^((merge|diff)tool|guitool|man|browser)\..*\.(cmd|path)$/, ""],
  [/^(core\.alternaterefscommand|uploadpack\.packobjectshook|gc\.recentobjectshook)$/, ""],
  [/^submodule\..*\.update$/, "none"],
];

/** Programs and addresses between a store and its remotes. jpg's own git needs no remote, but in a partial clone. */
const TRANSPORT =
  /^(core\.(sshcommand|gitproxy|askpass)|credential\.(.*\.)?helper|remote\..*\.(vcs|uploadpack|receivepack|proxy)|url\..*\.(push)?insteadof|protocol\..*|http\.(.*\.)?(proxy|cookiefile)|(fetch|transfer)\.bundleuri)$/;

/** The one textconv that is jpg's own. */
const JPG_TEXTCONV = "diff.jpg.textconv";

/** Plans what to put in the place of a store's own settings, from all settings that git sees there. */
export function planSettings(settings: readonly ScopedSetting[]): SettingsPlan {
  const users = new Map(
    settings.filter((setting) => !isOwnSetting(setting)).map(({ key, value }) => [sameKey(key), value]),
  );
  const own = [...new Set(settings.filter(isOwnSetting).map(({ key }) => key))].filter((key) => key !== JPG_TEXTCONV);
  const overrides = new Map<string, string>();
  for (const key of own) {
    const otherwise = PROGRAMS.find(([pattern]) => pattern.test(key))?.[1];
    if (otherwise !== undefined) overrides.set(key, users.get(sameKey(key)) ?? otherwise);
  }
  const worktree = settings.findLast((setting) => isOwnSetting(setting) && setting.key === "core.worktree")?.value;
  const shut = own.filter((key) => TRANSPORT.test(key));
  return {
    ignored: own.filter((key) => overrides.has(key) || shut.includes(key)),
    overrides,
    isShut: shut.length > 0,
    promisors: promisorsIn(settings),
    ...defined({ worktree }),
  };
}

/** Two names of one setting. */
function sameKey(key: string): string {
  return key === "gpg.openpgp.program" ? "gpg.program" : key;
}
