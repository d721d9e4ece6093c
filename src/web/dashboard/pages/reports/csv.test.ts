import { expect, it } from "vitest";
import { csvOf } from "./csv.ts";

it("quotes cells, and keeps spreadsheets from running texts as formulas", () => {
  const rows = [
    ["Tag", "Conversations"],
    ['say "hi", then\nleave', 1.5],
    ['=HYPERLINK("https://evil.example")', null],
    ["+49 30", -3],
    ["@here", 0],
  ];
  expect(csvOf(rows)).toBe(
    [
      "Tag,Conversations",
      '"say ""hi"", then\nleave",1.5',
      '"\'=HYPERLINK(""https://evil.example"")",',
      "'+49 30,-3",
      "'@here,0",
      "",
    ].join("\r\n"),
  );
});
