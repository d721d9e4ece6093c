import type { ChannelHost, OutboundFile, Receipt, SendContext, ThreadContext } from "#channels/contract.ts";
import { DeliveryError } from "#channels/errors.ts";
import { foreignAnswer } from "#channels/http/foreign-response.ts";
import type { Part } from "#channels/inbound-event.ts";
import { filledVariables, textForTemplate } from "#channels/text/whatsapp.ts";
import { asTyped, interactiveOf } from "./buttons.ts";
import type { GraphApi } from "./client.ts";
import type { Settings, Template } from "./config.ts";
import { isTelephoneNumber } from "./config.ts";
import { MetaError, refusesButtons, refusesToken, repeatable } from "./errors.ts";
import { mediaKindOf } from "./media.ts";
import type { WhatsappPart } from "./render.ts";

export interface SendDependencies {
  readonly api: GraphApi;
  readonly settings: Settings;
  readonly host: ChannelHost;
}

/** The lifetime of a file link sent to a customer. */
const openedWithinMs = 30 * 86_400_000;

/**
 * Sends one message. Meta has no idempotency key and no way to look a message up: its reports name the part by `key`,
 * which settles an unknown outcome.
 */
export async function sendPart(dependencies: SendDependencies, part: Part, context: SendContext): Promise<Receipt> {
  const { api, settings, host } = dependencies;
  const payload = part.payload as WhatsappPart;
  try {
    const content = await contentOf(dependencies, payload, context);
    const post = (what: object) =>
      api.post(
        `${settings.phoneNumberId}/messages`,
        {
          messaging_product: "whatsapp",
          recipient_type: "individual",
          ...recipientOf(context.thread),
          ...what,
          ...(payload.refersTo === undefined ? {} : { context: { message_id: payload.refersTo } }),
          biz_opaque_callback_data: context.key,
        },
        context.signal,
      );
    const answer = await post(content).catch((error: unknown) => {
      if (payload.buttons === undefined || !("interactive" in content) || !refusesButtons(error)) throw error;
      host.log.warn({ reason: error.message }, "whatsapp: message sent without its buttons");
      return post(textContent(asTyped(payload.body, payload.buttons)));
    });
    return { externalId: idOf(answer["messages"]), state: "sent" };
  } catch (error) {
    if (refusesToken(error) && error instanceof Error) await host.reportDown(error.message);
    throw error;
  }
}

/** WhatsApp has one reaction of each side at a message, which the call replaces. It has no report that must be awaited. */
export async function reactTo(
  { api, settings }: SendDependencies,
  externalId: string,
  emoji: string | null,
  { thread, signal }: ThreadContext,
): Promise<void> {
  if (!ownIds.test(externalId)) {
    throw new DeliveryError("rejected", "the message came by another provider of WhatsApp");
  }
  await api.post(
    `${settings.phoneNumberId}/messages`,
    {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      ...recipientOf(thread),
      type: "reaction",
      reaction: { message_id: externalId, emoji: emoji ?? "" },
    },
    signal,
  );
}

/** Messages of another provider have other ids. */
export const ownIds = /^wamid\./;

/** A customer who does not show their number has an id that is no number. */
const recipientOf = (thread: string) => (isTelephoneNumber(thread) ? { to: thread.slice(1) } : { recipient: thread });

function idOf(messages: unknown): string {
  const [first] = Array.isArray(messages) ? (messages as readonly unknown[]) : [];
  const { id } = (first ?? {}) as { readonly id?: unknown };
  if (typeof id === "string" && id !== "") return id;
  throw foreignAnswer("Meta", 200);
}

async function contentOf(
  { api, settings: { template }, host }: SendDependencies,
  { body, buttons, file }: WhatsappPart,
  context: SendContext,
): Promise<object> {
  const { thread, messageId } = context;
  // A template cannot carry a file: it gets the link.
  const text = file === undefined ? body : asText(body, file, context);
  const inTemplate = await textForTemplate(host, thread, text ?? body, template !== undefined);
  if (inTemplate !== null && template !== undefined) return templateContent(template, inTemplate);
  if (file !== undefined) return fileContent(api, file, body, context);
  if (buttons !== undefined) return { type: "interactive", interactive: interactiveOf(body, buttons, messageId) };
  return textContent(body);
}

const textContent = (body: string) => ({ type: "text", text: { body, preview_url: false } });

/** The caption, name and link of a file; undefined: there is no address to fetch it at. */
function asText(caption: string, { id, name }: OutboundFile, { fileLink }: SendContext): string | undefined {
  if (fileLink === undefined) return undefined;
  return [caption, name, fileLink(id, openedWithinMs)].filter((line) => line !== "").join("\n");
}

async function fileContent(api: GraphApi, file: OutboundFile, caption: string, context: SendContext): Promise<object> {
  if (context.file === undefined) throw new DeliveryError("rejected", "the file no longer exists");
  const kind = mediaKindOf(file);
  let id: string;
  try {
    id = await api.upload(file, await context.file(file.id), context.signal);
  } catch (error) {
    const text = asText(caption, file, context);
    // Meta takes some types of files only: the customer gets a link to others.
    if (error instanceof MetaError && error.outcome === "rejected" && text !== undefined) return textContent(text);
    // An upload alone shows nothing to the customer.
    throw repeatable(error);
  }
  return {
    type: kind,
    [kind]: {
      id,
      ...(caption === "" ? {} : { caption }),
      ...(kind === "document" ? { filename: file.name } : {}),
    },
  };
}

/** Numbered variables have a position, and others a name. */
function templateContent({ name, language, variables }: Template, text: string) {
  const parameters = filledVariables(variables, text)
    .toSorted(([a], [b]) => Number(a) - Number(b) || 0)
    .map(([variable, value]) => ({
      type: "text",
      ...(/^[0-9]+$/.test(variable) ? {} : { parameter_name: variable }),
      text: value,
    }));
  return {
    type: "template",
    template: { name, language: { code: language }, components: [{ type: "body", parameters }] },
  };
}

const recentMax = 20;

/** WhatsApp shows the indicator below the customer's latest message, and marks it as read. */
export async function showTyping({ api, settings, host }: SendDependencies, thread: string): Promise<void> {
  const { messages } = (await host.threads.correspondence(thread, recentMax)) ?? { messages: [] };
  const latest = messages.find(({ role, externalId }) => role === "user" && externalId !== null);
  if (latest === undefined) return;
  await api.post(
    `${settings.phoneNumberId}/messages`,
    {
      messaging_product: "whatsapp",
      status: "read",
      message_id: latest.externalId,
      typing_indicator: { type: "text" },
    },
    AbortSignal.timeout(5_000),
  );
}
