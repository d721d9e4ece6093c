import { createHmac, timingSafeEqual } from "node:crypto";
import type { ChannelHost, InboundEvent, WebRequest, WebResponse } from "#channels/contract.ts";

/** The body of the platform's POST. */
export interface SampleDelivery {
  readonly id: string;
  readonly chat: string;
  readonly from: string;
  readonly fromBot: boolean;
  readonly text: string;
  readonly files: readonly { readonly id: string; readonly name: string }[];
}

export const signatureOf = (body: string | Buffer, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** Acknowledges a delivery once it is stored. A status of 500 or more makes the platform deliver it again. */
export async function receive(request: WebRequest, host: ChannelHost, secret: string): Promise<WebResponse> {
  const expected = Buffer.from(signatureOf(request.body, secret));
  const given = Buffer.from(request.headers["x-signature"] ?? "");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { status: 401 };
  const delivery = JSON.parse(request.body.toString("utf8")) as SampleDelivery;
  if (delivery.fromBot) return { status: 200 };
  try {
    await host.accept(inboundEvent(delivery, host.clock.now()));
    return { status: 200 };
  } catch (error) {
    host.log.error({ err: error }, "sample: storing a delivery failed");
    return { status: 503 };
  }
}

function inboundEvent({ id, chat, from, text, files }: SampleDelivery, sentAt: number): InboundEvent {
  const inboundFiles = files.map((file) => ({
    ref: file.id,
    name: file.name,
    mediaType: "application/octet-stream",
    bytes: null,
  }));
  return {
    kind: "message",
    externalId: id,
    thread: chat,
    sender: { key: from },
    sentAt,
    text,
    ...(inboundFiles.length === 0 ? {} : { files: inboundFiles }),
  };
}
