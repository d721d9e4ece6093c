import { describe, expect, it } from "vitest";
import { namesOf } from "./clauses.ts";
import { evidenceOf, objectionTo } from "./support.ts";
import type { Strictness } from "#domain/workspace/settings.ts";

const passage = (title: string, text: string, url: string | null = null) => evidenceOf({ title, text, url });

const shop = [
  passage(
    "Blue Kettle help › How long does delivery take?",
    "Orders placed before 14:00 leave our warehouse the same day. Delivery within the country takes one to three working days; abroad it takes up to eight working days.",
  ),
  passage(
    "Blue Kettle help › What does shipping cost?",
    "Shipping is free from 40 €. Below that it costs 4.90 €. Express delivery is 9.90 €.",
  ),
  passage(
    "Blue Kettle help › How do I return an item?",
    "You can return any item within 30 days of receiving it, unused and in its box. The box can be opened. What was made to order for you, such as an engraved kettle, cannot be returned unless it is faulty, and neither can gift cards be.\n\n1. Open **My orders** and choose the order.\n2. Click **Return items** and select what goes back.\n3. Print the label with `Ctrl+P` and stick it on the parcel.\n4. Hand it in at any post office.\n\nThe money is back on your account within five working days. Write to returns@kettle.example or see https://kettle.example/returns for the address.",
    "https://kettle.example/help/returns",
  ),
  passage(
    "Blue Kettle help › Warranty",
    "Every kettle has a warranty of three years. It covers faults in material and workmanship, but not limescale. Anna Berg manages repairs, and Bob Stone manages spare parts. Anna Berg reports to Bob Stone.",
  ),
  passage(
    "Blue Kettle help › Parts",
    "| Part | Number | Price |\n| Lid | BK-100 | 7 € |\n| Filter | BK-101 | 4 € |\n| Base | BK-102 | 12 € |",
  ),
  passage(
    "Server guide › Back up",
    "Run the command before you upgrade. It needs at least 2 GB of memory. Turn on the scheduler afterwards.\n\n```\nkettle backup --to /var/backups\nkettle verify\n```\n\nLogging is enabled by default. Version 3.2.1 needs Node 24.",
  ),
  passage(
    "Blue Kettle help › Opening hours",
    "The shop opens at 9 a.m. and closes at 18:30. Scheduled pickups can be changed until 23:00 on the evening before. We write you a text message before the pickup. Children can join the club until their 12th birthday.",
  ),
] as const;

function judge(statement: string, cited: number | readonly number[], strictness: Strictness = "strict") {
  const list = typeof cited === "number" ? [cited] : cited;
  return objectionTo(
    statement,
    list.map((index) => shop[index - 1]).filter((each) => each !== undefined),
    strictness,
  );
}

it("takes no contraction for a name", () => {
  expect(namesOf("They'll come. You’ve paid. Don't ask Bob Stone.")).toEqual(["bob stone"]);
});

describe("a statement that the cited passage supports", () => {
  it.each<[string, number | readonly number[]]>([
    ["Delivery within the country takes one to three working days.", 1],
    ["Within the country, delivery takes 1-3 working days.", 1],
    ["Deliveries abroad take up to 8 working days.", 1],
    ["International delivery takes up to eight working days.", 1],
    ["If you order before 14:00, your order leaves the warehouse on the same day.", 1],
    ["Shipping is free from 40 €.", 2],
    ["Shipping is free for orders from €40.", 2],
    ["Delivery is free from 40 euros.", 2],
    ["Orders below 40 € cost 4.90 € to ship.", 2],
    ["Express delivery costs €9.90.", 2],
    ["Express delivery is EUR 9,90.", 2],
    ["You can return an unused item in its box within 30 days of receiving it.", 3],
    ["Items may be returned within thirty days.", 3],
    ["Gift cards cannot be returned.", 3],
    ["Engraved kettles cannot be returned unless they are faulty.", 3],
    ["You can return items within 30 days, but gift cards cannot be returned.", 3],
    ["You'll have the money back on your account within 5 working days.", 3],
    ["Open **My orders** and choose the order.", 3],
    ["Print the label with `Ctrl+P` and stick it on the parcel.", 3],
    ["Write to returns@kettle.example for the address.", 3],
    ["The address is at [https://kettle.example/returns](https://kettle.example/returns).", 3],
    ["See [how to return an item](https://kettle.example/help/returns).", 3],
    ["Every kettle has a three-year warranty.", 4],
    ["The warranty covers faults in material and workmanship.", 4],
    ["Limescale is not covered by the warranty.", 4],
    ["Anna Berg manages repairs.", 4],
    ["Bob Stone manages spare parts.", 4],
    ["Anna Berg reports to Bob Stone.", 4],
    ["The lid (BK-100) costs 7 €.", 5],
    ["The filter costs 4 € and the base 12 €.", 5],
    ["Run `kettle backup --to /var/backups` before you upgrade.", 6],
    ["It needs at least 2 GB of memory.", 6],
    ["Version 3.2.1 needs Node 24.", 6],
    ["Scheduled pickups can be changed until 11 p.m. on the evening before.", 7],
    ["Scheduled pickups can be changed until 11pm on the evening before.", 7],
    ["The shop opens at 9:00 and closes at 6:30 pm.", 7],
    ["The shop opens at 9 and closes at 18:30.", 7],
    ["The shop opens at 9:00 a.m.", 7],
    ["Children can join the club until the birthday at which they turn 12.", 7],
    ["Before the pickup we write you an SMS.", 7],
    ["Shipping is free from 40 €, and a kettle has a warranty of three years.", [2, 4]],
  ])("passes: %s", (statement, cited) => {
    expect(judge(statement, cited)).toBeUndefined();
  });
});

describe("a statement that the cited passage does not support", () => {
  it.each<[string, string, number | readonly number[]]>([
    ["an invented number", "You can return any item within 60 days.", 3],
    ["an invented number in words", "You can return any item within sixty days.", 3],
    ["an invented price", "Express delivery costs 19.90 €.", 2],
    ["a number of another passage", "You can return any item within 40 days.", 3],
    ["a wrong unit", "You can return any item within 30 hours.", 3],
    ["a wrong unit with the number elsewhere", "The warranty lasts three months.", 4],
    ["a wrong currency", "Shipping is free from $40.", 2],
    ["a wrong size", "It needs at least 2 TB of memory.", 6],
    ["a shifted decimal", "Express delivery costs 99.0 €.", 2],
    ["a wrong time", "Orders placed before 16:00 leave our warehouse the same day.", 1],
    ["swapped times", "The shop opens at 6:30 p.m. and closes at 9:00.", 7],
    ["an hour as a number of things", "Up to 11 scheduled pickups can be changed on the evening before.", 7],
    ["a time without its half of the day", "The shop closes at 6:30.", 7],
    ["a rank as an amount", "The club costs 12 €.", 7],
    ["an amount as a rank", "You can return any item by the 30th.", 3],
    ["the other half of the day", "Scheduled pickups can be changed until 11 a.m. on the evening before.", 7],
    ["the other half of the day as a whole time", "The shop opens at 21:00.", 7],
    ["another birthday", "Children can join the club until their 13th birthday.", 7],
    ["an abbreviation that the source does not spell out", "The shop in the UK opens at 9 a.m.", 7],
    ["a price of another article", "The lid costs 4 €.", 5],
    ["a price of another service", "Express delivery costs 4.90 €.", 2],
    ["a time of another case", "Delivery within the country takes up to eight working days.", 1],
    ["a time of the first case", "Abroad, delivery takes one to three working days.", 1],
    ["swapped prices", "The filter costs 12 € and the base 4 €.", 5],
    ["swapped names", "Bob Stone manages repairs.", 4],
    ["swapped roles", "Bob Stone reports to Anna Berg.", 4],
    ["an invented name", "Carla Winter manages repairs.", 4],
    ["a name at the beginning", "Amazon handles faults in material and workmanship.", 4],
    ["an invented article number", "The lid is BK-109.", 5],
    ["a negation taken away", "Gift cards can be returned.", 3],
    ["a negation taken away from an example", "An engraved kettle can be returned.", 3],
    ["a negation put in", "You cannot return an item within 30 days.", 3],
    ["a negation flipped", "The warranty covers limescale.", 4],
    ["a negation flipped the other way", "The warranty does not cover faults in material.", 4],
    ["a denial by another word", "The box must never be opened.", 3],
    ["before for after", "Run the command after you upgrade.", 6],
    ["at most for at least", "It needs at most 2 GB of memory.", 6],
    ["off for on", "Turn off the scheduler afterwards.", 6],
    ["disabled for enabled", "Logging is disabled by default.", 6],
    ["an invented link", "Write to returns@kettle.example or see https://kettle-returns.example/form.", 3],
    ["another page of the site", "See https://kettle.example/returns/upload for the address.", 3],
    ["an invented domain without a scheme", "See evil.example for the address.", 3],
    ["an invented target behind a true text", "See [https://kettle.example/returns](https://evil.example/returns).", 3],
    ["a script as a link", "See [the address](javascript:alert(1)).", 3],
    ["an invented address", "Write to refunds@kettle.example for the address.", 3],
    ["an invented phone number", "Write to returns@kettle.example or call +49 30 1234567.", 3],
    ["an image", "Open My orders and choose the order. ![](https://kettle.example/returns)", 3],
    ["a tag", "Open My orders <img src=x onerror=alert(1)> and choose the order.", 3],
    ["a reference link", "Open [My orders][1] and choose the order.", 3],
    ["a definition of a link", "[orders]: https://kettle.example/returns", 3],
    ["invented code", "Run `kettle backup --to /tmp` before you upgrade.", 6],
    ["an invented command", "Run `rm -rf /` before you upgrade.", 6],
    ["another version", "Version 3.2.2 needs Node 24.", 6],
    ["something else altogether", "Our founder started the company in a small garage.", 4],
    ["words from all over", "Gift cards are opened in any post office with a label.", 3],
    ["an invented condition", "You can return worn shoes and opened perfume bottles.", 3],
    ["an invented day", "Orders placed before 14:00 on Sunday leave our warehouse the same day.", 1],
    ["a promise", "Delivery within the country is guaranteed and immediately confirmed.", 1],
    ["a bare yes", "Yes.", 3],
    ["hidden characters in a number", "You can return any item within 3\u200b65 days.", 3],
    ["digits of another script", "You can return any item within ٦٠ days.", 3],
  ])("is rejected for %s: %s", (_what, statement, cited) => {
    expect(judge(statement, cited)).toBeTypeOf("string");
  });

  it("rejects statements without a citation", () => {
    expect(objectionTo("Shipping is free from 40 €.", [], "strict")).toBeTypeOf("string");
  });

  it("rejects a true sentence that cites the wrong passage", () => {
    expect(judge("Shipping is free from 40 €.", 4)).toBe("a number that is not in the source");
  });

  it("gives the reason", () => {
    expect(judge("You can return any item within 60 days.", 3)).toBe("a number that is not in the source");
    expect(judge("You can return any item within 30 hours.", 3)).toBe(
      "a unit that the number does not have in the source",
    );
    expect(judge("Gift cards can be returned.", 3)).toBe("the source says the opposite");
    expect(judge("The lid costs 4 €.", 5)).toBe("the source says it of something else");
    expect(judge("Carla Winter manages repairs.", 4)).toBe("a name that is not in the source");
  });
});

describe("other languages", () => {
  const german = [
    passage(
      "Hilfe › Rückgabe",
      "Sie können jeden Artikel innerhalb von 30 Tagen zurückgeben. Gutscheine können nicht zurückgegeben werden. Der Versand kostet 4,90 €, ab 40 € ist er kostenlos.",
    ),
  ];
  const french = [
    passage(
      "Aide › Livraison",
      "La livraison en France prend deux à trois jours. Les cartes cadeaux ne sont pas remboursables. La livraison est gratuite à partir de 50 €.",
    ),
  ];
  const spanish = [passage("Ayuda", "La garantía dura tres años. No cubre la cal. El envío cuesta 5,50 €.")];
  const japanese = [passage("ヘルプ", "商品は30日以内に返品できます。ギフトカードは返品できません。送料は500円です。")];
  const russian = [passage("Помощь", "Вернуть товар можно в течение 30 дней. Доставка стоит 300 рублей.")];

  it.each([
    [german, "Artikel können innerhalb von 30 Tagen zurückgegeben werden."],
    [german, "Gutscheine können nicht zurückgegeben werden."],
    [german, "Der Versand kostet 4,90 €."],
    [french, "La livraison en France prend 2 à 3 jours."],
    [french, "Les cartes cadeaux ne sont pas remboursables."],
    [spanish, "La garantía dura 3 años."],
    [japanese, "商品は30日以内に返品できます。"],
    [russian, "Товар можно вернуть в течение 30 дней."],
  ] as const)("passes %#: %s", (cited, statement) => {
    expect(objectionTo(statement, cited, "strict")).toBeUndefined();
  });

  it.each([
    [german, "Artikel können innerhalb von 60 Tagen zurückgegeben werden."],
    [german, "Artikel können innerhalb von 30 Wochen zurückgegeben werden."],
    [german, "Gutscheine können zurückgegeben werden."],
    [german, "Der Versand ist mit DHL Express möglich."],
    [french, "La livraison en France prend dix jours."],
    [french, "Les cartes cadeaux sont remboursables."],
    [spanish, "La garantía dura cinco años."],
    [spanish, "La garantía cubre la cal."],
    [japanese, "商品は60日以内に返品できます。"],
    [japanese, "ギフトカードは返品できます。"],
    [russian, "Вернуть товар можно в течение 90 дней."],
  ] as const)("is rejected %#: %s", (cited, statement) => {
    expect(objectionTo(statement, cited, "strict")).toBeTypeOf("string");
  });
});

it("requires fewer words in a helpful workspace, but all numbers", () => {
  const loose = "Every kettle has a generous warranty covering manufacturer mistakes.";
  expect(judge(loose, 4, "strict")).toBe("too few of its words are in the source");
  expect(judge(loose, 4, "helpful")).toBeUndefined();
  expect(judge("Every kettle has a warranty of four years.", 4, "helpful")).toBe(
    "a number word that is not in the source",
  );
});

it("rejects a statement that is too long", () => {
  for (const hostile of ["1,", "a.", "[", "Aa and ", "(", "-", "`", "<a", "\\"]) {
    expect(judge(hostile.repeat(20_000), 3)).toBe("too long for one statement");
    expect(judge(hostile.repeat(1_500 / hostile.length), 3)).toBeTypeOf("string");
  }
});
