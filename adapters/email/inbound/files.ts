import type { InboundFile } from "#channels/contract.ts";
import type { Mail } from "../mime/mail.ts";

/** The place of a mail on the server. */
export interface MailLocation {
  readonly folder: string;
  readonly uidValidity: string;
  readonly uid: number;
  /** When the server received it, epoch milliseconds. */
  readonly receivedAt: number;
  /** The mail is in the folder of sent mails. */
  readonly sent: boolean;
}

/** The JSON in {@link InboundFile.ref}. */
export interface FileRef {
  readonly folder: string;
  readonly v: string;
  readonly uid: number;
  readonly part: string;
  /** Which of the files within the part; absent: the whole part. */
  readonly nth?: number;
  readonly id: string | null;
}

const filesMax = 20;
const namesShownMax = 10;

export interface MailFiles {
  readonly files: readonly InboundFile[];
  /** Names of files above the limit of a message. */
  readonly beyond: readonly string[];
}

export function filesOf(mail: Mail, place: MailLocation): MailFiles {
  const all = mail.attachments.flatMap(({ part, nth, name, mediaType, bytes, inline }): InboundFile[] => {
    // Skips tracking pixels and small logos of signatures.
    if (inline && bytes < 200 && mediaType.startsWith("image/")) return [];
    const ref: FileRef = {
      folder: place.folder,
      v: place.uidValidity,
      uid: place.uid,
      part,
      ...(nth === null ? {} : { nth }),
      id: mail.messageId === null || mail.messageId.length > 900 ? null : mail.messageId,
    };
    return [{ ref: JSON.stringify(ref), name, mediaType, bytes }];
  });
  return { files: all.slice(0, filesMax), beyond: all.slice(filesMax).map(({ name }) => name) };
}

/** A sentence for agents; empty: all files fit. */
export function beyondText(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, namesShownMax).map((name) => name.slice(0, 100).toWellFormed());
  const others = names.length - shown.length;
  const list = `${shown.join(", ")}${others === 0 ? "" : ` and ${others} more`}`;
  return [`A message has at most ${filesMax} files; in the mailbox alone: ${list}.`];
}
