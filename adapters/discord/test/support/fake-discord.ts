import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import { channelObject, messageObject, ownUserObject, serverObject, snapshotObject } from "./objects.ts";
import type { FakeAttachment, FakeMessage } from "./objects.ts";
import { openFakeServer } from "#test/support/channels/fake-server.ts";

export type { FakeAttachment, FakeMessage } from "./objects.ts";

/** A failure of one call. */
export type Fault =
  | { readonly kind: "error"; readonly status: number; readonly code: number; readonly message: string }
  | { readonly kind: "limit"; readonly retryAfterS: number }
  /** Executes the call, then closes the connection without a response. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up" };

export interface FakeDiscord {
  readonly url: string;
  readonly gatewayUrl: string;
  readonly token: string;
  readonly botId: string;
  readonly guildId: string;
  /** The servers that the bot is on, as the API lists them. */
  readonly servers: { id: string }[];
  /** The server's text channel. */
  readonly guildChannel: string;
  /** The private channel of a customer with the bot. */
  direct(customer: string): string;
  newId(): string;
  /** A channel's messages, oldest first. */
  messages(channelId: string): readonly FakeMessage[];
  bytesOf(file: FakeAttachment): Buffer;
  calls(route: string): readonly Readonly<Record<string, unknown>>[];
  /** A customer writes. The message is in the channel's history even if the bot is not connected. */
  write(message: {
    readonly channelId: string;
    readonly text: string;
    readonly from: string;
    readonly id?: string;
    readonly mentionsBot?: boolean;
    readonly files?: readonly { readonly name: string; readonly type: string; readonly bytes: Buffer }[];
    /** The text and the files are those of a forwarded message. */
    readonly isForwarded?: boolean;
    /** The message that this one answers. */
    readonly answers?: FakeMessage;
    readonly poll?: unknown;
  }): FakeMessage;
  /** A customer presses a button of one of the bot's messages; absent: its first one. */
  press(message: FakeMessage, from: string, customId?: string): void;
  /** A customer adds a reaction to a message, or removes it. `emoji`: a name of letters is one of the server's own. */
  react(message: FakeMessage, from: string, emoji: string, isAdded?: boolean): void;
  /** The bot's reactions to a message. */
  reactions(messageId: string): readonly string[];
  edit(message: FakeMessage, text: string): void;
  erase(message: FakeMessage): void;
  /** Sends a packet to all connections. */
  dispatch(type: string, data: unknown): void;
  /** Faults for the next calls that send a message, one each. */
  fail(...faults: readonly Fault[]): void;
  /** Faults for the next calls that edit a message, one each. */
  failChange(...faults: readonly Fault[]): void;
  connected(): boolean;
  /** The number of sessions started; resumed ones do not count. */
  sessions(): number;
  /** Closes all connections; `expire`: the sessions cannot be resumed. */
  drop(options?: { readonly expire?: boolean; readonly code?: number }): void;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const contentMax = 2_000;
const epochMs = 1_420_070_400_000;

/** Discord's API and gateway, as strict as the real ones where the adapter relies on it. */
export async function startFakeDiscord(
  options: { readonly intents?: "all" | "unprivileged" } = {},
): Promise<FakeDiscord> {
  let lastId = BigInt(Date.now() - epochMs) << 22n;
  const newId = (): string => String((lastId += 1n));
  const botId = newId();
  const guildId = newId();
  const servers = [{ id: guildId }];
  const guildChannel = newId();
  const token = `${Buffer.from(botId).toString("base64url")}.${randomBytes(4).toString("base64url")}.${randomBytes(27).toString("base64url")}`;
  const channels = new Map<string, { readonly type: number; readonly guild_id?: string; readonly parent_id?: string }>([
    [guildChannel, { type: 0, guild_id: guildId }],
  ]);
  const people = new Map<string, { readonly userId: string; readonly channelId: string }>();
  const histories = new Map<string, FakeMessage[]>();
  const files = new Map<string, Buffer>();
  /** The message whose button was pressed, by interaction and token. */
  const presses = new Map<string, string>();
  const reactions = new Map<string, Set<string>>();
  const called = new Map<string, Record<string, unknown>[]>();
  const faults: Fault[] = [];
  const changeFaults: Fault[] = [];
  const open = new Set<WebSocket>();
  const sessions = new Map<
    string,
    { seq: number; readonly intents: number; missed: { readonly t: string; readonly d: unknown; readonly s: number }[] }
  >();
  const live = new Map<WebSocket, string>();
  let begun = 0;
  let port = 0;

  const person = (customer: string) => {
    const known = people.get(customer) ?? { userId: newId(), channelId: newId() };
    people.set(customer, known);
    if (!channels.has(known.channelId)) channels.set(known.channelId, { type: 1 });
    return known;
  };
  const history = (channelId: string): FakeMessage[] => {
    const known = histories.get(channelId) ?? [];
    histories.set(channelId, known);
    return known;
  };
  const url = (): string => `http://127.0.0.1:${port}/api`;
  const gatewayUrl = (): string => `ws://127.0.0.1:${port}/gateway`;

  function dispatch(t: string, d: unknown): void {
    const isOfServer = (d as { readonly guild_id?: unknown }).guild_id !== undefined;
    const needed = t.startsWith("MESSAGE_REACTION_") ? 1 << (isOfServer ? 10 : 13) : 0;
    for (const [id, session] of sessions) {
      if ((session.intents & needed) !== needed) continue;
      const packet = { t, d, s: (session.seq += 1) };
      const [socket] = [...live].find(([, of]) => of === id) ?? [];
      session.missed.push(packet);
      socket?.send(JSON.stringify({ op: 0, ...packet }));
    }
  }

  const bot = { id: botId, username: "parley", bot: true };
  const packetOf = (message: FakeMessage) => messageObject(message, channels.get(message.channel_id)?.type ?? 0);

  // -- the API --

  type Answer = { readonly status: number; readonly body?: unknown };
  const refuse = (status: number, code: number, message: string): Answer => ({ status, body: { code, message } });

  function run(method: string, path: string, query: URLSearchParams, body: Record<string, unknown>): Answer {
    const [, first = "", id = "", what = "", second = "", more = ""] = path.split("/");
    if (path === "/gateway/bot") {
      const session_start_limit = { total: 1_000, remaining: 999, reset_after: 1_000, max_concurrency: 16 };
      return { status: 200, body: { url: gatewayUrl(), shards: 1, session_start_limit } };
    }
    if (path === "/users/@me") return { status: 200, body: ownUserObject(bot) };
    if (path === "/users/@me/guilds") return { status: 200, body: servers.map(serverObject) };
    if (path === "/applications/@me") {
      return { status: 200, body: { id: botId, flags: options.intents === "unprivileged" ? 0 : 1 << 19 } };
    }
    if (first === "interactions") {
      const pressed = [...histories.values()].flat().find((each) => each.id === presses.get(`${id}/${what}`));
      // An interaction is acknowledged once: with the message as it is, or with new buttons.
      if (pressed === undefined || !presses.delete(`${id}/${what}`)) return refuse(404, 10_062, "Unknown interaction");
      if (body["type"] === 7) pressed.components = (body["data"] as { components: [] }).components;
      else if (body["type"] !== 6) return refuse(400, 50_035, "Invalid Form Body");
      return { status: 204 };
    }
    const channel = channels.get(id);
    if (first !== "channels" || channel === undefined) return refuse(404, 10_003, "Unknown Channel");
    if (what === "") return { status: 200, body: channelObject(id, channel, "channel", bot) };
    if (what === "typing") return { status: 204 };
    const known = history(id);
    if (second === "" && method === "GET") {
      const after = BigInt(query.get("after") ?? "0");
      const found = known.filter((each) => BigInt(each.id) > after).slice(0, Number(query.get("limit") ?? "50"));
      return { status: 200, body: found.toReversed().map(packetOf) };
    }
    if (second === "") return post(id, body);
    const message = known.find((each) => each.id === second);
    if (message === undefined) return refuse(404, 10_008, "Unknown Message");
    if (more === "threads") {
      if (channels.has(second)) return refuse(400, 160_004, "A thread has already been created for this message");
      const thread = { type: 11, guild_id: guildId, parent_id: id };
      channels.set(second, thread);
      return { status: 201, body: channelObject(second, thread, String(body["name"]), bot) };
    }
    if (more === "reactions") return changeReaction(method, second, path);
    if (method === "GET") return { status: 200, body: packetOf(message) };
    if (message.author.id !== botId) return refuse(403, 50_005, "Cannot edit a message authored by another user");
    if (method === "DELETE") {
      known.splice(known.indexOf(message), 1);
      return { status: 204 };
    }
    message.content = String(body["content"]);
    message.edited_timestamp = new Date().toISOString();
    return { status: 200, body: packetOf(message) };
  }

  function changeReaction(method: string, messageId: string, path: string): Answer {
    const [, encoded = ""] = /\/reactions\/([^/]+)\/@me$/.exec(path) ?? [];
    const emoji = decodeURIComponent(encoded);
    if (!/^\p{RGI_Emoji}$/v.test(emoji)) return refuse(400, 10_014, "Unknown Emoji");
    const own = reactions.get(messageId) ?? new Set();
    reactions.set(messageId, own);
    if (method === "PUT") own.add(emoji);
    else if (method === "DELETE") own.delete(emoji);
    else return refuse(405, 0, "405: Method Not Allowed");
    return { status: 204 };
  }

  function post(channelId: string, body: Record<string, unknown>): Answer {
    const { content = "", nonce, allowed_mentions: allowed } = body;
    const uploads = (body["files"] ?? []) as readonly FakeAttachment[];
    if (typeof content !== "string" || content.length > contentMax) return refuse(400, 50_035, "Invalid Form Body");
    if (content.trim() === "" && uploads.length === 0) return refuse(400, 50_006, "Cannot send an empty message");
    if (typeof nonce === "string" && nonce.length > 25) return refuse(400, 50_035, "Invalid Form Body");
    if (JSON.stringify(allowed) !== JSON.stringify({ parse: [], replied_user: false })) {
      return refuse(400, 50_035, "the bot would call somebody");
    }
    const known = history(channelId);
    const before = known.find((each) => nonce !== undefined && each.nonce === nonce);
    const message: FakeMessage = before ?? {
      id: newId(),
      channel_id: channelId,
      type: 0,
      content,
      author: bot,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      mentions: [],
      attachments: uploads,
      ...(Array.isArray(body["components"]) ? { components: body["components"] as [] } : {}),
      ...(typeof nonce === "string" ? { nonce } : {}),
    };
    if (before === undefined) known.push(message);
    return { status: 200, body: packetOf(message) };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = new URL(request.url ?? "/", "http://fake");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = ({ status, body }: Answer, headers: Readonly<Record<string, string>> = {}): void => {
      // Discord sends no content type without a body.
      const type = body === undefined ? {} : { "content-type": "application/json" };
      response.writeHead(status, { ...type, ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    const file = files.get(address.pathname);
    if (file !== undefined) {
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(file);
      return;
    }
    if (request.headers.authorization !== `Bot ${token}`) return answer(refuse(401, 0, "401: Unauthorized"));
    const path = address.pathname.replace(/^\/api\/v10/, "");
    const method = request.method ?? "GET";
    const body = await bodyOf(Buffer.concat(chunks), request.headers["content-type"] ?? "");
    const route = `${method} ${path.replaceAll(/[0-9]{17,}/g, ":id").replace(/^(\/interactions\/:id)\/[^/]+/, "$1/:token")}`;
    called.set(route, [...(called.get(route) ?? []), body]);
    const fault =
      route === "POST /channels/:id/messages"
        ? faults.shift()
        : route === "PATCH /channels/:id/messages/:id"
          ? changeFaults.shift()
          : undefined;
    if (fault?.kind === "error") return answer(refuse(fault.status, fault.code, fault.message));
    if (fault?.kind === "limit") {
      const seconds = fault.retryAfterS;
      const headers = { "x-ratelimit-scope": "user", "retry-after": String(seconds) };
      return answer(
        { status: 429, body: { code: 0, message: "slow down", retry_after: seconds, global: false } },
        headers,
      );
    }
    if (fault?.kind === "hang_up") {
      request.socket.destroy();
      return;
    }
    const result = run(method, path, address.searchParams, body);
    if (fault?.kind === "hang_up_after_commit") {
      request.socket.destroy();
      return;
    }
    answer(result);
  }

  async function bodyOf(bytes: Buffer, type: string): Promise<Record<string, unknown>> {
    if (bytes.length === 0) return {};
    if (!type.startsWith("multipart/")) return JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
    const uploads: FakeAttachment[] = [];
    for (const [, value] of form) {
      if (typeof value === "string") continue;
      uploads.push(addFile({ name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) }));
    }
    const payload = form.get("payload_json");
    return { ...(typeof payload === "string" ? (JSON.parse(payload) as object) : {}), files: uploads };
  }

  function addFile({ name, type, bytes }: { readonly name: string; readonly type: string; readonly bytes: Buffer }) {
    const id = newId();
    const path = `/attachments/${id}/${encodeURIComponent(name)}`;
    files.set(path, bytes);
    const address = `http://127.0.0.1:${port}${path}?ex=1&is=2&hm=3`;
    return { id, filename: name, content_type: type, size: bytes.length, url: address };
  }

  // -- the gateway --

  function talk(socket: WebSocket): void {
    open.add(socket);
    socket.on("close", () => {
      open.delete(socket);
      live.delete(socket);
    });
    const send = (op: number, d: unknown = null, more: object = {}): void =>
      socket.send(JSON.stringify({ op, d, ...more }));
    send(10, { heartbeat_interval: 45_000 });
    socket.on("message", (data: Buffer) => {
      const { op, d } = JSON.parse(data.toString("utf8")) as { op: number; d: Record<string, unknown> };
      if (op === 1) send(11);
      if (op === 2) {
        if (d["token"] !== token) return socket.close(4_004, "Authentication failed.");
        if (options.intents === "unprivileged" && (Number(d["intents"]) & (1 << 15)) !== 0) {
          return socket.close(4_014, "Disallowed intent(s).");
        }
        begun += 1;
        const id = randomBytes(8).toString("hex");
        sessions.clear();
        sessions.set(id, { seq: 1, intents: Number(d["intents"]), missed: [] });
        live.set(socket, id);
        const user = { id: botId, username: "parley", discriminator: "0", bot: true };
        const ready = {
          v: 10,
          user,
          guilds: [],
          session_id: id,
          resume_gateway_url: gatewayUrl(),
          application: { id: botId, flags: 0 },
        };
        send(0, ready, { t: "READY", s: 1 });
      }
      if (op === 6) {
        const id = String(d["session_id"]);
        const session = sessions.get(id);
        if (session === undefined) return send(9, false);
        live.set(socket, id);
        for (const packet of session.missed.filter(({ s }) => s > Number(d["seq"]))) {
          socket.send(JSON.stringify({ op: 0, ...packet }));
        }
        send(0, {}, { t: "RESUMED", s: (session.seq += 1) });
      }
      return undefined;
    });
  }

  const server = await openFakeServer(() => {
    const made = createServer((request, response) => {
      serve(request, response).catch(() => response.destroy());
    });
    const gateway = new WebSocketServer({ server: made, path: "/gateway" });
    gateway.on("connection", talk);
    return made;
  });
  ({ port } = server);

  return {
    url: url(),
    gatewayUrl: gatewayUrl(),
    token,
    botId,
    guildId,
    servers,
    guildChannel,
    direct: (customer) => person(customer).channelId,
    newId,
    messages: (channelId) => history(channelId),
    bytesOf: ({ url: address }) => files.get(new URL(address).pathname) ?? Buffer.alloc(0),
    calls: (route) => called.get(route) ?? [],
    write({
      channelId,
      text,
      from,
      id = newId(),
      mentionsBot = false,
      files: sent = [],
      isForwarded = false,
      answers,
      poll,
    }) {
      const known = history(channelId).find((each) => each.id === id);
      const guild = channels.get(channelId)?.guild_id;
      const attachments = sent.map(addFile);
      const message: FakeMessage = known ?? {
        id,
        channel_id: channelId,
        ...(guild === undefined ? {} : { guild_id: guild }),
        type: answers === undefined ? 0 : 19,
        content: isForwarded ? "" : text,
        author: { id: person(from).userId, username: from },
        timestamp: new Date().toISOString(),
        edited_timestamp: null,
        mentions: mentionsBot ? [{ id: botId, username: "parley" }] : [],
        attachments: isForwarded ? [] : attachments,
        ...(isForwarded ? { message_snapshots: [{ message: snapshotObject(text, attachments) }] } : {}),
        ...(answers === undefined
          ? {}
          : {
              message_reference: { type: 0, message_id: answers.id, channel_id: answers.channel_id },
              referenced_message: answers,
            }),
        ...(poll === undefined ? {} : { poll }),
      };
      if (known === undefined) history(channelId).push(message);
      dispatch("MESSAGE_CREATE", packetOf(message));
      return message;
    },
    press({ id: messageId, channel_id: channelId, components }, from, customId) {
      const [id, pressToken] = [newId(), randomBytes(20).toString("base64url")];
      const guild = channels.get(channelId)?.guild_id;
      const presser = { id: person(from).userId, username: from };
      presses.set(`${id}/${pressToken}`, messageId);
      dispatch("INTERACTION_CREATE", {
        id,
        token: pressToken,
        application_id: botId,
        version: 1,
        type: 3,
        channel_id: channelId,
        channel: { id: channelId, type: channels.get(channelId)?.type ?? 0 },
        ...(guild === undefined ? { user: presser } : { guild_id: guild, member: { user: presser, roles: [] } }),
        message: { id: messageId, ...(components === undefined ? {} : { components }) },
        data: { component_type: 2, custom_id: customId ?? components?.[0]?.components[0]?.custom_id ?? "" },
      });
    },
    react({ id, channel_id, guild_id, author }, from, emoji, isAdded = true) {
      const user = { id: person(from).userId, username: from };
      const isOwn = /^\w+$/.test(emoji);
      const guild = guild_id ?? channels.get(channel_id)?.guild_id;
      // Discord names the member when a reaction is added only.
      dispatch(isAdded ? "MESSAGE_REACTION_ADD" : "MESSAGE_REACTION_REMOVE", {
        user_id: user.id,
        channel_id,
        message_id: id,
        ...(guild === undefined ? {} : { guild_id: guild, ...(isAdded ? { member: { user, roles: [] } } : {}) }),
        emoji: { id: isOwn ? newId() : null, name: emoji },
        ...(isAdded ? { message_author_id: author.id } : {}),
        burst: false,
        type: 0,
      });
    },
    reactions: (messageId) => [...(reactions.get(messageId) ?? [])],
    edit(message, text) {
      message.content = text;
      message.edited_timestamp = new Date().toISOString();
      dispatch("MESSAGE_UPDATE", packetOf(message));
    },
    erase(message) {
      const known = history(message.channel_id);
      known.splice(known.indexOf(message), 1);
      const { id, channel_id, guild_id } = message;
      dispatch("MESSAGE_DELETE", { id, channel_id, ...(guild_id === undefined ? {} : { guild_id }) });
    },
    dispatch,
    fail: (...next) => void faults.push(...next),
    failChange: (...next) => void changeFaults.push(...next),
    connected: () => live.size > 0,
    sessions: () => begun,
    drop({ expire = false, code } = {}) {
      if (expire) sessions.clear();
      for (const socket of open) {
        if (code === undefined) socket.terminate();
        else socket.close(code);
      }
      live.clear();
    },
    goAway: server.goAway,
    comeBack: server.comeBack,
    close: server.close,
  };
}
