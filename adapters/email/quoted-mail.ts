import type { Correspondence } from "#channels/contract.ts";
import type { MailRecord } from "./inbound/record.ts";
import type { MailPart } from "./render.ts";
import { escape } from "./render.ts";

/** Longer mails are quoted up to here. */
const quotedMax = 8_000;

export interface CustomersMail {
  readonly record: MailRecord;
  /** With what it quotes itself, as far as it was kept. Empty where the message was deleted. */
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The customer's latest mail; mails of others in the thread do not count. */
export function lastOfCustomer({ messages }: Correspondence): CustomersMail | undefined {
  for (const { role, guest, metadata, content, createdAt } of messages) {
    const record = metadata["mail"] as MailRecord | undefined;
    if (role === "user" && !guest && record !== undefined)
      return { record, text: content === "" ? "" : (record.original ?? content), at: createdAt };
  }
  return undefined;
}

/** An agent's mail with the customer's below it, as mail programs write it: in every thread people look there for what was said. */
export function withQuotedMail(
  mail: Pick<MailPart, "text" | "html" | "role">,
  answered: CustomersMail | undefined,
): Pick<MailPart, "text" | "html"> {
  const { text, html } = mail;
  if (mail.role !== "agent" || answered === undefined || answered.text === "") return { text, html };
  const quoted =
    answered.text.length > quotedMax ? `${answered.text.slice(0, quotedMax).toWellFormed()}…` : answered.text;
  // In no language: the customer's is not known for certain.
  const head = `${new Date(answered.at).toISOString().slice(0, 16).replace("T", " ")} UTC, <${answered.record.from}>:`;
  const lines = quoted.split("\n").map((line) => (line.startsWith(">") ? `>${line}` : `> ${line}`.trimEnd()));
  const block = `<div class="gmail_quote"><p>${escape(head)}</p>\n<blockquote type="cite" style="border-left:1px solid #d0d7de;margin:0;padding-left:12px;white-space:pre-wrap">${escape(quoted)}</blockquote></div>`;
  return {
    text: `${text}\n\n${head}\n${lines.join("\n")}`,
    html: html.replace(/\n<\/body><\/html>$/u, () => `\n${block}\n</body></html>`),
  };
}
