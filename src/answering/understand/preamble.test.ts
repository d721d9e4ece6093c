import { describe, expect, it } from "vitest";
import { detailsIn } from "./customer-details.ts";
import { stripPreamble } from "./preamble.ts";
import { smallTalk } from "#answering/classify/small-talk.ts";
import { termsOf } from "#language/words/terms.ts";

describe("stripPreamble", () => {
  it.each([
    ["hi there! quick question, can i use my own model? thanks", "can i use my own model"],
    ["Sorry to bother you, I have a question: how long is the warranty?", "how long is the warranty"],
    ["I was wondering if there is a warranty", "is there a warranty"],
    ["my lamp is broken, please help me!!!", "my lamp is broken"],
    ["Kurze Frage: wie lange ist die Garantie?", "wie lange ist die Garantie"],
    ["J'ai une question : quelle est la garantie ?", "quelle est la garantie"],
    ["Tengo una pregunta, ¿hay garantía?", "hay garantía"],
  ])("removes the preamble: %s", (text, asked) => {
    expect(termsOf(stripPreamble(text))).toEqual(termsOf(asked));
  });

  it.each(["quick question", "How does the help desk work?", "Can you help me choose a lamp?"])(
    "keeps a preamble that is the question: %s",
    (text) => {
      expect(stripPreamble(text)).toBe(text);
    },
  );

  it.each(["HELP", "help me please", "i need help", "hi can you help me", "I have a question"])(
    "leaves a request for help without a subject to the small talk: %s",
    (text) => {
      expect(smallTalk(text)).toEqual({ language: "en", kind: "hello" });
    },
  );

  it.each(["help with my lamp", "I need help with an order", "question about the warranty"])(
    "leaves a request for help with a subject to the search: %s",
    (text) => {
      expect(smallTalk(text)).toBeUndefined();
    },
  );
});

describe("personal details in a question", () => {
  it.each([
    ["en", "My order number is AX-99321: how long is the warranty?"],
    ["de", "Meine Bestellnummer ist AX-99321, wie lange ist die Garantie?"],
    ["de", "Bestellung Nr. AX-99321: wie lange ist die Garantie?"],
    ["fr", "Mon numéro de commande est AX-99321, quelle est la garantie ?"],
    ["es", "Mi número de pedido es AX-99321, ¿cuánto dura la garantía?"],
    ["it", "Il mio numero d'ordine è AX-99321, quanto dura la garanzia?"],
    ["pt", "O número do meu pedido é AX-99321, qual é a garantia?"],
    ["nl", "Mijn bestelnummer is AX-99321, hoe lang is de garantie?"],
    ["sv", "Mitt ordernummer är AX-99321, hur lång är garantin?"],
    ["da", "Mit ordrenummer er AX-99321, hvor lang er garantien?"],
    ["nb", "Ordrenummeret mitt er AX-99321, hvor lang er garantien?"],
    ["fi", "Tilausnumeroni on AX-99321, kuinka pitkä takuu on?"],
    ["ru", "Номер моего заказа AX-99321, какая гарантия?"],
    ["ja", "注文番号はAX-99321です。保証期間は？"],
    ["zh", "我的订单号是AX-99321，保修多久？"],
    ["ko", "주문번호는 AX-99321입니다. 보증 기간은?"],
  ] as const)("is ignored, in %s: %s", (_, text) => {
    expect(detailsIn(text).flat()).toContain("99321");
  });

  it.each(["Fehler 50012 was tun?", "Was kostet das Teil BK-1012?", "¿Qué significa el error 50012?"])(
    "is kept if the question is about the number: %s",
    (text) => {
      expect(detailsIn(text)).toEqual([]);
    },
  );
});
