// How exactly the customer's new text is found in a reply by e-mail:
//   npm run bench:mail-replies -- [--split tune|report|all] [--misses]
// `replies.json` holds 200 made-up replies in the forms of some forty mail programs and 26 languages, written without
// sight of the rules. A reply counts as exact if its text is the expected one, apart from white space. The halves are fixed
// by hash: choose rules on `tune`, and look at `report` once.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import Type from "typebox";
import Value from "typebox/value";
import { humanRequestIn } from "#answering/classify/escalation.ts";
import { readMail } from "../../adapters/email/mime/parse.ts";
import { messageText } from "../../adapters/email/inbound/text.ts";
import type { Half } from "../question-sets.ts";
import { inHalf } from "../question-sets.ts";

const { values: options } = parseArgs({
  options: { split: { type: "string", default: "tune" }, misses: { type: "boolean", default: false } },
});
const text = Type.Union([Type.String(), Type.Null()]);
const Replies = Type.Array(
  Type.Object({
    id: Type.String(),
    client: Type.String(),
    language: Type.String(),
    plain: text,
    html: text,
    expected: Type.String(),
  }),
);
type Reply = Type.Static<typeof Replies>[number];

const replies = Value.Parse(
  Replies,
  JSON.parse(readFileSync(join(import.meta.dirname, "replies.json"), "utf8")),
).filter(({ id }) => inHalf(id, options.split as Half));

const partOf = (type: string, body: string): string =>
  [
    `Content-Type: ${type}; charset=utf-8`,
    "Content-Transfer-Encoding: base64",
    "",
    Buffer.from(body).toString("base64").replaceAll(/.{76}/g, "$&\r\n"),
  ].join("\r\n");

function mailOf({ plain, html }: Reply): Buffer {
  const parts = [
    ...(plain === null ? [] : [partOf("text/plain", plain)]),
    ...(html === null ? [] : [partOf("text/html", html)]),
  ];
  const head =
    "From: customer@mail.example\r\nTo: help@shop.example\r\nSubject: Re: Your question\r\nMIME-Version: 1.0";
  const [only = ""] = parts;
  const body =
    parts.length === 1
      ? only
      : `Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n${parts.join("\r\n--b\r\n")}\r\n--b--\r\n`;
  return Buffer.from(`${head}\r\n${body}`);
}

const flat = (each: string): string => each.replaceAll(/\s+/g, " ").trim();

interface Result {
  readonly reply: Reply;
  readonly found: string;
  readonly isExact: boolean;
  readonly asksForPerson: boolean;
}

async function read(reply: Reply): Promise<Result> {
  const raw = mailOf(reply);
  const mail = await readMail({ raw, bytes: raw.length });
  const { text: found } = messageText(mail, { begins: false, takesForwarded: true });
  return {
    reply,
    found,
    isExact: flat(found) === flat(reply.expected),
    asksForPerson: humanRequestIn(found, null) !== undefined,
  };
}

const results: Result[] = [];
for (const reply of replies) results.push(await read(reply));

const rowOf = (group: string, of: readonly Result[]) => ({
  group,
  replies: of.length,
  exact: of.filter(({ isExact }) => isExact).length,
  "percent exact": Math.round((100 * of.filter(({ isExact }) => isExact).length) / of.length),
  "taken for a wish for a person": of.filter(({ asksForPerson }) => asksForPerson).length,
});
console.table([
  rowOf("all", results),
  ...[
    ...Map.groupBy(results, ({ reply }) => (reply.html === null ? "plain" : reply.plain === null ? "HTML" : "both")),
  ].map(([group, of]) => rowOf(group, of)),
  ...[...Map.groupBy(results, ({ reply }) => reply.language)].map(([group, of]) => rowOf(group, of)),
]);
if (options.misses && options.split === "tune") {
  for (const { reply, found, isExact } of results) {
    if (!isExact) console.log(`\n== ${reply.id} (${reply.client})\n-- expected\n${reply.expected}\n-- found\n${found}`);
  }
}
