import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { openFakeServer } from "#test/support/channels/fake-server.ts";
import type { FakeBusiness } from "./fake-business.ts";
import { createFakeBusiness } from "./fake-business.ts";

/** A message in a chat of the fake. */
export interface Shown {
  readonly chatId: number;
  readonly messageId: number;
  readonly text: string;
  readonly entities: readonly {
    readonly type: string;
    readonly offset: number;
    readonly length: number;
    readonly url?: string;
  }[];
  readonly topicId: number | undefined;
  /** The business account that has the chat; absent for the bot's own chats. */
  readonly ownerId?: number;
  /** If set, the text is the file's caption. */
  readonly file?: { readonly name: string; readonly mediaType: string; readonly bytes: Buffer; readonly how: string };
  /** The row of buttons below the message; absent: none. */
  readonly buttons?: readonly { readonly text: string; readonly callback_data: string }[];
}

/** A failure of one call. */
export type Fault =
  | {
      readonly kind: "error";
      readonly code: number;
      readonly description: string;
      readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
    }
  /** Executes the call, then closes the connection without a response. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up" }
  | { readonly kind: "html"; readonly status: number };

export interface FakeTelegram {
  readonly url: string;
  readonly token: string;
  readonly botId: number;
  readonly username: string;
  readonly shown: readonly Shown[];
  readonly actions: readonly {
    readonly chatId: number;
    readonly action: string;
    readonly topicId: number | undefined;
    readonly ownerId?: number;
  }[];
  /** The bot's reactions, by chat and message, such as `7:1`. */
  readonly reactions: ReadonlyMap<string, string>;
  readonly webhook: { readonly url: string; readonly secret: string } | undefined;
  readonly business: FakeBusiness;
  /** Whether accounts may connect the bot. */
  businessMode: boolean;
  /** The bodies of a method's calls, in order. */
  calls(method: string): readonly Readonly<Record<string, unknown>>[];
  /** Faults for the next calls of this method, one each. */
  fail(method: string, ...faults: readonly Fault[]): void;
  /** Stores a customer's file; returns its id. `ending`: the extension of its path. */
  keep(bytes: Buffer, ending?: string, id?: string): string;
  /** Changes the bot's username. */
  rename(username: string): void;
  /** Turns a group into a supergroup with another id. */
  upgrade(chatId: number, toChatId: number): void;
  /** Adds an update, which polls return until it is confirmed. */
  queue(update: Readonly<Record<string, unknown>>): void;
  /** Ids of the unconfirmed updates. */
  unconfirmed(): readonly number[];
  /** Closes the server and all connections. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

const textMax = 4_096;
const captionMax = 1_024;
const entitiesMax = 100;
const callbackBytesMax = 64;
/** Some of the emoji that a chat allows without settings of its own. */
const allowedReactions: ReadonlySet<string> = new Set(["👍", "👎", "❤", "🔥", "🎉", "🙏", "👌", "👀"]);
const fetchedBytesMax = 20_000_000;

/** A server of the Bot API, as strict as the real one where the adapter relies on it. */
export async function startFakeTelegram(now: () => number = Date.now): Promise<FakeTelegram> {
  const botId = 7_000_000_000 + Math.floor(Math.random() * 1_000_000);
  const token = `${botId}:${randomBytes(24).toString("base64url")}`;
  let username = "parley_test_bot";
  let businessMode = false;
  const business = createFakeBusiness(now);
  const shown: Shown[] = [];
  const actions: FakeTelegram["actions"][number][] = [];
  const reactions = new Map<string, string>();
  const called = new Map<string, Record<string, unknown>[]>();
  const faults = new Map<string, Fault[]>();
  const files = new Map<string, { readonly bytes: Buffer; readonly path: string }>();
  const upgraded = new Map<number, number>();
  let updates: { readonly update_id: number }[] = [];
  let waiting: (() => void)[] = [];
  let webhook: { url: string; secret: string } | undefined;
  let nextMessage = 50_000;

  type Result = { readonly ok: true; readonly result: unknown } | Extract<Fault, { kind: "error" }>;
  const ok = (result: unknown): Result => ({ ok: true, result });
  const refuse = (code: number, description: string): Result => ({ kind: "error", code, description });

  async function run(method: string, body: Record<string, unknown>, socket: Socket): Promise<Result> {
    const refusal = business.refusalOf(method, body);
    if (refusal !== undefined) return refuse(400, `Bad Request: ${refusal}`);
    switch (method) {
      case "getMe":
        return ok({
          id: botId,
          is_bot: true,
          first_name: "Parley",
          username,
          can_connect_to_business: businessMode,
        });
      case "getBusinessConnection": {
        const connection = business.get(body["business_connection_id"]);
        return connection === undefined ? refuse(400, "Bad Request: business connection not found") : ok(connection);
      }
      case "deleteBusinessMessages":
        return deleteBusinessMessages(body);
      case "setWebhook": {
        const { url, secret_token: secret } = body;
        if (typeof url !== "string" || typeof secret !== "string" || !/^[A-Za-z0-9_-]{1,256}$/.test(secret)) {
          return refuse(400, "Bad Request: secret token contains unallowed characters");
        }
        webhook = url === "" ? undefined : { url, secret };
        return ok(true);
      }
      case "deleteWebhook":
        webhook = undefined;
        return ok(true);
      case "getWebhookInfo":
        return ok({ url: webhook?.url ?? "", has_custom_certificate: false, pending_update_count: updates.length });
      case "getUpdates":
        return getUpdates(body, socket);
      case "sendChatAction":
        actions.push({
          chatId: Number(body["chat_id"]),
          action: String(body["action"]),
          topicId: topicOf(body),
          ...ownerIn(body),
        });
        return ok(true);
      case "sendMessage":
        return sendMessage(body);
      case "sendPhoto":
        return sendFile(body, "photo");
      case "sendDocument":
        return sendFile(body, "document");
      case "editMessageText":
        return edit(body, "text");
      case "editMessageCaption":
        return edit(body, "caption");
      case "editMessageReplyMarkup": {
        const at = shown.findIndex((each) => isAt(each, body));
        const before = shown[at];
        if (before === undefined) return refuse(400, "Bad Request: message to edit not found");
        const after = { ...before, ...buttonsIn(body) };
        if (JSON.stringify(after) === JSON.stringify(before))
          return refuse(400, "Bad Request: message is not modified");
        shown[at] = after;
        return ok(true);
      }
      case "setMessageReaction":
        return setReaction(body);
      case "answerCallbackQuery":
        return ok(true);
      case "deleteMessage": {
        const at = shown.findIndex((each) => isAt(each, body));
        if (at === -1) return refuse(400, "Bad Request: message to delete not found");
        shown.splice(at, 1);
        return ok(true);
      }
      case "getFile": {
        const file = files.get(String(body["file_id"]));
        if (file === undefined) return refuse(400, "Bad Request: invalid file_id");
        if (file.bytes.length > fetchedBytesMax) return refuse(400, "Bad Request: file is too big");
        return ok({ file_id: body["file_id"], file_unique_id: file.path, file_path: file.path });
      }
      default:
        return refuse(404, "Not Found");
    }
  }

  const topicOf = (body: Record<string, unknown>): number | undefined =>
    body["message_thread_id"] === undefined ? undefined : Number(body["message_thread_id"]);

  function ownerIn(body: Record<string, unknown>): Pick<Shown, "ownerId"> {
    const ownerId = business.ownerOf(body);
    return ownerId === undefined ? {} : { ownerId };
  }

  /** Messages that are gone already are skipped. */
  function deleteBusinessMessages(body: Record<string, unknown>): Result {
    const ids = body["message_ids"] as readonly number[];
    for (const id of ids) {
      const at = shown.findIndex(({ messageId, ownerId }) => messageId === id && ownerId === business.ownerOf(body));
      if (at !== -1) shown.splice(at, 1);
    }
    return ok(true);
  }

  /** The buttons of a call; a form has them as a text. */
  function buttonsIn({ reply_markup: given }: Record<string, unknown>): Pick<Shown, "buttons"> {
    if (given === undefined) return {};
    const markup = typeof given === "string" ? (JSON.parse(given) as unknown) : given;
    const [buttons = []] = (markup as { readonly inline_keyboard: Required<Pick<Shown, "buttons">>["buttons"][] })
      .inline_keyboard;
    return { buttons };
  }

  function sendMessage(body: Record<string, unknown>): Result {
    const { chat_id: chatId, text } = body;
    if (typeof chatId !== "number" || !Number.isSafeInteger(chatId)) return refuse(400, "Bad Request: chat not found");
    if (typeof text !== "string" || text.trim() === "") return refuse(400, "Bad Request: message text is empty");
    if (text.length > textMax) return refuse(400, "Bad Request: message is too long");
    const entities = (body["entities"] ?? []) as Shown["entities"];
    const bad = entities.find(({ offset, length }) => offset < 0 || length < 1 || offset + length > text.length);
    if (bad !== undefined) return refuse(400, "Bad Request: can't parse entities: out of range");
    const dead = entities.find(({ url }) => url !== undefined && !/^https?:\/\/[^/]*[.:][^/]*/.test(url));
    if (dead !== undefined) return refuse(400, `Bad Request: can't parse entities: URL '${dead.url}' is invalid`);
    const message = {
      chatId,
      messageId: (nextMessage += 1),
      text,
      entities: entities.slice(0, entitiesMax),
      topicId: topicOf(body),
      ...ownerIn(body),
      ...buttonsIn(body),
    };
    if (message.buttons?.some(({ callback_data: data }) => Buffer.byteLength(data) > callbackBytesMax) === true) {
      return refuse(400, "Bad Request: BUTTON_DATA_INVALID");
    }
    shown.push(message);
    return ok({ message_id: message.messageId, date: 0, chat: { id: chatId, type: "private" }, text });
  }

  const isAt = ({ chatId, messageId, ownerId }: Shown, body: Record<string, unknown>): boolean =>
    chatId === Number(body["chat_id"]) &&
    messageId === Number(body["message_id"]) &&
    ownerId === business.ownerOf(body);

  /** A bot has at most one reaction at a message. */
  function setReaction(body: Record<string, unknown>): Result {
    const at = `${Number(body["chat_id"])}:${Number(body["message_id"])}`;
    const given = (body["reaction"] ?? []) as readonly { readonly type: string; readonly emoji: string }[];
    if (!Number.isSafeInteger(body["message_id"])) return refuse(400, "Bad Request: MESSAGE_ID_INVALID");
    if (given.length > 1) return refuse(400, "Bad Request: REACTIONS_TOO_MANY");
    const [first] = given;
    if (first === undefined) reactions.delete(at);
    else if (first.type !== "emoji" || !allowedReactions.has(first.emoji)) {
      return refuse(400, "Bad Request: REACTION_INVALID");
    } else reactions.set(at, first.emoji);
    return ok(true);
  }

  function edit(body: Record<string, unknown>, field: "text" | "caption"): Result {
    const at = shown.findIndex((each) => isAt(each, body));
    const before = shown[at];
    if (before === undefined) return refuse(400, "Bad Request: message to edit not found");
    const text = textIn(body, field) ?? "";
    if (field === "caption" && before.file === undefined) {
      return refuse(400, "Bad Request: there is no caption in the message to edit");
    }
    if (field === "text" && before.file !== undefined) {
      return refuse(400, "Bad Request: there is no text in the message to edit");
    }
    if (before.text === text) return refuse(400, "Bad Request: message is not modified");
    const { buttons: _, ...rest } = before;
    shown[at] = { ...rest, text, ...buttonsIn(body) };
    return ok(true);
  }

  function sendFile(body: Record<string, unknown>, field: "photo" | "document"): Result {
    const chatId = Number(body["chat_id"]);
    const caption = textIn(body, "caption") ?? "";
    if (!Number.isSafeInteger(chatId)) return refuse(400, "Bad Request: chat not found");
    if (caption.length > captionMax) return refuse(400, "Bad Request: message caption is too long");
    const given = body["__file"] as
      | { readonly name: string; readonly type: string; readonly bytes: Buffer }
      | undefined;
    if (given === undefined || given.bytes.length === 0) return refuse(400, "Bad Request: file must be non-empty");
    const entities = JSON.parse(textIn(body, "caption_entities") ?? "[]") as Shown["entities"];
    const messageId = (nextMessage += 1);
    const file = { name: given.name, mediaType: given.type, bytes: given.bytes, how: field };
    const at = { chatId, messageId, topicId: topicOf(body), ...ownerIn(body) };
    shown.push({ ...at, text: caption, entities, file, ...buttonsIn(body) });
    return ok({ message_id: messageId, date: 0, chat: { id: chatId, type: "private" } });
  }

  async function getUpdates({ offset, timeout = 0 }: Record<string, unknown>, socket: Socket): Promise<Result> {
    if (webhook !== undefined) return refuse(409, "Conflict: can't use getUpdates method while webhook is active");
    if (typeof offset === "number") updates = updates.filter(({ update_id: id }) => id >= offset);
    if (updates.length === 0 && Number(timeout) > 0) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        socket.once("close", resolve);
      });
    }
    return ok(updates.slice(0, 100));
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, prefix = "", method = ""] = (request.url ?? "").split("/");
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (prefix === "file" && method === `bot${token}`) {
      const path = decodeURIComponent((request.url ?? "").split("/").slice(3).join("/"));
      const file = [...files.values()].find((each) => each.path === path);
      const fault = faults.get("file")?.shift();
      if (fault?.kind === "html" || file === undefined) {
        response.writeHead(fault?.kind === "html" ? fault.status : 404).end();
        return;
      }
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(file.bytes);
      return;
    }
    if (prefix !== `bot${token}`) return answer(401, { ok: false, error_code: 401, description: "Unauthorized" });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const type = request.headers["content-type"] ?? "";
    const body =
      raw.length === 0
        ? {}
        : type.startsWith("multipart/")
          ? formOf(raw, type)
          : (JSON.parse(raw.toString("utf8")) as Record<string, unknown>);
    called.set(method, [...(called.get(method) ?? []), body]);
    const fault = faults.get(method)?.shift();
    if (fault?.kind === "html") {
      response.writeHead(fault.status, { "content-type": "text/html" }).end("<html>Bad Gateway</html>");
      return;
    }
    if (fault?.kind === "hang_up") {
      request.socket.destroy();
      return;
    }
    const movedTo = upgraded.get(Number(body["chat_id"]));
    const result =
      fault?.kind === "error"
        ? fault
        : movedTo === undefined
          ? await run(method, body, request.socket)
          : movedError(movedTo);
    if (fault?.kind === "hang_up_after_commit") {
      request.socket.destroy();
      return;
    }
    if ("result" in result) return answer(200, result);
    const { code, description, parameters } = result;
    answer(code, { ok: false, error_code: code, description, ...(parameters === undefined ? {} : { parameters }) });
  }

  const server = await openFakeServer(() =>
    createServer((request, response) => {
      serve(request, response).catch(() => response.destroy());
    }),
  );

  return {
    url: `http://127.0.0.1:${server.port}`,
    token,
    botId,
    get username() {
      return username;
    },
    business,
    get businessMode() {
      return businessMode;
    },
    set businessMode(isOn) {
      businessMode = isOn;
    },
    rename: (name) => void (username = name),
    shown,
    actions,
    reactions,
    get webhook() {
      return webhook;
    },
    keep(bytes, ending = "", id = `AgAC${randomBytes(12).toString("hex")}`) {
      files.set(id, { bytes, path: `documents/file_${files.size}${ending}` });
      return id;
    },
    upgrade: (chatId, toChatId) => void upgraded.set(chatId, toChatId),
    calls: (method) => called.get(method) ?? [],
    fail: (method, ...next) => void faults.set(method, [...(faults.get(method) ?? []), ...next]),
    queue(update) {
      updates.push(update as { readonly update_id: number });
      for (const wake of waiting.splice(0)) wake();
    },
    unconfirmed: () => updates.map(({ update_id: id }) => id),
    goAway: server.goAway,
    comeBack: server.comeBack,
    async close() {
      waiting = [];
      await server.close();
    },
  };
}

const movedError = (toChatId: number): Extract<Fault, { kind: "error" }> => ({
  kind: "error",
  code: 400,
  description: "Bad Request: group chat was upgraded to a supergroup chat",
  parameters: { migrate_to_chat_id: toChatId },
});

function textIn(body: Record<string, unknown>, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" ? value : undefined;
}

/** The fields and the file of a form. Names may lack quotation marks, as on the real server. */
function formOf(bytes: Buffer, contentType: string): Record<string, unknown> {
  const mark = Buffer.from(`--${/boundary="?([^";]+)/.exec(contentType)?.[1] ?? ""}`);
  const fields: Record<string, unknown> = {};
  for (let at = bytes.indexOf(mark); at !== -1;) {
    const next = bytes.indexOf(mark, at + mark.length);
    if (next === -1) break;
    const part = bytes.subarray(at + mark.length + 2, next - 2);
    const bodyAt = part.indexOf("\r\n\r\n");
    const head = part.subarray(0, bodyAt).toString("utf8");
    const body = part.subarray(bodyAt + 4);
    const name = /;\s*name="?([^";\r\n]+)/.exec(head)?.[1] ?? "";
    const file = /;\s*filename="?([^";\r\n]+)/.exec(head)?.[1];
    if (file === undefined) fields[name] = body.toString("utf8");
    else fields["__file"] = { name: file, type: "application/octet-stream", bytes: Buffer.from(body) };
    at = next;
  }
  return fields;
}
