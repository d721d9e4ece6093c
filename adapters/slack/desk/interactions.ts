import type { ViewSubmitAction } from "@slack/bolt";
import type { ChannelHost } from "#channels/contract.ts";
import type { DeskAsk, DeskHost } from "#channels/desk/contract.ts";
import type { SlackApi } from "../client.ts";
import type { SlackApp } from "../deliveries/listeners.ts";
import type { Interaction } from "../deliveries/payloads.ts";
import { filled } from "../deliveries/payloads.ts";
import { failureOf } from "../errors.ts";
import { redraw } from "../messages/buttons.ts";
import { messageIdOf } from "../messages/thread.ts";
import type { Json } from "./card.ts";
import { parseBlockId } from "./card.ts";
import { chooseAction, parseChoice } from "./choices.ts";
import { placeIn } from "./desk.ts";
import type { Dialog, DialogSubject } from "./dialogs.ts";
import { callbackIdOf, dialogs, dialogView, readDialog, sayingView, subjectOf, wrongField } from "./dialogs.ts";

export interface InteractionDependencies {
  readonly api: SlackApi;
  readonly host: Pick<ChannelHost, "clock" | "log">;
  readonly desk: DeskHost;
}

/** Slack opens a dialog only within three seconds of the click. */
const dialogMs = 2_500;

/** The snooze menu's options, by value; "pick" opens a dialog. */
const snoozeOptions: ReadonlyMap<string, Extract<DeskAsk, { kind: "snooze" }>["until"]> = new Map([
  ["h1", { kind: "hours", hours: 1 }],
  ["morning", { kind: "morning" }],
  ["reply", { kind: "reply" }],
]);

/** Listens to clicks on the desk's buttons and menus, submitted dialogs, and the shortcut on a message. */
export function listenToInteractions(app: SlackApp, { api, host, desk }: InteractionDependencies): void {
  function open(dialog: Dialog, subject: DialogSubject, interaction: Interaction): Promise<void> {
    return show(api, host, dialogView(dialog, subject, host.clock.now()), interaction);
  }

  async function ask(
    { user: { id: by } }: Interaction,
    externalId: string,
    { conversationId, seen, place }: DialogSubject,
    request: DeskAsk,
  ): Promise<void> {
    await desk.accept({ kind: "asked", externalId, by, place, conversationId, ask: request, seen });
  }

  /** Listens to a button or menu of cards. */
  function onCard(
    id: string,
    act: (subject: DialogSubject, interaction: Interaction, click: ReturnType<typeof clickIn>) => Promise<void>,
  ): void {
    app.action(id, async ({ context: { interaction } }) => {
      const click = clickIn(interaction, desk);
      const on = parseBlockId(click.blockId);
      if (on !== undefined) await act({ ...on, place: click.place }, interaction, click);
    });
  }

  for (const kind of ["claim", "release", "resolve", "archive", "reopen"] as const) {
    onCard(`parley_${kind}`, (subject, interaction, { externalId }) => ask(interaction, externalId, subject, { kind }));
  }
  onCard("parley_note", (subject, interaction) => open("note", subject, interaction));
  onCard("parley_tag", async (subject, interaction) => {
    const tags = (await desk.conversation(subject.conversationId))?.tags ?? [];
    await open("tag", { ...subject, tags }, interaction);
  });
  onCard("parley_snooze", async (subject, interaction, { option, externalId }) => {
    if (option === "pick") return open("snooze", subject, interaction);
    const until = snoozeOptions.get(option);
    return until && ask(interaction, externalId, subject, { kind: "snooze", until });
  });
  app.action(new RegExp(`^${chooseAction}`), async ({ context: { interaction } }) => {
    const { actionId, by, externalId, place, blockId } = clickIn(interaction, desk);
    const chosen = parseChoice(blockId, actionId);
    if (chosen === undefined) return;
    await desk.accept({ kind: "chose", externalId, by, place, ...chosen });
    // If this fails, a second answer does no harm.
    await redraw(api, host, interaction, { delete_original: true });
  });

  for (const dialog of dialogs) {
    app.view<ViewSubmitAction>(callbackIdOf(dialog), async ({ context: { interaction }, ack }) => {
      const { view } = interaction;
      const subject = subjectOf(view?.private_metadata);
      if (subject === undefined) return;
      const read = readDialog(dialog, subject, view?.state?.values, host.clock.now());
      const externalId = `view:${filled(view?.id) ?? ""}`.slice(0, 180);
      if (read.kind === "wrong") await ack(wrongField(read.message));
      if (read.kind === "ask") await ask(interaction, externalId, subject, read.ask);
      if (read.kind !== "send") return;
      const { conversationId, place, messageId = "" } = subject;
      const by = interaction.user.id;
      await desk.accept({ kind: "chose", externalId, by, place, conversationId, messageId, choice: "send" });
    });
  }

  /** Listens to a shortcut on a message of a thread. `refusal`: the text for a message that it does not fit. */
  function onMessage(
    dialog: "message" | "reply",
    refusal: string,
    conversationIdOf: (post: string, root: string) => Promise<string | null>,
  ): void {
    const of = { type: "message_action", callback_id: callbackIdOf(dialog) } as const;
    app.shortcut(of, async ({ context: { interaction } }) => {
      const ts = filled(interaction.message?.ts);
      const channelId = filled(interaction.channel?.id);
      if (ts === undefined || channelId === undefined) return;
      const root = filled(interaction.message?.thread_ts) ?? ts;
      const messageId = messageIdOf(channelId, ts);
      const found = await conversationIdOf(messageId, messageIdOf(channelId, root));
      const conversation = found === null ? null : await desk.conversation(found);
      if (conversation === null) return show(api, host, sayingView(refusal), interaction);
      const { id: conversationId, status, assignee } = conversation;
      const seen = { status, assignedTo: assignee?.email ?? null };
      return open(dialog, { conversationId, seen, place: placeIn(channelId, root), messageId }, interaction);
    });
  }

  // The shortcut on a thread's message exists because a slash command does not get its thread.
  onMessage("message", "This message is in no thread of a conversation.", (_post, root) => desk.conversationOf(root));
  onMessage("reply", "This is no message of a conversation: a reply needs one that the customer can see.", (post) =>
    desk.conversationOfPost(post),
  );
}

function clickIn({ actions, user, container, message, channel }: Interaction, desk: DeskHost) {
  const [action] = actions ?? [];
  const actionId = filled(action?.action_id) ?? "";
  const by = user.id;
  const externalId = `click:${by}:${filled(action?.action_ts) ?? ""}:${actionId}`.slice(0, 180);
  const channelId = filled(container?.channel_id) ?? filled(channel?.id) ?? desk.channels[0] ?? "";
  const root = filled(container?.thread_ts) ?? filled(message?.thread_ts) ?? filled(container?.message_ts);
  const option = filled(action?.selected_option?.value) ?? "";
  const blockId = filled(action?.block_id) ?? "";
  return { actionId, by, externalId, place: placeIn(channelId, root), option, blockId };
}

/** Opens a dialog. A failure loses nothing: the agent clicks again. */
async function show(
  api: SlackApi,
  { log }: Pick<ChannelHost, "log">,
  view: Json,
  { trigger_id: trigger }: Interaction,
): Promise<void> {
  try {
    await api.within(dialogMs).views.open({ trigger_id: filled(trigger) ?? "", view: view as never });
  } catch (error) {
    log.warn({ failure: failureOf(error) }, "slack: opening a dialog failed");
  }
}
