import type { Field } from "#web/dashboard/ui/fields/field.tsx";
import { CheckListField, SelectField } from "#web/dashboard/ui/fields/choice.tsx";
import { TagsField } from "#web/dashboard/ui/fields/tags.tsx";
import { NumberField, TextAreaField, TextField } from "#web/dashboard/ui/fields/text.tsx";
import type { Part } from "./rule.ts";

const optionsOf = ({ options = [] }: Part) => options.map((value) => ({ value, label: value.replaceAll("_", " ") }));

const textOf = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "");

/** A value, which may be alone, as a list. */
const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(textOf) : value === undefined ? [] : [textOf(value)];

/** The field of one part of a rule. */
export function PartField({ part, of: field }: { readonly part: Part; readonly of: Field<unknown> }) {
  const { name, value, set, errors } = field;
  const { label, shown } = part;
  const text: Field<string> = { name, value: textOf(value), set, errors };
  switch (shown) {
    case "text":
      return <TextField of={text} label={label} required />;
    case "area":
      return <TextAreaField of={text} label={label} rows={3} required />;
    case "number":
      return <NumberField of={{ name, value: value as number | null, set, errors }} label={label} min={1} required />;
    case "list":
      return <TagsField of={{ name, value: listOf(value), set, errors }} label={label} />;
    case "choices":
      return (
        <CheckListField of={{ name, value: listOf(value), set, errors }} label={label} options={optionsOf(part)} />
      );
    case "choice":
      return <SelectField of={text} label={label} options={optionsOf(part)} />;
    case "yes-no":
      return (
        <SelectField
          of={{ name, value: value === true ? "yes" : "no", set: (word) => set(word === "yes"), errors }}
          label={label}
          options={[
            { value: "yes", label: "Yes" },
            { value: "no", label: "No" },
          ]}
        />
      );
    case "true":
      return <p class="hint">{label}.</p>;
  }
}
