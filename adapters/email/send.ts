import { Readable } from "node:stream";
import { domainToASCII } from "node:url";
import type { SendMailOptions } from "nodemailer";
import type { ChannelHost, Correspondence, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { MailPart } from "./render.ts";
import type { MailRecord } from "./events.ts";
import type { Credentials } from "./oauth/tokens.ts";
import { signedIn } from "./oauth/tokens.ts";
import type { MessageIds } from "./message-ids.ts";
import { markOf, ownHeader } from "./message-ids.ts";
import type { EmailConfig } from "./config.ts";
import { busyMs, createTransport, isLoginRefused, oneLine, smtpError } from "./smtp.ts";

export interface SendDependencies {
  readonly host: ChannelHost;
  readonly config: EmailConfig;
  readonly names: MessageIds;
  readonly credentials: (signal?: AbortSignal) => Promise<Credentials | undefined>;
}

/** How far back the customer's newest mail is looked for. */
const messagesMax = 100;
const referencesMax = 20;
/** Longer than one mail is tried. */
const triedForMs = 86_400_000;

/**
 * Sends one mail. The same part has the same Message-ID each time, by which mailboxes tell that they have it already: what
 * may have been sent is sent again.
 */
export async function sendMail(
  { host, config, names, credentials }: SendDependencies,
  part: Part,
  context: SendContext,
): Promise<Receipt> {
  const { thread, key, signal } = context;
  const mail = part.payload as MailPart;
  const letters = await host.correspondence(thread, messagesMax);
  const last = letters === null ? undefined : lastOfCustomer(letters);
  const known = last?.reply_to ?? letters?.email ?? undefined;
  if (known === undefined) throw new DeliveryError("rejected", "no e-mail address of this customer is known");
  const to = known;
  if (names.isOwnAddress(to)) throw new DeliveryError("rejected", "the address is that of this mailbox itself");
  const { botName, title } = await host.workspace();
  const company = config.from_name ?? title;
  const author = mail.role === "agent" ? mail.author : botName;
  // Who forges a sender must not have the bot write to others.
  const copies = mail.role === "agent" || last?.dmarc === "pass" ? (last?.cc ?? []) : [];
  const takenKey = `copies of ${key}`;
  const takenBefore = copies.length === 0 ? null : await host.recall(takenKey);
  const served = new Set(takenBefore?.split("\n"));
  const messageId = names.messageId(key);
  const answered = last?.message_id ?? null;
  const root = names.rootId(thread);
  const earlier = (last?.references ?? []).toReversed().filter((id) => id !== root && id !== answered);
  const automatic = mail.role === "assistant";
  const taken = await signedIn(credentialsOrWait, isLoginRefused, deliver, signal).catch((error: unknown) => {
    // Where all are refused it is the customer who counts.
    const { rejectedErrors } = (error ?? {}) as { readonly rejectedErrors?: readonly RefusedAddress[] };
    throw smtpError(rejectedErrors?.find(({ recipient }) => isSame(recipient, to)) ?? error, config);
  });
  await tellOfRefused(taken, to);
  const given = /<[^<>\s]{3,900}@[^<>\s]+>/.exec(taken.response)?.[0];
  return {
    externalId: markOf(messageId),
    state: "sent",
    messageRefs: [...new Set([messageId, ...(given === undefined ? [] : [given])])].map(markOf),
  };

  async function deliver(signIn: Credentials | undefined) {
    const transport = createTransport(config, signIn);
    const onAbort = (): void => transport.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await transport.sendMail(await letter());
    } finally {
      signal.removeEventListener("abort", onAbort);
      transport.close();
    }
  }

  /** Made for each try: what a file is read from is read once. */
  async function letter(): Promise<SendMailOptions> {
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
      text: mail.text,
      html: mail.html,
      attachments: await Promise.all(mail.files.map((file) => attachment(file, context))),
      headers: {
        [ownHeader]: names.stamp(key),
        ...(automatic ? { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" } : {}),
      },
    };
  }

  async function credentialsOrWait(): Promise<Credentials | undefined> {
    try {
      return await credentials(signal);
    } catch (error) {
      const message = error instanceof Error ? error.message : "the account cannot sign in";
      throw new DeliveryError("not_sent", message, { retryAfterMs: busyMs });
    }
  }

  /** A server takes a mail for some of those that it is for, and refuses others. */
  async function tellOfRefused(
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
      // Who is in copy has it, and does not get it again when it is tried once more for the customer.
      const all = [...served, ...info.accepted.map(addressOf).map(plain)];
      if (all.length > 0) await host.exchange(takenKey, takenBefore, all.join("\n"), triedForMs);
      throw smtpError(
        info.rejectedErrors?.[first] ?? { responseCode: 550, response: "the address is refused" },
        config,
      );
    }
    if (refused.length === 0) return;
    await host.accept({
      kind: "notice",
      externalId: `copies:${key}`,
      thread,
      sentAt: host.clock.now(),
      text: `The customer's e-mail was sent, but not its copy to ${oneLine(refused.join(", "))}: the mail server refuses these addresses.`,
    });
  }
}

interface RefusedAddress {
  readonly recipient?: string;
}

const addressOf = (given: unknown): string =>
  typeof given === "string" ? given : ((given as { readonly address?: string }).address ?? "");

/** As it is compared: the library writes domains its own way. */
function plain(address: string): string {
  const at = address.lastIndexOf("@") + 1;
  const domain = address.slice(at);
  return `${address.slice(0, at)}${domainToASCII(domain) || domain}`.toLowerCase();
}

const isSame = (address: string | undefined, other: string): boolean =>
  address !== undefined && plain(address) === plain(other);

function lastOfCustomer({ messages }: Correspondence): MailRecord | undefined {
  for (const { role, guest, metadata } of messages) {
    const record = metadata["mail"] as MailRecord | undefined;
    if (role === "user" && !guest && record !== undefined) return record;
  }
  return undefined;
}

/** One "Re:", however many there were, and in whichever language. */
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
