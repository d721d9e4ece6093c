import { blockLinesMax, field, isQuoted, opensBlock, phrases, plainly, sender } from "./quoted-block.ts";

/** A mail that was forwarded within the text of another. */
export interface ForwardedMail {
  /** The fields that the mail program shows of it, and its text. */
  readonly text: string;
  /** The author's name, or the address where the mail has no name. Not proven: anyone can write such a mail. */
  readonly from?: string;
}

/** The place in a text where a forwarded mail begins. */
interface OpenedForward {
  readonly from: string | undefined;
  /** The fields and the text. */
  readonly mail: readonly string[];
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
  return { from: authorIn(mail.slice(0, fieldsEnd(mail))), mail, below: rest.filter(isOurs) };
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

const enclosedAddress = /[<([](?:mailto:)?([^\s<>()[\]@]{1,190}@[^\s<>()[\]@]{1,190})[>)\]]/gu;

function authorIn(fields: readonly string[]): string | undefined {
  const value = fields
    .map(plainly)
    .find((line) => sender.test(line))
    ?.replace(/^[^:：]{0,40}[:：]/, "")
    .replaceAll(/["*]/g, "")
    .trim();
  const address = value === undefined ? undefined : [...value.matchAll(enclosedAddress)].at(-1);
  if (address === undefined) return value === "" ? undefined : value;
  // A name is free text: one with an address in it would pass for another author.
  const name = address.input.slice(0, address.index).trim();
  return name === "" || name.includes("@") ? address[1] : name;
}
