import { expect, it } from "vitest";
import { fold } from "./runs.ts";

it("folds the forms in which people write one word", () => {
  const groups = [
    ["café", "cafe", "CAFÉ"],
    ["ışık", "IŞIK", "isik"],
    ["İADE", "iade"],
    ["إرجاع", "ارجاع", "أرجاع", "إِرْجَاع", "إرجـاع"],
    ["مستشفى", "مستشفي"],
  ];
  for (const forms of groups) expect(new Set(forms.map(fold)).size, forms.join(" ")).toBe(1);
  expect(fold("が")).toBe("が");
  expect(fold("کتاب")).toBe("کتاب");
});
