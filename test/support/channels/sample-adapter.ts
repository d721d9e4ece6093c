import { createHmac, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import Type from "typebox";
import type {
  AdapterModule,
  ChannelHost,
  OutboundFile,
  Receipt,
  SendContext,
  WebRequest,
  WebResponse,
} from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";

/** What can be wrong with an adapter; the suite has to notice each. */
export type Fault =
  | "acknowledges_first"
  | "acknowledges_failures"
  | "no_dedup"
  | "no_signature"
  | "changes_text"
  | "takes_echo"
  | "one_thread_for_all"
  | "cuts_text"
  | "cuts_signs"
  | "retries_refusals"
  | "ignores_retry_after"
  | "sends_unknown_again"
  | "drops_when_unreachable"
  | "cuts_files"
  | "drops_files"
  | "sends_files_as_nothing"
  | "token_in_errors"
  | "token_in_log";

export interface SampleDelivery {
  readonly id: string;
  readonly chat: string;
  readonly from: string;
  readonly fromBot: boolean;
  readonly text: string;
  readonly files: readonly { readonly id: string; readonly name: string }[];
}

export interface SamplePost {
  readonly chat: string;
  readonly text: string;
  readonly key: string;
  readonly file?: { readonly name: string; readonly base64: string };
}

export const sampleTextMax = 200;

export const signatureOf = (body: string | Buffer, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

const config = Type.Object({ url: Type.String(), token: Type.String(), signing_secret: Type.String() });

interface SampleConfig {
  readonly url: string;
  readonly token: string;
  readonly signing_secret: string;
}

/** An adapter of the made-up platform of sample-platform.ts, with at most one fault. */
export function sampleAdapter(fault?: Fault): AdapterModule<SampleConfig> {
  return {
    channels: ["telegram"],
    config,
    secrets: ["token", "signing_secret"],
    create({ config: { url, token, signing_secret: secret } }, host) {
      const messages = `${url}/bot-${token}/messages`;
      return {
        capabilities: {
          textMax: sampleTextMax,
          typing: false,
          receipts: false,
          idempotentSend: fault === "sends_unknown_again",
          fileBytesMax: 1_000_000,
        },
        inbound: { kind: "webhook", receive: (request) => receive(request, host, secret, fault) },
        render: ({ markdown, files = [] }) => [
          ...(markdown === "" ? [] : split(markdown, fault).map((text) => ({ text, payload: { text } }))),
          ...(fault === "drops_files" ? [] : files.map((file) => ({ text: file.name, payload: { text: "", file } }))),
        ],
        async fetchFile(ref, signal) {
          const response = await fetch(`${url}/bot-${token}/files/${ref}`, { signal });
          if (!response.ok || response.body === null) throw new DeliveryError("rejected", "there is no such file");
          const bytes = Buffer.from(await response.arrayBuffer());
          return Readable.from([fault === "cuts_files" ? bytes.subarray(0, 100_000) : bytes]);
        },
        send: (part, context) => send(messages, token, part, context, host, fault),
        async reconcile(key) {
          const response = await fetch(`${messages}?key=${encodeURIComponent(key)}`);
          const { id } = (await response.json()) as { readonly id: string | null };
          return id === null ? null : { externalId: id, state: "sent" };
        },
        close: async () => undefined,
      };
    },
  };
}

async function receive(
  request: WebRequest,
  host: ChannelHost,
  secret: string,
  fault: Fault | undefined,
): Promise<WebResponse> {
  const expected = Buffer.from(signatureOf(request.body, secret));
  const given = Buffer.from(request.headers["x-signature"] ?? "");
  const genuine = given.length === expected.length && timingSafeEqual(given, expected);
  if (!genuine && fault !== "no_signature") return { status: 401 };
  const delivery = JSON.parse(request.body.toString("utf8")) as SampleDelivery;
  if (delivery.fromBot && fault !== "takes_echo") return { status: 200 };
  const accepted = host.accept({
    kind: "message",
    externalId: fault === "no_dedup" ? `${delivery.id}-${Math.random()}` : delivery.id,
    thread: fault === "one_thread_for_all" ? "everybody" : delivery.chat,
    sender: { key: delivery.from },
    sentAt: host.clock.now(),
    ...(delivery.files.length === 0
      ? {}
      : {
          files: delivery.files.map(({ id, name }) => ({
            ref: id,
            name,
            mediaType: "application/octet-stream",
            bytes: null,
          })),
        }),
    text: fault === "changes_text" ? delivery.text.normalize("NFC").replaceAll(/[<>]/g, "") : delivery.text,
  });
  if (fault === "acknowledges_first") {
    accepted.catch((error: unknown) => host.log.error({ err: error }, "lost"));
    return { status: 200 };
  }
  try {
    await accepted;
  } catch (error) {
    host.log.error({ err: error }, "a delivery could not be stored");
    return { status: fault === "acknowledges_failures" ? 200 : 503 };
  }
  return { status: 200 };
}

function split(markdown: string, fault: Fault | undefined): readonly string[] {
  if (fault === "cuts_text") return [markdown.slice(0, sampleTextMax)];
  const parts: string[] = [];
  let rest = markdown;
  while (rest.length > sampleTextMax) {
    let end = sampleTextMax;
    // Not between the two halves of one sign.
    if (fault !== "cuts_signs" && /[\uD800-\uDBFF]/.test(rest.charAt(end - 1))) end -= 1;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...parts, rest];
}

async function send(
  messages: string,
  token: string,
  part: Part,
  { thread, key, signal, file: bytesOf }: SendContext,
  host: ChannelHost,
  fault: Fault | undefined,
): Promise<Receipt> {
  const { text, file: named } = part.payload as { readonly text: string; readonly file?: OutboundFile };
  let file: SamplePost["file"];
  if (named !== undefined) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await bytesOf?.(named.id)) ?? []) chunks.push(chunk);
    const bytes = fault === "sends_files_as_nothing" ? Buffer.alloc(0) : Buffer.concat(chunks);
    file = { name: named.name, base64: bytes.toString("base64") };
  }
  if (fault === "token_in_log") host.log.info({ url: messages }, "sending");
  let response: Response;
  try {
    response = await fetch(messages, {
      method: "POST",
      body: JSON.stringify({ chat: thread, text, key, file }),
      signal,
    });
  } catch (error) {
    if (fault === "drops_when_unreachable") return { externalId: null, state: "sent" };
    const where = fault === "token_in_errors" ? ` at ${messages}` : "";
    throw new DeliveryError("unknown", `the connection to the platform broke${where}`, { cause: error });
  }
  const answer = (await response.json()) as { readonly id: string; readonly error?: string };
  if (response.ok) return { externalId: answer.id, state: "sent" };
  if (response.status === 429) {
    const retryAfterMs = fault === "ignores_retry_after" ? 0 : Number(response.headers.get("retry-after")) * 1_000;
    throw new DeliveryError("not_sent", "the platform is busy", { retryAfterMs });
  }
  const outcome = fault === "retries_refusals" ? "not_sent" : "rejected";
  throw new DeliveryError(
    outcome,
    `the platform refused it: ${(answer.error ?? "no reason given").replaceAll(token, "…")}`,
  );
}
