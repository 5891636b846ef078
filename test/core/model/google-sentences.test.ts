// What a check says of a broken list for Google, sentence by sentence, and the neighbours of each breach that are none.

import { describe, expect, it } from "vitest";
import {
  checkGoogle,
  type GoogleCheckOptions,
  type GoogleContent,
  type GooglePart,
} from "../../../src/core/model/google-rules.ts";
import { TINY_PNG } from "../../helpers/random-conversation.ts";
import { listSentences } from "../../helpers/violations.ts";

const user = (...parts: GooglePart[]): GoogleContent => ({ role: "user", parts });
const model = (...parts: GooglePart[]): GoogleContent => ({ role: "model", parts });
const text = (value: unknown): GooglePart => ({ text: value });
const image: GooglePart = { inline_data: { mime_type: "image/png", data: TINY_PNG } };
const call = (thoughtSignature?: unknown): GooglePart => ({
  functionCall: { name: "look", args: {} },
  ...(thoughtSignature !== undefined && { thoughtSignature }),
});
const response: GooglePart = { functionResponse: { name: "look", response: {} } };
const GEMINI_3 = { model: "gemini-3-pro-preview" };

const say = (contents: readonly unknown[], options: GoogleCheckOptions = {}) =>
  listSentences(checkGoogle(contents as readonly GoogleContent[], options));

describe("checkGoogle says", () => {
  it("what is no content", () => {
    expect(
      say([user(text("a")), { role: 5, parts: [text("b")] }, { role: null }, "x", null, [text("c")]]),
    ).toMatchInlineSnapshot(`
      [
        "G0 error 1: The role is "5"; expected user or model.",
        "G0 error 2: The role is "null"; expected user or model.",
        "G1 error 4: Two contents of role user in a row; roles must alternate.",
        "G1 error 5: Two contents of role user in a row; roles must alternate.",
        "G7 error 2: A content of role null has no parts.",
        "G7 error 3: A content of role user has no parts.",
        "G7 error 4: A content of role user has no parts.",
        "G7 error 5: A content of role user has no parts.",
      ]
    `);
  });

  it("what is no part", () => {
    const parts = [
      {},
      "x",
      { text: "a", inlineData: {}, fileData: {} },
      text(1),
      { inlineData: "x" },
      { fileData: null },
    ];
    expect(say([user(...(parts as GooglePart[]))])).toMatchInlineSnapshot(`
      [
        "G0 error 0.0: A part holds none of text, inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult, toolCall, toolResponse.",
        "G0 error 0.1: A part holds none of text, inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult, toolCall, toolResponse.",
        "G0 error 0.2: A part holds text and inlineData and fileData; expected one of them.",
        "G0 error 0.3: A text is not a string.",
        "G0 error 0.4: The inlineData is not an object.",
        "G0 error 0.5: The fileData is not an object.",
      ]
    `);
    expect(say([user({ thoughtSignature: "c2ln" }, image, { executable_code: {} })])).toEqual([]);
  });

  it("what is no call and no response", () => {
    const calls = [{}, { name: "" }, { name: 5 }, { name: "look", args: "x" }, { name: "look" }];
    const responses = [
      { response: {} },
      { name: "look" },
      { name: "look", response: [] },
      { name: "look", response: {} },
      5,
    ];
    expect(
      say([
        user(text("a")),
        model(...calls.map((functionCall) => ({ functionCall }))),
        user(...responses.map((functionResponse) => ({ functionResponse }))),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "G0 error 1.0: A functionCall has no name.",
        "G0 error 1.1: A functionCall has no name.",
        "G0 error 1.2: A functionCall has no name.",
        "G0 error 1.3: The args of the functionCall "look" is not an object.",
        "G0 error 2.0: A functionResponse has no name.",
        "G0 error 2.1: The response of the functionResponse "look" is not an object.",
        "G0 error 2.2: The response of the functionResponse "look" is not an object.",
        "G0 error 2.4: The functionResponse is not an object.",
      ]
    `);
  });

  it("which role is wrong", () => {
    expect(say([])).toMatchInlineSnapshot(`
      [
        "G1 error 0: The list is empty.",
      ]
    `);
    expect(say([model(text("a")), model(text("b"))])).toMatchInlineSnapshot(`
      [
        "G1 error 0: The first content has role model; expected user.",
        "G1 error 1: Two contents of role model in a row; roles must alternate.",
        "G2 error 1: The last content has role model; expected user.",
      ]
    `);
    expect(say([model(text("a"))], { complete: false })).toMatchInlineSnapshot(`
      [
        "G1 error 0: The first content has role model; expected user.",
      ]
    `);
    expect(say([user(text("a")), model(text("b"))], { complete: true })).toMatchInlineSnapshot(`
      [
        "G2 error 1: The last content has role model; expected user.",
      ]
    `);
  });

  it("which calls and responses do not belong together", () => {
    expect(say([model(text("a"), call()), user(response)])).toMatchInlineSnapshot(`
      [
        "G1 error 0: The first content has role model; expected user.",
        "G3 error 0.1: A functionCall comes after nothing; expected a user content right before it.",
      ]
    `);
    expect(say([user(text("a")), model(text("b")), model(call()), user(text("c"))])).toMatchInlineSnapshot(`
      [
        "G1 error 2: Two contents of role model in a row; roles must alternate.",
        "G3 error 2.0: A functionCall comes after a content of role model; expected a user content right before it.",
        "G4 error 2.0: 1 functionCall parts, 0 functionResponse parts in the next user content; expected as many.",
      ]
    `);
    expect(
      say([user(text("a")), model(call(), call()), model(response, response), user(text("c"))]),
    ).toMatchInlineSnapshot(`
      [
        "G1 error 2: Two contents of role model in a row; roles must alternate.",
        "G4 error 1.0: 2 functionCall parts, 0 functionResponse parts in the next user content; expected as many.",
        "G5 error 2.0: The functionResponse "look" answers no functionCall of the content before it.",
        "G5 error 2.1: The functionResponse "look" answers no functionCall of the content before it.",
      ]
    `);
    expect(
      say([user(text("a"), { functionResponse: null }), user(call()), model(text("b")), user(response)]),
    ).toMatchInlineSnapshot(`
      [
        "G0 error 0.1: The functionResponse is not an object.",
        "G1 error 1: Two contents of role user in a row; roles must alternate.",
        "G5 error 0.1: The functionResponse null answers no functionCall of the content before it.",
        "G5 error 3.0: The functionResponse "look" answers no functionCall of the content before it.",
        "G6 error 0.1: A functionResponse comes after other parts.",
      ]
    `);
    expect(say([user(call()), model(text("b")), user(text("c"))])).toEqual([]);
  });

  it("which responses are among other parts", () => {
    const answered = (...parts: GooglePart[]) => [user(text("a")), model(call()), user(...parts)];
    expect(say(answered(text("b"), response))).toMatchInlineSnapshot(`
      [
        "G6 error 2.1: A functionResponse comes after other parts.",
      ]
    `);
    expect(say(answered(text("b"), response), { vertex: true })).toMatchInlineSnapshot(`
      [
        "G6 error 2.1: functionResponse parts share a content with other parts; Vertex accepts them only alone.",
      ]
    `);
    expect(say(answered(response, text("b")), { vertex: true })).toMatchInlineSnapshot(`
      [
        "G6 error 2.1: functionResponse parts share a content with other parts; Vertex accepts them only alone.",
      ]
    `);
    expect(say(answered(response, text("b")))).toEqual([]);
    expect(say(answered(response), { vertex: true })).toEqual([]);
  });

  it("which calls of Gemini 3 are not signed", () => {
    expect(say([user(text("a")), model(call()), user(response)], GEMINI_3)).toMatchInlineSnapshot(`
      [
        "G8 error 1.0: The first functionCall of a step of the current turn has no thoughtSignature; gemini-3-pro-preview requires one.",
      ]
    `);
    expect(say([user(text("a")), model(call("")), user(response)], GEMINI_3)).toMatchInlineSnapshot(`
      [
        "G8 error 1.0: The first functionCall of a step of the current turn has no thoughtSignature; gemini-3-pro-preview requires one.",
      ]
    `);
    expect(say([user(image), model(call()), user(response)], GEMINI_3)).toMatchInlineSnapshot(`
      [
        "G8 error 1.0: The first functionCall of a step of the current turn has no thoughtSignature; gemini-3-pro-preview requires one.",
      ]
    `);
    expect(say([user(text("a")), model(call()), user(response, text("b"))], GEMINI_3)).toEqual([]);
    expect(say([user(text("a")), model(text("b")), user(call())], GEMINI_3)).toEqual([]);
  });

  it("which signatures are none", () => {
    const list = [
      user(text("a")),
      model(call("c2ln"), call("no way!"), call(5), call("skip_thought_signature_validator")),
    ];
    expect(say([...list, user(response, response, response, response)])).toMatchInlineSnapshot(`
      [
        "G9 error 1.1: A thoughtSignature is not base64.",
        "G9 error 1.2: A thoughtSignature is not base64.",
        "G10 warning 1.3: A thoughtSignature is the dummy: the call is not checked and its thought is lost.",
      ]
    `);
  });

  it("what is empty", () => {
    expect(
      say([user(text("a")), model(), { parts: [text(""), { text: "", thought_signature: "c2ln" }] }]),
    ).toMatchInlineSnapshot(`
      [
        "G7 error 1: A content of role model has no parts.",
        "G7 error 2.0: A text is empty.",
      ]
    `);
  });

  it("which fields the API does not know", () => {
    expect(say([{ ...user({ text: "a", cache_control: {} }), id: "x" }])).toMatchInlineSnapshot(`
      [
        "G11 error 0: A content has a field that the API does not know: id.",
        "G11 error 0.0: A part has a field that the API does not know: cacheControl.",
      ]
    `);
    const named = { functionCall: { name: "look", id: "1", input: {}, type: "x" }, cache: true };
    const answer = { functionResponse: { name: "look", id: "1", response: {} } };
    expect(say([{ ...user(text("a")), id: "x", at: 1 }, model(named), user(answer)])).toMatchInlineSnapshot(`
      [
        "G11 error 0: A content has fields that the API does not know: id, at.",
        "G11 error 1.0: A part has fields that the API does not know: cache, functionCall.input, functionCall.type.",
      ]
    `);
    expect(say([user(text("a")), model(named), user(answer)], { vertex: true })).toMatchInlineSnapshot(`
      [
        "G11 error 1.0: A part has fields that the API does not know: cache, functionCall.id, functionCall.input, functionCall.type.",
        "G11 error 2.0: A part has a field that the API does not know: functionResponse.id.",
      ]
    `);
  });
});
