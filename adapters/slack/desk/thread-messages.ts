import type { ChannelHost } from "#channels/contract.ts";
import type { DeskHost } from "#channels/desk/contract.ts";
import { agentReactionIn } from "#domain/conversation/reaction.ts";
import type { SlackApi } from "../client.ts";
import type { EventListener } from "../deliveries/listeners.ts";
import type { EventEnvelope, SlackMessage } from "../deliveries/payloads.ts";
import { channelIdOf, filled } from "../deliveries/payloads.ts";
import { filesMax, filesOf, isElsewhere, nameOf } from "../events.ts";
import { withFileInfo } from "../files.ts";
import type { Reaction } from "../inbound.ts";
import { ownUserOf, readEvent, readReaction } from "../inbound.ts";
import { emojiNamed } from "../messages/emoji.ts";
import { forwardedIn } from "../messages/forwarded.ts";
import { emojiOf, namedUsers, plainText } from "../messages/mrkdwn.ts";
import type { Users } from "../messages/users.ts";
import { messageIdOf } from "../messages/thread.ts";
import { placeIn } from "./desk.ts";
import { markdownOf } from "./render.ts";

export interface ThreadMessageDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "log">;
  readonly desk: DeskHost;
  readonly users: Users;
}

/** Forwarded messages are mostly not meant for customers. */
const forwardedText = "A forwarded message does not go to the customer: write what they are to read, or copy it.";

const tooManyText = (left: readonly { readonly name: string }[]): string =>
  `A message takes ${filesMax} files at most, so ${left.length === 1 ? "this one was" : "these were"} not sent: ${left
    .map(({ name }) => name)
    .join(", ")
    .slice(0, 1_000)}.`;

const namedMax = 10;

/** Takes messages that agents write, edit and delete in the threads of the desk's channels, and passes on other events. */
export function createThreadMessages({ api, host, desk, users }: ThreadMessageDependencies): EventListener {
  /** Whether an event belongs to the desk: to its channels, or to its threads in a former channel. */
  async function owns(event: EventEnvelope["event"]): Promise<boolean> {
    const channelId = channelIdOf(event);
    if (channelId === undefined) return false;
    if (desk.channels.includes(channelId)) return true;
    const root = [event, event.message, event.previous_message].map((each) => filled(each?.thread_ts)).find(Boolean);
    if (root === undefined || channelId.startsWith("D")) return false;
    // After the desk moved, agents still write and edit in its former channel.
    return (await desk.conversationOf(messageIdOf(channelId, root))) !== null;
  }

  async function takeEvent(envelope: EventEnvelope): Promise<void> {
    const reading = readEvent(envelope);
    if (reading.kind === "ignored") {
      host.log.debug({ reason: reading.reason }, "slack: desk event skipped");
      return;
    }
    const { place, ts } = reading;
    const { channelId, userId: by } = place;
    const messageId = messageIdOf(channelId, ts);
    // A message outside of a thread is talk among colleagues.
    if (place.thread === messageId) return;
    const base = { by, thread: place.thread, place: place.thread, messageId };
    switch (reading.kind) {
      case "message": {
        const message = await withFileInfo(api, reading.message);
        const files = filesOf(message);
        await desk.accept({
          ...base,
          kind: "wrote",
          externalId: `wrote:${messageId}`,
          text: await textOf(message),
          files: files.slice(0, filesMax),
          unsent: [
            ...(forwardedIn(message).length === 0 ? [] : [forwardedText]),
            ...(files.length > filesMax ? [tooManyText(files.slice(filesMax))] : []),
          ],
        });
        return;
      }
      case "edit":
        await desk.accept({
          ...base,
          kind: "edited",
          externalId: `edited:${messageId}:${reading.editedTs}`,
          text: await textOf(reading.message),
          revision: Number(reading.editedTs),
        });
        return;
      case "delete":
        await desk.accept({ ...base, kind: "removed", externalId: `removed:${messageId}` });
    }
  }

  /** The agent's text as Markdown, with names instead of ids. */
  async function textOf(message: SlackMessage): Promise<string> {
    const written = message.text ?? "";
    const found = await Promise.all(
      namedUsers(written)
        .slice(0, namedMax)
        .map(async (id) => [id, (await users.find(id))?.name] as const),
    );
    const names = new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
    const text = markdownOf(plainText(written, { users: names, emoji: emojiOf(message.blocks ?? []) }));
    return [text, ...addressesOf(message)].filter((line) => line !== "").join("\n\n");
  }

  /** Slack does not say in which thread the post is. Returns false for a reaction outside of the desk. */
  async function takeReaction(reaction: Reaction, ownUser: string | undefined): Promise<boolean> {
    const { channelId, ts, userId: by, name, isAdded, at } = reaction;
    const messageId = messageIdOf(channelId, ts);
    const conversationId = await desk.conversationOfPost(messageId);
    if (conversationId === null) return desk.channels.includes(channelId);
    const emoji = by === ownUser ? undefined : agentReactionIn(emojiNamed(name));
    if (emoji === undefined) {
      host.log.debug({}, "slack: desk reaction that customers do not get skipped");
      return true;
    }
    const externalId = `reacted:${messageId}:${by}:${at}`;
    const place = placeIn(channelId, undefined);
    await desk.accept({ kind: "reacted", externalId, by, place, conversationId, messageId, emoji, isAdded });
    return true;
  }

  return async ({ context: { envelope }, next }) => {
    const reaction = readReaction(envelope);
    if (reaction !== undefined) {
      const isOfDesk = await takeReaction(reaction, ownUserOf(envelope) ?? (await users.own()));
      return isOfDesk ? undefined : next();
    }
    return (await owns(envelope.event)) ? takeEvent(envelope) : next();
  };
}

/** Addresses of files that Slack does not hold: they cannot be fetched, so the customer gets the address. */
function addressesOf({ files }: SlackMessage): readonly string[] {
  return (files ?? []).flatMap((file) => {
    const address = isElsewhere(file) ? (filled(file.external_url) ?? filled(file.url_private)) : undefined;
    return address === undefined ? [] : [`${nameOf(file)}: ${address.slice(0, 2_000)}`];
  });
}
