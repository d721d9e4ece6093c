import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { openFakeServer } from "#test/support/channels/fake-server.ts";

/** A message accepted by the fake. */
export interface Taken {
  readonly sid: string;
  readonly to: string;
  readonly from: string;
  readonly body: string;
  /** The files fetched from its media addresses. */
  readonly media: { readonly name: string; readonly mediaType: string; readonly bytes: Buffer }[];
  readonly contentSid: string | undefined;
  readonly contentVariables: string | undefined;
  readonly statusCallback: string | undefined;
  readonly at: number;
}

/** The fault in the answer to a send. */
export type Fault =
  | { readonly kind: "error"; readonly status: number; readonly code: number; readonly message: string }
  | { readonly kind: "limit"; readonly retryAfterS?: number }
  | { readonly kind: "html"; readonly status: number }
  /** Accepts the message and breaks the connection before the answer. */
  | { readonly kind: "hang_up_after_commit" }
  | { readonly kind: "hang_up_before_commit" }
  /** Accepts the message and never answers. */
  | { readonly kind: "silent_after_commit" }
  /** Reports on the message before it answers the send. */
  | { readonly kind: "report_first"; readonly status: string; readonly code?: number };

export interface FakeTwilio {
  readonly url: string;
  readonly accountSid: string;
  readonly authToken: string;
  /** Settings for an account at this server. */
  readonly settings: { readonly account_sid: string; readonly auth_token: string; readonly base_url: string };
  readonly taken: readonly Taken[];
  /** The calls that the account has begun. */
  readonly placed: readonly { readonly to: string; readonly from: string; readonly twiml: string }[];
  /** Addresses that have opted out. */
  readonly optedOut: Set<string>;
  /** The account's resources, for `doctor`. */
  readonly setup: {
    status: string;
    numbers: {
      readonly number: string;
      readonly smsUrl: string;
      readonly smsMethod: string;
      /** More fields of the number, such as its voice address. */
      readonly more?: object;
    }[];
    services: { readonly sid: string; readonly inboundRequestUrl: string | null }[];
  };
  /** Connects the program: its addresses and its clock. */
  connect(program: { readonly publicUrl: string; readonly webhookUrl: string; now(): number }): void;
  fail(...faults: readonly Fault[]): void;
  /** Posts a form to the account's webhook; `with` signs it with another token. */
  post(form: Readonly<Record<string, string>>, options?: PostOptions): Promise<Response>;
  /** Posts a form to any address that Twilio was given, public or local. */
  postTo(publicUrl: string, form: Readonly<Record<string, string>>, options?: PostOptions): Promise<Response>;
  /** Handles requests that this server does not know; undefined: not handled. */
  also: ((request: Request) => Promise<Answer | "none" | undefined>) | undefined;
  /** Removes and returns the fault for the next send. */
  nextFault(): Fault | undefined;
  refuse(status: number, code: number, message: string): Answer;
  /** The form of a message, as Twilio fills it. */
  messageForm(message: {
    readonly from: string;
    readonly to: string;
    readonly body: string;
    readonly sid?: string;
  }): Record<string, string>;
  /** Posts a delivery report. */
  report(sid: string, status: string, code?: number): Promise<Response>;
  /** Stores a customer's file. Returns its address. */
  keep(bytes: Buffer, mediaType: string, path?: string): string;
  /** Redirect targets by a file's path, instead of the fake's own storage. */
  readonly leads: Map<string, string>;
  newSid(prefix: string): string;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly socket: Socket;
}

export interface PostOptions {
  readonly token?: string;
  readonly signature?: string;
  /** The address to sign; default: the public one. */
  readonly signedUrl?: string;
  /** The query, such as `?part=x`. */
  readonly query?: string;
}

const bodyMax = 1_600;

/** A fake of Twilio's API, as strict as the real one in everything the adapter uses. */
export async function startFakeTwilio(): Promise<FakeTwilio> {
  const newSid = (prefix: string): string => prefix + randomBytes(16).toString("hex");
  const accountSid = newSid("AC");
  const authToken = randomBytes(16).toString("hex");
  const taken: Taken[] = [];
  const placed: { readonly to: string; readonly from: string; readonly twiml: string }[] = [];
  const optedOut = new Set<string>();
  const faults: Fault[] = [];
  const files = new Map<string, { readonly bytes: Buffer; readonly mediaType: string }>();
  const leads = new Map<string, string>();
  const setup: FakeTwilio["setup"] = { status: "active", numbers: [], services: [] };
  let program = { publicUrl: "http://parley.test", webhookUrl: "", now: () => Date.now() };

  const sign = (url: string, form: Readonly<Record<string, string>>, token: string): string => {
    const names = Object.keys(form).toSorted();
    return createHmac("sha1", token)
      .update(url + names.map((name) => name + (form[name] ?? "")).join(""))
      .digest("base64");
  };

  async function postTo(
    publicUrl: string,
    form: Readonly<Record<string, string>>,
    { token = authToken, signedUrl, signature }: PostOptions = {},
  ): Promise<Response> {
    // The fragment configures Twilio and is not part of the request.
    const address = publicUrl.replace(/#.*$/, "").replace(new URL(program.webhookUrl).origin, program.publicUrl);
    const there = address.replace(program.publicUrl, new URL(program.webhookUrl).origin);
    return fetch(there, {
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": signature ?? sign(signedUrl ?? address, form, token),
      },
      body: new URLSearchParams(form),
    });
  }

  const webhook = (): string => program.publicUrl + new URL(program.webhookUrl).pathname;

  async function report({ sid, to, from, statusCallback }: Taken, status: string, code?: number): Promise<Response> {
    if (statusCallback === undefined) throw new Error("nobody asked for a report");
    return postTo(statusCallback, {
      AccountSid: accountSid,
      ApiVersion: "2010-04-01",
      From: from,
      To: to,
      MessageSid: sid,
      SmsSid: sid,
      MessageStatus: status,
      SmsStatus: status,
      ...(code === undefined ? {} : { ErrorCode: String(code) }),
    });
  }

  const refuse = (status: number, code: number, message: string): Answer => ({
    status,
    body: { status, code, message, more_info: `https://www.twilio.com/docs/errors/${code}` },
  });

  const resource = ({ sid, to, from, body, at }: Taken) => ({
    sid,
    account_sid: accountSid,
    api_version: "2010-04-01",
    to,
    from,
    body,
    direction: "outbound-api",
    status: "queued",
    num_segments: "1",
    num_media: "0",
    date_created: new Date(at).toUTCString().replace("GMT", "+0000"),
    date_updated: new Date(at).toUTCString().replace("GMT", "+0000"),
    // A queued message has none yet.
    date_sent: null,
    error_code: null,
    error_message: null,
    messaging_service_sid: null,
    price: null,
    price_unit: "USD",
    uri: `/2010-04-01/Accounts/${accountSid}/Messages/${sid}.json`,
    subresource_uris: {},
  });

  function take(form: URLSearchParams): Taken | Answer {
    const [to, from, service] = [form.get("To") ?? "", form.get("From"), form.get("MessagingServiceSid")];
    const [body, contentSid] = [form.get("Body") ?? "", form.get("ContentSid") ?? undefined];
    if (!/^(whatsapp:)?\S{3,}$/.test(to)) return refuse(400, 21_211, `The 'To' number ${to} is not valid.`);
    if (from === null && service === null) return refuse(400, 21_603, "A 'From' number is required.");
    if (body === "" && contentSid === undefined) return refuse(400, 21_602, "Message body is required.");
    if (body.length > bodyMax) return refuse(400, 21_617, "The concatenated message body exceeds the 1600 limit.");
    if (optedOut.has(to)) return refuse(400, optedOutCode, "Attempt to send to unsubscribed recipient");
    const message: Taken = {
      sid: newSid("SM"),
      to,
      from: from ?? setup.numbers[0]?.number ?? "+15550001111",
      body,
      media: [],
      contentSid,
      contentVariables: form.get("ContentVariables") ?? undefined,
      statusCallback: form.get("StatusCallback") ?? undefined,
      at: program.now(),
    };
    taken.push(message);
    return message;
  }

  /** Fetches a file as Twilio does: without credentials, and only supported types. */
  async function fetched(address: string): Promise<Taken["media"][number]> {
    const response = await fetch(address.replace(program.publicUrl, new URL(program.webhookUrl).origin));
    const mediaType = response.headers.get("content-type") ?? "";
    if (!response.ok || !/^(?:image|audio|video)\/|^application\/(?:pdf|vnd\.)|^text\/vcard/.test(mediaType)) {
      throw new Error(`12300: ${response.status} ${mediaType}`);
    }
    const name = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "";
    return { name: decodeURIComponent(name), mediaType, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  async function send(form: URLSearchParams, socket: Socket): Promise<Answer | undefined> {
    const fault = faults.shift();
    switch (fault?.kind) {
      case "error":
        return refuse(fault.status, fault.code, fault.message);
      case "limit":
        return {
          ...refuse(429, 20_429, "Too Many Requests"),
          headers: fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) },
        };
      case "html":
        return { status: fault.status, body: "<html>Bad Gateway</html>" };
      case "hang_up_before_commit":
        socket.destroy();
        return undefined;
      case "hang_up_after_commit":
      case "silent_after_commit":
      case "report_first":
      case undefined:
    }
    const message = take(form);
    if (!("sid" in message)) return message;
    for (const address of form.getAll("MediaUrl")) message.media.push(await fetched(address));
    if (fault?.kind === "hang_up_after_commit") {
      socket.destroy();
      return undefined;
    }
    if (fault?.kind === "silent_after_commit") return undefined;
    if (fault?.kind === "report_first") await report(message, fault.status, fault.code);
    return { status: 201, body: resource(message) };
  }

  async function answerTo(request: IncomingMessage, form: URLSearchParams): Promise<Answer | undefined> {
    const url = new URL(request.url ?? "/", "http://localhost");
    const account = `/2010-04-01/Accounts/${accountSid}`;
    const search = url.searchParams;
    switch (`${request.method} ${url.pathname}`) {
      case `POST ${account}/Messages.json`:
        return send(form, request.socket);
      case `GET ${account}/Messages.json`: {
        const all = taken.filter(
          ({ to, from }) => to === search.get("To") && (!search.has("From") || from === search.get("From")),
        );
        return { status: 200, body: { messages: all.toReversed().map(resource), next_page_uri: null, page: 0 } };
      }
      case `POST ${account}/Calls.json`: {
        const [to = "", from = "", twiml = ""] = ["To", "From", "Twiml"].map((name) => form.get(name) ?? "");
        const fault = fake.nextFault();
        if (fault?.kind === "error") return refuse(fault.status, fault.code, fault.message);
        placed.push({ to, from, twiml });
        return { status: 201, body: { sid: newSid("CA"), account_sid: accountSid, to, from, subresource_uris: {} } };
      }
      case `GET ${account}.json`:
        return { status: 200, body: { sid: accountSid, friendly_name: "Test account", status: setup.status } };
      case `GET ${account}/IncomingPhoneNumbers.json`: {
        const found = setup.numbers.filter(({ number }) => number === search.get("PhoneNumber"));
        const numbers = found.map(({ number, smsUrl, smsMethod, more }) => ({
          sid: newSid("PN"),
          phone_number: number,
          sms_url: smsUrl,
          sms_method: smsMethod,
          ...more,
        }));
        return { status: 200, body: { incoming_phone_numbers: numbers, next_page_uri: null, page: 0 } };
      }
      default: {
        const service = setup.services.find(({ sid }) => url.pathname === `/v1/Services/${sid}`);
        const method = request.method ?? "";
        const other = await fake.also?.({ method, path: url.pathname, form, socket: request.socket });
        if (other !== undefined) return other === "none" ? undefined : other;
        if (service === undefined) return refuse(404, 20_404, `The requested resource ${url.pathname} was not found`);
        return {
          status: 200,
          body: {
            sid: service.sid,
            friendly_name: "Support",
            inbound_request_url: service.inboundRequestUrl,
            use_inbound_webhook_on_number: false,
          },
        };
      }
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const stored = files.get(path.replace(/^\/stored/, ""));
    if (path.startsWith("/stored/")) {
      // S3 refuses requests with foreign credentials.
      if (request.headers.authorization !== undefined || stored === undefined) response.writeHead(400).end();
      else response.writeHead(200, { "content-type": stored.mediaType }).end(stored.bytes);
      return;
    }
    const basic = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
    const answer =
      request.headers.authorization === basic
        ? stored === undefined
          ? await answerTo(request, new URLSearchParams(Buffer.concat(chunks).toString("utf8")))
          : { status: 307, body: "", headers: { location: leads.get(path) ?? `/stored${path}` } }
        : refuse(401, 20_003, "Authenticate");
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

  const fake: FakeTwilio = {
    url,
    also: undefined,
    nextFault: () => faults.shift(),
    refuse,
    postTo,
    accountSid,
    authToken,
    settings: { account_sid: accountSid, auth_token: authToken, base_url: url },
    taken,
    placed,
    optedOut,
    setup,
    connect: (to) => void (program = { ...to, now: () => to.now() }),
    fail: (...next) => void faults.push(...next),
    post: (form, options = {}) => postTo(`${webhook()}${options.query ?? ""}`, form, options),
    messageForm: ({ from, to, body, sid = newSid("SM") }) => ({
      AccountSid: accountSid,
      ApiVersion: "2010-04-01",
      Body: body,
      From: from,
      FromCountry: "US",
      MessageSid: sid,
      NumMedia: "0",
      NumSegments: "1",
      SmsMessageSid: sid,
      SmsSid: sid,
      SmsStatus: "received",
      To: to,
    }),
    async report(sid, status, code) {
      const message = taken.find((each) => each.sid === sid);
      if (message === undefined) throw new Error(`there is no message ${sid}`);
      return report(message, status, code);
    },
    keep(bytes, mediaType, given) {
      const path = given ?? `/2010-04-01/Accounts/${accountSid}/Messages/${newSid("MM")}/Media/${newSid("ME")}`;
      files.set(path, { bytes, mediaType });
      return url + path;
    },
    leads,
    newSid,
    goAway: server.goAway,
    comeBack: server.comeBack,
    close: server.close,
  };
  return fake;
}

const optedOutCode = 21_610;
