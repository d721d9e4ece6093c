import { InteractionResponseType, Routes } from "discord.js";
import type { ChannelHost } from "#channels/contract.ts";
import { queueCatchUp } from "./gateway/catch-up.ts";
import { createChannelQueue } from "./gateway/channel-queue.ts";
import { componentsOf } from "./buttons.ts";
import type { Calls } from "./client.ts";
import { deliveryError } from "./errors.ts";
import type { Events, Packet } from "./events.ts";
import { createEvents } from "./events.ts";
import type { GatewayOptions } from "./gateway/gateway.ts";
import { createGateway } from "./gateway/gateway.ts";
import type { DiscordPress } from "./payloads.ts";
import { createSessions } from "./gateway/sessions.ts";
import { createThreadLookup } from "./thread-lookup.ts";

export interface ConnectionDependencies extends Omit<GatewayOptions, "log" | "lookup"> {
  readonly host: ChannelHost;
  readonly calls: Calls;
  readonly personLabel: string | undefined;
}

/**
 * Stays connected to Discord's gateway until `signal` aborts. Discord resends missed packets when the session is resumed,
 * from the last stored one, after a restart too. When Discord has expired the session, the history of the threads is
 * read instead. Rejects when Discord refuses the connection: the host reconnects after a while.
 */
export async function runConnection(dependencies: ConnectionDependencies, signal: AbortSignal): Promise<void> {
  const { host, calls, guilds, personLabel } = dependencies;
  const sessions = await createSessions(host);
  // An aborted signal fires no event.
  if (signal.aborted) return;
  const queue = createChannelQueue(host, signal);

  let events: Events | undefined;
  async function readyEvents(): Promise<Events> {
    if (events !== undefined) return events;
    const botId = await ownId(calls, signal);
    const threads = createThreadLookup(host, calls, { guilds, botId }, signal);
    events ??= createEvents({
      host,
      threads,
      botId,
      personLabel,
      answerPress: (press, buttons) => acknowledge(press, buttons, calls, host, signal),
    });
    return events;
  }

  const gateway = createGateway({ ...dependencies, log: host.log, lookup: host.lookup }, sessions, {
    onPacket(packet, shardId, sequence) {
      // A packet that was not stored is not marked: Discord resends it when the session is resumed.
      const markStored = sessions.began(shardId, sequence);
      queue.add(channelIdOf(packet), async () => (await readyEvents()).take(packet), markStored);
    },
    onNewSession() {
      queue.add("", async () => queueCatchUp(host, calls, queue, await readyEvents(), signal));
    },
  });
  try {
    await gateway.run(signal);
  } finally {
    await queue.settled();
    await sessions.save();
  }
}

async function ownId(calls: Calls, signal: AbortSignal): Promise<string> {
  const user = await calls.get(Routes.user(), signal);
  const id = typeof user === "object" && user !== null ? (user as { readonly id?: unknown }).id : undefined;
  if (typeof id !== "string") throw new Error("the server at `base_url` is not Discord");
  return id;
}

/** Acknowledges a press. The press is stored already, so a failure only makes Discord show an error to the customer. */
async function acknowledge(
  { id, token }: DiscordPress,
  buttons: Parameters<typeof componentsOf>[0] | undefined,
  calls: Calls,
  host: Pick<ChannelHost, "log">,
  signal: AbortSignal,
): Promise<void> {
  const body =
    buttons === undefined
      ? { type: InteractionResponseType.DeferredMessageUpdate }
      : { type: InteractionResponseType.UpdateMessage, data: { components: componentsOf(buttons) } };
  try {
    await calls.post(Routes.interactionCallback(id, token), body, signal);
  } catch (error) {
    host.log.debug({ reason: deliveryError(error).message }, "discord: acknowledging a button failed");
  }
}

function channelIdOf({ d }: Packet): string {
  const id = typeof d === "object" && d !== null ? (d as { readonly channel_id?: unknown }).channel_id : undefined;
  return typeof id === "string" ? id : "";
}
