import { describe, expect, it } from "vitest";
import { stem } from "./terms.ts";
import { synonymsOf } from "./synonyms.ts";

const { groupOf } = synonymsOf();

describe("the built-in synonyms", () => {
  it.each([
    ["forgot", "forgotten"],
    ["uninstall", "remove"],
    ["maximum", "limit"],
    ["login", "logon"],
  ])("have %s and %s for the same", (one, other) => {
    expect(groupOf(stem(one))).toContain(stem(other));
  });

  it.each(["access", "active", "min", "mobility", "amend", "option", "extension"])(
    "leave out %s, whose stem other subjects and languages have too",
    (word) => {
      expect(groupOf(stem(word))).toEqual([]);
    },
  );

  it("do not join installing with instalments", () => {
    expect(groupOf(stem("install"))).not.toContain("financ");
    expect(groupOf(stem("install"))).toEqual(["instal", "setup"]);
  });
});
