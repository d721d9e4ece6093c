import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createExtractiveAnswerer } from "#answering/answerer.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";
import type { Answer, Answerer } from "#answering/contract.ts";
import { openEmbeddedIndex } from "#knowledge/index/embedded-index.ts";
import { newSqlite, openTestStore } from "../support/database/databases.ts";
import { newWorkspace, silentLog, testKnowledge } from "../support/knowledge/knowledge.ts";
import { projectDir } from "../support/project/source-tree.ts";

/** First questions of people who try Parley, with the section of the manual that has to answer. */
const questions: readonly (readonly [question: string, section: string])[] = [
  ["How do I add the widget to my website?", "How do I add or embed the chat widget on my website?"],
  ["How do I put the widget on my website?", "How do I add or embed the chat widget on my website?"],
  ["How do I restrict which sites can use the widget?", "How do I restrict which websites can use the widget?"],
  ["How do I change the color of the widget?", "How do I change the colour, title and greeting of the chat?"],
  ["How does Parley decide when to hand over to a human?", "How does Parley decide when to hand over to a human?"],
  ["When does a person take over?", "When does a person take over?"],
  ["Which file types can I upload?", "Which file types can I upload?"],
  ["Can I upload PDF files?", "Which file types can I upload?"],
  ["How do I add documents?", "How do I add documents?"],
  ["How do I create an API key?", "How do I create an API key?"],
  ["How do I revoke an API key?", "How do I replace or revoke an API key?"],
  ["How many requests per minute can I make?", "What are the rate limits: how many requests per minute and per day?"],
  ["What is an SLA and how is it computed?", "What is an SLA and how is it computed?"],
  ["How do I change the SLA targets?", "How do I change the SLA targets?"],
  ["How do I verify a customer's identity?", "How do I verify a customer's identity?"],
  ["Does it work without an internet connection?", "Does it work without an internet connection?"],
  ["Is my data sent to OpenAI?", "Is my data sent to anyone else, such as OpenAI?"],
  ["Where is my data stored?", "Where is my data stored?"],
  ["How do I back up?", "How do I back up?"],
  ["How do I upgrade to a new version?", "How do I update or upgrade to a new version?"],
  ["How do I scale to multiple servers?", "How do I scale to several processes, and run more than one server?"],
  ["How do I use MySQL?", "How do I use MySQL or MariaDB instead of SQLite?"],
  ["Do I need a database server?", "Do I need a database server, Redis or Docker?"],
  ["Can I use it with WhatsApp?", "Can I connect WhatsApp, Telegram, Slack, Discord or e-mail?"],
  ["Can I connect a telephone?", "Can I connect WhatsApp, Telegram, Slack, Discord or e-mail?"],
  ["Hwo do I add a docment?", "How do I add documents?"],
  ["Which channels are there?", "Which channels are there?"],
  ["Which channels are supported?", "Which channels are supported?"],
  ["What channels exist?", "Which channels are there?"],
  ["Does it support telephone?", "Can customers call a telephone number?"],
  ["is it free", "Is it free, and which licence does it have?"],
  ["whats the price", "How much does it cost?"],
  ["my widget doesnt show up", "Why does the widget not show up on my page?"],
  ["the bot doesnt answer anymore", "Why does the bot not answer any more?"],
  ["do i need docker", "Do I need a database server, Redis or Docker?"],
  ["how do i add a colleague", "How do I invite a colleague?"],
  ["how do i crawl my website", "How do I add or crawl a website?"],
  ["What does confidence mean?", "What does confidence mean?"],
  ["What languages are supported?", "Which languages are supported?"],
  ["How do I delete a customer's data?", "How do I delete a customer's data?"],
  ["How do I sign in to the inbox?", "How do I sign in to the inbox?"],
  ["How do I set up Slack?", "How do I connect Slack?"],
  ["How do I set up the desk in Slack?", "How do I switch on the desk?"],
  ["slack setup", "How do I connect Slack?"],
  ["which ports does it need", "Which port does it use, and how do I change it?"],
  ["How do I change the port?", "Which port does it use, and how do I change it?"],
  ["the bot doesnt answer in telegram", "What if the Telegram bot does not answer?"],
  ["Is there a limit of requests per minute?", "What are the rate limits: how many requests per minute and per day?"],
  ["windows support?", "Does it support Windows, macOS or Linux?"],
  ["do you have discord", "Does it support Discord?"],
  ["how do i turn off the greeting", "Can I turn off the greeting?"],
  ["can it hand over to my team", "Can it hand over to my team?"],
  ["how long are files kept", "How long are files kept?"],
  ["how do I make a backup", "How do I back up?"],
  ["how do I backup?", "How do I back up?"],
  ["can i use my own llm like ollama", "Can I use my own language model (LLM), such as Ollama?"],
  ["is my data encrypted", "Is my data encrypted?"],
  ["how to embed the chat on my website", "How do I add or embed the chat widget on my website?"],
  ["What is the difference between the inbox and the desk?", "What is the difference between the inbox and the desk?"],
  ["reset password", "An agent forgot the password. How do they reset it?"],
  ["how many languages does it speak", "Which languages are supported?"],
  ["Can several agents work at the same time?", "Can several agents work at the same time?"],
];

/** Headings whose words are too few to tell the section from another: other texts of the manual decide. */
const ambiguous: readonly string[] = ["What can a rule do?", "How does a customer answer?"];

interface Section {
  readonly heading: string;
  /** The first paragraph or list item; undefined for a table. */
  readonly beginning: string | undefined;
}

/** The sections whose heading is a question. */
function sectionsOf(text: string): readonly Section[] {
  return text.split(/^## /m).flatMap((part): readonly Section[] => {
    const [heading = "", ...lines] = part.split("\n");
    const beginning = lines.find((line) => line !== "" && !line.startsWith("<")) ?? "";
    if (!heading.endsWith("?")) return [];
    return [{ heading: plain(heading), beginning: beginning.startsWith("|") ? undefined : plain(beginning) }];
  });
}

/** Without marks and addresses of links, which an answer has in another form. */
const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\]\([^)]*\)/g, "")
    .replaceAll(/[`*[\]\\]/g, "")
    .replaceAll(/\s+/g, " ");

const elsewhere = ["What is the capital of France?", "How do I bake bread?", "Do you have a Shopify integration?"];

describe("the manual as a knowledge base", () => {
  let answerer: Answerer;
  let workspaceId: string;
  let close: () => Promise<void>;
  const sections: Section[] = [];

  beforeAll(async () => {
    const opened = await openTestStore(newSqlite);
    const index = openEmbeddedIndex({ store: opened.store, path: ":memory:", log: silentLog });
    close = async () => {
      await index.close();
      await opened.close();
    };
    workspaceId = await newWorkspace(opened.store);
    const { add } = testKnowledge(opened.store);
    for (const path of globSync("docs/*.md", { cwd: projectDir })) {
      const text = readFileSync(join(projectDir, path), "utf8");
      await add(workspaceId, basename(path), text);
      sections.push(...sectionsOf(text));
    }
    answerer = createExtractiveAnswerer({ index });
  });
  afterAll(() => close());

  const ask = (text: string): Promise<Answer> =>
    answerer.answer(
      { workspaceId, text, history: [], strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
      new AbortController().signal,
    );

  it.each(questions)("answers “%s”", async (question, section) => {
    const { answered, sources, text } = await ask(question);
    expect(answered, text).toBe(true);
    expect(sources[0]?.title.split(" › ").at(-1), text).toBe(section);
  });

  it("answers each heading that is a question from its section, and begins where that begins", async () => {
    const answeredElsewhere: string[] = [];
    const begunLater: string[] = [];
    for (const { heading, beginning } of sections) {
      const { answered, sources, text } = await ask(heading);
      expect(answered, heading).toBe(true);
      if (plain(sources[0]?.title.split(" › ").at(-1) ?? "") !== heading) answeredElsewhere.push(heading);
      else if (beginning !== undefined && !plain(text).startsWith(beginning.slice(0, 30))) begunLater.push(heading);
    }
    expect(sections.length).toBeGreaterThan(400);
    expect(answeredElsewhere.filter((heading) => !ambiguous.includes(heading))).toEqual([]);
    // Its second paragraph says it in the words of the question.
    expect(begunLater.filter((heading) => heading !== "How do I know when a crawl has ended?")).toEqual([]);
  });

  it.each(["and how large may they be?", "and how big can they be?"])(
    "does not repeat the allowed file types when asked “%s”",
    async (text) => {
      const before = "Which file types can I upload?";
      const history = [
        { role: "user", content: before },
        { role: "assistant", content: (await ask(before)).text },
      ] as const;
      const answer = await answerer.answer(
        { workspaceId, text, history, strictness: "strict", topK: 5, audience: [], settings: defaultSettings },
        new AbortController().signal,
      );
      expect(answer.text).not.toContain("JSON (.json)");
      expect(answer.answered && !answer.text.includes("25 MB"), answer.text).toBe(false);
    },
  );

  it("answers both of two questions in one message, each with its source", async () => {
    const { answered, sources, text } = await ask("How do I connect Telegram and what does it cost?");
    expect(answered, text).toBe(true);
    expect(text).toMatch(
      /^\*\*How do I connect Telegram\?\*\*\n\n1\. .*\*\*What does it cost\?\*\*\n\nIt costs nothing/su,
    );
    const named = sources.map(({ title }) => title.split(" › ").at(-1));
    expect(named).toEqual(["How do I connect Telegram?", "How much does it cost?"]);
  });

  it("answers all of three consecutive questions", async () => {
    const { text } = await ask("How do I add a document, how do I remove it and how do I list them?");
    expect(text).toMatch(
      /^\*\*How do I add a document\?\*\*.*documents add.*\*\*How do I remove it\?\*\*.*documents remove/su,
    );
  });

  it.each(elsewhere)("has no answer to “%s”", async (question) => {
    expect((await ask(question)).answered).toBe(false);
  });
});
