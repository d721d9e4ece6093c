import type { ChannelHost } from "#channels/contract.ts";
import type { MessageIds } from "../mime/message-ids.ts";
import { markOf } from "../mime/message-ids.ts";
import type { Bounce } from "../mime/bounces.ts";
import { readBounce } from "../mime/bounces.ts";
import type { Mail } from "../mime/mail.ts";
import type { MailOutcome } from "./outcome.ts";
import { ignored } from "./outcome.ts";
import type { MailRecord } from "./record.ts";
import { referencesMax } from "./record.ts";

export interface BounceDependencies {
  readonly host: ChannelHost;
  readonly names: MessageIds;
}

/** The number of messages whose Cc recipients are compared. */
const messagesMax = 100;

const lower = (text: string): string => text.toLowerCase();

/** Reports on the delivery of a mail that we sent. */
export async function takeBounce(
  { host, names }: BounceDependencies,
  mail: Mail,
  id: string,
  at: { readonly sentAt: number },
): Promise<MailOutcome> {
  const bounce = readBounce(mail);
  if (bounce === undefined) return ignored("it reports on a mail that it does not name");
  const thread =
    names.threadFrom(mail) ?? (await host.threads.findByMessageRef(bounce.about.slice(0, referencesMax).map(markOf)));
  if (thread === null) return ignored("it reports on a mail that was not sent by Parley");
  const note = async (text: string): Promise<MailOutcome> => {
    await host.accept({ kind: "notice", externalId: id, thread, ...at, text });
    return { kind: "noted" };
  };
  if (bounce.state === "delayed") {
    const text = `An e-mail to the customer is late, and its server goes on trying. ${bounce.reason}`;
    return note(text);
  }
  const { state } = bounce;
  if (await concernsCopiesOnly(host, bounce, thread)) {
    const text = `A copy of an e-mail to the customer could not be delivered. ${bounce.reason}`;
    return note(text);
  }
  const about = bounce.about.find((each) => names.isOurId(each));
  // A server that replaced the Message-ID reports on its own: only the thread is known.
  if (about === undefined) {
    const text = `An e-mail of this conversation ${state === "failed" ? "could not be delivered" : "was delivered"}. ${bounce.reason}`;
    return note(text);
  }
  await host.accept({
    kind: "delivery",
    externalId: id,
    partExternalId: markOf(about),
    state,
    ...(state === "failed" ? { error: bounce.reason } : {}),
    ...at,
  });
  return { kind: "noted" };
}

/** Whether delivery failed only for Cc recipients, not for the customer. */
async function concernsCopiesOnly(host: ChannelHost, { state, failedFor }: Bounce, thread: string): Promise<boolean> {
  if (state !== "failed" || failedFor.length === 0) return false;
  const correspondence = await host.threads.correspondence(thread, messagesMax);
  const records = (correspondence?.messages ?? []).flatMap(
    ({ metadata }) => (metadata["mail"] ?? []) as MailRecord | [],
  );
  const customers = new Set([correspondence?.email ?? "", ...records.map((each) => each.reply_to)].map(lower));
  const copies = new Set(records.flatMap(({ cc }) => cc.map(lower)));
  return failedFor.every(
    (known) => known.some((each) => copies.has(each)) && !known.some((each) => customers.has(each)),
  );
}
