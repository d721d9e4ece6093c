import Type from "typebox";
import { Value } from "typebox/value";
import type { Static } from "typebox";
import type { ChannelHost, FileToPrefetch, InboundFile, OutboundFile } from "#channels/contract.ts";

/** Files of an agent's mail, stored before the mail goes on to the customer. */
export interface Relayed {
  /** As the message names them. */
  readonly stored: readonly InboundFile[];
  /** Those that go with it. */
  readonly outbound: readonly OutboundFile[];
  /** A sentence for agents on each that does not. */
  readonly left: readonly string[];
  /** Takes them back, where nothing comes of the mail. */
  drop(): Promise<void>;
}

export interface RelayDependencies {
  readonly host: Pick<ChannelHost, "prefetchFiles" | "dropUpload" | "exchange" | "recall" | "clock">;
  readonly fetch: (ref: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** As much as a mail of ours takes. */
  readonly sentBytesMax: number;
}

/** For all files of a mail, in each try. */
const tryMs = 120_000;
/** Meanwhile no mail behind it is read, those of customers neither: then it goes on without what cannot be had. */
const patienceMs = 5 * 60_000;
/** A computer that slept has not tried. */
const triesMin = 3;
const triesKeptMs = 86_400_000;

const triesSchema = Type.Object({ since: Type.Number(), tries: Type.Integer() });

/**
 * Rejects where a file cannot be had now: then the mail is read again later, and what is stored by then is not fetched
 * again. After some tries the mail goes on without it. `mail` names it, the same on each try.
 */
export async function relayFiles(
  { host, fetch, sentBytesMax }: RelayDependencies,
  thread: string,
  mail: string,
  files: readonly InboundFile[],
  signal: AbortSignal,
): Promise<Relayed> {
  const triesKey = `files of ${mail}`;
  const known = await host.recall(triesKey);
  const before = triesOf(known) ?? { since: host.clock.now(), tries: 0 };
  const isLastTry = before.tries >= triesMin && host.clock.now() - before.since >= patienceMs;
  const wanted = files.map(({ ref, ...file }, at): FileToPrefetch => ({
    ...file,
    key: `${mail} ${at}`,
    fetch: (limited) => fetch(ref, limited),
  }));
  const all = await host
    .prefetchFiles(thread, wanted, { isLastTry, withinMs: tryMs }, signal)
    .catch(async (error: unknown) => {
      if (!signal.aborted) {
        await host.exchange(triesKey, known, JSON.stringify({ ...before, tries: before.tries + 1 }), triesKeptMs);
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
      // What may be had yet is fetched for the inbox, like the files of customers.
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
      for (const each of all) if (each.kind === "stored") await host.dropUpload(thread, each.file.id);
    },
  };
}

function triesOf(stored: string | null): Static<typeof triesSchema> | null {
  if (stored === null) return null;
  const value: unknown = JSON.parse(stored);
  return Value.Check(triesSchema, value) ? value : null;
}
