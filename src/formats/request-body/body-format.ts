// The requests of an API as a format that can be imported. They belong to no agent: nobody keeps them in a folder of its own, and
// nothing resumes them; `export --to` writes them as requests.

import { type Fields, isFields } from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";
import { type ProviderName, recognizeRequest } from "../../core/model/provider-rules.ts";
import type { AgentFormat } from "../agent-format.ts";
import type { SessionSource } from "../session-source.ts";
import { BODY_IMPORTER, bodySessionId, createBodySession } from "./body-session.ts";
import { parseBody } from "./parse-body.ts";
import type { ReadBody } from "./said.ts";

/** What is particular to the requests of one API. */
export interface BodyRules {
  /** As typed after `--to`. */
  readonly name: ProviderName;
  /** What the API is called. */
  readonly title: string;
  /** What a request of it looks like, for messages. */
  readonly shape: string;
  /** Reads one, whose list has at least one entry. Never throws. */
  read(body: Fields, list: readonly unknown[]): ReadBody;
}

/** Makes a format of the requests of an API. */
export function createBodyFormat({ name, title, shape, read }: BodyRules): AgentFormat {
  const bodyIn = (source: SessionSource): ReadBody | null => {
    const { body } = parseBody(source);
    const found = recognizeRequest(body);
    if (found === null || found.list.length === 0 || !found.possible.includes(name)) return null;
    return read(isFields(body) ? body : {}, found.list);
  };
  return {
    name,
    agent: { name: title, email: `${name}@jpg.invalid` },
    importer: BODY_IMPORTER,
    files: { endings: [], document: (source) => (parseBody(source).isLines ? "jsonl" : "json") },
    detect: (source) => {
      const found = recognizeRequest(parseBody(source).body);
      return found?.provider === name && found.list.length > 0;
    },
    sessionId: (source) => {
      const body = bodyIn(source);
      return body === null ? null : bodySessionId(body);
    },
    origin: () => null,
    read: (source) => {
      const body = bodyIn(source);
      if (body === null) throw notABody(title, shape);
      const { strange, skipped } = parseBody(source);
      if (strange !== undefined) throw severalConversations(strange);
      if (body.messages.every(({ said }) => said.length === 0)) throw notABody(title, `${shape} with a message in it`);
      return createBodySession(name, body, skipped);
    },
    help: {
      place: `Requests to the ${title} API are wherever you saved them.`,
      file: "request.json",
      reads:
        "A request as a JSON document, only its messages, or a log of requests, one per line, each of which continues the one before.",
      lost: [
        "A request does not say when it was sent: its messages are dated from 1970 on, a second apart.",
        "Settings such as temperature and limits stay in the source.",
      ],
    },
  };
}

function notABody(title: string, shape: string): Error {
  return userError("not_a_session", `The file is not a request to the ${title} API: expected ${shape}.`, {
    hints: ["A file holds one JSON document, or one request per line, each of which continues the one before."],
  });
}

function severalConversations(line: number): Error {
  return userError(
    "several_conversations",
    `The file holds more than one conversation: line ${line} does not continue the line before.`,
    { hints: ["Nothing of it was imported. Give each its own file: `split -l 1 FILE part-`, then import these."] },
  );
}
