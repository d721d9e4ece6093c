import { DeliveryError } from "#channels/errors.ts";
import type { DeskFile } from "#channels/desk/contract.ts";
import { newId } from "#domain/ids.ts";
import type { LeasedRow } from "#database/queries/outbox.ts";
import { RetryLater } from "#queue/retry-later.ts";
import type { FileSource } from "#conversations/attachments/prefetch.ts";
import { prefetchFiles } from "#conversations/attachments/prefetch.ts";
import type { FileWorkDependencies } from "#conversations/attachments/remove-files.ts";
import type { Channels } from "#channels/channels.ts";
import type { Files } from "#files/contract.ts";

/** An agent's file as its outbox row holds it. `ref` is sealed. */
export interface StoredDeskFile extends DeskFile {
  /** Id under which the file is stored. Each try uses the same one. */
  readonly id: string;
}

/** Files that are stored before their reply. */
export interface PrefetchedFiles {
  readonly files: readonly { readonly id: string; readonly name: string; readonly bytes: number }[];
  /** Sentences for the agent: why other files were refused. */
  readonly refusalTexts: readonly string[];
}

export const noPrefetchedFiles: PrefetchedFiles = { files: [], refusalTexts: [] };

export const storedDeskFiles = (
  given: readonly DeskFile[],
  seal: Files["seal"],
  now: number,
): readonly StoredDeskFile[] =>
  given.map((file) => ({ ...file, ref: seal(file.ref.slice(0, 4_096)), id: newId("file", now) }));

interface PrefetchDependencies extends FileWorkDependencies {
  readonly channels: Channels;
}

export interface PrefetchTarget {
  readonly workspaceId: string;
  readonly conversationId: string;
  /** Account of the customer's channel. */
  readonly accountId: string;
  readonly deskAccountId: string;
  readonly uploadedBy: string;
}

/** After this many tries the reply is sent without its files, and its author is notified. */
const attemptsMax = 8;

/** Stores an agent's files as uploads, as the inbox does. */
export async function prefetchMessageFiles(
  dependencies: PrefetchDependencies,
  taken: readonly StoredDeskFile[],
  to: PrefetchTarget,
  work: LeasedRow,
  signal: AbortSignal,
): Promise<PrefetchedFiles> {
  const { channels, files } = dependencies;
  const { deskAccountId, ...upload } = to;
  const sources = taken.map(({ ref, ...file }): FileSource => ({
    ...file,
    async fetch(limited) {
      if (file.bytes === 0) throw new DeliveryError("rejected", "it is empty");
      const source = channels.adapter({ id: deskAccountId }).fetchFile?.(files.unseal(ref), limited);
      if (source === undefined) throw new DeliveryError("rejected", "files cannot be fetched from this desk");
      return source;
    },
  }));
  const isLastTry = work.attempts >= attemptsMax;
  const all = await prefetchFiles(dependencies, sources, upload, { isLastTry }, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : "it could not be fetched";
    throw new RetryLater(message, error instanceof DeliveryError ? error.retryAfterMs : undefined, error);
  });
  return {
    files: all.flatMap((each) => (each.kind === "stored" ? [each.file] : [])),
    refusalTexts: all.flatMap((each) =>
      each.kind === "refused" ? [`The file ${each.name} was not sent: ${each.reason}.`] : [],
    ),
  };
}
