// What holds for every command, in Markdown with code and bold text alone: for docs/cli.md, the manual page and `jpg help --agents`.

/** A paragraph each. */
export const COMMON_RULES: readonly string[] = [
  `**Turns** count from 0, and ranges include both ends.`,
  `**ID** names a branch (\`fix-parser-k3f9/try-b\`, or \`try-b\` in the active conversation), a conversation (\`fix-parser-k3f9\`, or its last four characters), an agent's session (its id, its file, or the name of that), a compaction, commit or event; or it is a beginning of one of these or of a title, of four characters or more (\`fix/main\` is one, too). \`@\` is the active conversation (the default), \`-\` the one that was active before. When several fit, jpg lists them and stops (exit code 2).`,
  `**A number is always a turn**, never the beginning of an id.`,
  `**What changes something** takes beginnings, and ids of compactions, commits and events, from the active conversation only. Another conversation is named in full: by its name or last four characters, a branch of it, or the whole id or file of its session. Otherwise jpg stops and says what to type.`,
  `**Bounds** of a range: \`5\` turn 5 · \`5:EVENT\` up to that event of turn 5 · \`-3\` three turns before the last · \`5h\`, \`2d 3h\`, \`90m\` that long ago · \`yesterday\`, \`2026-11-22\` a day, \`2026-11-22T10:30\` a moment, in your time zone · \`last\` where the newest live compaction ends.`,
  `**The store**: \`--store DIR\`, else \`JPG_STORE\`, else the store that the current directory is in, else the project's (\`.git/jpg\`), else one per user. \`jpg path\` prints it.`,
  `**Output**: results on standard output, everything else on standard error. With \`--json\` the result, or the error, is one JSON document on standard output. \`NO_COLOR\` is honoured; long results go through \`$PAGER\` on a terminal.`,
  `**Exit codes**: 0 done · 1 nothing was found, or a check found a problem · 2 wrong usage or input · 3 the store or git failed · 4 a provider failed · 70 a bug in jpg · 130 ended by Ctrl-C.`,
];
