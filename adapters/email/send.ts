import { Readable } from "node:stream";
import { domainToASCII } from "node:url";
import type { SendMailOptions } from "nodemailer";
import type { ChannelHost, Correspondence, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { CustomersMail, MailPart } from "./render.ts";
import { withQuotedMail } from "./render.ts";
import type { MailRecord } from "./inbound/record.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { signedIn } from "./oauth/tokens.ts";
import type { MessageIds } from "./mime/message-ids.ts";
import { markOf, ownHeader } from "./mime/message-ids.ts";
import type { EmailConfig } from "./config.ts";
import { busyMs, createTransport, isLoginRefused, oneLine, smtpError } from "./smtp.ts";

export interface SendDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly names: MessageIds;
  readonly credentials: (signal?: AbortSignal) => Promise<Credentials | undefined>;
}

/** The number of messages searched for the customer's latest mail. */
const messagesMax = 100;
const referencesMax = 20;
/** Longer than the retries of one mail. */
const triedForMs = 86_400_000;

/**
 * Sends one mail. A part has the same Message-ID on each try and mailboxes drop duplicates, so a mail that may have been
 * sent is sent again.
 */
export async function sendMail(
  { host, config, names, credentials }: SendDependencies,
  part: Part,
  context: SendContext,
): Promise<Receipt> {
  const { thread, key, signal } = context;
  const mail = part.payload as MailPart;
  const correspondence = await host.threads.correspondence(thread, messagesMax);
  const answeredMail = correspondence === null ? undefined : lastOfCustomer(correspondence);
  const last = answeredMail?.record;
  const known = last?.reply_to ?? correspondence?.email ?? undefined;
  if (known === undefined) throw new DeliveryError("rejected", "no e-mail address of this customer is known");
  const to = known;
  if (names.isOwnAddress(to)) throw new DeliveryError("rejected", "the address is that of this mailbox itself");
  const { botName, title } = await host.workspace();
  const company = config.from_name ?? title;
  const author = mail.role === "agent" ? mail.author : botName;
  // A forged sender must not make the bot write to third parties.
  const copies = mail.role === "agent" || last?.dmarc === "pass" ? (last?.cc ?? []) : [];
  const takenKey = `copies of ${key}`;
  const takenBefore = copies.length === 0 ? null : await host.state.get(takenKey);
  const served = new Set(takenBefore?.split("\n"));
  const messageId = names.messageId(key);
  const answered = last?.message_id ?? null;
  const root = names.rootId(thread);
  const earlier = (last?.references ?? []).toReversed().filter((id) => id !== root && id !== answered);
  const automatic = mail.role === "assistant";
  const taken = await signedIn(() => credentialsOrWait(credentials, signal), isLoginRefused, deliver, signal).catch(
    (error: unknown) => {
      // If all recipients were refused, the customer's refusal is the one to report.
      const { rejectedErrors } = (error ?? {}) as { readonly rejectedErrors?: readonly RefusedAddress[] };
      throw smtpError(rejectedErrors?.find(({ recipient }) => isSame(recipient, to)) ?? error, config);
    },
  );
  await handleRefused(taken, to);
  const given = /<[^<>\s]{3,900}@[^<>\s]+>/.exec(taken.response)?.[0];
  return {
    externalId: markOf(messageId),
    state: "sent",
    messageRefs: [...new Set([messageId, ...(given === undefined ? [] : [given])])].map(markOf),
  };

  async function deliver(signIn: Credentials | undefined) {
    return transmit({ host, config }, signIn, await mailOptions(), signal);
  }

  /** Builds the mail for one try: a file's stream can be read only once. */
  async function mailOptions(): Promise<SendMailOptions> {
    return {
      envelope: { from: config.address, to: [to, ...copies.filter((copy) => !served.has(plain(copy)))] },
      from: {
        name: author === null || author === company ? company : `${author} (${company})`,
        address: config.address,
      },
      to,
      cc: [...copies],
      replyTo:
        (config.plus_addressing ?? true) ? { name: company, address: names.replyAddress(thread) } : config.address,
      subject: last === undefined ? `Re: ${title}` : replySubject(last.subject),
      messageId,
      inReplyTo: answered ?? root,
      references: [root, ...earlier.slice(-referencesMax), ...(answered === null ? [] : [answered])],
      date: new Date(host.clock.now()),
      ...withQuotedMail(mail, answeredMail),
      attachments: await Promise.all(mail.files.map((file) => attachment(file, context))),
      headers: {
        [ownHeader]: names.stamp(key),
        ...(automatic ? { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" } : {}),
      },
    };
  }

  /** Handles a server that accepted the mail for only some of its recipients. */
  async function handleRefused(
    info: {
      readonly accepted: readonly unknown[];
      readonly rejected: readonly unknown[];
      readonly rejectedErrors?: readonly unknown[] | undefined;
    },
    customer: string,
  ): Promise<void> {
    const refused = info.rejected.map(addressOf);
    const first = refused.findIndex((address) => isSame(address, customer));
    if (first >= 0) {
      // Cc recipients have the mail: a retry for the customer must not send it to them again.
      const all = [...served, ...info.accepted.map(addressOf).map(plain)];
      if (all.length > 0) await host.state.compareAndSet(takenKey, takenBefore, all.join("\n"), triedForMs);
      throw smtpError(
        info.rejectedErrors?.[first] ?? { responseCode: 550, response: "the address is refused" },
        config,
      );
    }
    if (refused.length > 0) await reportRefusedCopies(host, context, refused);
  }
}

async function reportRefusedCopies(
  host: ChannelHost,
  { thread, key }: SendContext,
  refused: readonly string[],
): Promise<void> {
  await host.accept({
    kind: "notice",
    externalId: `copies:${key}`,
    thread,
    sentAt: host.clock.now(),
    text: `The customer's e-mail was sent, but not its copy to ${oneLine(refused.join(", "))}: the mail server refuses these addresses.`,
  });
}

/** Sends a mail that belongs to no conversation: its answer begins one. */
export async function sendFirst(
  { host, config, names, credentials }: SendDependencies,
  to: string,
  text: string,
  { key, signal }: Pick<SendContext, "key" | "signal">,
): Promise<void> {
  if (names.isOwnAddress(to)) throw new DeliveryError("rejected", "the address is that of this mailbox itself");
  const company = config.from_name ?? (await host.workspace()).title;
  const mail: SendMailOptions = {
    from: { name: company, address: config.address },
    to,
    subject: company,
    messageId: names.messageId(key),
    date: new Date(host.clock.now()),
    text,
    headers: { [ownHeader]: names.stamp(key) },
  };
  const deliver = (signIn: Credentials | undefined) => transmit({ host, config }, signIn, mail, signal);
  await signedIn(() => credentialsOrWait(credentials, signal), isLoginRefused, deliver, signal).catch(
    (error: unknown) => {
      throw smtpError(error, config);
    },
  );
}

async function transmit(
  { host, config }: Pick<SendDependencies, "host" | "config">,
  signIn: Credentials | undefined,
  mail: SendMailOptions,
  signal: AbortSignal,
) {
  const transport = await createTransport(config, signIn, host.lookup);
  if (signal.aborted) throw new DeliveryError("not_sent", "the program stopped before the mail was sent");
  const onAbort = (): void => transport.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await transport.sendMail(mail);
  } finally {
    signal.removeEventListener("abort", onAbort);
    transport.close();
  }
}

async function credentialsOrWait(
  credentials: SendDependencies["credentials"],
  signal: AbortSignal,
): Promise<Credentials | undefined> {
  try {
    return await credentials(signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : "the account cannot sign in";
    throw new DeliveryError("not_sent", message, { retryAfterMs: busyMs });
  }
}

interface RefusedAddress {
  readonly recipient?: string;
}

const addressOf = (given: unknown): string =>
  typeof given === "string" ? given : ((given as { readonly address?: string }).address ?? "");

/** Normalises an address for comparison: the library converts domains to ASCII. */
function plain(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  const domain = address.slice(at);
  return `${address.slice(0, at)}${domainToASCII(domain) || domain}`.toLowerCase();
}

const isSame = (address: string | undefined, other: string): boolean =>
  address !== undefined && plain(address) === plain(other);

/** The customer's latest mail; mails of others in the thread do not count. */
function lastOfCustomer({ messages }: Correspondence): CustomersMail | undefined {
  for (const { role, guest, metadata, content, createdAt } of messages) {
    const record = metadata["mail"] as MailRecord | undefined;
    if (role === "user" && !guest && record !== undefined)
      return { record, text: content === "" ? "" : (record.original ?? content), at: createdAt };
  }
  return undefined;
}

/** Replaces any number of reply prefixes, in any language, by one "Re:". */
function replySubject(subject: string): string {
  const bare = subject
    .replace(/^(?:(?:re|aw|sv|vs|antw|rif|odp)\s{0,3}(?:\[\d{1,3}\])?\s{0,3}:\s{0,5}){1,20}/i, "")
    .trim();
  return bare === "" ? "Re: your e-mail" : `Re: ${bare}`;
}

async function attachment(file: MailPart["files"][number], context: SendContext) {
  if (context.file === undefined) throw new DeliveryError("not_sent", "the file of this message is not at hand");
  const content = await context.file(file.id);
  return { filename: file.name, contentType: file.mediaType, content: Readable.from(content) };
}
