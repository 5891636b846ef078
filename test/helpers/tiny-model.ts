// A model of some tens of KB that says what a test tells it to, as a real GGUF file: no attention, and weights by which each
// token names the next. Whatever it is asked, it answers with the given pieces in order. Layout: the public GGUF format, v3.

/** What the model is like. */
export interface TinyModel {
  /** Said in order, then it stops; at most 40. A piece is one token. */
  readonly pieces: readonly string[];
  /** After the last piece the first comes again, until the answer is cut. */
  readonly isEndless?: boolean;
  /** Window, tokens; default 2048. */
  readonly contextLength?: number;
  /** Jinja template of the chat; default none. */
  readonly chatTemplate?: string;
}

const WIDTH = 64;
const FORWARD = 64;
const UNKNOWN = 0;
const START = 1;
const END = 2;
const FIRST_BYTE = 3;
const FIRST_PIECE = FIRST_BYTE + 256;
const TYPES = { uint32: 4, int32: 5, float32: 6, string: 8, array: 9 } as const;
const ALIGNMENT = 32;

/** Writes the model as the bytes of a GGUF file. */
export function createTinyModel(model: TinyModel): Buffer {
  const { names, types } = vocabulary(model.pieces);
  const keys: readonly Buffer[] = [
    key("general.architecture", text("llama")),
    key("general.name", text("tiny")),
    key("tokenizer.ggml.model", text("llama")),
    key("tokenizer.ggml.tokens", list(TYPES.string, names.map(bytesOfText))),
    key(
      "tokenizer.ggml.scores",
      list(
        TYPES.float32,
        names.map(() => float(0)),
      ),
    ),
    key("tokenizer.ggml.token_type", list(TYPES.int32, types.map(uint))),
    key("tokenizer.ggml.bos_token_id", number(START)),
    key("tokenizer.ggml.eos_token_id", number(END)),
    key("tokenizer.ggml.unknown_token_id", number(UNKNOWN)),
    ...(model.chatTemplate === undefined ? [] : [key("tokenizer.chat_template", text(model.chatTemplate))]),
    key("llama.context_length", number(model.contextLength ?? 2048)),
    key("llama.embedding_length", number(WIDTH)),
    key("llama.block_count", number(1)),
    key("llama.feed_forward_length", number(FORWARD)),
    key("llama.rope.dimension_count", number(WIDTH / 2)),
    key("llama.attention.head_count", number(2)),
    key("llama.attention.layer_norm_rms_epsilon", value(TYPES.float32, float(1e-5))),
  ];
  const tensors = weights(model, names.length);
  const head = Buffer.concat([
    Buffer.from("GGUF"),
    uint(3),
    long(tensors.length),
    long(keys.length),
    ...keys,
    ...describe(tensors),
  ]);
  return Buffer.concat([padded(head), ...tensors.map(({ data }) => padded(Buffer.from(data.buffer)))]);
}

function vocabulary(pieces: readonly string[]): {
  readonly names: readonly string[];
  readonly types: readonly number[];
} {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);
  // SentencePiece writes blanks as U+2581.
  const own = pieces.map((piece) => piece.replaceAll(" ", "\u2581"));
  return {
    names: ["<unk>", "<s>", "</s>", ...bytes, ...own],
    types: [2, 3, 3, ...bytes.map(() => 6), ...own.map(() => 1)],
  };
}

interface Tensor {
  readonly name: string;
  /** Fastest dimension first. */
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** All tokens of a prompt look alike (direction 0), each piece has a direction of its own. */
function weights({ pieces, isEndless = false }: TinyModel, vocabularySize: number): readonly Tensor[] {
  const embedding = new Float32Array(vocabularySize * WIDTH);
  const output = new Float32Array(vocabularySize * WIDTH);
  const directionOf = (token: number): number => Math.max(0, token - FIRST_PIECE + 1);
  for (let token = 0; token < vocabularySize; token++) embedding[token * WIDTH + directionOf(token)] = 1;
  pieces.forEach((_, index) => {
    output[(FIRST_PIECE + index) * WIDTH + index] = 1;
  });
  output[(isEndless ? FIRST_PIECE : END) * WIDTH + pieces.length] = 1;
  const none = (columns: number, rows: number) => new Float32Array(columns * rows);
  const square = [WIDTH, WIDTH];
  return [
    { name: "token_embd.weight", shape: [WIDTH, vocabularySize], data: embedding },
    { name: "output.weight", shape: [WIDTH, vocabularySize], data: output },
    { name: "output_norm.weight", shape: [WIDTH], data: new Float32Array(WIDTH).fill(1) },
    { name: "blk.0.attn_norm.weight", shape: [WIDTH], data: new Float32Array(WIDTH).fill(1) },
    { name: "blk.0.ffn_norm.weight", shape: [WIDTH], data: new Float32Array(WIDTH).fill(1) },
    ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => ({
      name: `blk.0.${name}.weight`,
      shape: square,
      data: none(WIDTH, WIDTH),
    })),
    { name: "blk.0.ffn_gate.weight", shape: [WIDTH, FORWARD], data: none(WIDTH, FORWARD) },
    { name: "blk.0.ffn_up.weight", shape: [WIDTH, FORWARD], data: none(WIDTH, FORWARD) },
    { name: "blk.0.ffn_down.weight", shape: [FORWARD, WIDTH], data: none(FORWARD, WIDTH) },
  ];
}

function describe(tensors: readonly Tensor[]): readonly Buffer[] {
  let offset = 0;
  return tensors.map(({ name, shape, data }) => {
    const kind = 0; // 32-bit floats
    const line = Buffer.concat([bytesOfText(name), uint(shape.length), ...shape.map(long), uint(kind), long(offset)]);
    offset += Math.ceil(data.byteLength / ALIGNMENT) * ALIGNMENT;
    return line;
  });
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
}

function key(name: string, entry: Buffer): Buffer {
  return Buffer.concat([bytesOfText(name), entry]);
}

function value(type: number, bytes: Buffer): Buffer {
  return Buffer.concat([uint(type), bytes]);
}

function text(content: string): Buffer {
  return value(TYPES.string, bytesOfText(content));
}

function number(content: number): Buffer {
  return value(TYPES.uint32, uint(content));
}

function list(type: number, items: readonly Buffer[]): Buffer {
  return value(TYPES.array, Buffer.concat([uint(type), long(items.length), ...items]));
}

function bytesOfText(content: string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([long(bytes.length), bytes]);
}

function uint(content: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(content);
  return bytes;
}

function long(content: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(content));
  return bytes;
}

function float(content: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(content);
  return bytes;
}
