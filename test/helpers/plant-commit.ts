// Commits that jpg would not make, for tests of what it says of them: any file at any path, by one git each.
import { git, type TestEnvironment } from "./temp-repository.ts";

/** What stands in a commit besides its files. */
interface Planted {
  /** Of the files, octal; default a plain file's. */
  readonly mode?: string;
  readonly message?: string;
  /** The branch that moves to it; without one none does. */
  readonly branch?: string;
}

/** Commits files (by path; null = removed) on top of a commit of the repository at `cwd`; gives the new one's id. */
export function plantCommit(
  { cwd, env }: { readonly cwd: string; readonly env: TestEnvironment },
  on: string,
  files: Readonly<Record<string, string | null>>,
  { mode = "100644", message = "plant", branch }: Planted = {},
): string {
  const ref = branch === undefined ? "refs/planted" : `refs/heads/${branch}`;
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const commands = [
    `commit ${ref}\nmark :1\ncommitter ${env["GIT_COMMITTER_NAME"]} <${env["GIT_COMMITTER_EMAIL"]}> now\n`,
    data(`${message}\n`),
    `from ${on}^0\n`,
    ...Object.entries(files).map(([path, text]) =>
      text === null ? `D ${path}\n` : `M ${mode} inline ${path}\n${data(text)}`,
    ),
    "\nget-mark :1\n",
    // A ref that is made and removed here is never written.
    ...(branch === undefined ? [`reset ${ref}\nfrom ${"0".repeat(40)}\n`] : []),
  ];
  return git(cwd, env, ["fast-import", "--quiet", "--date-format=now"], commands.join(""));
}
