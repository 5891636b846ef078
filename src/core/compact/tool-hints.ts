// Which parts of a tool's calls are worth keeping when a conversation is compacted: jpg's built-in hints, and how a hint is looked up. A
// hint applies to one tool's calls whatever the profile says; an absent field leaves the choice to the profile.
import { nearestName } from "../errors.ts";

/** How the calls of one tool are compacted. */
export interface ToolCompactionHint {
  readonly request?: "keep" | "strip";
  /** `remove` removes the call together with its result. */
  readonly response?: "keep" | "strip" | "remove";
  /** Whether an older call with equal arguments is a duplicate; absent = yes. */
  readonly dedup?: boolean;
  /** Command line of a program that says whether a later call makes an earlier one obsolete (see shell-read.ts). */
  readonly subsumes?: string;
}

/** Hints by tool name; `*` = every tool without a hint of its own. */
export type ToolCompactionHints = Readonly<Record<string, ToolCompactionHint>>;

/** Asks for something that can be asked for again: the request is short, the answer is not. */
const LOOKUP: ToolCompactionHint = { request: "keep", dedup: true };
/** Runs a command: the command says what was done. */
const RUN: ToolCompactionHint = { request: "keep" };
/** Writes a whole file: the answer is short, and two equal writes are two writes. */
const WRITE: ToolCompactionHint = { response: "keep", dedup: false };
/** Changes something: two equal changes are two changes. */
const CHANGE: ToolCompactionHint = { dedup: false };
/** Changes something, and its short answer contains a name that later calls use. */
const CREATE: ToolCompactionHint = { response: "keep", dedup: false };
/** Reads more output of a running program: an equal call returns the next piece. */
const POLL: ToolCompactionHint = { request: "keep", dedup: false };
/** Asks a person: the answer is nowhere else. */
const ASK: ToolCompactionHint = { request: "keep", response: "keep", dedup: false };
/** Writes the whole plan anew; only the newest of equal ones is useful. */
const PLAN: ToolCompactionHint = { dedup: true };
/** Delegates work to another agent: only its report is in the conversation. */
const DELEGATE: ToolCompactionHint = { response: "keep", dedup: false };
/** Must stay as it is. */
const KEEP: ToolCompactionHint = { request: "keep", response: "keep" };

/**
 * The built-in hints, by tool name: the default values of `conversation.tools.<name>.compaction`. For jp's tools they are the tables of RFD
 * 064 and D17, with `dedup` and further tools from RFD 036. For other tools they never say `strip`: the profile decides what is removed,
 * hints only say what is worth keeping.
 */
export const DEFAULT_TOOL_HINTS: ToolCompactionHints = {
  // jp
  fs_read_file: { request: "keep", response: "strip", dedup: true },
  fs_grep_files: { request: "keep", response: "strip", dedup: true },
  fs_list_files: { request: "keep", response: "strip", dedup: true },
  fs_create_file: { request: "strip", response: "keep", dedup: false },
  fs_modify_file: { request: "strip", response: "strip", dedup: false },
  cargo_check: { request: "keep", response: "strip", dedup: true },
  cargo_test: { request: "keep", response: "strip", dedup: true },
  git_diff: { request: "keep", response: "strip", dedup: true },
  git_commit: { request: "strip", response: "keep", dedup: false },
  learn: KEEP, // knowledge that was asked for (RFD 036, open question)

  // Claude Code
  Read: LOOKUP,
  NotebookRead: LOOKUP,
  Grep: LOOKUP,
  Glob: LOOKUP,
  LS: LOOKUP,
  LSP: LOOKUP,
  WebFetch: LOOKUP,
  WebSearch: LOOKUP,
  ListMcpResourcesTool: LOOKUP,
  ReadMcpResourceTool: LOOKUP,
  Bash: RUN,
  BashOutput: POLL,
  TaskOutput: POLL,
  AgentOutputTool: POLL,
  KillShell: POLL,
  KillBash: POLL,
  TaskStop: POLL,
  Write: WRITE,
  Edit: CHANGE,
  MultiEdit: CHANGE,
  NotebookEdit: CHANGE,
  Task: DELEGATE,
  Agent: DELEGATE,
  TodoWrite: PLAN,
  TaskCreate: CREATE,
  TaskUpdate: POLL, // its arguments are a number and a word
  TaskGet: LOOKUP,
  TaskList: LOOKUP,
  Skill: RUN,
  SlashCommand: RUN,
  ToolSearch: KEEP, // its answer is what makes the tools it found callable
  AskUserQuestion: ASK,
  ExitPlanMode: ASK, // the plan, and what the user said to it

  // Codex
  exec_command: RUN,
  shell: RUN,
  shell_command: RUN,
  local_shell: RUN,
  write_stdin: POLL,
  apply_patch: CHANGE,
  update_plan: PLAN,
  view_image: LOOKUP,
  list_dir: LOOKUP,
  grep_files: LOOKUP,
  web_search: LOOKUP,
  list_mcp_resources: LOOKUP,
  list_mcp_resource_templates: LOOKUP,
  read_mcp_resource: LOOKUP,
  spawn_agent: DELEGATE,
  send_input: CHANGE,
  wait_agent: ASK, // brings the report of an agent
  wait: ASK,
  close_agent: POLL,
  resume_agent: POLL,
  request_user_input: ASK,

  // pi, OpenCode, Copilot
  read: LOOKUP,
  view: LOOKUP,
  grep: LOOKUP,
  rg: LOOKUP,
  glob: LOOKUP,
  find: LOOKUP,
  ls: LOOKUP,
  list: LOOKUP,
  lsp: LOOKUP,
  webfetch: LOOKUP,
  websearch: LOOKUP,
  codesearch: LOOKUP,
  bash: RUN,
  read_bash: POLL,
  write_bash: POLL,
  stop_bash: POLL,
  write: WRITE,
  create: WRITE,
  edit: CHANGE,
  multiedit: CHANGE,
  patch: CHANGE,
  task: DELEGATE,
  todowrite: PLAN,
  todoread: LOOKUP,
  skill: RUN,
  question: ASK,
  plan_exit: ASK,

  // Gemini CLI; read_file is Codex's and Cline's as well
  read_file: LOOKUP,
  read_many_files: LOOKUP,
  list_directory: LOOKUP,
  search_file_content: LOOKUP,
  grep_search: LOOKUP,
  web_fetch: LOOKUP,
  google_web_search: LOOKUP,
  run_shell_command: RUN,
  write_file: WRITE,
  replace: CHANGE,
  save_memory: { request: "keep", dedup: true }, // a sentence to remember
  write_todos: PLAN,
  activate_skill: KEEP, // its answer is the skill's text
  ask_user: ASK,
  exit_plan_mode: ASK,

  // Cline
  read_files: LOOKUP,
  search_files: LOOKUP,
  search_codebase: LOOKUP,
  list_files: LOOKUP,
  execute_command: RUN,
  run_commands: RUN,
  write_to_file: WRITE,
  replace_in_file: CHANGE,
  editor: CHANGE,
  ask_followup_question: ASK,
};

/** Returns the hint of a tool, field by field: its own, else that of `*`, else none. */
export function hintFor(tool: string, hints: ToolCompactionHints): ToolCompactionHint {
  const own = Object.hasOwn(hints, tool) ? hints[tool] : undefined;
  const others = Object.hasOwn(hints, "*") ? hints["*"] : undefined;
  return { ...others, ...own };
}

/** A project may have other MCP servers: a hint for a tool of a server that is not called here is no mistake. */
const SERVER_TOOL = /^mcp__./;

/**
 * Returns a warning for each hint whose tool was not called and is unknown to jpg, in the order given, e.g. `no tool named "Raed" was
 * called; did you mean "Read"?`. `*` is no tool; a tool of an MCP server gets a warning only if a called or known tool has a similar name.
 */
export function warnOfUnknownTools(hinted: Iterable<string>, called: Iterable<string>): readonly string[] {
  const calledNames = new Set(called);
  const names = [...new Set(hinted)].filter(
    (name) => name !== "*" && !calledNames.has(name) && !Object.hasOwn(DEFAULT_TOOL_HINTS, name),
  );
  return names.flatMap((name) => {
    const nearest = nearestName(name, calledNames) ?? nearestName(name, Object.keys(DEFAULT_TOOL_HINTS));
    if (nearest === undefined && SERVER_TOOL.test(name)) return [];
    const suggestion = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
    return [`no tool named ${JSON.stringify(name)} was called${suggestion}`];
  });
}
