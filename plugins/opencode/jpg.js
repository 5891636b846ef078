// Written by `jpg hooks install opencode`: jpg inside OpenCode. `jpg hooks uninstall opencode` removes it.
const JPG = ["jpg", "live"];

// All that jpg decides comes from `jpg live` (docs/live.md). Before each request, one small file says what differs from the session:
// it is read and applied, and without it the request is OpenCode's own. Nothing here throws: a throw would fail the turn.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Longest wait for an answer, milliseconds. */
const LONGEST = 120_000;

/** Commands, with what they ask of jpg. */
const COMMANDS = {
  "jpg-compact": { description: "Compact with jpg, reversibly; name a profile, or what to focus on", do: "compact" },
  "jpg-undo": { description: "Undo the newest compaction, or the one that is named", do: "undo" },
  "jpg-diff": { description: "Show what the newest compaction changed for the model", do: "diff" },
  "jpg-log": { description: "Show the compactions of this session", do: "log" },
};

/** Runs `jpg live` once. Resolves to a reason to go on without it if anything fails. */
function ask(request, cwd) {
  return new Promise((resolve) => {
    const [program, ...args] = JPG;
    const child = spawn(program, args, { cwd, stdio: ["pipe", "pipe", "ignore"], detached: true });
    const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST);
    let printed = "";
    const end = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    child.on("error", (error) => end({ pass: `jpg does not start: ${error.message}.` }));
    child.on("close", () => end(parse(printed) ?? { pass: "jpg gave no answer." }));
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      printed += text;
    });
    child.stdin.end(`${JSON.stringify({ jpg: 1, agent: "opencode", cwd, ...request })}\n`);
  });
}

function parse(text) {
  try {
    const value = JSON.parse(text.split("\n")[0]);
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

/** Where jpg keeps its state. */
function stateFolder({ env, platform }) {
  const { XDG_STATE_HOME: named = "", LOCALAPPDATA: local = "" } = env;
  if (isAbsolute(named)) return join(named, "jpg");
  if (platform !== "win32") return join(homedir(), ".local", "state", "jpg");
  return join(isAbsolute(local) ? local : join(homedir(), "AppData", "Local"), "jpg", "state");
}

/** The changes in force for a session, by the part's id; none if there is no file of them. */
function editsOf(session) {
  try {
    if (!/^\w{1,128}$/.test(session)) return {};
    const file = JSON.parse(readFileSync(join(stateFolder(process), "opencode", `${session}.json`), "utf8"));
    return file?.jpg === 1 && file.session === session && typeof file.edits === "object" ? (file.edits ?? {}) : {};
  } catch {
    return {};
  }
}

/** What OpenCode sends of a message. */
const SENT = new Set(["text", "file", "reasoning", "tool", "compaction", "subtask"]);

/** Changes messages in place. A part that has no change, or another form than the change, stays. */
function apply(messages, edits) {
  for (let at = messages.length - 1; at >= 0; at--) {
    const { parts } = messages[at];
    const before = parts.length;
    for (let place = before - 1; place >= 0; place--) applyTo(parts, place, edits);
    if (parts.length < before && !parts.some(({ type }) => SENT.has(type))) messages.splice(at, 1);
  }
}

function applyTo(parts, place, edits) {
  const part = parts[place];
  if (!Object.hasOwn(edits, part.id)) return;
  const edit = edits[part.id];
  if (edit === null) parts.splice(place, 1);
  else if (typeof edit.text === "string") parts[place] = withText(part, edit.text);
  else if (edit.state && part.state) parts[place] = { ...part, state: { ...part.state, ...edit.state } };
}

/** A part with another text; what was no text becomes one. */
function withText(part, text) {
  if (part.type === "text" || part.type === "reasoning") return { ...part, text };
  const { id, sessionID, messageID } = part;
  return { id, sessionID, messageID, type: "text", text };
}

export const Jpg = async ({ client, directory }) => {
  /** Sessions that are being kept: never two at once. */
  const busy = new Set();

  /** Asks about a session, with a copy of it as `opencode export` prints it. */
  async function askAbout(id, request) {
    let folder;
    try {
      const path = { id };
      const [info, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
      if (!info.data || !messages.data) return { pass: "OpenCode gave no session." };
      folder = mkdtempSync(join(tmpdir(), "jpg-"));
      const transcript = join(folder, `${id}.json`);
      writeFileSync(transcript, JSON.stringify({ info: info.data, messages: messages.data }), { mode: 0o600 });
      return await ask({ session: id, transcript, form: "edits", ...request }, directory);
    } catch (error) {
      return { pass: `jpg failed: ${error?.message}.` };
    } finally {
      if (folder) rmSync(folder, { recursive: true, force: true });
    }
  }

  async function keep(id) {
    if (busy.has(id)) return;
    busy.add(id);
    await askAbout(id, { do: "keep" });
    busy.delete(id);
  }

  async function say(message) {
    try {
      await client.tui.showToast({ body: { title: "jpg", message, variant: "info", duration: 10_000 } });
    } catch {
      // There is no screen.
    }
  }

  return {
    config: async (config) => {
      config.command ??= {};
      for (const [name, { description }] of Object.entries(COMMANDS))
        config.command[name] ??= { description, template: "$ARGUMENTS" };
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") void keep(event.properties.sessionID);
    },
    "experimental.session.compacting": async ({ sessionID }) => keep(sessionID),
    "experimental.chat.messages.transform": async (_input, { messages }) => {
      try {
        const session = messages[0]?.info.sessionID ?? "";
        const edits = editsOf(session);
        if (Object.keys(edits).length > 0) apply(messages, edits);
      } catch {
        // The request is sent as OpenCode made it.
      }
    },
    "command.execute.before": async ({ command, sessionID, arguments: words }) => {
      const { do: action } = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : {};
      if (action === undefined) return;
      const named = words?.trim() || undefined;
      const wishes = { compact: { trigger: "asked", instructions: words }, undo: { compaction: named } };
      const wish = wishes[action] ?? {};
      const { notice, text, pass } = await askAbout(sessionID, { do: action, ...wish });
      await say(notice ?? text ?? pass ?? "");
      // Only an error keeps OpenCode from asking the model about the command.
      throw new Error(notice ?? text ?? pass ?? "");
    },
  };
};
