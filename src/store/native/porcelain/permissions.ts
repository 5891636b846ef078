// What simple-git is told to let pass: the user's own environment, and the settings by which jpg keeps git quiet and a store's
// programs from being started. Everything else stays refused.
import type { SimpleGitOptions } from "simple-git";
import type { Environment } from "../../environment.ts";

type Flags = NonNullable<SimpleGitOptions["unsafe"]>;

/** What jpg itself says in every command: `--git-dir`, and the settings and programs of a store. */
const OWN: Flags = {
  allowUnsafeConfigPaths: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeTemplateDir: true,
};

/** What the variables of `guardEnvironment` take from a store that names programs. */
const GUARD: Flags = {
  allowUnsafeConfigEnvCount: true,
  allowUnsafeAlias: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeEditor: true,
  allowUnsafeFilter: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeSubmodule: true,
};

/** Variables by which users name programs of their own. */
const PROGRAMS: readonly (readonly [RegExp, keyof Flags])[] = [
  [/^(visual|editor|git_editor|git_sequence_editor)$/, "allowUnsafeEditor"],
  [/^(git_)?pager$/, "allowUnsafePager"],
  [/^git_ssh(_command)?$/, "allowUnsafeSshCommand"],
  [/^(git|ssh)_askpass$/, "allowUnsafeAskPass"],
  [/^git_exec_path$/, "allowUnsafeExec"],
  [/^git_external_diff$/, "allowUnsafeDiffExternal"],
  [/^git_proxy_command$/, "allowUnsafeGitProxy"],
];

/** The options for a git with this environment; `own` = what of it jpg set itself. */
export function permissionsFor(
  env: Environment,
  own: Environment = {},
): Pick<SimpleGitOptions, "allowEnvironment" | "unsafe"> {
  const names = Object.keys(env);
  const programs = names.flatMap((name) => PROGRAMS.filter(([pattern]) => pattern.test(name.toLowerCase())));
  const unsafe = {
    ...OWN,
    ...("GIT_CONFIG_COUNT" in own ? GUARD : {}),
    ...Object.fromEntries(programs.map(([, flag]) => [flag, true])),
  };
  return { allowEnvironment: names, unsafe };
}
