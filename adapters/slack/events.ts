import type { ChannelHost, Forwarded, InboundFile, Sender } from "#channels/contract.ts";
import type { MessageLocation, Reaction, Reading } from "./inbound.ts";
import { ownUserOf, readEvent, readReaction, timeOf } from "./inbound.ts";
import { emojiNamed } from "./messages/emoji.ts";
import { emojiOf, namedUsers, plainText } from "./messages/mrkdwn.ts";
import type { EventEnvelope, SlackFile, SlackMessage } from "./deliveries/payloads.ts";
import { filled } from "./deliveries/payloads.ts";
import type { AssistantThreads } from "./messages/assistant.ts";
import { messageIdOf } from "./messages/thread.ts";
import type { SlackApi } from "./client.ts";
import { fileRef, withFileInfo } from "./files.ts";
import { forwardedIn, withForwarded } from "./messages/forwarded.ts";
import type { SlackUser, Users } from "./messages/users.ts";

export interface Events {
  /** Resolves when the event is stored; rejects when it is not. */
  take(envelope: EventEnvelope): Promise<void>;
}

export interface EventsDependencies {
  readonly api: SlackApi;
  readonly host: ChannelHost;
  readonly users: Users;
  readonly assistant: Pick<AssistantThreads, "title">;
  readonly channelMessages: "addressed" | "all" | "off";
}

/** The host's limit. */
export const filesMax = 20;
/** The most files that a text names. */
const linesMax = 100;
/** The most users whose names are looked up for one message. */
const namedMax = 10;

/** Turns customers' events into events of the host. */
export function createEvents(dependencies: EventsDependencies): Events {
  const { api, host, users, assistant, channelMessages } = dependencies;
  return {
    async take(envelope) {
      const reaction = readReaction(envelope);
      if (reaction !== undefined) {
        return acceptReaction(dependencies, reaction, ownUserOf(envelope) ?? (await users.own()));
      }
      const reading = readEvent(envelope);
      if (reading.kind === "ignored") {
        host.log.debug({ reason: reading.reason }, "slack: event skipped");
        return;
      }
      const ownUser = ownUserOf(envelope) ?? (await users.own());
      if (reading.place.userId === ownUser) {
        host.log.debug({}, "slack: message of the app itself skipped");
        return;
      }
      if (!(await counts(reading, ownUser))) {
        host.log.debug({}, "slack: message that does not address the app skipped");
        return;
      }
      const user = await users.find(reading.place.userId);
      await accept(envelope, reading, user, ownUser);
    },
  };

  async function counts(reading: Exclude<Reading, { kind: "ignored" }>, ownUser: string | undefined): Promise<boolean> {
    if (reading.place.direct || channelMessages === "all") return true;
    if (channelMessages === "off") return false;
    if (reading.kind === "message" && reading.mentioned) return true;
    const text = reading.kind === "delete" ? undefined : filled(reading.message.text);
    if (ownUser !== undefined && text !== undefined && namedUsers(text).includes(ownUser)) return true;
    return (await host.threads.get(reading.place.thread)) !== null;
  }

  async function accept(
    envelope: EventEnvelope,
    reading: Exclude<Reading, { kind: "ignored" }>,
    user: SlackUser | undefined,
    ownUser: string | undefined,
  ): Promise<void> {
    const { place, ts } = reading;
    const base = { thread: place.thread, sender: senderOf(place, user) };
    const messageExternalId = messageIdOf(place.channelId, ts);
    switch (reading.kind) {
      case "delete":
        await host.accept({
          ...base,
          kind: "delete",
          externalId: `delete:${messageExternalId}`,
          messageExternalId,
          sentAt: timeOf(reading.deletedAt),
        });
        return;
      case "edit":
        await host.accept({
          ...base,
          kind: "edit",
          externalId: `edit:${messageExternalId}:${reading.editedTs}`,
          messageExternalId,
          sentAt: timeOf(reading.editedTs),
          text: await textOf(users, withForwarded(reading.message), ownUser),
        });
        return;
      case "message": {
        const message = await withFileInfo(api, withForwarded(reading.message));
        const files = filesOf(message).slice(0, filesMax);
        const text = await textOf(users, message, ownUser);
        await host.accept({
          ...base,
          kind: "message",
          // Equal for a message, its `app_mention` and retries of both.
          externalId: eventIdOf(messageExternalId),
          messageExternalId,
          sentAt: timeOf(ts),
          text,
          metadata: {
            channel: place.channelId,
            team: place.teamId,
            ...(place.direct ? { direct: true } : {}),
            ...(envelope.is_ext_shared_channel === true ? { shared_channel: true } : {}),
          },
          ...forwardOf(reading.message),
          ...(files.length === 0 ? {} : { files }),
        });
        await assistant.title(place.thread, text);
      }
    }
  }
}

/** Slack does not say in which thread the message is. */
async function acceptReaction(
  { host, users }: Pick<EventsDependencies, "host" | "users">,
  reaction: Reaction,
  ownUser: string | undefined,
): Promise<void> {
  const { channelId, ts, userId, teamId, name, isAdded, at } = reaction;
  const messageId = messageIdOf(channelId, ts);
  const thread =
    userId === ownUser ? null : await host.threads.ofMessage({ partId: messageId, eventId: eventIdOf(messageId) });
  if (thread === null) {
    host.log.debug({}, "slack: reaction to no message of a conversation skipped");
    return;
  }
  const emoji = emojiNamed(name);
  await host.accept({
    kind: "reaction",
    externalId: `reaction:${messageId}:${userId}:${at}`,
    thread,
    sender: senderOf({ userId, teamId }, await users.find(userId)),
    sentAt: timeOf(at),
    of: { externalIds: [messageId] },
    added: isAdded ? [emoji] : [],
    removed: isAdded ? [] : [emoji],
  });
}

async function textOf(users: Users, message: SlackMessage, ownUser: string | undefined): Promise<string> {
  const written = withoutAddress(message.text ?? "", ownUser, (message.files ?? []).length > 0);
  const found = await Promise.all(
    namedUsers(written)
      .slice(0, namedMax)
      .map(async (id) => [id, (await users.find(id))?.name] as const),
  );
  const names = new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
  const text = plainText(written, { users: names, emoji: emojiOf(message.blocks ?? []) });
  return [text, ...elsewhereOf(message)].filter((line) => line !== "").join("\n\n");
}

/** Several forwarded messages have no common author. */
function forwardOf(message: SlackMessage): { readonly forwarded?: Forwarded } {
  const [first, ...others] = forwardedIn(message);
  if (first === undefined) return {};
  const isNamed = first.author !== undefined && others.length === 0;
  return { forwarded: { isBelow: true, ...(isNamed ? { from: first.author } : {}) } };
}

/** Removes a leading mention of the app, which only addresses it. */
function withoutAddress(text: string, ownUser: string | undefined, hasFiles: boolean): string {
  if (ownUser === undefined) return text;
  const [, mention, rest = ""] = /^\s*<@([A-Z0-9]{1,60})(?:\|[^<>]*)?>[\s,:]*(.*)$/su.exec(text) ?? [];
  if (mention !== ownUser) return text;
  return rest === "" && !hasFiles ? text : rest;
}

const eventIdOf = (messageId: string): string => `message:${messageId}`;

function senderOf({ userId, teamId }: Pick<MessageLocation, "userId" | "teamId">, user: SlackUser | undefined): Sender {
  return {
    key: `${teamId}:${userId}`,
    ...(user?.name === undefined ? {} : { name: user.name }),
    ...(user?.email === undefined ? {} : { proven: { email: user.email } }),
  };
}

/** A file outside of Slack, of which only the address is known. */
export const isElsewhere = (file: SlackFile): boolean => file.is_external === true || file.mode === "external";

/** Deleted, or above the number of files that the workspace may see. */
const isGone = (file: SlackFile): boolean => file.mode === "tombstone" || file.mode === "hidden_by_limit";

export function filesOf({ files }: Pick<SlackMessage, "files">): readonly InboundFile[] {
  return (files ?? []).flatMap((file): InboundFile[] => {
    const ref = isElsewhere(file) || isGone(file) ? undefined : fileRef(file);
    return ref === undefined ? [] : [{ ref, name: nameOf(file), mediaType: mediaTypeOf(file), bytes: bytesOf(file) }];
  });
}

/** A line for each file that cannot be fetched, and one for files above the limit. */
function elsewhereOf(message: SlackMessage): readonly string[] {
  const more = filesOf(message).length - filesMax;
  const omitted =
    more > 0 ? [`[${more} more ${more === 1 ? "file, which is" : "files, which are"} in Slack alone]`] : [];
  const lines = (message.files ?? []).slice(0, linesMax).flatMap((file) => {
    if (isGone(file)) return ["[a file that Slack does not have any more]"];
    if (!isElsewhere(file)) return [];
    const address = filled(file.external_url) ?? filled(file.url_private);
    return [`[file: ${nameOf(file)}${address === undefined ? "" : ` ${address.slice(0, 2_000)}`}]`];
  });
  return [...lines, ...omitted];
}

export const nameOf = (file: SlackFile): string => (filled(file.name) ?? filled(file.title) ?? "file").slice(0, 255);

const mediaTypeOf = (file: SlackFile): string => (filled(file.mimetype) ?? "application/octet-stream").slice(0, 127);

const bytesOf = ({ size }: SlackFile): number | null =>
  typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : null;
