import { describe, expect, it } from "vitest";
import { detailsIn } from "#answering/understand/customer-details.ts";
import { languageOf } from "#language/detection.ts";
import { understand } from "#answering/understand/question.ts";
import { termsOf, wordsOf } from "./terms.ts";

describe("terms", () => {
  it("are stems of content words, without case, accents and apostrophes", () => {
    expect(termsOf("How do I reset the Café's passwords? Don't know!")).toEqual(["reset", "cafe", "password", "know"]);
  });

  it("are found in any script, also where words are not parted by spaces", () => {
    expect(termsOf("Чайники Größe")).toEqual(["чаиники", "große"]);
    expect(wordsOf("電気ケトルの保証").length).toBeGreaterThan(1);
    expect(wordsOf("हिन्दी")).toEqual(["हिन्दी"]);
  });

  it("take a verb of two words and its noun for one", () => {
    for (const text of ["a backup", "I backed up", "backing up", "a back-up"])
      expect(termsOf(text)).toEqual(["backup"]);
    expect(termsOf("How do I set up Slack?")).toEqual(termsOf("Slack setup").toReversed());
    expect(termsOf("How do I log in?")).toEqual(termsOf("login"));
    expect(termsOf("What is in the logs in production?")).toEqual(["log", "product"]);
    expect(termsOf("back", "en")).toEqual(["back"]);
  });

  it("take the forms of a Turkish word for one, also where the stemmer cuts too far or not far enough", () => {
    const words = (text: string): string[] => termsOf(text, "tr");
    expect(words("iadesi")).toEqual(words("iade"));
    expect(words("IŞIĞI")).toEqual(words("ışık"));
    expect(words("Hesabımı nasıl silebilirim?")).toEqual(words("hesap silmek"));
    expect(words("şifremi nasıl değiştiririm")).toEqual(words("şifre değiştirmek"));
    expect(words("İade süresi kaç gün?")).toEqual(words("iade"));
  });

  it("leave out the articles and particles that Arabic writes with a word", () => {
    expect(termsOf("كم مدة الإرجاع؟", "ar")).toEqual(termsOf("ارجاع", "ar"));
    expect(termsOf("هل يمكنني الدفع بالبطاقة؟", "ar")).toEqual(termsOf("دفع البطاقة", "ar"));
  });

  it("are few and short however long a word is", () => {
    expect(termsOf("x".repeat(100_000))[0]?.length).toBeLessThanOrEqual(64);
    expect(termsOf("😀 … — !!!")).toEqual([]);
  });
});

describe("the language of a document", () => {
  it("is detected by different words, not by one that a sample repeats or that is in capitals", () => {
    expect(languageOf("Data: {word: ello}. Data: {word: ello}. Data: {word: ello}. It looks like this.")).toBe("en");
    expect(languageOf("Model names: Vertex AI, Prime AI, Other AI")).toBe("en");
    expect(languageOf("Zahlung mit Kreditkarte")).toBe("de");
    expect(languageOf("WIE LANGE DAUERT DER VERSAND")).toBe("de");
    expect(languageOf("Kargo ücretsiz mi, yoksa ne kadar lazım?")).toBe("tr");
    expect(languageOf("We rely on her, in the end")).toBe("en");
    expect(languageOf("Ik ben er en de bus is weg")).toBe("nl");
    expect(languageOf("Sure, size M")).toBe("en");
    expect(languageOf("هل الشحن مجاني؟")).toBe("ar");
    expect(languageOf("ساعات فروش")).toBe("en");
    expect(languageOf("آیا ارسال رایگان است؟ چگونه پرداخت کنم؟")).toBe("en");
  });
});

describe("what customers say of themselves beside their question", () => {
  it.each([
    ["I am anna.schmidt@mail.example, where is my refund?", ["anna", "schmidt", "mail", "exampl"]],
    ["My refund for order #A-10023 is late", ["10023"]],
    ["Order number is 4711-2024: can I return it?", ["4711", "2024"]],
    ["Call me at +49 (170) 123-45 67 about the warranty", ["49", "170", "123", "45", "67"]],
    ["On https://shop.example/pages/x1?y=2 the price is wrong", ["http", "shop", "exampl", "page", "x1", "y", "2"]],
  ])("is found: %s", (text, terms) => {
    expect(detailsIn(text).flat()).toEqual(expect.arrayContaining(terms));
  });

  it.each([
    "What does error 50012 mean?",
    "What does error #50012 mean?",
    "Is BK-100 the lid or the filter?",
    "Does the warranty of 2024 hold for orders of 2023?",
    "anna@mail.example",
    "Is the phone line open from 9:00 to 17:00?",
  ])("is not what is asked about: %s", (text) => {
    expect(detailsIn(text)).toEqual([]);
  });

  it("is looked for as quickly in a text that was made to be slow", () => {
    const texts = ["a".repeat(4_000), "1 ".repeat(2_000), "order ".repeat(700), `${"a.".repeat(2_000)}@`];
    expect(texts.map((text) => detailsIn(text))).toEqual([[], [], [], []]);
  });
});

describe("a follow-up question", () => {
  const history = [
    { role: "user", content: "What does express delivery cost?" },
    { role: "assistant", content: "It costs 9.90 €." },
  ];

  it("borrows the subject from what the customer asked before", () => {
    for (const text of [
      "and how long does it take?",
      "Why?",
      "how long is that?",
      "And abroad?",
      "what about it",
      "How long?",
      "When can I start?",
    ]) {
      expect(understand(text, history).borrowed, text).toEqual(termsOf("express delivery cost"));
    }
  });

  it("passes over messages that only pointed elsewhere themselves", () => {
    const longer = [
      ...history,
      { role: "user", content: "and why is that?" },
      { role: "assistant", content: "Because." },
    ];
    expect(understand("how?", longer).borrowed).toEqual(termsOf("express delivery cost"));
  });

  it("is none where the question has a subject of its own", () => {
    for (const text of [
      "How do I return a kettle?",
      "Which payment methods are accepted in the shop?",
      "gift cards",
      "How long does a refund take?",
      "How much is a lid?",
      "When is Christmas?",
      "Where is the warehouse?",
    ]) {
      expect(understand(text, history).borrowed, text).toEqual([]);
    }
  });
});
