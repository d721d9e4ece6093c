import Type from "typebox";
import { Value } from "typebox/value";
import type { Static } from "typebox";
import type { ChannelHost, FileToPrefetch, InboundFile, OutboundFile } from "#channels/contract.ts";

/** Files of an agent's mail, stored before the mail goes on to the customer. */
export interface RelayedFiles {
  /** The files of the stored message. */
  readonly stored: readonly InboundFile[];
  /** The files of the mail to the customer. */
  readonly outbound: readonly OutboundFile[];
  /** A sentence for agents on each file that is not sent on. */
  readonly left: readonly string[];
  /** Deletes the stored files when the mail is not used. */
  drop(): Promise<void>;
}

export interface RelayDependencies {
  readonly host: Pick<ChannelHost, "files" | "state" | "clock">;
  readonly fetch: (ref: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** The size limit of an outgoing mail. */
  readonly sentBytesMax: number;
}

/** The time limit of one try, for all files of a mail. */
const tryMs = 120_000;
/** How long a missing file may hold up the mailbox. No later mail is read meanwhile, not even a customer's. */
const patienceMs = 5 * 60_000;
/** Tries needed before giving up: elapsed time alone may include a suspended computer. */
const triesMin = 3;
const triesKeptMs = 86_400_000;

const triesSchema = Type.Object({ since: Type.Number(), tries: Type.Integer() });

/**
 * Stores the files of an agent's mail. Rejects when one cannot be fetched now: the mail is then read again later, and files
 * already stored are reused. After some tries the mail goes out without it. `mail` identifies the mail across tries.
 */
export async function relayFiles(
  { host, fetch, sentBytesMax }: RelayDependencies,
  thread: string,
  mail: string,
  files: readonly InboundFile[],
  signal: AbortSignal,
): Promise<RelayedFiles> {
  const triesKey = `files of ${mail}`;
  const known = await host.state.get(triesKey);
  const before = triesOf(known) ?? { since: host.clock.now(), tries: 0 };
  const isLastTry = before.tries >= triesMin && host.clock.now() - before.since >= patienceMs;
  const requests = files.map(({ ref, ...file }, at): FileToPrefetch => ({
    ...file,
    key: `${mail} ${at}`,
    fetch: (limited) => fetch(ref, limited),
  }));
  const all = await host.files
    .prefetch(thread, requests, { isLastTry, withinMs: tryMs }, signal)
    .catch(async (error: unknown) => {
      if (!signal.aborted) {
        await host.state.compareAndSet(
          triesKey,
          known,
          JSON.stringify({ ...before, tries: before.tries + 1 }),
          triesKeptMs,
        );
      }
      throw error;
    });
  const stored: InboundFile[] = [];
  const outbound: OutboundFile[] = [];
  const left: string[] = [];
  let total = 0;
  for (const [at, each] of all.entries()) {
    const file = files[at];
    if (file === undefined) continue;
    if (each.kind === "refused") {
      // A file that may still arrive is fetched for the inbox later, like customers' files.
      if (!each.isFinal) stored.push(file);
      left.push(
        `${each.name}: ${each.reason}${each.isFinal ? "" : ", and was not waited for: it is in the inbox when it can be had"}.`,
      );
      continue;
    }
    const { file: kept } = each;
    stored.push({ ...file, ref: kept.id });
    if (total + kept.bytes > sentBytesMax) {
      left.push(`${kept.name} is too large for it: it can be had in the inbox.`);
    } else {
      total += kept.bytes;
      outbound.push(kept);
    }
  }
  return {
    stored,
    outbound,
    left,
    async drop() {
      for (const each of all) if (each.kind === "stored") await host.files.drop(thread, each.file.id);
    },
  };
}

function triesOf(stored: string | null): Static<typeof triesSchema> | null {
  if (stored === null) return null;
  const value: unknown = JSON.parse(stored);
  return Value.Check(triesSchema, value) ? value : null;
}
