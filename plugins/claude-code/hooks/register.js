// jpg inside Claude Code. Each compaction, undo and look-up is one run of `jpg live` (docs/live.md), which decides everything: this
// module carries its questions and answers and shows its texts. `jpg hooks uninstall claude-code` removes it.

/** How jpg is started; `jpg hooks install` puts its own path here. */
const JPG = ["jpg", "live"];
/** The newest Claude Code that this was tested with. */
const TESTED = "2.1.332";
/** Milliseconds for a run of jpg. Without a limit of its own, Claude Code ends a child after 30,000. */
const LIMIT_MS = 120_000;
/** What `/compact` is given where this module starts it; nobody types that by accident. */
const ASKED = /^\[jpg\] (compact|undo)(?: (.*))?$/s;

/** The newest answer that has a band; null = none yet. */
let status = null;
/** Counts requests whose answer has a band, so that an older answer does not replace a newer one. */
let newest = 0;
/** Redraws when a text of the band is out of date. */
let redraw = null;
/** Whether a session is being imported in the background, and whether to do it again afterwards. */
let isKeeping = false;
let keepAgain = false;
/** Whether `search` and `show` are this module's. */
let hasTools = false;

/** Asks jpg one thing about this session. Throws a sentence where there is no answer. */
async function ask($, fields) {
  const [info, session, cwd, model, { version }, { context }] = await Promise.all([
    $.session.info(),
    $.session.id(),
    $.session.root(),
    $.session.model(),
    $.session.version(),
    $.session.usage({ breakdown: "summary" }),
  ]);
  const request = {
    jpg: 1,
    agent: "claude-code",
    session,
    transcript: info.transcriptPath || null,
    cwd,
    model,
    // With --autocompact it is smaller than the model's.
    window: context.breakdown?.rawMaxTokens ?? context.window ?? null,
    tokens: context.tokens ?? null,
    version,
    ...fields,
  };
  return readAnswer(await $.process.run(JPG, { stdin: `${JSON.stringify(request)}\n`, cwd, timeoutMs: LIMIT_MS }));
}

function readAnswer({ exitCode, stdout, stderr, isStdoutTruncated }) {
  if (isStdoutTruncated) throw new Error("The answer is over 4 MiB, the most that Claude Code hands to a plug-in.");
  const answer = parse(stdout.split("\n", 1)[0]);
  if (answer?.jpg === 1 && (typeof answer.pass === "string" || typeof answer.done === "string")) return answer;
  const said = stderr.trim().split("\n").at(-1);
  throw new Error(said === "" ? `No answer (exit code ${exitCode}).` : `No answer: ${said.replace(/[.\s]*$/, ".")}`);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What failed, as a sentence; Claude Code puts the plug-in's name in front. */
function reasonOf(error) {
  const message = String(error?.message ?? error);
  if (/failed to start/.test(message))
    return `${JPG[0]} could not be started. Install jpg, or run \`jpg hooks install claude-code\` again.`;
  return /still running/.test(message) ? `No answer after ${LIMIT_MS / 1000} seconds.` : message;
}

/** jpg's rows as messages: one that is named by its handle is Claude Code's own object, so that it stays as it is. */
function toMessages(rows, own) {
  const byHandle = new Map(own.map((message) => [message.handle, message]));
  return rows.map((row) => {
    if (row.handle === undefined) return { ...row, text: row.text ?? "", toolUses: row.toolUses ?? [] };
    const message = byHandle.get(row.handle);
    if (message === undefined) throw new Error(`The answer names a message that is not in the context: ${row.handle}.`);
    return message;
  });
}

/** Answers a compaction. Throws where jpg has no answer; then nothing has changed. */
async function answerCompaction($, e, { signal, wish }) {
  const mine = ++newest;
  const answer = await ask($, {
    ...wish,
    handles: e.messages.map(({ handle }) => handle),
    in_loop: (e.messages.at(-1)?.toolResults?.length ?? 0) > 0,
  });
  if (answer.pass !== undefined) throw new Error(answer.pass);
  const messages = toMessages(answer.messages, e.messages);
  signal.throwIfAborted();
  // The last thing before the answer: jpg reverts its commit unless this row is followed by a boundary.
  await $.session.append({ message: { type: "system", content: [{ type: "text", text: answer.marker }] } });
  if (mine === newest) showStatus($, answer.status);
  // Below the conversation as it is then, which Claude Code prints anew.
  if (answer.notice) $.clock.after(500, () => $.ui.log(answer.notice));
  return { messages };
}

/** Lets Claude Code compact by itself, says why, and has the result kept. */
async function passOn($, e, next, why) {
  $.ui.log(`${why} Claude Code compacts by itself.`);
  const result = await next(e);
  keepSoon($);
  return result;
}

/** What is wanted of jpg; `asked` = this module started the compaction. */
function wishOf({ trigger, instructions }, asked) {
  const [, does, rest] = asked ?? [];
  if (does === "undo") return { do: does, compaction: rest };
  if (does === "compact") return { do: does, trigger: "asked", instructions: rest };
  return { do: "compact", trigger: trigger === "auto" ? "auto" : "manual", instructions };
}

async function onCompact($, e, next) {
  if (e.agentId !== undefined) return next(e);
  if (e.trigger === "precompute") return { skip: "jpg compacts when it is time, not ahead of it." };
  const asked = ASKED.exec(e.instructions ?? "");
  try {
    return await answerCompaction($, e, { signal: next.signal, wish: wishOf(e, asked) });
  } catch (error) {
    // Esc ended the run of jpg; with this Claude Code cancels its own part, too.
    if (next.signal.aborted) return next(e);
    if (asked === null) return passOn($, e, next, reasonOf(error));
    return { skip: `jpg: ${reasonOf(error)}` };
  }
}

/** Only for what onCompact cannot catch itself: its ten seconds are over. */
function onCompactFailed(_$, e, next) {
  return ASKED.test(e.instructions ?? "") ? { skip: `jpg: ${reasonOf(next.error)}` } : next(e);
}

/** Starts `/compact` once the command that wants it has ended (inside it Claude Code refuses); tries for ten seconds. */
function compactSoon($, args, triesLeft = 20) {
  $.clock.after(triesLeft === 20 ? 50 : 500, async () => {
    try {
      await $.command.run({ command: "compact", args });
    } catch (error) {
      if (triesLeft > 0) compactSoon($, args, triesLeft - 1);
      else $.ui.log(reasonOf(error));
    }
  });
}

function showStatus($, given) {
  status = given ?? null;
  redraw?.cancel();
  redraw = null;
  $.ui.invalidate("ui.render");
}

/** Imports what is new, or only asks for the state; never two at once. Nobody waits for it. */
async function refresh($, what) {
  if (isKeeping) {
    keepAgain = true;
    return;
  }
  isKeeping = true;
  const mine = ++newest;
  try {
    const answer = await ask($, { do: what });
    if (answer.pass === undefined && mine === newest) {
      showStatus($, answer);
      if (answer.act === true && what === "keep") compactSoon($, "[jpg] compact");
    }
  } catch (error) {
    $.ui.log(`${what}: ${reasonOf(error)}`, { to: "debug" });
    if (what === "status") $.ui.log(reasonOf(error));
  } finally {
    isKeeping = false;
  }
  if (!keepAgain) return;
  keepAgain = false;
  await refresh($, "keep");
}

/** After the hook that asks for it, so that the prompt does not wait; only where somebody sees the band. */
function keepSoon($, what = "keep") {
  $.clock.after(1, async () => {
    if ((await $.session.surfaces()).length > 0) await refresh($, what);
  });
}

async function drawBand($, e, next) {
  const now = await $.clock.now();
  const shown = status?.band?.find(({ until }) => until === undefined || Date.parse(until) > now);
  if (shown === undefined || e.props.hasSurvey) return next(e);
  if (shown.until !== undefined && redraw === null)
    redraw = $.clock.after(Math.max(Date.parse(shown.until) - now, 0) + 100, () => showStatus($, status));
  const { Box, Text } = $.ui.resolve(e);
  return h(Box, {}, h(Text, { dimColor: status.offer !== true }, shown.text));
}

/** The text of a look-up, or why there is none. */
async function textOf($, fields) {
  try {
    const { text, pass } = await ask($, fields);
    return text ?? pass ?? "";
  } catch (error) {
    return reasonOf(error);
  }
}

const TOOLS = [
  {
    name: "search",
    does: "find",
    field: "query",
    description:
      "Finds what was said, read or printed earlier in this conversation, also what compactions hide, by names, paths or words. Answers with events; `show` returns one whole.",
  },
  {
    name: "show",
    does: "show",
    field: "event",
    description:
      "Returns an event of this conversation whole, as it was before any compaction, by the id that `search` prints.",
  },
];

const HELD = { value: { isConnected: false, reason: "disabled", message: "The plug-in's own tools do the same." } };

const COMMANDS = [
  {
    name: "jpg-compact",
    description: "Compact with jpg: a commit that /jpg-undo undoes",
    argumentHint: "[profile|focus]",
  },
  {
    name: "jpg-undo",
    description: "Take the newest compaction back, also one of Claude Code's own",
    argumentHint: "[compaction]",
  },
  { name: "jpg-diff", description: "What the newest compaction changed" },
  { name: "jpg-log", description: "Compactions of this conversation" },
];

async function onStart($, e, next) {
  const result = await next(e);
  const tools = TOOLS.map(({ name, description, field }) => {
    const inputSchema = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
    return $.tool.register({ name, description, inputSchema, isDeferred: false });
  });
  const commands = COMMANDS.map((command) => $.command.register(command));
  const registered = await Promise.allSettled([...tools, ...commands]);
  // A server of the user's own that is named jpg has these tools already; Claude Code then refuses ours.
  hasTools = registered[0].status === "fulfilled";
  for (const { reason } of registered) if (reason !== undefined) $.ui.log(reasonOf(reason), { to: "debug" });
  await sayIfNewer($);
  keepSoon($, "status");
  return result;
}

/** Says once for each version that it is newer than those tested. */
async function sayIfNewer($) {
  const { version } = await $.session.version();
  const isNewer = version.localeCompare(TESTED, "en", { numeric: true }) > 0;
  if (!isNewer || (await $.store.get("said")) === version) return;
  await $.store.set("said", version);
  $.ui.log(`Tested with Claude Code up to ${TESTED}; this is ${version}. If a compaction looks wrong: /jpg-undo.`);
}

/** @type {import("claude-code").Register} */
export function register(on) {
  on("session.start", onStart);
  on("session.compact", onCompact).catch(onCompactFailed);
  on("ui.render", { component: "AbovePrompt" }, drawBand);
  on("turn.complete", ($, e, next) => {
    if (e.agentId === undefined) keepSoon($);
    return next(e);
  });
  // Another session begins, for example by /clear.
  on("session.end", ($, e, next) => {
    newest++;
    showStatus($, null);
    return next(e);
  });
  // The plug-in's server has the same tools, for where this module is not loaded.
  on("mcp.connect", (_$, e, next) => (e.server.startsWith("plugin:jpg:") ? HELD : next(e)));
  for (const { name, does, field } of TOOLS)
    on("tool.run", { tool: `mcp__jpg__${name}` }, async ($, e, next) =>
      hasTools ? { result: await textOf($, { do: does, [field]: String(e[field] ?? "") }) } : next(e),
    );
  on("command.run", { command: "jpg-compact" }, ($, e) => {
    compactSoon($, `[jpg] compact ${e.args}`.trim());
    return { text: "Compacting with jpg.", isTextDisplayOnly: true };
  });
  on("command.run", { command: "jpg-undo" }, ($, e) => {
    compactSoon($, `[jpg] undo ${e.args}`.trim());
    return { text: "Undoing a compaction.", isTextDisplayOnly: true };
  });
  for (const name of ["diff", "log"])
    on("command.run", { command: `jpg-${name}` }, async ($) => ({
      text: await textOf($, { do: name }),
      isTextDisplayOnly: true,
    }));
}
