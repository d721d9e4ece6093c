import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    bot_token: Type.String({
      pattern: "^xoxb-[A-Za-z0-9-]{10,250}$",
      title: "Bot User OAuth Token",
      description: "From the app's page OAuth & Permissions; it begins with xoxb-.",
    }),
    signing_secret: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9]{16,100}$",
        title: "Signing Secret",
        description: "From the app's page Basic Information. Needed where Slack delivers to a webhook.",
      }),
    ),
    app_token: Type.Optional(
      Type.String({
        pattern: "^xapp-[A-Za-z0-9-]{10,250}$",
        title: "App-level token",
        description:
          "From the app's page Basic Information, with the scope connections:write; it begins with xapp-. Needed for Socket Mode.",
      }),
    ),
    client_id: Type.Optional(
      Type.String({
        pattern: "^[0-9]{1,30}\\.[0-9]{1,30}$",
        title: "Client ID",
        advanced: true,
        description: "From the app's page Basic Information. Needed to install the app from the dashboard.",
      }),
    ),
    client_secret: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9]{16,100}$",
        title: "Client Secret",
        advanced: true,
        description: "From the app's page Basic Information. Needed to install the app from the dashboard.",
      }),
    ),
    desk_scopes: Type.Optional(
      Type.Boolean({
        title: "Install for the agents' desk",
        advanced: true,
        description: "Whether an installation from the dashboard asks for the desk's scopes too. Default: no.",
      }),
    ),
    optional_scopes: Type.Optional(
      Type.Boolean({
        title: "Ask for optional scopes",
        advanced: true,
        description:
          "Whether an installation from the dashboard asks for users:read.email, assistant:write, reactions:read and reactions:write too. No: for an app of an older manifest, which may not have them. Default: yes, and where it is installed again, those that it has.",
      }),
    ),
    transport: Type.Optional(
      Type.Enum(["webhook", "socket"], {
        title: "Deliveries",
        advanced: true,
        description:
          "webhook: Slack delivers to PUBLIC_URL. socket: Parley keeps a connection to Slack (Socket Mode), which needs no public address. Default: socket where there is an app-level token, else webhook.",
      }),
    ),
    channel_messages: Type.Optional(
      Type.Enum(["addressed", "all", "off"], {
        title: "Messages in channels",
        description:
          "addressed: mentions of the app, and later messages in their threads. all: every message of the app's channels. off: none. Direct messages always count. Default: addressed.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        title: "Server of the Web API",
        advanced: true,
        description:
          "The address of another server of the API, without a slash at the end. Default: https://slack.com/api.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type SlackConfig = Static<typeof config>;

export const secrets = ["bot_token", "signing_secret", "app_token", "client_secret"] as const;

/** The transport of deliveries, with its credentials. */
export type Transport =
  /** `url`: the address that Slack must deliver to. */
  | { readonly kind: "webhook"; readonly signingSecret: string; readonly url: string }
  | { readonly kind: "socket"; readonly appToken: string };

export function transportOf({ transport, signing_secret, app_token }: SlackConfig, webhookUrl: string): Transport {
  if ((transport ?? (app_token === undefined ? "webhook" : "socket")) === "webhook") {
    if (signing_secret === undefined) {
      throw new Error(
        "signing_secret is required: copy Signing Secret from the app's page Basic Information, or set app_token for Socket Mode",
      );
    }
    return { kind: "webhook", signingSecret: signing_secret, url: webhookUrl };
  }
  if (app_token === undefined) {
    throw new Error(
      "app_token is required for Socket Mode: make an app-level token with the scope connections:write on the app's page Basic Information",
    );
  }
  return { kind: "socket", appToken: app_token };
}
