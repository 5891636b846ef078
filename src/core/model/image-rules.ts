// What providers accept of images: type, bytes, pixels, number. One check for all four, by a table of limits; each provider's rules only
// say where its images are. Images that are elsewhere (a URL, an uploaded file) are not checked.
import { decodeBase64 } from "../json.ts";
import type { Breach, MessagePosition } from "./provider-rules.ts";

/** An image whose bytes are in the request. */
export interface SentImage {
  readonly position: MessagePosition;
  /** As the request names it. */
  readonly mediaType: unknown;
  /** Base64, if the request is correct. */
  readonly data: unknown;
}

/** What a provider accepts. */
export interface ImageLimits {
  /** Name in sentences. */
  readonly provider: string;
  /** Media types, as the provider spells them. */
  readonly types: readonly string[];
  /** Whether the provider refuses a type that does not match the bytes; else it reads the bytes alone. */
  readonly checksType: boolean;
  /** Most bytes of one image, counted in base64. */
  readonly bytes: number;
  /** Most bytes of all images of a request, counted in base64. */
  readonly totalBytes: number;
  /** Most images of a request. */
  readonly count: number;
  /** Most pixels of a side; absent = any. */
  readonly side?: number;
  /** Most pixels of a side in a request with more than `over` images. */
  readonly many?: { readonly over: number; readonly side: number };
}

/** Returns the image of a data URL; none of any other URL. The text after the comma is base64, or no image that a provider reads. */
export function* sentInUrl(url: unknown, position: MessagePosition): Generator<SentImage> {
  if (typeof url !== "string" || !url.startsWith("data:")) return;
  const comma = url.indexOf(",");
  const head = comma < 0 ? url : url.slice(0, comma);
  yield {
    position,
    mediaType: head.slice("data:".length).replace(/;.*$/, ""),
    data: comma < 0 ? "" : url.slice(comma + 1),
  };
}

const MIB = 1024 * 1024;
const COMMON_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/**
 * Sources: platform.claude.com/docs/en/build-with-claude/vision (types, pixels, 20 and 100 images, 32 MB a request; 600 where
 * the context is larger than 200k); error texts "image exceeds 5 MB maximum: … bytes > 5242880 bytes", which counts base64,
 * and "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"
 * (anthropics/claude-code#4778, #49537).
 */
export const ANTHROPIC_IMAGES: ImageLimits = {
  provider: "Anthropic",
  types: COMMON_TYPES,
  checksType: true,
  bytes: 5 * MIB,
  totalBytes: 32 * MIB,
  count: 100,
  side: 8000,
  many: { over: 20, side: 2000 },
};

/** Source: OpenAI's guide "Images and vision" (types, 500 images and 50 MB a request); no limit of pixels: it scales down. */
export const OPENAI_IMAGES: ImageLimits = {
  provider: "OpenAI",
  types: COMMON_TYPES,
  checksType: false,
  bytes: 50 * MIB,
  totalBytes: 50 * MIB,
  count: 500,
};

/** Source: ai.google.dev/gemini-api/docs, image understanding (types, 3,600 images) and file input methods (100 MB inline). */
export const GOOGLE_IMAGES: ImageLimits = {
  provider: "Google",
  types: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
  checksType: false,
  bytes: 100 * MIB,
  totalBytes: 100 * MIB,
  count: 3600,
};

/** Finds images that the provider refuses, each once, in order; then what is wrong with all of them together. */
export function* refusedImages(images: readonly SentImage[], limits: ImageLimits): Generator<Breach> {
  for (const [at, image] of images.entries()) {
    const problem = problemOf(image, images.length, limits);
    if (problem !== null) yield { position: image.position, message: `Image ${at + 1} of ${images.length} ${problem}` };
  }
  const { provider, count, totalBytes } = limits;
  const extra = images[count];
  if (extra !== undefined) {
    const message = `There are ${images.length} images; ${provider} takes at most ${count} in a request: send fewer.`;
    yield { position: extra.position, message };
  }
  const over = firstOver(images, totalBytes);
  if (images.length > 1 && over !== undefined) {
    const message = `The images have more than ${grouped(totalBytes)} bytes of base64 here, the most that ${provider} takes in a request: send fewer or smaller ones.`;
    yield { position: over.position, message };
  }
}

/** Finds images whose type does not match their bytes, where the provider accepts that but others do not. */
export function* misnamedImages(images: readonly SentImage[], limits: ImageLimits): Generator<Breach> {
  if (limits.checksType) return;
  for (const [at, { position, mediaType, data }] of images.entries()) {
    const bytes = typeof data === "string" ? decodeBase64(data) : null;
    const real = bytes === null ? undefined : readImageHead(bytes)?.type;
    if (real === undefined || !limits.types.includes(real) || real === usualType(mediaType)) continue;
    const message = `Image ${at + 1} of ${images.length} is called ${named(mediaType)}, its bytes are ${real}: call it that.`;
    yield { position, message };
  }
}

/** What is wrong with one image, as the rest of a sentence; null = nothing. */
function problemOf({ mediaType, data }: SentImage, count: number, limits: ImageLimits): string | null {
  const { provider, types, checksType } = limits;
  const type = named(mediaType);
  const taken = `${provider} takes ${types.slice(0, -1).join(", ")} or ${types.at(-1)}`;
  if (!types.includes(checksType ? type : usualType(mediaType)))
    return `is of type ${type}; ${taken}: convert it or take it out.`;
  if (typeof data !== "string" || data === "")
    return `(${type}) is empty; ${provider} takes none without bytes: take it out.`;
  if (data.length > limits.bytes)
    return `(${type}) has ${grouped(data.length)} bytes in base64; ${provider} takes at most ${grouped(limits.bytes)}: scale it down or take it out.`;
  const bytes = decodeBase64(data);
  if (bytes === null) return `(${type}) is not base64; ${provider} reads nothing else: encode it or take it out.`;
  const found = readImageHead(bytes);
  if (found === null) return `(${type}) has the bytes of no image that is known; ${taken}: take it out.`;
  if (!types.includes(found.type))
    return `is called ${type}, but its bytes are ${found.type}; ${taken}: convert it or take it out.`;
  if (checksType && found.type !== type)
    return `is called ${type}, but its bytes are ${found.type}; ${provider} wants the type of the bytes: call it ${found.type}.`;
  return problemOfSize(found, type, count, limits);
}

function problemOfSize(found: ImageHead, type: string, count: number, limits: ImageLimits): string | null {
  const { size } = found;
  if (size === null) return null; // not every kind has its size at its beginning
  if (size === "cut") return `(${type}) is cut off before its size; ${limits.provider} cannot read it: take it out.`;
  const [width, height] = size;
  const larger = Math.max(width, height);
  const { provider, side, many } = limits;
  const is = `(${type}) is ${width} by ${height} pixels; ${provider} takes at most`;
  if (width === 0 || height === 0) return `(${type}) is ${width} by ${height} pixels: take it out.`;
  if (side !== undefined && larger > side) return `${is} ${side} a side: scale it down or take it out.`;
  if (many !== undefined && count > many.over && larger > many.side)
    return `${is} ${many.side} a side in a request with more than ${many.over} images: scale it down, or send fewer.`;
  return null;
}

/** The image at which the total of bytes exceeds the limit; absent if it does not. */
function firstOver(images: readonly SentImage[], most: number): SentImage | undefined {
  let total = 0;
  return images.find(({ data }) => {
    total += typeof data === "string" ? data.length : 0;
    return total > most;
  });
}

function named(mediaType: unknown): string {
  return typeof mediaType === "string" && mediaType !== "" ? mediaType : "none";
}

/** A media type in its usual spelling: lower case, without parameters, `jpeg` in full. */
function usualType(mediaType: unknown): string {
  const [type = ""] = named(mediaType).toLowerCase().split(";");
  return type.trim() === "image/jpg" ? "image/jpeg" : type.trim();
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** What the first bytes of an image say. */
interface ImageHead {
  readonly type: string;
  /** Width and height in pixels; `cut` when the bytes end before; null when this kind stores it elsewhere. */
  readonly size: readonly [number, number] | "cut" | null;
}

type SizeReader = (view: DataView) => readonly [number, number] | null;

/** Kinds by their first bytes, read as Latin-1. Sources: the file formats' own specifications. */
const KINDS: readonly (readonly [RegExp, string, SizeReader])[] = [
  [/^\x89PNG\r\n\x1a\n/, "image/png", (view) => [view.getUint32(16), view.getUint32(20)]],
  [/^\xff\xd8\xff/, "image/jpeg", jpegSize],
  [/^GIF8[79]a/, "image/gif", (view) => [view.getUint16(6, true), view.getUint16(8, true)]],
  [/^RIFF.{4}WEBP/s, "image/webp", webpSize],
  [/^.{4}ftyp(?:mif1|msf1)/s, "image/heif", () => null],
  [/^.{4}ftyphe[a-z]/s, "image/heic", () => null],
  [/^.{4}ftypavi[fs]/s, "image/avif", () => null],
  [/^BM.{12}/s, "image/bmp", () => null],
  [/^(?:II\*\0|MM\0\*)/, "image/tiff", () => null],
  [
    /^(?:\xef\xbb\xbf)?\s*(?:<\?xml.*?\?>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE.*?>\s*)?<svg\b/is,
    "image/svg+xml",
    () => null,
  ],
];

/** Longest beginning that identifies the kind, in bytes. */
const HEAD = 512;

function readImageHead(bytes: Uint8Array): ImageHead | null {
  const head = String.fromCharCode(...bytes.subarray(0, HEAD));
  const kind = KINDS.find(([start]) => start.test(head));
  if (kind === undefined) return null;
  const [, type, read] = kind;
  try {
    return { type, size: read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)) };
  } catch (error) {
    if (error instanceof RangeError) return { type, size: "cut" };
    throw error;
  }
}

/** The frame header (SOF0…15 without DHT, JPG and DAC) comes after segments of other kinds. Source: ITU T.81, B.1.1.4. */
function jpegSize(view: DataView): readonly [number, number] {
  let at = 2;
  for (;;) {
    const marker = view.getUint16(at) & 0xff;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    // A fill byte, or a marker without a segment.
    if (marker === 0xff) at += 1;
    else at += (marker >= 0xd0 && marker <= 0xd8) || marker === 0x01 ? 2 : 2 + view.getUint16(at + 2);
  }
}

/** Source: RFC 9649, sections 2.5 to 2.7. */
function webpSize(view: DataView): readonly [number, number] | null {
  const kind = view.getUint32(12);
  if (kind === 0x56503858) {
    const three = (at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000 + 1;
    return [three(24), three(27)];
  }
  if (kind === 0x56503820) return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (kind !== 0x5650384c) return null;
  const bits = view.getUint32(21, true);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}
