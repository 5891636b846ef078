// Text of others in a real terminal: what a project's settings, a session and a model say is shown there, and never steers it.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type ChatServer, startChatServer } from "../helpers/chat-server.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { buildSession } from "../helpers/session-builder.ts";
import { openPane, type Pane, tmuxMissing } from "../helpers/tmux.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
/** Writes the clipboard, sets the title, clears and moves, by 7-bit and 8-bit sequences; ends a paste; a NUL and a bell. */
const ATTACK =
  "\u001b]52;c;cHduZWQ=\u0007\u001b]0;pwned\u001b\\\u001b[2J\u001b[10;10H\u009b3J\u009d0;x\u009c\u001b[201~\u001bP1$r\u001b\\\u0000\u0007";
/** Sequences that a line of input and colours are made of; nothing else may come. */
const OWN = /\u001b\[(?:[0-9;]*m|\d*[GKJABCD]|\?2004[hl]|\?25[hl])/g;

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer(async (stream) => {
    // Whatever is cut in two arrives in two pieces.
    for (const letter of `Answer ${ATTACK} ends.`) stream.text(letter);
    stream.finish();
  }, 20_000);
});
afterAll(() => server.close());

let sandbox: Sandbox;
let pane: Pane | null = null;
afterEach(() => {
  pane?.close();
  pane = null;
  sandbox.remove();
});

function open(...words: readonly string[]): Pane {
  pane = openPane([process.execPath, BIN, ...words], { cwd: sandbox.project, env: sandbox.env });
  return pane;
}

/** Only text, line ends and jpg's own sequences have reached the terminal. */
function expectHarmless(terminal: Pane): void {
  expect(terminal.sent()).toMatch(/Allow this|messages\]/);
  const rest = terminal
    .sent()
    .replace(OWN, "")
    .replaceAll(/[\r\n\t\b]/g, "");
  expect(rest.match(/.{0,20}\p{Cc}.{0,20}/gu) ?? []).toEqual([]);
}

describe.skipIf(tmuxMissing !== null)("in a terminal (tmux)", () => {
  it("jpg trust shows what it would allow, asks, and allows nothing unless told yes", { tags: ["slow"] }, async () => {
    sandbox = createSandbox();
    const told = JSON.stringify(`echo ${ATTACK.replaceAll("\u0000", "")}`).replaceAll(
      /[\u0080-\u009f]/g,
      (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`,
    );
    writeFileSync(join(sandbox.project, ".jpg.toml"), `[providers.x]\nkey_command = ${told}\n`);
    const isTrusted = () =>
      readdirSync(sandbox.home, { recursive: true }).some((name) => String(name).endsWith("trust.json"));
    for (const [key, trusts] of [
      ["", false],
      ["n", false],
      ["y", true],
    ] as const) {
      const terminal = open("trust");
      expect(await terminal.shows("Allow this?")).toMatch(
        /Trust in .*\.jpg\.toml allows:\s+line 2: providers\.x\.key_command=/,
      );
      terminal.type(key, "Enter");
      const shown = await terminal.shows("left with 0");
      expect(shown.includes("Trusted: "), key).toBe(trusts);
      expectHarmless(terminal);
      terminal.close();
      pane = null;
      expect(isTrusted(), key).toBe(trusts);
    }
  });

  it("jpg chat shows a session, a title and an answer that hold sequences as text", { tags: ["slow"] }, async () => {
    sandbox = createSandbox();
    const { lines } = buildSession(["prompt", { tools: 1 }, "prompt", { tools: 2 }]);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const spoiled = text
      .replaceAll(/"(request|answer) \d+/g, (start) => start + JSON.stringify(ATTACK).slice(1, -1))
      .replaceAll(/"content":"o/g, (start) => start + JSON.stringify(ATTACK).slice(1, -1));
    expect(spoiled.length).toBeGreaterThan(text.length + 100);
    await sandbox.json(["import", sandbox.session("attack.jsonl", Buffer.from(spoiled))]);
    await sandbox.jpg(["title", "@", `Title ${ATTACK.replaceAll("\u0000", "")}`]);
    mkdirSync(join(sandbox.home, ".config", "jpg"), { recursive: true });
    writeFileSync(join(sandbox.home, ".config", "jpg", "config.toml"), server.config);
    const terminal = open("chat");
    await terminal.shows("messages]");
    terminal.type("-l", "hello");
    terminal.type("Enter");
    const shown = await terminal.shows(/ends\.[\s\S]*messages\]/);
    expect(shown).toContain("␛]52;c;");
    for (const command of ["/status", "/context", "/nothing-like-it"]) {
      terminal.type("-l", command);
      terminal.type("Enter");
    }
    terminal.type("C-d");
    await terminal.shows("left with 0");
    expectHarmless(terminal);
  });
});
