import { createHash } from "node:crypto";
import type { InboundEvent } from "#channels/contract.ts";
import type { MailDependencies } from "./inbound/agent-mail.ts";
import { takeAgentMail, takeSentMail } from "./inbound/agent-mail.ts";
import { takeBounce } from "./inbound/bounce.ts";
import type { MailLocation } from "./inbound/files.ts";
import { filesOf } from "./inbound/files.ts";
import type { MailOutcome } from "./inbound/outcome.ts";
import { ignored, ignoredOwn } from "./inbound/outcome.ts";
import { eventId, messageRefsOf, recordOf } from "./inbound/record.ts";
import { messageText, textsOf } from "./inbound/text.ts";
import { base32, markOf } from "./mime/message-ids.ts";
import { verdictOf } from "./mime/authentication.ts";
import { automaticKind } from "./mime/automatic-mail.ts";
import { groupSender, withoutList } from "./inbound/group.ts";
import { hasNewSubject, threadOf } from "./inbound/mail-thread.ts";
import type { Mail } from "./mime/mail.ts";

export interface Events {
  /** Resolves once the outcome is durable. Rejects when the mail could not be stored, and when `signal` aborts. */
  take(mail: Mail, place: MailLocation, signal: AbortSignal): Promise<MailOutcome>;
}

const hourMs = 3_600_000;

/** Turns mails into events. */
export function createEvents(dependencies: MailDependencies): Events {
  const { host, config, names } = dependencies;

  return {
    async take(mail, place, signal) {
      if (names.isOurs(mail)) return ignoredOwn("it was sent by Parley");
      const id = eventId(mail);
      const at = { sentAt: place.sent ? (mail.date ?? place.receivedAt) : place.receivedAt };
      if (place.sent) return takeSentMail(dependencies, mail, place, id, at, signal);

      const group = groupSender(mail, names.isOwnAddress);
      const automatic = automaticKind(group === undefined ? mail : { ...mail, headers: withoutList(mail.headers) });
      if (automatic?.kind === "bounce") return takeBounce({ host, names }, mail, id, at);
      const thread = await threadOf(dependencies, mail);
      if (automatic !== undefined && !isForm(mail)) {
        if (automatic.kind === "bulk" || thread === undefined) return ignored(automatic.reason);
        const text = `An automatic reply has come by e-mail from ${mail.from?.address ?? "an unknown address"}; nobody answers it: ${textsOf(mail, { takesForwarded: false }).text.slice(0, 1_000)}`;
        await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
        return { kind: "noted" };
      }
      return takeMail(group ?? mail, place, id, at, thread, signal);
    },
  };

  /** A mail written by a person. */
  async function takeMail(
    mail: Mail,
    place: MailLocation,
    id: string,
    at: { readonly sentAt: number },
    known: string | undefined,
    signal: AbortSignal,
  ): Promise<MailOutcome> {
    const form = isForm(mail);
    const from = form ? mail.replyTo[0] : mail.from;
    if (from === undefined || from === null) return ignored("it has no sender who could be answered");
    const verdict = form ? "unchecked" : verdictOf(mail, config.authserv_id);
    const proven = verdict === "pass";
    if (verdict === "fail" && config.dmarc_fail === "ignore") return ignored("its sender is forged: DMARC failed");
    if (names.isOwnAddress(from.address) && !(proven && known !== undefined)) {
      return ignored("it is written in the name of this mailbox itself");
    }
    if (known !== undefined && proven) {
      const agent = names.isOwnAddress(from.address)
        ? { email: from.address.toLowerCase(), name: from.name === "" ? null : from.name }
        : await host.people.agent(from.address);
      if (agent !== null) return takeAgentMail(dependencies, mail, place, id, at, known, agent, signal);
    }
    const address = from.address.toLowerCase();
    const { text, forwarded, original } = messageText(mail, {
      begins: known === undefined || (await hasNewSubject(host, mail, known)),
      takesForwarded: true,
    });
    const { files } = filesOf(mail, place);
    const [answered] = messageRefsOf(mail);
    const thread = known ?? base32(createHash("sha256").update(id).digest()).slice(0, 16);
    const event: InboundEvent = {
      kind: "message",
      externalId: id,
      ...(mail.messageId === null ? {} : { messageExternalId: markOf(mail.messageId) }),
      thread,
      sender: {
        key: proven ? address : `unverified:${address}`.slice(0, 190),
        ...(from.name === "" ? {} : { name: from.name }),
        ...(proven ? { proven: { email: address } } : { claimed: { email: address } }),
      },
      ...at,
      text,
      metadata: { mail: recordOf(names, mail, place, from, verdict, original) },
      checkSender: true,
      botLimit: { max: config.bot_mails_per_hour ?? 10, withinMs: hourMs, email: address },
      ...(mail.messageId === null ? {} : { messageRefs: [markOf(mail.messageId)] }),
      ...(files.length === 0 ? {} : { files }),
      ...(forwarded === undefined ? {} : { forwarded }),
      ...(answered === undefined ? {} : { refersTo: { externalIds: [answered], isUsual: true } }),
    };
    const { duplicate } = await host.accept(event);
    return { kind: "stored", thread, duplicate };
  }

  /** A form on the website, which writes in its own name and names the customer in Reply-To. */
  function isForm(mail: Mail): boolean {
    const from = mail.from?.address.toLowerCase();
    return (config.forms ?? []).some((form) => form.toLowerCase() === from) && mail.replyTo.length > 0;
  }
}
