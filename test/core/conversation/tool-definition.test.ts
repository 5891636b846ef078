import { expect, it } from "vitest";
import { readToolDefinition } from "../../../src/core/conversation/defined-tools.ts";

it.each([
  [
    { name: "ls", description: "Lists.", parameters: { type: "object", properties: {} }, more: 1 },
    { name: "ls", description: "Lists.", parameters: { type: "object", properties: {} } },
  ],
  [{ name: "ls" }, { name: "ls", description: "", parameters: { type: "object" } }],
  [
    { name: "ls", description: 7, parameters: [] },
    { name: "ls", description: "", parameters: { type: "object" } },
  ],
  [{ name: "" }, null],
  [{ description: "Lists." }, null],
  [null, null],
  ["ls", null],
])("reads %j as a definition", (value, definition) => {
  expect(readToolDefinition(value)).toEqual(definition);
});
