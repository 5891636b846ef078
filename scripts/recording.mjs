// Records the main loop in a real terminal (tmux) and writes it as a moving picture: `npm run recording`, `-- FILE` for another
// place than docs/assets/loop.svg. What is typed is typed into a shell in a temporary project; nothing of the user's is read.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { buildIfMissing, openStage, run } from "./tour-shell.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const SESSION = "7d1f0c52-4b8e-4a63-9c27-51e0a4d9b3f6";
const COLUMNS = 92;
const ROWS = 27;
const PROMPT = "$ ";
/** What is typed. A comment is shown for less time than what a command prints. */
const LINES = [
  "# a session of Claude Code, which has compacted itself once",
  "jpg import",
  "# take that back: nothing is lost",
  "jpg undo",
  "# shorten it by rules: every request and answer stays, no model is asked",
  "jpg compact",
  "# continue in the agent",
  "jpg resume",
];
const KEYS_A_FRAME = 4;
const TYPING_SECONDS = 0.12;
const READING_SECONDS = { command: 3.2, comment: 0.7 };
const LAST_SECONDS = 5;
const CELL = { width: 8.4, height: 18 };
const MARGIN = 16;
const COLOURS = ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"];

const file = resolve(process.argv[2] ?? join(ROOT, "docs/assets/loop.svg"));
buildIfMissing();
const stage = openStage();
const socket = join(mkdtempSync(join(tmpdir(), "jpg-recording-")), "socket");
try {
  prepareProject();
  const svg = drawFilm(await record());
  writeFileSync(file, svg);
  process.stdout.write(`${file}: ${svg.length} bytes\n`);
} finally {
  tmux("kill-server");
  rmSync(join(socket, ".."), { recursive: true, force: true });
  stage.close();
}

/** A project in which Claude Code has worked: the bundled sample session lies where that agent keeps its sessions. */
function prepareProject() {
  run(stage, ["git", "init", "--quiet"]);
  const sessions = join(stage.env.HOME, ".claude/projects", stage.project.replace(/[^a-zA-Z0-9]/g, "-"));
  mkdirSync(sessions, { recursive: true });
  const sample = readFileSync(join(ROOT, "examples/sample-session.jsonl"), "utf8");
  // The sample ends one line in the middle, for the tests; the recording is about something else.
  const whole = sample.split("\n").filter((line) => line === "" || isJson(line));
  writeFileSync(join(sessions, `${SESSION}.jsonl`), whole.join("\n").replaceAll("/home/mara/tidepool", stage.project));
  writeFileSync(join(stage.folder, "prompt.sh"), `PS1='${PROMPT}'\n`);
  const bin = join(stage.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "jpg"), `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/jpg.js")}" "$@"\n`, {
    mode: 0o755,
  });
  stage.env.PATH = `${bin}:${stage.env.PATH}`;
}

function isJson(line) {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

function tmux(...words) {
  return execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], {
    encoding: "utf8",
    cwd: stage.project,
    env: { ...stage.env, TERM: "xterm-256color", LANG: "C.UTF-8" },
  });
}

/** Types the lines into a shell and gives the frames: a screen as rows with their escape sequences, and its seconds. */
async function record() {
  tmux("-u", "new-session", "-d", "-x", String(COLUMNS), "-y", String(ROWS), "bash --noprofile --rcfile ../prompt.sh");
  const frames = [];
  const take = (seconds) => frames.push({ rows: screen(), seconds });
  await waitForPrompt();
  for (const [at, line] of LINES.entries()) {
    for (let start = 0; start < line.length; start += KEYS_A_FRAME) {
      const keys = line.slice(start, start + KEYS_A_FRAME);
      tmux("send-keys", "-l", "--", keys);
      await waitFor(() => currentRow().endsWith(line.slice(0, start + KEYS_A_FRAME).trimEnd()));
      take(TYPING_SECONDS);
    }
    tmux("send-keys", "Enter");
    await waitForPrompt();
    const reading = line.startsWith("#") ? READING_SECONDS.comment : READING_SECONDS.command;
    take(at === LINES.length - 1 ? LAST_SECONDS : reading);
  }
  return frames;
}

function screen() {
  return tmux("capture-pane", "-p", "-e").split("\n").slice(0, ROWS);
}

function currentRow() {
  const row = Number(tmux("display-message", "-p", "#{cursor_y}"));
  return tmux("capture-pane", "-p").split("\n")[row] ?? "";
}

function waitForPrompt() {
  return waitFor(() => currentRow().trimEnd() === PROMPT.trimEnd());
}

async function waitFor(isSo) {
  for (let tries = 0; tries < 600; tries++) {
    if (isSo()) return;
    await sleep(50);
  }
  throw new Error(`the terminal did not answer:\n${tmux("capture-pane", "-p")}`);
}

// The picture: frames beside each other on a strip that moves by one frame at a time. A row that several frames show is written once.

function drawFilm(frames) {
  const width = COLUMNS * CELL.width + 2 * MARGIN;
  const height = ROWS * CELL.height + 2 * MARGIN;
  const rows = new Map();
  const strip = frames.map(({ rows: shown }, frame) => {
    const uses = shown.map((row, at) => {
      if (row === "") return "";
      if (!rows.has(row)) rows.set(row, `r${rows.size}`);
      return `<use href="#${rows.get(row)}" y="${at * CELL.height}"/>`;
    });
    return `<g transform="translate(${round(frame * width)})">${uses.join("")}</g>`;
  });
  const seconds = frames.reduce((sum, frame) => sum + frame.seconds, 0);
  let time = 0;
  const steps = frames.map((frame, at) => {
    const step = `${round((100 * time) / seconds)}%{transform:translateX(-${round(at * width)}px)}`;
    time += frame.seconds;
    return step;
  });
  const last = `translateX(-${round((frames.length - 1) * width)}px)`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>jpg imports a session of Claude Code, takes the agent's own compaction back, compacts it by rules, and prints the command that resumes it</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.film{animation:film ${round(seconds)}s step-end infinite}
@keyframes film{${steps.join("")}100%{transform:${last}}}
@media (prefers-reduced-motion:reduce){.film{animation:none;transform:${last}}}
</style>
<defs>
${[...rows].map(([row, id]) => `<g id="${id}">${drawRow(row)}</g>`).join("\n")}
</defs>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<svg x="${MARGIN}" y="${MARGIN}" width="${width - 2 * MARGIN}" height="${height - 2 * MARGIN}"><g class="film">
${strip.join("\n")}
</g></svg>
</svg>
`;
}

/** Draws a row's runs of equal style, each at its column, so that any font keeps the columns. */
function drawRow(row) {
  let style = { bold: false, dim: row.startsWith(`${PROMPT}#`), colour: undefined };
  let column = 0;
  const runs = [];
  for (const [, codes, text = ""] of row.matchAll(/(?:\u001b\[([\d;]*)m)?([^\u001b]*)/g)) {
    if (codes !== undefined) style = codes.split(";").reduce(nextStyle, style);
    for (const word of text.matchAll(/\S+(?: \S+)*/g)) {
      const x = round((column + word.index) * CELL.width);
      const wide = round(word[0].length * CELL.width);
      runs.push(`<text x="${x}" y="14" textLength="${wide}"${drawStyle(style)}>${escapeMarkup(word[0])}</text>`);
    }
    column += text.length;
  }
  return runs.join("");
}

function nextStyle(style, code) {
  const number = Number(code);
  if (number === 0) return { bold: false, dim: false, colour: undefined };
  if (number === 1) return { ...style, bold: true };
  if (number === 2) return { ...style, dim: true };
  if (number === 22) return { ...style, bold: false, dim: false };
  if (number === 39) return { ...style, colour: undefined };
  if (number >= 30 && number <= 37) return { ...style, colour: COLOURS[number - 30] };
  if (number >= 90 && number <= 97) return { ...style, colour: COLOURS[number - 90] };
  return style;
}

function drawStyle({ bold, dim, colour }) {
  return `${bold ? ' font-weight="700"' : ""}${dim ? ' opacity=".6"' : ""}${colour === undefined ? "" : ` fill="${colour}"`}`;
}

function escapeMarkup(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(number) {
  return Math.round(number * 100) / 100;
}
