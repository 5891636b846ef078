// What secrets look like, for those kinds that a program can tell by their form: a mark that their issuer put in front, and how
// they go on. Forms are the issuers' own, as their documentation gives them.

/** A kind of secret. */
export interface SecretRule {
  /** For people and for `--allow`, e.g. `stripe`. */
  readonly id: string;
  /** Sources of regular expressions; `createStartFinder` says how each begins. */
  readonly forms: readonly string[];
  /** Whether it stands by itself, `BEFORE_TOKEN` before it and `AFTER_TOKEN` behind. */
  readonly isToken?: true;
}

/**
 * Before a token: nothing that would make it a part of a longer one. The end of an escape as text shows it (`\n`, `\u0022`, `%3D`,
 * `[32m`), and the sign or number that diff and grep put before a line, are no part.
 */
export const BEFORE_TOKEN: string =
  "(?:(?<![A-Za-z0-9_-])|(?<=\\\\(?:[abefnrtv0]|u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}|\\[[\\d;]{0,20}m|(?:^|\\s)\\d{0,9}-))";
/** Characters of an escape before a token, at most. */
const LONGEST_ESCAPE = 6;

/** Whether `BEFORE_TOKEN` may hold at a position: it never does where this is false, and this costs little. */
export function mayBeginToken(text: string, at: number): boolean {
  const before = text[at - 1];
  if (before === undefined || !/[A-Za-z0-9_]/.test(before) || before === "m") return true;
  for (let back = 2; back <= LONGEST_ESCAPE; back++) {
    const character = text[at - back];
    if (character === "\\" || character === "%") return true;
  }
  return false;
}

/** Behind it. */
export const AFTER_TOKEN = "(?![A-Za-z0-9_-])";

function token(id: string, ...forms: readonly string[]): SecretRule {
  return { id, forms, isToken: true };
}

/** In this order, tokens first: of two that fit at one place the first counts. */
export const SECRET_RULES: readonly SecretRule[] = [
  token("anthropic", "sk-ant-[a-z]{2,8}\\d{2}-[\\w-]{32,}"),
  token("openrouter", "sk-or-v\\d-[0-9a-f]{64}"),
  token(
    "openai",
    "sk-(?:proj|svcacct|admin)-[\\w-]{40,}",
    "sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}",
    "sk-[A-Za-z0-9]{48}",
  ),
  token("stripe", "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", "whsec_[A-Za-z0-9+/]{24,}={0,2}"),
  token("google-api-key", "AIza[\\w-]{35}"),
  token("google-oauth", "GOCSPX-[\\w-]{28}", "ya29\\.[\\w-]{40,}"),
  token("aws-key-id", "A[KSB]IA[A-Z2-7]{16}", "ACCA[A-Z2-7]{16}"),
  token("github", "gh[pousr]_[A-Za-z0-9]{36,255}", "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
  token("gitlab", "gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas)-[\\w-]{20,}"),
  token("slack", "xox[abeoprs]-(?:\\d+-){1,3}[A-Za-z0-9-]{10,}", "xapp-\\d-[A-Z0-9]+-\\d+-[a-z0-9]{32,}"),
  token("groq", "gsk_[A-Za-z0-9]{48,}"),
  token("xai", "xai-[A-Za-z0-9]{60,}"),
  token("perplexity", "pplx-[A-Za-z0-9]{40,}"),
  token("replicate", "r8_[A-Za-z0-9]{37,}"),
  token("huggingface", "hf_[A-Za-z0-9]{34,}"),
  token("npm", "npm_[A-Za-z0-9]{36}"),
  token("pypi", "pypi-AgEIcHlwaS5vcmc[\\w-]{50,}"),
  token("rubygems", "rubygems_[0-9a-f]{48}"),
  token("sendgrid", "SG\\.[\\w-]{20,24}\\.[\\w-]{39,50}"),
  token("mailgun", "key-[0-9a-f]{32}"),
  token("twilio", "AC[0-9a-f]{32}", "SK[0-9a-f]{32}"),
  token("telegram", "\\d\\d\\d{6,8}:AA[\\w-]{33}"),
  token("discord", "[MNO][A-Za-z\\d][A-Za-z\\d]{22,26}\\.[\\w-]{6}\\.[\\w-]{27,38}"),
  token("digitalocean", "do[opr]_v1_[0-9a-f]{64}"),
  token("shopify", "shp(?:at|ca|pa|ss|tk)_[0-9a-fA-F]{32}"),
  token("square", "sq0[a-z]{3}-[\\w-]{22,43}", "EAAA[\\w-]{60}"),
  token("databricks", "dapi[0-9a-f]{32}(?:-\\d)?"),
  token("vault", "hv[sbr]\\.[\\w-]{24,}"),
  { id: "terraform", forms: ["\\.atlasv1\\.[\\w-]{60,}"] },
  token("doppler", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40,}"),
  token("pulumi", "pul-[0-9a-f]{40}"),
  token("sentry", "sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
  token("linear", "lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
  token("notion", "ntn_[A-Za-z0-9]{40,}", "secret_[A-Za-z0-9]{43}"),
  token("figma", "fig[dpou]_[\\w-]{40,}"),
  token("postman", "PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
  token("newrelic", "NRAK-[A-Z0-9]{27}"),
  token("grafana", "gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}"),
  token("atlassian", "ATATT3[\\w=-]{60,}", "ATBB[A-Za-z0-9]{32}"),
  token("supabase", "sb[pv]_[0-9a-f]{40}", "sb_secret_[\\w-]{30,}"),
  token("vercel", "vc[piark]_[A-Za-z0-9]{40,}"),
  token("docker", "dckr_(?:pat|oat)_[\\w-]{27,}"),
  token("age", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
  token("1password", "ops_eyJ[A-Za-z0-9+/=]{100,}"),
  { id: "azure-storage", forms: ["AccountKey=[A-Za-z0-9+/]{86}=="] },
  token("jwt", "eyJ[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{20,}"),
  {
    id: "private-key",
    // Two headers at most, as encrypted ones have.
    forms: [
      "-----BEGIN (?:[A-Z0-9]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:(?:\\s|\\\\[rn]){1,4}(?:Proc-Type|DEK-Info|Version|Comment): [^\\r\\n\\\\]{1,100}){0,2}[\\sA-Za-z0-9+/=\\\\]{40,20000}",
    ],
  },
];

/** What ends a password in a command's words. */
const PASSWORD_ENDS = "\\s\"'`<>|;&()\\\\";

/** The option by which a command is given a login, as a shell or a list of words has it, and the name up to its colon. */
const LOGIN_OPTION =
  "[\\s\"'](?:-[a-z]{0,5}u|--(?:proxy-)?user)(?:[\\s=,]|\\\\{0,7}[\"']){1,6}[^\\s:\"'`<>\\\\]{0,100}:";

/**
 * Kinds whose form alone says too little, so that what stands there is looked at too. The one group is that value.
 * Upper and lower case are the same.
 */
export const VAGUE_RULES: readonly { readonly id: string; readonly form: string }[] = [
  {
    id: "url-credentials",
    // An address as people write it: a name or a password may hold "@", and the last one before the host counts.
    form: ":(?:\\\\{0,3}/){2}[^\\s:/\"'`<>\\\\]{0,80}:([^\\s:/@\"'`<>\\\\]{0,200}(?:@[^\\s:/@?\"'`<>\\\\]{0,200}){1,8}|[^\\s:/@\"'`<>\\\\]{3,200})@(?![^\\s:/@?\"'`<>\\\\]{0,200}@)(?!(?:localhost|127(?:\\.\\d+){3}|0\\.0\\.0\\.0|host|db|postgres|mysql|redis|[\\w.-]*example\\.[a-z]+)(?:[^\\w.-]|$))[a-z0-9.-]+",
  },
  // What follows the option is surely a login, whatever it looks like; of other commands it may be a user and a group.
  { id: "curl-login", form: `\\bcurl\\b(?:[^\\r\\n]|\\\\\\r?\\n){0,300}?${LOGIN_OPTION}([^${PASSWORD_ENDS}]{4,200})` },
  { id: "login-option", form: `${LOGIN_OPTION}([^${PASSWORD_ENDS}]{8,200})` },
  // A name and a password, as a request has them in base64.
  { id: "basic", form: "\\bbasic +([a-z0-9+/]{12,2000}={0,2})" },
  { id: "bearer", form: "\\bbearer +([a-z0-9._~+/-]{24,2000}={0,2})" },
  {
    id: "assigned",
    form: "(?:pass(?:word|wd|phrase)|secret(?:_?key)?|api_?key|access_?(?:key|token)|auth_?token|client_?secret|private_?token)(?:\\\\{0,7}[\"'])?\\s{0,3}(?:=>?|:)\\s{0,3}(?:\\\\{0,7}[\"'])?([^\\s\"'`,;)(<>{}\\[\\]\\\\]{8,200})",
  },
];
