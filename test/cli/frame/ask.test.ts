// Asking at a terminal: what is shown, what is taken for an answer, what happens where nobody can answer.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { type AnswerSource, ask, askYesNo, type Question } from "../../../src/cli/frame/ask.ts";

const QUESTION: Question<"yes" | "no" | "never"> = {
  text: "Compact now?",
  choices: [
    { key: "y", value: "yes", label: "Yes, compact now" },
    { key: "n", value: "no", label: "Not now" },
    { key: "v", value: "never", label: "Never ask again" },
  ],
  otherwise: "no",
  instead: "--yes",
};

function terminal(...typed: string[]) {
  const input: PassThrough & { isTTY?: boolean } = new PassThrough();
  input.isTTY = true;
  const shown: string[] = [];
  let next = 0;
  const output = {
    seen: true,
    prompt: (text: string) => {
      shown.push(text);
      const line = typed[next++];
      if (line === undefined) input.end();
      else setImmediate(() => input.write(`${line}\n`));
    },
  };
  return { options: { input: input as AnswerSource, output }, shown };
}

describe("ask", () => {
  it("shows the choices, the one that Enter takes in capitals, and takes key or word", async () => {
    const { options, shown } = terminal("V");
    expect(await ask(QUESTION, options)).toBe("never");
    expect(shown).toEqual(["Compact now? [y] Yes, compact now  [N] Not now  [v] Never ask again "]);
    expect(await ask(QUESTION, terminal(" YES ").options)).toBe("yes");
  });

  it("takes Enter and the end of input for what the question says", async () => {
    expect(await ask(QUESTION, terminal("").options)).toBe("no");
    const ended = terminal();
    expect(await ask({ ...QUESTION, otherwise: "yes" }, ended.options)).toBe("yes");
    expect(ended.shown.at(-1)).toBe("\n");
  });

  it("asks again for anything else", async () => {
    const { options, shown } = terminal("perhaps", "y");
    expect(await ask(QUESTION, options)).toBe("yes");
    expect(shown[1]).toBe("Please type y or n or v: ");
  });

  it("stops waiting when the signal says so", async () => {
    const stop = new AbortController();
    const { options } = terminal("never mind what is typed later");
    const asked = ask(QUESTION, {
      ...options,
      output: { seen: true, prompt: () => stop.abort() },
      signal: stop.signal,
    });
    expect(await asked).toBe("no");
  });

  it("lets no control character of the question through", async () => {
    const { options, shown } = terminal("y");
    await askYesNo({ text: "run rm\u001b[2J -rf?", otherwise: "no", instead: "x" }, options);
    expect(shown.join("")).not.toContain("\u001b");
    expect(shown[0]).toMatch(/\[y\/N\] $/);
  });

  it.each([
    ["nobody types", { isTTY: false, seen: true }],
    ["nobody sees the question", { isTTY: true, seen: false }],
  ])("is an error of usage where %s, and says what to set", async (_, { isTTY, seen }) => {
    const input = Object.assign(new PassThrough(), { isTTY });
    const asked = ask(QUESTION, { input, output: { seen, prompt: () => {} } });
    await expect(asked).rejects.toMatchObject({
      kind: "user",
      code: "needs_terminal",
      hints: [expect.stringContaining("--yes"), expect.any(String)],
    });
  });
});
