// The forms of issuers' secrets: a mark that the issuer puts in front, and what follows it, from issuers' own documentation.
// Each form has an example from which a test makes a secret: `{w24}` = 24 letters or digits, `{h8}` = hexadecimal digits,
// `{u8}` = capitals or digits, `{l8}` = small letters or digits, `{d8}` = digits, `{s1}` = a dollar sign; so no file here
// contains what looks like a secret.

/** An issuer's secrets. */
export interface IssuerForms {
  /** The kind, for people and for `--allow`, e.g. `stripe`. */
  readonly id: string;
  /** The issuer's name, for docs/SECURITY.md. */
  readonly issuer: string;
  /**
   * Examples by form; a form is the source of a regular expression that begins as `createStartFinder` requires. No word
   * character precedes or follows a match.
   */
  readonly forms: Readonly<Record<string, string>>;
  /** Whether the form is so unspecific that the value must look random too. */
  readonly isVague?: true;
}

const U = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const MADE_U = "{h8}-{h4}-{h4}-{h4}-{h12}";

function issuer(id: string, name: string, forms: IssuerForms["forms"]): IssuerForms {
  return { id, issuer: name, forms };
}

function vague(id: string, name: string, forms: IssuerForms["forms"]): IssuerForms {
  return { id, issuer: name, forms, isVague: true };
}

/** Of two that match at one place the first counts. */
export const ISSUER_FORMS: readonly IssuerForms[] = [
  // Models
  issuer("anthropic", "Anthropic", { "sk-ant-[a-z]{2,8}\\d{2}-[\\w-]{32,}": "sk-ant-api03-{w93}" }),
  issuer("openrouter", "OpenRouter", { "sk-or-v\\d-[0-9a-f]{64}": "sk-or-v1-{h64}" }),
  issuer("langfuse", "Langfuse", { [`sk-lf-${U}`]: `sk-lf-${MADE_U}` }),
  issuer("helicone", "Helicone", { "sk-helicone-[\\w-]{20,}": "sk-helicone-{l7}-{l7}-{l7}-{l7}" }),
  issuer("llm-gateway", "Proxies and voices that write `sk-` (LiteLLM, Letta, Cartesia and others)", {
    "sk-let-[A-Za-z0-9+/=]{40,}": "sk-let-{w60}",
    "sk_car_[A-Za-z0-9]{20,}": "sk_car_{w24}",
    "sk_[0-9a-f]{48}": "sk_{h48}",
    "sk_[A-Za-z0-9]{43}": "sk_{w43}",
  }),
  issuer("openai", "OpenAI, and those that write keys like it (DeepSeek, Moonshot, DashScope)", {
    "sk-(?:proj|svcacct|admin|service|None)-[\\w-]{40,}": "sk-proj-{w120}",
    "sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}": "sk-{w20}T3BlbkFJ{w20}",
    "sk-[A-Za-z0-9]{40,64}": "sk-{w48}",
    "sk-[0-9a-f]{32}": "sk-{h32}",
    "sess-[A-Za-z0-9]{40}": "sess-{w40}",
  }),
  vague("openai-like", "Services that write keys like OpenAI's, shorter", { "sk-[A-Za-z0-9_-]{20,}": "sk-{w24}" }),
  issuer("groq", "Groq", { "gsk_[A-Za-z0-9]{48,}": "gsk_{w52}" }),
  issuer("xai", "xAI", { "xai-[A-Za-z0-9]{60,}": "xai-{w80}" }),
  issuer("perplexity", "Perplexity", { "pplx-[A-Za-z0-9]{40,}": "pplx-{w48}" }),
  issuer("replicate", "Replicate", { "r8_[A-Za-z0-9]{37,}": "r8_{w37}" }),
  issuer("huggingface", "Hugging Face", {
    "hf_[A-Za-z0-9]{30,}": "hf_{w34}",
    "api_org_[A-Za-z0-9]{34}": "api_org_{w34}",
  }),
  issuer("together", "Together AI", { "tgp_v1_[\\w-]{30,}": "tgp_v1_{w43}" }),
  vague("fireworks", "Fireworks AI", { "fw_[A-Za-z0-9]{20,40}": "fw_{w24}" }),
  issuer("cerebras", "Cerebras", { "csk-[a-z0-9]{40,}": "csk-{l48}" }),
  issuer("nvidia", "NVIDIA", { "nvapi-[\\w-]{50,}": "nvapi-{w64}" }),
  issuer("langsmith", "LangSmith", { "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}": "lsv2_pt_{h32}_{h10}" }),
  issuer("pinecone", "Pinecone", { "pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}": "pcsk_{w5}_{w63}" }),
  vague("voyage", "Voyage AI", { "pa-[\\w-]{40,48}": "pa-{w43}", "al-[\\w-]{43}": "al-{w43}" }),
  issuer("jina", "Jina AI", { "jina_[A-Za-z0-9_-]{40,}": "jina_{h32}{w28}" }),
  vague("tavily", "Tavily", { "tvly-(?:dev-|prod-)?[A-Za-z0-9-]{20,}": "tvly-dev-{w32}" }),
  issuer("firecrawl", "Firecrawl", { "fc-[0-9a-f]{32}": "fc-{h32}" }),
  vague("brave-search", "Brave Search", { "BSA[A-Za-z0-9_-]{20,30}": "BSA{w24}" }),
  issuer("runpod", "RunPod", { "rpa_[A-Z0-9]{40,}[a-z0-9]{0,6}": "rpa_{u44}" }),
  vague("modal", "Modal", { "a[ks]-[A-Za-z0-9]{22}": "as-{w22}" }),
  issuer("llamacloud", "LlamaCloud", { "llx-[A-Za-z0-9]{40,}": "llx-{w48}" }),
  issuer("e2b", "E2B", { "e2b_[0-9a-f]{40}": "e2b_{h40}" }),
  issuer("browserbase", "Browserbase", { "bb_live_[\\w-]{20,}": "bb_live_{w27}" }),
  issuer("cursor", "Cursor", { "key_[0-9a-f]{64,128}": "key_{h64}", "crsr_[0-9a-f]{40,}": "crsr_{h64}" }),
  issuer("wandb", "Weights & Biases", { "wandb_v\\d_[\\w-]{40,}": "wandb_v1_{w77}" }),
  issuer("kaggle", "Kaggle", { "KGAT_[0-9a-f]{32}": "KGAT_{h32}" }),
  issuer("baidu", "Baidu", { "bce-v3/ALTAK-[\\w-]{16,}/[0-9a-f]{40}": "bce-v3/ALTAK-{w21}/{h40}" }),
  vague("zhipu", "Zhipu", { "[0-9a-f][0-9a-f]{31}\\.[A-Za-z0-9]{16}": "{h32}.{w16}" }),
  issuer("chutes", "Chutes", { "cpk_[0-9a-f]{32}\\.[0-9a-f]{32}\\.[A-Za-z0-9]{32}": "cpk_{h32}.{h32}.{w32}" }),
  issuer("fal", "fal", { [`${U}:[0-9a-f]{32}`]: `${MADE_U}:{h32}` }),
  vague("requesty", "Requesty", { "rqsty-(?:sk-)?[A-Za-z0-9+/_-]{40,}={0,2}": "rqsty-sk-{w60}" }),
  vague("mem0", "Mem0", { "m0-[A-Za-z0-9]{40}": "m0-{w40}" }),
  vague("vectors", "Zep, Luma, Exa and others that write a short mark", {
    "z_1d[A-Za-z0-9_.-]{40,}": "z_1d{w60}",
    [`luma-${U}(?:-[\\w-]{1,60})?`]: `luma-${MADE_U}`,
    "gbl_[A-Za-z0-9]{32,}": "gbl_{w40}",
  }),
  vague("anyscale", "Anyscale", {
    "esecret_[A-Za-z0-9]{24,}": "esecret_{l26}",
    "aph0_[A-Za-z0-9_-]{40,}": "aph0_{w42}",
  }),
  // Clouds
  issuer("aws-key-id", "Amazon Web Services", { "A[KSB]IA[A-Z2-7]{16}": "AKIA{b16}", "ACCA[A-Z2-7]{16}": "ACCA{b16}" }),
  issuer("aws-session-token", "Amazon Web Services", {
    "IQoJb3JpZ2lu[A-Za-z0-9+/]{80,3000}={0,2}": "IQoJb3JpZ2lu{w300}",
    "F[wQ]oG[A-Za-z0-9+/]{100,3000}={0,2}": "FwoGZXIvYXdz{w300}",
  }),
  issuer("aws-bedrock", "Amazon Bedrock", {
    "ABSKQmVkcm9ja[A-Za-z0-9+/]{60,}={0,2}": "ABSKQmVkcm9ja0FQSUtleS{w100}",
    "bedrock-api-key-[A-Za-z0-9+/]{60,}={0,2}": "bedrock-api-key-{w120}",
  }),
  issuer("google-api-key", "Google", { "AIza[\\w-]{35}": "AIza{w35}", "AQ\\.Ab[\\w-]{40,}": "AQ.Ab8R{w46}" }),
  issuer("google-oauth", "Google", {
    "GOCSPX-[\\w-]{28}": "GOCSPX-{w28}",
    "ya29\\.[\\w-]{40,}": "ya29.{w100}",
    "1//0[\\w-]{40,}": "1//0{w60}",
  }),
  issuer("google-fcm", "Firebase", { "AAAA[\\w-]{7}:APA91b[\\w-]{120,}": "AAAA{w7}:APA91b{w134}" }),
  issuer("azure-storage", "Azure", { "AccountKey=[A-Za-z0-9+/]{86}==": "AccountKey={w86}==" }),
  issuer("azure-webhook", "Microsoft", {
    [`webhook\\.office\\.com/webhookb2/${U}@${U}/IncomingWebhook/[0-9a-f]{32}/${U}`]: `webhook.office.com/webhookb2/${MADE_U}@${MADE_U}/IncomingWebhook/{h32}/${MADE_U}`,
  }),
  issuer("digitalocean", "DigitalOcean", { "do[opr]_v1_[0-9a-f]{64}": "dop_v1_{h64}" }),
  issuer("heroku", "Heroku", { "HRKU-[\\w-]{36,}": "HRKU-AA{w58}" }),
  issuer("fly", "Fly.io", {
    "fm[12][arb]?_[A-Za-z0-9+/=_,-]{60,4000}": "fm2_{w200}",
    "fo1_[\\w-]{43}": "fo1_{w43}",
  }),
  issuer("render", "Render", { "rnd_[A-Za-z0-9]{28,}": "rnd_{w28}" }),
  issuer("vercel", "Vercel", {
    "vc[piark]_[A-Za-z0-9]{24,}": "vcp_{w56}",
    "vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{24,}": "vercel_blob_rw_{w16}_{w32}",
  }),
  issuer("netlify", "Netlify", { "nf[pcobu]_[A-Za-z0-9]{36,}": "nfp_{w36}" }),
  issuer("cloudflare", "Cloudflare", {
    "cf[uka]t?_[A-Za-z0-9]{38,}": "cfut_{w48}",
    "v1\\.0-[0-9a-f]{24}-[0-9a-f]{146}": "v1.0-{h24}-{h146}",
    "0x4AAAAAA[\\w-]{26}": "0x4AAAAAA{w26}",
    "eyJhIjoi[A-Za-z0-9+/_-]{100,}={0,2}": "eyJhIjoi{w140}",
  }),
  issuer("scaleway", "Scaleway", { "SCW[A-Z0-9]{17}": "SCW{u17}" }),
  issuer("alibaba", "Alibaba Cloud", { "LTAI[A-Za-z0-9]{12,26}": "LTAI5t{w18}" }),
  vague("tencent", "Tencent Cloud", { "AKID[A-Za-z0-9]{32}": "AKID{w32}" }),
  vague("yandex", "Yandex", {
    "AQVN[\\w-]{35,}": "AQVN{w36}",
    "t1\\.[A-Za-z0-9_-]{10,}={0,2}\\.[\\w-]{80,}={0,2}": "t1.{w20}.{w86}",
    "y[0-3]_[\\w-]{50,}": "y0_{w55}",
    "YC[A-Za-z0-9_-]{38}": "YC{w38}",
  }),
  issuer("ibm", "IBM Cloud", { "ApiKey-[\\w-]{30,}": "ApiKey-{w36}" }),
  issuer("openshift", "OpenShift", { "sha256~[\\w-]{43}": "sha256~{w43}" }),
  // Databases
  issuer("supabase", "Supabase", { "sb[pv]_[0-9a-f]{40}": "sbp_{h40}", "sb_secret_[\\w-]{30,}": "sb_secret_{w31}" }),
  vague("neon", "Neon", { "napi_[a-z0-9]{50,}": "napi_{l64}", "npg_[A-Za-z0-9]{12,}": "npg_{w12}" }),
  issuer("planetscale", "PlanetScale", { "pscale_(?:tkn|pw|oauth)_[\\w.=-]{32,}": "pscale_tkn_{w43}" }),
  issuer("mongodb-atlas", "MongoDB Atlas", { "mdb_sa_sk_[\\w-]{40}": "mdb_sa_sk_{w40}" }),
  issuer("aiven", "Aiven", { "AVNS_[\\w-]{15,}": "AVNS_{w19}", "aivenv1_[\\w=-]{40,}": "aivenv1_{w60}" }),
  issuer("databricks", "Databricks", { "d[ako][peo][iase][0-9a-f]{32}(?:-\\d)?": "dapi{h32}" }),
  vague("clickhouse", "ClickHouse", { "4b1d[A-Za-z0-9]{38}": "4b1d{w38}" }),
  issuer("tinybird", "Tinybird", { "p\\.eyJ[\\w-]{20,}\\.[\\w-]{40,}": "p.eyJ{w80}.{w43}" }),
  issuer("xata", "Xata", { "xau_[A-Za-z0-9]{32,}": "xau_{w34}" }),
  vague("convex", "Convex", {
    "prod:[a-z]{3,12}-[a-z]{3,12}-\\d{1,4}\\|[A-Za-z0-9+/=]{40,}": "prod:quick-otter-123|eyJ{w80}",
    "dev:[a-z]{3,12}-[a-z]{3,12}-\\d{1,4}\\|[A-Za-z0-9+/=]{40,}": "dev:quick-otter-123|eyJ{w80}",
  }),
  issuer("appwrite", "Appwrite", { "standard_[0-9a-f]{160,}": "standard_{h160}{h96}" }),
  // Forges
  issuer("github", "GitHub", {
    "gh[pousr]_[A-Za-z0-9]{36,255}": "ghp_{w36}",
    "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}": "github_pat_{w22}_{w59}",
    "v1\\.[0-9a-f]{40}": "v1.{h40}",
  }),
  issuer("gitlab", "GitLab", {
    "gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|agent|imt|oas|ffct|wt)-[\\w.-]{20,}": "glpat-{w20}",
    "GR1348941[\\w-]{20,}": "GR1348941{w20}",
    "_gitlab_session=[0-9a-f]{32}": "_gitlab_session={h32}",
  }),
  issuer("atlassian", "Atlassian", {
    "ATATT3[\\w=-]{60,}": "ATATT3{w180}",
    "ATCTT3[\\w=-]{60,}": "ATCTT3{w180}",
    "ATBB[A-Za-z0-9]{32}": "ATBB{w32}",
    "ATTA[0-9a-f]{60,}[A-F0-9]{0,8}": "ATTA{h64}",
  }),
  issuer("sourcegraph", "Sourcegraph", { "s[gl][pkd]_(?:[a-z0-9-]{1,24}_)?[0-9a-f]{40,64}": "sgp_{h40}" }),
  // Continuous integration
  issuer("circleci", "CircleCI", { "CCI(?:PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}": "CCIPAT_{w22}_{h40}" }),
  issuer("buildkite", "Buildkite", { "bk[a-z]{2,3}_[A-Za-z0-9]{32,}": "bkua_{h40}" }),
  vague("appveyor", "AppVeyor", { "v2\\.[a-z0-9]{20}": "v2.{l20}" }),
  issuer("harness", "Harness", { "[ps]at\\.[\\w-]{22}\\.[0-9a-f]{24}\\.[A-Za-z0-9]{20}": "pat.{w22}.{h24}.{w20}" }),
  vague("octopus", "Octopus Deploy", { "API-[A-Z0-9]{25,}": "API-{u28}" }),
  issuer("depot", "Depot", { "depot_(?:project|org|user)_[0-9a-f]{40,}": "depot_project_{h64}" }),
  issuer("sonarqube", "SonarQube", { "sq[upa]_[0-9a-f]{40}": "squ_{h40}" }),
  issuer("snyk", "Snyk", { "snyk_(?:uat|sat)\\.[0-9a-f]{8}\\.[\\w.-]{40,}": "snyk_uat.{h8}.{w80}" }),
  issuer("socket", "Socket", { "sktsec_[\\w-]{30,}": "sktsec_{w40}" }),
  issuer("codecov", "Codecov and Dagger", {
    "dag_[a-z0-9_]{1,30}_[0-9a-f-]{36}": "dag_harbour_{h8}-{h4}-{h4}-{h4}-{h12}",
  }),
  issuer("pulumi", "Pulumi", { "pul-[0-9a-f]{40}": "pul-{h40}" }),
  issuer("infracost", "Infracost", { "ico-[A-Za-z0-9]{32}": "ico-{w32}" }),
  issuer("expo", "Expo", { "exp_[A-Za-z0-9]{36,}": "exp_{w36}" }),
  issuer("trigger", "Trigger.dev and Inngest", {
    "tr_(?:prod|dev|stg|preview|pat)_[A-Za-z0-9]{20,}": "tr_prod_{w24}",
    "signkey-(?:prod|branch|test)-[0-9a-f]{32,}": "signkey-prod-{h64}",
  }),
  // Secrets and machines
  issuer("vault", "HashiCorp Vault", { "hv[sbr]\\.[\\w-]{24,}": "hvs.{w28}" }),
  vague("vault-old", "HashiCorp Vault, before 1.10", { "s\\.[A-Za-z0-9]{24}": "s.{w24}" }),
  issuer("doppler", "Doppler", { "dp\\.(?:pt|st|ct|sa|scim|audit|said)\\.[A-Za-z0-9._-]{40,}": "dp.pt.{w43}" }),
  issuer("infisical", "Infisical", { "st\\.[0-9a-f-]{24,36}\\.[0-9a-f]{32}\\.[0-9a-f]{32}": "st.{h24}.{h32}.{h32}" }),
  issuer("1password", "1Password", {
    "ops_eyJ[A-Za-z0-9+/=_-]{100,}": "ops_eyJ{w120}",
    "A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}": "A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}",
  }),
  issuer("bitwarden", "Bitwarden", { [`0\\.${U}\\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==`]: `0.${MADE_U}.{w30}:{w22}==` }),
  issuer("age", "age", { "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}": "AGE-SECRET-KEY-1{a58}" }),
  issuer("tailscale", "Tailscale", {
    "tskey-(?:[a-z]{3,12}-)?[A-Za-z0-9]{10,}-?[A-Za-z0-9]{0,40}": "tskey-auth-{w17}-{w32}",
    "nodekey-[A-Za-z]{0,8}:?[0-9a-f]{64}": "nodekey-priv:{h64}",
  }),
  issuer("netbird", "NetBird", { "nbp_[A-Za-z0-9]{36}": "nbp_{w36}" }),
  vague("ngrok", "ngrok", { "2[A-Za-z0-9]{26}_[A-Za-z0-9]{20,22}": "2{w26}_{w21}" }),
  // Packages
  issuer("npm", "npm", { "npm_[A-Za-z0-9]{36}": "npm_{w36}" }),
  issuer("pypi", "PyPI", { "pypi-AgE[A-Za-z0-9]{10,}[\\w-]{50,}": "pypi-AgEIcHlwaS5vcmc{w70}" }),
  issuer("rubygems", "RubyGems", { "rubygems_[0-9a-f]{48}": "rubygems_{h48}" }),
  issuer("crates", "crates.io", { "cio[A-Za-z0-9]{32}": "cio{w32}" }),
  issuer("nuget", "NuGet", { "oy2[a-z0-9]{43}": "oy2{l43}" }),
  issuer("docker", "Docker", { "dckr_(?:pat|oat|st)_[\\w-]{27,}": "dckr_pat_{w27}" }),
  issuer("jfrog", "JFrog", { "AKCp[A-Za-z0-9]{60,}": "AKCp8{w64}", "cmVmdGtu[A-Za-z0-9+/=]{50,}": "cmVmdGtu{w56}" }),
  issuer("clojars", "Clojars", { "CLOJARS_[a-z0-9]{60}": "CLOJARS_{l60}" }),
  issuer("packagist", "Packagist", { "packagist_[a-z]{2,4}_[0-9a-f]{60,}": "packagist_out_{h68}" }),
  // Payments and shops
  issuer("stripe", "Stripe, and those that write keys like it (Clerk, Paystack, WorkOS)", {
    "[rs]k_(?:live|test|prod|sbox|org)_[A-Za-z0-9_]{16,}": "sk_live_{w24}",
    "whsec_[A-Za-z0-9+/]{24,}={0,2}": "whsec_{w32}",
  }),
  issuer("square", "Square", { "sq0[a-z]{3}-[\\w-]{22,43}": "sq0atp-{w22}", "EAAA[\\w-]{60}": "EAAA{w60}" }),
  issuer("paypal", "PayPal", {
    "access_token\\$(?:production|sandbox)\\$[a-z0-9]{16}\\$[0-9a-f]{32}":
      "access_token{s1}production{s1}{l16}{s1}{h32}",
    "A21AA[\\w-]{80,}": "A21AA{w92}",
  }),
  issuer("adyen", "Adyen", { "AQE[a-z0-9]{1,4}hm[A-Za-z0-9+/=.,\\-]{60,}": "AQEyhm{w80}" }),
  issuer("razorpay", "Razorpay", { "rzp_(?:live|test)_[A-Za-z0-9]{14,}": "rzp_live_{w14}" }),
  issuer("flutterwave", "Flutterwave", { "FLW(?:SECK|PUBK)(?:_TEST)?-[A-Za-z0-9]{20,}-X": "FLWSECK-{h32}-X" }),
  vague("mollie", "Mollie, GoCardless, Lob and others that write `live_`", {
    "live_[A-Za-z0-9_-]{28,}": "live_{w30}",
    "test_[A-Za-z0-9]{28,}": "test_{w32}",
  }),
  issuer("plaid", "Plaid", { [`access-(?:production|sandbox|development)-${U}`]: `access-production-${MADE_U}` }),
  issuer("paddle", "Paddle", {
    "pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}": "pdl_live_apikey_{l26}_{w22}_{w3}",
  }),
  issuer("polar", "Polar", { "polar_(?:oat|pat|whs|at|rt|cs)_[A-Za-z0-9_-]{32,}": "polar_oat_{w43}" }),
  issuer("klarna", "Klarna", { "klarna_(?:live|test)_api_[\\w+/=-]{30,}": "klarna_live_api_{w60}" }),
  issuer("shopify", "Shopify", { "shp(?:at|ca|pa|ss|tk|ua)_[0-9a-fA-F]{32}": "shpat_{h32}" }),
  issuer("mercadopago", "Mercado Pago", {
    "APP_USR-\\d{8,20}-\\d{6}-[0-9a-f]{32}-\\d{6,12}": "APP_USR-{d16}-{d6}-{h32}-{d9}",
  }),
  issuer("cashfree", "Cashfree and Xendit", {
    "cfsk_ma_(?:prod|test)_[0-9a-f]{32}_[0-9a-f]{8}": "cfsk_ma_prod_{h32}_{h8}",
    "xnd_(?:production|development)_[A-Za-z0-9]{30,}": "xnd_production_{w60}",
  }),
  issuer("easypost", "EasyPost", { "EZ[AT]K[A-Za-z0-9]{54}": "EZAK{w54}" }),
  issuer("shippo", "Shippo and Duffel", {
    "shippo_(?:live|test)_[0-9a-f]{40}": "shippo_live_{h40}",
    "duffel_(?:live|test)_[\\w=-]{40,}": "duffel_live_{w43}",
  }),
  // Messages
  issuer("slack", "Slack", {
    "xox[abeoprs]-(?:\\d+-){1,3}[A-Za-z0-9-]{10,}": "xoxb-{d11}-{d11}-{w24}",
    "xox[cd]-[\\w%-]{40,}": "xoxc-{d12}-{d12}-{h64}",
    "xoxe\\.xox[bp]-\\d-[A-Za-z0-9]{100,}": "xoxe.xoxb-1-{w160}",
    "xapp-\\d-[A-Z0-9]+-\\d+-[a-z0-9]{32,}": "xapp-1-A{u10}-{d13}-{h64}",
    "hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,12}/[A-Z0-9]{8,20}/[A-Za-z0-9/]{20,60}":
      "hooks.slack.com/services/T{u10}/B{u10}/{w24}",
  }),
  issuer("discord", "Discord", {
    "[MNO][A-Za-z\\d][A-Za-z\\d_-]{21,26}\\.[\\w-]{6}\\.[\\w-]{27,38}": "MT{w24}.{w6}.{w38}",
    "discord(?:app)?\\.com/api/(?:v\\d{1,2}/)?webhooks/\\d{17,20}/[\\w-]{60,80}":
      "discord.com/api/webhooks/{d18}/{w68}",
    "mfa\\.[\\w-]{84}": "mfa.{w84}",
  }),
  issuer("telegram", "Telegram", { "\\d\\d\\d{6,8}:AA[\\w-]{32,34}": "{d9}:AA{w33}" }),
  issuer("twilio", "Twilio", { "AC[0-9a-f]{32}": "AC{h32}", "SK[0-9a-f]{32}": "SK{h32}" }),
  issuer("sendgrid", "SendGrid", { "SG\\.[\\w-]{16,24}\\.[\\w-]{39,50}": "SG.{w22}.{w43}" }),
  issuer("mailgun", "Mailgun", {
    "key-[0-9a-f]{32}": "key-{h32}",
    "[0-9a-f][0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}": "{h32}-{h8}-{h8}",
  }),
  vague("mandrill", "Mailchimp", { "md-[\\w-]{22}": "md-{w22}" }),
  issuer("resend", "Resend", { "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}": "re_{w8}_{w24}" }),
  issuer("brevo", "Brevo", {
    "xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}": "xkeysib-{h64}-{w16}",
    "xsmtpsib-[0-9a-f]{64}-[A-Za-z0-9]{16}": "xsmtpsib-{h64}-{w16}",
  }),
  issuer("google-chat", "Google Chat", {
    "chat\\.googleapis\\.com/v1/spaces/[\\w-]{5,20}/messages\\?key=[\\w-]{30,}&token=[\\w%-]{30,}":
      "chat.googleapis.com/v1/spaces/AAAA{w7}/messages?key=AIza{w35}&token={w43}",
  }),
  issuer("onesignal", "OneSignal", { "os_v2_(?:app|org)_[a-z0-9]{80,}": "os_v2_app_{l100}" }),
  issuer("matrix", "Matrix", { "syt_[A-Za-z0-9+/=]{4,60}_[A-Za-z]{20}_[A-Za-z0-9]{6}": "syt_a2lt_{c20}_{w6}" }),
  vague("facebook", "Facebook, WhatsApp and Instagram", {
    "EAA[A-Za-z0-9]{90,}": "EAA{w160}",
    "IG[A-Z]{2,3}[A-Za-z0-9_-]{100,}": "IGQVJ{w160}",
    "\\d\\d{14,15}\\|[\\w-]{27}": "{d16}|{w27}",
  }),
  issuer("webhook", "Webhooks (Zapier, Make, IFTTT, Feishu, DingTalk, WeCom)", {
    "hooks\\.zapier\\.com/hooks/catch/\\d{5,9}/[a-z0-9]{6,12}": "hooks.zapier.com/hooks/catch/{d8}/{l7}",
    "hook\\.[a-z0-9]{2,4}\\.make\\.com/[a-z0-9]{30,34}": "hook.eu1.make.com/{l32}",
    "maker\\.ifttt\\.com/trigger/[\\w-]{1,60}/with/key/[\\w-]{20,50}": "maker.ifttt.com/trigger/tide/with/key/{w22}",
    [`open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook/${U}`]: `open.feishu.cn/open-apis/bot/v2/hook/${MADE_U}`,
    "oapi\\.dingtalk\\.com/robot/send\\?access_token=[0-9a-f]{64}": "oapi.dingtalk.com/robot/send?access_token={h64}",
    [`qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/send\\?key=${U}`]: `qyapi.weixin.qq.com/cgi-bin/webhook/send?key=${MADE_U}`,
  }),
  // Watching
  issuer("sentry", "Sentry", { "sntry[suai]_[A-Za-z0-9+/=_-]{40,}": "sntrys_{w120}" }),
  issuer("newrelic", "New Relic", {
    "NRAK-[A-Z0-9]{27}": "NRAK-{u27}",
    "NRI[IQ]-[\\w-]{32}": "NRII-{w32}",
    "NRAA-[0-9a-f]{27}": "NRAA-{h27}",
  }),
  issuer("grafana", "Grafana", {
    "gl(?:c|sa)_[A-Za-z0-9+/=_]{32,}": "glc_{w100}",
    "eyJrIjoi[A-Za-z0-9+/]{60,400}={0,2}": "eyJrIjoi{w80}",
  }),
  issuer("datadog", "Datadog", { "dd[ap][pa][ipt]_[A-Za-z0-9]{32,}": "ddapp_{w34}" }),
  issuer("honeycomb", "Honeycomb", { "hc[a-z]ik_[a-z0-9]{50,}": "hcaik_{l58}" }),
  issuer("dynatrace", "Dynatrace", { "dt0[a-z]\\d{2}\\.[A-Z0-9]{8,24}\\.[A-Z0-9]{64}": "dt0c01.{u24}.{u64}" }),
  issuer("posthog", "PostHog", { "ph[xs]_[A-Za-z0-9]{40,}": "phx_{w43}" }),
  issuer("launchdarkly", "LaunchDarkly", { [`[sam][dpo][kib]-${U}`]: `sdk-${MADE_U}` }),
  issuer("statsig", "Statsig", { "secret-[A-Za-z0-9]{40,}": "secret-{w43}" }),
  issuer("configcat", "ConfigCat", {
    "configcat-(?:sdk|proxy)-\\d/[\\w-]{22}/[\\w-]{22}": "configcat-sdk-1/{w22}/{w22}",
  }),
  issuer("unleash", "Unleash", {
    "\\*:[a-z]{3,20}\\.[0-9a-f]{56,64}": "*:production.{h60}",
    "default:[a-z]{3,20}\\.[0-9a-f]{56,64}": "default:development.{h60}",
  }),
  issuer("axiom", "Axiom", { [`xa[ap]t-${U}`]: `xaat-${MADE_U}` }),
  issuer("prefect", "Prefect", { "pn[ub]_[A-Za-z0-9]{36}": "pnu_{w36}" }),
  issuer("dbt", "dbt", { "dbt[cu]_[A-Za-z0-9_=-]{36,}": "dbtc_{w43}" }),
  issuer("uptime", "UptimeRobot and Checkly", {
    "u\\d{5,8}-[0-9a-f]{24}": "u{d7}-{h24}",
    "cu_[0-9a-f]{32}": "cu_{h32}",
  }),
  // Work
  issuer("linear", "Linear", { "lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,}": "lin_api_{w40}" }),
  issuer("notion", "Notion", { "ntn_[A-Za-z0-9]{40,}": "ntn_{w46}", "secret_[A-Za-z0-9]{43}": "secret_{w43}" }),
  issuer("figma", "Figma", { "fig[dpoush]{1,2}_[\\w-]{40,}": "figd_{w43}" }),
  issuer("postman", "Postman", {
    "PMAK-[0-9a-f]{24}-[0-9a-f]{34}": "PMAK-{h24}-{h34}",
    "PMAT-[0-9A-Z]{26}": "PMAT-{u26}",
  }),
  issuer("airtable", "Airtable", { "pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}": "pat{w14}.{h64}" }),
  vague("airtable-key", "Airtable", { "key[A-Za-z0-9]{14}": "key{w14}" }),
  issuer("asana", "Asana", { "[12]/\\d{13,20}(?:/\\d{13,20})?:[0-9a-f]{32}": "2/{d16}/{d16}:{h32}" }),
  issuer("clickup", "ClickUp", { "pk_\\d{6,10}_[A-Z0-9]{32}": "pk_{d8}_{u32}" }),
  issuer("typeform", "Typeform", { "tfp_[\\w.=-]{40,}": "tfp_{w44}_{w14}" }),
  issuer("contentful", "Contentful", { "CFPAT-[\\w-]{43}": "CFPAT-{w43}" }),
  issuer("hubspot", "HubSpot", { [`pat-(?:na|eu)\\d-${U}`]: `pat-na1-${MADE_U}` }),
  issuer("salesforce", "Salesforce", { "00D[A-Za-z0-9]{12,15}![\\w.]{80,120}": "00D{w12}!{w96}" }),
  vague("okta", "Okta", { "00[\\w-]{40}": "00{w40}" }),
  issuer("stytch", "Stytch", { "secret-(?:live|test)-[\\w=-]{30,}": "secret-live-{w40}" }),
  vague("dropbox", "Dropbox", { "sl\\.(?:u\\.)?[\\w-]{60,}": "sl.u.{w130}" }),
  issuer("mapbox", "Mapbox", { "sk\\.eyJ[\\w-]{20,}\\.[\\w-]{20,}": "sk.eyJ{w60}.{w22}" }),
  issuer("adobe", "Adobe", { "p8e-[A-Za-z0-9_-]{32}": "p8e-{w32}" }),
  issuer("readme-io", "ReadMe", { "rdme_[a-z0-9]{70}": "rdme_{l70}" }),
  issuer("scalingo", "Scalingo", { "tk-us-[\\w-]{48}": "tk-us-{w48}" }),
  issuer("frameio", "Frame.io", { "fio-u-[\\w=-]{64}": "fio-u-{w64}" }),
  issuer("adafruit", "Adafruit", { "aio_[A-Za-z0-9]{28}": "aio_{w28}" }),
  issuer("retool", "Retool", { "retool_[A-Za-z0-9]{20,}": "retool_{l26}" }),
  issuer("nylas", "Nylas", { "nyk_v0_[A-Za-z0-9]{60,}": "nyk_v0_{w64}" }),
  vague("twitter", "X", { "AAAAAAAAA[A-Za-z0-9%]{80,}": "AAAAAAAAA{w100}" }),
  issuer("ghost", "Ghost", { "[0-9a-f][0-9a-f]{23}:[0-9a-f]{64}": "{h24}:{h64}" }),
  vague("intercom", "Intercom", { "dG9rO[A-Za-z0-9+/]{40,}={0,2}": "dG9rO{w54}=" }),
  // Coins
  vague("wallet", "Wallets of coins", {
    "xprv[A-HJ-NP-Za-km-z1-9]{100,112}": "xprv{e107}",
    "[5KL][A-HJ-NP-Za-km-z1-9]{50,51}": "5{e50}",
    "nsec1[02-9ac-hj-np-z]{58}": "nsec1{n58}",
    "suiprivkey1[02-9ac-hj-np-z]{58,}": "suiprivkey1{n58}",
    "ed25519-priv-0x[0-9a-f]{64}": "ed25519-priv-0x{h64}",
    "edsk[A-HJ-NP-Za-km-z1-9]{50,94}": "edsk{e50}",
    "S[A-D][A-Z2-7]{54}": "SA{b54}",
  }),
  issuer("jwt", "JSON web tokens", {
    "eyJ[\\w-]{10,}={0,2}\\.(?:eyJ|ew)[\\w-]{8,}={0,2}\\.[\\w-]{20,}": "eyJ{w20}.eyJ{w40}.{w43}",
  }),
];

/** Issuers whose mark is in the middle: the mark is searched first, then the text around it is matched. */
export const MIDDLE_FORMS: readonly (IssuerForms & { readonly marks: readonly string[] })[] = [
  middle("azure-key", "Azure", ["+ASt", "+ACDb", "+ARm", "+AMC", "+AEh", "AzFu", "AzSe", "AZDO", "JQQJ99"], {
    "[A-Za-z0-9+/]{76}\\+(?:ASt|ACDb|ARm|AMC|AEh)[A-Za-z0-9+/]{5,7}={0,2}": "{w76}+ASt{w6}==",
    "[\\w-]{44}AzFu[\\w-]{5}[AQgw]==": "{w44}AzFu{w5}Q==",
    "[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}": "{w42}AzSeA{w5}",
    "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}": "{w76}AZDO{w4}",
    "[A-Za-z0-9]{52}JQQJ99[A-Z]{2}[A-Za-z0-9]{20,30}": "{w52}JQQJ99AL{w23}",
  }),
  middle("azure-client-secret", "Microsoft Entra", ["7Q~", "8Q~"], {
    "[\\w.~-]{3}\\dQ~[\\w.~-]{31,34}": "{w3}8Q~{w34}",
  }),
  middle("terraform", "Terraform Cloud", [".atlasv1."], {
    "[A-Za-z0-9]{14}\\.atlasv1\\.[\\w-]{60,}": "{w14}.atlasv1.{w67}",
  }),
  middle("newrelic-license", "New Relic", ["NRAL"], { "[0-9a-f]{36}NRAL": "{h36}NRAL" }),
  middle("mailchimp", "Mailchimp", ["-us"], { "[0-9a-f]{32}-us\\d{1,2}": "{h32}-us12" }),
];

function middle(
  id: string,
  name: string,
  marks: readonly string[],
  forms: IssuerForms["forms"],
): IssuerForms & { readonly marks: readonly string[] } {
  return { id, issuer: name, marks, forms };
}
