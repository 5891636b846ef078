// A model server on loopback that answers at once with as many pieces as it is asked for, in Anthropic's or OpenAI's chat
// format, byte for byte as their APIs stream. Notes when the first byte of an answer left.
import { createServer } from "node:http";

/** Starts it. `say(request)` gives the pieces of an answer, an async iterable or a list. */
export async function startModelServer(say) {
  const seen = { body: "", firstByteAt: 0 };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    seen.body = Buffer.concat(chunks).toString();
    const format = request.url?.includes("/messages") ? ANTHROPIC : OPENAI;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(format.start());
    seen.firstByteAt = 0;
    for await (const piece of say(seen.body)) {
      if (response.destroyed) return;
      if (seen.firstByteAt === 0) seen.firstByteAt = performance.now();
      response.write(format.piece(piece));
    }
    response.end(format.end());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const event = (value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

const ANTHROPIC = {
  start: () =>
    event({
      type: "message_start",
      message: {
        id: "msg_bench",
        type: "message",
        role: "assistant",
        model: "claude-bench",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1000, output_tokens: 1 },
      },
    }) + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  piece: (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
  end: () =>
    event({ type: "content_block_stop", index: 0 }) +
    event({
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 20 },
    }) +
    event({ type: "message_stop" }),
};

const chunk = (choice, more = {}) =>
  `data: ${JSON.stringify({
    id: "chat-bench",
    object: "chat.completion.chunk",
    created: 1,
    model: "bench",
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...more,
  })}\n\n`;

const OPENAI = {
  start: () => chunk({ delta: { role: "assistant", content: "" } }),
  piece: (content) => chunk({ delta: { content } }),
  end: () =>
    `${chunk(
      { delta: {}, finish_reason: "stop" },
      { usage: { prompt_tokens: 1000, completion_tokens: 20, total_tokens: 1020 } },
    )}data: [DONE]\n\n`,
};
