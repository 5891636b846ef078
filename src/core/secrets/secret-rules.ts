// Places in which any value is a secret: a login of a command, a URL, a header, a file of passwords, an SQL statement. A rule
// says how such a place begins, and what the value must be like.
import {
  hasBothCases,
  holdsPassword,
  isIdOrDigest,
  isRandom,
  looksRandom,
  mayBePassword,
  randomBits,
} from "./likely-secret.ts";

/** A place. Several may be of one kind. */
export interface PlaceRule {
  /** The kind, for people and for `--allow`, e.g. `bearer`; described in `PLACES`. */
  readonly id: string;
  /** What it is, for people. */
  readonly place: string;
  /** How a place begins, any case: letters, digits and signs, two at least. */
  readonly starts: readonly string[];
  /** The source of a regular expression at such a beginning, any case; its one group is the value. */
  readonly form: string;
  readonly isLikely: (value: string) => boolean;
  /** Texts that have one, in the notation of ISSUER_FORMS. */
  readonly examples: readonly string[];
}

/** What each kind of place is, for people. */
const PLACES: Readonly<Record<string, string>> = {
  "url-credentials": "the password in an address",
  "url-token": "a token before the host of an address, or a signature or code in its query",
  "curl-login": "the password that `curl` is given with a name",
  "login-option": "the password that another command is given with a name",
  basic: "`Basic` with a name and a password in base64",
  bearer: "`Bearer` with a token",
  authorization: "a header `Authorization` of another scheme, or a session in a header `Cookie`",
  "command-password": "a password among the words of a command, or in a variable that a command reads",
  "sql-password": "a password in a statement of SQL",
  netrc: "a password in `.netrc` or `.pgpass`",
  "docker-auth": "the login of a registry, of Docker or npm, in base64",
  "password-hash": "the digest of a password, as `/etc/shadow` and `htpasswd` keep it",
  "connection-string": "a key or password in a connection string",
  "aws-secret-key": "the secret next to the id of an AWS key",
  jwk: "a private key as JSON, XML or numbers",
  mnemonic: "the words of a wallet",
  "private-number": "a private key as hexadecimal digits, near a word for it",
};

/**
 * Before a token: nothing that would make it a part of a longer one. Allowed are the end of a visible escape (`\n`, `\u0022`,
 * `%3D`, `[32m`), and the sign or number that diff and grep put before a line.
 */
export const BEFORE_TOKEN: string =
  "(?:(?<![A-Za-z0-9_-])|(?<=\\\\(?:[abefnrtv0]|u00[0-9A-Fa-f]{2}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2}|\\[[\\d;]{0,20}m|(?:^|\\s)\\d{0,9}-))";
/** Most characters of an escape before a token. */
const LONGEST_ESCAPE = 6;

/** A cheap test that is false only where `BEFORE_TOKEN` cannot match. */
export function mayBeginToken(text: string, at: number): boolean {
  const before = text[at - 1];
  if (before === undefined || !/[A-Za-z0-9_]/.test(before) || before === "m") return true;
  for (let back = 2; back <= LONGEST_ESCAPE; back++) {
    const character = text[at - back];
    if (character === "\\" || character === "%") return true;
  }
  return false;
}

export const AFTER_TOKEN = "(?![A-Za-z0-9_-])";

/** What ends a password among a command's words. */
const ENDS = "\\s\"'`<>|;&()\\\\";
/** Before a word; the end of an escape may precede it. */
const BEFORE_WORD = "(?:(?<![\\w-])|(?<=\\\\[nrt]))";
/** A word of a command, in quotes or without. */
const QUOTE = "(?:\\\\{0,7}[\"'])?";
const WORD = `${QUOTE}([^${ENDS}]{4,200})`;
/** A word that only its own quote ends. */
const QUOTED = "(?:\\\\{0,7}[\"'`])([^\"'`\\r\\n\\\\]{4,400})(?=\\\\{0,7}[\"'`])";
/** The rest of a command, including continuation lines. */
const REST = "(?:[^\\r\\n]|\\\\\\r?\\n){0,300}?";
/** What separates an option from its value, also in a list of words. */
const GAP = "(?:[\\s=,]|\\\\{0,7}[\"']){1,6}";

/** The login option of a command, in a shell or a list of words, and the name up to its colon. */
const LOGIN_OPTION = `(?:-[a-z]{0,5}u|--(?:proxy-)?user)${GAP}[^\\s:"'\`<>\\\\]{0,100}:`;

/** A digest of a password, as systems store it. */
const PASSWORD_HASH =
  "\\$(?:[156y7]|2[abxy]|sha1|apr1|md5|argon2(?:id|i|d)|scrypt|pbkdf2[\\w-]{0,12}|bcrypt[\\w-]{0,12})\\$[\\w./$+=,*-]{20,300}";

/** A password of somebody's own, longer than most placeholders. */
const isSurePassword = (value: string): boolean =>
  value.length >= 6 && mayBePassword(value) && (/[^a-z]/.test(value) || randomBits(value) > 0);
/** 64 bytes as numbers, most of them different: the key pair of Solana programs. */
const isKeyBytes = (value: string): boolean => {
  const bytes = value.split(",").map(Number);
  return new Set(bytes).size >= 48 && bytes.every((byte) => byte < 256) && bytes.some((byte) => byte > 127);
};
const random =
  (bits: number): PlaceRule["isLikely"] =>
  (value) =>
    isRandom(value, bits);

/** Programs, their password option, and an example. */
const COMMANDS: readonly (readonly [programs: string, option: string, example: string])[] = [
  ["sshpass", "\\s-p ?", "sshpass -p '{w12}' ssh kim@harbour.org"],
  [
    "mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump mariadb-admin mysqlsh mycli",
    "\\s-p(?=\\S)",
    "mysqldump -u root -p{w12} tides",
  ],
  [
    "mongo mongosh mongodump mongorestore mongoimport az oc cqlsh clickhouse-client cockroach cypher-shell ibmcloud cf argocd isql",
    "\\s(?:-p|--password)[ =]",
    "mongosh -u kim -p {w12}",
  ],
  [
    "docker podman helm skopeo buildah crane",
    "\\slogin\\b[^\\r\\n]{0,120}?\\s(?:-p|--password)[ =]",
    "docker login -u kim -p {w12} registry.harbour.org",
  ],
  ["redis-cli", "\\s(?:-a|--pass)[ =]", "redis-cli -h cache -a {w12} ping"],
  ["ldapsearch ldapadd ldapmodify ldapwhoami ldapdelete ldappasswd", "\\s-w ?", "ldapsearch -D cn=kim -w {w12}"],
  ["7z 7za 7zz unrar rar", "\\s-(?:p|hp)(?=\\S)", "7z x tides.7z -p{w12}"],
  ["zip unzip sqlcmd bcp ipmitool cadaver snowsql", "\\s-P ?", "zip -P {w12} tides.zip tides.csv"],
  ["openssl", "pass(?:in|out|word)?\\s{1,3}(?:pass:)", "openssl rsa -in tide.key -passin pass:{w12}"],
  [
    "htpasswd",
    "\\s-[a-z]{0,4}b[a-z]{0,4}\\s(?:-\\w{1,4}\\s|-C \\d+ ){0,3}[^\\s]{1,200}\\s[^\\s]{1,80}\\s",
    "htpasswd -bc users kim {w12}",
  ],
  [
    "keytool jarsigner apksigner",
    "\\s-{1,2}(?:store|key|ks|src|dest|k?s)[-\\w]{0,8}pass(?::\\w+)?\\s(?:pass:)?",
    "keytool -list -keystore tide.jks -storepass {w12}",
  ],
  [
    "smbclient rpcclient winexe smbmap smbget",
    "\\s-U\\s?[\"']?[^\\s%\"']{1,80}%",
    "smbclient //harbour/tides -U kim%{w12}",
  ],
  [
    "xfreerdp xfreerdp3 wlfreerdp rdesktop cmdkey mstsc",
    "(?:\\s/p:|\\s/pass:|\\s-p )",
    "xfreerdp /u:kim /p:{w12} /v:harbour",
  ],
  [
    "net use|net user",
    "(?:\\\\\\\\[^\\s]{1,200}|\\buser\\s[^\\s/]{1,60})\\s",
    "net use Z: \\\\harbour\\tides {w12} /user:kim",
  ],
  [
    "rabbitmqctl kadmin etcdctl influx",
    "(?:add_user|change_password|--user|-password|-pw)[ =][\"']?(?:[^\\s\"':]{1,60}[ :])?",
    "rabbitmqctl add_user kim {w12}",
  ],
  ["putty plink pscp psftp", "\\s-pw\\s", "plink -pw {w12} kim@harbour.org"],
  [
    "gpg gpg2 borg restic wget ansible lftp ncftp",
    "(?:--passphrase[= ]|password[= ]|_pass[= ]|-u [^\\s,]{1,60},)",
    "gpg --batch --passphrase {w12} -d tides.gpg",
  ],
  ["snmpwalk snmpget snmpset", "\\s-[AX]\\s", "snmpwalk -v3 -u kim -A {w12} harbour.org"],
];

type Rule = Omit<PlaceRule, "place">;

function commandRule([programs, option, example]: (typeof COMMANDS)[number]): Rule {
  const starts = programs.split(programs.includes("|") ? "|" : " ");
  return {
    id: "command-password",
    starts,
    form: `${BEFORE_WORD}(?:${starts.join("|")})\\b${REST}${option}${WORD}`,
    isLikely: isSurePassword,
    examples: [example],
  };
}

const SHORT_NAMES = [
  "sig",
  "code",
  "key",
  "auth",
  "hash",
  "X-Amz-Signature",
  "X-Goog-Signature",
  "Signature",
  "k",
  "t",
  "hmac",
  "pwd",
];

const RULES: readonly Rule[] = [
  {
    id: "url-credentials",
    starts: ["://", ":\\/\\/", ":\\\\/\\\\/"],
    // A URL as people write it: a name or a password may hold "@", and the last one before the host counts.
    form: ":(?:\\\\{0,3}/){2}[^\\s:/\"'`<>\\\\]{0,80}:([^\\s:/@\"'`<>\\\\]{0,200}(?:@[^\\s:/@?\"'`<>\\\\]{0,200}){1,8}|[^\\s:/@\"'`<>\\\\]{3,200})@(?![^\\s:/@?\"'`<>\\\\]{0,200}@)(?!(?:localhost|127(?:\\.\\d+){3}|0\\.0\\.0\\.0|host|db|postgres|mysql|redis|[\\w.-]*example\\.[a-z]+)(?:[^\\w.-]|$))[a-z0-9.-]+",
    isLikely: mayBePassword,
    examples: ["postgres://kim:{w12}@db.harbour.org/tides", "redis://:{w12}@cache.harbour.org:6379"],
  },
  {
    id: "url-token",
    starts: ["://", ":\\/\\/"],
    form: ":(?:\\\\{0,3}/){2}([^\\s:/@?\"'`<>\\\\]{20,400})(?::x-oauth-basic|:)?@(?!o?\\d+\\.ingest|sentry)[a-z0-9.-]+\\.[a-z]{2,}",
    isLikely: random(24),
    examples: ["https://{w40}@git.harbour.org/tides.git"],
  },
  {
    id: "url-token",
    starts: ["?", "&"].flatMap((mark) => SHORT_NAMES.map((name) => `${mark}${name}=`)),
    form: "[?&][\\w-]{1,16}=([\\w%+/=.~-]{20,2000})",
    isLikely: (value) => isRandom(value, 30) && (!isIdOrDigest(value) || value.length === 64),
    examples: ["https://tides.blob.core.windows.net/a?sv=2022&sig={w43}%3D", "https://harbour.org/api/tide?code={w54}"],
  },
  {
    id: "curl-login",
    starts: ["curl"],
    // What follows curl's option is certainly a login; for other commands it may be a user and a group.
    form: `${BEFORE_WORD}curl\\b(?:[^\\r\\n]|\\\\\\r?\\n){0,300}?[\\s"']${LOGIN_OPTION}([^${ENDS}]{4,200})`,
    isLikely: mayBePassword,
    examples: ["curl -u kim:{w12} https://harbour.org"],
  },
  {
    id: "login-option",
    starts: [
      "-u",
      "-su",
      "-sku",
      "-ksu",
      "-fsu",
      "-fssu",
      "--user",
      "--proxy-user",
      "-a ",
      "--auth",
      "--creds",
      "--login",
    ],
    form: `(?<=[\\s"'])(?:${LOGIN_OPTION}|(?:-a|--auth|--creds|--login)${GAP}[^\\s:"'\`<>\\\\]{1,100}:)([^${ENDS}]{8,200})`,
    isLikely: (value) => looksRandom(value) && hasBothCases(value),
    examples: ["tide fetch --user kim:{w12}", "http -a kim:{w12} harbour.org"],
  },
  {
    id: "basic",
    starts: ["basic "],
    form: "\\bbasic +([a-z0-9+/]{12,2000}={0,2})",
    isLikely: holdsPassword,
    examples: ["Authorization: Basic {login}"],
  },
  {
    id: "bearer",
    starts: ["bearer "],
    form: "\\bbearer +([a-z0-9._~+/-]{24,2000}={0,2})",
    isLikely: looksRandom,
    examples: ["Authorization: Bearer {w40}"],
  },
  {
    id: "authorization",
    starts: ["authorization", "x-auth", "www-auth"],
    form: `[\\w-]{4,20}\\\\{0,7}["']?\\s{0,3}(?::|=>?|,|\\s)\\s{0,3}\\\\{0,7}["'\`]?(?:(?!bearer|basic)[a-z][\\w-]{1,40}(?:[ :]|=["']?))?(?:(?:token|key|apikey|id|credential)=\\\\{0,7}["']?)?([\\w.~+/:=|-]{16,3000})`,
    isLikely: random(16),
    examples: [
      "Authorization: token {w40}",
      "Authorization: ApiKey {w40}",
      "Authorization: SSWS {w40}",
      '"authorization": "{w40}"',
    ],
  },
  {
    id: "authorization",
    starts: ["cookie: ", 'cookie": '],
    form: "cookie\\\\{0,7}[\"']?: ?\\\\{0,7}[\"']?(?:[\\w.-]{1,60}=[^;\\s]{0,200}; ?){0,8}?[\\w.-]{0,40}(?:sess|sid|auth|token|jwt|login|remember)[\\w.-]{0,30}=([\\w%.+/=:-]{16,3000})",
    isLikely: random(20),
    examples: ["Cookie: theme=dark; session={w40}; lang=en"],
  },
  ...COMMANDS.map(commandRule),
  {
    id: "command-password",
    starts: ["echo ", "printf ", "<<< "],
    form: `(?:echo|printf|<<<) (?:-\\w{1,3} )?\\\\{0,7}["']?([^${ENDS}]{6,200})(?:\\\\n)?\\\\{0,7}["']?\\s?\\|\\s?(?:sudo\\s-\\w{0,3}S|docker login|podman login|helm registry login|gh auth login|passwd|vault login|cryptsetup)`,
    isLikely: isSurePassword,
    examples: ["echo {w12} | sudo -S apt update"],
  },
  {
    id: "command-password",
    starts: ["echo ", "printf "],
    form: `(?:echo|printf) (?:-\\w{1,3} )?\\\\{0,7}["']?[\\w.-]{1,40}:([^${ENDS}]{6,200})\\\\{0,7}["']?\\s?\\|\\s?(?:sudo\\s)?chpasswd`,
    isLikely: isSurePassword,
    examples: ["echo 'kim:{w12}' | sudo chpasswd"],
  },
  {
    id: "command-password",
    starts: ["ConvertTo-SecureString"],
    form: `ConvertTo-SecureString\\s(?:-String\\s|-AsPlainText\\s|-Force\\s){0,3}${QUOTED}`,
    isLikely: isSurePassword,
    examples: ['ConvertTo-SecureString "{w12}" -AsPlainText -Force'],
  },
  {
    id: "command-password",
    starts: ["Credential("],
    form: `Credential\\(\\s?(?:\\\\{0,7}["'][^"'\\r\\n]{0,100}\\\\{0,7}["']|[\\w.]{1,60}),\\s?\\\\{0,7}["']([^"'\\r\\n\\\\]{4,200})`,
    isLikely: isSurePassword,
    examples: ['new NetworkCredential("kim", "{w12}")'],
  },
  {
    id: "command-password",
    starts: ["send "],
    form: "send\\s(?:--\\s)?\\\\{0,7}[\"']([^\\s\"'\\\\]{6,200})\\\\{1,7}[rn]",
    isLikely: looksRandom,
    examples: ['send "{w12}\\r"'],
  },
  {
    id: "command-password",
    starts: [
      "PGPASSWORD=",
      "MYSQL_PWD=",
      "SSHPASS=",
      "REDISCLI_AUTH=",
      "RESTIC_PASSWORD=",
      "BORG_PASSPHRASE=",
      "VAULT_TOKEN=",
      "BW_SESSION=",
    ],
    form: `\\w{7,20}=${WORD}`,
    isLikely: isSurePassword,
    examples: ["PGPASSWORD={w8} psql tides"],
  },
  {
    id: "sql-password",
    starts: ["identified "],
    form: `identified(?:\\s(?:with|via)\\s[\\w'"\`]{1,40})?\\s(?:by|as|using)\\s(?:password\\s)?(?:values\\s)?(?=\\\\{0,7}["'])${QUOTED}`,
    isLikely: isSurePassword,
    examples: ["CREATE USER kim IDENTIFIED BY '{w12}';"],
  },
  {
    id: "sql-password",
    starts: ["identified by "],
    form: `identified by (?:values )?([^\\s"'\`;,<>]{6,200})`,
    isLikely: (value) => /\d/.test(value) && isRandom(value, 6),
    examples: ["ALTER USER kim IDENTIFIED BY {w12};"],
  },
  {
    id: "sql-password",
    starts: ["password ", "password("],
    form: `${BEFORE_WORD}password(?:\\s{1,3}|\\()(?=\\\\{0,7}')${QUOTED}`,
    isLikely: isSurePassword,
    examples: ["CREATE ROLE kim WITH LOGIN PASSWORD '{w12}';"],
  },
  {
    id: "netrc",
    starts: ["login ", "login\n", "login\r", "user "],
    form: `(?:login|user)\\s{1,6}[^\\s]{1,100}\\s{1,12}(?:password|passwd)\\s{1,6}${QUOTE}([^\\s"'\\\\]{4,200})`,
    isLikely: isSurePassword,
    examples: ["machine harbour.org login kim password {w12}"],
  },
  {
    id: "netrc",
    starts: [":*:", ":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":25060:"],
    form: "(?<=(?:^|[\\s\"']|\\\\[nrt])[\\w.*-]{1,100}):(?:\\*|\\d{4,5}):[\\w.*-]{1,64}:[\\w.*@-]{1,64}:([^\\s\"'`<>]{4,200})",
    isLikely: isSurePassword,
    examples: ["db.harbour.org:5432:tides:kim:{w12}"],
  },
  {
    id: "docker-auth",
    starts: ["auth", "_auth"],
    form: `_?auth${QUOTE}\\s{0,4}[:=]\\s{0,4}${QUOTE}([A-Za-z0-9+/]{12,1000}={0,2})`,
    isLikely: holdsPassword,
    examples: ['{"auths": {"registry.harbour.org": {"auth": "{login}"}}}'],
  },
  {
    id: "password-hash",
    starts: [":$", '"$', "'$", "=$", " $"],
    form: `[:"'= ](${PASSWORD_HASH})`,
    isLikely: (value) => isRandom(value.slice(4), 20),
    examples: ["kim:{s1}6{s1}{w16}{s1}{w86}:19000:0:99999:7:::"],
  },
  {
    id: "connection-string",
    starts: ["SharedAccessKey=", "SharedSecret", "SharedAccessSignature", "pwd=", "AccessKey="],
    form: "(?:SharedAccessKey|SharedSecretValue|SharedSecret|SharedAccessSignature|pwd|AccessKey)=([^\\s;\"'<>\\\\&]{6,600})",
    isLikely: random(3),
    examples: ["Endpoint=sb://harbour/;SharedAccessKeyName=Root;SharedAccessKey={w43}="],
  },
  {
    id: "connection-string",
    starts: ["jdbc:oracle"],
    form: "jdbc:oracle:\\w{2,6}:[^\\s/:@\"']{1,60}/([^\\s/@\"'\\\\]{4,100})@",
    isLikely: isSurePassword,
    examples: ["jdbc:oracle:thin:kim/{w12}@//harbour:1521/tides"],
  },
  {
    id: "aws-secret-key",
    starts: ["AKIA", "ASIA"],
    form: "A[KS]IA[A-Z2-7]{16}[\\s,;:|\"'\\\\tn]{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    isLikely: random(40),
    examples: ["AKIA{b16},{w40}"],
  },
  {
    id: "jwk",
    starts: ['"kty"', 'kty\\"'],
    form: '["\\\\]{0,8}kty[^{}]{0,3000}?\\\\{0,7}"[dk]\\\\{0,7}"\\s{0,4}:\\s{0,4}\\\\{0,7}"([\\w-]{30,1000})',
    isLikely: random(30),
    examples: ['{"kty": "EC", "crv": "P-256", "d": "{w43}"}'],
  },
  {
    id: "jwk",
    starts: ['"d"', '"k"', 'd\\":', 'k\\":'],
    form: '["\\\\]{0,8}[dk]["\\\\]{1,8}\\s{0,4}:\\s{0,4}["\\\\]{1,8}([\\w-]{30,1000})["\\\\]{1,8}[^{}]{0,3000}?kty["\\\\]',
    isLikely: random(30),
    examples: ['{"d": "{w43}", "kty": "OKP"}'],
  },
  {
    id: "jwk",
    starts: ["<D>"],
    form: "<D>([a-z0-9+/=\\s]{40,2000})</D>",
    isLikely: random(30),
    examples: ["<RSAKeyValue><D>{w86}==</D></RSAKeyValue>"],
  },
  {
    id: "jwk",
    starts: ["[0", "[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9"],
    form: "\\[((?:\\d{1,3}\\s{0,4},\\s{0,4}){63}\\d{1,3})\\s{0,4}\\]",
    isLikely: isKeyBytes,
    examples: [`[${Array.from({ length: 64 }, (_, at) => (at * 37) % 256).join(",")}]`],
  },
  {
    id: "mnemonic",
    starts: [
      "mnemonic",
      "seed phrase",
      "seed_phrase",
      "seed-phrase",
      "recovery phrase",
      "secret phrase",
      "seed words",
      "seedphrase",
    ],
    form: "(?:mnemonic|seed[ _-]?phrase|recovery phrase|secret phrase|seed words)s?(?:[ \\w]{0,20})?[\"'`\\s:=*_(\\\\]{1,12}(?:n\\s?)?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\\b",
    isLikely: (value) => !/\b(?:the|and|for|you|with|are|this|that|from)\b/.test(value),
    examples: ["mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow"],
  },
  {
    id: "private-number",
    starts: ["private", "privkey", "priv_key", "priv key", "secret key", "deployer", "wallet", "--pk", "pk="],
    form: "(?:private|priv|secret|deployer|wallet|-pk|pk=)[^\\r\\n]{0,40}?(?<![0-9a-f])((?:0x)?[0-9a-f]{64})(?![0-9a-f])",
    isLikely: random(20),
    examples: ["PRIVATE_KEY=0x{h64}", "the deployer's key is {h64}"],
  },
];

/** The places, by precedence. */
export const PLACE_RULES: readonly PlaceRule[] = RULES.map((rule) => ({ ...rule, place: PLACES[rule.id] ?? "" }));
