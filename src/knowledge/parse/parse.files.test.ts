import { describe, expect, it } from "vitest";
import type { Block } from "#knowledge/documents/blocks.ts";
import { UnreadableDocument } from "#knowledge/documents/blocks.ts";
import { chunkDocument } from "#knowledge/documents/chunk.ts";
import type { ReadableType } from "#knowledge/documents/file-types.ts";
import { readableType } from "#knowledge/documents/file-types.ts";
import { parseInWorker } from "./parse-in-worker.ts";
import { parseDocument } from "./parse.ts";
import { docxOf, pdfOf, wordParagraph, zipOf } from "#test/support/knowledge/file-builders.ts";

const pdf = "application/pdf";
const word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const texts = (blocks: readonly Block[]) =>
  blocks.map((block) => (block.kind === "row" ? block.cells.join("; ") : block.text));
const passages = async (bytes: Buffer, type: ReadableType) =>
  chunkDocument(await parseDocument(bytes, type), "T").map(({ title, text }) => [title, text]);

// Starting threads takes long on a busy machine.
const slow = { timeout: 180_000 };

describe("PDF", slow, () => {
  it("joins lines into paragraphs, and reads larger type as headings", async () => {
    const { title, blocks } = await parseDocument(
      pdfOf([
        [
          { text: "Returns", size: 24, y: 780 },
          { text: "You can send goods back with-", size: 11, y: 740 },
          { text: "in thirty days.", size: 11, y: 726 },
          { text: "How long does it take?", size: 16, y: 690 },
          { text: "1. Print the label.", size: 11, y: 660 },
          { text: "2. Bring the parcel/", size: 11, y: 646 },
          { text: "letter to a shop.", size: 11, y: 632 },
        ],
        [{ text: "Money comes after (about) a week.", size: 11, y: 780 }],
      ]),
      pdf,
    );
    expect(title).toBe("Returns");
    expect(blocks).toEqual([
      { kind: "heading", depth: 1, text: "Returns" },
      { kind: "paragraph", text: "You can send goods back within thirty days." },
      { kind: "heading", depth: 2, text: "How long does it take?" },
      { kind: "item", number: 1, depth: 0, text: "Print the label." },
      { kind: "item", number: 2, depth: 0, text: "Bring the parcel/letter to a shop." },
      { kind: "paragraph", text: "Money comes after (about) a week." },
    ]);
  });

  const table = (y: number, ...rows: readonly (readonly string[])[]) =>
    rows.flatMap((cells, row) =>
      cells.flatMap((text, column) => (text === "" ? [] : [{ text, size: 11, y: y - row * 20, x: 50 + column * 120 }])),
    );

  it("gives each value of a table the name of its column, with empty and wrapped cells", async () => {
    const { blocks } = await parseDocument(
      pdfOf([
        [
          { text: "Our rooms are these.", size: 11, y: 780 },
          ...table(740, ["Room", "Price", "Breakfast"], ["Garden", "95 euros", "included"], ["Attic", "70 euros", ""]),
          ...table(680, ["Suite", "140 euros", "included, in"]),
          { text: "the room", size: 11, y: 667, x: 290 },
          { text: "Dogs are welcome.", size: 11, y: 630 },
        ],
      ]),
      pdf,
    );
    expect(blocks).toEqual([
      { kind: "paragraph", text: "Our rooms are these." },
      { kind: "row", cells: ["Room: Garden", "Price: 95 euros", "Breakfast: included"] },
      { kind: "row", cells: ["Room: Attic", "Price: 70 euros", ""] },
      { kind: "row", cells: ["Room: Suite", "Price: 140 euros", "Breakfast: included, in the room"] },
      { kind: "paragraph", text: "Dogs are welcome." },
    ]);
  });

  it("takes columns of text, numbered steps and two lines beside each other for no table", async () => {
    const left = "The machine must stand on a floor that is level";
    const right = "so that it does not walk while it spins the wash";
    const { blocks } = await parseDocument(
      pdfOf([
        [
          ...[0, 1, 2, 3].flatMap((row) => [
            { text: left, size: 9, y: 760 - row * 11 },
            { text: right, size: 9, y: 760 - row * 11, x: 320 },
          ]),
          ...["Open the lid.", "Put the filter in.", "Close it."].flatMap((text, row) => [
            { text: `${row + 1}.`, size: 9, y: 640 - row * 14 },
            { text, size: 9, y: 640 - row * 14, x: 90 },
          ]),
          { text: "Telephone", size: 9, y: 500 },
          { text: "0800 1234", size: 9, y: 500, x: 200 },
        ],
      ]),
      pdf,
    );
    expect(blocks.map(({ kind }) => kind)).toEqual(["paragraph", "item", "item", "item", "paragraph"]);
  });

  it("drops text that every page repeats", async () => {
    const pages = Array.from({ length: 5 }, (_, n) => [
      { text: "Handbook of the shop", size: 9, y: 820 },
      { text: `The text of page number ${["one", "two", "three", "four", "five"][n]}.`, size: 11, y: 700 },
      { text: `Page ${n + 1} of 5`, size: 9, y: 20 },
    ]);
    const { blocks } = await parseDocument(pdfOf(pages), pdf);
    const all = texts(blocks).join(" ");
    expect(all).not.toMatch(/Handbook|Page \d/);
    expect(all).toContain("page number five");
  });

  it("reports why it is unreadable: scanned, damaged, protected, or no PDF", async () => {
    await expect(parseDocument(pdfOf([[], []]), pdf)).rejects.toThrow(/text recognition/);
    await expect(parseDocument(Buffer.from("%PDF-1.4\nnot at all"), pdf)).rejects.toThrow(/damaged/);
    await expect(parseDocument(Buffer.from("Hello"), pdf)).rejects.toThrow(/not a PDF/);
    const locked = pdfOf(
      [[{ text: "Secret", size: 11, y: 700 }]],
      `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${"28".repeat(32)}> /U <${"00".repeat(32)}> /P -44 >> /ID [<31> <31>]`,
    );
    await expect(parseDocument(locked, pdf)).rejects.toThrow(/password/);
  });

  it("refuses a file of ten thousand pages, and names the limit", async () => {
    const line = { text: "A line.", size: 11, y: 700 };
    await expect(
      parseInWorker({
        bytes: Uint8Array.from(pdfOf(Array.from({ length: 10_000 }, () => [line]))),
        type: pdf,
        title: "T",
      }),
    ).rejects.toThrow(/10000 pages; 3000/);
  });
});

describe("Word", slow, () => {
  it("keeps headings, lists and tables", async () => {
    const cell = (text: string) => `<w:tc>${wordParagraph(text)}</w:tc>`;
    const body = `${wordParagraph("Returns", "Heading1")}${wordParagraph("Send it back within thirty days.")}<w:tbl><w:tr>${cell("Home")}${cell("3 days")}</w:tr></w:tbl>`;
    const { title, blocks } = await parseDocument(docxOf(body), word);
    expect(title).toBe("Returns");
    expect(texts(blocks)).toEqual(["Returns", "Send it back within thirty days.", "Home; 3 days"]);
  });

  it("takes the first row of a table for its header where a style says so", async () => {
    const row = (cells: readonly string[], style = "") =>
      `<w:tr>${cells.map((text) => `<w:tc>${wordParagraph(text, style)}</w:tc>`).join("")}</w:tr>`;
    const table = (style: string, heading = "") =>
      `<w:tbl><w:tblPr><w:tblStyle w:val="${style}"/></w:tblPr>${row(["Part", "Warranty"], heading)}${row(["Motor", "five years"])}</w:tbl>`;
    const read = async (body: string) => texts((await parseDocument(docxOf(body), word)).blocks);
    expect(await read(table("GridTable4"))).toEqual(["Part: Motor; Warranty: five years"]);
    expect(await read(table("TableGrid", "TableHeading"))).toEqual(["Part: Motor; Warranty: five years"]);
    expect(await read(table("TableGrid"))).toEqual(["Part; Warranty", "Motor; five years"]);
  });

  it("reports why it is unreadable: damaged, another archive, an older format", async () => {
    const whole = docxOf(wordParagraph("Text."));
    await expect(parseDocument(whole.subarray(0, whole.length - 30), word)).rejects.toThrow(/damaged/);
    await expect(parseDocument(zipOf([{ name: "a.txt", content: "x" }]), word)).rejects.toThrow(/ZIP archive/);
    await expect(parseDocument(docxOf("<w:p><unclosed"), word)).rejects.toThrow(UnreadableDocument);
    await expect(parseDocument(Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0]), word)).rejects.toThrow(/older Office/);
    await expect(parseDocument(docxOf(""), word)).rejects.toThrow(/no text/);
  });

  it("refuses an archive with too many parts or too much unpacked data before it is read", async () => {
    const bomb = docxOf(wordParagraph("x"), [{ name: "word/bomb.xml", content: Buffer.alloc(80 * 1_048_576, 32) }]);
    expect(bomb.byteLength).toBeLessThan(200_000);
    await expect(parseInWorker({ bytes: Uint8Array.from(bomb), type: word, title: "T" })).rejects.toThrow(/unpacks/);
    const many = Array.from({ length: 2_500 }, (_, n) => ({ name: `word/${n}.xml`, content: "x" }));
    await expect(parseDocument(docxOf(wordParagraph("x"), many), word)).rejects.toThrow(/2000 parts/);
  });
});

describe("CSV", slow, () => {
  it("makes one passage per row, with values named by their columns", async () => {
    const csv = `\ufeffProduct;Price;Note\nKettle;"24,90";"Boils, and\nstops"\nLid;3;\n`;
    expect(await passages(Buffer.from(csv), "text/csv")).toEqual([
      ["T", "| Product: Kettle | Price: 24,90 | Note: Boils, and stops |"],
      ["T", "| Product: Lid | Price: 3 |"],
    ]);
  });

  it("reads a list of questions and answers as such", async () => {
    const csv = `Question,Answer,Category\n"How long?","Three days.\n\nLonger abroad.",Parcels\n"How much?",Five euros.,\n`;
    expect(await passages(Buffer.from(csv), "text/csv")).toEqual([
      ["T › How long?", "Three days.\n\nLonger abroad.\n\n| Category: Parcels |"],
      ["T › How much?", "Five euros."],
    ]);
  });

  it("reads the first row as data if it names no columns", async () => {
    expect(await passages(Buffer.from("Kettle,24\nLid,3\n"), "text/csv")).toHaveLength(2);
  });

  it("reports the line of a quoting error", async () => {
    await expect(parseDocument(Buffer.from('a,b\n1,"2\n3,4\n'), "text/csv")).rejects.toThrow(/quotation mark/);
  });

  it("reads a field of twenty megabytes in pieces, or reports a timeout", async () => {
    const bytes = Uint8Array.from(
      Buffer.from(`Name,Text
A,"${"word ".repeat(4_000_000)}"
`),
    );
    const outcome = await parseInWorker({ bytes, type: "text/csv", title: "T" }).then(
      ({ chunks }) => Math.max(...chunks.map(({ text }) => text.length)),
      (error: unknown) => error,
    );
    if (typeof outcome === "number") expect(outcome).toBeLessThan(2_000);
    else expect(outcome).toBeInstanceOf(UnreadableDocument);
  });
});

describe("JSON", slow, () => {
  const json = (value: unknown) => passages(Buffer.from(JSON.stringify(value)), "application/json");

  it("writes values under their keys, and objects of a list as passages", async () => {
    expect(
      await json({ shop: { name: "Kettles", openingHours: "9 to 5" }, products: [{ id: 1, name: "Lid" }, { id: 2 }] }),
    ).toEqual([
      ["T › shop", "| name: Kettles | opening Hours: 9 to 5 |"],
      ["T › products", "| id: 1 | name: Lid |"],
      ["T › products", "| id: 2 |"],
    ]);
  });

  it("reads a list of questions and answers as such", async () => {
    expect(await json([{ question: "How long?", answer: "Three days.", tags: ["a"] }])).toEqual([
      ["T › How long?", "Three days."],
      ["T › How long? › tags", "- a"],
    ]);
  });

  it("refuses invalid JSON and deeply nested JSON", async () => {
    await expect(parseDocument(Buffer.from("{no"), "application/json")).rejects.toThrow(/not valid JSON/);
    const deep = Uint8Array.from(Buffer.from("[".repeat(200_000) + "]".repeat(200_000)));
    await expect(parseInWorker({ bytes: deep, type: "application/json", title: "T" })).rejects.toThrow(/nested/);
  });
});

describe("a file with the wrong ending", () => {
  it("is refused with its real type", async () => {
    const cases: readonly (readonly [Buffer, ReadableType, RegExp])[] = [
      [pdfOf([[{ text: "x", size: 9, y: 9 }]]), "text/markdown", /a PDF file, not a \.md file/],
      [docxOf(""), "text/plain", /Word file or another ZIP archive, not a \.txt file/],
      [Buffer.from("{\\rtf1 hello}"), word, /RTF/],
      [Buffer.from([0x89, 0x50, 0x4e, 0x47, 1]), "text/csv", /picture/],
    ];
    for (const [bytes, type, reason] of cases) await expect(parseDocument(bytes, type)).rejects.toThrow(reason);
  });

  it("is read by its ending if its media type is generic", () => {
    expect(readableType("a.PDF", "application/octet-stream")).toBe(pdf);
    expect(readableType("a.docx", "")).toBe(word);
    expect(readableType("x", "application/json; charset=utf-8")).toBe("application/json");
    expect(readableType("a.doc", "application/msword")).toBeUndefined();
  });
});

it("is refused if it is a page of two hundred thousand nested elements; a thousand are read", slow, async () => {
  const page = (depth: number) => Uint8Array.from(Buffer.from(`${"<div>".repeat(depth)}Deep down.`));
  await expect(parseInWorker({ bytes: page(200_000), type: "text/html", title: "T" })).rejects.toThrow(/nested/);
  const { chunks } = await parseInWorker({ bytes: page(1_000), type: "text/html", title: "T" });
  expect(chunks.map(({ text }) => text)).toEqual(["Deep down."]);
});
