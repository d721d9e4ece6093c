import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FakeAssistantThreads } from "./fake-assistant.ts";
import { assistantKey, assistantScopes, runAssistantMethod } from "./fake-assistant.ts";
import type { FakeFile, FakeMessage } from "./fake-messages.ts";
import { blocksMistake } from "./fake-messages.ts";

export interface FakeUser {
  readonly id: string;
  readonly name: string;
  readonly teamId: string;
  readonly email?: string;
  readonly emailConfirmed?: boolean;
  readonly isBot?: boolean;
  readonly isRestricted?: boolean;
  readonly isStranger?: boolean;
  readonly timeZone?: string;
}

export interface FakeChannel {
  readonly id: string;
  /** `group`: a private channel. `mpim`: several people with each other. */
  readonly kind: "im" | "channel" | "group" | "mpim";
  readonly name: string;
  archived: boolean;
  /** Whether the app is in it. */
  member: boolean;
  /** The members; undefined: all users. */
  people?: readonly string[];
}

export interface FakeEphemeral {
  readonly channel: string;
  readonly user: string;
  readonly text: string;
  readonly threadTs: string | undefined;
  readonly blocks: readonly unknown[];
}

interface Upload {
  readonly name: string;
  readonly length: number;
  readonly bytes: Buffer | undefined;
}

/** The contents of a Slack workspace. Tests add users and channels, and inspect the result. */
export interface Workspace {
  readonly botToken: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly teamId: string;
  readonly appId: string;
  /** The app's granted scopes. */
  readonly scopes: string[];
  readonly users: Map<string, FakeUser>;
  readonly channels: Map<string, FakeChannel>;
  readonly messages: FakeMessage[];
  readonly files: Map<string, FakeFile>;
  readonly uploads: Map<string, Upload>;
  /** Threads that users opened in the assistant view. */
  readonly assistantThreads: FakeAssistantThreads;
  /** The opened views, in order. */
  readonly views: unknown[];
  /** Messages that only one person sees. */
  readonly ephemerals: FakeEphemeral[];
  readonly reactions: { readonly channel: string; readonly ts: string; readonly name: string }[];
  /** Sets the clock, in epoch milliseconds; by default the machine's. */
  follow(clock: () => number): void;
  /** A time stamp later than all others. */
  nextTs(): string;
}

/** The app is created from the published manifest. */
const [, listed = ""] =
  /\n *bot:\n((?: +- [^\n]+\n)+)/.exec(readFileSync(new URL("../../manifest-desk.yaml", import.meta.url), "utf8")) ??
  [];
export const manifestScopes: readonly string[] = listed
  .trim()
  .split(/\s*- /)
  .filter((scope) => scope !== "");

/** The scope of a call, by Slack's reference. */
function scopeOf({ channels }: Workspace, method: string, body: Body): string | undefined {
  const kind = channels.get(body["channel"] ?? "")?.kind ?? "channel";
  const family = { im: "im", channel: "channels", group: "groups", mpim: "mpim" }[kind];
  switch (method) {
    case "conversations.replies":
    case "conversations.history":
      return `${family}:history`;
    case "conversations.info":
    case "conversations.members":
      return `${family}:read`;
    case "users.info":
    case "bots.info":
      return "users:read";
    case "files.info":
      return "files:read";
    default:
      if (method.startsWith("chat.")) return "chat:write";
      if (method.startsWith("files.")) return "files:write";
      return method.startsWith("reactions.") ? "reactions:write" : undefined;
  }
}

export function createWorkspace(): Workspace {
  const messages: FakeMessage[] = [];
  let ticks = 0;
  let now: () => number = Date.now;
  return {
    botToken: `xoxb-${randomBytes(6).toString("hex")}-${randomBytes(12).toString("hex")}`,
    botUserId: "U0BOT0001",
    botId: "B0BOT0001",
    teamId: "T0TEAM001",
    appId: "A0APP0001",
    scopes: [...manifestScopes],
    users: new Map(),
    channels: new Map(),
    messages,
    files: new Map(),
    uploads: new Map(),
    assistantThreads: new Map(),
    views: [],
    ephemerals: [],
    reactions: [],
    follow(clock) {
      now = clock;
    },
    nextTs: () => `${Math.floor(now() / 1_000)}.${String((ticks += 1)).padStart(6, "0")}`,
  };
}

type Body = Readonly<Record<string, string>>;
type Answer = Readonly<Record<string, unknown>>;

const refuse = (error: string): Answer => ({ ok: false, error });

/** Slack truncates longer texts with a warning. */
const textMax = 40_000;

/** One call of the Web API by the bot. */
export function runMethod(workspace: Workspace, method: string, body: Body, url: string): Answer {
  const { scopes, assistantThreads: threads } = workspace;
  const permitting = assistantScopes(method);
  if (permitting !== undefined) {
    if (!permitting.some((scope) => scopes.includes(scope)))
      return { ok: false, error: "missing_scope", needed: permitting[0] };
    const error = runAssistantMethod(threads, (id) => workspace.channels.has(id), method, body);
    return error === undefined ? { ok: true } : refuse(error);
  }
  const needed = scopeOf(workspace, method, body);
  if (needed !== undefined && !scopes.includes(needed)) {
    return { ok: false, error: "missing_scope", needed, provided: scopes.join(",") };
  }
  switch (method) {
    case "auth.test":
      return {
        ok: true,
        url: "https://shop.slack.example/",
        team: "Shop",
        user: "parley",
        team_id: workspace.teamId,
        user_id: workspace.botUserId,
        bot_id: workspace.botId,
        is_enterprise_install: false,
      };
    case "bots.info":
      if (body["bot"] !== workspace.botId) return refuse("bot_not_found");
      return { ok: true, bot: { id: workspace.botId, deleted: false, name: "parley", app_id: workspace.appId } };
    case "chat.postMessage":
      return postMessage(workspace, body);
    case "chat.postEphemeral": {
      const channel = writable(workspace, body);
      if (typeof channel === "string") return refuse(channel);
      const { user = "", text = "", thread_ts: threadTs } = body;
      const blocks = JSON.parse(body["blocks"] ?? "[]") as unknown[];
      const mistake = blocksMistake(blocks);
      if (mistake !== undefined) return refuse(mistake);
      workspace.ephemerals.push({ channel: channel.id, user, text, threadTs, blocks });
      return { ok: true, message_ts: workspace.nextTs() };
    }
    case "chat.update":
      return updateMessage(workspace, body);
    case "chat.delete": {
      const message = ownMessage(workspace, body);
      if (typeof message === "string") return refuse(message);
      message.deleted = true;
      return { ok: true, channel: message.channel, ts: message.ts };
    }
    case "conversations.replies":
    case "conversations.history":
      return history(workspace, method === "conversations.replies", body);
    case "conversations.info": {
      const channel = workspace.channels.get(body["channel"] ?? "");
      if (channel === undefined) return refuse("channel_not_found");
      const { id, name, kind, archived, member } = channel;
      return { ok: true, channel: { id, name, is_im: kind === "im", is_archived: archived, is_member: member } };
    }
    case "conversations.members":
      return membersOf(workspace, body);
    case "users.info": {
      const user = workspace.users.get(body["user"] ?? "");
      return user === undefined ? refuse("user_not_found") : { ok: true, user: describeUser(user, scopes) };
    }
    case "files.getUploadURLExternal": {
      const { filename = "", length = "0" } = body;
      if (filename === "" || Number(length) <= 0) return refuse("invalid_arguments");
      const id = `F${randomBytes(5).toString("hex").toUpperCase()}`;
      workspace.uploads.set(id, { name: filename, length: Number(length), bytes: undefined });
      return { ok: true, upload_url: `${url.replace(/\/api$/, "")}/upload/${id}`, file_id: id };
    }
    case "files.completeUploadExternal":
      return completeUpload(workspace, body);
    case "files.info": {
      const file = workspace.files.get(body["file"] ?? "");
      if (file === undefined) return refuse("file_not_found");
      return { ok: true, file: { ...describeFile(file, url), shares: sharesOf(workspace, file) } };
    }
    case "files.delete": {
      const { file: id = "" } = body;
      if (!workspace.files.delete(id)) return refuse("file_not_found");
      return { ok: true };
    }
    case "views.open": {
      if ((body["trigger_id"] ?? "") === "") return refuse("invalid_trigger_id");
      const view: unknown = JSON.parse(body["view"] ?? "null");
      workspace.views.push(view);
      return { ok: true, view: { id: `V${workspace.views.length}` } };
    }
    case "reactions.add":
    case "reactions.remove":
      return react(workspace, method === "reactions.add", body);
    default:
      return refuse("unknown_method");
  }
}

function membersOf({ channels, users }: Workspace, body: Body): Answer {
  const { channel: id = "", limit = "100", cursor = "0" } = body;
  const channel = channels.get(id);
  if (channel === undefined) return refuse("channel_not_found");
  if (Number(limit) > 999) return refuse("invalid_limit");
  const all = channel.people ?? [...users.keys()];
  const from = Number(cursor);
  const members = all.slice(from, from + Number(limit));
  const next = from + members.length < all.length ? String(from + members.length) : "";
  return { ok: true, members, response_metadata: { next_cursor: next } };
}

function react({ messages, reactions }: Workspace, add: boolean, body: Body): Answer {
  const { channel = "", timestamp = "", name = "" } = body;
  if (!messages.some((each) => each.channel === channel && each.ts === timestamp && !each.deleted)) {
    return refuse("message_not_found");
  }
  const at = reactions.findIndex((each) => each.channel === channel && each.ts === timestamp && each.name === name);
  if (add && at >= 0) return refuse("already_reacted");
  if (!add && at < 0) return refuse("no_reaction");
  if (add) reactions.push({ channel, ts: timestamp, name });
  else reactions.splice(at, 1);
  return { ok: true };
}

function describeUser(user: FakeUser, scopes: readonly string[]): Answer {
  const email = scopes.includes("users:read.email") ? user.email : undefined;
  const { id, name, teamId, emailConfirmed = true, isBot = false, isRestricted = false } = user;
  return {
    id,
    team_id: teamId,
    name: name.toLowerCase().replaceAll(" ", "."),
    real_name: name,
    deleted: false,
    is_bot: isBot,
    is_restricted: isRestricted,
    is_ultra_restricted: false,
    is_stranger: user.isStranger ?? false,
    is_email_confirmed: emailConfirmed,
    ...(user.timeZone === undefined ? {} : { tz: user.timeZone }),
    profile: { display_name: name, real_name: name, ...(email === undefined ? {} : { email }), team: teamId },
  };
}

export function describeFile(file: FakeFile, url: string): Answer {
  const address = `${url.replace(/\/api$/, "")}/files/${file.id}/${file.secret}`;
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    mimetype: file.mimetype,
    size: file.bytes.length,
    mode: "hosted",
    is_external: false,
    url_private: address,
    url_private_download: address,
  };
}

/** A file's messages, by channel. */
function sharesOf({ messages }: Workspace, { id }: FakeFile): Answer {
  const shares = messages.filter((each) => !each.deleted && each.files.some((file) => file.id === id));
  const byChannel = Map.groupBy(shares, ({ channel }) => channel);
  return { public: Object.fromEntries([...byChannel].map(([channel, of]) => [channel, of.map(({ ts }) => ({ ts }))])) };
}

/** The channel of a post, or the error code if the app may not write in it. */
function writable(workspace: Workspace, body: Body): FakeChannel | string {
  const channel = workspace.channels.get(body["channel"] ?? body["channel_id"] ?? "");
  if (channel === undefined) return "channel_not_found";
  if (channel.archived) return "is_archived";
  return channel.member ? channel : "not_in_channel";
}

function postMessage(workspace: Workspace, body: Body): Answer {
  const channel = writable(workspace, body);
  if (typeof channel === "string") return refuse(channel);
  const blocks = JSON.parse(body["blocks"] ?? "[]") as unknown[];
  const text = body["text"] ?? "";
  if (text === "" && blocks.length === 0) return refuse("no_text");
  const mistake = blocksMistake(blocks);
  if (mistake !== undefined) return refuse(mistake);
  const root = workspace.messages.find((each) => each.channel === channel.id && each.ts === body["thread_ts"]);
  if (root?.deleted === true) return refuse("thread_not_found");
  const message: FakeMessage = {
    channel: channel.id,
    ts: workspace.nextTs(),
    threadTs: body["thread_ts"],
    user: undefined,
    text: text.slice(0, textMax),
    blocks,
    metadata: body["metadata"] === undefined ? undefined : JSON.parse(body["metadata"]),
    files: [],
    deleted: false,
  };
  workspace.messages.push(message);
  const thread = workspace.assistantThreads.get(assistantKey(channel.id, message.threadTs));
  if (thread !== undefined) thread.status = "";
  return { ok: true, channel: channel.id, ts: message.ts, message: describeMessage(workspace, message, false) };
}

function ownMessage(workspace: Workspace, body: Body): FakeMessage | string {
  const { channel = "", ts = "" } = body;
  const found = workspace.messages.find((each) => each.channel === channel && each.ts === ts && !each.deleted);
  if (found === undefined) return "message_not_found";
  return found.user === undefined ? found : "cant_update_message";
}

function updateMessage(workspace: Workspace, body: Body): Answer {
  const message = ownMessage(workspace, body);
  if (typeof message === "string") return refuse(message);
  const blocks = JSON.parse(body["blocks"] ?? "[]") as unknown[];
  const mistake = blocksMistake(blocks);
  if (mistake !== undefined) return refuse(mistake);
  message.text = body["text"] ?? "";
  message.blocks = blocks;
  if (body["metadata"] !== undefined) message.metadata = JSON.parse(body["metadata"]);
  return { ok: true, channel: message.channel, ts: message.ts, text: message.text };
}

/** Pages of a thread start with its oldest message, pages of a channel with its newest. */
function history(workspace: Workspace, inThread: boolean, body: Body): Answer {
  const {
    channel = "",
    ts,
    include_all_metadata: withMetadata = "false",
    limit = "100",
    cursor = "0",
    oldest = "0",
  } = body;
  const place = workspace.channels.get(channel);
  if (place === undefined) return refuse("channel_not_found");
  if (!place.member) return refuse("not_in_channel");
  if (inThread && workspace.messages.some((each) => each.channel === channel && each.ts === ts && each.deleted)) {
    return refuse("thread_not_found");
  }
  const all = workspace.messages.filter(
    (each) => each.channel === channel && !each.deleted && (each.ts === ts || Number(each.ts) > Number(oldest)),
  );
  const selected = inThread
    ? all.filter((each) => each.ts === ts || each.threadTs === ts)
    : all.filter((each) => each.threadTs === undefined || each.threadTs === each.ts).toReversed();
  const from = Number(cursor);
  const page = selected.slice(from, from + Number(limit));
  const next = from + page.length < selected.length ? String(from + page.length) : "";
  return {
    ok: true,
    messages: page.map((each) => describeMessage(workspace, each, withMetadata === "true")),
    has_more: next !== "",
    response_metadata: { next_cursor: next },
  };
}

function describeMessage(workspace: Workspace, message: FakeMessage, withMetadata: boolean): Answer {
  const { ts, threadTs, user, text, blocks, metadata, files } = message;
  return {
    type: "message",
    ts,
    text,
    blocks,
    team: workspace.teamId,
    ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
    ...(user === undefined
      ? { user: workspace.botUserId, bot_id: workspace.botId, app_id: workspace.appId }
      : { user }),
    ...(withMetadata && metadata !== undefined ? { metadata } : {}),
    ...(files.length === 0 ? {} : { files: files.map(({ id, name, title }) => ({ id, name, title })) }),
  };
}

function completeUpload(workspace: Workspace, body: Body): Answer {
  const channel = writable(workspace, body);
  if (typeof channel === "string") return refuse(channel);
  const named = JSON.parse(body["files"] ?? "[]") as { readonly id: string; readonly title?: string }[];
  const files: FakeFile[] = [];
  for (const { id, title } of named) {
    const upload = workspace.uploads.get(id);
    if (upload?.bytes === undefined) return refuse("file_not_found");
    const { name, bytes } = upload;
    const file = { id, name, title: title ?? name, mimetype: "application/octet-stream", bytes, secret: "s" };
    workspace.files.set(id, file);
    files.push(file);
  }
  if (files.length === 0) return refuse("invalid_arguments");
  workspace.messages.push({
    channel: channel.id,
    ts: workspace.nextTs(),
    threadTs: body["thread_ts"],
    user: undefined,
    text: body["initial_comment"] ?? "",
    blocks: JSON.parse(body["blocks"] ?? "[]") as unknown[],
    metadata: undefined,
    files,
    deleted: false,
  });
  return { ok: true, files: files.map(({ id, title }) => ({ id, title })) };
}
