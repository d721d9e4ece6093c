import type { WebClient } from "@slack/web-api";
import type { AppInstall, CodeExchange, Installation } from "#channels/install.ts";
import { InstallRefusal } from "#channels/install.ts";
import { missingScopes, optionalScopes, scopes } from "../check.ts";
import { createSlackApi, slackApiUrl } from "../client.ts";
import type { SlackConfig } from "../config.ts";
import { deskScopes } from "../desk/check.ts";
import { failureOf, operatorError } from "../errors.ts";

/** An administrator waits for the page. */
const exchangeMs = 10_000;

const apiUrl = ({ base_url: url = slackApiUrl }: Partial<SlackConfig>): string => url;

/** Slack's OAuth 2.0 for apps ("v2"). */
export const install: AppInstall<SlackConfig> = {
  label: "Install to Slack",
  settings: ["client_id", "client_secret", "signing_secret", "app_token", "desk_scopes", "optional_scopes", "base_url"],
  required: ["client_id", "client_secret", "signing_secret"],
  consentUrl(config, { redirectUrl, state, before }) {
    const needed = [...scopes, ...(config.desk_scopes === true ? deskScopes : [])].map(([scope]) => scope);
    const granted = before?.["scopes"];
    // An app of an older manifest may not have all of them.
    const isWanted = (scope: string): boolean =>
      config.optional_scopes ?? (!Array.isArray(granted) || granted.includes(scope));
    const wanted = [...needed, ...optionalScopes.map(([scope]) => scope).filter(isWanted)];
    const url = new URL(`${apiUrl(config).replace(/\/api$/, "")}/oauth/v2/authorize`);
    url.searchParams.set("client_id", config.client_id ?? "");
    url.searchParams.set("scope", [...new Set(wanted)].join(","));
    url.searchParams.set("redirect_uri", redirectUrl);
    url.searchParams.set("state", state);
    return url.href;
  },
  async exchange(config, given) {
    const answer = await accessOf(config, given);
    const { access_token: token = "", team, enterprise, app_id: appId = "", scope = "", bot_user_id: botUser } = answer;
    if (answer.is_enterprise_install === true || team?.id === undefined) {
      throw new InstallRefusal(
        "The app was installed in the whole organisation. Install it again, and choose one workspace on Slack's page.",
      );
    }
    if (answer.refresh_token !== undefined || answer.expires_in !== undefined) {
      throw new InstallRefusal(
        "This app has token rotation, which Parley does not support and Slack never switches off. Create another app from the manifest, and install that one.",
      );
    }
    if (answer.token_type !== "bot" || !token.startsWith("xoxb-")) {
      throw new InstallRefusal(
        "Slack gave no bot token. Add a bot under App Home on the app's pages, and install the app again.",
      );
    }
    const granted = scope.split(",");
    const { id, name = id } = team;
    const details = { team: { id, name }, enterprise: enterprise?.id ?? null, app: appId, botUser, scopes: granted };
    return { settings: { bot_token: token }, name, key: `${appId}/${id}`, details, ...missingOf(granted) };
  },
  // The code is from the address of a page, which anybody can write.
  refusal: (error) => refusalOf(/^[a-z0-9_]{1,60}$/i.test(error) ? error : "unknown"),
};

function missingOf(granted: readonly string[]): Pick<Installation, "missing" | "missingForDesk"> {
  const lacks = (needed: typeof scopes): string | null => {
    const missing = missingScopes(needed, granted);
    return missing === undefined ? null : `The app lacks ${missing}.`;
  };
  return { missing: lacks(scopes), missingForDesk: lacks(deskScopes) };
}

async function accessOf(config: Partial<SlackConfig>, { code, redirectUrl, lookup, log, signal }: CodeExchange) {
  const { client_id = "", client_secret = "" } = config;
  // No token: the app's credentials authorize this call.
  const client: WebClient = createSlackApi(undefined, apiUrl(config), log, lookup).client(
    AbortSignal.any([signal, AbortSignal.timeout(exchangeMs)]),
  );
  try {
    return await client.oauth.v2.access({ client_id, client_secret, code, redirect_uri: redirectUrl });
  } catch (error) {
    const failure = failureOf(error);
    const isKnown = failure.kind === "refused" && failure.code in fixes;
    throw new InstallRefusal(isKnown ? refusalOf(failure.code) : `${operatorError(failure).message}.`, {
      cause: error,
    });
  }
}

const refusalOf = (code: string): string =>
  `Slack refuses the installation (${code}). ${fixes[code] ?? "Install again; https://docs.slack.dev tells what the code means."}`;

const olderManifest =
  'The app may be of an older manifest. Paste the present manifest on the app\'s page App Manifest, or set "Ask for optional scopes" to No, and install again.';

/** By Slack's code. */
const fixes: Readonly<Record<string, string>> = {
  access_denied:
    "You, or an administrator of the Slack workspace, did not allow it. Install again, and press Allow on Slack's page.",
  invalid_client_id: "Copy Client ID again from the app's page Basic Information.",
  bad_client_secret: "Copy Client Secret again from the app's page Basic Information.",
  bad_redirect_uri:
    "Add the redirect URL, exactly as the form shows it, under OAuth & Permissions on the app's pages, and install again.",
  invalid_code: "The permission was used or has expired. Install again.",
  code_already_used: "The permission was used before. Install again.",
  invalid_team_for_non_distributed_app:
    "The app may be installed only in the workspace that it was created in. Choose that workspace, or activate Public Distribution under Manage Distribution on the app's pages.",
  invalid_scope: olderManifest,
  invalid_scope_requested: olderManifest,
  unapproved_scope: olderManifest,
};
