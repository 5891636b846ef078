// The well-known tools of agents: what kind each is, and which arguments name its file and its lines. Facts about other
// people's tools, by the name they have in a conversation; one name may belong to several agents.

/** What a call does. `read`, `write` and `edit` concern files that it names. */
export type CallKind = "read" | "write" | "edit" | "search" | "list" | "shell" | "other";

/**
 * How a read says which lines: `offset` and `limit` counted from 1 or from 0, `start_line` and `end_line`, or a pair
 * `view_range`; the latter two counted from 1, inclusive.
 */
export type LineArguments = "offset-from-1" | "offset-from-0" | "start-end" | "view-range";

export interface KnownTool {
  readonly kind: CallKind;
  /** Keys of the argument that holds the path, the first present counts. */
  readonly path?: readonly string[];
  /** The forms it takes; the first whose arguments are present counts. */
  readonly lines?: readonly LineArguments[];
  /** Lines that it shows when the call names no end; absent = all. */
  readonly limit?: number;
  /** Arguments that narrow a read in another way than by lines. */
  readonly parts?: readonly string[];
}

const NO_TOOL: KnownTool = { kind: "other" };

/** What the readers of Claude Code, pi, OpenCode, Codex and Gemini CLI show without a limit, lines. */
const USUAL_LIMIT = 2000;

const KNOWN_TOOLS: Readonly<Record<string, KnownTool>> = {
  // jp
  fs_read_file: { kind: "read", path: ["path"], lines: ["start-end"] },
  fs_create_file: { kind: "write", path: ["path"] },
  fs_modify_file: { kind: "edit", path: ["path"] },
  fs_grep_files: { kind: "search" },
  fs_list_files: { kind: "list" },

  // Claude Code
  Read: {
    kind: "read",
    path: ["file_path"],
    lines: ["offset-from-1"],
    limit: USUAL_LIMIT,
    parts: ["pages"],
  },
  NotebookRead: { kind: "read", path: ["notebook_path"], parts: ["cell_id"] },
  Write: { kind: "write", path: ["file_path"] },
  Edit: { kind: "edit", path: ["file_path"] },
  MultiEdit: { kind: "edit", path: ["file_path"] },
  NotebookEdit: { kind: "edit", path: ["notebook_path"] },
  Grep: { kind: "search", path: ["path"] },
  Glob: { kind: "list", path: ["path"] },
  LS: { kind: "list", path: ["path"] },
  Bash: { kind: "shell" },

  // Codex
  exec_command: { kind: "shell" },
  shell: { kind: "shell" },
  shell_command: { kind: "shell" },
  local_shell: { kind: "shell" },
  apply_patch: { kind: "edit" },
  list_dir: { kind: "list", path: ["dir_path"] },
  grep_files: { kind: "search", path: ["path"] },

  // pi, OpenCode, Copilot
  read: { kind: "read", path: ["path", "filePath"], lines: ["offset-from-1"], limit: USUAL_LIMIT },
  view: { kind: "read", path: ["path"], lines: ["view-range"] },
  write: { kind: "write", path: ["path", "filePath"] },
  create: { kind: "write", path: ["path"] },
  edit: { kind: "edit", path: ["path", "filePath"] },
  multiedit: { kind: "edit", path: ["filePath"] },
  patch: { kind: "edit" },
  grep: { kind: "search", path: ["path"] },
  rg: { kind: "search", path: ["path"] },
  glob: { kind: "list", path: ["path"] },
  find: { kind: "list", path: ["path"] },
  ls: { kind: "list", path: ["path"] },
  list: { kind: "list", path: ["path"] },
  bash: { kind: "shell" },

  // Gemini CLI; read_file is Codex's (counted from 1, which only shifts all its reads) and Cline's as well
  read_file: {
    kind: "read",
    path: ["file_path", "absolute_path", "path"],
    lines: ["start-end", "offset-from-0"],
    limit: USUAL_LIMIT,
  },
  write_file: { kind: "write", path: ["file_path"] },
  replace: { kind: "edit", path: ["file_path"] },
  list_directory: { kind: "list", path: ["dir_path", "path"] },
  search_file_content: { kind: "search", path: ["dir_path", "path"] },
  grep_search: { kind: "search", path: ["dir_path", "path"] },
  run_shell_command: { kind: "shell" },

  // Cline
  write_to_file: { kind: "write", path: ["path"] },
  replace_in_file: { kind: "edit", path: ["path"] },
  editor: { kind: "edit", path: ["path"] },
  search_files: { kind: "search", path: ["path"] },
  list_files: { kind: "list", path: ["path"] },
  execute_command: { kind: "shell" },
  run_commands: { kind: "shell" },
};

/** Finds what is known of a tool; one that nobody knows is of the kind `other`. */
export function findKnownTool(name: string): KnownTool {
  return (Object.hasOwn(KNOWN_TOOLS, name) ? KNOWN_TOOLS[name] : undefined) ?? NO_TOOL;
}
