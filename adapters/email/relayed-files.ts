import type { ChannelHost, InboundFile, OutboundFile } from "#channel/contract.ts";
import { DeliveryError } from "#channel/errors.ts";
import { Problem } from "#domain/problem.ts";

/** Files of an agent's mail, stored before the mail goes on to the customer. */
export interface Brought {
  /** As the message names them. */
  readonly stored: readonly InboundFile[];
  /** Those that go with it. */
  readonly outbound: readonly OutboundFile[];
  /** A sentence for agents on each that does not. */
  readonly left: readonly string[];
  /** Takes them back, where the mail was known already. */
  drop(): Promise<void>;
}

export interface BringDependencies {
  readonly host: Pick<ChannelHost, "upload" | "dropUpload">;
  readonly fetch: (ref: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** As much as a mail of ours takes. */
  readonly sentBytesMax: number;
}

const fetchMs = 120_000;

/** Rejects where a file cannot be had now: then the mail is read again later, and nothing of it is stored meanwhile. */
export async function bringFiles(
  { host, fetch, sentBytesMax }: BringDependencies,
  thread: string,
  files: readonly InboundFile[],
): Promise<Brought> {
  const stored: InboundFile[] = [];
  const outbound: OutboundFile[] = [];
  const left: string[] = [];
  const drop = async (): Promise<void> => {
    for (const { ref } of stored) await host.dropUpload(thread, ref);
  };
  let total = 0;
  try {
    for (const file of files) {
      const { name, mediaType } = file;
      try {
        const signal = AbortSignal.timeout(fetchMs);
        const kept = await host.upload(thread, { name, mediaType }, await fetch(file.ref, signal), signal);
        stored.push({ ...file, ref: kept.id });
        if (total + kept.bytes > sentBytesMax) {
          left.push(`${kept.name} is too large for it: it can be had in the inbox.`);
        } else {
          total += kept.bytes;
          outbound.push(kept);
        }
      } catch (error) {
        const isFinal = error instanceof Problem || (error instanceof DeliveryError && error.outcome === "rejected");
        if (!isFinal) throw error;
        left.push(`${name}: ${error.message}.`);
      }
    }
  } catch (error) {
    await drop();
    throw error;
  }
  return { stored, outbound, left, drop };
}
