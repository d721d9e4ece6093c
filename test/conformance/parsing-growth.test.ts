import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { plainBlocks, safeTree } from "#channels/text/markdown.ts";
import { htmlPictures, htmlText } from "#channels/text/html-text.ts";
import type { OutboundMessage } from "#channels/contract.ts";
import type { Skill } from "#domain/workspace/skill.ts";
import { letterBody } from "#language/words/letter-body.ts";
import { hasPhrase, wordsIn } from "#language/words/phrases.ts";
import { angerOf } from "#answering/classify/anger.ts";
import { splitMessage } from "#answering/understand/asked-sentences.ts";
import { humanRequestIn } from "#answering/classify/escalation.ts";
import { guessLanguages } from "#language/detection.ts";
import { clausesOf, cutClauses, namesOf, withoutMarkup } from "#answering/generate/clauses.ts";
import { hardFactsOf, plain } from "#answering/generate/hard-facts.ts";
import { maskPersonalData } from "#answering/generate/personal-data.ts";
import { createPieces } from "#answering/generate/pieces.ts";
import { withoutCommands } from "#answering/generate/prompt.ts";
import { createReview } from "#answering/generate/review.ts";
import { understand } from "#answering/understand/question.ts";
import { escapeMarkdown } from "#answering/extract/render-units.ts";
import { questionsIn } from "#answering/understand/multi-question.ts";
import { spokenLanguage } from "#answering/understand/asker-language.ts";
import { termsOf } from "#language/words/terms.ts";
import { evidenceOf } from "#answering/generate/support.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { chunkDocument } from "#knowledge/documents/chunk.ts";
import { readRobots } from "#knowledge/crawl/site.ts";
import { readSitemap } from "#knowledge/crawl/sitemap.ts";
import { parseTextDocument } from "#knowledge/parse/parse.ts";
import { readPageHead } from "#knowledge/parse/html/page-head.ts";
import { splitSentences } from "#language/words/sentences.ts";
import type { TextType } from "#knowledge/documents/file-types.ts";
import { chosenByPhrase } from "#skills/chosen-by-phrase.ts";
import { readValues } from "#skills/skill-arguments.ts";
import { fitsShape } from "#skills/shape.ts";
import { documentOf, phrasesOf } from "#database/search/words.ts";
import { messageEvent } from "#adapters/discord/inbound.ts";
import { renderParts as discordParts } from "#adapters/discord/render.ts";
import { verdictOf } from "#adapters/email/mime/authentication.ts";
import { tooComplex } from "#adapters/email/mime/limits.ts";
import { renderMail } from "#adapters/email/render.ts";
import { createMessageIds } from "#adapters/email/mime/message-ids.ts";
import { readMail } from "#adapters/email/mime/parse.ts";
import { visibleText } from "#adapters/email/mime/visible-text.ts";
import { markdownOf } from "#adapters/slack/desk/render.ts";
import { namedUsers, plainText } from "#adapters/slack/messages/mrkdwn.ts";
import { renderParts as slackParts } from "#adapters/slack/render.ts";
import { renderParts as telegramParts } from "#adapters/telegram/render.ts";
import { richTextOf } from "#adapters/telegram/rich-text.ts";
import { worseThanLinear } from "../support/growth.ts";
import { isFullTier } from "../support/tier.ts";

const sent = (markdown: string): OutboundMessage => ({ role: "agent", authorName: "Ada", markdown, sources: [] });

const skill: Skill = {
  kind: "lookup",
  name: "order",
  description: "Looks up an order.",
  phrases: ["where is my order {number}", "track {number}"],
  arguments: [
    { name: "number", type: "string", description: "The number.", optional: false, shapes: ["A-####", "#+", "@+-#+"] },
  ],
  answer: null,
  verified: false,
  method: "GET",
  safe: true,
  request: "{}",
  timeoutMs: 1_000,
  bytesMax: 1_000,
  fields: [],
  notFound: null,
};

const readAs = (type: TextType) => (text: string) => chunkDocument(parseTextDocument(Buffer.from(text), type), "T");

const firstLines = (text: string, count: number): string => text.split("\n", count).join("\n");

/** An invalid text is refused, which must not take longer. */
const orRefused = (parse: (text: string) => unknown) => async (text: string) => {
  try {
    return await parse(text);
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined;
    throw error;
  }
};

const mail = (headers: string, body = "Hello."): Buffer =>
  Buffer.from(`From: a@b.example\r\nTo: c@d.example\r\nSubject: x\r\n${headers}\r\n\r\n${body}\r\n`);
const headersOf = (name: string, text: string): Buffer => mail(`${name}: ${text.replaceAll(/\r?\n/g, "\r\n ")}`);
const read = (raw: Buffer) => readMail({ raw, bytes: raw.length });
const messageIds = createMessageIds({ signToken: (text: string) => text }, "help@shop.example");

const review = (text: string): unknown => {
  const pieces = createPieces();
  const written = createReview({
    evidence: [evidenceOf({ title: "Shipping", url: null, text: "Shipping takes 3 days and costs 4.90 €." })],
    strictness: "strict",
    sourcesMax: 5,
    leaks: () => false,
    judged: (each) => each,
  });
  return [written.take([...pieces.feed(text), ...pieces.end(false)]), written.sum()];
};

const manySkills: readonly Skill[] = Array.from({ length: 200 }, (_, at) => ({
  ...skill,
  name: `order${at}`,
  phrases: [`order order order ${at} {number}`],
  arguments: skill.arguments.map((each) => ({ ...each, shapes: ["#+#+#+x"] })),
}));

/** Each parser with the length of the longest text that it gets, and pieces that could be slow for it alone. */
const parsers: readonly (readonly [string, number, (text: string) => unknown, (readonly string[])?])[] = [
  ["Markdown that is shown", 16_000, (text) => safeTree(`${text}.`)],
  ["plain text that is shown", 20_000, plainBlocks],
  ["a Markdown document", 3_000, readAs("text/markdown")],
  ["an HTML document", 4_000, readAs("text/html")],
  ["a text document", 4_000, readAs("text/plain")],
  ["a CSV document", 4_000, readAs("text/csv")],
  ["a JSON document", 4_000, (text) => readAs("application/json")(JSON.stringify([text, { a: text }]))],
  [
    "the head of a page",
    4_000,
    (text) => readPageHead({ bytes: Buffer.from(text), type: "text/html" }, "https://a.example/"),
  ],
  // Longer front matter is not read as such.
  ["front matter in YAML", 2_000, (text) => readAs("text/markdown")(`---\n${firstLines(text, 190)}\n---\n\nText.`)],
  ["a sitemap", 4_000, (text) => readSitemap(Buffer.from(`<urlset>${text}</urlset>`))],
  [
    "robots.txt",
    20_000,
    (text) => readRobots("https://a.example", `User-agent: *\nDisallow: /${text}`).allows("https://a.example/x"),
  ],
  ["sentences", 20_000, splitSentences],
  ["HTML of a mail", 20_000, htmlText],
  ["pictures in HTML of a mail", 20_000, htmlPictures],
  ["the body of a mail", 20_000, (text) => read(mail("X: y", text))],
  ["header fields of a mail", 30_000, (text) => read(mail(text.replaceAll(/\n+/g, "\nX: ")))],
  ["recipients of a mail", 30_000, async (text) => messageIds.threadFrom(await read(headersOf("To", text)))],
  [
    "delivery headers of a mail",
    30_000,
    async (text) => messageIds.threadFrom(await read(headersOf("Delivered-To", text))),
  ],
  ["references of a mail", 30_000, (text) => read(headersOf("References", text))],
  ["the subject of a mail", 30_000, (text) => read(headersOf("Subject", text))],
  ["the content type of a mail", 30_000, (text) => read(headersOf("Content-Type", `multipart/mixed; ${text}`))],
  [
    "the checks of a mail",
    30_000,
    (text) => verdictOf({ headers: [{ name: "authentication-results", value: text }], from: null }, "mx.example"),
  ],
  ["the parts of a mail", 30_000, (text) => tooComplex(mail(text, text))],
  [
    "quoted and forwarded mail",
    20_000,
    (text) => [visibleText(text), visibleText(text, { isForward: true })],
    [
      "---- Forwarded message ----\nFrom: a@x.example\n",
      "> Begin forwarded message:\n> From: a@x.example\n\na\n",
      "Sent from my iPhone\n",
      "Sent from my iPhone\n> a\n",
    ],
  ],
  ["a letter", 20_000, letterBody],
  ["a mail that is sent", 16_000, (text) => renderMail(sent(text))],
  [
    "Slack's markup",
    20_000,
    (text) => [plainText(text, { users: new Map(), emoji: new Map([["a", "😀"]]) }), namedUsers(text)],
  ],
  ["an agent's text in Slack", 20_000, markdownOf],
  ["a message for Slack", 16_000, (text) => slackParts(sent(text))],
  ["a message for Telegram", 16_000, (text) => telegramParts(sent(text))],
  [
    "rich text of Telegram",
    20_000,
    (text) => richTextOf(text.split("\n").map((each) => ({ text: [each, { text: each }] }))),
  ],
  ["a message for Discord", 16_000, (text) => discordParts(sent(text), "A person")],
  [
    "a message of Discord",
    20_000,
    (text) =>
      messageEvent({ id: "1", channel_id: "2", type: 0, content: text, author: { id: "3" } } as never, "t", "4"),
  ],
  ["the words of a conversation", 50_000, (text) => documentOf("wt_abcdef_0123456789", [text])],
  ["the words of a search", 4_000, (text) => phrasesOf("wt_abcdef_0123456789", text)],
  ["terms", 20_000, (text) => termsOf(text)],
  ["languages", 20_000, (text) => [guessLanguages(text), spokenLanguage([text])]],
  ["phrases of rules", 20_000, (text) => hasPhrase(wordsIn(text), "talk to a person")],
  [
    "the wish for a person",
    16_000,
    (text) => [humanRequestIn(text, ["talk to a person", "担当者"]), humanRequestIn(`how ${text}`, null)],
    ["not a person talk to ", "not talk human ", "real person "],
  ],
  ["anger", 16_000, angerOf, ["not useless this is a joke WTF!!! "]],
  ["the question of a message", 16_000, (text) => [splitMessage(text), questionsIn(text)]],
  ["what a question asks for", 4_000, (text) => understand(text, [{ role: "user", content: text }])],
  [
    "skills and their arguments",
    16_000,
    (text) => [
      chosenByPhrase([skill], `track ${text}`, []),
      chosenByPhrase([skill], text.slice(0, 4_000), []),
      readValues(skill, { number: text }),
    ],
  ],
  ["many skills", 2_000, (text) => chosenByPhrase(manySkills, text, []), ["order ", "1"]],
  // All readings are tried together: one after the other, there would be millions.
  ["the shape of an argument", 20, (text) => fitsShape(text, `${"*+".repeat(text.length / 2)}@`), ["1"]],
  [
    "personal data",
    20_000,
    (text) => {
      const { texts, restore, withoutPlaceholders } = maskPersonalData([text], () => "ab12cd");
      return [restore(texts[0] ?? ""), withoutPlaceholders(texts[0] ?? "")];
    },
  ],
  ["hard facts", 20_000, (text) => hardFactsOf(plain(text))],
  [
    "clauses",
    4_000,
    (text) => [cutClauses(text), clausesOf(text, new Set()), namesOf(text), withoutMarkup(text), withoutCommands(text)],
  ],
  ["what a model writes", 16_000, review],
  ["what is quoted from documents", 16_000, escapeMarkdown],
];

// These texts take long on a busy machine.
describe.runIf(isFullTier)("parsing", { timeout: 180_000 }, () => {
  for (const [what, size, parse, own] of parsers) {
    it(`of ${what} takes linear time for ${size} repeated characters, words and lines`, async () => {
      expect(await worseThanLinear(orRefused(parse), size, own)).toEqual([]);
    });
  }
});
