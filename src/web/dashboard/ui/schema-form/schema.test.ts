import { describe, expect, it } from "vitest";
import { fieldsOf, labelOf, pairsOf, pairsText, withoutEmpty } from "./schema.ts";

describe("fields of a schema", () => {
  it("have the kind that their member needs", () => {
    const fields = fieldsOf(
      {
        required: ["name"],
        properties: {
          name: { type: "string" },
          text: { type: "string", maxLength: 2_000 },
          port: { type: "integer" },
          ratio: { type: "number" },
          on: { type: "boolean" },
          mode: { enum: ["a", "b"] },
          kind: { anyOf: [{ const: "x" }, { const: "y" }] },
          folder: { anyOf: [{ type: "string" }, { const: false }] },
          list: { type: "array" },
          map: { type: "object", patternProperties: {} },
          smtp: { type: "object", properties: { password: { type: "string" } } },
        },
      },
      ["smtp.password"],
    );
    expect(fields.map(({ key, kind }) => [key, kind])).toEqual([
      ["name", "text"],
      ["text", "long-text"],
      ["port", "integer"],
      ["ratio", "number"],
      ["on", "yes-no"],
      ["mode", "choice"],
      ["kind", "choice"],
      ["folder", "choice"],
      ["list", "list"],
      ["map", "pairs"],
      ["smtp", "group"],
    ]);
    expect(fields.filter(({ isRequired }) => isRequired).map(({ key }) => key)).toEqual(["name"]);
    expect(fields.at(-1)).toMatchObject({ fields: [{ kind: "secret" }] });
    expect(fields[6]).toMatchObject({ choices: ["x", "y"], own: undefined });
    expect(fields[7]).toMatchObject({ choices: [false], own: { type: "string" } });
  });

  it("are labelled by their names, where they have no title", () => {
    expect(["imap_host", "publicUrl", "id", "oauth_client_id", "follow-up"].map(labelOf)).toEqual([
      "IMAP host",
      "Public URL",
      "ID",
      "OAuth client ID",
      "Follow up",
    ]);
  });
});

it("empty members are left out, and false and 0 are kept", () => {
  const value = { a: "", b: null, c: [], d: { e: undefined }, f: false, g: 0, h: { i: "x" } };
  expect(withoutEmpty(value)).toEqual({ f: false, g: 0, h: { i: "x" } });
});

it("pairs are written one a line", () => {
  expect(pairsOf("a=1\n b = two = three \nnonsense\n=x")).toEqual({ a: "1", b: "two = three" });
  expect(pairsText({ a: "1", b: "2" })).toBe("a=1\nb=2");
});
