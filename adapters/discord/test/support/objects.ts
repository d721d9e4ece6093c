// Objects of Discord's API with each field that its description requires.

export interface FakeMessage {
  readonly id: string;
  readonly channel_id: string;
  readonly guild_id?: string;
  readonly type: number;
  content: string;
  readonly author: { readonly id: string; readonly username: string; readonly bot?: boolean };
  readonly timestamp: string;
  edited_timestamp: string | null;
  readonly mentions: readonly { readonly id: string; readonly username: string }[];
  readonly attachments: readonly FakeAttachment[];
  readonly message_snapshots?: readonly unknown[];
  readonly poll?: unknown;
  readonly nonce?: string;
  components?: readonly { readonly components: readonly { readonly custom_id: string; readonly label: string }[] }[];
}

export interface FakeAttachment {
  readonly id: string;
  readonly filename: string;
  readonly content_type: string;
  readonly size: number;
  readonly url: string;
}

interface Named {
  readonly id: string;
  readonly username: string;
  readonly bot?: boolean;
}

const userObject = (user: Named) => ({
  global_name: null,
  avatar: null,
  discriminator: "0",
  public_flags: 0,
  flags: 0,
  primary_guild: null,
  ...user,
});

/** The bot itself. */
export const ownUserObject = (bot: Named) => ({ ...userObject(bot), mfa_enabled: false, locale: "en-US" });

const attachmentObject = (file: FakeAttachment) => ({ proxy_url: file.url, ...file });

/** Discord numbers the components of a message. */
function numbered(components: NonNullable<FakeMessage["components"]>): readonly object[] {
  let id = 0;
  return components.map((row) => ({
    ...row,
    id: (id += 1),
    components: row.components.map((each) => ({ ...each, id: (id += 1) })),
  }));
}

/** `channelType`: of the message's channel. */
export const messageObject = (message: FakeMessage, channelType: number) => ({
  ...message,
  author: userObject(message.author),
  mentions: message.mentions.map(userObject),
  attachments: message.attachments.map(attachmentObject),
  components: numbered(message.components ?? []),
  channel_type: channelType,
  tts: false,
  mention_everyone: false,
  mention_roles: [],
  embeds: [],
  pinned: false,
  flags: 0,
});

/** The text and the files of a message that was forwarded. */
export const snapshotObject = (content: string, attachments: readonly FakeAttachment[]) => ({
  type: 0,
  content,
  attachments: attachments.map(attachmentObject),
  mentions: [],
  mention_roles: [],
  embeds: [],
  components: [],
  timestamp: new Date().toISOString(),
  edited_timestamp: null,
  flags: 0,
});

export interface FakeChannel {
  readonly type: number;
  readonly guild_id?: string;
  readonly parent_id?: string;
}

const directType = 1;
const threadType = 11;

/** `name`: of a channel of a server, or of a thread. `owner`: who began the thread, or the other person of a direct one. */
export function channelObject(id: string, channel: FakeChannel, name: string, owner: Named) {
  if (channel.type === directType)
    return { id, ...channel, last_message_id: null, flags: 0, recipients: [userObject(owner)] };
  if (channel.type !== threadType) return { id, ...channel, name, position: 0, flags: 0, permission_overwrites: [] };
  const thread_metadata = { archived: false, auto_archive_duration: 1_440, archive_timestamp: null, locked: false };
  const counts = { message_count: 0, member_count: 1, total_message_sent: 0 };
  return { id, ...channel, name, flags: 0, owner_id: owner.id, thread_metadata, ...counts };
}

export const serverObject = (server: { readonly id: string }) => ({
  name: "server",
  icon: null,
  banner: null,
  owner: false,
  permissions: "0",
  features: [],
  ...server,
});
