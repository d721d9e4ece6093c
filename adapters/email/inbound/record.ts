import { createHash } from "node:crypto";
import type { MessageIds } from "../mime/message-ids.ts";
import { markOf } from "../mime/message-ids.ts";
import type { Verdict } from "../mime/authentication.ts";
import type { Address, Mail } from "../mime/mail.ts";
import type { MailLocation } from "./files.ts";

/** The metadata that the adapter stores with a message for the reply. */
export interface MailRecord {
  readonly subject: string;
  readonly message_id: string | null;
  readonly from: string;
  readonly reply_to: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly references: readonly string[];
  readonly dmarc: Verdict;
  readonly in: { readonly folder: string; readonly uid_validity: string; readonly uid: number };
  /** The whole text, if the message holds only part of it. */
  readonly original?: string;
}

const copiesMax = 20;
export const referencesMax = 30;

export function recordOf(
  names: MessageIds,
  mail: Mail,
  place: MailLocation,
  from: Address,
  dmarc: Verdict,
  original: string | undefined,
): MailRecord {
  const isOther = ({ address }: Address): boolean => !names.isOwnAddress(address);
  return {
    subject: mail.subject,
    message_id: mail.messageId,
    from: from.address,
    reply_to: mail.replyTo.find(isOther)?.address ?? from.address,
    to: mail.to.slice(0, copiesMax).map(({ address }) => address),
    cc: copiesOf(names, mail, from),
    references: mail.references.slice(0, referencesMax),
    dmarc,
    in: { folder: place.folder, uid_validity: place.uidValidity, uid: place.uid },
    ...(original === undefined ? {} : { original }),
  };
}

/** Other recipients, who get a copy of the reply. */
function copiesOf(names: MessageIds, mail: Mail, from: Address): readonly string[] {
  const all = [...mail.to, ...mail.cc].map(({ address }) => address);
  const others = all.filter(
    (address) => !names.isOwnAddress(address) && address.toLowerCase() !== from.address.toLowerCase(),
  );
  return [...new Map(others.map((address) => [address.toLowerCase(), address])).values()].slice(0, copiesMax);
}
/** The mails that this one refers to. */
export const messageRefsOf = (mail: Mail): readonly string[] => mail.references.slice(0, referencesMax).map(markOf);

/** A hash that is equal for all copies of a mail. */
export function eventId(mail: Mail): string {
  const parts = [
    mail.messageId ?? `${mail.date ?? ""}\n${mail.subject}`,
    mail.from?.address.toLowerCase() ?? "",
    mail.bodyHash,
  ];
  return `mail:${createHash("sha256").update(parts.join("\n")).digest("hex")}`;
}
