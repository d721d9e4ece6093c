import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { signatureOf } from "../../webhook.ts";
import type { FakeConversation, FakePart, Person } from "./fake-conversations.ts";
import { asIntercomWrites, createConversations, htmlOf, payloadOf } from "./fake-conversations.ts";
import { openFakeServer } from "#test/support/channels/fake-server.ts";

/** The fault in the answer to a changing request. */
export type Fault =
  | { readonly kind: "error"; readonly status: number; readonly code: string; readonly message: string }
  | { readonly kind: "limit"; readonly seconds: number }
  | { readonly kind: "html"; readonly status: number }
  /** Applies the change and breaks the connection before the answer. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up_before_commit" };

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The JSON that Intercom posts. */
export type Notification = Readonly<Record<string, unknown>>;

export interface FakeIntercom {
  readonly url: string;
  readonly token: string;
  readonly clientSecret: string;
  readonly appId: string;
  /** Parley's teammate, and a person. */
  readonly bot: Person;
  readonly carla: Person;
  readonly team: { readonly id: string; readonly name: string };
  readonly workspace: {
    region: string;
    identityVerification: boolean;
    seat: boolean;
    /** The search compares days and does not sort. */
    searchesByDay: boolean;
    /** The limit of the page size. */
    pageMax: number;
  };
  readonly conversations: ReadonlyMap<string, FakeConversation>;
  /** All requests of the program, oldest first. */
  readonly calls: readonly Call[];
  /** Notifications of all events. The test delivers them. */
  readonly notifications: Notification[];
  connect(program: { readonly webhookUrl: string; now(): number }): void;
  /** Sets the faults of the next changing requests. */
  fail(...faults: readonly Fault[]): void;
  /** Revokes the token. */
  revoke(): void;
  /** A contact writes in the messenger, in a new or existing conversation. */
  write(message: {
    readonly contact: string;
    readonly text: string;
    readonly conversation?: string;
    readonly html?: string;
    readonly externalId?: string;
    readonly email?: string;
    readonly files?: readonly { readonly name: string; readonly mediaType: string; readonly bytes: Buffer }[];
    readonly byEmail?: boolean;
    /** A teammate writes to the customer first. */
    readonly by?: Person;
  }): { readonly conversation: string; readonly notification: Notification };
  /** An action of a teammate. */
  teammate(
    who: Person,
    conversation: string,
    deed: {
      readonly type: "comment" | "note" | "close" | "open" | "snoozed" | "unsnoozed" | "assignment";
      readonly body?: string;
      readonly until?: number;
      readonly to?: Person;
    },
  ): Notification;
  /** Redacts a customer's message. */
  redact(conversation: string, part: string): void;
  remove(conversation: string): Notification;
  notification(topic: string, item: unknown): Notification;
  /** Posts a signed notification. `secret`, `signature`: wrong ones. Returns the status. */
  deliver(
    notification: Notification | Buffer,
    by?: { readonly secret?: string; readonly signature?: string; readonly method?: string },
  ): Promise<number>;
  /** Delivers all pending notifications in order. */
  deliverAll(): Promise<readonly number[]>;
  /** Expires the addresses of all files. */
  expireFiles(): void;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** A contact whom teammates can write to. */
export const contactId = "6762f0d51bb69f9f2193bb7f";

type Answer = {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

const refuse = (status: number, code: string, message: string): Answer => ({
  status,
  body: { type: "error.list", request_id: null, errors: [{ code, message }] },
});

/** A fake of Intercom's API 2.14, as strict as its description in everything the adapter uses. */
export async function startFakeIntercom(): Promise<FakeIntercom> {
  let token = randomBytes(20).toString("hex");
  const given = token;
  const clientSecret = randomBytes(20).toString("hex");
  const appId = `app${randomBytes(3).toString("hex")}`;
  const bot: Person = { id: "814860", name: "Parley", email: "parley@shop.example" };
  const carla: Person = { id: "814861", name: "Carla", email: "carla@shop.example" };
  const team = { id: "5017", name: "Second line" };
  const workspace = { region: "US", identityVerification: false, seat: true, searchesByDay: false, pageMax: 150 };
  const calls: Call[] = [];
  const faults: Fault[] = [];
  const notifications: Notification[] = [];
  const files = new Map<string, { readonly bytes: Buffer; readonly mediaType: string }>();
  let filesKey = randomBytes(4).toString("hex");
  let program = { webhookUrl: "", now: () => Date.now() };
  let port = 0;
  const seconds = (): number => Math.floor(program.now() / 1_000);
  const url = (): string => `http://127.0.0.1:${port}`;
  const fileUrl = (id: string): string => `${url()}/files/${id}?key=${filesKey}`;
  const world = createConversations({ seconds, fileUrl });
  let notified = 0;

  function notification(topic: string, item: unknown): Notification {
    const made = {
      type: "notification_event",
      app_id: appId,
      data: { type: "notification_event_data", item: structuredClone(item) },
      links: {},
      id: `notif_${randomBytes(8).toString("hex")}_${(notified += 1)}`,
      topic,
      delivery_status: "pending",
      delivery_attempts: 1,
      delivered_at: 0,
      first_sent_at: seconds(),
      created_at: seconds(),
      self: null,
    };
    notifications.push(made);
    return made;
  }

  const topicOf = (part: FakePart): string => {
    switch (part.part_type) {
      case "comment":
        return "conversation.admin.replied";
      case "note":
        return "conversation.admin.noted";
      case "close":
        return "conversation.admin.closed";
      case "snoozed":
        return "conversation.admin.snoozed";
      case "unsnoozed":
        return "conversation.admin.unsnoozed";
      case "assignment":
        return "conversation.admin.assigned";
      default:
        return "conversation.admin.opened";
    }
  };

  function happened(conversation: FakeConversation, part: FakePart): Notification {
    return notification(topicOf(part), payloadOf(conversation, [part]));
  }

  function me(person: Person) {
    return {
      type: "admin",
      id: person.id,
      name: person.name,
      email: person.email,
      has_inbox_seat: workspace.seat,
      away_mode_enabled: false,
      away_mode_reassign: false,
      team_ids: [],
    };
  }

  function change(path: string, body: Readonly<Record<string, unknown>>): Answer {
    const [, , id = "", what] = path.split("/");
    if (path === "/messages") return message(body);
    if (id === "redact") {
      const conversation = world.all.get(String(body["conversation_id"]));
      const part = conversation?.parts.find((each) => each.id === body["conversation_part_id"]);
      if (body["type"] !== "conversation_part" || conversation === undefined || part === undefined) {
        return refuse(404, "conversation_part_or_message_not_found", "Conversation part not found");
      }
      world.redact(conversation, part);
      return { status: 200, body: payloadOf(conversation, conversation.parts) };
    }
    const conversation = world.all.get(id);
    if (conversation === undefined) return refuse(404, "not_found", "Resource Not Found");
    if (body["admin_id"] !== bot.id) return refuse(403, "admin_not_found", "No admin with that id");
    const type = body["message_type"];
    if (what === "reply") {
      const text = body["body"];
      if ((type !== "comment" && type !== "note") || body["type"] !== "admin") {
        return refuse(422, "parameter_invalid", "message_type is invalid");
      }
      if (typeof text !== "string" || text.trim() === "") return refuse(400, "parameter_not_found", "body is required");
      const attached = (body["attachment_files"] ?? []) as readonly {
        content_type: string;
        data: string;
        name: string;
      }[];
      if (attached.length > 10) return refuse(422, "parameter_invalid", "no more than 10 files");
      const kept = attached.map((each) => keep(each.name, each.content_type, Buffer.from(each.data, "base64")));
      happened(conversation, world.add(conversation, bot, { type, body: asIntercomWrites(text), files: kept }));
    } else if (what === "parts") {
      if (type === "assignment") {
        const assignee = String(body["assignee_id"]);
        const to = body["type"] === "team" ? "team" : "admin";
        if (to === "team" ? assignee !== team.id : ![bot, carla].some((each) => each.id === assignee)) {
          return refuse(404, "assignee_not_found", "Assignee not found");
        }
        happened(conversation, world.add(conversation, bot, { type, to: { type: to, id: assignee } }));
        return { status: 200, body: payloadOf(conversation, conversation.parts) };
      }
      if (type === "close" ? body["type"] !== "admin" : type !== "open" && type !== "snoozed") {
        return refuse(422, "parameter_invalid", "message_type is invalid");
      }
      const until = body["snoozed_until"];
      if (type === "snoozed" && (!Number.isInteger(until) || (until as number) <= seconds())) {
        return refuse(422, "parameter_invalid", "snoozed_until must be in the future");
      }
      const more = type === "snoozed" ? { until: until as number } : {};
      happened(conversation, world.add(conversation, bot, { type: type as "close" | "open" | "snoozed", ...more }));
    } else {
      return refuse(404, "not_found", "no such path");
    }
    return { status: 200, body: payloadOf(conversation, conversation.parts) };
  }

  function message({ message_type: type, body, from, to }: Readonly<Record<string, unknown>>): Answer {
    const sender = from as { readonly type?: unknown; readonly id?: unknown };
    if (type !== "inapp" || typeof body !== "string") return refuse(422, "parameter_invalid", "a field is invalid");
    if (sender.type !== "admin" || sender.id !== Number(bot.id)) {
      return refuse(403, "admin_not_found", "No admin with that id");
    }
    if ((to as { readonly id?: unknown }).id !== contactId) return refuse(404, "not_found", "User Not Found");
    return { status: 200, body: { type: "admin_message", id: "403918330", message_type: type, body } };
  }

  function keep(name: string, mediaType: string, bytes: Buffer) {
    const id = `${randomBytes(6).toString("hex")}/${encodeURIComponent(name)}`;
    files.set(id, { bytes, mediaType });
    return { id, name, mediaType, bytes: bytes.length };
  }

  function search(body: Readonly<Record<string, unknown>>): Answer {
    const query = body["query"] as { readonly field?: unknown; readonly operator?: unknown; readonly value?: unknown };
    const { per_page: wanted = 20, starting_after: after } = (body["pagination"] ?? {}) as {
      readonly per_page?: number;
      readonly starting_after?: string;
    };
    if (query?.field !== "updated_at" || query.operator !== ">" || !/^\d+$/.test(String(query.value))) {
      return refuse(400, "parameter_invalid", "the query is not one that this server knows");
    }
    const perPage = Math.min(wanted, workspace.pageMax);
    if (wanted > 150) return refuse(400, "parameter_invalid", "per_page is too large");
    const dayOf = (time: number): number => Math.floor(time / 86_400);
    const isAfter = (time: number): boolean =>
      workspace.searchesByDay ? dayOf(time) > dayOf(Number(query.value)) : time > Number(query.value);
    const sort = body["sort"] as { readonly field?: unknown; readonly order?: unknown } | undefined;
    const sorted = !workspace.searchesByDay && sort?.field === "updated_at" && sort.order === "descending";
    const found = [...world.all.values()]
      .filter(({ updated_at: at }) => isAfter(at))
      .toSorted((a, b) => (sorted ? b.updated_at - a.updated_at : 0) || Number(a.id) - Number(b.id));
    const begin = after === undefined ? 0 : Number(Buffer.from(after, "base64").toString());
    const next = begin + perPage;
    return {
      status: 200,
      body: {
        type: "conversation.list",
        total_count: found.length,
        pages: {
          type: "pages",
          page: Math.floor(begin / perPage) + 1,
          per_page: perPage,
          total_pages: Math.ceil(found.length / perPage),
          ...(next < found.length
            ? { next: { page: 2, starting_after: Buffer.from(String(next)).toString("base64") } }
            : {}),
        },
        conversations: found.slice(begin, next).map((each) => {
          const { conversation_parts: _, ...listed } = payloadOf(each, []);
          return listed;
        }),
      },
    };
  }

  function read(path: string): Answer {
    if (path === "/me") {
      const { region, identityVerification } = workspace;
      const app = { type: "app", id_code: appId, name: "Shop", region, identity_verification: identityVerification };
      return { status: 200, body: { ...me(carla), app } };
    }
    if (path === "/admins") return { status: 200, body: { type: "admin.list", admins: [bot, carla].map(me) } };
    const [, kind, id] = path.split("/");
    if (kind === "teams") {
      return id === team.id
        ? { status: 200, body: { type: "team", ...team, admin_ids: [Number(carla.id)] } }
        : refuse(404, "team_not_found", "Team not found");
    }
    const person = [bot, carla].find((each) => each.id === id);
    if (kind === "admins") {
      return person === undefined
        ? refuse(404, "admin_not_found", "Admin not found")
        : { status: 200, body: me(person) };
    }
    const conversation = kind === "conversations" ? world.all.get(id ?? "") : undefined;
    if (conversation === undefined) return refuse(404, "not_found", "Resource Not Found");
    return { status: 200, body: payloadOf(conversation, conversation.parts) };
  }

  function answerTo(request: IncomingMessage, body: string, socket: Socket): Answer | undefined {
    const { method = "", headers } = request;
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (headers.authorization !== `Bearer ${token}`) return refuse(401, "unauthorized", "Access Token Invalid");
    if (headers["intercom-version"] !== "2.14") return refuse(400, "intercom_version_invalid", "unknown version");
    const parsed = (body === "" ? {} : JSON.parse(body)) as Readonly<Record<string, unknown>>;
    calls.push({ method, path, body: body === "" ? undefined : parsed });
    if (method === "GET") return read(path);
    if (path === "/conversations/search") return search(parsed);
    const fault = faults.shift();
    switch (fault?.kind) {
      case "error":
        return refuse(fault.status, fault.code, fault.message);
      case "limit":
        return {
          ...refuse(429, "rate_limit_exceeded", "Exceeded rate limit"),
          headers: {
            "x-ratelimit-limit": "1666",
            "x-ratelimit-remaining": "0",
            "x-ratelimit-reset": String(Math.ceil(program.now() / 1_000) + fault.seconds),
          },
        };
      case "html":
        return { status: fault.status, body: "<html>Bad Gateway</html>" };
      case "hang_up_before_commit":
        socket.destroy();
        return undefined;
      case "hang_up_after_commit":
        change(path, parsed);
        socket.destroy();
        return undefined;
      case undefined:
        return change(path, parsed);
    }
  }

  function serveFile(request: IncomingMessage, response: ServerResponse): void {
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const file = query === `key=${filesKey}` ? files.get(path.slice("/files/".length)) : undefined;
    if (request.headers.authorization !== undefined) throw new Error("the token went along for a file");
    response.writeHead(file === undefined ? 403 : 200, { "content-type": file?.mediaType ?? "text/plain" });
    response.end(file?.bytes);
  }

  const server = await openFakeServer(() =>
    createServer((request, response) => {
      if (request.url?.startsWith("/files/") === true) {
        serveFile(request, response);
        return;
      }
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const answer = answerTo(request, Buffer.concat(chunks).toString("utf8"), request.socket);
        if (answer === undefined) return;
        response.writeHead(answer.status, { "content-type": "application/json; charset=utf-8", ...answer.headers });
        response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body));
      });
    }),
  );
  ({ port } = server);

  async function deliver(
    given_: Notification | Buffer,
    {
      secret = clientSecret,
      signature,
      method = "POST",
    }: { secret?: string; signature?: string; method?: string } = {},
  ): Promise<number> {
    const body = Buffer.isBuffer(given_) ? given_ : Buffer.from(JSON.stringify(given_));
    const response = await fetch(program.webhookUrl, {
      method,
      headers: {
        "content-type": "application/json",
        "x-hub-signature": signature ?? signatureOf(secret, body),
        "intercom-webhook-notification-id": "x",
      },
      ...(method === "POST" ? { body: new Uint8Array(body) } : {}),
    });
    await response.text();
    return response.status;
  }

  return {
    url: url(),
    token: given,
    clientSecret,
    appId,
    bot,
    carla,
    team,
    workspace,
    conversations: world.all,
    calls,
    notifications,
    connect: (running) => {
      program = running;
    },
    fail: (...more) => void faults.push(...more),
    revoke() {
      token = randomBytes(20).toString("hex");
    },
    write({ contact, text, conversation: id, html, externalId, email, files: sent = [], byEmail = false, by }) {
      const author = {
        type: "user" as const,
        id: contact,
        name: contact,
        email: email ?? `${contact}@customers.example`,
        externalId: externalId ?? null,
      };
      const kept = sent.map((file) => keep(file.name, file.mediaType, file.bytes));
      const body = html ?? htmlOf(text);
      if (id === undefined) {
        const conversation = world.begin(author, body, kept, by);
        return {
          conversation: conversation.id,
          notification: notification(
            by === undefined ? "conversation.user.created" : "conversation.admin.single.created",
            payloadOf(conversation, []),
          ),
        };
      }
      const conversation = world.of(id);
      const part = world.reply(conversation, author, body, kept, byEmail);
      return {
        conversation: id,
        notification: notification("conversation.user.replied", payloadOf(conversation, [part])),
      };
    },
    teammate(who, id, { type, body, until, to }) {
      const conversation = world.of(id);
      const more = { ...(body === undefined ? {} : { body: htmlOf(body) }), ...(until === undefined ? {} : { until }) };
      return happened(
        conversation,
        world.add(conversation, who, { type, ...more, ...(to === undefined ? {} : { to }) }),
      );
    },
    redact(id, partId) {
      const conversation = world.of(id);
      const part = conversation.parts.find((each) => each.id === partId);
      if (part === undefined) throw new Error("there is no such part");
      world.redact(conversation, part);
      notification("conversation_part.redacted", payloadOf(conversation, [part]));
    },
    remove(id) {
      world.all.delete(id);
      return notification("conversation.deleted", { type: "conversation", id, conversation_id: id });
    },
    notification,
    deliver,
    async deliverAll() {
      const statuses: number[] = [];
      for (const each of notifications.splice(0)) statuses.push(await deliver(each));
      return statuses;
    },
    expireFiles() {
      filesKey = randomBytes(4).toString("hex");
    },
    goAway: server.goAway,
    comeBack: server.comeBack,
    close: server.close,
  };
}
