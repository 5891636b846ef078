// The commands and where each is loaded from: one dynamic import per command keeps start-up at the cost of what is used.
import type { CommandSpec } from "./command.ts";

type Loader = () => Promise<{ readonly command: CommandSpec }>;

/** Loaders by command name, in the order of help. */
export const COMMANDS: Readonly<Record<string, Loader>> = {
  init: () => import("./commands/init.ts"),
  import: () => import("./commands/import.ts"),
  sync: () => import("./commands/sync.ts"),
  export: () => import("./commands/export.ts"),
  resume: () => import("./commands/resume.ts"),
  ls: () => import("./commands/ls.ts"),
  show: () => import("./commands/show.ts"),
  use: () => import("./commands/use.ts"),
  title: () => import("./commands/title.ts"),
  print: () => import("./commands/print.ts"),
  pin: () => import("./commands/pin.ts"),
  chat: () => import("./commands/chat.ts"),
  query: () => import("./commands/query.ts"),
  compact: () => import("./commands/compact.ts"),
  log: () => import("./commands/log.ts"),
  blame: () => import("./commands/blame.ts"),
  diff: () => import("./commands/diff.ts"),
  revert: () => import("./commands/revert.ts"),
  undo: () => import("./commands/undo.ts"),
  doctor: () => import("./commands/doctor.ts"),
  fsck: () => import("./commands/fsck.ts"),
  check: () => import("./commands/check.ts"),
  fork: () => import("./commands/fork.ts"),
  checkout: () => import("./commands/checkout.ts"),
  stats: () => import("./commands/stats.ts"),
  search: () => import("./commands/search.ts"),
  mcp: () => import("./commands/mcp.ts"),
  config: () => import("./commands/config.ts"),
  trust: () => import("./commands/trust.ts"),
  path: () => import("./commands/path.ts"),
  git: () => import("./commands/git.ts"),
  hook: () => import("./commands/hook.ts"),
  textconv: () => import("./commands/textconv.ts"),
};
