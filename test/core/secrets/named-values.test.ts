// Values with names: only the value is found, and placeholders are not.
import { expect, it } from "vitest";
import { findSecrets } from "../../../src/core/secrets/find-secrets.ts";
import { random } from "../../helpers/made-secrets.ts";

const found = (text: string): readonly string[] => findSecrets(text).map(({ start, end }) => text.slice(start, end));
const TOKEN = random(32);
const PASSWORD = random(10);
const HEX = "9f3a1c7e0b5d28469f3a1c7e0b5d2846";

it.each([
  [`API_TOKEN=${TOKEN}\nB=1`, TOKEN],
  [`API_TOKEN="${TOKEN}" # of the harbour`, TOKEN],
  [`{"token":"${TOKEN}","b":1}`, TOKEN],
  [`{\\"token\\":\\"${TOKEN}\\",\\"b\\":1}`, TOKEN],
  [`ENCRYPTION_KEY=${HEX}`, HEX],
  [`tide --api-key ${TOKEN} --all`, TOKEN],
  [`tide --token=${TOKEN} --all`, TOKEN],
  [`https://harbour.org/a?token=${TOKEN}&page=2`, TOKEN],
  [`TOKEN=\${TOKEN:-${TOKEN}}`, TOKEN],
  [`process.env.TIDE_TOKEN ?? "${TOKEN}"`, TOKEN],
  [`local tide_token = [[${TOKEN}]]`, TOKEN],
  [`new Client({ apiKey: '${TOKEN}' })`, TOKEN],
  [`connect(password="${PASSWORD}", port=3)`, PASSWORD],
  [`Password=${PASSWORD};Encrypt=True`, PASSWORD],
  [`DB_PASSWORD=$${PASSWORD}`, `$${PASSWORD}`],
  [`DB_PASSWORD='#${PASSWORD}'`, `#${PASSWORD}`],
  [`DB_PASSWORD="${PASSWORD}<a b"`, null],
  [`DB_PASSWORD=Zk4v;${PASSWORD}`, `Zk4v;${PASSWORD}`],
  [`DB_PASSWORD=Zk4v)${PASSWORD}`, `Zk4v)${PASSWORD}`],
  ["DB_PASSWORD=k9?fT2(vRq7m", "k9?fT2(vRq7m"],
  ["app password: hxzj bplb tyam lxrm", "hxzj bplb tyam lxrm"],
  [`| name | token |\n|---|---|\n| tide | ${TOKEN} |`, TOKEN],
  [`the new key for the API is ${TOKEN}.`, TOKEN],
])("finds in %j the value alone", (text, value) => {
  expect(found(text)).toEqual(value === null ? [] : [value]);
});

it.each([
  "const token = process.env.GITHUB_TOKEN",
  'token = os.environ["GITHUB_TOKEN_2"]',
  'api_key=os.getenv("TIDE_API_KEY_2")',
  "API_KEY=$TIDE_API_KEY",
  "DB_PASSWORD=$DB_PASSWORD_2",
  "DB_PASSWORD=$" + "{DB_PASSWORD_2}",
  "password: $" + "{{ secrets.DB_PASSWORD_2 }}",
  "password: {{ .Values.db.password2 }}",
  "password=%DB_PASSWORD2%",
  "password: <your-password-1>",
  "token: ***",
  "token: xxxxxxxxxxxxxxxx1",
  "password: changeme123",
  "secret = config.auth.secret2",
  "password := getPassword(ctx, 2)",
  "return{username:i?e.slice(0,n):e,password:i?e.slice(n+1):void 0}}",
  'if (token === "") throw new Error("no token 2")',
  '"key": "ctrl+shift+down"',
  "PRIMARY_KEY=organization_user_membership_id",
  "secretKeyRef:\n  name: app-secrets-2\n  key: database-url-2",
  '"cache_key": "9f3a1c7e0b5d28469f3a1c7e0b5d2846"',
  `next_page_token: ${"q7Zm2Kx9Rb4Tn6Wd8Ys3"}`,
  '"input_tokens": 123456, "max_tokens": 8192',
  "password { color: #a1b2c3 }",
  "token color: #9f3a1c",
  "key: sha256:9f3a1c7e0b5d28469f3a1c7e0b5d28469f3a1c7e0b5d2846",
  "The key is 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
  "commit b29539ad5966d513b1d00909c30065f846d34530 touches the token",
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIgek8HF0DNBZZdPaRXLujTpwrkcrOg258LewmCNybdo4 key of kim",
  '"integrity": "sha512-wSQ9JmSLqJkH5Nw1xZPpNOFVCHVLrYd0xJzYvGfTVAGmVsM2vNn7A=="',
  "| Token | Meaning |\n|---|---|\n| VALUE_2 | a value of 2 words |",
  "--- PASS: TestPasswordOfUser2 (0.02s)",
  'exports.X_API_KEY_HEADER = "X_API_KEY_HEADER_2"',
  "password: Uint8Array",
  "keyboard: qwerty2, tokenizer: cl100k_base",
  "docker run -p 4010:4010 tide",
  "the object identified by 'node2'",
])("takes nothing for a secret in %j", (text) => {
  expect(found(text)).toEqual([]);
});

it.each([
  'token: "',
  "password | ",
  "| key ",
  "key, ",
  "secret = {\n",
  "api_key => [",
  "password (",
  "password, a) values (",
  "mysql -p",
  "docker login ",
  "cookie: a=b; ",
  "authorization: ",
  '"kty" ',
  '"d": "q7Zm2Kx9Rb4Tn6Wd8Ys3Vc5Hf1Jg0LpEuA" ',
  "mnemonic: abc abc ",
  "-----BEGIN PRIVATE KEY-----\n",
  `-----BEGIN PRIVATE KEY-----${"q7Zm2Kx9Rb4Tn6Wd".repeat(8)}`,
  "MIIEpAIBAAKCAQEA",
  "[1,2,3,",
  "?sig=q7Zm",
  "q7Zm8Q~",
  "token token token \n",
  "private 9f3a",
  '{"token":"',
])("looks at each character a bounded number of times: %j again and again", { tags: ["slow"] }, (piece) => {
  // Anything but linear would not come to an end here.
  expect(findSecrets(piece.repeat(200_000 / piece.length)).length).toBeGreaterThanOrEqual(0);
});
