// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets } from "../../../src/core/secrets/find-secrets.ts";
import { ISSUER_FORMS, MIDDLE_FORMS } from "../../../src/core/secrets/issuer-forms.ts";
import { sampleOf } from "../../../src/core/secrets/mask.ts";
import { BEFORE_TOKEN, mayBeginToken } from "../../../src/core/secrets/secret-rules.ts";
import { random, MADE_SECRETS as SECRETS } from "../../helpers/made-secrets.ts";
import { runs } from "../../helpers/runs.ts";

/** Rules whose forms say where a token ends. */
const ISSUED: ReadonlySet<string> = new Set(ISSUER_FORMS.flatMap(({ id, isVague }) => (isVague === true ? [] : [id])));

const found = (text: string): readonly (readonly [string, string])[] =>
  findSecrets(text).map(({ rule, start, end }) => [rule, text.slice(start, end)]);

describe("findSecrets", () => {
  it.each(SECRETS)("finds %s", (rule, secret) => {
    for (const text of [secret, `export KEY=${secret}\n`, `{"key":"${secret}"}`, `(${secret}), then`])
      expect(found(text)).toContainEqual([rule, secret]);
  });

  it.each(["\\n", "\\\\t", "\\u0022", "\\x3d", "%3D", "\\u001b[1;32m", "\n-", "12-"])(
    "finds a token right behind %j, which is no part of it",
    (before) => {
      for (const [rule, secret] of SECRETS)
        expect(found(`${before}${secret}"`).filter(([kind]) => kind === rule)).toEqual([[rule, secret]]);
    },
  );

  it.each([
    ["as it is", "\n"],
    ["in JSON", "\\n"],
    ["of Windows, in JSON", "\\r\\n"],
    ["of a mail", "=\n"],
    ["of a quotation", "\n> "],
    ["of a table, in JSON", "\\n | "],
  ])("finds a token in which a long line was broken, with the line end (%s)", (_, lineEnd) => {
    const before = "the key of the harbour for the boats of the ninth tide of the year is ";
    const tokens = SECRETS.filter(([rule, secret]) => /^[\w+/.-]{30,}$/.test(secret) && ISSUED.has(rule));
    expect(tokens.length).toBeGreaterThan(40);
    for (const [rule, secret] of tokens)
      for (const at of [13, secret.length >> 1, secret.length - 2]) {
        if (at < 12) continue;
        const wrapped = `${secret.slice(0, at)}${lineEnd}${secret.slice(at)}`;
        // Of a form without an end the first line may be a token by itself.
        const [first] = found(`${before}${wrapped}\nand no more`);
        expect([[rule, wrapped], found(`${before}${secret.slice(0, at)}${lineEnd}`)[0]], wrapped).toContainEqual(first);
      }
  });

  it("takes no words before and after a line end for a token", () => {
    const long = "the words of a line that is long enough to be broken by a terminal at ";
    for (const text of [
      `${long}npm_lifecycle_event\nfoo and so on`,
      `${long}ghp_q7Zm2Kx9Rb4T\nand then something else stands here`,
      `short ghp_q7Zm2Kx9Rb4Tn6Wd8\nYs3Lc5Vf1Jh0Pg7Qe2Ab`,
    ])
      expect(found(text)).toEqual([]);
  });

  it("finds what is JSON inside a text of JSON inside a text", () => {
    let text = JSON.stringify({ password: "hV7q2Lm9xT", address: "redis://app:Zk4vR8wQ@cache.harbour.org" });
    for (let depth = 0; depth < 3; depth++) {
      expect(found(text.replaceAll("/", "\\/"))).toEqual([
        ["assigned", "hV7q2Lm9xT"],
        ["url-credentials", "Zk4vR8wQ"],
      ]);
      text = JSON.stringify({ text });
    }
  });

  it("finds private keys, plain and inside JSON, whole", () => {
    const body = Array.from({ length: 12 }, () => random(64));
    for (const kind of ["RSA ", "EC ", "OPENSSH ", ""]) {
      const key = [`-----BEGIN ${kind}PRIVATE KEY-----`, ...body, ""].join("\n");
      const [only] = found(`a\n${key}-----END ${kind}PRIVATE KEY-----\nb`);
      expect(only?.[0]).toBe("private-key");
      expect(only?.[1]).toContain(body.join("\n"));
      const inJson = JSON.stringify({ key });
      expect(found(inJson)[0]?.[1]).toContain(body.join("\\n"));
    }
  });

  it("finds an encrypted key after its headers", () => {
    const headers = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,9F3A1C7E"];
    const key = ["-----BEGIN RSA PRIVATE KEY-----", ...headers, "", random(64), random(64), ""].join("\n");
    expect(found(key)[0]?.[1]).toContain(random(64));
    expect(found(JSON.stringify(key))[0]?.[0]).toBe("private-key");
  });

  it.each([
    "-----BEGIN PRIVATE KEY-----",
    "Proc-Type: ",
    "eyJaaaaaaaaaaaa.",
    "password=",
    "://a:",
    "://a:p@",
    "@b",
    "sk-",
    "curl -u a",
    "curl",
    "curl -u a:",
    "\\n",
    "a".repeat(30),
  ])("looks at each character a bounded number of times: %s again and again", { tags: ["slow"] }, (piece) => {
    // Anything but linear would not come to an end here.
    expect(findSecrets(piece.repeat(200_000 / piece.length)).length).toBeGreaterThanOrEqual(0);
  });

  it("finds a password in an address, in an assignment and after Bearer, and nothing more than it", () => {
    expect(found("postgres://app:hV7-q2Lm9x@db.harbour.org/tide")).toEqual([["url-credentials", "hV7-q2Lm9x"]]);
    expect(found("mongodb+srv://app:correct-horse@cluster0.harbour.org")[0]?.[1]).toBe("correct-horse");
    for (const text of ["password=hV7q2Lm9xT", 'DB_PASSWORD: "hV7q2Lm9xT"', "{'client_secret': 'hV7q2Lm9xT'}"])
      expect(found(text)).toEqual([["assigned", "hV7q2Lm9xT"]]);
    const token = random(40);
    expect(found(`authorization: Bearer ${token}`)).toEqual([["bearer", token]]);
  });

  it("finds a name and password that a request has in base64, and no words or placeholders that have its form", () => {
    const coded = (text: string): string => Buffer.from(text).toString("base64");
    const login = coded("kim:hV7q2Lm9xT");
    expect(found(`> Authorization: Basic ${login}\\r\\n`)).toEqual([["basic", login]]);
    expect(found(`"authorization":"Basic ${login}"`)).toEqual([["basic", login]]);
    const harmless = [
      coded("user:password"),
      coded("kim:$TOKEN_OF_CI"),
      coded("a sentence"),
      coded("kim:hV"),
      "arithmetic123",
    ];
    for (const other of harmless) expect(found(`Authorization: Basic ${other}`)).toEqual([]);
    expect(found("basic authentication/authorization is switched on")).toEqual([]);
  });

  it.each([
    ["https://kim:hV7@q2Lm9x@harbour.org/tide", "hV7@q2Lm9x"],
    ["https://kim:hV7@@q2Lm9x@harbour.org", "hV7@@q2Lm9x"],
    ["https://kim@harbour.org:hV7q2Lm9x@harbour.org/tide", "hV7q2Lm9x"],
    ["postgres://kim:hV7@q#2Lm9x@db.harbour.org, or ask ops@harbour.org", "hV7@q#2Lm9x"],
    ["https://kim:hV7q2Lm9x@harbour.org/tide?from=ops@harbour.org", "hV7q2Lm9x"],
    ["https://kim:hV7q2Lm9x@harbour.org?from=ops@harbour.org", "hV7q2Lm9x"],
    ["redis://kim:hV7@q2Lm9x@localhost/0", null],
    ["ssh://git@harbour.org:2222/tide@v2", null],
  ])("takes the password of an address up to the last @ before the host: %s", (text, password) => {
    expect(found(text)).toEqual(password === null ? [] : [["url-credentials", password]]);
  });

  it.each([
    ["curl -u kim:correct-horse https://harbour.org/tide", ["curl-login", "correct-horse"]],
    ["curl -su 'kim:correct-horse' https://harbour.org", ["curl-login", "correct-horse"]],
    ["curl https://harbour.org?a=1&b=2 \\\n  --user=kim@harbour.org:correct-horse", ["curl-login", "correct-horse"]],
    ['["curl","-s","--proxy-user","kim:correct-horse","https://harbour.org"]', ["curl-login", "correct-horse"]],
    ['{"cmd":"curl -u \\"kim:correct-horse\\" https://harbour.org"}', ["curl-login", "correct-horse"]],
    ["curl -u :correct-horse https://harbour.org", ["curl-login", "correct-horse"]],
    ["tide-cli fetch -u kim:hV7q2Lm9xT --all", ["login-option", "hV7q2Lm9xT"]],
    ["tide-cli --user kim:hV7q2Lm9xT", ["login-option", "hV7q2Lm9xT"]],
  ])("finds the password that a command is given with a name: %s", (text, expected) => {
    expect(found(text)).toEqual([expected]);
  });

  it.each([
    "curl -u kim https://harbour.org:8443/tide2024",
    "curl -u kim: https://harbour.org/tide",
    "curl -u user:password https://harbour.org",
    "curl -u kim:$TIDE_TOKEN https://harbour.org",
    'curl -u "$TIDE_NAME:$TIDE_TOKEN" https://harbour.org',
    "curl -u kim:$" + "{TIDE_TOKEN} https://harbour.org",
    "curl -u <name>:<token> https://harbour.org",
    "curl https://harbour.org\ngit push -u origin main:correct-horse",
    "docker run -u 1000:1000 -v /tide:/tide tide:v2024",
    "git push -u origin HEAD:feature/gauge-2024",
    "sort -u gauges:2024-05-01.txt",
  ])("takes nothing for the password of a command in %s", (text) => {
    expect(found(text)).toEqual([]);
  });

  it.each([
    "AKIAIOSFODNN7EXAMPLE",
    "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "password=changeme123",
    "password: process.env.DB_PASSWORD1",
    "api_key = your-api-key-goes-here-1",
    "secret: $" + "{{ secrets.DEPLOY_KEY_2 }}",
    "const passwordField = document.querySelector('#p4')",
    "postgres://postgres:postgres@localhost/test1",
    "https://user:hV7q2Lm9xT@www.example.com/tide",
    "--- PASS: TestPasswordOfUser2",
    "toolu_01A09q90qw90lq917835lq9",
    "msg_01XFDUDYJgAACzvnptvVoYEL",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sha512-wSQ9JmSLqJkH5Nw1xZPpNOFVCHVLrYd0xJzYvGfTVAGmVsM2vNn7A==",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    `data:image/png;base64,${random(120)}`,
  ])("takes %s for no secret", (text) => {
    expect(found(text)).toEqual([]);
  });

  it("finds every one in any text, at its place", () => {
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => ({ text, secret: null })),
      fc.constantFrom(...SECRETS).map(([, secret]) => ({ text: secret, secret })),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        // A line of its own: letters at its side would make it a part of a longer word.
        const text = pieces.map((each) => each.text).join("\n");
        const values = found(text).map(([, value]) => value);
        for (const { secret } of pieces)
          if (secret !== null) expect(values.some((value) => value.includes(secret))).toBe(true);
        const ends = findSecrets(text).flatMap(({ start, end }) => [start, end]);
        expect(ends).toEqual([...ends].sort((a, b) => a - b));
      }),
      { numRuns: runs(100) },
    );
  });

  it("looks at what precedes a token only as far as it has to", () => {
    const token = new RegExp(`${BEFORE_TOKEN}x`, "y");
    const before = fc.array(
      fc.constantFrom("\\", "u", "0", "2", "F", "x", "n", "%", "[", ";", "m", " ", "-", "_", "é"),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(before, (characters) => {
        const text = characters.join("");
        token.lastIndex = text.length;
        if (token.test(`${text}x`)) expect(mayBeginToken(`${text}x`, text.length)).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("has a name of its own for each kind", () => {
    const ids = [...ISSUER_FORMS, ...MIDDLE_FORMS].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("sampleOf", () => {
  it.each(SECRETS)("shows of %s its mark at most", (_, secret) => {
    const sample = sampleOf(secret);
    expect(sample).toContain(`(${secret.length} characters)`);
    expect(sample.indexOf("…")).toBeLessThanOrEqual(secret.length / 5);
    expect(sample.indexOf("…")).toBeLessThanOrEqual(7);
  });
});
