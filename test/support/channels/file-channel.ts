import Type from "typebox";
import type {
  AdapterModule,
  ChannelAdapter,
  ChannelHost,
  InboundFile,
  OutboundFile,
  Receipt,
  SendContext,
} from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import type { LoadAdapter } from "#channels/load-adapter.ts";

/** A platform played by a test: it serves files and records what was sent. */
export interface FileChannel {
  readonly load: LoadAdapter;
  /** Serves a file's bytes; throws the errors of the platform's adapter. */
  give: (ref: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  readonly asked: string[];
  readonly sent: { readonly text: string; readonly file: string | null; readonly bytes: Buffer | null }[];
  /** The largest file that the platform carries; undefined: no limit. */
  fileBytesMax: number | undefined;
  send: ((part: Part, context: SendContext) => Promise<Receipt>) | undefined;
  /** The account's host, set when the program has created the adapter. */
  host: ChannelHost | undefined;
}

export async function* bytesOf(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? Buffer.from(part) : part;
}

/** The smallest valid PNG. */
export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const inboundFile = (ref: string, given: Partial<InboundFile> = {}): InboundFile => ({
  ref,
  name: `${ref}.bin`,
  mediaType: "application/octet-stream",
  bytes: null,
  ...given,
});

export function fileChannel(): FileChannel {
  const channel: FileChannel = {
    load: (name) => (name === "telegram" ? Promise.resolve(module) : undefined),
    give: async (ref) => bytesOf(`bytes of ${ref}`),
    asked: [],
    sent: [],
    fileBytesMax: undefined,
    send: undefined,
    host: undefined,
  };
  const module: AdapterModule = {
    config: Type.Object({}),
    secrets: [],
    create(_account, host): ChannelAdapter {
      channel.host = host;
      return adapter;
    },
  };
  const adapter: ChannelAdapter = {
    get capabilities() {
      const { fileBytesMax } = channel;
      return {
        textMax: null,
        typing: false,
        receipts: false,
        idempotentSend: true,
        ...(fileBytesMax === undefined ? {} : { fileBytesMax }),
      };
    },
    inbound: { kind: "webhook", receive: async () => ({ status: 200 }) },
    render({ markdown, files = [] }) {
      const text = markdown === "" ? [] : [{ text: markdown, payload: null }];
      return [...text, ...files.map((file): Part => ({ text: file.name, payload: file }))];
    },
    async send(part, context) {
      if (channel.send !== undefined) return channel.send(part, context);
      const file = part.payload as OutboundFile | null;
      const bytes: Uint8Array[] = [];
      if (file !== null) for await (const chunk of (await context.file?.(file.id)) ?? []) bytes.push(chunk);
      channel.sent.push({
        text: part.text,
        file: file?.name ?? null,
        bytes: file === null ? null : Buffer.concat(bytes),
      });
      return { externalId: context.key, state: "sent" };
    },
    fetchFile(ref, signal) {
      channel.asked.push(ref);
      return channel.give(ref, signal);
    },
    close: async () => undefined,
  };
  return channel;
}
