import type { ChannelHost } from "#channels/contract.ts";
import type { DeskAsk, DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import { isSlackAddress } from "../client.ts";
import { placeIn } from "./desk.ts";
import type { Json } from "./card.ts";
import { parseBlockId } from "./card.ts";
import { chooseAction, parseChoice } from "./choices.ts";
import { answerCommand } from "./commands.ts";
import type { DeskAgents } from "./agents.ts";
import { markdownOf } from "./render.ts";
import type { Dialog, DialogSubject } from "./dialogs.ts";
import { dialogOf, dialogView, readDialog, sayingView, subjectOf, wrongField } from "./dialogs.ts";
import { failureOf } from "../errors.ts";
import { withFileInfo } from "../files.ts";
import { forwardedIn } from "../messages/forwarded.ts";
import { readEvent } from "../inbound.ts";
import { filesMax, filesOf, isElsewhere, nameOf } from "../events.ts";
import { emojiOf, namedUsers, plainText } from "../messages/mrkdwn.ts";
import type { Interaction, SlackMessage } from "../deliveries/payloads.ts";
import { channelIdOf, filled } from "../deliveries/payloads.ts";
import type { DeskRoutes, Reply } from "../deliveries/interactions.ts";
import { messageIdOf } from "../thread.ts";
import type { Users } from "../messages/users.ts";

export interface RouteDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
  readonly people: DeskAgents;
  readonly users: Users;
}

/** What colleagues pass on to each other is mostly not meant for customers. */
const forwardedText = "A forwarded message does not go to the customer: write what they are to read, or copy it.";

const tooManyText = (left: readonly { readonly name: string }[]): string =>
  `A message takes ${filesMax} files at most, so ${left.length === 1 ? "this one was" : "these were"} not sent: ${left
    .map(({ name }) => name)
    .join(", ")
    .slice(0, 1_000)}.`;

/** A dialog opens only within three seconds of the click. */
const dialogMs = 2_500;
/** The click is acknowledged after it, for which Slack waits three seconds. */
const questionMs = 1_000;
const namedMax = 10;

/** What people do in the desk channel, brought to the host; resolves when it is durable. */
export function createDeskRoutes(dependencies: RouteDependencies): DeskRoutes {
  const { api, host, desk, people, users } = dependencies;
  let workspaceUrl: string | undefined;

  /** An agent's text as Markdown, with names in place of ids. */
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

  /** Opens a dialog. It holds nothing yet that could be lost: who sees none clicks again. */
  async function show(view: Json, { trigger_id: trigger }: Interaction): Promise<Reply> {
    try {
      await api.within(dialogMs).views.open({ trigger_id: filled(trigger) ?? "", view: view as never });
    } catch (error) {
      host.log.warn({ failure: failureOf(error) }, "slack: opening a dialog failed");
    }
    return null;
  }

  /** The question that was answered goes away. Should it stay, to answer it again does no harm. */
  async function takeAway({ response_url: given }: Interaction): Promise<void> {
    const url = filled(given);
    if (url === undefined || !isSlackAddress(url, api.baseUrl)) return;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ delete_original: true }),
        redirect: "manual",
        signal: AbortSignal.timeout(questionMs),
      });
      await response.body?.cancel();
      if (!response.ok) host.log.info({ status: response.status }, "slack: removing an answered question failed");
    } catch (error) {
      host.log.info({ failure: failureOf(error) }, "slack: removing an answered question failed");
    }
  }

  const open = (dialog: Dialog, subject: DialogSubject, interaction: Interaction): Promise<Reply> =>
    show(dialogView(dialog, subject, host.clock.now()), interaction);

  async function ask(
    interaction: Interaction,
    externalId: string,
    { conversationId, seen, place }: DialogSubject,
    wanted: DeskAsk,
  ): Promise<Reply> {
    const by = interaction.user.id;
    await desk.accept({ kind: "asked", externalId, by, place, conversationId, ask: wanted, seen });
    return null;
  }

  async function clicked(interaction: Interaction): Promise<Reply> {
    const [action] = interaction.actions ?? [];
    const actionId = filled(action?.action_id) ?? "";
    const blockId = filled(action?.block_id) ?? "";
    const by = interaction.user.id;
    const externalId = `click:${by}:${filled(action?.action_ts) ?? ""}:${actionId}`.slice(0, 180);
    const place = placeOf(interaction);
    if (actionId.startsWith(chooseAction)) {
      const chosen = parseChoice(blockId, actionId);
      if (chosen === undefined) return null;
      await desk.accept({ kind: "chose", externalId, by, place, ...chosen });
      await takeAway(interaction);
      return null;
    }
    const on = parseBlockId(blockId);
    if (on === undefined) return null;
    const subject: DialogSubject = { ...on, place };
    switch (actionId) {
      case "parley_claim":
        return ask(interaction, externalId, subject, { kind: "claim" });
      case "parley_release":
        return ask(interaction, externalId, subject, { kind: "release" });
      case "parley_resolve":
        return ask(interaction, externalId, subject, { kind: "resolve" });
      case "parley_archive":
        return ask(interaction, externalId, subject, { kind: "archive" });
      case "parley_reopen":
        return ask(interaction, externalId, subject, { kind: "reopen" });
      case "parley_note":
        return open("note", subject, interaction);
      case "parley_tag": {
        const tags = (await desk.conversation(on.conversationId))?.tags ?? [];
        return open("tag", { ...subject, tags }, interaction);
      }
      case "parley_snooze":
        return snooze(interaction, externalId, subject, filled(action?.selected_option?.value) ?? "");
      default:
        return null;
    }
  }

  async function snooze(
    interaction: Interaction,
    externalId: string,
    subject: DialogSubject,
    option: string,
  ): Promise<Reply> {
    switch (option) {
      case "h1":
        return ask(interaction, externalId, subject, { kind: "snooze", until: { kind: "hours", hours: 1 } });
      case "morning":
        return ask(interaction, externalId, subject, { kind: "snooze", until: { kind: "morning" } });
      case "reply":
        return ask(interaction, externalId, subject, { kind: "snooze", until: { kind: "reply" } });
      case "pick":
        return open("snooze", subject, interaction);
      default:
        return null;
    }
  }

  async function submitted(interaction: Interaction): Promise<Reply> {
    const { view } = interaction;
    const dialog = dialogOf(view?.callback_id);
    const subject = subjectOf(view?.private_metadata);
    if (dialog === undefined || subject === undefined) return null;
    const read = readDialog(dialog, subject, view?.state?.values, host.clock.now());
    const externalId = `view:${filled(view?.id) ?? ""}`.slice(0, 180);
    switch (read.kind) {
      case "nothing":
        return null;
      case "wrong":
        return wrongField(read.message);
      case "ask":
        return ask(interaction, externalId, subject, read.ask);
      case "send": {
        const { conversationId, place, messageId = "" } = subject;
        const by = interaction.user.id;
        await desk.accept({ kind: "chose", externalId, by, place, conversationId, messageId, choice: "send" });
        return null;
      }
    }
  }

  /** The shortcut on a message of a thread, where a slash command cannot know the conversation. */
  async function shortcut(interaction: Interaction): Promise<Reply> {
    const ts = filled(interaction.message?.ts);
    const channelId = filled(interaction.channel?.id);
    if (ts === undefined || channelId === undefined) return null;
    const root = filled(interaction.message?.thread_ts) ?? ts;
    const place = placeIn(channelId, root);
    const conversationId = await desk.conversationOf(messageIdOf(channelId, root));
    const conversation = conversationId === null ? null : await desk.conversation(conversationId);
    if (conversation === null) {
      return show(sayingView("This message is in no thread of a conversation."), interaction);
    }
    const { id, status, assignee } = conversation;
    const seen = { status, assignedTo: assignee?.email ?? null };
    return open("message", { conversationId: id, seen, place, messageId: messageIdOf(channelId, ts) }, interaction);
  }

  function placeOf(interaction: Interaction): string {
    const { container, message, channel } = interaction;
    const channelId = filled(container?.channel_id) ?? filled(channel?.id) ?? desk.channel;
    const root = filled(container?.thread_ts) ?? filled(message?.thread_ts) ?? filled(container?.message_ts);
    return placeIn(channelId, root);
  }

  return {
    async owns(event) {
      const channelId = channelIdOf(event);
      if (channelId === undefined || channelId === desk.channel) return channelId !== undefined;
      const root = [event, event.message, event.previous_message].map((each) => filled(each?.thread_ts)).find(Boolean);
      if (root === undefined || channelId.startsWith("D")) return false;
      // Where the desk was before, people still write, and correct what they have sent from there.
      return (await desk.conversationOf(messageIdOf(channelId, root))) !== null;
    },
    async event(envelope) {
      const reading = readEvent(envelope);
      if (reading.kind === "ignored") {
        host.log.debug({ reason: reading.reason }, "slack: desk event skipped");
        return;
      }
      const { place, ts } = reading;
      const { channelId, userId: by } = place;
      const messageId = messageIdOf(channelId, ts);
      // What stands in the channel itself is talk among colleagues.
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
    },
    async interaction(interaction) {
      switch (interaction.type) {
        case "block_actions":
          return clicked(interaction);
        case "view_submission":
          return submitted(interaction);
        case "message_action":
          return interaction.callback_id === "parley_message" ? shortcut(interaction) : null;
        default:
          return null;
      }
    },
    async command(command) {
      workspaceUrl ??= await urlOf(api);
      return answerCommand({ host, desk, people, workspaceUrl: () => workspaceUrl }, command);
    },
  };
}

/** A file that lies with somebody else cannot be fetched: the customer gets its address. */
function addressesOf({ files }: SlackMessage): readonly string[] {
  return (files ?? []).flatMap((file) => {
    const address = isElsewhere(file) ? (filled(file.external_url) ?? filled(file.url_private)) : undefined;
    return address === undefined ? [] : [`${nameOf(file)}: ${address.slice(0, 2_000)}`];
  });
}

/** Without it, lists lead to the inbox. */
async function urlOf(api: SlackApi): Promise<string | undefined> {
  try {
    return (await api.within(500).auth.test()).url;
  } catch {
    return undefined;
  }
}
