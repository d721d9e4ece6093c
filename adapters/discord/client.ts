import { createHash } from "node:crypto";
import type { RESTOptions } from "discord.js";
import { ButtonStyle, ComponentType, DiscordAPIError, MessageFlags, REST, Routes } from "discord.js";
import Type from "typebox";
import { Value } from "typebox/value";
import type { OutboundFile, Receipt, SendContext } from "#channels/contract.ts";
import type { Part } from "#channels/inbound-event.ts";
import { DeliveryError } from "#channels/errors.ts";
import type { PlatformFetch } from "#channels/http/platform-fetch.ts";
import { createPlatformFetch } from "#channels/http/platform-fetch.ts";
import { codeOf, deliveryError, noAccess, unknownChannel } from "./errors.ts";
import { personButton } from "./inbound.ts";
import type { DiscordPart } from "./render.ts";
import { fileBytesMax } from "./render.ts";
import type { DiscordThread } from "./thread.ts";
import { channelOf, parseThread } from "./thread.ts";

const timeoutMs = 15_000;
/** As long as the limit of fifty calls in a second can hold up a call. */
const waitMaxMs = 1_500;
/** A day without a word, and Discord puts the thread away; a message brings it back. */
const archiveAfterMinutes = 1_440;

/** Calls of Discord's API. It repeats nothing by itself: the host knows what may be sent again. */
export interface Calls {
  get(route: `/${string}`, signal?: AbortSignal, query?: URLSearchParams): Promise<unknown>;
  post(route: `/${string}`, body: unknown, signal?: AbortSignal, files?: readonly NamedBytes[]): Promise<unknown>;
  patch(route: `/${string}`, body: unknown, signal?: AbortSignal): Promise<unknown>;
  delete(route: `/${string}`, signal?: AbortSignal): Promise<void>;
}

interface NamedBytes {
  readonly name: string;
  readonly data: Buffer;
  readonly contentType: string;
}

export function createRest(token: string, baseUrl: string | undefined): REST {
  return new REST({
    retries: 0,
    timeout: timeoutMs,
    makeRequest: requestBy(createPlatformFetch()),
    // A long wait is told to the host, which holds back this conversation alone.
    rejectOnRateLimit: ({ retryAfter, timeToReset }) => Math.max(retryAfter, timeToReset) > waitMaxMs,
    ...(baseUrl === undefined ? {} : { api: baseUrl }),
  }).setToken(token);
}

type MakeRequest = RESTOptions["makeRequest"];

/**
 * Its own way goes by a dispatcher that all versions of undici in the process share: where another has put its own there,
 * forms with files are refused.
 */
function requestBy(send: PlatformFetch): MakeRequest {
  return async (url, { method, headers, body, signal }) => {
    const form = body instanceof FormData ? new Response(body) : undefined;
    const type = form?.headers.get("content-type");
    const answer = await send(url, {
      ...(method === undefined ? {} : { method }),
      headers: {
        ...(headers as Readonly<Record<string, string>>),
        ...(typeof type === "string" ? { "content-type": type } : {}),
      },
      body: form === undefined ? (body as string | null | undefined) : new Uint8Array(await form.arrayBuffer()),
      ...(signal === undefined || signal === null ? {} : { signal }),
    });
    return { ...answer, body: null, bodyUsed: false, headers: new Headers([...answer.headers.entries()]) };
  };
}

export function createCalls(rest: REST, token: string): Calls {
  // It forgets the token after a 401, though the next call might be let in.
  const ready = (): REST => rest.setToken(token);
  const given = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });
  return {
    get: (route, signal, query) => ready().get(route, { ...given(signal), ...(query === undefined ? {} : { query }) }),
    post: (route, body, signal, files) =>
      ready().post(route, { body, ...given(signal), ...(files === undefined ? {} : { files: [...files] }) }),
    patch: (route, body, signal) => ready().patch(route, { body, ...given(signal) }),
    async delete(route, signal) {
      await ready().delete(route, given(signal));
    },
  };
}

/** Nobody is called by what a bot writes: left out, `@everyone` would be. */
const nobody = { parse: [], replied_user: false } as const;

const sentSchema = Type.Object({ id: Type.String(), channel_id: Type.String() });

export async function sendPart(calls: Calls, part: Part, context: SendContext): Promise<Receipt> {
  const payload = part.payload as DiscordPart;
  const thread = parseThread(context.thread);
  try {
    const files = payload.kind === "file" ? [await readFile(payload.file, context)] : undefined;
    const body = {
      ...(payload.kind === "text" ? { content: payload.content } : {}),
      ...(payload.kind === "text" && payload.personLabel !== undefined ? buttonsOf(payload.personLabel) : {}),
      // Discord takes a message with the same mark for the same, for some minutes.
      nonce: createHash("sha256").update(context.key).digest("base64url").slice(0, 25),
      enforce_nonce: true,
      allowed_mentions: nobody,
      flags: MessageFlags.SuppressEmbeds,
    };
    return await post(calls, thread, body, context.signal, files);
  } catch (error) {
    throw deliveryError(error);
  }
}

const buttonsOf = (label: string) => ({
  components: [
    {
      type: ComponentType.ActionRow,
      components: [{ type: ComponentType.Button, style: ButtonStyle.Secondary, label, custom_id: personButton }],
    },
  ],
});

async function post(
  calls: Calls,
  thread: DiscordThread,
  body: object,
  signal: AbortSignal,
  files: readonly NamedBytes[] | undefined,
): Promise<Receipt> {
  const to = (channelId: string, more: object = {}) =>
    calls.post(Routes.channelMessages(channelId), { ...body, ...more }, signal, files).then(receiptOf);
  try {
    return await to(channelOf(thread));
  } catch (error) {
    if (thread.kind === "direct" || codeOf(error) !== unknownChannel) throw error;
  }
  // The thread begins with the first answer.
  try {
    await calls.post(
      Routes.threads(thread.parentId, thread.threadId),
      { name: "Support", auto_archive_duration: archiveAfterMinutes },
      signal,
    );
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || !noAccess.has(code)) throw error;
    // Who may not open threads answers the message where it stands.
    return to(thread.parentId, { message_reference: { message_id: thread.threadId, fail_if_not_exists: false } });
  }
  return to(thread.threadId);
}

function receiptOf(sent: unknown): Receipt {
  if (!Value.Check(sentSchema, sent)) throw new DeliveryError("unknown", "Discord's answer holds no message");
  return { externalId: `${sent.channel_id}:${sent.id}`, state: "sent" };
}

async function readFile(file: OutboundFile, context: SendContext): Promise<NamedBytes> {
  if (context.file === undefined) throw new DeliveryError("rejected", "the file of this message is gone");
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of await context.file(file.id)) {
    bytes += piece.length;
    if (bytes > fileBytesMax) throw new DeliveryError("rejected", "the file is too large for Discord");
    pieces.push(piece);
  }
  return { name: file.name, data: Buffer.concat(pieces), contentType: file.mediaType };
}

export async function editPart(calls: Calls, part: Part, externalId: string, signal: AbortSignal): Promise<void> {
  const payload = part.payload as DiscordPart;
  if (payload.kind === "file") throw new DeliveryError("rejected", "Discord cannot change a file");
  const { channelId, messageId } = placeOf(externalId);
  try {
    // Left out, the text would be searched for mentions again.
    await calls.patch(
      Routes.channelMessage(channelId, messageId),
      { content: payload.content, allowed_mentions: nobody },
      signal,
    );
  } catch (error) {
    throw deliveryError(error);
  }
}

export async function removePart(calls: Calls, externalId: string, signal: AbortSignal): Promise<void> {
  const { channelId, messageId } = placeOf(externalId);
  try {
    await calls.delete(Routes.channelMessage(channelId, messageId), signal);
  } catch (error) {
    // What is gone need not be taken away.
    if (error instanceof DiscordAPIError && error.status === 404) return;
    throw deliveryError(error);
  }
}

function placeOf(externalId: string): { readonly channelId: string; readonly messageId: string } {
  const [channelId = "", messageId = ""] = externalId.split(":");
  return { channelId, messageId };
}
