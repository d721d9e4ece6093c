import { blockLinesMax, field, isQuoted, opensBlock, phrases, plainly, sender } from "./quoted-block.ts";

/** A mail that was forwarded within the text of another. */
export interface ForwardedMail {
  /** The fields that the mail program shows of it, and its text. */
  readonly text: string;
  /** The author's name, or the address where the mail has no name. */
  readonly from?: string;
}

/** The place in a text where a forwarded mail begins. */
export interface OpenedForward {
  readonly author: { readonly from?: string; readonly address?: string };
  readonly fields: readonly string[];
  readonly body: readonly string[];
  /** The sender's own lines below a forwarded mail whose lines are marked. */
  readonly below: readonly string[];
}

const betweenDashes = new RegExp(
  `^[ \\t>]{0,8}[-_=]{2,}[ \\t]{0,3}${phrases("forwarded")}[ \\t]{0,3}:?[ \\t]{0,3}[-_=]{2,}`,
  "iu",
);
const beforeColon = new RegExp(`^[ \\t>]{0,8}${phrases("forwarded")}[ \\t]{0,3}[:：][ \\t]{0,3}$`, "iu");

/** The forwarded mail that this line opens. `isForward`: the subject says so, which tells Outlook's block from a quote. */
export function openForward(lines: readonly string[], at: number, isForward: boolean): OpenedForward | undefined {
  const isMarked = isForwardMark(lines, at);
  if (!isMarked && !(isForward && opensBlock(lines, at))) return undefined;
  const isMarkQuoted = isQuoted(lines[at] ?? "");
  // Within an earlier mail it was forwarded to somebody else.
  if (isMarkQuoted && isQuoted(lines.slice(0, at).findLast((line) => line.trim() !== "") ?? "")) return undefined;
  const rest = lines.slice(!isMarked && field.test(plainly(lines[at])) ? at : at + 1);
  const first = rest.find((line) => line.trim() !== "") ?? "";
  // The mail program writes the fields. A quote without them may be the forwarded mail's own.
  const isAllQuoted = isMarkQuoted || (isQuoted(first) && field.test(plainly(unquoted(first))));
  const isOurs = (line: string): boolean => isAllQuoted && !isQuoted(line) && line.trim() !== "";
  const mail = rest.filter((line) => !isOurs(line)).map((line) => (isAllQuoted ? unquoted(line) : line));
  const end = fieldsEnd(mail);
  const fields = mail.slice(0, end);
  return { author: authorIn(fields), fields, body: mail.slice(end), below: rest.filter(isOurs) };
}

/** Whether the line itself says that a forwarded mail follows. People write such words with a colon too, without fields. */
export function isForwardMark(lines: readonly string[], at: number): boolean {
  const line = plainly(lines[at]).slice(0, 200);
  if (betweenDashes.test(line)) return true;
  return beforeColon.test(line) && fieldsEnd(lines.slice(at + 1, at + 1 + blockLinesMax).map(unquoted)) > 0;
}

const unquoted = (line: string): string => line.replace(/^[ \t]{0,3}[>|＞] ?/, "");

/** The number of lines down to the last field. */
function fieldsEnd(lines: readonly string[]): number {
  let end = 0;
  for (const [at, line] of lines.slice(0, 2 * blockLinesMax).entries()) {
    if (field.test(plainly(line))) end = at + 1;
    else if (line.trim() !== "") break;
  }
  return end;
}

const anyAddress =
  /[<([](?:mailto:)?([^\s<>()[\]@]{1,190}@[^\s<>()[\]@]{1,190})[>)\]]|([^\s<>()[\]@]{1,190}@[^\s<>()[\]@]{1,190})/u;

function authorIn(fields: readonly string[]): OpenedForward["author"] {
  const value = fields
    .map(plainly)
    .find((line) => sender.test(line))
    ?.replace(/^[^:：]{0,40}[:：]/, "");
  if (value === undefined) return {};
  const [found, enclosed, bare] = anyAddress.exec(value) ?? [];
  const address = enclosed ?? bare;
  const name = (found === undefined ? value : value.slice(0, value.indexOf(found))).replaceAll(/["*]/g, "").trim();
  const from = name === "" ? address : name;
  return { ...(from === undefined ? {} : { from }), ...(address === undefined ? {} : { address }) };
}
