// Words that people try because git, another program or plain English has them, and what to type in jpg. Data only: a new word is
// a row.

interface LikelyCommand {
  /** What to type after `jpg`. */
  readonly type: string;
  /** Said of it, after its name: a verb, and no full stop. */
  readonly does: string;
  /** That the words after the wrong name go with it; its text stands for them if there are none. */
  readonly takes?: string;
}

const use: LikelyCommand = { type: "use", takes: "ID", does: "makes a conversation or a fork the active one" };
const ls: LikelyCommand = { type: "ls", does: "lists the conversations" };
const largest: LikelyCommand = { type: "ls --sort size", does: "lists the conversations, the largest view first" };
const remove: LikelyCommand = {
  type: "rm",
  takes: "ID",
  does: "removes a conversation or a fork; `jpg rm --restore ID` brings it back",
};
const title: LikelyCommand = { type: "title @ TITLE", does: "changes the title of the active conversation" };
const edit: LikelyCommand = { type: "edit", does: "opens what the model sees as a list in your editor" };
const print: LikelyCommand = { type: "print", takes: "", does: "prints a conversation, or some of its turns" };
const serve: LikelyCommand = { type: "serve --open", does: "shows the conversations in a browser" };
const stats: LikelyCommand = { type: "stats", takes: "", does: "says what fills the window and what was paid" };
const imports: LikelyCommand = { type: "import", takes: "", does: "brings in new turns, one commit each" };
const search: LikelyCommand = { type: "search", takes: "TEXT", does: "finds what was said, in what is hidden too" };
const compact: LikelyCommand = { type: "compact", takes: "", does: "shortens what the model sees" };
const undo: LikelyCommand = { type: "undo", does: "undoes the newest compaction" };
const resume: LikelyCommand = { type: "resume --exec", does: "continues the active conversation in its agent" };
const query: LikelyCommand = { type: "query", takes: "TEXT", does: "asks a model; the answer becomes a turn" };
const fork: LikelyCommand = { type: "fork @ NAME", does: "makes a fork of the active conversation" };
const forks: LikelyCommand = { type: "ls --branches", does: "lists the forks, too" };
const config: LikelyCommand = { type: "config", does: "shows the settings; `jpg config set KEY VALUE` changes one" };
const label: LikelyCommand = { type: "label @ NAME", does: "adds a label to the active conversation" };
const exportTo: LikelyCommand = { type: "export --to FORMAT -o FILE", does: "writes a conversation in another format" };
const hooks: LikelyCommand = { type: "hooks install", does: "has agents save their sessions by themselves" };

/** By the word that was typed; never the name of a command. */
export const LIKELY_COMMANDS: Readonly<Record<string, readonly LikelyCommand[]>> = {
  add: [imports],
  ask: [query],
  back: [{ ...use, type: "use -", does: "goes back to the conversation that was active before" }, undo],
  backup: [{ type: "push", does: "sends conversations to a remote" }, exportTo],
  branch: [fork, forks],
  branches: [forks],
  biggest: [largest],
  browse: [serve],
  cat: [print],
  commit: [{ ...imports, does: "makes one commit a turn; there is nothing to commit by hand" }],
  compress: [compact],
  continue: [resume],
  context: [stats],
  conversations: [ls],
  cost: [stats],
  costs: [stats],
  del: [remove],
  delete: [remove],
  download: [{ type: "pull", takes: "", does: "brings in what others pushed" }],
  dump: [print, exportTo],
  exec: [resume],
  find: [search],
  get: [{ type: "config", takes: "KEY", does: "shows a setting" }],
  grep: [search],
  history: [
    { type: "log", takes: "", does: "lists compactions and reverts" },
    { ...print, takes: undefined },
  ],
  info: [{ type: "show", takes: "", does: "shows what an ID names" }],
  install: [hooks],
  largest: [largest],
  less: [print],
  list: [ls],
  load: [imports],
  mv: [title],
  name: [title],
  new: [{ type: "chat --new", does: "begins a conversation with a model" }, imports],
  open: [serve, resume],
  prune: [compact],
  read: [print],
  rebase: [edit],
  reflog: [{ type: "git reflog", takes: "", does: "is git's, in the store" }],
  remove: [remove],
  rename: [title],
  repair: [{ type: "doctor", does: "checks the store and repairs what can be repaired" }],
  reset: [undo, { type: "fork --until TURN", does: "goes back to an earlier turn, on a fork" }],
  restore: [{ type: "rm --restore", takes: "ID", does: "brings back what was removed" }, undo],
  rewind: [{ type: "fork --until TURN", does: "goes back to an earlier turn, on a fork" }, undo],
  save: [imports, hooks],
  select: [use],
  send: [query],
  sessions: [ls, { type: "import --list", does: "lists the sessions that agents keep for this project" }],
  set: [{ type: "config set", takes: "KEY VALUE", does: "changes a setting" }],
  settings: [config],
  setup: [hooks, config],
  shorten: [compact],
  shrink: [compact],
  size: [stats],
  squash: [compact, edit],
  stash: [
    { ...fork, does: "keeps what is here under a name" },
    { ...use, takes: undefined, type: "use -", does: "goes back" },
  ],
  summarise: [{ ...compact, type: "compact -s summarize" }],
  summarize: [{ ...compact, type: "compact -s summarize" }],
  switch: [use],
  tag: [label],
  tokens: [stats],
  trash: [{ type: "rm --list", does: "lists what was removed" }],
  ui: [serve],
  unset: [{ type: "config --unset", takes: "KEY", does: "removes a setting from the conversation" }],
  update: [imports],
  upload: [{ type: "push", takes: "", does: "sends conversations to a remote" }],
  usage: [stats],
  verify: [{ type: "fsck", does: "checks everything stored" }],
  version: [{ type: "--version", does: "prints the version" }],
  view: [print],
  web: [serve],
  worktree: [{ type: "checkout", takes: "", does: "checks out a conversation into a worktree" }],
  write: [exportTo],
};
