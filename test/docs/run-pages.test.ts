// Every page for users is run: README.md and docs/guide/*.md show only what jpg printed.
//
// To write a page: it is one session of one reader, from its first block to its last, in an empty HOME with a git project that has
// `sample-session.jsonl` in it (/home/mara/tidepool; examples/sample-session.jsonl). No conversation is imported yet.
//
//   ```console      `$ command` lines are run by a shell, with `jpg` on PATH; the lines below each are what it prints. `…` alone on
//                   a line takes the place of any lines. A command that ends in `\`, or has `<<`, continues on lines `> more`.
//                   Ids, dates and ages may differ, ids in the same way over the whole page: the page shows `14pevk`, so
//                   `jpg revert 14pevk` works further down. An id in a page has a digit in it.
//   ```sh           each line is run and must succeed; `  # a comment` is left off, output is not shown.
//   others          need `<!-- file: … -->` or `<!-- not run: … -->`.
//
// Comments on the lines right before a block:
//
//   <!-- setup: imported -->         what the block needs: names of SET_UPS below, separated by commas
//   <!-- file: ~/.config/jpg/config.toml -->   the block is written to this file (in the project, or below ~/)
//   <!-- as: ben -->                 typed by the colleague, in their clone
//   <!-- exit: 1 -->                 exit code of the last command, if not 0
//   <!-- until: Ctrl-C -->           the last command runs until it has printed what is shown, and is interrupted
//   <!-- not run: reason -->         at most four blocks of all pages together
//
// To fill in output: write only the `$` lines, then `JPG_WRITE_PAGES=1 npx vitest run test/docs/run-pages.test.ts`; the same after
// a message of jpg changed. It leaves blocks with `…` as they are and prints the difference. Read what it wrote.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startChatServer } from "../helpers/chat-server.ts";
import {
  matchOutput,
  openPageSession,
  type PageBlock,
  parseConsole,
  parsePage,
  parseShell,
  type SetUp,
} from "../helpers/page-session.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (page: string): string => readFileSync(root + page, "utf8");

/** Largest pages, bytes: what one reads in a few minutes. */
const README_BYTES = 12_000;
const GUIDE_BYTES = 10_000;

const MOST_NOT_RUN = 4;

const guide = readdirSync(`${root}docs/guide`)
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/guide/${name}`);
const PAGES = ["README.md", ...guide];

/** An index only links to pages. */
const INDEX = "docs/guide/README.md";

interface SessionLine {
  readonly uuid: string;
  readonly message: object;
}

/** A summary as jpg asks for one. */
function answer(state: string): string {
  const rest = ["FILES", "TOOL HISTORY", "ERRORS", "DECISIONS", "USER GUIDANCE", "NEXT STEPS"];
  const sections = [`## TASK STATE\n${state}`, ...rest.map((name) => `## ${name}\nnone`)];
  const block = { files: ["src/csv.ts"], open_tasks: ["changelog"] };
  return `${sections.join("\n\n")}\n\n\`\`\`json\n${JSON.stringify(block)}\n\`\`\``;
}

/** What the scripted model answers to what it is asked last; to a request for a summary it writes one. */
const ANSWERS: Readonly<Record<string, string>> = {
  "What is left to do?": "The changelog entry, then the release.",
  "And after that?": "A look at the two problems that the dry run showed.",
};

const SET_UPS: Readonly<Record<string, SetUp>> = {
  /** The sample session, imported. */
  imported: async ({ type }) => void (await type("jpg import sample-session.jsonl")),

  /** Like `imported`, in a new store. */
  fresh: async ({ type }) => void (await type('rm -rf "$(jpg path)"', "jpg import sample-session.jsonl")),

  /** The sample session where Claude Code keeps it, and a program `claude` that only writes down how it was called. */
  "claude-code"({ home, project, addProgram }) {
    const folder = join(home, ".claude/projects", project.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    const session = readFileSync(join(project, "sample-session.jsonl"), "utf8");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "7d1f0c52-4b8e-4a63-9c27-51e0a4d9b3f6.jsonl"), session);
    addProgram("claude", '#!/bin/sh\nprintf "%s\\n" "$*" >> "$HOME/claude-was-called"\n');
  },

  /** One more turn in the session of Claude Code, as the agent appends it. */
  "worked-on"({ home, project }) {
    const folder = join(home, ".claude/projects", project.replaceAll(/[^a-zA-Z0-9]/g, "-"));
    const [file = ""] = readdirSync(folder).map((name) => join(folder, name));
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const last = JSON.parse(lines.findLast((line) => line.includes('"type":"assistant"')) ?? "{}") as SessionLine;
    const { message, uuid, ...base } = last;
    const [asked, said] = ["0c9e6f3a-5b1d-4c7e-8f20-6a4d9b3e7c11", "7d2b8a64-91c3-4e5f-a0d7-3f6c1e9b5a22"];
    const request = { role: "user", content: "Good morning. Fix the first of the two, please." };
    const text = "Done: the dry run guesses the delimiter as the load does.";
    const answered = { ...message, id: "msg_guide_0001", content: [{ type: "text", text }] };
    const added = [
      { ...base, parentUuid: uuid, type: "user", uuid: asked, timestamp: "2026-03-11T08:30:00.000Z", message: request },
      { ...base, parentUuid: asked, uuid: said, timestamp: "2026-03-11T08:30:09.000Z", message: answered },
    ];
    appendFileSync(file, `${added.map((line) => JSON.stringify(line)).join("\n")}\n`);
  },

  /** A remote of the project, with a first commit on it, and an empty repository `talks` next to it. */
  async remote({ root: folder, type, alias }) {
    alias("git@example.com:team/", `${folder}/srv/git/`);
    await type(
      "git init --quiet --bare /srv/git/tidepool.git".replace("/srv", `${folder}/srv`),
      "git init --quiet --bare /srv/git/talks.git".replace("/srv", `${folder}/srv`),
      "git commit --quiet --allow-empty --message 'Begin'",
      `git remote add origin ${folder}/srv/git/tidepool.git`,
      "git push --quiet --set-upstream origin main",
    );
  },

  /** Ben, who has a clone of the project in /home/ben/tidepool. Needs `remote`. */
  async colleague({ root: folder, type, addPerson }) {
    const clone = `${folder}/home/ben/tidepool`;
    await type(`git clone --quiet ${folder}/srv/git/tidepool.git ${clone}`);
    addPerson("ben", "Ben", clone);
  },

  /** A server on loopback in place of Ollama, with answers from a script. */
  async ollama({ alias, setVariable, onClose }) {
    const server = await startChatServer((stream, { messages }) => {
      const asked = JSON.stringify(messages.at(-1)?.content);
      // A request for a summary holds the turns, and these requests with them.
      const isQuestion = asked.length < 1000;
      const text = isQuestion ? Object.entries(ANSWERS).find(([request]) => asked.includes(request))?.[1] : undefined;
      stream.text(text ?? answer("The parser reads every delimiter; the release waits for its changelog."));
      stream.finish();
    });
    onClose(() => server.close());
    alias("http://127.0.0.1:11434/v1", server.url);
    setVariable("OLLAMA_HOST", server.url.replace("/v1", ""));
  },
};

const notRun = PAGES.flatMap((page) =>
  parsePage(read(page))
    .filter((block) => block.notRun !== null)
    .map(({ notRun: reason }) => `${page}: ${reason}`),
);

/** What the runner cannot read of a block; null when it can read it. */
function unreadable(block: PageBlock): string | null {
  if (block.notRun !== null || block.file !== null) return null;
  if (block.language === "sh") return parseShell(block.lines).length > 0 ? null : "no command";
  if (block.language !== "console") return `a block in \`${block.language}\` that is neither run nor written to a file`;
  try {
    return parseConsole(block.lines).length > 0 ? null : "no command";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Puts lines into the blocks of a page. */
function writeBlocks(page: string, blocks: readonly (readonly [block: PageBlock, lines: readonly string[]])[]): void {
  const lines = read(page).split("\n");
  for (const [{ line, lines: old }, fresh] of blocks.toReversed()) lines.splice(line, old.length, ...fresh);
  writeFileSync(root + page, lines.join("\n"));
}

describe("pages for users", () => {
  it.each(PAGES)("%s is short, and every block of it can be run", (page) => {
    const blocks = parsePage(read(page));
    expect(Buffer.byteLength(read(page))).toBeLessThanOrEqual(page === "README.md" ? README_BYTES : GUIDE_BYTES);
    const problems = blocks.map((block) => [block.line, unreadable(block)]).filter(([, problem]) => problem !== null);
    expect(problems).toEqual([]);
    const run = blocks.filter(({ language, ...block }) => block.notRun === null && /^(?:console|sh)$/.test(language));
    if (page !== INDEX) expect(run.length).toBeGreaterThan(0);
  });

  it("leave hardly any block unrun, and say why", () => {
    expect(notRun.length, notRun.join("\n")).toBeLessThanOrEqual(MOST_NOT_RUN);
    expect(notRun).toEqual([
      "README.md: test/e2e/tour.test.ts runs the tour",
      "README.md: these are the tests",
      "docs/guide/inside-agents.md: a running agent; test/e2e/claude-live.test.ts runs it",
      "docs/guide/models-and-chat.md: needs a terminal",
    ]);
  });

  it.each(PAGES.filter((page) => page !== INDEX))("%s shows what jpg prints", { tags: ["slow"] }, async (page) => {
    const session = openPageSession(SET_UPS);
    const differences: string[] = [];
    const written: [block: PageBlock, lines: readonly string[]][] = [];
    try {
      for (const block of parsePage(read(page))) {
        const ran = await session.run(block);
        differences.push(...ran.differences);
        written.push([block, ran.lines]);
      }
    } finally {
      await session.close();
    }
    if (process.env["JPG_WRITE_PAGES"] === "1") writeBlocks(page, written);
    if (differences.length > 0) throw new Error(differences.join("\n\n"));
  });
});

describe("the runner of pages", () => {
  const differ = (shown: string, printed: string): boolean =>
    !matchOutput(shown.split("\n"), printed.split("\n"), new Map([["14pevk", "djkxz8"]]));

  it("notices an output that differs, and one that is cut off without `…`", () => {
    expect(differ("26 turns", "26 turns")).toBe(false);
    expect(differ("26 turns", "27 turns")).toBe(true);
    expect(differ("one", "one\ntwo")).toBe(true);
    expect(differ("one\n…", "one\ntwo")).toBe(false);
    expect(differ("…\none", "one\ntwo")).toBe(true);
    expect(differ("one\n…\nthree", "one\ntwo\nthree")).toBe(false);
  });

  it("lets ids, dates and ages differ, an id in the same way each time", () => {
    expect(differ("commit fc3a14c  2026-03-01", "commit 5d8efff  2027-11-30")).toBe(false);
    expect(differ("undo 14pevk", "undo djkxz8")).toBe(false);
    expect(differ("undo 14pevk", "undo 4n8z1q")).toBe(true);
    expect(differ("undo 079n58, 079n58", "undo fnm7y8, fnm7y9")).toBe(true);
    expect(differ("name  8mo  main", "name   now  main")).toBe(false);
  });

  it("does not read a page with a block that never ends, or with a comment that it does not know", () => {
    expect(() => parsePage("```sh\njpg ls")).toThrow("line 1: the block has no end");
    expect(() => parsePage("<!-- setup: remote -->\n\n```sh\njpg ls\n```")).toThrow("not right before a block");
    expect(() => parsePage("<!-- set-up: remote -->\n```sh\njpg ls\n```")).toThrow("unknown comment");
  });
});
