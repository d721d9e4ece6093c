import type { Mail } from "./mail.ts";
import { headersNamed } from "./mail.ts";

export interface Bounce {
  readonly state: "failed" | "delivered" | "delayed";
  /** A sentence for agents. */
  readonly reason: string;
  /** Message-IDs of the mail that it reports on, most likely first. */
  readonly about: readonly string[];
  /** The failed recipients, in lower case. Each has all its known addresses: a forwarded mail has several. */
  readonly failedFor: readonly (readonly string[])[];
}

const plainText = ({ texts }: Mail): string =>
  texts
    .filter(({ kind }) => kind === "plain")
    .map(({ text }) => text)
    .join("\n");

/** Reads a delivery report; undefined: unreadable. */
export function readBounce(mail: Mail): Bounce | undefined {
  const about = [
    ...new Set([
      ...(mail.report?.original === null || mail.report === null ? [] : [mail.report.original]),
      ...mail.references,
      ...idsInText(plainText(mail)),
    ]),
  ];
  if (mail.report === null) {
    if (about.length === 0) return undefined;
    const recipients = headersNamed(mail, "x-failed-recipients").join(", ");
    const failedFor = recipients.split(",").map((each) => [each.trim().toLowerCase()]);
    return { state: "failed", reason: reasonOf(recipients, "", firstLines(plainText(mail))), about, failedFor };
  }
  const groups = mail.report.status
    .replaceAll("\r\n", "\n")
    .split(/\n\s*\n/)
    .map(fieldsOf);
  const recipients = groups.filter((fields) => fields.has("action") || fields.has("final-recipient"));
  const worst = ["failed", "delayed", "delivered", "relayed", "expanded"].find((action) =>
    recipients.some((fields) => fields.get("action")?.toLowerCase().startsWith(action) === true),
  );
  const fields =
    recipients.find(
      (each) =>
        each
          .get("action")
          ?.toLowerCase()
          .startsWith(worst ?? "") === true,
    ) ?? recipients[0];
  const reason = reasonOf(
    valueOf(fields?.get("final-recipient") ?? fields?.get("original-recipient") ?? ""),
    fields?.get("status") ?? "",
    valueOf(fields?.get("diagnostic-code") ?? ""),
  );
  const failed = worst === "failed" || (worst === undefined && fields?.get("status")?.startsWith("5") === true);
  const failedFor = recipients
    .filter((each) => !/^(?:delivered|relayed|expanded|delayed)/i.test(each.get("action") ?? ""))
    .map((each) =>
      ["final-recipient", "original-recipient"]
        .map((name) => valueOf(each.get(name) ?? "").toLowerCase())
        .filter((address) => address !== ""),
    );
  if (failed) return { state: "failed", reason, about, failedFor };
  if (worst === "delayed" || fields?.get("status")?.startsWith("4") === true)
    return { state: "delayed", reason, about, failedFor: [] };
  if (worst === undefined) return undefined;
  return { state: "delivered", reason, about, failedFor: [] };
}

function fieldsOf(group: string): Map<string, string> {
  const fields = new Map<string, string>();
  let last = "";
  for (const line of group.split("\n")) {
    if (/^[ \t]/.test(line)) {
      if (last !== "") fields.set(last, `${fields.get(last) ?? ""} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    last = line.slice(0, colon).trim().toLowerCase();
    fields.set(last, line.slice(colon + 1).trim());
  }
  return fields;
}

/** Removes the type: `anna@shop.example` from `rfc822; anna@shop.example`. */
const valueOf = (field: string): string => field.slice(field.indexOf(";") + 1).trim();

function reasonOf(recipient: string, status: string, detail: string): string {
  const who = recipient === "" ? "The mail server reports" : `The mail server of ${recipient.slice(0, 190)} reports`;
  const what = [status, detail.slice(0, 300)].filter((part) => part !== "").join(" ");
  return `${who}: ${what === "" ? "the e-mail could not be delivered" : what}`;
}

const firstLines = (text: string): string =>
  text
    .slice(0, 2_000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, 4)
    .join(" ");

/** Old servers return the mail's headers as text. */
const idsInText = (text: string): readonly string[] =>
  [...text.slice(0, 100_000).matchAll(/^[ \t>]{0,8}message-id:\s{0,4}(<[^<>\s]{1,900}>)/gim)]
    .map(([, id]) => id ?? "")
    .slice(0, 5);
