import Type from "typebox";
import type { Static } from "typebox";

const address = (description: string) =>
  Type.String({ pattern: '^[^\\s<>"(),;:@+]{1,64}@[^\\s<>"(),;:@]+$', maxLength: 190, description });
const host = (description: string) => Type.String({ pattern: "^[A-Za-z0-9.:-]{1,253}$", description });
const port = (description: string) => Type.Integer({ minimum: 1, maximum: 65_535, description });
const security = (description: string) => Type.Enum(["tls", "starttls", "none"], { description });
const secret = (description: string) => Type.String({ minLength: 1, maxLength: 4_000, description });
const folder = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });

export const configSchema = Type.Object(
  {
    address: address("The address that customers write to."),
    from_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: "^[^\\r\\n]*$",
        description: "The name on the mails. Default: the widget's title.",
      }),
    ),
    user: Type.Optional(secret("Who signs in to both servers. Default: the address.")),
    password: Type.Optional(secret("The password of both servers, or an app password.")),
    imap_host: host("The name of the server that mails are read from, such as imap.shop.example."),
    imap_port: Type.Optional(port("Default: 993, with starttls or none 143.")),
    imap_security: Type.Optional(security("tls, starttls, or none for a server on the same machine. Default: tls.")),
    smtp_host: host("The name of the server that mails are sent by, such as smtp.shop.example."),
    smtp_port: Type.Optional(port("Default: 465, with starttls 587, with none 25.")),
    smtp_security: Type.Optional(security("tls, starttls, or none for a server on the same machine. Default: tls.")),
    smtp_user: Type.Optional(secret("Who signs in to send, where that is another.")),
    smtp_password: Type.Optional(secret("The password for sending, where that is another.")),
    oauth_token_url: Type.Optional(
      Type.String({
        pattern: "^https?://",
        maxLength: 500,
        description: "Where access tokens come from, instead of a password.",
      }),
    ),
    oauth_client_id: Type.Optional(secret("The application's id for access tokens.")),
    oauth_client_secret: Type.Optional(
      secret("The application's secret for access tokens; an application without one needs a refresh token."),
    ),
    oauth_refresh_token: Type.Optional(secret("Whose mailbox it is. Without one, the application signs in as itself.")),
    oauth_scope: Type.Optional(secret("What the access token is for.")),
    folder: Type.Optional(folder("The folder that is read. Default: INBOX.")),
    sent_folder: Type.Optional(
      Type.Union([folder("Its name."), Type.Literal(false)], {
        description:
          "The folder of sent mails, in which agents' own replies are found; false: none. Default: the one that the server names.",
      }),
    ),
    plus_addressing: Type.Optional(
      Type.Boolean({ description: "Whether mails to address+anything reach this mailbox too. Default: true." }),
    ),
    authserv_id: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._-]{1,253}$",
        description:
          "Whose Authentication-Results are trusted: the name that the receiving server writes there. Default: none.",
      }),
    ),
    dmarc_fail: Type.Optional(
      Type.Enum(["unverified", "ignore"], {
        description: "What becomes of mails whose sender is forged. Default: unverified.",
      }),
    ),
    follow_up_minutes: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 1_440 }), Type.Literal(false)], {
        description:
          "Minutes after which a reply that a website's visitor has not looked at goes to their address; false: never. Default: 2.",
      }),
    ),
    bot_mails_per_hour: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        description: "Mails that the bot sends one address by itself. Default: 10.",
      }),
    ),
    forms: Type.Optional(
      Type.Array(address("An address that a form writes from."), {
        maxItems: 50,
        description: "Addresses of forms on websites: whom to reply to is the customer.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type EmailConfig = Static<typeof configSchema>;

export const secretNames = ["password", "smtp_password", "oauth_client_secret", "oauth_refresh_token"] as const;

/** What a schema cannot say. Throws an Error that tells the mend. */
export function requireUsable(config: EmailConfig): void {
  const { password, oauth_token_url: tokenUrl, oauth_client_id: clientId, oauth_client_secret: clientSecret } = config;
  if (password === undefined && tokenUrl === undefined) {
    throw new Error("the account has neither password nor oauth_token_url: set one of them");
  }
  if (tokenUrl !== undefined && clientId === undefined) throw new Error("oauth_token_url needs oauth_client_id");
  if (tokenUrl !== undefined && clientSecret === undefined && config.oauth_refresh_token === undefined) {
    throw new Error(
      "oauth_token_url needs oauth_client_secret, or oauth_refresh_token for an application without a secret",
    );
  }
  if (tokenUrl === undefined && (clientId ?? clientSecret ?? config.oauth_refresh_token) !== undefined) {
    throw new Error("the settings that begin with oauth_ need oauth_token_url");
  }
  const local = config.address.split("@")[0] ?? "";
  if ((config.plus_addressing ?? true) && local.length > 18) {
    throw new Error(
      "an address with more than 18 characters before the @ leaves no room for plus addresses: set plus_addressing: false",
    );
  }
}
