// What a chat and a query draw on the screen of a real terminal: answers as Markdown, and a sign of life until they come.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

const TIDES = `## Tides

High water is at **noon**, says [the table](https://tide.example/t).

1. Measure
   - at the pier

\`\`\`ts
const high = 12;
\`\`\`

| Pier | Height |
|---|--:|
| West | 2 m |

\u001b[2J\u001b]52;c;aGk=\u0007`;

/** How it looks with colours off. */
const DRAWN = `## Tides

High water is at noon, says the table
(https://tide.example/t).

1. Measure
   • at the pier

  ts
  const high = 12;

Pier │ Height
─────┼───────
West │    2 m

␛[2J␛]52;c;aGk=␇`;

/** Opened by a test: the answer waits for it. */
function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

let gate = createGate();
let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer(async (stream) => {
    await gate.opened;
    for (const piece of TIDES.match(/.{1,5}/gs) ?? []) stream.text(piece);
    stream.finish();
  });
});
afterAll(() => server.close());

let sandbox: ImportedSandbox;
let pane: Pane | null = null;
afterEach(() => {
  gate = createGate();
  pane?.close();
  pane = null;
  sandbox.remove();
});

async function open(words: readonly string[], columns: number): Promise<Pane> {
  sandbox = await copyImportedSandbox(2);
  mkdirSync(join(sandbox.home, ".config", "jpg"), { recursive: true });
  writeFileSync(join(sandbox.home, ".config", "jpg", "config.toml"), server.config);
  return reopen(words, columns);
}

/** Opens another one in the same place. */
function reopen(words: readonly string[], columns: number, more: Readonly<Record<string, string>> = {}): Pane {
  pane?.close();
  const env = { ...sandbox.env, NO_COLOR: "1", ...more };
  pane = openPane([process.execPath, BIN, ...words], { cwd: sandbox.project, env, columns });
  return pane;
}

describe.skipIf(tmuxMissing !== null)("an answer in a terminal (tmux)", () => {
  it.each([
    ["chat", ["chat"]],
    ["query", ["query", "And the tides?"]],
  ])("is drawn as Markdown by %s, after a sign that it is waited for", { tags: ["slow"] }, async (_name, words) => {
    const screen = await open(words, 40);
    if (words[0] === "chat") {
      await screen.shows("[6 messages]");
      screen.type("-l", "And the tides?");
      screen.type("Enter");
    }
    await screen.shows(/waiting for test\/model-1 \(1s\)/);
    gate.open();
    const shown = await screen.shows(words[0] === "chat" ? "[8 messages]" : "left with 0");
    expect(shown).toContain(DRAWN);
    expect(shown).not.toContain("waiting for");
    expect(screen.sent()).not.toContain("\u001b]52");
  });

  it("is what the model wrote with --no-markdown", { tags: ["slow"] }, async () => {
    const screen = await open(["query", "--no-markdown", "And the tides?"], 80);
    await screen.shows("waiting for test/model-1");
    gate.open();
    expect(await screen.shows("left with 0")).toContain("High water is at **noon**, says [the table]");
  });
});

describe.skipIf(tmuxMissing !== null)("a message that is typed in a terminal (tmux)", () => {
  it("is back in the line after Esc, if nothing was answered, and goes out as it is changed", {
    tags: ["slow"],
  }, async () => {
    const chat = await open(["chat"], 80);
    await chat.shows("[6 messages]");
    chat.type("-l", "And the tides");
    chat.type("M-Enter");
    chat.type("-l", "at the pier?");
    chat.type("Enter");
    await chat.shows("waiting for test/model-1");
    chat.type("Escape");
    const back = await chat.shows(/\[6 messages\][^[]*\[6 messages\].*> And the tides\n… at the pier\?$/s);
    expect(back).toContain("Interrupted");
    expect(back).not.toContain("waiting for");
    expect((await sandbox.json(["show", "@"]))["turns"]).toBe(2);
    chat.type("-l", " Please.");
    gate.open();
    chat.type("Enter");
    await chat.shows("[8 messages]");
    const last = server.requests.at(-1)?.messages.at(-1)?.content;
    expect(JSON.stringify(last)).toContain(JSON.stringify("And the tides\nat the pier? Please.").slice(1, -1));
    // It is in the history twice: as it was first, and as it went out.
    chat.type("Up");
    await chat.shows(/\[8 messages\].*at the pier\? Please\.$/s);
  });

  it("is there in the next chat, with Up and with Ctrl-R", { tags: ["slow"] }, async () => {
    const first = await open(["chat"], 80);
    await first.shows("[6 messages]");
    first.type("-l", "/help how");
    first.type("Enter");
    await first.shows("Ctrl-R");
    first.type("-l", "/quit");
    first.type("Enter");
    await first.shows("left with 0");
    const next = reopen(["chat", "--new"], 80);
    await next.shows("[0 messages]");
    next.type("Up", "Up");
    await next.shows("> /help how");
    next.type("C-u", "C-r");
    next.type("-l", "elp");
    await next.shows("(search) elp: /help how");
  });

  it("is written in the user's editor with Ctrl-G, and names files with Tab", { tags: ["slow"] }, async () => {
    await open(["chat", "--new"], 80);
    const editor = join(sandbox.root, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\necho "$(cat "$1"), from the editor" > "$1"\n', { mode: 0o755 });
    writeFileSync(join(sandbox.project, "tide-table.md"), "");
    const chat = reopen(["chat", "--new"], 80, { EDITOR: editor });
    await chat.shows("[0 messages]");
    chat.type("-l", "see @tide");
    chat.type("Tab");
    await chat.shows("> see @tide-table.md");
    chat.type("C-g");
    await chat.shows("> see @tide-table.md , from the editor");
    const failing = reopen(["chat", "--new"], 80, { EDITOR: "false" });
    await failing.shows("[0 messages]");
    failing.type("-l", "as it was");
    failing.type("C-g");
    await failing.shows(/error: The editor ended with exit code 1: false\..*\n> as it was/s);
  });

  it("leaves nothing behind on a screen that was cleared (Ctrl-L)", async () => {
    const chat = await open(["chat", "--new"], 80);
    await chat.shows("[0 messages]");
    chat.type("C-l");
    for (const letter of "tide") chat.type("-l", letter);
    expect((await chat.shows("> tide")).match(/^> /gm)).toHaveLength(2);
  });

  it("is drawn again when the terminal becomes narrower while it is typed", async () => {
    const chat = await open(["chat", "--new"], 80);
    await chat.shows("[0 messages]");
    chat.type("-l", "how high does the water stand at the pier");
    await chat.shows("> how high does the water stand at the pier");
    chat.resize(30);
    await chat.shows(/> how high does the water sta ?\nnd at the pier/);
    chat.type("-l", "?");
    expect(await chat.shows("nd at the pier?")).not.toContain("how high does the water stand at the pier");
  });
});
