// Writes the table of kinds of secrets in docs/SECURITY.md from the rules (`npm run docs`). The same rules give the same text:
// test/docs/secret-docs.test.ts compares it with the file, and finds a secret of each example.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ISSUER_FORMS, MIDDLE_FORMS } from "../src/core/secrets/issuer-forms.ts";
import { PLACE_RULES } from "../src/core/secrets/secret-rules.ts";

const MARKS = ["<!-- secrets: generated -->", "<!-- /secrets -->"];

/** What is found by no table: values that a name says are secret, and private keys, as programs and agents print them. */
const OTHERS = [
  {
    id: "assigned",
    what: "a value whose name says that it is secret, in every syntax; and a random word beside such a word",
    examples: [
      "VERCEL_TOKEN={w24}",
      'export DB_PASSWORD="{w10}"',
      '"token": "{w32}"',
      "X-Api-Key: {w32}",
      "tide --api-key {w32}",
      '["tide", "--token", "{w32}"]',
      "const apiToken: string = '{w32}'",
      'var apiToken string = "{w32}"',
      'api_token: str = "{w32}"',
      "  api_token = {w32}",
      "db.password={w10}",
      'define("DB_PASSWORD", "{w10}")',
      "'db_password' => '{w10}',",
      '$env:API_TOKEN = "{w32}"',
      "ENV API_TOKEN {w32}",
      '  - name: API_TOKEN\n    value: "{w32}"',
      '<add key="ApiKey" value="{w32}"/>',
      "<key>ApiKey</key>\n<string>{w32}</string>",
      "<password>{w10}</password>",
      "| API key | `{w32}` |",
      "| user | password |\n|---|---|\n| kim | {w10} |",
      "user,password\nkim,{w10}",
      "**Token**: `{w32}`",
      "the password is {w10}",
      "INSERT INTO users (name, password) VALUES ('kim', '{w10}')",
      "Server=db;User Id=kim;Password={w10};Encrypt=True",
      "https://harbour.org/tide?access_token={w32}&page=2",
      "[Interface]\nPrivateKey = {w43}=",
      "DB_PASSWORD={s1}{w10}",
      'password: "#{w10}!"',
      "12→API_TOKEN={w32}",
      ".env:12:API_TOKEN={w32}",
      "+API_TOKEN={w32}",
      "New token created. Copy it now:\n{w40}",
    ],
  },
  {
    id: "private-key",
    what: "a private key, whole, with whatever a tool put before its lines; without its first line; or in base64",
    examples: [
      ["", "\n"],
      ["", "\\n"],
      ["     12→", "\n"],
      ["    12\t", "\n"],
      ["12:", "\n"],
      ["keys/tide.pem:12:", "\n"],
      ["+", "\n"],
      ["-", "\n"],
      ["> ", "\n"],
      ["web-1  | ", "\n"],
    ].map(([before, end]) =>
      keyLines()
        .map((line) => before + line)
        .join(end),
    ),
  },
];

/** The lines of a key; parted, so that no scanner takes this file for a leak. */
function keyLines() {
  return [
    `-----BEGIN RSA PRIVATE${" "}KEY-----`,
    ...Array(6).fill("{w64}"),
    "{w30}==",
    `-----END RSA PRIVATE${" "}KEY-----`,
  ];
}

/** The kinds in the order of the page, each with texts that have a secret of it. */
export function secretKinds() {
  const places = new Map();
  for (const { id, place, examples } of PLACE_RULES)
    places.set(id, { id, what: place, examples: [...(places.get(id)?.examples ?? []), ...examples] });
  const issued = [...ISSUER_FORMS, ...MIDDLE_FORMS].map(({ id, issuer, forms }) => ({
    id,
    what: issuer,
    examples: Object.values(forms),
  }));
  return [...OTHERS, ...places.values(), ...issued.sort((a, b) => (a.id < b.id ? -1 : 1))];
}

/** Gives a text with the table of kinds between the marks in it. */
export function withKinds(text) {
  const [begin, end] = MARKS.map((mark) => text.indexOf(mark));
  if (begin < 0 || end < begin) throw new Error(`no ${MARKS.join(" … ")} in the text`);
  return `${text.slice(0, begin + MARKS[0].length)}\n${renderKinds()}\n${text.slice(end)}`;
}

function renderKinds() {
  const rows = secretKinds().map(({ id, what, examples }) => [
    `\`${id}\``,
    what,
    examples.slice(0, SHOWN).map(shownExample).join(", "),
  ]);
  const head = ["kind", "what", "for example"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const SHOWN = 4;
const LONGEST = 60;

/** The first line of an example; `…` replaces the characters of the secret. */
function shownExample(example) {
  const text = example.replace("{s1}", "$").replace(/(?:\{[a-z]+\d*\}|\$)+/g, (made) => (made === "$" ? made : "…"));
  const [line] = text.split(/\n|\\n/);
  const short = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  const fence = short.includes("`") ? "``" : "`";
  return `${fence}${short.trim().replaceAll("|", "\\|")}${fence}`;
}

const isCalled = process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isCalled) {
  const page = new URL("../docs/SECURITY.md", import.meta.url);
  writeFileSync(page, withKinds(readFileSync(page, "utf8")));
}
