// A store of many small conversations, for what is measured by the conversation and not by its size.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";

/** Turns of each conversation. */
export const TURNS = 3;

/**
 * Makes a store of conversations, each of `TURNS` turns, with git itself: jpg would need minutes. `resultOf(id, turn)` is what
 * a turn's tool answered. Gives the store's folder.
 */
export async function makeSmallConversations(
  sandbox,
  count,
  { resultOf = () => "a line of the file\n".repeat(60) } = {},
) {
  const store = sandbox.newPath("store");
  await sandbox.jpg(["init", store]);
  const ids = Array.from({ length: count }, (_, index) => `made-${String(index).padStart(5, "0")}`);
  await importStream(sandbox, store, { ids, resultOf });
  return store;
}

async function importStream(sandbox, store, { ids, resultOf }) {
  const git = spawn("git", ["-C", store, "fast-import", "--quiet"], {
    env: sandbox.env,
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = new Promise((resolve, reject) => {
    git.on("error", reject);
    git.on("close", (code) =>
      code === 0 ? resolve(null) : reject(new Error(`bench: git fast-import ended with ${code}`)),
    );
  });
  for (const [index, id] of ids.entries())
    if (!git.stdin.write(conversation(index, id, resultOf))) await once(git.stdin, "drain");
  git.stdin.end();
  await ended;
}

function conversation(index, id, resultOf) {
  let text = "";
  let prev = null;
  for (let turn = 0; turn < TURNS; turn++) {
    const timestamp = new Date(1.75e12 + index * 1000 + turn).toISOString();
    const events = turnEvents({ id, turn, timestamp, prev, result: resultOf(id, turn) });
    prev = createHash("sha1")
      .update(`blob ${Buffer.byteLength(events)}\0${events}`)
      .digest("hex");
    const seconds = 1_750_000_000 + index * 10 + turn;
    text += `commit refs/heads/${id}/main\ncommitter Bench <bench@example.invalid> ${seconds} +0000\n${data("turn\n")}`;
    if (turn === 0) text += header(id, index, timestamp);
    text += file(`turns/0000/${String(turn).padStart(6, "0")}.jsonl`, events);
  }
  return text;
}

function header(id, index, created_at) {
  const json = JSON.stringify({ format: 1, id, title: `Question ${index}`, created_at, source: null });
  return `${file("conversation.json", `${json}\n`)}${file(".gitattributes", "* -text\ncompactions/** diff=jpg\n")}`;
}

function turnEvents({ id, turn, timestamp, prev, result }) {
  const event = (type, fields) => ({ type, id: `${id}-${turn}-${type}`, timestamp, ...fields });
  const events = [
    event("turn_start", prev === null ? {} : { prev }),
    event("chat_request", { content: `Question ${turn}: ${"how does the parser treat this? ".repeat(10)}` }),
    event("tool_call_request", { call_id: "c", name: "Read", arguments: { file_path: `/src/${id}.ts` } }),
    event("tool_call_response", { call_id: "c", content: result, is_error: false }),
    event("chat_response", { message: `Answer ${turn}: ${"it reads each line once. ".repeat(20)}` }),
  ];
  return events.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function file(path, content) {
  return `M 100644 inline ${path}\n${data(content)}`;
}

function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
