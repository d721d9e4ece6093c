import type { AdapterModule } from "#channels/contract.ts";
import { checkMailbox } from "./check.ts";
import { renderMail } from "./render.ts";
import { fetchPart } from "./files.ts";
import { createEvents } from "./events.ts";
import { runConnection } from "./connection.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { createTokens, mayUseUp } from "./oauth/tokens.ts";
import { createMessageIds } from "./mime/message-ids.ts";
import { relayFiles } from "./inbound/relayed-files.ts";
import { sendFirst, sendMail } from "./send.ts";
import type { EmailConfig } from "./config.ts";
import { configSchema, exposesSecrets, requireUsable, secretNames } from "./config.ts";

const minuteMs = 60_000;
/** Most servers accept this much, including the overhead of base64. */
const fileBytesMax = 15 * 1024 * 1024;

const email: AdapterModule<EmailConfig> = {
  config: configSchema,
  secrets: [...secretNames],
  addresses: ["imap_host", "smtp_host", "oauth_token_url"],
  exposes: exposesSecrets,
  identity({ address, user = address, imap_host: host, folder = "INBOX" }) {
    // Two accounts on one folder would take each other's mails. Folder names are case-sensitive, except INBOX.
    const place = /^inbox$/i.test(folder) ? "INBOX" : folder;
    return {
      key: [host, user]
        .map((each) => each.toLowerCase())
        .concat(place)
        .join("\n"),
      name: `the mailbox ${user}, folder ${place}`,
      setting: "address",
    };
  },
  create({ config }, host) {
    requireUsable(config);
    const names = createMessageIds(host, config.address);
    const tokens = createTokens(config, host);
    const signIn = async (
      user: string,
      password: string | undefined,
      signal: AbortSignal | undefined,
    ): Promise<Credentials | undefined> => {
      if (tokens !== undefined) {
        const { token, isNew, refused } = await tokens.token(signal);
        return { kind: "token", user, accessToken: token, isNew, refused };
      }
      return password === undefined ? undefined : { kind: "password", user, password };
    };
    const user = config.user ?? config.address;
    const reading = async (signal?: AbortSignal): Promise<Credentials> => {
      const found = await signIn(user, config.password, signal);
      if (found === undefined) throw new Error("the account has no password: set one");
      return found;
    };
    const sending = (signal?: AbortSignal) =>
      signIn(config.smtp_user ?? user, config.smtp_password ?? config.password, signal);
    const fetch = async (ref: string, signal: AbortSignal) =>
      fetchPart({ host, config, credentials: reading }, ref, signal);
    const events = createEvents({
      host,
      config,
      names,
      render: ({ name, ...written }) => renderMail({ ...written, role: "agent", authorName: name, sources: [] }),
      relay: (...mail) => relayFiles({ host, fetch, sentBytesMax: fileBytesMax }, ...mail),
    });
    const mailbox = { host, config, events, refused: new Map<string, number>(), credentials: reading };
    const outgoing = { host, config, names, credentials: sending };
    const followUp = config.follow_up_minutes ?? 2;
    return {
      capabilities: {
        textMax: null,
        typing: false,
        receipts: false,
        idempotentSend: true,
        fileBytesMax,
        ...(followUp === false ? {} : { followUp: { afterMs: followUp * minuteMs } }),
      },
      inbound: { kind: "connection", run: (signal) => runConnection(mailbox, signal) },
      render: renderMail,
      send: (part, context) => sendMail(outgoing, part, context),
      writeFirst: {
        label: "E-mail address",
        hint: "Your own address in another mailbox. Answer the mail: the answer appears in the inbox.",
        isEmail: true,
        thread: (address) => (/^[^\s@<>,;:"]{1,64}@[^\s@<>,;:"]{1,255}$/.test(address) ? address : undefined),
        send: (address, text, context) => sendFirst(outgoing, address, text, context),
      },
      fetchFile: fetch,
      async check(signal) {
        if (!mayUseUp(config, host)) return checkMailbox(mailbox, { credentials: sending }, signal);
        return `${config.address}, not signed in to yet: oauth_refresh_token may be good for one use, which the server needs; start Parley with these settings, and ask again`;
      },
      close: async () => tokens?.close(),
    };
  },
};

export default email;
