import { Readable } from "node:stream";
import type { AdapterModule, ChannelAdapter, ChannelHost, InboundEvent, WebRequest } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { SampleConfig } from "./sample-adapter/config.ts";
import sample from "./sample-adapter/index.ts";
import { textMax } from "./sample-adapter/render.ts";
import type { SampleDelivery } from "./sample-adapter/webhook.ts";
import { signatureOf } from "./sample-adapter/webhook.ts";

/** Faults of an adapter that the suite has to notice. */
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
  | "retries_refused_sends"
  | "ignores_retry_after"
  | "sends_unknown_again"
  | "drops_when_unreachable"
  | "cuts_files"
  | "drops_files"
  | "sends_files_as_nothing"
  | "token_in_errors"
  | "token_in_log";

/** The sample adapter with one fault. */
export function faultyAdapter(fault: Fault): AdapterModule<SampleConfig> {
  return {
    ...sample,
    create: (account, host) =>
      faults[fault]({ host, config: account.config, create: (changed = host) => sample.create(account, changed) }),
  };
}

interface Sample {
  readonly host: ChannelHost;
  readonly config: SampleConfig;
  create(host?: ChannelHost): ChannelAdapter;
}

const faults: Readonly<Record<Fault, (sample: Sample) => ChannelAdapter>> = {
  acknowledges_first: ({ create, host }) =>
    create({
      ...host,
      async accept(event) {
        host.accept(event).catch((error: unknown) => host.log.error({ err: error }, "sample: delivery lost"));
        return { duplicate: false, conversationId: null, messageId: null, seq: null };
      },
    }),
  acknowledges_failures: ({ create }) => {
    const adapter = create();
    const { receive } = webhookOf(adapter);
    const always = async (request: WebRequest) => {
      const response = await receive(request);
      return response.status === 503 ? { status: 200 } : response;
    };
    return { ...adapter, inbound: { kind: "webhook", receive: always } };
  },
  no_dedup: (made) => withEvents(made, (event) => ({ ...event, externalId: `${event.externalId}-${Math.random()}` })),
  no_signature: (made) => withRequests(made, (request) => request.body),
  changes_text: (made) =>
    withEvents(made, (event) =>
      event.kind === "message" ? { ...event, text: event.text.normalize("NFC").replaceAll(/[<>]/g, "") } : event,
    ),
  takes_echo: (made) =>
    withRequests(made, ({ body }) => {
      const delivery = JSON.parse(body.toString("utf8")) as SampleDelivery;
      return delivery.fromBot ? Buffer.from(JSON.stringify({ ...delivery, fromBot: false })) : undefined;
    }),
  one_thread_for_all: (made) =>
    withEvents(made, (event) => (event.kind === "message" ? { ...event, thread: "everybody" } : event)),
  cuts_text: ({ create }) => {
    const adapter = create();
    return { ...adapter, render: (message) => adapter.render(message).slice(0, 1) };
  },
  cuts_signs: ({ create }) => ({
    ...create(),
    render: ({ markdown }) =>
      Array.from({ length: Math.ceil(markdown.length / textMax) }, (_, at) => {
        const text = markdown.slice(at * textMax, (at + 1) * textMax);
        return { text, payload: { text } };
      }),
  }),
  retries_refused_sends: (made) =>
    withFailures(made, (error) =>
      error.outcome === "rejected" ? new DeliveryError("not_sent", error.message) : error,
    ),
  ignores_retry_after: (made) =>
    withFailures(made, (error) =>
      error.outcome === "not_sent" ? new DeliveryError("not_sent", error.message, { retryAfterMs: 0 }) : error,
    ),
  sends_unknown_again: ({ create }) => {
    const adapter = create();
    return { ...adapter, capabilities: { ...adapter.capabilities, idempotentSend: true } };
  },
  drops_when_unreachable: ({ create }) => {
    const adapter = create();
    return {
      ...adapter,
      send: (part, context) =>
        adapter.send(part, context).catch((error: unknown) => {
          if (error instanceof DeliveryError && error.outcome === "unknown") return { externalId: null, state: "sent" };
          throw error;
        }),
    };
  },
  cuts_files: ({ create }) => {
    const adapter = create();
    return {
      ...adapter,
      async fetchFile(ref, signal) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of (await adapter.fetchFile?.(ref, signal)) ?? []) chunks.push(chunk);
        return Readable.from([Buffer.concat(chunks).subarray(0, 100_000)]);
      },
    };
  },
  drops_files: ({ create }) => {
    const adapter = create();
    return { ...adapter, render: (message) => adapter.render({ ...message, files: [] }) };
  },
  sends_files_as_nothing: ({ create }) => {
    const adapter = create();
    return {
      ...adapter,
      send: (part, context) => adapter.send(part, { ...context, file: async () => Readable.from([]) }),
    };
  },
  token_in_errors: (made) =>
    withFailures(made, (error) =>
      error.outcome === "unknown" ? new DeliveryError("unknown", `${error.message} at ${addressOf(made)}`) : error,
    ),
  token_in_log: (made) => {
    const adapter = made.create();
    return {
      ...adapter,
      send(part, context) {
        made.host.log.info({ url: addressOf(made) }, "sample: sending");
        return adapter.send(part, context);
      },
    };
  },
};

const addressOf = ({ config: { url, token } }: Sample): string => `${url}/bot-${token}/messages`;

function webhookOf({ inbound }: ChannelAdapter) {
  if (inbound.kind !== "webhook") throw new Error("the sample platform calls a webhook");
  return inbound;
}

function withEvents({ create, host }: Sample, change: (event: InboundEvent) => InboundEvent): ChannelAdapter {
  return create({ ...host, accept: (event) => host.accept(change(event)) });
}

/** Replaces the body of each request and signs the new body; undefined leaves the request unchanged. */
function withRequests({ create, config }: Sample, change: (request: WebRequest) => Buffer | undefined): ChannelAdapter {
  const adapter = create();
  const { receive } = webhookOf(adapter);
  return {
    ...adapter,
    inbound: {
      kind: "webhook",
      receive(request) {
        const body = change(request);
        if (body === undefined) return receive(request);
        const headers = { ...request.headers, "x-signature": signatureOf(body, config.signing_secret) };
        return receive({ ...request, body, headers });
      },
    },
  };
}

function withFailures({ create }: Sample, change: (error: DeliveryError) => DeliveryError): ChannelAdapter {
  const adapter = create();
  return {
    ...adapter,
    send: (part, context) =>
      adapter.send(part, context).catch((error: unknown) => {
        throw error instanceof DeliveryError ? change(error) : error;
      }),
  };
}
