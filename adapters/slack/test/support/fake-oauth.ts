import { randomBytes } from "node:crypto";

/** The installations of the app, by Slack's OAuth 2.0. Tests change the members, and inspect the result. */
export interface FakeOauth {
  readonly clientId: string;
  readonly clientSecret: string;
  /** The app's redirect URLs. Slack accepts addresses that begin with one. */
  readonly redirectUrls: string[];
  /** The workspace that the administrator chooses on Slack's page. */
  team: { readonly id: string; readonly name: string };
  /** Scopes that the administrator of the Slack workspace does not grant. */
  readonly withheld: Set<string>;
  /** Scopes that the app may not request, such as one of an older manifest. */
  readonly impossible: Set<string>;
  /** Replaces members of the answer to an exchange. */
  answer: Readonly<Record<string, unknown>>;
  /** The scopes that were requested last. */
  readonly requested: readonly string[];
  /** The token that was given last. */
  readonly token: string;
  /** Removes the app from the workspace. */
  uninstall(): void;
}

interface Code {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

type Body = Readonly<Record<string, string>>;
type Answer = Readonly<Record<string, unknown>>;

const knownScope = /^[a-z]+(?:[.:_][a-z]+)+$|^commands$/;

export interface OauthServer {
  readonly oauth: FakeOauth;
  /** Slack's page for the consent. */
  authorize(query: URLSearchParams): { readonly status: number; readonly html: string };
  access(body: Body): Answer;
  /** The error of a call with this token; null: it is valid. Undefined: it was not given here. */
  judge(token: string): string | null | undefined;
}

/** Refuses wrong codes, credentials, scopes and addresses as Slack does. */
export function createOauth(appId: string, botUserId: string): OauthServer {
  const digits = (): string => String(randomBytes(5).readUIntBE(0, 5)).padStart(12, "1");
  const codes = new Map<string, Code>();
  const tokens = new Map<string, string | null>();
  const bots = new Map<string, string>();
  const oauth = {
    clientId: `${digits()}.${digits()}`,
    clientSecret: randomBytes(16).toString("hex"),
    redirectUrls: [] as string[],
    team: { id: "T0TEAM001", name: "Shop" },
    withheld: new Set<string>(),
    impossible: new Set<string>(),
    answer: {},
    requested: [] as readonly string[],
    token: "",
    uninstall() {
      for (const token of tokens.keys()) tokens.set(token, "account_inactive");
    },
  };

  function refusalOf(query: URLSearchParams): string | undefined {
    const redirectUri = query.get("redirect_uri") ?? "";
    const scopes = (query.get("scope") ?? "").split(",");
    if (query.get("client_id") !== oauth.clientId) return "Invalid client_id parameter";
    if (!oauth.redirectUrls.some((url) => redirectUri.startsWith(url))) {
      return "redirect_uri did not match any configured URIs";
    }
    return scopes.every((scope) => knownScope.test(scope) && !oauth.impossible.has(scope))
      ? undefined
      : "Invalid permissions requested";
  }

  function authorize(query: URLSearchParams) {
    const refusal = refusalOf(query);
    if (refusal !== undefined) return { status: 200, html: `<h1>Something went wrong</h1><p>${refusal}</p>` };
    const scopes = (query.get("scope") ?? "").split(",");
    oauth.requested = scopes;
    const redirectUri = query.get("redirect_uri") ?? "";
    const code = `${digits()}.${digits()}.${randomBytes(32).toString("hex")}`;
    codes.set(code, { redirectUri, scopes });
    const back = (given: Readonly<Record<string, string>>): string => {
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries({ ...given, state: query.get("state") ?? "" })) {
        url.searchParams.set(name, value);
      }
      return url.href.replaceAll("&", "&amp;");
    };
    const links = `<a href="${back({ code })}">Allow</a> <a href="${back({ error: "access_denied" })}">Cancel</a>`;
    return { status: 200, html: `<h1>Support wants to access ${oauth.team.name}</h1><p>${links}</p>` };
  }

  function access({ client_id: id, client_secret: secret, code = "", redirect_uri: redirectUri }: Body): Answer {
    const refuse = (error: string): Answer => ({ ok: false, error });
    if (id !== oauth.clientId) return refuse("invalid_client_id");
    if (secret !== oauth.clientSecret) return refuse("bad_client_secret");
    const given = codes.get(code);
    if (given === undefined) return refuse("invalid_code");
    if (redirectUri !== given.redirectUri) return refuse("bad_redirect_uri");
    codes.delete(code);
    const { team } = oauth;
    // A token begins with the numbers of the team and of the bot, which are the same for each installation.
    const bot = bots.get(team.id) ?? `${digits()}-${digits()}`;
    bots.set(team.id, bot);
    oauth.token = `xoxb-${bot}-${randomBytes(12).toString("hex")}`;
    tokens.set(oauth.token, null);
    return {
      ok: true,
      access_token: oauth.token,
      token_type: "bot",
      scope: given.scopes.filter((scope) => !oauth.withheld.has(scope)).join(","),
      bot_user_id: botUserId,
      app_id: appId,
      team,
      enterprise: null,
      is_enterprise_install: false,
      authed_user: { id: "U0ADMIN01" },
      ...oauth.answer,
    };
  }

  return { oauth, authorize, access, judge: (token) => tokens.get(token) };
}
