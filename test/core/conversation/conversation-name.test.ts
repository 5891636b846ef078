// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  abbreviateCommit,
  abbreviateId,
  branchName,
  conversationId,
  findNamed,
  isDeviceName,
  isNamedBy,
  isTurnNumber,
  mayBeBeginning,
  parseBranchName,
  shortId,
  slugOf,
  suffixOf,
  unfitBranches,
} from "../../../src/core/conversation/name.ts";
import { runs } from "../../helpers/runs.ts";

describe("slugs", () => {
  it.each([
    ["Fix the parser!", "fix-the-parser"],
    ["  Über-Größe: naïve café  ", "uber-gro-e-naive-cafe"],
    ["日本語", "conversation"],
    ["", "conversation"],
    ["a very long title that goes on and on beyond forty characters", "a-very-long-title-that-goes-on-and-on"],
    ["x".repeat(60), "x".repeat(40)],
    ["x".repeat(40), "x".repeat(40)],
    ["x".repeat(41), "x".repeat(40)],
    [`${"x".repeat(20)} ${"y".repeat(40)}`, `${"x".repeat(20)}-${"y".repeat(19)}`],
    [`${"x".repeat(21)} ${"y".repeat(40)}`, "x".repeat(21)],
    [`${"x".repeat(30)} ${"y".repeat(9)} z`, `${"x".repeat(30)}-${"y".repeat(9)}`],
    [`${"x".repeat(30)} ${"y".repeat(10)} z`, "x".repeat(30)],
    ["-a--b-", "a-b"],
    ["ﬁx №5", "fix-no5"],
  ])("make of %j %s", (title, slug) => {
    expect(slugOf(title)).toBe(slug);
  });

  it("make a legal branch of any title", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (title) => {
        const slug = slugOf(title);
        expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slug.length).toBeLessThanOrEqual(40);
        expect(parseBranchName(`${conversationId(title, "k3f9")}/main`).fork).toBe("main");
      }),
    );
  });
});

describe("short ids", () => {
  it("write 5 bits a character, the same for the same digest", () => {
    expect(shortId("00000")).toBe("0000");
    expect(shortId("fffff")).toBe("zzzz");
    expect(shortId("8c6f1a2b", 6)).toHaveLength(6);
    expect(shortId("8C6F1")).toBe(shortId("8c6f1"));
  });

  it("spell the first bits of the digest as a number of base 32", () => {
    const digits = "0123456789abcdefghjkmnpqrstvwxyz";
    const spell = (value: bigint, length: number): string =>
      length === 0 ? "" : spell(value / 32n, length - 1) + digits[Number(value % 32n)];
    const hexes = fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 10, maxLength: 64 });
    fc.assert(
      fc.property(hexes, fc.integer({ min: 1, max: 8 }), (hex, length) => {
        const bits = BigInt(`0x${hex}`) >> BigInt(hex.length * 4 - length * 5);
        expect(shortId(hex, length)).toBe(spell(bits, length));
      }),
    );
  });

  it.each([
    ["", 4, 5],
    ["1234", 4, 5],
    ["xyz12", 4, 5],
    ["12345g", 4, 5],
    ["g12345", 4, 5],
    ["1234567", 6, 8],
  ])("refuse the digest %j for %d characters", (hex, length, needed) => {
    expect(() => shortId(hex, length)).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "bad_digest",
        message: `An id of ${length} characters cannot be made from "${hex}": expected at least ${needed} hex digits.`,
      }),
    );
  });

  it("need no more digits than they write", () => {
    expect(shortId("12345")).toBe("28t5");
    expect(shortId("12345678", 6)).toBe("28t5cy");
  });
});

describe("branch names", () => {
  it("come apart as they were joined", () => {
    expect(parseBranchName(branchName("fix-parser-k3f9", "Try_B.2"))).toEqual({
      conversation: "fix-parser-k3f9",
      fork: "Try_B.2",
    });
  });

  const SLASH = "expected <conversation>/<fork> with one slash";
  const EMPTY = "a part is empty";
  const LONG = "a part is longer than 100 characters";
  const LETTERS = "expected only `A-Z a-z 0-9 . _ -`";
  const BEGIN = "a part begins with a dot or a hyphen";
  const DOTS = "a part holds two dots in a row or ends in a dot or .lock";

  it.each([
    ["main", SLASH],
    ["a/b/c", SLASH],
    ["a/", EMPTY],
    ["/b", EMPTY],
    ["a/b c", LETTERS],
    ["a b/c", LETTERS],
    ["a/b~1", LETTERS],
    ["a/~b", LETTERS],
    ["a/@{u}", LETTERS],
    ["a/\u001b[0m", LETTERS],
    ["a/..", BEGIN],
    ["a/.b", BEGIN],
    ["a/-b", BEGIN],
    ["-a/b", BEGIN],
    ["a/b.lock", DOTS],
    ["a.LOCK/b", DOTS],
    ["a/b.", DOTS],
    ["a/b..c", DOTS],
    [`a/${"x".repeat(101)}`, LONG],
    ["HEAD/main", '"HEAD" means something else to git'],
    ["head/main", '"head" means something else to git'],
    ["FETCH_HEAD/main", '"FETCH_HEAD" means something else to git'],
    ["a/HEAD", '"HEAD" means something else to git'],
    ["refs/main", '"refs" means something else to git'],
    ["heads/main", '"heads" means something else to git'],
    ["tags/main", '"tags" means something else to git'],
    ["remotes/main", '"remotes" means something else to git'],
  ])("are refused when git or a file system would stumble: %j, %s", (name, reason) => {
    expect(() => parseBranchName(name)).toThrowError(
      expect.objectContaining({
        code: "bad_name",
        kind: "user",
        message: `"${name}" cannot name a branch of a conversation: ${reason}.`,
        data: { name, reason },
      }),
    );
  });

  it("are refused with the nearest name that is right, of the same conversation", () => {
    for (const [name, right] of [
      ["my-talk-4wgq/a b", "my-talk-4wgq/a-b"],
      ["my talk/main", "my-talk/main"],
      [
        "my-talk-that-has-a-long-title-so-that-it-would-be-cut-4wgq/~b",
        "my-talk-that-has-a-long-title-so-that-it-would-be-cut-4wgq/b",
      ],
    ] as const)
      expect(() => parseBranchName(name)).toThrowError(expect.objectContaining({ hints: [`try: ${right}`] }));
  });

  it("are not said in full where they are very long", () => {
    const name = `talk-k3f9/${"x".repeat(5000)}`;
    const message = `"talk-k3f9/${"x".repeat(90)}…" cannot name a branch of a conversation: ${LONG}.`;
    expect(() => parseBranchName(name)).toThrowError(expect.objectContaining({ code: "bad_name", message }));
  });

  it.each([
    "a/b",
    "ahead/tags",
    "a/head",
    "headless/b",
    "A.b_c-9/x.lock.y",
    "a-/b-",
    `${"x".repeat(100)}/9`,
    "a/lock",
    "a/b.c.d",
  ])("may be %s", (name) => {
    const [conversation, fork] = name.split("/");
    expect(parseBranchName(name)).toEqual({ conversation, fork });
    expect(branchName(conversation!, fork!)).toBe(name);
  });

  it("are joined of legal parts only", () => {
    expect(() => branchName("a/b", "c")).toThrowError(expect.objectContaining({ code: "bad_name" }));
    expect(() => branchName("a", "")).toThrowError(expect.objectContaining({ code: "bad_name" }));
  });

  it("are suggested in a legal form", () => {
    expect(() => parseBranchName("My Talk/Try B")).toThrowError(
      expect.objectContaining({ hints: ["try: my-talk/try-b"] }),
    );
    expect(() => parseBranchName("My Talk")).toThrowError(
      expect.objectContaining({ hints: ["try: my-talk-k3f9/main"] }),
    );
  });
});

describe("words for names", () => {
  it.each([
    ["3", true, false],
    ["1234", true, false],
    ["0".repeat(39), true, false],
    ["0".repeat(40), false, true],
    ["1234a", false, true],
    ["-3", false, false],
    ["3:ab", false, true],
    ["k3f", false, false],
    ["k3f9", false, true],
    ["", false, false],
  ])("are turns or beginnings: %s", (word, isTurn, isBeginning) => {
    expect([isTurnNumber(word), mayBeBeginning(word)]).toEqual([isTurn, isBeginning]);
  });

  it("are a commit's first characters, and more where these are digits", () => {
    expect(abbreviateCommit(`4f2a${"0".repeat(36)}`, 7)).toBe("4f2a000");
    expect(abbreviateCommit(`320993672d${"1".repeat(30)}`)).toBe("320993672d");
    expect(abbreviateCommit("1".repeat(40), 7)).toBe("1".repeat(40));
  });

  it.each([
    ["fix-parser-k3f9", "k3f9"],
    ["fix-parser-k3f9q", "k3f9q"],
    ["fix-parser-1234", "1234"],
    ["fix-parser-k3f", null],
    ["fix-parser-tool", null],
    ["k3f9", null],
  ])("are what jpg chose of a name: %s", (conversation, suffix) => {
    expect(suffixOf(conversation)).toBe(suffix);
  });
});

describe("abbreviated ids", () => {
  it.each([
    ["0708a5fa-06bd-4274-b1fe-513c7202217e", "0708a5fa"],
    ["0708a5fa-06bd-4274-b1fe-513c7202217e.12", "0708a5fa.12"],
    ["d703a1a9-1b7b-4fb1-b512-c9738b1fe617-3", "d703a1a9-3"],
    ["120-019d7d4c-fef7-7d21-908c-d8850b805a6d", "120-019d7d4c"],
    ["12345678-06bd-4274-b1fe-513c7202217e", "12345678-06bd"],
    ["12345678-06bd-4274-b1fe-513c7202217e.1", "12345678.1"],
    ["msg_cdaa3e0c10019VyL2hBUDtHUU3.1", "msg_cdaa3e0c1001.1"],
    ["0qpzdoan604av", "0qpzdoan"],
    ["1234567890123", "1234567890123"],
    ["y9f5b9", "y9f5b9"],
    ["5a1c9e07", "5a1c9e07"],
    ["line-12", "line-12"],
    ["", ""],
  ])("are the first eight characters of what is long: %s", (id, short) => {
    expect(abbreviateId(id)).toBe(short);
  });

  const ids = ["", ".1", ".10"].map((end) => `0708a5fa-06bd-4274-b1fe-513c7202217e${end}`);

  it("name the one of them, where a beginning would name several", () => {
    const named = (word: string) => findNamed(ids, word, (id) => id);
    for (const id of ids) {
      expect(named(abbreviateId(id))).toEqual([id]);
      expect(named(id)).toEqual([id]);
      expect(isNamedBy(id, abbreviateId(id))).toBe(true);
    }
    expect(named("0708a5")).toEqual(ids);
    expect(named("0708a5fa.2")).toEqual([]);
  });

  it("are never the number of a turn, and name their id, whatever it is", () => {
    const part = fc.oneof(fc.uuid(), fc.stringMatching(/^[\w.-]{0,30}$/));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 3 }), (parts) => {
        const id = parts.join("-");
        expect(isNamedBy(id, abbreviateId(id))).toBe(true);
        expect(isTurnNumber(abbreviateId(id))).toBe(isTurnNumber(id));
        expect(abbreviateId(abbreviateId(id)).length).toBeLessThanOrEqual(id.length);
      }),
      { numRuns: runs(200) },
    );
  });
});

it.each<[string, boolean]>([
  ["con", true],
  ["NUL", true],
  ["aux.txt", true],
  ["Com1", true],
  ["lpt9", true],
  ["console", false],
  ["com10", false],
  ["com", false],
  ["my-con", false],
  ["x.con", false],
])("whether %s is a device on Windows: %s", (name, isDevice) => {
  expect(isDeviceName(name)).toBe(isDevice);
});

describe("branches that a system cannot keep", () => {
  const names = [
    "a-1234/main",
    "a-1234/con",
    "a-1234/AUX.2",
    "nul/main",
    "a-1234/Main",
    "a-1234/console",
    "B-1234/x",
    "b-1234/x",
  ];

  it("are on Windows devices, and others that differ by case from an earlier one", () => {
    expect(unfitBranches(names, "win32")).toEqual([
      "a-1234/con",
      "a-1234/AUX.2",
      "nul/main",
      "a-1234/Main",
      "b-1234/x",
    ]);
  });

  it("are on macOS those that differ by case alone, and elsewhere none", () => {
    expect(unfitBranches(names, "darwin")).toEqual(["a-1234/Main", "b-1234/x"]);
    expect(unfitBranches(names, "linux")).toEqual([]);
    expect(unfitBranches(names, undefined)).toEqual([]);
  });
});
