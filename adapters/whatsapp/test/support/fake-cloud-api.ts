import { createHash, createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { openFakeServer } from "#test/support/channels/fake-server.ts";

/** A message accepted by the fake. */
export interface Taken {
  readonly id: string;
  /** The customer's number or id. */
  readonly to: string;
  readonly type: string;
  /** The text, the caption, the text above buttons, or a template's variables in one line. */
  readonly body: string;
  readonly file: { readonly name: string; readonly mediaType: string; readonly bytes: Buffer } | undefined;
  /** The whole request. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The fault in the answer to a message. */
export type Fault =
  | {
      readonly kind: "error";
      readonly status?: number;
      readonly code: number;
      readonly subcode?: number;
      readonly details?: string;
      readonly retryAfterS?: number;
    }
  | { readonly kind: "html"; readonly status: number }
  /** Accepts the message and breaks the connection before the answer. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up" }
  | { readonly kind: "redirect"; readonly location: string };

export interface FakeCloudApi {
  readonly url: string;
  readonly accessToken: string;
  readonly appSecret: string;
  /** Settings for an account at this server. */
  readonly settings: Readonly<Record<string, string>>;
  readonly taken: readonly Taken[];
  /** Calls other than messages, such as `POST /102/register`, with their bodies. */
  readonly calls: readonly { readonly path: string; readonly body: unknown }[];
  /** The addresses that were called, with their queries. */
  readonly addresses: readonly string[];
  /** Typing indicators: the ids of the messages below which they were shown. */
  readonly typing: readonly string[];
  /** The number's state, for the check and the registration. */
  readonly number: {
    status: string;
    quality: string;
    pin: string | undefined;
    webhook: string | undefined;
    verifyToken: string | undefined;
    subscriptions: { readonly object: string }[];
    tokenExpiresAt: number;
  };
  /** Ids of media: the address that the API gives in place of its own. */
  readonly leads: Map<string, string>;
  /** Media types that an upload refuses. */
  readonly refusedTypes: Set<string>;
  fail(...faults: readonly Fault[]): void;
  /** Connects the program: its webhook and its clock. */
  connect(program: { readonly webhookUrl: string; now(): number }): void;
  /** Posts a delivery, signed with the app's secret or another one. Returns the status. */
  post(delivery: unknown, secret?: string): Promise<number>;
  /** A delivery with these messages of a customer. */
  delivery(value: object, phoneNumberId?: string): object;
  /** Delivers one message of a customer; `more`: fields beside those of a text. */
  write(from: string, text: string, more?: object): Promise<number>;
  /** Delivers a report on a message. */
  report(id: string, status: string, more?: object): Promise<number>;
  /** Stores a customer's file. Returns its id. */
  keep(bytes: Buffer, mediaType: string): string;
  newId(): string;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export const phoneNumberId = "106540352242922";
export const businessAccountId = "102290129340398";
const appId = "670843887433847";
const own = "15550783881";

type Json = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A fake of Meta's Cloud API, as strict as the real one in everything the adapter uses. */
export async function startFakeCloudApi(): Promise<FakeCloudApi> {
  const newId = (): string => `wamid.${randomBytes(24).toString("base64")}`;
  const accessToken = `EAA${randomBytes(24).toString("hex")}`;
  const appSecret = randomBytes(16).toString("hex");
  const proof = createHmac("sha256", appSecret).update(accessToken).digest("hex");
  const taken: Taken[] = [];
  const calls: { readonly path: string; readonly body: unknown }[] = [];
  const typing: string[] = [];
  const addresses: string[] = [];
  const faults: Fault[] = [];
  const files = new Map<string, { readonly bytes: Buffer; readonly mediaType: string }>();
  const leads = new Map<string, string>();
  const refusedTypes = new Set<string>();
  const number: FakeCloudApi["number"] = {
    status: "CONNECTED",
    quality: "GREEN",
    pin: undefined,
    webhook: undefined,
    verifyToken: undefined,
    subscriptions: [],
    tokenExpiresAt: 0,
  };
  let program = { webhookUrl: "", now: () => Date.now() };

  const refuse = (status: number, code: number, details: string, subcode?: number): Answer => ({
    status,
    body: {
      error: {
        message: `(#${code}) ${details}`,
        type: "OAuthException",
        code,
        ...(subcode === undefined ? {} : { error_subcode: subcode }),
        error_data: { messaging_product: "whatsapp", details },
        fbtrace_id: "Az8or2yhqkZfEZ-_4Qn_Bam",
      },
    },
  });
  const ok = (body: unknown = { success: true }): Answer => ({ status: 200, body });

  /** Asks the program for the challenge, as Meta does before it takes an address. */
  async function verified(address: unknown, token: unknown): Promise<boolean> {
    const challenge = String(Math.floor(Math.random() * 1e9));
    const query = new URLSearchParams({
      "hub.mode": "subscribe",
      "hub.verify_token": String(token),
      "hub.challenge": challenge,
    });
    const there = new URL(new URL(String(address)).pathname, program.webhookUrl || "http://127.0.0.1:1");
    const response = await fetch(`${there.href}?${query.toString()}`).catch(() => undefined);
    return response?.ok === true && (await response.text()) === challenge;
  }

  function fileIn(request: Json, type: string): Taken["file"] {
    const { id, filename } = (request[type] ?? {}) as { readonly id?: string; readonly filename?: string };
    const stored = id === undefined ? undefined : files.get(id);
    return stored === undefined ? undefined : { name: filename ?? "", ...stored };
  }

  function bodyIn(request: Json, type: string): string | undefined {
    const { body, caption, components } = request[type] as {
      readonly body?: string | { readonly text: string };
      readonly caption?: string;
      readonly components?: readonly { readonly parameters: readonly { readonly text: string }[] }[];
    };
    if (type !== "template") return (typeof body === "object" ? body.text : body) ?? caption ?? "";
    const texts = (components ?? []).flatMap(({ parameters }) => parameters.map(({ text }) => text));
    return texts.some((text) => /\s{2}|\n/.test(text)) ? undefined : texts.join(" | ");
  }

  function mistakeIn(request: Json, type: string, body: string): string | undefined {
    if (request["messaging_product"] !== "whatsapp") return "messaging_product is required";
    if (type === "text" && (body === "" || body.length > 4_096)) return "Param text['body'] must be 1 to 4096 long";
    if (["image", "video", "document"].includes(type) && body.length > 1_024) return "Caption is too long";
    if (type === "audio" && body !== "") return "Audio has no caption";
    if (type === "reaction") {
      const { message_id: id, emoji } = request["reaction"] as Json;
      if (typeof id !== "string" || !id.startsWith("wamid.")) return "reaction.message_id is not valid";
      return typeof emoji === "string" && /^(?:\p{RGI_Emoji})?$/v.test(emoji)
        ? undefined
        : "reaction.emoji is not valid";
    }
    if (type !== "interactive") return undefined;
    const { action } = request["interactive"] as {
      readonly action: {
        readonly buttons?: readonly { readonly reply: { readonly id: string; readonly title: string } }[];
        readonly button?: string;
        readonly sections?: readonly { readonly rows: readonly { readonly id: string; readonly title: string }[] }[];
      };
    };
    const rows = action.sections?.flatMap((section) => section.rows) ?? [];
    const titles = action.buttons?.map(({ reply }) => reply.title) ?? [];
    if (body === "" || body.length > 1_024) return "Body text must be 1 to 1024 long";
    if (titles.length > 3 || new Set(titles).size < titles.length) return "Invalid buttons count, or titles";
    if (titles.some((title) => title === "" || title.length > 20)) return "Button title is too long";
    if (rows.length > 10 || rows.some(({ title }) => title.length > 24)) return "Invalid rows";
    if (titles.length + rows.length === 0 || (action.button ?? "x").length > 20) return "Invalid action";
    return undefined;
  }

  function take(request: Json): Taken | Answer {
    const { type, to, recipient } = request as Readonly<Record<string, string | undefined>>;
    if (to !== undefined && !/^[1-9][0-9]{6,14}$/.test(to)) return refuse(400, 131_009, "to is not valid");
    const address = to ?? recipient;
    if (type === undefined || address === undefined) return refuse(400, 131_008, "a parameter is missing");
    const body = bodyIn(request, type);
    if (body === undefined) return refuse(400, 132_012, "Parameter format does not match");
    const mistake = mistakeIn(request, type, body);
    if (mistake !== undefined) return refuse(400, 131_009, mistake);
    const file = fileIn(request, type);
    if (["image", "video", "audio", "document"].includes(type) && file === undefined) {
      return refuse(400, 131_009, "the media id is unknown");
    }
    const message = { id: newId(), to: address, type, body, file, request };
    taken.push(message);
    return message;
  }

  function answerToMessage(request: Json, hangUp: () => void): Answer | undefined {
    if (request["status"] === "read") {
      typing.push(String(request["message_id"]));
      return ok();
    }
    const fault = faults.shift();
    if (fault?.kind === "error") {
      const { status = 400, code, subcode, details = "refused", retryAfterS } = fault;
      const headers = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
      return { ...refuse(status, code, details, subcode), headers };
    }
    if (fault?.kind === "html") return { status: fault.status, body: "<html>Bad Gateway</html>" };
    if (fault?.kind === "redirect") return { status: 307, body: "", headers: { location: fault.location } };
    const message = fault?.kind === "hang_up" ? undefined : take(request);
    if (fault !== undefined) {
      hangUp();
      return undefined;
    }
    if (message === undefined || !("id" in message)) return message;
    const contacts = [{ input: message.to, wa_id: message.to }];
    return ok({ messaging_product: "whatsapp", contacts, messages: [{ id: message.id }] });
  }

  function upload(type: string, raw: Buffer): Answer {
    const boundary = /boundary=(\S+)/.exec(type)?.[1] ?? "";
    const parts = raw.toString("latin1").split(`--${boundary}`);
    const partOf = (name: string) => parts.find((each) => each.includes(`name="${name}"`));
    const contentOf = (part: string | undefined) => part?.slice(part.indexOf("\r\n\r\n") + 4, -2);
    const [product, mediaType, file] = ["messaging_product", "type", "file"].map((name) => contentOf(partOf(name)));
    if (product !== "whatsapp" || mediaType === undefined || file === undefined) {
      return refuse(400, 100, "The parameters messaging_product, type and file are required.");
    }
    if (refusedTypes.has(mediaType)) return refuse(400, 100, "Param file must be a file with one of these types");
    return ok({ id: keep(Buffer.from(file, "latin1"), mediaType) });
  }

  function keep(bytes: Buffer, mediaType: string): string {
    const id = String(3_000_000_000 + files.size);
    files.set(id, { bytes, mediaType });
    return id;
  }

  function about(): Answer {
    const { status, quality, webhook } = number;
    return ok({
      id: phoneNumberId,
      verified_name: "Harbour Lamps",
      display_phone_number: "+1 555-078-3881",
      quality_rating: quality,
      status,
      webhook_configuration: {
        ...(webhook === undefined ? {} : { phone_number: webhook }),
        application: "https://app.example/hook",
      },
    });
  }

  function media(id: string): Answer {
    const stored = files.get(id);
    if (stored === undefined) return refuse(400, 100, "Object does not exist", 33);
    const sha256 = createHash("sha256").update(stored.bytes).digest("hex");
    const address = leads.get(id) ?? `${url}/whatsapp_business/attachments/?mid=${id}`;
    return ok({ url: address, mime_type: stored.mediaType, sha256, file_size: stored.bytes.length, id });
  }

  async function answerTo(request: IncomingMessage, raw: Buffer): Promise<Answer | undefined> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = pathname.replace(/^\/v\d+\.\d\//, "");
    const what = `${request.method} ${path}`;
    if (what === `POST ${phoneNumberId}/media`) return upload(request.headers["content-type"] ?? "", raw);
    const body = (raw.length === 0 ? {} : JSON.parse(raw.toString("utf8"))) as Json;
    if (what === `POST ${phoneNumberId}/messages`) return answerToMessage(body, () => request.socket.destroy());
    if (request.method === "POST") calls.push({ path, body });
    switch (what) {
      case `GET ${phoneNumberId}`:
        return about();
      case `POST ${phoneNumberId}`: {
        const { override_callback_uri: address, verify_token: token } = body["webhook_configuration"] as Json;
        if (!(await verified(address, token))) return refuse(400, 100, "The callback could not be validated");
        Object.assign(number, { webhook: address, verifyToken: token });
        return ok();
      }
      case `POST ${phoneNumberId}/register`:
        if (body["pin"] !== number.pin) return refuse(400, 133_005, "Two-step verification PIN mismatch");
        number.status = "CONNECTED";
        return ok();
      case `POST ${businessAccountId}/subscribed_apps`:
        return ok();
      case "GET debug_token":
        return ok({ data: { app_id: appId, is_valid: true, expires_at: number.tokenExpiresAt } });
      case `GET ${appId}/subscriptions`:
        return ok({ data: number.subscriptions });
      case `POST ${appId}/subscriptions`:
        if (!(await verified(body["callback_url"], body["verify_token"]))) return refuse(400, 2_200, "not validated");
        number.subscriptions.push({ object: String(body["object"]) });
        return ok();
      default:
        return request.method === "GET" && /^\d+$/.test(path)
          ? media(path)
          : refuse(400, 100, `Unsupported request. Object with ID ${path} does not exist`, 33);
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const given = request.headers.authorization;
    addresses.push(request.url ?? "");
    if (pathname === "/whatsapp_business/attachments/") {
      const stored = files.get(searchParams.get("mid") ?? "");
      if (stored === undefined || given !== `Bearer ${accessToken}`) response.writeHead(401).end();
      else response.writeHead(200, { "content-type": stored.mediaType }).end(stored.bytes);
      return;
    }
    const ofApp = given === `Bearer ${appId}|${appSecret}`;
    const ofNumber = given === `Bearer ${accessToken}`;
    const isAllowed = pathname.endsWith("/subscriptions") ? ofApp : ofNumber;
    const answer = !isAllowed
      ? refuse(401, 190, "Invalid OAuth access token - Cannot parse access token")
      : ofNumber && searchParams.get("appsecret_proof") !== proof
        ? refuse(400, 100, "Invalid appsecret_proof provided in the API argument")
        : await answerTo(request, Buffer.concat(chunks));
    if (answer === undefined) return;
    const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers }).end(text);
  }

  const server = await openFakeServer(() =>
    createServer((request, response) => {
      serve(request, response).catch(() => response.destroy());
    }),
  );
  const url = `http://127.0.0.1:${server.port}`;

  const delivery = (value: object, id = phoneNumberId): object => ({
    object: "whatsapp_business_account",
    entry: [
      {
        id: businessAccountId,
        changes: [
          {
            field: "messages",
            value: {
              messaging_product: "whatsapp",
              metadata: { display_phone_number: own, phone_number_id: id },
              ...value,
            },
          },
        ],
      },
    ],
  });

  async function post(body: unknown, secret = appSecret): Promise<number> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signature = createHmac("sha256", secret).update(text).digest("hex");
    const response = await fetch(program.webhookUrl, {
      method: "POST",
      headers: { "content-type": "application/json", "x-hub-signature-256": `sha256=${signature}` },
      body: text,
    });
    await response.text();
    return response.status;
  }
  const time = (): string => String(Math.floor(program.now() / 1_000));

  return {
    url,
    accessToken,
    appSecret,
    settings: {
      provider: "meta",
      phone_number_id: phoneNumberId,
      access_token: accessToken,
      app_secret: appSecret,
      base_url: url,
    },
    taken,
    calls,
    typing,
    addresses,
    number,
    leads,
    refusedTypes,
    fail: (...next) => void faults.push(...next),
    connect: (to) => void (program = { webhookUrl: to.webhookUrl, now: () => to.now() }),
    post,
    delivery,
    write: (from, text, more = {}) =>
      post(
        delivery({
          contacts: [{ profile: { name: "Ada" }, wa_id: from }],
          messages: [{ from, id: newId(), timestamp: time(), type: "text", text: { body: text }, ...more }],
        }),
      ),
    report(id, status, more = {}) {
      const message = taken.find((each) => each.id === id);
      if (message === undefined) throw new Error(`there is no message ${id}`);
      const { to, request } = message;
      const { biz_opaque_callback_data } = request;
      const item = { id, status, timestamp: time(), recipient_id: to, biz_opaque_callback_data, ...more };
      return post(delivery({ statuses: [item] }));
    },
    keep,
    newId,
    goAway: server.goAway,
    comeBack: server.comeBack,
    close: server.close,
  };
}
