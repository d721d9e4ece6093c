import { expect, it } from "vitest";
import { parseCsv } from "./csv.ts";
import { parseJson } from "./json.ts";

const shown = ({ blocks }: ReturnType<typeof parseCsv>): readonly string[] =>
  blocks.map((block) => (block.kind === "row" ? block.cells.filter((cell) => cell !== "").join(" | ") : block.text));

it("skips the line that names the separator, and titles above the header", () => {
  const rows = ["name;price", "Lamp, small;5", "Lamp, large;9"].join("\r\n");
  const expected = ["name: Lamp, small | price: 5", "name: Lamp, large | price: 9"];
  expect(shown(parseCsv(rows))).toEqual(expected);
  expect(shown(parseCsv(`sep=;\r\n${rows}`))).toEqual(expected);
  expect(shown(parseCsv(`"sep=;"\r\n${rows}`))).toEqual(expected);
  expect(shown(parseCsv(`Prices;2026-05-01\r\n;\r\n${rows}`))).toEqual(["Prices 2026-05-01", ...expected]);
  expect(shown(parseCsv(`${rows}\r\n;\r\nShade;3`))).toEqual([...expected, "name: Shade | price: 3"]);
  expect(shown(parseCsv(`Prices, as of May\r\n;\r\n${rows}`))).toEqual(["Prices, as of May", ...expected]);
});

it("finds out that the first row is data, and that a header is repeated", () => {
  const rows = ["Mug,4 EUR,in stock", "Plate,6.50 EUR,sold out", "Cup,3 EUR,in stock"];
  const data = rows.map((row) => row.replaceAll(",", " | "));
  expect(shown(parseCsv(rows.join("\n")))).toEqual(data);
  expect(shown(parseCsv("Plan,Price in 2026\nMidi,5\nMaxi,9"))).toEqual([
    "Plan: Midi | Price in 2026: 5",
    "Plan: Maxi | Price in 2026: 9",
  ]);
  expect(shown(parseCsv("Plan,Price\nMidi,5\nPlan,Price\nMaxi,9"))).toEqual([
    "Plan: Midi | Price: 5",
    "Plan: Maxi | Price: 9",
  ]);
});

it("reads lists of lists as a table, and one JSON object a line", () => {
  const table = JSON.stringify({
    prices: [
      ["Plan", "Price"],
      ["Midi", "5 EUR"],
      ["Maxi", 9],
    ],
  });
  expect(shown(parseJson(table)).filter((line) => line !== "")).toEqual([
    "prices",
    "Plan: Midi | Price: 5 EUR",
    "Plan: Maxi | Price: 9",
  ]);
  const lines = ['{"question":"How do I pay?","answer":"By card."}', '{"question":"Where?","answer":"In Oslo."}'];
  const expected = ["How do I pay?", "By card.", "Where?", "In Oslo."];
  expect(shown(parseJson(`${lines.join("\r\n")}\n`)).filter((line) => line !== "")).toEqual(expected);
  expect(() => parseJson(`${lines[0]}\n{"question":}`)).toThrow("not valid JSON");
});

it("reads HTML in fields as HTML, and leaves out what exports use for themselves", () => {
  const answer = "<p>Hold <b>Pair</b>.</p><ul><li>It blinks &amp; beeps.</li></ul>";
  const blocks = ["How do I pair it?", "Hold Pair.", "It blinks & beeps."];
  expect(shown(parseCsv(`id,title,body\n7,How do I pair it?,"${answer}"\n`))).toEqual(blocks);
  expect(shown(parseJson(JSON.stringify([{ id: 7, title: "How do I pair it?", body: answer }])))).toEqual(blocks);
  expect(shown(parseCsv("size,note\n1 < 2,a <b> c\n"))).toEqual(["size: 1 < 2 | note: a c"]);
  expect(shown(parseCsv("q,a\nDoes it float?,Yes&nbsp;&ndash; if a < b &amp; dry.\n"))).toEqual([
    "Does it float?",
    "Yes – if a < b & dry.",
  ]);
  const escaped = answer.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  expect(shown(parseCsv(`id,title,body\n7,How do I pair it?,"${escaped}"\n`))).toEqual(blocks);
  expect(shown(parseCsv("q,a\nHow is it bold?,&lt;b&gt; makes it bold.\n"))).toContain("<b> makes it bold.");
  const article = {
    id: "1",
    title: "Is it warm?",
    description: "",
    body: "<p>To -20 degrees.</p>",
    parent_id: 3,
    url: "/1",
  };
  expect(shown(parseJson(JSON.stringify([article])))).toEqual(["Is it warm?", "To -20 degrees."]);
  expect(shown(parseJson(JSON.stringify([{ ...article, description: "The short of it" }])))).toEqual([
    "Is it warm?",
    "To -20 degrees.",
    "description: The short of it",
  ]);
});

it("finds question and answer by the names that programs write", () => {
  const answers = (value: object): readonly string[] => shown(parseJson(JSON.stringify([value])));
  for (const article of [
    { id: 7, uuid: "d3-b7", subject: "Is it heavy?", content_html: "<p>Two kilograms.</p>" },
    { id: 7, post_title: "Is it heavy?", post_content: "<p>Two kilograms.</p>" },
    { id: 7, faqQuestion: "Is it heavy?", answerText: "Two kilograms." },
    { id: 7, question: { text: "Is it heavy?" }, answer: { html: "<p>Two kilograms.</p>" } },
    {
      "@type": "Question",
      name: "Is it heavy?",
      acceptedAnswer: [{ "@type": "Answer", text: "<p>Two kilograms.</p>" }],
    },
    {
      id: 7,
      date: "2026-01-01T00:00:00",
      guid: { rendered: "https://shop.example/?p=7" },
      status: "publish",
      title: { rendered: "Is it&nbsp;heavy?" },
      content: { rendered: "<p>Two kilograms.</p>", protected: false },
      excerpt: { rendered: "<p>Two […]</p>", protected: false },
      _links: { self: [{ href: "https://shop.example/wp-json/7" }] },
    },
  ]) {
    expect(answers(article)).toEqual(["Is it heavy?", "Two kilograms."]);
  }
  expect(
    answers({ title: { rendered: "Lamp" }, content: { rendered: "It shines." }, sku: "L-1", sticky: false }),
  ).toEqual(["Lamp", "It shines.", "sku: L-1"]);
  expect(answers({ title: "Basic", text: { value: "12", unit: "EUR" } }).join()).toContain("unit: EUR");
  expect(answers({ question: "How?", answer: { text: "Follow these:", steps: ["Press."] } }).join()).toContain(
    "Press.",
  );
  expect(answers({ title: { rendered: "About" }, pages: 3 })).toEqual(["pages: 3", "title", "rendered: About"]);
  expect(shown(parseCsv('Nr,Question text,Answer HTML\n7,Is it heavy?,"<p>Two kilograms.</p>"\n'))).toContain(
    "Two kilograms.",
  );
});
