import { describe, expect, it } from "vitest";
import { parsePdf } from "./pdf.ts";
import { pdfOf } from "#test/support/knowledge/file-builders.ts";
import type { PdfLine } from "#test/support/knowledge/file-builders.ts";
import { pdfTable } from "#test/support/knowledge/pdf-table.ts";
import type { PdfColumn, PdfTable } from "#test/support/knowledge/pdf-table.ts";

type Rows = readonly (readonly string[])[];

const above: PdfLine = { text: "Our shops in the north of the country are these.", size: 10, y: 780 };
const below: PdfLine = {
  text: "Please call before you come, since shops may close on short notice.",
  size: 10,
  y: 300,
};

const columns = (
  ...each: readonly (readonly [x: number, width: number, align?: "left" | "right"])[]
): readonly PdfColumn[] => each.map(([x, width, align = "left"]): PdfColumn => ({ x, width, align }));
const wide = columns([50, 120], [200, 120], [350, 120]);
/** The header needs two lines here. */
const narrow = columns([50, 80], [150, 60], [250, 80]);

async function read(pages: readonly (readonly PdfLine[])[]) {
  const { blocks } = await parsePdf(pdfOf(pages));
  return {
    rows: blocks.flatMap((block) => (block.kind === "row" ? [block.cells] : [])),
    texts: blocks.flatMap((block) => (block.kind === "row" ? [] : [block.text])),
  };
}

const named = ([header = [], ...rows]: Rows): Rows =>
  rows.map((row) => row.map((text, column) => (text === "" ? "" : `${header[column]}: ${text}`)));

/** The rows of a long table. */
const towns = (count: number, from = 0): Rows =>
  Array.from({ length: count }, (_, index) => {
    const number = from + index;
    return [`Town ${String.fromCharCode(65 + (number % 26))}`, `${8 + (number % 4)} to 17`, `555 0${200 + number}`];
  });

const header = ["Shop", "Open on weekdays", "Telephone"];
const shops: Rows = [
  header,
  ["Oslo", "9 to 17", "555 0101"],
  ["Bergen", "10 to 18", "555 0102"],
  ["Molde", "8 to 12", "555 0103"],
];
const rooms: Rows = [
  ["Room", "Price a night", "What is included"],
  ["Garden room", "95", "breakfast, towels and the use of the sauna in the garden"],
  ["Attic", "70", "breakfast"],
  ["Suite at the lake", "140", "breakfast, towels, a boat and the late departure until two"],
];
const faults: Rows = [
  ["Fault", "Cause", "Remedy"],
  ["The drum does not turn at all", "The belt is worn or has come off the wheel", "Let a workshop put in a new belt"],
  [
    "Water on the floor below",
    "The hose is loose or the filter is not closed",
    "Tighten the hose and close the filter",
  ],
  ["A loud noise while it spins", "Coins are between the drum and the tub", "Switch it off and empty the filter"],
];
const fees: Rows = [
  ["Country", "Weight", "Fee"],
  ["Norway", "2 kg", "9.00"],
  ["Sweden", "10 kg", "1,120.50"],
  ["Iceland", "25 kg", "48.00"],
];
const hours: Rows = [
  ["Shop", "Opens", "Closes"],
  ["Oslo", "9:00", "17:00"],
  ["Kristiansand", "10:00", "18:30"],
  ["Molde", "8:15", "12:00"],
];
const parts: Rows = [
  ["Part", "Stock", "Price"],
  ["Motor", "12", "120.00"],
  ["Handle", "3,400", "5.50"],
  ["Lid", "7", "11.00"],
];
const roomColumns = columns([50, 60], [140, 60], [230, 110]);
const faultColumns = columns([50, 110], [200, 110], [350, 110]);

describe("a table of a page", () => {
  const cases: readonly (readonly [string, Omit<PdfTable, "y">])[] = [
    ["a header of one line", { columns: wide, rows: shops }],
    ["a header of two lines", { columns: narrow, rows: shops }],
    [
      "a bold header of two lines, written by cell",
      { columns: narrow, rows: shops, order: "cells", isHeaderBold: true },
    ],
    [
      "names that end at the lower edge of the header",
      { columns: narrow, rows: shops, stand: "bottom", isHeaderBold: true },
    ],
    ["no space between rows below a bold header", { columns: narrow, rows: shops, padding: 0, isHeaderBold: true }],
    ["wrapped cells in the last column", { columns: columns([50, 100], [170, 80], [280, 120]), rows: rooms }],
    ["wrapped cells in all columns", { columns: roomColumns, rows: rooms, order: "cells" }],
    ["wrapped cells beside centred ones", { columns: roomColumns, rows: rooms, order: "cells", stand: "middle" }],
    ["wrapped cells beside lower ones", { columns: roomColumns, rows: rooms, stand: "bottom", isHeaderBold: true }],
    ["wrapped cells, evenly spaced", { columns: columns([50, 100], [170, 80], [280, 120]), rows: rooms, padding: 0 }],
    ["sentences in each column", { columns: faultColumns, rows: faults, order: "cells", isHeaderBold: true }],
    ["close columns", { columns: columns([50, 62], [116, 30], [154, 80]), rows: hours }],
    ["columns that are a space apart at the widest", { columns: columns([50, 60], [111, 60], [145, 80]), rows: hours }],
    ["close numbers at the right", { columns: columns([50, 40], [92, 30, "right"], [126, 36, "right"]), rows: parts }],
    ["numbers at the right", { columns: columns([50, 80], [160, 60, "right"], [260, 60, "right"]), rows: fees }],
    ["empty cells", { columns: wide, rows: [...shops, ["Tromso", "", "555 0104"], ["Alta", "9 to 12", ""]] }],
    ["rows that name sections", { columns: wide, rows: [...shops, ["Sweden", "", ""], ["Malmo", "9 to 15", "555"]] }],
    [
      "words alone below a bold header",
      {
        columns: faultColumns,
        rows: faults.map((row) => row.map((text) => text.slice(0, 8).trim())),
        isHeaderBold: true,
      },
    ],
  ];

  it.each(cases)("has each value with its column: %s", async (_name, table) => {
    const { rows, texts } = await read([[above, ...pdfTable({ y: 740, ...table }), below]]);
    expect(rows).toEqual(named(table.rows));
    expect(texts).toEqual([above.text, below.text]);
  });

  it("has names at the left above numbers at the right", async () => {
    const [names = [], ...numbers] = fees;
    const lines = [
      ...pdfTable({ columns: columns([50, 80], [160, 60], [260, 60]), rows: [names], y: 740 }),
      ...pdfTable({ columns: columns([50, 80], [160, 60, "right"], [260, 90, "right"]), rows: numbers, y: 720 }),
    ];
    expect((await read([[above, ...lines, below]])).rows).toEqual(named(fees));
  });

  it("has the names of its columns on each page", async () => {
    const page = (rows: Rows, y: number): readonly PdfLine[] => pdfTable({ columns: narrow, rows, y, order: "cells" });
    const all = named([header, ...towns(18)]);
    const repeated = [
      [above, ...page([header, ...towns(12)], 740)],
      [...page([header, ...towns(6, 12)], 780), below],
    ];
    expect((await read(repeated)).rows).toEqual(all);
    const once = [
      [above, ...page([header, ...towns(16)], 740)],
      [...page(towns(2, 16), 780), below],
    ];
    expect((await read(once)).rows).toEqual(all);
  });

  it("has the names of its columns where each of many pages begins with them", async () => {
    const pages = [0, 1, 2, 3].map((page) => [
      ...pdfTable({ columns: wide, rows: [header, ...towns(20, page * 20)], y: 780 }),
      { text: `Page ${page + 1}`, size: 9, y: 30, x: 280 },
    ]);
    expect(await read(pages)).toEqual({ rows: named([header, ...towns(80)]), texts: [] });
  });
});

describe("no table", () => {
  const text = (from: number, to: number): string =>
    (
      "You can bring the machine back within thirty days of the purchase and get your money in full. Keep the receipt " +
      "and the box, since we need both of them for the books. Parts that wear out are not covered by the guarantee, but " +
      "you can order them from us at any time and for many years. Machines that were opened by others are repaired at " +
      "the price of the list. We pick up large machines at your home, and bring you another one for that time."
    )
      .slice(from, to)
      .trim();
  const two = columns([50, 220], [310, 220]);
  const pageNumbers = columns([50, 300], [450, 40, "right"]);
  const cases: readonly (readonly [string, Omit<PdfTable, "y">])[] = [
    ["columns of text, one after the other", { columns: two, rows: [[text(0, 400), text(50, 450)]], order: "cells" }],
    ["columns of text, line by line", { columns: two, rows: [[text(0, 400), text(50, 450)]] }],
    ["three columns of text", { columns: wide, rows: [[text(0, 300), text(50, 350), text(100, 400)]] }],
    [
      "addresses beside each other",
      {
        columns: wide,
        rows: [["Oslo\nKings Road 3\n0150 Oslo", "Bergen\nHarbour 12\n5003 Bergen", "Molde\nHill 8\n6400 Molde"]],
        order: "cells",
      },
    ],
    [
      "a list of contents",
      {
        columns: pageNumbers,
        rows: [
          ["Before you begin", "3"],
          ["Where it stands", "5"],
          ["Washing", "12"],
        ],
        padding: 2,
      },
    ],
    [
      "a list of contents with dots",
      {
        columns: pageNumbers,
        rows: ["Before you begin", "Where it stands", "Washing"].map((title, index) => [
          `${title} ${".".repeat(60)}`,
          `${index + 3}`,
        ]),
      },
    ],
    [
      "a list of contents with numbers",
      {
        columns: columns([50, 30], [90, 300], [450, 40, "right"]),
        rows: [
          ["1", "Before you begin", "3"],
          ["1.1", "Where it stands", "5"],
          ["2", "Washing", "12"],
        ],
      },
    ],
    [
      "numbered steps",
      {
        columns: columns([50, 20], [90, 200]),
        rows: [
          ["1.", "Open the lid"],
          ["2.", text(0, 90)],
          ["3.", "Close it"],
        ],
      },
    ],
    [
      "letters before items",
      {
        columns: columns([50, 20], [90, 200]),
        rows: [
          ["A.", text(0, 90)],
          ["B.", text(20, 110)],
          ["C.", "Close it"],
        ],
      },
    ],
    [
      "lists beside each other",
      {
        columns: columns([50, 100], [200, 100]),
        rows: [
          ["- Soap", "- Towels"],
          ["- Robes", "- Slippers"],
          ["- Tea", "- Coffee"],
        ],
      },
    ],
  ];

  it.each(cases)("is %s", async (_name, table) => {
    expect((await read([[above, ...pdfTable({ y: 740, ...table })]])).rows).toEqual([]);
  });
});
