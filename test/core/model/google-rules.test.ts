import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  checkGoogle,
  currentTurnStart,
  DUMMY_SIGNATURE,
  type GoogleCheckOptions,
  type GoogleContent,
  type GooglePart,
  hasGoogleFeature,
  isSignature,
} from "../../../src/core/model/google-rules.ts";
import { corpusMissing, sharedFolder } from "../../helpers/corpus.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";

const user = (...parts: GooglePart[]): GoogleContent => ({ role: "user", parts });
const model = (...parts: GooglePart[]): GoogleContent => ({ role: "model", parts });
const text = (value: string): GooglePart => ({ text: value });
const call = (name = "look", thoughtSignature?: string): GooglePart => ({
  functionCall: { name, args: {} },
  ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
});
const response = (name = "look"): GooglePart => ({ functionResponse: { name, response: { output: "seen" } } });
const GEMINI_3 = { model: "gemini-3-pro-preview" };

/** Breaches as "rule content.part". */
function check(contents: readonly GoogleContent[], options: GoogleCheckOptions = {}): string[] {
  return checkGoogle(contents, options).map(
    ({ rule, position }) => `${rule} ${position.message}${position.block === undefined ? "" : `.${position.block}`}`,
  );
}

describe("checkGoogle", () => {
  it("finds nothing in a valid list", () => {
    expect(
      check([
        user(text("a"), { inlineData: { mimeType: "image/png", data: TINY_PNG } }),
        model(text("b"), call(), call("find")),
        user(response(), response("find"), text("c")),
        model({ text: "", thoughtSignature: "c2ln" }),
        { parts: [text("role left out")] },
      ]),
    ).toEqual([]);
  });

  it("reads snake case as camel case", () => {
    expect(
      check([
        user(text("a")),
        model({ function_call: { name: "look" } }),
        user({ function_response: { name: "look", response: {} } }),
      ]),
    ).toEqual([]);
  });

  it("names rule, severity, provider, place and reason", () => {
    expect(checkGoogle([user(text("a")), model(call(), call()), user(response())])).toEqual([
      {
        rule: "G4",
        severity: "error",
        provider: "google",
        position: { message: 1, block: 0 },
        message: "2 functionCall parts, 1 functionResponse parts in the next user content; expected as many.",
      },
    ]);
  });

  it.each<[string, readonly unknown[], string[]]>([
    [
      "a role of another provider",
      [user(text("a")), { role: "assistant", parts: [text("b")] }, user(text("c"))],
      ["G0 1"],
    ],
    ["a part with nothing in it", [user({ thought: true })], ["G0 0.0"]],
    ["a part with two things in it", [user({ text: "a", functionCall: { name: "x" } })], ["G0 0.0"]],
    ["a text that is no string", [user({ text: 1 })], ["G0 0.0"]],
    ["a call without a name", [user(text("a")), model({ functionCall: {} }), user(response())], ["G0 1.0"]],
    [
      "arguments that are a list",
      [user(text("a")), model({ functionCall: { name: "x", args: [] } }), user(response())],
      ["G0 1.0"],
    ],
    [
      "a response that is a text",
      [user(text("a")), model(call()), user({ functionResponse: { name: "look", response: "x" } })],
      ["G0 2.0"],
    ],
    ["an entry that is no object", [user(text("a")), model(text("b")), "hello"], ["G7 2"]],
    ["an empty list", [], ["G1 0"]],
    ["a model at the start", [model(text("a")), user(text("b"))], ["G1 0"]],
    ["two users in a row", [user(text("a")), user(text("b"))], ["G1 1"]],
    ["a model at the end", [user(text("a")), model(text("b"))], ["G2 1"]],
    ["a call at the start", [model(call()), user(response())], ["G1 0", "G3 0.0"]],
    ["a call after a model", [user(text("a")), model(text("b")), model(call()), user(response())], ["G1 2", "G3 2.0"]],
    ["a call without a response", [user(text("a")), model(call()), user(text("b"))], ["G4 1.0"]],
    ["a call at the end", [user(text("a")), model(call())], ["G2 1", "G4 1.0"]],
    ["one response too many", [user(text("a")), model(call()), user(response(), response())], ["G4 1.0"]],
    ["a response at the start", [user(response())], ["G5 0.0"]],
    [
      "a response without a call",
      [user(text("a")), model(text("b")), user(text("c"), response())],
      ["G5 2.1", "G6 2.1"],
    ],
    ["a response of the model", [user(text("a")), model(response()), user(text("b"))], ["G5 1.0"]],
    ["a response behind a text", [user(text("a")), model(call()), user(text("b"), response())], ["G6 2.1"]],
    ["no parts", [user(text("a")), model(), user(text("b"))], ["G7 1"]],
    ["parts that are no list", [user(text("a")), { role: "model", parts: "b" }, user(text("b"))], ["G7 1"]],
    ["an empty text", [user(text(""))], ["G7 0.0"]],
    ["a signature that is not base64", [user(text("a")), model(call("look", "no way!")), user(response())], ["G9 1.0"]],
    ["an unknown field of a content", [{ ...user(text("a")), id: "x" }], ["G11 0"]],
    ["an unknown field of a part", [user({ text: "a", cache: true })], ["G11 0.0"]],
    [
      "an unknown field of a call",
      [user(text("a")), model({ functionCall: { name: "x", input: {} } }), user(response())],
      ["G11 1.0"],
    ],
  ])("finds %s", (_, contents, found) => {
    expect(check(contents as readonly GoogleContent[])).toEqual(found);
  });

  it("does not judge the end of a list to which a request is still added", () => {
    expect(check([user(text("a")), model(text("b"))], { complete: false })).toEqual([]);
    expect(check([], { complete: false })).toEqual([]);
    expect(check([user(text("a")), model(call())], { complete: false })).toEqual(["G4 1.0"]);
  });

  it("wants the first call of each step of the current turn signed, of Gemini 3", () => {
    const contents = [
      user(text("older")),
      model(call()),
      user(response()),
      model(text("done")),
      user(text("newest")),
      model(call("look", "c2ln"), call()),
      user(response(), response()),
      model(text("more"), call()),
      user(response()),
    ];
    expect(check(contents, GEMINI_3)).toEqual(["G8 7.1"]);
    expect(check(contents, { ...GEMINI_3, complete: false })).toEqual([]);
    expect(check(contents, { model: "gemini-2.5-pro" })).toEqual([]);
    expect(check(contents)).toEqual([]);
  });

  it("takes the dummy for a signature, with a warning", () => {
    const contents = [user(text("a")), model(call("look", "skip_thought_signature_validator")), user(response())];
    expect(checkGoogle(contents, GEMINI_3).map(({ rule, severity }) => [rule, severity])).toEqual([["G10", "warning"]]);
  });

  it("is stricter for Vertex", () => {
    const contents = [
      user(text("a")),
      model({ functionCall: { id: "1", name: "look", args: {} } }),
      user({ functionResponse: { id: "1", name: "look", response: {} } }, text("b")),
    ];
    expect(check(contents)).toEqual([]);
    expect(check(contents, { vertex: true })).toEqual(["G6 2.1", "G11 1.0", "G11 2.0"]);
  });

  it.skipIf(corpusMissing !== null)("corpus: finds nothing that is refused in what Gemini CLI sent", () => {
    const folder = join(sharedFolder, "goldens", "gemini-cli-0.61.0");
    const files = readdirSync(folder);
    expect(files).toHaveLength(3);
    for (const file of files) {
      const contents = JSON.parse(readFileSync(join(folder, file), "utf8")) as GoogleContent[];
      for (const name of [undefined, "gemini-2.5-flash", "gemini-3-pro-preview"]) {
        const found = checkGoogle(contents, name === undefined ? {} : { model: name });
        expect(found.filter(({ severity }) => severity === "error")).toEqual([]);
      }
    }
  });
});

describe("hasGoogleFeature", () => {
  it("reads version and route from the model's name", () => {
    const signed = ["gemini-3-pro-preview", "models/gemini-3.1-flash", "publishers/google/models/gemini-4-pro"];
    for (const name of signed) expect(hasGoogleFeature(name, "signed_calls")).toBe(true);
    for (const name of ["gemini-2.5-flash", "claude-opus-4-8", "gemini", "other", undefined])
      expect(hasGoogleFeature(name, "signed_calls")).toBe(false);
    for (const name of ["claude-opus-4-8@default", "gpt-oss-120b", "gemini-3-flash"])
      expect(hasGoogleFeature(name, "call_ids")).toBe(true);
    expect(hasGoogleFeature("gemini-2.5-flash", "call_ids")).toBe(false);
  });
});

// Thought signatures of Gemini, and where the current turn begins.

describe("isSignature", () => {
  it.each(["c2ln", "a", "c2lnbg==", "c2k=", "+/09AZaz", "-_09AZaz"])("takes %j", (value) => {
    expect(isSignature(value)).toBe(true);
  });

  it.each(["", "=", " c2ln", "c2ln ", "!c2ln", "c2ln!", "c2===", "c=2", DUMMY_SIGNATURE, 5, null, undefined, ["c2ln"]])(
    "refuses %j",
    (value) => expect(isSignature(value)).toBe(false),
  );
});

describe("currentTurnStart", () => {
  const content = (role: string, ...parts: Readonly<Record<string, unknown>>[]) => ({ role, parts });

  it("is the newest user content that holds a text", () => {
    const asked = [content("user", { text: "a" }), content("model", { text: "b" }), content("user", {}, { text: "" })];
    expect(currentTurnStart([...asked, content("model", { text: "c" }), content("user", { text: 5 })])).toBe(2);
    expect(currentTurnStart(asked.slice(0, 2))).toBe(0);
  });

  it("is -1 when no user content holds a text", () => {
    expect(currentTurnStart([])).toBe(-1);
    expect(currentTurnStart([content("model", { text: "b" }), content("user", { functionResponse: {} })])).toBe(-1);
  });
});
