// What each command is for, in one line: the list of all commands, and what a wrong name was meant for, are said without loading
// the hundred files that the commands themselves are in. It imports nothing, so that `jpg --help` answers at once. A test holds it
// to what the commands say of themselves.

/** Summaries by command name, in the order of help; commands that people do not call are left out. */
export const COMMAND_SUMMARIES: Readonly<Record<string, string>> = {
  status: "show what is here, and what to type next",
  init: "create this project's conversation store, or a repository of its own",
  import: "import agents' sessions",
  sync: "import sessions as they grow, and compact those that become too large",
  hooks: "have agents keep their sessions with jpg, and use its tools",
  export: "write a conversation in another format, or its imported bytes",
  resume: "hand a conversation back to its agent",
  ls: "list conversations with turns, tokens, compactions and forks",
  show: "show a conversation, a compaction with what it hid, or an event",
  use: "make a conversation the active one (@)",
  title: "show a conversation's title, or give it a new one",
  label: "add labels to a conversation; without any, list them",
  rm: "remove a conversation or a fork, or bring it back",
  purge: "delete a conversation or a fork for good",
  archive: "hide a conversation from the list; nothing else changes",
  unarchive: "list an archived conversation again",
  print: "print a conversation: everything that was said, or the view",
  pin: "protect a turn or an event from compactions; without one, list what is pinned",
  chat: "talk to a model in a conversation",
  query: "ask a model; the answer becomes a turn of the conversation",
  compact: "shorten what the model sees, without losing anything",
  edit: "edit what the model sees as a list in your editor, as in git rebase -i",
  log: "show the history of compactions and reverts",
  blame: "show which compaction changed an event, when, by whom, and what the model sees instead",
  trace: "tell who said something first: somebody in the conversation, or a summary",
  diff: "show what the model sees before and after a compaction",
  revert: "undo compactions; reverting a revert redoes one",
  undo: "undo the newest live compaction",
  merge: "tell a conversation, in one turn, what was done on a fork of it",
  "cherry-pick": "apply a compaction of one fork to another",
  doctor: "check the store's surroundings, and repair what can be repaired",
  fsck: "check that everything stored is complete and consistent",
  scan: "find secrets in session files, without importing them",
  check: "check a conversation, a session file or a request against providers' rules",
  fork: "make a new branch that shares the history",
  checkout: "check out a conversation into a worktree that shows its view",
  stats: "show sizes and token counts, of everything and of the view",
  remote: "add, list or forget places to share conversations",
  review: "show what a fork would change for the model where it was merged",
  push: "send conversations to a remote",
  fetch: "download what a remote has; your own branches stay as they are",
  pull: "bring in what others pushed to a remote",
  clone: "make a store of the conversations at an address",
  local: "keep a conversation on this machine; without one, list those that are",
  redact: "make a copy of a conversation in which secrets are masked",
  share: "hand a conversation over as one file",
  search: "find events by their text, including hidden ones",
  serve: "look at conversations in a browser",
  mcp: "serve jpg's tools to an agent, over MCP on standard input and output",
  config: "show settings and where they come from",
  trust: "allow this project's settings to name programs, addresses and models, and to spend",
  path: "print where the store is, or where a conversation is checked out",
  completion: "print a shell's completion script",
  git: "run git in the store",
};

/** The text of `jpg --help`. */
export function renderHelp(): string {
  const commands = Object.entries(COMMAND_SUMMARIES);
  const width = Math.max(...commands.map(([name]) => name.length));
  return [
    "jpg: version control for AI conversations",
    "",
    "Usage: jpg <command> [arguments]    (also: jpg conversation <command>, jpg c <command>)",
    "",
    "Commands:",
    ...commands.map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`),
    "",
    "The main loop: jpg import, jpg compact, jpg diff, jpg resume --with AGENT, work, jpg import again.",
    "`jpg <command> --help` explains a command. ID names a conversation, branch, compaction, commit, event or a unique",
    "prefix of one; @ is the active conversation, - the one before. Turns count from 0, ranges include both ends.",
  ].join("\n");
}
