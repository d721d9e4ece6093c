import Type from "typebox";
import type { Static } from "typebox";

/** The texts of a setting, for people. `advanced`: few accounts need it. */
interface Texts {
  readonly title: string;
  readonly description: string;
  readonly advanced?: true;
}

const address = (texts: Texts | { readonly description: string }) =>
  Type.String({ pattern: '^[^\\s<>"(),;:@+]{1,64}@[^\\s<>"(),;:@]+$', maxLength: 190, ...texts });
const host = (texts: Texts) => Type.String({ pattern: "^[A-Za-z0-9.:-]{1,253}$", ...texts });
const port = (texts: Texts) => Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, ...texts }));
const security = (title: string) =>
  Type.Optional(
    Type.Enum(["tls", "starttls", "none"], {
      title,
      advanced: true,
      description: "tls, starttls, or none for a server on the same machine. Default: tls.",
    }),
  );
const name = (texts: Texts) => Type.Optional(Type.String({ minLength: 1, maxLength: 500, ...texts }));
const secret = (texts: Texts) => Type.Optional(Type.String({ minLength: 1, maxLength: 4_000, ...texts }));
const folder = (texts: Texts | { readonly description: string }) =>
  Type.String({ minLength: 1, maxLength: 200, ...texts });

export const configSchema = Type.Object(
  {
    address: address({ title: "Address", description: "The address that customers write to." }),
    password: secret({ title: "Password", description: "The password of both servers, or an app password." }),
    imap_host: host({
      title: "IMAP server",
      description: "The server that mails are read from, such as imap.shop.example.",
    }),
    smtp_host: host({
      title: "SMTP server",
      description: "The server that mails are sent by, such as smtp.shop.example.",
    }),
    from_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: "^[^\\r\\n]*$",
        title: "Sender's name",
        description: "The name on the mails. Default: the widget's title.",
      }),
    ),
    user: name({
      title: "User",
      advanced: true,
      description: "The user who signs in to both servers. Default: the address.",
    }),
    imap_port: port({ title: "IMAP port", advanced: true, description: "Default: 993, with starttls or none 143." }),
    imap_security: security("IMAP encryption"),
    smtp_port: port({
      title: "SMTP port",
      advanced: true,
      description: "Default: 465, with starttls 587, with none 25.",
    }),
    smtp_security: security("SMTP encryption"),
    smtp_user: name({
      title: "SMTP user",
      advanced: true,
      description: "The user who signs in to send. Default: the user of both servers.",
    }),
    smtp_password: secret({
      title: "SMTP password",
      advanced: true,
      description: "The password for sending. Default: the password of both servers.",
    }),
    oauth_token_url: Type.Optional(
      Type.String({
        pattern: "^https?://",
        maxLength: 500,
        title: "OAuth token address",
        advanced: true,
        description: "The address that issues access tokens, instead of a password.",
      }),
    ),
    oauth_client_id: name({
      title: "OAuth client ID",
      advanced: true,
      description: "The application's ID for access tokens.",
    }),
    oauth_client_secret: secret({
      title: "OAuth client secret",
      advanced: true,
      description: "The application's secret for access tokens. An application without one needs a refresh token.",
    }),
    oauth_refresh_token: secret({
      title: "OAuth refresh token",
      advanced: true,
      description: "The consent of the mailbox's owner. Without one, the application signs in as itself.",
    }),
    oauth_scope: name({ title: "OAuth scope", advanced: true, description: "The permission of the access token." }),
    folder: Type.Optional(
      folder({ title: "Folder", advanced: true, description: "The folder that is read. Default: INBOX." }),
    ),
    sent_folder: Type.Optional(
      Type.Union([folder({ description: "Its name." }), Type.Literal(false)], {
        title: "Folder of sent mails",
        advanced: true,
        description:
          "The folder where agents' own replies are found; false: none. Default: the one that the server names.",
      }),
    ),
    plus_addressing: Type.Optional(
      Type.Boolean({
        title: "Plus addresses",
        advanced: true,
        description: "Whether mails to address+anything reach this mailbox too. Default: true.",
      }),
    ),
    authserv_id: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._-]{1,253}$",
        title: "Trusted authentication server",
        advanced: true,
        description:
          "The name of the receiving server in Authentication-Results, which are then trusted. Default: none are.",
      }),
    ),
    dmarc_fail: Type.Optional(
      Type.Enum(["unverified", "ignore"], {
        title: "Forged senders",
        advanced: true,
        description: "unverified: their mails are taken and marked. ignore: they are dropped. Default: unverified.",
      }),
    ),
    follow_up_minutes: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 1_440 }), Type.Literal(false)], {
        title: "Minutes until a mail to visitors",
        advanced: true,
        description:
          "A reply that a website's visitor has not read goes to their address after these minutes; false: never. Default: 2.",
      }),
    ),
    bot_mails_per_hour: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        title: "Bot mails an hour",
        advanced: true,
        description: "The mails that the bot sends to one address within an hour. Default: 10.",
      }),
    ),
    forms: Type.Optional(
      Type.Array(address({ description: "An address that a form writes from." }), {
        maxItems: 50,
        title: "Addresses of forms",
        advanced: true,
        description: "Addresses that forms on websites write from. The customer is the person to reply to.",
      }),
    ),
  },
  { additionalProperties: false },
);

export type EmailConfig = Static<typeof configSchema>;

export const secretNames = ["password", "smtp_password", "oauth_client_secret", "oauth_refresh_token"] as const;

/** Checks rules between settings, which a schema cannot express. Throws an Error that names the fix. */
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

/** The ports of servers without a port setting. */
export const defaultPorts = {
  imap: { tls: 993, starttls: 143, none: 143 },
  smtp: { tls: 465, starttls: 587, none: 25 },
} as const;

const weakness = { tls: 0, starttls: 1, none: 2 } as const;

/** Whether the passwords would go to another port, or less protected. */
export function exposesSecrets(before: EmailConfig, after: EmailConfig): boolean {
  return (["imap", "smtp"] as const).some((server) => {
    const waySet = (config: EmailConfig) => {
      const kind = config[`${server}_security`] ?? "tls";
      return { port: config[`${server}_port`] ?? defaultPorts[server][kind], weakness: weakness[kind] };
    };
    const [was, is] = [waySet(before), waySet(after)];
    return is.port !== was.port || is.weakness > was.weakness;
  });
}
