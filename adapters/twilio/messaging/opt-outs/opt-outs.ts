import { randomUUID } from "node:crypto";
import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";
import { senderOf } from "../inbound.ts";
import type { TwilioChannel } from "../config.ts";

/** The customers that must not be written to, stored with the account. */
export interface OptOuts {
  /**
   * `customer`: the customer opted out here, and nothing is sent. `platform`: Twilio refused a message because of an
   * opt-out; the next send tries again, since the customer may have opted in at Twilio. null: neither.
   */
  of(thread: string): Promise<"customer" | "platform" | null>;
  /** Stores an opt-out by the message with this id. A redelivery of the same message does not count again. */
  stop(thread: string, messageId: string): Promise<void>;
  start(thread: string): Promise<void>;
  /** Twilio refused a message because of an opt-out. Stored, and shown in the conversation. */
  refused(thread: string): Promise<void>;
  /** Twilio accepts messages to the customer again. */
  taken(thread: string): Promise<void>;
}

const recordSchema = Type.Object({
  by: Type.Union([Type.Literal("customer"), Type.Literal("platform"), Type.Null()]),
  lastStop: Type.Union([Type.String(), Type.Null()]),
});

export function createOptOuts(host: Pick<ChannelHost, "state" | "accept" | "clock">, channel: TwilioChannel): OptOuts {
  const nameOf = (thread: string): string => `opt-out:${thread}`;

  async function read(thread: string) {
    const stored = await host.state.get(nameOf(thread));
    const record: unknown = stored === null ? null : JSON.parse(stored);
    return Value.Check(recordSchema, record) ? record : { by: null, lastStop: null };
  }
  const write = (thread: string, by: "customer" | "platform" | null, lastStop: string | null): Promise<void> =>
    host.state.set(nameOf(thread), JSON.stringify({ by, lastStop }));

  async function acceptReach(thread: string, reachable: boolean, reason: string): Promise<void> {
    const sentAt = host.clock.now();
    const externalId = `reach:${reachable ? "again" : "refused"}:${randomUUID()}`;
    await host.accept({
      kind: "reach",
      externalId,
      thread,
      sentAt,
      sender: senderOf(channel, thread),
      reachable,
      reason,
    });
  }

  return {
    of: async (thread) => (await read(thread)).by,
    async stop(thread, messageId) {
      const { lastStop } = await read(thread);
      if (lastStop !== messageId) await write(thread, "customer", messageId);
    },
    async start(thread) {
      const { by, lastStop } = await read(thread);
      if (by !== null) await write(thread, null, lastStop);
    },
    async refused(thread) {
      const { by, lastStop } = await read(thread);
      if (by !== null) return;
      await write(thread, "platform", lastStop);
      await acceptReach(
        thread,
        false,
        "Twilio sends nothing to this customer: they have opted out, and can come back by writing START.",
      );
    },
    async taken(thread) {
      const { by, lastStop } = await read(thread);
      if (by !== "platform") return;
      await write(thread, null, lastStop);
      await acceptReach(thread, true, "Twilio takes messages to this customer again.");
    },
  };
}
