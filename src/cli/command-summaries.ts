// What each command is for, in one line: the list of all commands, and what a wrong name was meant for, are said without loading
// the hundred files that the commands themselves are in. It imports nothing, so that `jpg --help` answers at once. A test holds it
// to what the commands say of themselves.

/** Summaries by command name, in the order of help; commands that people do not call are left out. */
export const COMMAND_SUMMARIES: Readonly<Record<string, string>> = {
  status: "say what is here, and what to type next",
  init: "make the conversation store of this project, or a repository of its own",
  import: "bring agents' sessions in",
  sync: "keep importing sessions that grow, and compact those that grow too large",
  export: "write a conversation in a format, or the imported bytes",
  resume: "hand a conversation back to its agent",
  ls: "list conversations with turns, tokens, compactions and forks",
  show: "show a conversation, a compaction with what it hid, or an event",
  use: "make a conversation the active one (@)",
  title: "show a conversation's title, or give it a new one",
  label: "give a conversation labels; without any: list them",
  rm: "remove a conversation or a fork, and bring it back",
  archive: "leave a conversation out of the list; nothing of it changes",
  unarchive: "list an archived conversation again",
  print: "print a conversation: everything that was said, or the view",
  pin: "protect a turn or an event from every compaction; without one: list what is pinned",
  chat: "talk to a model in a conversation",
  query: "ask a model; the answer streams into the conversation",
  compact: "shorten what the model sees, without losing anything",
  log: "show the compaction history: compactions, reverts, reapplied ones",
  blame: "say which compaction hides an event, since when, by whom, and what the model sees instead",
  diff: "show what the model sees before and after a compaction",
  revert: "take compactions back; reverting a revert brings one back",
  undo: "take back the newest live compaction",
  doctor: "look at what surrounds the conversations, and mend what can be mended",
  fsck: "check that everything stored is whole and says the same",
  check: "hold a conversation, a session file or a request against the rules of providers",
  fork: "branch off: a new branch that shares history",
  checkout: "check a conversation out: a worktree with its projected view",
  stats: "show sizes and tokens, raw and of the view",
  search: "find events by their text, those that compactions hide too",
  mcp: "serve jpg's tools to an agent, over MCP on standard input and output",
  config: "show settings and where they come from",
  trust: "allow this project's config to name programs, addresses and models, and to spend",
  path: "print where the store is, or where a conversation is checked out",
  completion: "print the completion script of a shell",
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
