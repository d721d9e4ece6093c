import { DeliveryError } from "#channel/errors.ts";
import type { DeskFile } from "#desk/contract.ts";
import { cleanFileName, sizeText } from "#domain/files.ts";
import { newId } from "#domain/ids.ts";
import type { OutboxRow } from "#store/outbox.ts";
import { RetryLater } from "../deliver.ts";
import { storeUpload, uploadOf } from "../file-work.ts";
import type { Effects } from "../changes.ts";
import type { Channels, Clock, Files, Store } from "../ports.ts";
import { FileTooLarge } from "../ports.ts";

/** A file that an agent has sent along, as the work of it holds it: `ref` is sealed. */
export interface TakenFile extends DeskFile {
  /** What it is called when it is stored: the same on each try. */
  readonly id: string;
}

/** Files that are stored for a reply to come. */
export interface Brought {
  readonly files: readonly { readonly id: string; readonly name: string; readonly bytes: number }[];
  /** Why others are not among them, in sentences for the agent. */
  readonly refusals: readonly string[];
}

export const nothingBrought: Brought = { files: [], refusals: [] };

export const takenFiles = (given: readonly DeskFile[], seal: Files["seal"], now: number): readonly TakenFile[] =>
  given.map((file) => ({ ...file, ref: seal(file.ref.slice(0, 4_096)), id: newId("file", now) }));

interface BringDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly files: Files;
  readonly announce: (effects: Effects | null) => void;
}

export interface BringTo {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** Of the customer's channel, and of the desk. */
  readonly accountId: string;
  readonly deskAccountId: string;
  readonly uploadedBy: string;
}

/** A platform that sends nothing for so long is asked again. */
const fetchMs = 120_000;
/** Then a reply does not wait for its files any more, and its writer is told. */
const attemptsMax = 8;

/** Stores what an agent has sent along, as if they had uploaded it in the inbox. What is stored already is not fetched again. */
export async function bringFiles(
  dependencies: BringDependencies,
  taken: readonly TakenFile[],
  to: BringTo,
  work: OutboxRow,
  signal: AbortSignal,
): Promise<Brought> {
  const { store, channels, files } = dependencies;
  const { workspaceId, conversationId, accountId, uploadedBy } = to;
  const brought: Brought["files"][number][] = [];
  const refusals: string[] = [];
  let left = files.messageBytesMax;
  for (const file of taken) {
    signal.throwIfAborted();
    const name = cleanFileName(file.name);
    try {
      const bytes = (await uploadOf(store.read, file.id))?.bytes ?? (await fetch(file));
      brought.push({ id: file.id, name, bytes });
      left -= bytes;
    } catch (error) {
      signal.throwIfAborted();
      const final = error instanceof FileTooLarge || (error instanceof DeliveryError && error.outcome === "rejected");
      const message = error instanceof Error ? error.message : "it could not be fetched";
      if (!final && work.attempts < attemptsMax) {
        throw new RetryLater(message, error instanceof DeliveryError ? error.retryAfterMs : undefined, error);
      }
      refusals.push(`The file ${name} was not sent: ${message}.`);
    }
  }
  return { files: brought, refusals };

  async function fetch({ id, ref, name, mediaType, bytes }: TakenFile): Promise<number> {
    const max = Math.min(files.bytesMax, left);
    if (bytes !== null && bytes > files.bytesMax) throw new FileTooLarge(files.bytesMax);
    if (left <= 0 || (bytes !== null && bytes > left)) {
      const total = sizeText(files.messageBytesMax);
      throw new DeliveryError("rejected", `with the others it is more than ${total}, the most that a message takes`);
    }
    const limited = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
    const source = channels.fetchFile({ id: to.deskAccountId }, files.unseal(ref), limited);
    if (source === undefined) throw new DeliveryError("rejected", "files cannot be fetched from this desk");
    const upload = { workspaceId, conversationId, accountId, uploadedBy, name, mediaType };
    return (await storeUpload(dependencies, { id, upload, max, bounded: false }, await source, limited)).bytes;
  }
}
