// Places in which a secret stands whatever it looks like: a login of a command, an address, a header, a file of passwords, a
// statement of SQL. A rule says how such a place begins, and what the value there must be like.
import { hasBothCases, holdsPassword, isIdOrDigest, isRandom, looksRandom, mayBePassword } from "./likely-secret.ts";
import { randomBits } from "./random-bits.ts";

/** A kind of place. */
export interface PlaceRule {
  /** For people and for `--allow`, e.g. `bearer`. */
  readonly id: string;
  /** What it is, for the page of kinds. */
  readonly place: string;
  /** How a place begins, any case: letters, digits and signs, at least two, none with a meaning in regular expressions. */
  readonly starts: readonly string[];
  /** The source of a regular expression at such a beginning, any case; its one group is the value. */
  readonly form: string;
  readonly isLikely: (value: string) => boolean;
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

/** What ends a password in a command's words. */
const ENDS = "\\s\"'`<>|;&()\\\\";
/** A word of a command, in quotes or without. */
const QUOTE = "(?:\\\\{0,7}[\"'])?";
const WORD = `${QUOTE}([^${ENDS}]{4,200})`;
/** A word that only its own quote ends. */
const QUOTED = "(?:\\\\{0,7}[\"'`])([^\"'`\\r\\n\\\\]{4,400})(?=\\\\{0,7}[\"'`])";
/** The rest of a command, on its line or on the next ones that belong to it. */
const REST = "(?:[^\\r\\n]|\\\\\\r?\\n){0,300}?";
/** What parts an option from its value, also in a list of words. */
const GAP = "(?:[\\s=,]|\\\\{0,7}[\"']){1,6}";

/** The option by which a command is given a login, as a shell or a list of words has it, and the name up to its colon. */
const LOGIN_OPTION = `(?:-[a-z]{0,5}u|--(?:proxy-)?user)${GAP}[^\\s:"'\`<>\\\\]{0,100}:`;

/** A digest of a password, as systems keep it. */
const PASSWORD_HASH = "\\$(?:[156y7]|2[abxy]|sha1|apr1|md5|argon2(?:id|i|d)|scrypt|pbkdf2[\\w-]{0,12}|bcrypt[\\w-]{0,12})\\$[\\w./$+=,*-]{20,300}";

/** Somebody's own word, longer than most that stand for one. */
const isSurePassword = (value: string): boolean =>
  value.length >= 6 && mayBePassword(value) && (/[^a-z]/.test(value) || randomBits(value) > 0);
/** 64 bytes as numbers, of which most differ: the pair of keys that programs for Solana write. */
const isKeyBytes = (value: string): boolean => {
  const bytes = value.split(",").map(Number);
  return new Set(bytes).size >= 48 && bytes.every((byte) => byte < 256) && bytes.some((byte) => byte > 127);
};
const isLongRandom = (value: string): boolean => value.length >= 16 && isRandom(value, 24);

function command(id: string, place: string, starts: readonly string[], option: string, word: string = WORD): PlaceRule {
  return { id, place, starts, form: `(?<![\\w-])(?:${starts.join("|")})\\b${REST}${option}${word}`, isLikely: isSurePassword };
}

/** The kinds of places, in the order in which they count. */
export const PLACE_RULES: readonly PlaceRule[] = [
  {
    id: "url-credentials",
    place: "the password of an address (`scheme://name:password@host`)",
    starts: ["://", ":\\/\\/", ":\\\\/\\\\/"],
    // An address as people write it: a name or a password may hold "@", and the last one before the host counts.
    form: ":(?:\\\\{0,3}/){2}[^\\s:/\"'`<>\\\\]{0,80}:([^\\s:/@\"'`<>\\\\]{0,200}(?:@[^\\s:/@?\"'`<>\\\\]{0,200}){1,8}|[^\\s:/@\"'`<>\\\\]{3,200})@(?![^\\s:/@?\"'`<>\\\\]{0,200}@)(?!(?:localhost|127(?:\\.\\d+){3}|0\\.0\\.0\\.0|host|db|postgres|mysql|redis|[\\w.-]*example\\.[a-z]+)(?:[^\\w.-]|$))[a-z0-9.-]+",
    isLikely: mayBePassword,
  },
  {
    id: "url-token",
    place: "a token before the host of an address, or in its query (`?sig=…`, `?code=…`)",
    starts: ["://", ":\\/\\/"],
    form: ":(?:\\\\{0,3}/){2}([^\\s:/@?\"'`<>\\\\]{20,400})(?::x-oauth-basic|:)?@(?!o?\\d+\\.ingest|sentry)[a-z0-9.-]+\\.[a-z]{2,}",
    isLikely: isLongRandom,
  },
  {
    id: "url-token",
    place: "a token before the host of an address, or in its query (`?sig=…`, `?code=…`)",
    starts: ["?", "&"].flatMap((mark) => ["sig", "code", "key", "auth", "hash", "X-Amz-Signature", "X-Goog-Signature", "Signature", "k", "t", "hmac", "pwd"].map((name) => `${mark}${name}=`)),
    form: "[?&][\\w-]{1,16}=([\\w%+/=.~-]{20,2000})",
    isLikely: (value) => isRandom(value, 30) && (!isIdOrDigest(value) || value.length === 64),
  },
  // What follows the option is surely a login, whatever it looks like; of other commands it may be a user and a group.
  {
    id: "curl-login",
    place: "`curl -u name:password`",
    starts: ["curl"],
    form: `\\bcurl\\b(?:[^\\r\\n]|\\\\\\r?\\n){0,300}?[\\s"']${LOGIN_OPTION}([^${ENDS}]{4,200})`,
    isLikely: mayBePassword,
  },
  {
    id: "login-option",
    place: "`--user name:password`, `-u name:password`, `-a name:password` of another command",
    starts: ["-u", "-su", "-sku", "-ksu", "-fsu", "-fssu", "--user", "--proxy-user", "-a ", "--auth", "--creds", "--login", "--http-basic"],
    form: `(?<=[\\s"'])(?:${LOGIN_OPTION}|(?:-a|--auth|--creds|--login|--http-basic)${GAP}[^\\s:"'\`<>\\\\]{1,100}:)([^${ENDS}]{8,200})`,
    isLikely: (value) => looksRandom(value) && hasBothCases(value),
  },
  // A name and a password, as a request has them in base64.
  { id: "basic", place: "`Basic` with a name and a password in base64", starts: ["basic "], form: "\\bbasic +([a-z0-9+/]{12,2000}={0,2})", isLikely: holdsPassword },
  { id: "bearer", place: "`Bearer` with a token", starts: ["bearer "], form: "\\bbearer +([a-z0-9._~+/-]{24,2000}={0,2})", isLikely: looksRandom },
  {
    id: "authorization",
    place: "a header `Authorization` or `Cookie`, whatever its scheme",
    starts: ["authorization", "x-auth", "www-auth"],
    form: `[\\w-]{4,20}\\\\{0,7}["']?\\s{0,3}(?::|=>?|,|\\s)\\s{0,3}\\\\{0,7}["'\`]?(?:(?!bearer|basic)[a-z][\\w-]{1,40}(?:[ :]|=["']?))?(?:(?:token|key|apikey|id|credential)=\\\\{0,7}["']?)?([\\w.~+/:=|-]{16,3000})`,
    isLikely: (value) => isRandom(value, 16),
  },
  {
    id: "authorization",
    place: "a header `Authorization` or `Cookie`, whatever its scheme",
    starts: ["cookie: ", "cookie\": "],
    form: "cookie\\\\{0,7}[\"']?: ?\\\\{0,7}[\"']?(?:[\\w.-]{1,60}=[^;\\s]{0,200}; ?){0,8}?[\\w.-]{0,40}(?:sess|sid|auth|token|jwt|login|remember)[\\w.-]{0,30}=([\\w%.+/=:-]{16,3000})",
    isLikely: (value) => isRandom(value, 20),
  },
  // Commands, and the options by which each is given a password
  command("command-password", "a password among a command's words (`sshpass -p`, `mysql -p…`, `redis-cli -a`)", ["sshpass"], "\\s-p ?"),
  command("command-password", "", ["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "mariadb-admin", "mysqlsh", "mycli"], "\\s-p(?=\\S)"),
  command("command-password", "", ["mongo", "mongosh", "mongodump", "mongorestore", "mongoimport", "az", "oc", "cqlsh", "clickhouse-client", "cockroach", "cypher-shell", "ibmcloud", "cf", "argocd", "isql"], "\\s(?:-p|--password)[ =]"),
  command("command-password", "", ["docker", "podman", "helm", "skopeo", "buildah", "crane"], "\\slogin\\b[^\\r\\n]{0,120}?\\s(?:-p|--password)[ =]"),
  command("command-password", "", ["redis-cli"], "\\s(?:-a|--pass)[ =]"),
  command("command-password", "", ["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete", "ldappasswd"], "\\s-w ?"),
  command("command-password", "", ["7z", "7za", "7zz", "unrar", "rar"], "\\s-(?:p|hp)(?=\\S)"),
  command("command-password", "", ["zip", "unzip", "sqlcmd", "bcp", "ipmitool", "cadaver", "snowsql"], "\\s-P ?"),
  command("command-password", "", ["openssl"], "pass(?:in|out|word)?\\s{1,3}(?:pass:)", WORD),
  command("command-password", "", ["htpasswd"], "\\s-[a-z]{0,4}b[a-z]{0,4}\\s(?:-\\w{1,4}\\s|-C \\d+ ){0,3}[^\\s]{1,200}\\s[^\\s]{1,80}\\s"),
  command("command-password", "", ["keytool", "jarsigner", "apksigner"], "\\s-{1,2}(?:store|key|ks|src|dest|k?s)[-\\w]{0,8}pass(?::\\w+)?\\s(?:pass:)?"),
  command("command-password", "", ["smbclient", "rpcclient", "winexe", "smbmap", "smbget"], "\\s-U\\s?[\"']?[^\\s%\"']{1,80}%"),
  command("command-password", "", ["xfreerdp", "xfreerdp3", "wlfreerdp", "rdesktop", "cmdkey", "mstsc"], "(?:\\s/p:|\\s/pass:|\\s-p )"),
  command("command-password", "", ["net use", "net user"], "(?:\\\\\\\\[^\\s]{1,200}|\\buser\\s[^\\s/]{1,60})\\s"),
  command("command-password", "", ["rabbitmqctl", "kadmin", "etcdctl", "influx"], "(?:add_user|change_password|--user|-password|-pw)[ =][\"']?(?:[^\\s\"':]{1,60}[ :])?"),
  command("command-password", "", ["putty", "plink", "pscp", "psftp"], "\\s-pw\\s"),
  command("command-password", "", ["gpg", "gpg2", "borg", "restic", "wget", "ansible", "lftp", "ncftp"], "(?:--passphrase[= ]|password[= ]|_pass[= ]|-u [^\\s,]{1,60},)"),
  { id: "command-password", place: "", starts: ["echo ", "printf ", "<<< "], form: `(?:echo|printf|<<<) (?:-\\w{1,3} )?\\\\{0,7}["']?([^${ENDS}]{6,200})(?:\\\\n)?\\\\{0,7}["']?\\s?\\|\\s?(?:sudo\\s-\\w{0,3}S|docker login|podman login|helm registry login|gh auth login|passwd|vault login|cryptsetup)`, isLikely: isSurePassword },
  { id: "command-password", place: "", starts: ["echo ", "printf "], form: `(?:echo|printf) (?:-\\w{1,3} )?\\\\{0,7}["']?[\\w.-]{1,40}:([^${ENDS}]{6,200})\\\\{0,7}["']?\\s?\\|\\s?(?:sudo\\s)?chpasswd`, isLikely: isSurePassword },
  { id: "command-password", place: "", starts: ["ConvertTo-SecureString"], form: `ConvertTo-SecureString\\s(?:-String\\s|-AsPlainText\\s|-Force\\s){0,3}${QUOTED}`, isLikely: isSurePassword },
  { id: "command-password", place: "", starts: ["Credential("], form: `Credential\\(\\s?(?:\\\\{0,7}["'][^"'\\r\\n]{0,100}\\\\{0,7}["']|[\\w.]{1,60}),\\s?\\\\{0,7}["']([^"'\\r\\n\\\\]{4,200})`, isLikely: isSurePassword },
  { id: "command-password", place: "", starts: ["send "], form: "send\\s(?:--\\s)?\\\\{0,7}[\"']([^\\s\"'\\\\]{6,200})\\\\{1,7}[rn]", isLikely: looksRandom },
  { id: "command-password", place: "", starts: ["snmp"], form: `snmp\\w{2,12}\\b${REST}\\s-[AX]\\s${WORD}`, isLikely: isSurePassword },
  { id: "command-password", place: "", starts: ["jdbc:oracle"], form: `jdbc:oracle:\\w{2,6}:[^\\s/:@"']{1,60}/([^\\s/@"'\\\\]{4,100})@`, isLikely: isSurePassword },
  // Files and statements
  { id: "sql-password", place: "`IDENTIFIED BY '…'`, `PASSWORD '…'` in SQL", starts: ["identified "], form: `identified(?:\\s(?:with|via)\\s[\\w'"\`]{1,40})?\\s(?:by|as|using)\\s(?:password\\s)?(?:values\\s)?(?=\\\\{0,7}["'])${QUOTED}`, isLikely: isSurePassword },
  { id: "sql-password", place: "", starts: ["identified by "], form: `identified by (?:values )?([^\\s"'\`;,<>]{6,200})`, isLikely: (value) => /\d/.test(value) && isRandom(value, 6) },
  { id: "sql-password", place: "", starts: ["password ", "password("], form: `(?<![\\w-])password(?:\\s{1,3}|\\()(?=\\\\{0,7}')${QUOTED}`, isLikely: isSurePassword },
  { id: "netrc", place: "the files `.netrc` and `.pgpass`", starts: ["login ", "login\n", "login\r", "user "], form: `(?:login|user)\\s{1,6}[^\\s]{1,100}\\s{1,12}(?:password|passwd)\\s{1,6}${QUOTE}([^\\s"'\\\\]{4,200})`, isLikely: (value) => isSurePassword(value) && value !== "password" },
  { id: "netrc", place: "", starts: [":*:", ":5432:", ":5433:", ":6432:", ":6543:", ":25060:", ":5434:"], form: "(?<=(?:^|[\\s\"'])[\\w.*-]{1,100}):(?:\\*|\\d{4,5}):[\\w.*-]{1,64}:[\\w.*@-]{1,64}:([^\\s\"'`<>]{4,200})", isLikely: isSurePassword },
  { id: "docker-auth", place: "logins of registries in `config.json` of Docker and in `.npmrc` (`_auth`)", starts: ["auth", "_auth"], form: `_?auth${QUOTE}\\s{0,4}[:=]\\s{0,4}${QUOTE}([A-Za-z0-9+/]{12,1000}={0,2})`, isLikely: holdsPassword },
  { id: "password-hash", place: "digests of passwords (`/etc/shadow`, `htpasswd`)", starts: [":$", "\"$", "'$", "=$", " $"], form: `[:"'= ](${PASSWORD_HASH})`, isLikely: (value) => isRandom(value.slice(4), 20) },
  { id: "connection-string", place: "keys of connection strings", starts: ["SharedAccessKey=", "SharedSecret", "SharedAccessSignature", "pwd=", "AccessKey="], form: `(?:SharedAccessKey|SharedSecretValue|SharedSecret|SharedAccessSignature|pwd|AccessKey)=([^\\s;"'<>\\\\&]{6,600})`, isLikely: (value) => isRandom(value, 3) },
  { id: "command-password", place: "", starts: ["PGPASSWORD=", "MYSQL_PWD=", "SSHPASS=", "REDISCLI_AUTH=", "RESTIC_PASSWORD=", "BORG_PASSPHRASE=", "VAULT_TOKEN="], form: `(?:PGPASSWORD|MYSQL_PWD|SSHPASS|REDISCLI_AUTH|RESTIC_PASSWORD|BORG_PASSPHRASE|VAULT_TOKEN)=${WORD}`, isLikely: isSurePassword },
  { id: "aws-secret-key", place: "the secret beside an AWS key id", starts: ["AKIA", "ASIA"], form: "A[KS]IA[A-Z2-7]{16}[\\s,;:|\"'\\\\tn]{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", isLikely: (value) => isRandom(value, 40) },
  { id: "jwk", place: "private keys as JSON or XML (`\"kty\"` … `\"d\"`, `<D>`), of a wallet, a phrase of its words", starts: ["\"kty\"", "kty\\\""], form: "[\"\\\\]{0,8}kty[\\s\\S]{0,3000}?\\\\{0,7}\"[dk]\\\\{0,7}\"\\s{0,4}:\\s{0,4}\\\\{0,7}\"([\\w-]{30,1000})", isLikely: (value) => isRandom(value, 30) },
  { id: "jwk", place: "", starts: ["\"d\"", "\"k\"", "d\\\":", "k\\\":"], form: "[\"\\\\]{0,8}[dk][\"\\\\]{1,8}\\s{0,4}:\\s{0,4}[\"\\\\]{1,8}([\\w-]{30,1000})[\"\\\\]{1,8}[\\s\\S]{0,3000}?kty[\"\\\\]", isLikely: (value) => isRandom(value, 30) },
  { id: "jwk", place: "", starts: ["<D>"], form: "<D>([a-z0-9+/=\\s]{40,2000})</D>", isLikely: (value) => isRandom(value, 30) },
  { id: "jwk", place: "", starts: ["mnemonic", "seed phrase", "seed_phrase", "seed-phrase", "recovery phrase", "secret phrase", "seed words", "seedphrase"], form: "(?:mnemonic|seed[ _-]?phrase|recovery phrase|secret phrase|seed words)s?(?:[ \\w]{0,20})?[\"'`\\s:=*_(\\\\]{1,12}(?:n\\s?)?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\\b", isLikely: (value) => !/\b(?:the|and|for|you|with|are|this|that|from)\b/.test(value) },
  { id: "jwk", place: "", starts: ["[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9", "[0"], form: "\\[((?:\\d{1,3}\\s{0,4},\\s{0,4}){63}\\d{1,3})\\s{0,4}\\]", isLikely: isKeyBytes },
  { id: "private-number", place: "private keys as hexadecimal digits, beside a word that says so", starts: ["private", "privkey", "priv_key", "priv key", "secret key", "deployer", "wallet", "--pk", "pk="], form: "(?:private|priv|secret|deployer|wallet|-pk|pk=)[^\\r\\n]{0,40}?(?<![0-9a-f])((?:0x)?[0-9a-f]{64})(?![0-9a-f])", isLikely: (value) => isRandom(value, 20) },
];
