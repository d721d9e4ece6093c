import type { ChannelHost, InboundEvent } from "#channels/contract.ts";
import { deliveryEvent, readingOf, readingOfUnread } from "./inbound.ts";
import type { Reading } from "./inbound.ts";
import type { Change, Contact } from "./payloads.ts";
import { changesIn, readContact, readError, readMessage, readStatus, readUnread } from "./payloads.ts";
import type { Settings } from "./config.ts";

const hourMs = 3_600_000;

/** Resolves when all events of the delivery are stored; rejects when one is not. */
export async function takeDelivery(
  settings: Pick<Settings, "phoneNumberId" | "botMessagesPerHour" | "personButton">,
  host: Pick<ChannelHost, "accept" | "clock" | "log">,
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
    for (const event of messagesIn(host, change, settings.personButton)) {
      await host.accept(event.kind === "message" ? { ...event, botLimit: { max, withinMs: hourMs } } : event);
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

function messagesIn(
  { clock, log }: Pick<ChannelHost, "clock" | "log">,
  change: Change,
  personLabel: string | undefined,
): readonly InboundEvent[] {
  const contacts = (change.contacts ?? []).map(readContact).filter((each) => each !== undefined);
  return (change.messages ?? []).flatMap((each) => {
    const reading = readingIn(each, contacts, clock.now(), personLabel);
    if (reading?.kind === "event") return [reading.event];
    if (reading === undefined) log.warn({}, "whatsapp: unknown message skipped");
    else log.debug({ reason: reading.reason }, "whatsapp: message skipped");
    return [];
  });
}

function readingIn(
  value: unknown,
  contacts: readonly Contact[],
  now: number,
  personLabel: string | undefined,
): Reading | undefined {
  const message = readMessage(value);
  if (message !== undefined) return readingOf(message, contacts, now, personLabel);
  const unread = readUnread(value);
  return unread === undefined ? undefined : readingOfUnread(unread, contacts, now);
}

function statusesIn({ clock, log }: Pick<ChannelHost, "clock" | "log">, change: Change): readonly InboundEvent[] {
  return (change.statuses ?? []).flatMap((each) => {
    const status = readStatus(each);
    if (status === undefined) log.warn({}, "whatsapp: unknown status skipped");
    const event = status === undefined ? null : deliveryEvent(status, clock.now());
    return event === null ? [] : [event];
  });
}
