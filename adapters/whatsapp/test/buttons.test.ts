import { afterEach, describe, expect, it } from "vitest";
import {
  answerFromDocuments,
  resolveWithSurvey,
  scoresOf,
  surveysOn,
  thumbsOf,
} from "#test/support/channels/opinions.ts";
import { renderParts } from "../render.ts";
import type { WhatsappPart } from "../render.ts";
import type { WhatsappBench } from "./support/account.ts";
import { openWhatsapp } from "./support/account.ts";

const customer = "15551000001";
let at: WhatsappBench;
afterEach(() => at.close());

async function asked(config: object = {}): Promise<void> {
  at = await openWhatsapp({ config, settings: surveysOn });
  answerFromDocuments(at.bench);
  await at.meta.write(customer, "When do you open?");
  await at.bench.settle();
}

interface Choice {
  readonly id: string;
  readonly title: string;
}

/** The buttons or rows of the newest message. */
function choices(): readonly Choice[] {
  const { action } = (at.meta.taken.at(-1)?.request["interactive"] ?? { action: {} }) as {
    readonly action: {
      readonly buttons?: readonly { readonly reply: Choice }[];
      readonly sections?: readonly { readonly rows: readonly Choice[] }[];
    };
  };
  return action.buttons?.map(({ reply }) => reply) ?? action.sections?.flatMap(({ rows }) => rows) ?? [];
}

async function press(title: string, kind: "button_reply" | "list_reply" = "button_reply"): Promise<void> {
  const choice = choices().find((each) => each.title === title);
  expect(choice, title).toBeDefined();
  await at.meta.write(customer, "", {
    type: "interactive",
    text: undefined,
    interactive: { type: kind, [kind]: choice },
  });
  await at.bench.settle();
}

describe("buttons below an answer", () => {
  it("are thumbs, of which the last one counts", async () => {
    await asked();
    expect(choices().map(({ title }) => title)).toEqual(["👍", "👎"]);
    await press("👍");
    expect(await thumbsOf(at.bench)).toEqual(["up"]);
    await press("👎");
    expect(await thumbsOf(at.bench)).toEqual(["down"]);
    expect(await at.stored()).toHaveLength(1);
  });

  it("bring a person, once the account has a label for it", async () => {
    await asked({ person_button: "Talk to a person" });
    expect(choices().map(({ title }) => title)).toEqual(["👍", "👎", "Talk to a person"]);
    await press("Talk to a person");
    expect(await at.conversation()).toMatchObject({ status: "escalated" });
    expect((await at.stored()).at(-1)?.content).toBe("Talk to a person");
    expect(choices()).toEqual([]);
  });

  it("give way to the text alone where Meta refuses them, and their label can be typed", async () => {
    at = await openWhatsapp({ config: { person_button: "Get Ada" } });
    answerFromDocuments(at.bench);
    at.meta.fail({ kind: "error", code: 131_009, details: "Parameter value is not valid" });
    await at.meta.write(customer, "When do you open?");
    await at.bench.settle();
    expect(at.meta.taken.map(({ type }) => type)).toEqual(["text"]);
    expect(at.shown(customer)[0]).toMatch(/\n\nGet Ada$/);
    expect(at.bench.logged.join("\n")).toContain("whatsapp: message sent without its buttons");
    await at.meta.write(customer, "get ada ");
    await at.bench.settle();
    expect(await at.conversation()).toMatchObject({ status: "escalated" });
  });

  it.each([{ kind: "hang_up_after_commit" }, { kind: "html", status: 502 }, { kind: "error", code: 131_026 }] as const)(
    "leave no second message after $kind",
    async (fault) => {
      at = await openWhatsapp();
      answerFromDocuments(at.bench);
      at.meta.fail(fault);
      await at.meta.write(customer, "When do you open?");
      await at.bench.settle();
      await at.bench.advance(3_600_000);
      const answers = at.meta.taken.filter(({ body }) => body.includes("Every day."));
      expect(answers.map(({ type }) => type)).toEqual(fault.kind === "hang_up_after_commit" ? ["interactive"] : []);
    },
  );

  it("carry the end of a long answer, and nothing of it is lost", () => {
    const words = Array.from({ length: 1_500 }, (_, index) => `w${index}`);
    const parts = renderParts({
      role: "assistant",
      authorName: null,
      markdown: words.join(" "),
      sources: [],
      kind: "answer",
    });
    const payloads = parts.map(({ payload }) => payload as WhatsappPart);
    expect(payloads.map(({ buttons }) => buttons !== undefined)).toEqual([...payloads.slice(1).map(() => false), true]);
    expect(payloads.at(-1)?.body.length).toBeLessThanOrEqual(1_024);
    expect(payloads.map(({ body }) => body).join(" ")).toBe(words.join(" "));
  });
});

describe("a survey", () => {
  it("is a list of stars, and the chosen one is the rating", async () => {
    await asked();
    await resolveWithSurvey(at.bench);
    expect(choices().map(({ title }) => title)).toEqual(["5 ★", "4 ★", "3 ★", "2 ★", "1 ★"]);
    await press("4 ★", "list_reply");
    expect(await scoresOf(at.bench)).toEqual([4]);
  });

  it("opens the reply window for an agent by its rating, which is no message", async () => {
    await asked();
    await resolveWithSurvey(at.bench);
    await at.bench.pass(25 * 3_600_000);
    expect(await at.states(await at.reply("Too late"))).toEqual(["failed"]);
    await press("5 ★", "list_reply");
    expect(await scoresOf(at.bench)).toEqual([5]);
    expect(await at.states(await at.reply("In time"))).toEqual(["sent"]);
    expect(await at.stored()).toHaveLength(1);
  });
});
