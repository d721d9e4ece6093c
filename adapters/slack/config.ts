import Type from "typebox";
import type { Static } from "typebox";

export const config = Type.Object(
  {
    bot_token: Type.String({
      pattern: "^xoxb-[A-Za-z0-9-]{10,250}$",
      description: "Bot User OAuth Token of the app, from its page OAuth & Permissions; it begins with xoxb-.",
    }),
    signing_secret: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9]{16,100}$",
        description: "Signing Secret of the app, from its page Basic Information. Needed for the transport webhook.",
      }),
    ),
    app_token: Type.Optional(
      Type.String({
        pattern: "^xapp-[A-Za-z0-9-]{10,250}$",
        description:
          "App-level token with the scope connections:write, from the app's page Basic Information; it begins with xapp-. Needed for the transport socket.",
      }),
    ),
    transport: Type.Optional(
      Type.Enum(["webhook", "socket"], {
        description:
          "webhook: Slack calls PUBLIC_URL. socket: Parley keeps a connection to Slack (Socket Mode), which needs no public address. Default: socket where app_token is set, else webhook.",
      }),
    ),
    channel_messages: Type.Optional(
      Type.Enum(["addressed", "all", "off"], {
        description:
          "Messages in channels that count: those that mention the app and what follows in their threads, all of the channels that it is in, or none. Direct messages always count. Default: addressed.",
      }),
    ),
    base_url: Type.Optional(
      Type.String({
        pattern: "^https?://[^\\s]*[^/\\s]$",
        description: "Another server of the Web API than https://slack.com/api; without a slash at the end.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type SlackConfig = Static<typeof config>;

export const secrets = ["bot_token", "signing_secret", "app_token"] as const;

/** How deliveries come to us, with what that needs. Throws an Error that tells the mend. */
export type Transport =
  /** `url`: where Slack has to deliver to. */
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
