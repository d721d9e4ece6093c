import { Button } from "#web/shared/ui/elements.tsx";
import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { TextField } from "#web/dashboard/ui/fields/text.tsx";
import { icons } from "#web/dashboard/ui/icons.ts";
import { Card } from "#web/dashboard/ui/page.tsx";

/** Rules of audience tags, in the form of the configuration. */
export type Audiences = Readonly<Record<string, Readonly<Record<string, readonly (string | number | boolean)[]>>>>;

/** One attribute that users of a tag must have. */
export interface AudienceRow {
  readonly tag: string;
  readonly attribute: string;
  readonly values: readonly string[];
}

export const rowsOf = (audiences: Audiences): readonly AudienceRow[] =>
  Object.entries(audiences).flatMap(([tag, rule]) => {
    const rows = Object.entries(rule).map(([attribute, values]) => ({ tag, attribute, values: values.map(String) }));
    return rows.length === 0 ? [{ tag, attribute: "", values: [] }] : rows;
  });

/** Values that read as numbers or as yes and no are stored so, because attributes of users have types. */
export function audiencesOf(rows: readonly AudienceRow[], before: Audiences): Audiences {
  const audiences: Record<string, Record<string, (string | number | boolean)[]>> = {};
  for (const { tag, attribute, values } of rows) {
    if (tag.trim() === "") continue;
    const rule = (audiences[tag.trim().toLowerCase()] ??= {});
    if (attribute.trim() === "" || values.length === 0) continue;
    const known = before[tag]?.[attribute] ?? [];
    rule[attribute.trim()] = values.map((value) => known.find((each) => String(each) === value) ?? typed(value));
  }
  return audiences;
}

function typed(value: string): string | number | boolean {
  if (value === "true" || value === "false") return value === "true";
  return /^-?\d+(?:\.\d+)?$/u.test(value) ? Number(value) : value;
}

/** Rules that decide which customers see documents with an audience tag. */
export function AudienceFields({ of: field }: { readonly of: Field<readonly AudienceRow[]> }) {
  const rows = field.value;
  const setRow = (at: number, row: AudienceRow): void => field.set(rows.map((each, i) => (i === at ? row : each)));
  return (
    <>
      {rows.length === 0 && <p class="soft">Every document is shown to every customer.</p>}
      {rows.map((row, at) => (
        <Card key={at}>
          <TextField
            of={{ name: `${at}.tag`, value: row.tag, set: (tag) => setRow(at, { ...row, tag }), errors: field.errors }}
            label="Tag of the documents"
            maxLength={64}
            required
          />
          <TextField
            of={{
              name: `${at}.attribute`,
              value: row.attribute,
              set: (attribute) => setRow(at, { ...row, attribute }),
              errors: field.errors,
            }}
            label="Attribute of the signed-in customer"
            hint="Such as plan."
            maxLength={64}
          />
          <TagsField
            of={{
              name: `${at}.values`,
              value: row.values,
              set: (values) => setRow(at, { ...row, values }),
              errors: field.errors,
            }}
            label="Values that fit"
          />
          <Button
            label="Remove"
            kind="secondary"
            shape={icons.trash}
            onClick={() => field.set(rows.filter((_, i) => i !== at))}
          />
        </Card>
      ))}
      <p>
        <Button
          label="Add a rule"
          kind="secondary"
          shape={icons.plus}
          onClick={() => field.set([...rows, { tag: "", attribute: "plan", values: [] }])}
        />
      </p>
    </>
  );
}
