import type { FakeSlack } from "./fake-slack.ts";
import { escaped } from "./fake-messages.ts";

type Fields = Readonly<Record<string, unknown>>;
type Workspace = Pick<FakeSlack, "teamId" | "appId" | "botUserId" | "botId">;

let made = 0;

/** Wraps an event in an envelope with a new id. */
export function envelopeOf({ teamId, appId, botUserId }: Workspace, event: Fields, more: Fields = {}): Fields {
  made += 1;
  return {
    token: "not-used",
    team_id: teamId,
    context_team_id: teamId,
    context_enterprise_id: null,
    api_app_id: appId,
    type: "event_callback",
    event_id: `Ev${String(made).padStart(9, "0")}`,
    event_time: 1_934_000_000,
    authorizations: [
      { enterprise_id: null, team_id: teamId, user_id: botUserId, is_bot: true, is_enterprise_install: false },
    ],
    is_ext_shared_channel: false,
    event_context: "4-not-used",
    event,
    ...more,
  };
}

export interface MessageFields {
  readonly channel: string;
  readonly user: string;
  readonly ts: string;
  /** The writer's text; it is escaped as in Slack. */
  readonly text: string;
  readonly threadTs?: string;
  readonly more?: Fields;
}

/** A message in a direct conversation (D…) or a channel. */
export function messageEvent(workspace: Workspace, said: MessageFields): Fields {
  const { channel, user, ts, text, threadTs, more = {} } = said;
  return {
    type: "message",
    client_msg_id: `client-${ts}`,
    user,
    team: workspace.teamId,
    text: escaped(text),
    ts,
    channel,
    channel_type: channel.startsWith("D") ? "im" : "channel",
    event_ts: ts,
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    ...more,
  };
}

/** The second event that Slack sends for a message with a mention of the app. */
export function mentionEvent(workspace: Workspace, said: MessageFields): Fields {
  const { channel_type: _, ...fields } = messageEvent(workspace, said);
  return { ...fields, type: "app_mention" };
}

export function changedEvent(workspace: Workspace, said: MessageFields, editedTs: string): Fields {
  const { channel, channel_type: channelType, ...message } = messageEvent(workspace, said);
  return {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel,
    channel_type: channelType,
    ts: editedTs,
    event_ts: editedTs,
    message: { ...message, edited: { user: said.user, ts: editedTs } },
    previous_message: { ...message, text: "what it was" },
  };
}

export function deletedEvent(workspace: Workspace, said: MessageFields, deletedAt: string): Fields {
  const { channel, channel_type: channelType, ...message } = messageEvent(workspace, said);
  return {
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel,
    channel_type: channelType,
    ts: deletedAt,
    event_ts: deletedAt,
    deleted_ts: said.ts,
    previous_message: message,
  };
}

/** A person adds a reaction to a message, or removes it. Slack does not say in which thread the message is. */
export function reactionEvent(
  { botUserId }: Workspace,
  to: { readonly channel: string; readonly ts: string; readonly user: string; readonly at: string },
  reaction: string,
  isAdded = true,
): Fields {
  const { channel, ts, user, at } = to;
  return {
    type: isAdded ? "reaction_added" : "reaction_removed",
    user,
    reaction,
    item_user: botUserId,
    item: { type: "message", channel, ts },
    event_ts: at,
  };
}
