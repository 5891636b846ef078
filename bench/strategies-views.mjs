// How large a view each strategy leaves of a session when it is run once, at the end, against the agent's own view and against
// published rules; and whether what must stay visible under `auto` does.
import { RULES, readCleared } from "./strategies-rules.mjs";
import { chooseStrategies, planOver, sentEvents, sumTokens } from "./strategies-sessions.mjs";

/** Strategies that need a person or a model to say what goes. */
const NOT_MECHANICAL = ["classify-tangents", "summarize"];

/** Measures a session. Gives the tokens of its view by what was done to it, and what `auto` and the agent lost. */
export async function measureViews(library, session) {
  const { turns, compactions, tokens } = session;
  const sent = sentEvents(library, { turns });
  const agent = sentEvents(library, library.projectTurns(turns, compactions));
  const sizes = { raw: tokens, "agent itself": sumTokens(agent, library.count) };
  for (const { name } of library.STRATEGIES.filter((strategy) => !NOT_MECHANICAL.includes(strategy.name)))
    sizes[name] = (await runOnce(library, session, { names: [name] })).size;
  const keep = listPins(library, session);
  const auto = await runOnce(library, session, { names: ["auto"], keep });
  sizes.auto = auto.size;
  for (const target of ["0.5", "0.25"])
    sizes[`tiered ${target}`] = (await runOnce(library, session, { names: ["tiered"], target })).size;
  for (const [name, rule] of Object.entries(RULES))
    sizes[name] = sumTokens(readCleared(sent, rule(library, sent, new Map())), library.count);
  return {
    sizes,
    lost: findLost(library, session, { shown: auto.shown, keep }),
    lostByAgent: findLost(library, session, { shown: agent, keep }),
  };
}

/** Runs strategies over all but the newest tokens; `size` is that of the raw view where the gain is not worth a batch. */
async function runOnce(library, { turns, tokens }, { names, target, keep = [] }) {
  const chosen = chooseStrategies(library, names, target);
  const compaction = await planOver(library, turns, { chosen, keep, viewTokens: tokens });
  const shown = sentEvents(library, library.projectTurns(turns, compaction === null ? [] : [compaction]));
  const size = sumTokens(shown, library.count);
  return { shown, size: tokens - size < (chosen.minGainTokens ?? 0) ? tokens : size };
}

/** Pins three results, at a quarter, the middle and three quarters of the session, each with its call. */
function listPins(library, { turns, calls }) {
  const answered = calls.filter(({ response }) => response !== null);
  const pins = [0.25, 0.5, 0.75].map((share) => {
    const { response, turn, responseTurn = turn } = answered[Math.floor(answered.length * share)];
    return { turn: responseTurn, event: response.id };
  });
  return library.pinnedEvents(pins, turns);
}

/** What of the user's requests, of the paths of written and edited files, and of the pins is not shown, as lists of words. */
export function findLost(library, { events, calls }, { shown, keep = [] }) {
  const shownEvents = new Set(shown);
  const requests = events.filter(({ type, role = "user" }) => type === "chat_request" && role === "user");
  const pinned = new Set(keep);
  const texts = shown.flatMap(textsOf).join("\n");
  const paths = calls.flatMap(({ request }) => {
    const { kind, path, paths = [path] } = library.callFacts(request);
    if (kind !== "write" && kind !== "edit") return [];
    return paths.filter((name) => name !== undefined).map((name) => ({ path: name, request }));
  });
  return {
    requests: requests.filter((event) => !shownEvents.has(event)).map(({ id }) => id),
    paths: paths
      .filter(({ path }) => !texts.includes(path))
      .map(({ path, request }) => `${path} (${request.name} ${request.id})`),
    pins: events.filter((event) => pinned.has(event.id) && !shownEvents.has(event)).map(({ id }) => id),
    of: { requests: requests.length, paths: new Set(paths.map(({ path }) => path)).size, pins: pinned.size },
  };
}

/** What calls, answers and requests say; results are left out: a path in a listing does not say that the file was changed. */
function textsOf(event) {
  if (event.type === "tool_call_request") return stringsIn(event.arguments);
  if (event.type === "chat_request") return stringsIn(event.content);
  return event.type === "chat_response" ? stringsIn(event.message) : [];
}

function stringsIn(value) {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
