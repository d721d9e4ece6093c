import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import { identityOf, placeOf } from "./identity.ts";
import { deliveryEvent, readingOf, readingOfUnread, timeOf } from "./inbound.ts";
import type { Change, Contact } from "./payloads.ts";
import { changesIn, readContact, readError, readMessage, readStatus, readUnread } from "./payloads.ts";
import type { Settings } from "./config.ts";

type Host = Pick<ChannelHost, "accept" | "clock" | "log" | "threads">;

const hourMs = 3_600_000;

/** Resolves when all events of the delivery are stored; rejects when one is not. */
export async function takeDelivery(
  settings: Pick<Settings, "phoneNumberId" | "botMessagesPerHour" | "personButton">,
  host: Host,
  delivery: unknown,
): Promise<void> {
  const { phoneNumberId, botMessagesPerHour: max } = settings;
  const changes = changesIn(delivery);
  if (changes === undefined) host.log.warn({}, "whatsapp: unknown delivery skipped");
  for (const change of changes ?? []) {
    // One app has one address for several numbers, unless each has its own.
    if (change.metadata.phone_number_id !== phoneNumberId) {
      host.log.debug({}, "whatsapp: delivery for another number skipped");
      continue;
    }
    reportErrors(host, change);
    // A message is stored after the one before it, which keeps their order.
    const contacts = (change.contacts ?? []).map(readContact).filter((each) => each !== undefined);
    for (const message of change.messages ?? []) {
      const event = await eventIn(host, message, contacts, settings.personButton);
      if (event === undefined) continue;
      await host.accept(event.kind === "message" ? { ...event, botLimit: { max, withinMs: hourMs } } : event);
      if (event.kind !== "feedback" && event.kind !== "rating" && event.kind !== "reaction") continue;
      const { externalId, thread, sender, sentAt } = event;
      await host.accept({ kind: "activity", externalId: `activity:${externalId}`, thread, sender, sentAt });
    }
    await Promise.all(statusesIn(host, change).map((event) => host.accept(event)));
  }
}

function reportErrors({ log }: Pick<ChannelHost, "log">, { errors = [] }: Change): void {
  for (const each of errors) {
    const { code, title } = readError(each) ?? {};
    log.warn({ code, reason: title?.slice(0, 200) }, "whatsapp: Meta reports a fault of the account");
  }
}

/** Undefined: the message is skipped. */
async function eventIn(
  host: Host,
  value: unknown,
  contacts: readonly Contact[],
  personLabel: string | undefined,
): Promise<InboundEvent | undefined> {
  const message = readMessage(value);
  const named = message ?? readUnread(value);
  if (named === undefined) {
    host.log.warn({}, "whatsapp: unknown message skipped");
    return undefined;
  }
  const identity = identityOf(named, message?.system?.previous_user_id, contacts);
  if (identity === undefined || named.group_id !== undefined) {
    host.log.debug({ reason: "it has no sender, or was written in a group" }, "whatsapp: message skipped");
    return undefined;
  }
  const now = host.clock.now();
  const place = await placeOf(host, identity, { id: named.id, sentAt: timeOf(named.timestamp, now) });
  const situation = { place, contacts, now, personLabel };
  const reading = message === undefined ? readingOfUnread(named, situation) : readingOf(message, situation);
  if (reading.kind === "event") return reading.event;
  host.log.debug({ reason: reading.reason }, "whatsapp: message skipped");
  return undefined;
}

function statusesIn({ clock, log }: Pick<ChannelHost, "clock" | "log">, change: Change): readonly InboundEvent[] {
  return (change.statuses ?? []).flatMap((each) => {
    const status = readStatus(each);
    if (status === undefined) log.warn({}, "whatsapp: unknown status skipped");
    const event = status === undefined ? null : deliveryEvent(status, clock.now());
    return event === null ? [] : [event];
  });
}
